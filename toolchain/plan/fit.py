"""Whether a planned model fits a board: known before any C is written."""

from toolchain.board import Board
from toolchain.errors import InputRefused
from toolchain.ir import Graph
from toolchain.plan.arena import Plan
from toolchain.plan.divide import divided
from toolchain.plan.economy import Arranged
from toolchain.plan.memories import AUTO, Memories, memories_of


def require_fit(
    planned: Arranged,
    board: Board,
    stack_bytes: int,
    memories: Memories | None = None,
    keep_inputs: bool = False,
) -> None:
    """Refuse a model whose arena and stack, or whose constants, exceed the board's memory.

    Args:
        planned: Integer graph and its arena.
        board: The board.
        stack_bytes: Stack to reserve.
        memories: Where things go, as far as the user says.
        keep_inputs: Inputs survive a run.

    Raises:
        InputRefused: With the bytes needed and available, and the layer of the peak.
    """
    memories = memories or Memories()
    if not planned.plan.parts:
        _require_ram(planned, board, stack_bytes, memories, keep_inputs)
    _require_flash(planned.graph, board, memories)


def _require_ram(
    planned: Arranged, board: Board, stack_bytes: int, memories: Memories, keep_inputs: bool
) -> None:
    plan, ram = planned.plan, board.ram
    hot = memories.reserved(ram.name)
    need = plan.arena_bytes + stack_bytes + hot
    if need > ram.bytes:
        weights = f", weights {hot:,}" if hot else ""
        raise InputRefused(
            "plan",
            board.name,
            f"the model needs {need:,} bytes of RAM (arena {plan.arena_bytes:,}, stack "
            f"{stack_bytes:,}{weights}); {ram.name} has {ram.bytes:,}. "
            f"The peak is at {plan.peak_step}",
            _way_out(planned, board, stack_bytes, keep_inputs),
        )


def _way_out(planned: Arranged, board: Board, stack_bytes: int, keep_inputs: bool) -> str:
    """What helps: the other memories of the board, if they are enough."""
    others = memories_of(board, AUTO, "", "", stack_bytes)
    if others.arena:
        try:
            found: Plan = divided(planned, others, board.alignment, keep_inputs).plan
        except InputRefused:
            pass
        else:
            names = ",".join(part.memory for part in found.parts)
            return f"the other memories of the board are enough: --arena-in {names}"
    return "use a smaller input or fewer channels there, or a board with more RAM"


def _require_flash(graph: Graph, board: Board, memories: Memories) -> None:
    flash = board.usable(memories.weights) if memories.weights else board.flash
    sizes = {name: int(value.nbytes) for name, value in graph.constants.items()}
    weights = sum(sizes.values())
    if weights <= flash.bytes:
        return
    larger = next((m for m in board.memory if m.kind == "flash" and m.free >= weights), None)
    raise InputRefused(
        "plan",
        board.name,
        f"the weights take {weights:,} bytes of flash; {flash.name} has {flash.bytes:,}. "
        f"The largest tensor is {max(sizes, key=lambda n: sizes[n])}",
        f"put them into another flash: --weights-in {larger.name}"
        if larger
        else "use a smaller model, or a board with more flash",
    )
