"""Multiplications and additions per channel disappear into the layers around them (R12)."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Graph, Op, TensorType
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.conv_transpose import ConvTranspose2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.grouped_conv import GroupedConv2D
from toolchain.ops.normalize import Normalize
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose
from toolchain.ops.unary import Unary, affine_of
from toolchain.passes.edit import Edit, everywhere, fresh, same_origin

Layer = Conv2D | ConvTranspose2D | DepthwiseConv2D | FullyConnected | GroupedConv2D
Folding = Layer | Normalize
"""What ends with a gain and a bias per channel."""


@dataclass(frozen=True, slots=True)
class Affine:
    """y = gain * x + bias per index of the last axis."""

    gain: NDArray[np.float64]
    bias: NDArray[np.float64]


def fold_affine(graph: Graph) -> Graph:
    """Fold per-channel affine operators (batch normalisation, scaling) into layers.

    1. Backwards into the layer or normalisation before it, when only the affine operator reads
       that and no activation lies between.
    2. Else forwards into the layer after it, when only that layer reads it; where taps may miss
       the input (padding, transposed convolution) only when the bias is zero.
    Reshapes that keep the last axis may lie between; after a number for all channels any view.
    """
    return everywhere(_forwards, everywhere(_backwards, graph))


def _channels(graph: Graph, name: str) -> int:
    """Size of the last axis; a tensor without axes is one channel."""
    return (graph.types[name].shape or (1,))[-1]


def _affine(graph: Graph, op: Op) -> Affine | None:
    channels = _channels(graph, op.y)
    if isinstance(op, Unary):
        factors = affine_of(op.expression)
        if factors is None:
            return None
        gain, bias = (np.full(channels, f, np.float64) for f in factors)
        return Affine(gain, bias)
    if (
        isinstance(op, DepthwiseConv2D)
        and op.window.kernel == op.window.stride == (1, 1)
        and op.window.pads == (0, 0, 0, 0)
        and _channels(graph, op.x) == channels
        and (op.low, op.high) == (None, None)
    ):
        gain, bias = (graph.constants[n].astype(np.float64) for n in op.inputs[1:])
        return Affine(gain.reshape(-1), bias)
    return None


def _backwards(graph: Graph, op: Op) -> Edit | None:
    affine = _affine(graph, op)
    if affine is None:
        return None
    producers, uses = graph.producers(), graph.uses()
    channels, name, views = len(affine.gain), op.x, []
    while uses[name] == 1 and isinstance(view := producers.get(name), Reshape):
        views.append(view)
        name = view.x
        if _channels(graph, name) != channels:
            return None
    layer = producers.get(name)
    if not isinstance(layer, Folding) or uses[name] != 1 or _clips(layer):
        return None
    if graph.types[layer.y].quant not in (None, graph.types[op.y].quant):
        return None
    folded = _with_constants(graph, layer, *_scaled(graph, layer, op, affine))
    if not views:
        return replace(
            folded, remove=[layer, op], insert=[replace(folded.insert[0], outputs=op.outputs)]
        )
    # the affine operator sits behind reshapes: the last reshape now writes its output
    inner = fresh(graph, f"{op.y}.layer")
    kind = replace(graph.types[layer.y], quant=graph.types[op.y].quant)
    origins = {inner: graph.origins[op.y]} if op.y in graph.origins else {}
    return replace(
        folded,
        remove=[layer, *views, op],
        insert=[
            replace(folded.insert[0], outputs=(inner,)),
            Reshape(op.name, (inner,), op.outputs, graph.types[op.y].shape),
        ],
        types={**folded.types, inner: kind},
        origins=origins,
    )


def _clips(layer: Folding) -> bool:
    return (layer.low, layer.high) != (None, None)


def _scaled(
    graph: Graph, layer: Folding, op: Op, affine: Affine
) -> tuple[Array | str, Array | str]:
    """Weights and bias of the layer with the affine operator folded in.

    What does not change is given by name and keeps the codes a quantised model came with (R13).
    """
    w, bias = (graph.constants[n].astype(np.float64) for n in layer.inputs[1:])
    if np.any(affine.gain != 1):
        gain = np.expand_dims(affine.gain, [i for i in range(w.ndim) if i != layer.channel_axis])
        return w * gain, bias * affine.gain + affine.bias
    if isinstance(op, DepthwiseConv2D) and not bias.any():
        return layer.inputs[1], op.inputs[2]
    return layer.inputs[1], bias + affine.bias


def _forwards(graph: Graph, op: Op) -> Edit | None:
    affine = _affine(graph, op)
    if affine is None or graph.types[op.y].quant is not None:
        return None
    if isinstance(op, Unary):  # one number for all channels
        affine = Affine(affine.gain[:1], affine.bias[:1])
    views, layer = _only_reader(graph, op)
    name = views[-1].y if views else op.y
    if not isinstance(layer, Layer) or name != layer.x:
        return None
    if np.any(affine.bias) and not _meets_every_tap(layer):
        return None
    depth = graph.types[name].shape[-1]
    if depth % len(affine.gain):
        return None
    gain, shift = (np.tile(v, depth // len(affine.gain)) for v in (affine.gain, affine.bias))
    w, bias = (graph.constants[n].astype(np.float64) for n in layer.inputs[1:])
    if isinstance(layer, DepthwiseConv2D):
        gain, shift = (np.repeat(v, w.shape[3] // depth) for v in (gain, shift))
        bias = bias + (w * shift).sum(axis=(0, 1, 2))
    else:
        gain, shift = (_by_group(v, w) for v in (gain, shift))
        bias = bias + (w * shift).reshape(len(w), -1).sum(axis=1)
    edit = _with_constants(graph, layer, w * gain, bias)
    if not views:
        return replace(
            edit,
            remove=[op, layer],
            insert=[replace(edit.insert[0], inputs=(op.x, *edit.insert[0].inputs[1:]))],
        )
    # the views now hold other values than the ONNX tensors they are named after
    insert, types, source = [], {}, op.x
    for view in views:
        inner = fresh(graph, f"{view.y}.unscaled")
        insert.append(replace(view, inputs=(source,), outputs=(inner,)))
        types[inner] = graph.types[op.x].with_shape(graph.types[view.y].shape)
        source = inner
    reshaped = all(isinstance(view, Reshape) for view in views)
    return replace(
        edit,
        remove=[op, *views, layer],
        insert=[*insert, replace(edit.insert[0], inputs=(source, *edit.insert[0].inputs[1:]))],
        types={**edit.types, **types},
        origins=same_origin(graph, op.x, source) if reshaped else {},
    )


def _only_reader(graph: Graph, op: Op) -> tuple[list[Reshape | Transpose], Op | None]:
    """The views that alone read an operator one after the other, and what alone reads the last."""
    passable = Reshape | Transpose if isinstance(op, Unary) else Reshape
    uses, readers = graph.uses(), graph.consumers()
    name = op.y
    views: list[Reshape | Transpose] = []
    while uses[name] == 1 and readers.get(name) and isinstance(view := readers[name][0], passable):
        views.append(view)
        name = view.y
    return views, readers[name][0] if uses[name] == 1 and readers.get(name) else None


def _meets_every_tap(layer: Layer) -> bool:
    """Whether all taps of all outputs read inputs, so that an addend is a constant of the sum."""
    if isinstance(layer, ConvTranspose2D):
        return False
    return isinstance(layer, FullyConnected) or not any(layer.window.pads)


def _by_group(values: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """One value per input channel as factors of weights [O, ..., I / G]."""
    depth = w.shape[-1]
    groups = len(values) // depth
    rows = np.repeat(values.reshape(groups, depth), len(w) // groups, axis=0)
    return rows.reshape(len(w), *(1,) * (w.ndim - 2), depth)


def _with_constants(graph: Graph, layer: Folding, weights: Array | str, bias: Array | str) -> Edit:
    """The layer with other constants; a name stands for a constant that exists."""
    names, types, constants = [], {}, {}
    for value, old in zip((weights, bias), layer.inputs[1:], strict=True):
        if isinstance(value, str):
            names.append(value)
            continue
        names.append(fresh(graph, f"{old}.folded"))
        types[names[-1]] = TensorType(tuple(value.shape))
        constants[names[-1]] = value.astype(np.float32)
    return Edit(
        [layer], [replace(layer, inputs=(layer.x, *names))], types=types, constants=constants
    )
