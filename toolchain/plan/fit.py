"""Whether a planned model fits a board: known before any C is written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from toolchain.board import Board
from toolchain.errors import InputRefused
from toolchain.ir import Graph
from toolchain.plan.arena import Plan
from toolchain.plan.divide import divided
from toolchain.plan.economy import Arranged
from toolchain.plan.memories import AUTO, Memories, memories_of
from toolchain.plan.wish import Ram, Wish
from toolchain.rows import flattened

Least = Callable[[bool], int | None]

_ROW_BY_ROW = "run layers row by row with --ram min"
_ROWS_FED = "hand the input over row by row with --input-rows --ram min"


@dataclass(frozen=True, slots=True)
class Shortage:
    """A memory of a board that is too small.

    Args:
        memory: Its name.
        needed: Bytes that are needed.
        there: Bytes it has.
        ways: What may help.
    """

    memory: str
    needed: int
    there: int
    ways: tuple[str, ...]


def shortages(
    board: Board, activation_bytes: int, weights_bytes: int, stack_bytes: int
) -> tuple[Shortage, ...]:
    """The memories that layers one after the other do not fit, as known without a plan.

    Args:
        board: The board.
        activation_bytes: Most bytes of activations alive at once.
        weights_bytes: Bytes of the weights.
        stack_bytes: Stack to reserve.
    """

    def found() -> Iterator[Shortage]:
        needed = activation_bytes + stack_bytes
        if needed > board.ram.bytes:
            rooms = memories_of(board, AUTO, "", "", stack_bytes).arena
            enough = sum(room.nbytes for room in rooms) >= activation_bytes
            further = (
                ("divide the arena among all memories with --arena-in auto",) if enough else ()
            )
            ways = (*further, _ROW_BY_ROW, _ROWS_FED)
            yield Shortage(board.ram.name, needed, board.ram.bytes, ways)
        if weights_bytes > board.flash.bytes:
            ways = (_more_flash(board, weights_bytes),)
            yield Shortage(board.flash.name, weights_bytes, board.flash.bytes, ways)

    return tuple(found())


def require_fit(
    planned: Arranged,
    board: Board,
    stack_bytes: int,
    memories: Memories | None = None,
    keep_inputs: bool = False,
    wish: Wish | None = None,
    least: Least | None = None,
) -> None:
    """Refuse a model whose arena and stack, or whose constants, exceed the board's memory.

    Args:
        planned: Integer graph and its arena.
        board: The board.
        stack_bytes: Stack to reserve.
        memories: Where things go, as far as the user says.
        keep_inputs: Inputs survive a run.
        wish: What the arena was planned for; without it nothing smaller is advised.
        least: Gives the bytes of the smallest arena for an input that comes whole (False) or row by
            row (True), None where it cannot; asked when the model does not fit.

    Raises:
        InputRefused: With the bytes needed and available, and the layer of the peak.
    """
    memories = memories or Memories()
    if not planned.plan.parts:
        _require_ram(planned, board, stack_bytes, memories, keep_inputs, wish, least)
    _require_flash(planned.graph, board, memories)


def _require_ram(
    planned: Arranged,
    board: Board,
    stack_bytes: int,
    memories: Memories,
    keep_inputs: bool,
    wish: Wish | None,
    least: Least | None,
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
            _other_memories(planned, board, stack_bytes, keep_inputs)
            or _smaller(memory.bytes - stack_bytes - hot, wish, least),
        )


def _smaller(free: int, wish: Wish | None, least: Least | None) -> str:
    """The way to an arena of at most so many bytes."""
    ways = []
    if wish is not None and wish.ram is not Ram.MIN:
        ways.append((wish.by_rows, _ROW_BY_ROW))
    if wish is not None and not wish.by_rows:
        ways.append((True, _ROWS_FED))
    for by_rows, text in ways:
        found = None if least is None else least(by_rows)
        if found is not None and found <= free:
            return f"{text}: an arena of {found:,} bytes, which fits"
    return "use a smaller input or fewer channels there, or a board with more RAM"


def _other_memories(
    planned: Arranged, board: Board, stack_bytes: int, keep_inputs: bool
) -> str | None:
    """The other memories of the board, if they are enough."""
    others = memories_of(board, AUTO, "", "", stack_bytes)
    if others.arena:
        try:
            found: Plan = divided(planned, others, board.alignment, keep_inputs).plan
        except InputRefused:
            pass
        else:
            names = ",".join(part.memory for part in found.parts)
            return f"the other memories of the board are enough: --arena-in {names}"
    return None


def _require_flash(graph: Graph, board: Board, memories: Memories) -> None:
    flash = board.usable(memories.weights) if memories.weights else board.flash
    sizes = flattened(graph).stored_bytes()
    weights = sum(sizes.values())
    if weights <= flash.bytes:
        return
    raise InputRefused(
        "plan",
        board.name,
        f"the weights take {weights:,} bytes of flash; {flash.name} has {flash.bytes:,}. "
        f"The largest tensor is {max(sizes, key=lambda n: sizes[n])}",
        _more_flash(board, weights),
    )


def _more_flash(board: Board, weights: int) -> str:
    """What helps where the flash does not hold the weights."""
    larger = next((m for m in board.memory if m.kind == "flash" and m.free >= weights), None)
    if larger is None:
        return "use a smaller model, or a board with more flash"
    return f"put them into another flash: --weights-in {larger.name}"
