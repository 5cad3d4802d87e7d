"""Whether a planned model fits a board: known before any C is written."""

from toolchain.board import Board
from toolchain.errors import InputRefused
from toolchain.ir import Graph
from toolchain.plan.arena import Plan


def require_fit(graph: Graph, plan: Plan, board: Board, stack_bytes: int) -> None:
    """Refuse a model whose arena and stack, or whose constants, exceed the board's memory.

    Args:
        graph: Integer graph.
        plan: Its arena.
        board: The board.
        stack_bytes: Stack to reserve.

    Raises:
        InputRefused: With the bytes needed and available, and the layer of the peak.
    """
    ram, flash = board.ram, board.flash
    need = plan.arena_bytes + stack_bytes
    if need > ram.bytes:
        raise InputRefused(
            "plan",
            board.name,
            f"the model needs {need:,} bytes of RAM (arena {plan.arena_bytes:,}, stack "
            f"{stack_bytes:,}); {ram.name} has {ram.bytes:,}. The peak is at {plan.peak_step}",
            "use a smaller input or fewer channels there, or a board with more RAM",
        )
    sizes = {name: int(value.nbytes) for name, value in graph.constants.items()}
    weights = sum(sizes.values())
    if weights > flash.bytes:
        raise InputRefused(
            "plan",
            board.name,
            f"the weights take {weights:,} bytes of flash; {flash.name} has {flash.bytes:,}. "
            f"The largest tensor is {max(sizes, key=lambda n: sizes[n])}",
            "use a smaller model, or a board with more flash",
        )
