"""Which tensors share storage, and from which step to which each storage is needed.

Step i is the i-th operator of the graph. A tensor shares storage with its views. The first output
of an operator may overlap an input that nothing needs afterwards, at a distance that the kernel
states, or has to lie at its very place.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from toolchain.ir import Graph, Op
from toolchain.select import Choice


@dataclass(frozen=True, slots=True)
class Buffer:
    """A block of the arena.

    Args:
        name: Its first tensor, or for scratch memory the first output of the operator.
        nbytes: Size in bytes.
        first: First step that needs it.
        last: Last step that needs it, included.
        tensors: The tensor and its views; none for scratch memory.
        over: Buffers of dying inputs that it may overlap while it is written: (name, bytes by which
            it must begin before them, at least).
        onto: The one of them at whose very offset it lies; "" where it may lie anywhere.
        offset: Byte offset in the arena, once planned.
    """

    name: str
    nbytes: int
    first: int
    last: int
    tensors: tuple[str, ...] = ()
    over: tuple[tuple[str, int], ...] = ()
    onto: str = ""
    offset: int = 0

    @property
    def is_scratch(self) -> bool:
        """Whether it is the scratch memory of the operator that writes `name`."""
        return not self.tensors


def view_roots(graph: Graph) -> dict[str, str]:
    """The tensor of which each tensor is a view, itself when it is none."""
    roots = {x: x for x in (*graph.inputs, *graph.constants)}
    for op in graph.ops:
        roots.update((y, roots[op.x] if op.is_view else y) for y in op.outputs)
    return roots


def last_uses(graph: Graph, roots: Mapping[str, str], keep_inputs: bool) -> dict[str, int]:
    """Last step that reads each root through any name; len(graph.ops) when the caller reads it.

    A view reads nothing. Roots that nobody reads are absent.
    """
    uses: dict[str, int] = {}
    for step, op in enumerate(graph.ops):
        if not op.is_view:
            uses.update((roots[x], step) for x in op.inputs)
    kept = (*graph.outputs, *(graph.inputs if keep_inputs else ()))
    uses.update((roots[name], len(graph.ops)) for name in kept)
    return uses


def overlaps(
    graph: Graph,
    op: Op,
    allowed: Mapping[int, int],
    nbytes: int,
    roots: Mapping[str, str],
    dying: set[str],
) -> dict[str, int]:
    """The roots that an operator may overlap with what it writes, each with the least distance.

    1. The kernel allows it for every input that is stored there; the largest distance counts.
    2. The root is not constant and `dying`: nothing reads it after this operator.
    3. The distance is below the size of what is written: else nothing would be shared.

    Args:
        graph: Operators in the order they run.
        op: The operator.
        allowed: Least distance by index of an input: Choice.overlap or Choice.beneath.
        nbytes: Bytes of the first output or of the scratch memory.
        roots: The tensor of which each tensor is a view.
        dying: Roots that nothing reads after the operator.
    """
    distances: dict[str, int] = {}
    for i, x in enumerate(op.inputs):
        root = roots[x]
        if root in dying and root not in graph.constants:
            # Whole before the input is where it may lie without any permission.
            distance = allowed.get(i, nbytes)
            distances[root] = max(distances.get(root, distance), distance)
    return {root: d for root, d in distances.items() if d < nbytes}


def taken_over(
    graph: Graph, op: Op, choice: Choice | None, roots: Mapping[str, str], dying: set[str]
) -> str | None:
    """The root at whose place the first output of an operator is put, if there is one.

    It is dying, not constant, not smaller, and the kernel allows it for every input stored there.
    """
    allowed = choice.onto if choice else ()
    forbidden = {roots[x] for i, x in enumerate(op.inputs) if i not in allowed}
    for i in allowed:
        root = roots[op.inputs[i]]
        fits = graph.types[op.y].nbytes <= graph.types[root].nbytes
        if fits and root in dying and root not in forbidden and root not in graph.constants:
            return root
    return None


def lifetimes(
    graph: Graph,
    choices: Mapping[str, Choice],
    keep_inputs: bool = False,
    apart: Collection[str] = (),
) -> tuple[Buffer, ...]:
    """The buffers a program needs, in the order of their first step.

    Inputs live from step 0 until they are last read, or to the end when they are outputs too or
    `keep_inputs` is set. Outputs live to the end, tensors that nobody reads for the step that
    writes them, scratch memory for one step. Constants and their views need none.

    Args:
        graph: Operators in the order they run.
        choices: Kernel of every operator that computes, by its first output; without one an
            operator needs no scratch memory and its output overlaps no input.
        keep_inputs: Inputs survive the run.
        apart: Outputs that are not put at the very place of an input, though the kernel allows it.
    """
    roots = view_roots(graph)
    uses = last_uses(graph, roots, keep_inputs)
    born = dict.fromkeys(graph.inputs, 0)
    onto: dict[str, str] = {}
    over: dict[str, tuple[tuple[str, int], ...]] = {}
    scratch: list[Buffer] = []
    for step, op in enumerate(graph.ops):
        if op.is_view:
            continue
        choice = choices.get(op.y)
        dying = {roots[x] for x in op.inputs if uses[roots[x]] == step}
        born.update(dict.fromkeys(op.outputs, step))
        place = taken_over(graph, op, choice, roots, dying)
        if place is None or op.y in apart:
            allowed = choice.overlap if choice else {}
            found = overlaps(graph, op, allowed, graph.types[op.y].nbytes, roots, dying)
            over[op.y] = tuple(found.items())
        else:
            onto[op.y], over[op.y] = place, ((place, 0),)
        if choice is not None and choice.scratch:
            found = overlaps(graph, op, choice.beneath, choice.scratch, roots, dying)
            scratch.append(Buffer(op.y, choice.scratch, step, step, over=tuple(found.items())))

    tensors: dict[str, list[str]] = {}
    for name, root in roots.items():
        if root not in graph.constants:
            tensors.setdefault(root, []).append(name)
    end = max(len(graph.ops) - 1, 0)
    buffers = [
        Buffer(
            root,
            graph.types[root].nbytes,
            born[root],
            min(end, uses.get(root, born[root])),
            tuple(names),
            over.get(root, ()),
            onto.get(root, ""),
        )
        for root, names in tensors.items()
    ]
    return tuple(sorted((*buffers, *scratch), key=lambda b: b.first))


def aligned(nbytes: int, alignment: int) -> int:
    """Bytes rounded up to a multiple of the alignment."""
    return -(-nbytes // alignment) * alignment


def most_shared(size: int, partners: Iterable[tuple[int, int]]) -> int:
    """The most bytes that a block can share with blocks it may overlap, which lie apart.

    Args:
        size: Its bytes.
        partners: Bytes of every other block, and the least distance to it.
    """
    return min(size, sum(min(other, max(size - max(d, 0), 0)) for other, d in partners))


def _shared_by_both(size: int, one: tuple[int, int], other: tuple[int, int], alignment: int) -> int:
    """The most bytes that two blocks which lie apart can share with a third one together.

    Args:
        size: Bytes of that.
        one: Bytes of one block, and the least distance by which it begins before the third.
        other: The same of the other.
        alignment: Of all blocks, bytes.
    """

    def stacked(low: tuple[int, int], high: tuple[int, int]) -> int:
        # The upper one begins behind the end of the lower one, and so far behind the third's start.
        below = min(low[0] - max(low[1], 0), -high[1])
        return min(size, below + high[0]) if below > 0 else 0

    (a, d), (b, e) = ((n, aligned(distance, alignment)) for n, distance in (one, other))
    alone = max(most_shared(a, [(size, d)]), most_shared(b, [(size, e)]))
    return max(alone, stacked((a, d), (b, e)), stacked((b, e), (a, d)))


def live_bytes(buffers: tuple[Buffer, ...], steps: int, alignment: int) -> list[int]:
    """Bytes that are needed at each step, at least.

    The sum of the aligned sizes of the live buffers, less what the output and the scratch memory
    of the step can share with inputs that die there.
    """
    sizes = {b.name: aligned(b.nbytes, alignment) for b in buffers if not b.is_scratch}
    change = [0] * (steps + 1)
    shared = [0] * steps
    sharing: list[list[Buffer]] = [[] for _ in range(steps)]
    for buffer in buffers:
        size = aligned(buffer.nbytes, alignment)
        change[buffer.first] += size
        change[buffer.last + 1] -= size
        if buffer.over:
            sharing[buffer.first].append(buffer)
            partners = [(sizes[name], aligned(d, alignment)) for name, d in buffer.over]
            shared[buffer.first] += most_shared(size, partners)
    for step, pair in enumerate(sharing):
        if len(pair) == 2 and len({name for b in pair for name, _ in b.over}) == 1:
            one, other = ((aligned(b.nbytes, alignment), b.over[0][1]) for b in pair)
            shared[step] = _shared_by_both(sizes[pair[0].over[0][0]], one, other, alignment)
    live, total = [], 0
    for step, delta in enumerate(change[:steps]):
        total += delta
        live.append(total - shared[step])
    return live


def bytes_in_use(
    graph: Graph, choices: Mapping[str, Choice], alignment: int, keep_inputs: bool
) -> list[int]:
    """live_bytes at each operator of a graph, in its order; one entry for a graph of none."""
    buffers = lifetimes(graph, choices, keep_inputs)
    return live_bytes(buffers, max(len(graph.ops), 1), alignment)
