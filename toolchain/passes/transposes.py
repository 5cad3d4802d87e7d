"""Move transposes and reshapes towards the outputs until they meet and cancel (R19)."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from toolchain.ir import Graph, Op
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose
from toolchain.passes.edit import Edit, everywhere, fresh, inverse, moved, same_origin
from toolchain.passes.views import simplify_views


def sink_views(graph: Graph) -> Graph:
    """Move layout changes below the operators that do not care.

    1. op(transpose(x)...) is transpose(op'(x)...) when every activation operand is transposed
       alike, is there in the other layout already, or has too few axes to tell (a gate
       [1, C, 1, 1]); constant operands are transposed instead.
    2. op(reshape(x)...) is reshape(op(x)...) for element-wise operators that do not broadcast.
    3. A fully connected layer over a flattened transpose has its weights permuted instead.
    """
    return simplify_views(everywhere(_sink, simplify_views(graph)))


def _sink(graph: Graph, op: Op) -> Edit | None:
    if isinstance(op, FullyConnected):
        return _permute_weights(graph, op)
    if isinstance(op, Transpose | Reshape) or len(op.outputs) != 1:
        return None
    producers = graph.producers()
    sources = [producers.get(x) for x in graph.activations(op)]
    if not sources:
        return None
    turn = next((s for s in sources if isinstance(s, Transpose)), None)
    if turn is not None:
        before = _before(graph, op, turn.perm)
        return None if before is None else _sink_transpose(graph, op, turn.perm, before)
    first = sources[0]
    if isinstance(first, Reshape) and op.is_elementwise:
        shapes = {graph.types[s.x].shape if isinstance(s, Reshape) else None for s in sources}
        alike = {graph.types[x].shape for x in graph.activations(op)} == {graph.types[op.y].shape}
        return (
            _sink_reshape(graph, op) if alike and len(shapes) == 1 and None not in shapes else None
        )
    return None


def _before(graph: Graph, op: Op, perm: tuple[int, ...]) -> dict[str, str] | None:
    """For each activation operand the tensor it is transpose(.., perm) of; None without one.

    An operand that is itself in either layout, but for its shape, stands for itself.
    An operand that is not such a transpose may be read in the other layout where an earlier
    operator does so; then the transposes of the other operands must not have other readers, else
    nothing would be gained.
    """
    producers, readers, uses = graph.producers(), graph.consumers(), graph.uses()
    earlier = {y for o in graph.ops[: graph.ops.index(op)] for y in o.outputs}
    names, mixed, shared = {}, False, False
    for x in graph.activations(op):
        source = producers.get(x)
        if isinstance(source, Transpose) and source.perm == perm:
            names[x], shared = source.x, shared or uses[x] > 1
            continue
        if _same_order(graph.types[x].shape, inverse(perm)):
            names[x] = x
            continue
        views = [r for r in readers[x] if isinstance(r, Transpose) and r.perm == inverse(perm)]
        moved_already = [r.y for r in views if uses[r.y] and r.y in earlier]
        if not moved_already:
            return None
        names[x], mixed = moved_already[0], True
    return None if mixed and shared else names


def _same_order(shape: tuple[int, ...], perm: tuple[int, ...]) -> bool:
    """Whether a permutation moves only dimensions of size 1."""
    order = [p for p in perm if len(shape) == len(perm) and shape[p] != 1]
    return len(shape) == len(perm) and order == sorted(order)


def _sink_transpose(
    graph: Graph, op: Op, perm: tuple[int, ...], before: Mapping[str, str]
) -> Edit | None:
    moved_op = op.permuted(perm)
    if moved_op is None:
        return None
    back, inner = inverse(perm), fresh(graph, f"{op.y}.moved")
    origins = moved(graph, op.y, back, inner)
    if not origins and op.y in graph.origins:
        return None  # its value could no longer be compared with the model's
    names, constants, views = dict(before), {}, []
    types = {inner: graph.types[op.y].with_shape(_permuted(graph.types[op.y].shape, back))}
    for x in dict.fromkeys(op.inputs):
        if not graph.is_constant(x) and names[x] != x:
            continue
        names[x] = fresh(graph, f"{x}.moved")
        types[names[x]] = graph.types[x].with_shape(_permuted(graph.types[x].shape, back))
        if graph.is_constant(x):
            constants[names[x]] = np.ascontiguousarray(graph.constants[x].transpose(back))
        else:
            views.append(Reshape(op.name, (x,), (names[x],), types[names[x]].shape))
            origins |= moved(graph, x, back, names[x])
    return Edit(
        [op],
        [
            *views,
            replace(moved_op.renamed(names), outputs=(inner,)),
            Transpose(op.name, (inner,), op.outputs, perm),
        ],
        types,
        constants,
        origins,
    )


def _permuted(shape: tuple[int, ...], perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(shape[p] for p in perm)


def _sink_reshape(graph: Graph, op: Op) -> Edit:
    producers, names, constants = graph.producers(), {}, {}
    source, shape = (
        graph.types[producers[graph.activations(op)[0]].x].shape,
        graph.types[op.y].shape,
    )
    for x in op.inputs:
        if graph.is_constant(x):
            names[x] = fresh(graph, f"{x}.moved")
            constants[names[x]] = np.broadcast_to(graph.constants[x], shape).reshape(source)
        else:
            names[x] = producers[x].x
    inner = fresh(graph, f"{op.y}.moved")
    kind = graph.types[op.y].with_shape(source)
    kinds = {
        names[x]: graph.types[x].with_shape(source) for x in op.inputs if names[x] in constants
    }
    return Edit(
        [op],
        [
            replace(op.renamed(names), outputs=(inner,)),
            Reshape(op.name, (inner,), op.outputs, shape),
        ],
        {inner: kind, **kinds},
        constants,
        same_origin(graph, op.y, inner),
    )


def _permute_weights(graph: Graph, op: FullyConnected) -> Edit | None:
    """Case 3: reshape to [1, K] of a transpose; column order of the weights takes it over."""
    flat = graph.producers().get(op.x)
    if not isinstance(flat, Reshape) or graph.types[op.x].shape[:-1] != (1,):
        return None
    turn = graph.producers().get(flat.x)
    if not isinstance(turn, Transpose):
        return None
    shape = graph.types[turn.y].shape
    w = graph.constants[op.inputs[1]]
    # axes of the weights: output, then the transposed input's; bring them to the input's own order
    columns = w.reshape(len(w), *shape).transpose(0, *(1 + i for i in inverse(turn.perm)))
    inner, weights = fresh(graph, f"{op.x}.moved"), fresh(graph, f"{op.inputs[1]}.moved")
    kind = graph.types[op.x]
    return Edit(
        [op],
        [
            Reshape(flat.name, turn.inputs, (inner,), kind.shape),
            replace(op, inputs=(inner, weights, op.inputs[2])),
        ],
        {inner: kind, weights: graph.types[op.inputs[1]]},
        {weights: np.ascontiguousarray(columns.reshape(w.shape))},
        same_origin(graph, turn.x, inner),
    )
