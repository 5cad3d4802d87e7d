"""Which engines there are, and which one runs a board's firmware."""

from typing import Literal

from toolchain.board import Board
from toolchain.errors import InputRefused
from toolchain.run.emulator import Emulator
from toolchain.run.qemu import Qemu
from toolchain.run.renode import Renode
from toolchain.run.unicorn import Unicorn

Kind = Literal["auto", "renode", "qemu", "unicorn"]


def engines() -> dict[str, Emulator]:
    """Every engine by name, the preferred one first."""
    return {engine.name: engine for engine in (Renode(), Qemu(), Unicorn())}


def choose(kind: Kind, board: Board) -> Emulator:
    """The engine for a board.

    Args:
        kind: Which one; "auto" takes the first that can: renode, qemu, unicorn.
        board: The board.

    Raises:
        InputRefused: It is not installed, or does not know the board's core.
    """
    known = engines()
    wanted = list(known.values()) if kind == "auto" else [known[kind]]
    reasons = {engine.name: engine.missing(board.cpu) for engine in wanted}
    for engine in wanted:
        if reasons[engine.name] is None:
            return engine
    if kind == "auto":
        raise InputRefused("emulate", board.name, "no emulator here", reasons["qemu"] or "")
    raise InputRefused("emulate", kind, reasons[kind] or "", "see `onnx2mcu doctor`")
