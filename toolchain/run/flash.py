"""Writing the firmware to a real board, through pyOCD."""

from pathlib import Path

from toolchain.board import Board
from toolchain.errors import InputRefused
from toolchain.run.build import find_tool


def flash_command(firmware: Path, board: Board, *, dry_run: bool = False) -> list[str]:
    """The command that writes a program to its board.

    Args:
        firmware: The ELF at the board's addresses.
        board: The board.
        dry_run: The command is only shown, so pyOCD need not be there.

    Raises:
        InputRefused: The board has no debug probe that pyOCD knows, or pyOCD is missing.
    """
    if board.probe is None:
        raise InputRefused(
            "flash",
            board.name,
            "this board has no target that pyOCD can write",
            f"copy {firmware} by the board's own way",
        )
    pyocd = find_tool("pyocd") or ("pyocd" if dry_run else None)
    if pyocd is None:
        raise InputRefused("flash", "pyocd", "not installed", "pip install onnx2mcu[hardware]")
    return [pyocd, "flash", "--target", board.probe.target, str(firmware)]
