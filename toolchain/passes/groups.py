"""Group normalisation as exporters write it: reshape, normalise rows, reshape back."""

from math import prod

import numpy as np

from toolchain.ir import Graph, Op, TensorType
from toolchain.ops.normalize import Normalize
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose
from toolchain.passes.edit import Edit, everywhere, fresh, inverse, moved


def fuse_groups(graph: Graph) -> Graph:
    """[1, C, ...] seen as [1, G, -1], its rows normalised, and seen as [1, C, ...] again.

    That is one group normalisation of the tensor with channels last; its transposes then cancel
    with those of the neighbours.
    """
    return everywhere(_fuse, graph)


def _fuse(graph: Graph, after: Op) -> Edit | None:
    producers, uses = graph.producers(), graph.uses()
    rows = producers.get(after.x)
    if not isinstance(after, Reshape) or not isinstance(rows, Normalize) or rows.across:
        return None
    before = producers.get(rows.x)
    if not isinstance(before, Reshape) or uses[rows.y] != 1 or uses[rows.x] != 1:
        return None
    shape, grouped = graph.types[before.x].shape, graph.types[rows.x].shape
    if graph.types[after.y].shape != shape or len(shape) not in (3, 4) or len(grouped) != 3:
        return None
    n, groups, _ = grouped
    fits = (n, shape[0]) == (1, 1) and shape[1] % groups == 0 and rows.groups == 1
    values = [np.unique(graph.constants[c]) for c in rows.inputs[1:]]
    if not fits or any(len(v) != 1 for v in values) or prod(shape[2:]) == 1:
        return None
    if graph.types[rows.x].quant != graph.types[before.x].quant:
        return None
    return _edit(graph, (before, rows, after), groups, [float(v[0]) for v in values])


def _edit(
    graph: Graph, found: tuple[Reshape, Normalize, Reshape], groups: int, values: list[float]
) -> Edit:
    before, rows, after = found
    kind = graph.types[after.y]
    perm = (0, *range(2, len(kind.shape)), 1)
    last = kind.with_shape(tuple(kind.shape[p] for p in perm))
    x, y = fresh(graph, f"{before.x}.last"), fresh(graph, f"{after.y}.last")
    names = [fresh(graph, f"{after.y}.{role}") for role in ("gain", "bias")]
    channels = TensorType((kind.shape[1],))
    norm = Normalize(
        rows.name,
        (x, *names),
        (y,),
        groups,
        True,
        rows.epsilon,
        rows.subtract_mean,
        rows.low,
        rows.high,
    )
    return Edit(
        found,
        [
            Transpose(rows.name, (before.x,), (x,), perm),
            norm,
            Transpose(rows.name, (y,), after.outputs, inverse(perm)),
        ],
        types={
            x: graph.types[before.x].with_shape(last.shape),
            y: last,
            **dict.fromkeys(names, channels),
        },
        constants={
            n: np.full(kind.shape[1], v, np.float32) for n, v in zip(names, values, strict=True)
        },
        origins={**moved(graph, before.x, perm, x), **moved(graph, after.y, perm, y)},
    )
