"""Which engines there are, and which one runs a board's firmware."""

from typing import Literal

from toolchain.board import Board
from toolchain.errors import InputRefused
from toolchain.run.emulator import Emulator
from toolchain.run.qemu import Qemu
from toolchain.run.renode import Renode
from toolchain.run.unicorn import Unicorn

Kind = Literal["auto", "all", "renode", "qemu", "unicorn"]


def engines() -> dict[str, Emulator]:
    """Every engine by name, the preferred one first."""
    return {engine.name: engine for engine in (Renode(), Qemu(), Unicorn())}


def choose(kind: Kind, board: Board) -> list[Emulator]:
    """The engines that run a board's firmware, one but for "all".

    Args:
        kind: Which one; "auto" takes the first that can: renode, qemu, unicorn; "all" every one.
        board: The board.

    Raises:
        InputRefused: It is not installed, or does not know the board's core.
    """
    known = engines()
    wanted = list(known.values()) if kind in ("auto", "all") else [known[kind]]
    reasons = {engine.name: engine.missing(board.cpu) for engine in wanted}
    able = [engine for engine in wanted if reasons[engine.name] is None]
    if able:
        return able if kind == "all" else able[:1]
    if kind in ("auto", "all"):
        raise InputRefused("emulate", board.name, "no emulator here", reasons["qemu"] or "")
    raise InputRefused("emulate", kind, reasons[kind] or "", "see `onnx2mcu doctor`")
