"""The renode/ folder of a project: a platform, a script and a Robot test for users' own Renode."""

import struct
from collections.abc import Sequence
from pathlib import Path

from toolchain.board import Board, Memory
from toolchain.emit.machines import HARNESS_BYTES
from toolchain.emit.render import render

CPU_TYPES = {
    "cortex-m0": "cortex-m0",
    "cortex-m0plus": "cortex-m0+",
    "cortex-m3": "cortex-m3",
    "cortex-m4": "cortex-m4",
    "cortex-m7": "cortex-m7",
    "cortex-m33": "cortex-m33",
    "cortex-m55": "cortex-m55",
}
"""Renode's names of the cores."""
EQUAL, DIFFERENT, FAULT = 0x600D0000, 0xBAD00000, 0xFA170000
"""What firmware/check.c leaves in onnx2mcu_check_state."""
_PLACES = (0x90000000, 0x80000000, 0x60000000)
"""Addresses for external memory, one of which every part leaves free."""
_GRAIN = 0x1000


def platform(board: Board, more: Sequence[Memory] = ()) -> str:
    """Renode's description (.repl) of a board: core and memories of the part's true sizes.

    Args:
        board: The board.
        more: Memories that the part does not have.
    """
    context = {"cpu_type": CPU_TYPES[board.cpu], "memories": (*board.memory, *more)}
    return render("renode/board.repl.j2", board=board, **context)


def spare_address(board: Board) -> int:
    """Where memory may lie that the part does not have: samples of the check, or the harness's."""
    taken = [(memory.origin, memory.end) for memory in board.memory]
    return next(
        at for at in _PLACES if not any(start < at + (1 << 28) and at < end for start, end in taken)
    )


def harness_memory(board: Board) -> Memory:
    """Memory of the test harness with hooks, which the part does not have."""
    return Memory("harness", "ram", spare_address(board), HARNESS_BYTES)


def samples_file(samples: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Inputs and right outputs: their number as a 32-bit word, then sample after sample."""
    return struct.pack("<I", len(samples)) + b"".join(a + b for a, b in samples)


def write_renode(
    directory: Path, prefix: str, board: Board, samples: Sequence[tuple[bytes, bytes]]
) -> None:
    """Write renode/ into a project.

    Args:
        directory: The project.
        prefix: Prefix of the model.
        board: The board.
        samples: Inputs and right outputs of a few samples, all ports concatenated in port order.
    """
    folder = directory / "renode"
    folder.mkdir(exist_ok=True)
    data, at = samples_file(samples), spare_address(board)
    host = Memory("samples", "ram", at, -(-len(data) // _GRAIN) * _GRAIN)
    (folder / "samples.bin").write_bytes(data)
    texts = {
        "board.repl": platform(board, (host,)),
        "run.resc": render(
            "renode/project.resc.j2",
            prefix=prefix,
            board=board,
            samples=f"0x{at:08X}",
            mips=max(1, board.clock_hz // 1_000_000),
        ),
        "check.robot": render("renode/check.robot.j2", prefix=prefix, board=board, equal=EQUAL),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
