"""Copies that meet: transposes through reshapes, shuffles of one axis, takes of takes."""

from dataclasses import replace

import numpy as np

from toolchain.ir import Graph, Op
from toolchain.ops._copies import MAX_RANK
from toolchain.ops.reshape import Reshape
from toolchain.ops.take import Indices, Take
from toolchain.ops.transpose import Transpose
from toolchain.passes._refine import refine
from toolchain.passes.edit import Edit, fresh, same_origin


def live_ops(graph: Graph) -> list[Op]:
    """The operators that an output depends on."""
    wanted, ops = set(graph.outputs), []
    for op in reversed(graph.ops):
        if wanted & set(op.outputs):
            ops.append(op)
            wanted.update(op.inputs)
    return ops[::-1]


def merge_takes(graph: Graph, op: Take) -> Edit | None:
    """take(take(x)) is one take."""
    before = graph.producers().get(op.x)
    if not isinstance(before, Take):
        return None
    shape = graph.types[before.x].shape
    merged: list[Indices] = []
    for n, first, second in zip(
        shape, before.cells(shape), op.cells(graph.types[op.x].shape), strict=True
    ):
        cells = tuple(first[i] for i in second)
        merged.append(None if cells == tuple(range(n)) else cells)
    return Edit([op], [replace(op, inputs=before.inputs, indices=tuple(merged))])


def merge_transposes(graph: Graph, op: Transpose) -> Edit | None:
    """transpose(reshape(transpose(x))) is reshape(transpose(reshape(x))): one copy, not two."""
    view = graph.producers().get(op.x)
    turn = graph.producers().get(view.x) if isinstance(view, Reshape) else None
    if not isinstance(view, Reshape) or not isinstance(turn, Transpose):
        return None
    uses = graph.with_ops(live_ops(graph)).uses()
    if uses[view.y] > 1 or uses[turn.y] > 1:
        return None  # the first copy is needed anyway
    readers = graph.consumers().get(op.y, [])
    if any(isinstance(r, Reshape) and shuffle(graph, r) is not None for r in readers):
        return None  # as a take it lets the first transpose pass, which may cancel
    refined = refine(graph.types[turn.y].shape, view.shape)
    if refined is None:
        return None
    fine, before, after = refined
    source = [f for axis in range(len(turn.perm)) for f in before[turn.perm.index(axis)]]
    runs = _runs([source.index(f) for axis in op.perm for f in after[axis]])
    if len(runs) > MAX_RANK:
        return None
    order = sorted(range(len(runs)), key=lambda i: runs[i][0])
    shape = tuple(int(np.prod([fine[source[at]] for at in runs[i]])) for i in order)
    perm = tuple(order.index(i) for i in range(len(runs)))
    split, moved = fresh(graph, f"{op.y}.split"), fresh(graph, f"{op.y}.moved")
    kind = graph.types[op.y]
    return Edit(
        [op],
        [
            Reshape(op.name, turn.inputs, (split,), shape),
            Transpose(op.name, (split,), (moved,), perm),
            Reshape(op.name, (moved,), op.outputs, kind.shape),
        ],
        {
            split: kind.with_shape(shape),
            moved: kind.with_shape(tuple(shape[p] for p in perm)),
        },
        origins={**same_origin(graph, turn.x, split), **same_origin(graph, op.y, moved)},
    )


def _runs(positions: list[int]) -> list[list[int]]:
    """The positions cut where one does not follow the one before it."""
    runs: list[list[int]] = []
    for at in positions:
        if runs and runs[-1][-1] + 1 == at:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def shuffle(graph: Graph, op: Reshape) -> Edit | None:
    """reshape(transpose(reshape(x))) that only mixes cells within axes is a take (R6).

    So a channel shuffle becomes a choice of channels, and layout changes can pass it.
    """
    turn = graph.producers().get(op.x)
    split = graph.producers().get(turn.x) if isinstance(turn, Transpose) else None
    if not isinstance(turn, Transpose) or not isinstance(split, Reshape):
        return None
    shape = graph.types[split.x].shape
    parts = _parts(shape, split.shape)
    joined = _parts(op.shape, graph.types[turn.y].shape)
    if parts is None or joined is None or len(parts) != len(joined):
        return None
    indices: list[Indices] = []
    for n, own, result in zip(shape, parts, joined, strict=True):
        order = [turn.perm[axis] for axis in result]
        if sorted(order) != own:
            return None
        cells = np.arange(n).reshape([split.shape[axis] for axis in own])
        mixed = tuple(cells.transpose([own.index(axis) for axis in order]).reshape(-1).tolist())
        indices.append(None if mixed == tuple(range(n)) else mixed)
    return Edit([op], [Take(op.name, split.inputs, op.outputs, tuple(indices))])


def _parts(whole: tuple[int, ...], split: tuple[int, ...]) -> list[list[int]] | None:
    """For every axis of `whole` the axes of `split` it is made of; None when one straddles."""
    refined = refine(whole, split)
    if refined is None or any(len(group) > 1 for group in refined[2]):
        return None
    axis_of = {group[0]: axis for axis, group in enumerate(refined[2]) if group}
    return [[axis_of[f] for f in group] for group in refined[1]]
