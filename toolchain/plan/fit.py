"""Whether a planned model fits a board: known before any C is written."""

from toolchain.board import Board
from toolchain.errors import InputRefused
from toolchain.ir import Graph
from toolchain.plan.arena import Plan
from toolchain.plan.divide import divided
from toolchain.plan.economy import Arranged
from toolchain.plan.memories import AUTO, Memories, memories_of
from toolchain.plan.ram import Ram
from toolchain.rows import flattened


def require_fit(
    planned: Arranged,
    board: Board,
    stack_bytes: int,
    memories: Memories | None = None,
    keep_inputs: bool = False,
    ram: Ram | int = Ram.MIN,
) -> None:
    """Refuse a model whose arena and stack, or whose constants, exceed the board's memory.

    Args:
        planned: Integer graph and its arena.
        board: The board.
        stack_bytes: Stack to reserve.
        memories: Where things go, as far as the user says.
        keep_inputs: Inputs survive a run.
        ram: What the arena was planned for; unless it is the smallest, a smaller one is advised.

    Raises:
        InputRefused: With the bytes needed and available, and the layer of the peak.
    """
    memories = memories or Memories()
    if not planned.plan.parts:
        _require_ram(planned, board, stack_bytes, memories, keep_inputs, ram)
    _require_flash(planned.graph, board, memories)


def _require_ram(
    planned: Arranged,
    board: Board,
    stack_bytes: int,
    memories: Memories,
    keep_inputs: bool,
    ram: Ram | int,
) -> None:
    plan, memory = planned.plan, board.ram
    hot = memories.reserved(memory.name)
    need = plan.arena_bytes + stack_bytes + hot
    if need > memory.bytes:
        weights = f", weights {hot:,}" if hot else ""
        raise InputRefused(
            "plan",
            board.name,
            f"the model needs {need:,} bytes of RAM (arena {plan.arena_bytes:,}, stack "
            f"{stack_bytes:,}{weights}); {memory.name} has {memory.bytes:,}. "
            f"The peak is at {plan.peak_step}",
            _way_out(planned, board, stack_bytes, keep_inputs, ram),
        )


def _way_out(
    planned: Arranged, board: Board, stack_bytes: int, keep_inputs: bool, ram: Ram | int
) -> str:
    """What helps: the other memories of the board, if they are enough; else a smaller arena."""
    others = memories_of(board, AUTO, "", "", stack_bytes)
    if others.arena:
        try:
            found: Plan = divided(planned, others, board.alignment, keep_inputs).plan
        except InputRefused:
            pass
        else:
            names = ",".join(part.memory for part in found.parts)
            return f"the other memories of the board are enough: --arena-in {names}"
    rows = "" if ram is Ram.MIN else "run layers row by row with --ram min, "
    return f"{rows}use a smaller input or fewer channels there, or a board with more RAM"


def _require_flash(graph: Graph, board: Board, memories: Memories) -> None:
    flash = board.usable(memories.weights) if memories.weights else board.flash
    sizes = flattened(graph).stored_bytes()
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
