"""Which tensors share storage, and from which step to which each storage is needed.

Step i is the i-th operator of the graph. Two tensors share storage when one is a view of the other,
or when an operator writes its first output over an input that nothing needs afterwards.
"""

from collections.abc import Mapping
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
        tensors: The tensors stored in it one after the other; none for scratch memory.
        offset: Byte offset in the arena, once planned.
    """

    name: str
    nbytes: int
    first: int
    last: int
    tensors: tuple[str, ...] = ()
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


def overwritable(
    graph: Graph, op: Op, choice: Choice | None, roots: Mapping[str, str], dying: set[str]
) -> str | None:
    """The root whose storage the first output of an operator may take over, if there is one.

    1. The kernel allows it for every input that is stored there.
    2. The root is not constant and `dying`: nothing reads it after this operator.
    3. The output is not larger; among several roots, the smallest one wins.
    """
    allowed = choice.kernel.inplace if choice else ()
    forbidden = {roots[x] for i, x in enumerate(op.inputs) if i not in allowed}
    candidates = [
        root
        for root in dict.fromkeys(roots[op.inputs[i]] for i in allowed if i < len(op.inputs))
        if root in dying
        and root not in forbidden
        and root not in graph.constants
        and graph.types[op.y].nbytes <= graph.types[root].nbytes
    ]
    return min(candidates, key=lambda root: graph.types[root].nbytes, default=None)


def lifetimes(
    graph: Graph, choices: Mapping[str, Choice], keep_inputs: bool = False
) -> tuple[Buffer, ...]:
    """The buffers a program needs, in the order of their first step.

    Inputs live from step 0 until they are last read, or to the end when they are outputs too or
    `keep_inputs` is set. Outputs live to the end, tensors that nobody reads for the step that
    writes them, scratch memory for one step. Constants and their views need none.

    Args:
        graph: Operators in the order they run.
        choices: Kernel of every operator that computes, by its first output; without one an
            operator needs no scratch memory and does not work in place.
        keep_inputs: Inputs survive the run.
    """
    roots = view_roots(graph)
    uses = last_uses(graph, roots, keep_inputs)
    owners = {x: x for x in graph.inputs}
    born = dict.fromkeys(graph.inputs, 0)
    scratch: list[Buffer] = []
    for step, op in enumerate(graph.ops):
        if op.is_view:
            continue
        choice = choices.get(op.y)
        dying = {roots[x] for x in op.inputs if uses[roots[x]] == step}
        born.update(dict.fromkeys(op.outputs, step))
        owners.update((y, y) for y in op.outputs)
        root = overwritable(graph, op, choice, roots, dying)
        if root is not None:
            owners[op.y] = owners[root]
        if choice is not None and choice.scratch:
            scratch.append(Buffer(op.y, choice.scratch, step, step))

    tensors: dict[str, list[str]] = {}
    for name, root in roots.items():
        if root not in graph.constants:
            tensors.setdefault(owners[root], []).append(name)
    end = max(len(graph.ops) - 1, 0)
    buffers = [
        Buffer(
            owner,
            max(graph.types[name].nbytes for name in names),
            born[owner],
            min(end, max(uses.get(roots[name], born[roots[name]]) for name in names)),
            tuple(names),
        )
        for owner, names in tensors.items()
    ]
    return tuple(sorted((*buffers, *scratch), key=lambda b: b.first))


def aligned(nbytes: int, alignment: int) -> int:
    """Bytes rounded up to a multiple of the alignment."""
    return -(-nbytes // alignment) * alignment


def live_bytes(buffers: tuple[Buffer, ...], steps: int, alignment: int) -> list[int]:
    """Bytes that are needed at each step: the sum of the aligned sizes of the live buffers."""
    change = [0] * (steps + 1)
    for buffer in buffers:
        change[buffer.first] += aligned(buffer.nbytes, alignment)
        change[buffer.last + 1] -= aligned(buffer.nbytes, alignment)
    live, total = [], 0
    for delta in change[:steps]:
        total += delta
        live.append(total)
    return live
