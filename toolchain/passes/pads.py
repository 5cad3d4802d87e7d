"""Explicit zero padding becomes the padding of the convolution that reads it."""

from dataclasses import replace

from toolchain.ir import Graph, Op
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.grouped_conv import GroupedConv2D
from toolchain.ops.pad import Pad
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose
from toolchain.passes.edit import Edit, everywhere, fresh, inverse, moved, same_origin


def fuse_pads(graph: Graph) -> Graph:
    """Bring pads next to convolutions and fuse them.

    1. transpose(pad(x)) is pad(transpose(x)) with permuted pads.
    2. reshape(pad(x)) is pad(reshape(x)) when the reshape only adds or drops dimensions of size 1
       that are not padded.
    3. A convolution of a zero pad over height and width has that padding itself.
    """
    return everywhere(_fuse, everywhere(_sink, graph))


def _source(graph: Graph, op: Op) -> Pad | None:
    before = graph.producers().get(op.x)
    alone = graph.uses()[op.x] == 1
    return before if isinstance(before, Pad) and alone else None


def _sink(graph: Graph, op: Op) -> Edit | None:
    if not isinstance(op, Reshape | Transpose):
        return None
    pad = _source(graph, op)
    if pad is None:
        return None
    inner = fresh(graph, f"{pad.x}.unpadded")
    if isinstance(op, Transpose):
        view: Op = replace(op, inputs=pad.inputs, outputs=(inner,))
        lowered = pad.permuted(inverse(op.perm))
        origins = moved(graph, pad.x, op.perm, inner)
    else:
        mapped = _through_reshape(pad, graph, op)
        if mapped is None:
            return None
        shape, lowered = mapped
        view = Reshape(op.name, pad.inputs, (inner,), shape)
        origins = same_origin(graph, pad.x, inner)
    (shape,) = view.infer(graph.types)
    return Edit(
        [pad, op],
        [view, replace(lowered, inputs=(inner,), outputs=op.outputs)],
        types={inner: graph.types[pad.x].with_shape(shape)},
        origins=origins,
    )


def _through_reshape(pad: Pad, graph: Graph, op: Reshape) -> tuple[tuple[int, ...], Pad] | None:
    """Shape of reshape(x), and the pad that follows it (case 2)."""
    padded, target = graph.types[pad.y].shape, op.shape
    source = [i for i, n in enumerate(padded) if n != 1]
    goal = [i for i, n in enumerate(target) if n != 1]
    touched = {i for i in range(len(padded)) if pad.before[i] or pad.after[i]}
    if [padded[i] for i in source] != [target[i] for i in goal] or touched - set(source):
        return None
    before, after, shape = [0] * len(target), [0] * len(target), [1] * len(target)
    for i, j in zip(source, goal, strict=True):
        before[j], after[j] = pad.before[i], pad.after[i]
        shape[j] = graph.types[pad.x].shape[i]
    return tuple(shape), replace(pad, before=tuple(before), after=tuple(after))


def _fuse(graph: Graph, op: Op) -> Edit | None:
    if not isinstance(op, Conv2D | DepthwiseConv2D | GroupedConv2D):
        return None
    pad = _source(graph, op)
    if pad is None or pad.value != 0 or len(pad.before) != 4:
        return None
    (n0, top, left, c0), (n1, bottom, right, c1) = pad.before, pad.after
    if any((n0, c0, n1, c1)):
        return None
    own = op.window.pads
    pads = (own[0] + top, own[1] + left, own[2] + bottom, own[3] + right)
    window = replace(op.window, pads=pads)
    return Edit([pad, op], [replace(op, inputs=(pad.x, *op.inputs[1:]), window=window)])
