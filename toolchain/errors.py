"""The one error tree: what failed, where, why, and what to do about it."""


class ToolchainError(Exception):
    """A failure the user can act on; the command line prints it in two lines.

    Args:
        stage: Room of the toolchain, e.g. "read" or "quantise".
        where: ONNX node, tensor, file or board concerned; "" when it is the whole input.
        reason: What is wrong, one sentence.
        hint: What to do, one sentence; "" when there is nothing to add.
    """

    exit_code = 1

    def __init__(self, stage: str, where: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{stage}: {where + ': ' if where else ''}{reason}")
        self.stage, self.where, self.reason, self.hint = stage, where, reason, hint


class InputRefused(ToolchainError):  # noqa: N818 - reads as what happened
    """The input cannot be accepted; nothing was written (exit code 2). It says what to do."""

    exit_code = 2

    def __init__(self, stage: str, where: str, reason: str, hint: str) -> None:
        super().__init__(stage, where, reason, hint)


class GateFailed(ToolchainError):  # noqa: N818
    """A constraint the user set, or a default gate, is not met (exit code 1)."""


class RunFailed(ToolchainError):  # noqa: N818
    """A build or an emulation failed (exit code 1)."""


class InternalError(ToolchainError):
    """The tool broke one of its own rules; always a bug (exit code 1)."""
