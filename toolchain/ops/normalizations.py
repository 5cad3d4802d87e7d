"""ONNX's normalisations, all of them one operator over rows."""

from collections.abc import Iterable
from dataclasses import replace
from math import prod, sqrt

import numpy as np

from toolchain.ir import Array, Builder, Node, Origin, Unsupported, imports
from toolchain.ops._axes import axes_of, axis_of
from toolchain.ops._layout import from_nhwc, nhwc_output, to_nhwc
from toolchain.ops.normalize import Normalize
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose


def _constants(b: Builder, y: str, gain: Array, bias: Array) -> tuple[str, str]:
    return b.constant(f"{y}.gain", gain), b.constant(f"{y}.bias", bias)


def _values(node: Node, b: Builder, index: int, what: str, default: float, size: int) -> Array:
    """A constant input as a vector of `size`; left out: all `default`."""
    if not node.input(index):
        return np.full(size, default, np.float32)
    value = b.required(node, index, f"the {what}").astype(np.float32)
    if value.size not in (1, size):
        raise Unsupported(f"a {what} of shape {value.shape} for {size} values")
    return np.ascontiguousarray(np.broadcast_to(value.reshape(-1), (size,)))


def _refuse_statistics(node: Node) -> None:
    if any(node.outputs[1:]):
        raise Unsupported("its outputs of mean and deviation", "only the values are supported")


def _over_last_axes(
    node: Node, b: Builder, axes: tuple[int, ...], gain: Array, bias: Array, mean: bool
) -> None:
    """Normalise over any axes: they are brought to the end and make one row.

    Args:
        node: The node; its epsilon is read.
        b: Graph under construction.
        axes: Axes of a row.
        gain: One factor per element of a row.
        bias: One addend per element of a row.
        mean: Whether the mean is subtracted.
    """
    x, y = b.activation(node.input(0)), node.outputs[0]
    shape, epsilon = b.shape(x), float(node.attribute("epsilon", 1e-5))
    rank = len(shape)
    perm = (*(i for i in range(rank) if i not in axes), *axes)
    straight = perm == tuple(range(rank))
    origin = b.origins.get(x)
    if not straight:
        origin = Origin(x, perm) if origin == Origin(x) else None
        x = b.emit(Transpose(node.name, (x,), (b.fresh(f"{x}.last"),), perm), origin)
    arranged = b.shape(x)
    view = (*arranged[: rank - len(axes)], prod(shape[a] for a in axes))
    if view != arranged:
        x = b.emit(Reshape(node.name, (x,), (b.fresh(f"{x}.rows"),), view), origin)
    inputs = (x, *_constants(b, y, gain, bias))
    result = Origin(y, None if straight else perm)
    name = y if straight and view == arranged else b.fresh(f"{y}.rows")
    b.emit(Normalize(node.name, inputs, (name,), epsilon=epsilon, subtract_mean=mean), result)
    if view != arranged:
        back = y if straight else b.fresh(f"{y}.last")
        name = b.emit(Reshape(node.name, (name,), (back,), arranged), result)
    if not straight:
        inverse = tuple(perm.index(i) for i in range(rank))
        b.emit(Transpose(node.name, (name,), (y,), inverse))


def _over_space(node: Node, b: Builder, groups: int, gain: Array, bias: Array, mean: bool) -> None:
    """Normalise over the spatial axes and the channels of each group."""
    y, rank = node.outputs[0], len(b.shape(node.input(0)))
    epsilon = float(node.attribute("epsilon", 1e-5))
    x = to_nhwc(b, node, node.input(0))
    name, origin = nhwc_output(b, y, rank)
    inputs = (x, *_constants(b, y, gain, bias))
    op = Normalize(node.name, inputs, (name,), groups, True, epsilon, mean)
    b.emit(op, origin)
    from_nhwc(b, node, name, y, rank)


def _trailing(node: Node, b: Builder) -> tuple[tuple[int, ...], int]:
    """The axes from the attribute on, and their number of elements."""
    shape = b.shape(node.input(0))
    first = axis_of(node.attribute("axis", -1), len(shape))
    return tuple(range(first, len(shape))), prod(shape[first:])


def _per_element(node: Node, b: Builder, index: int, what: str, default: float) -> Array:
    """A constant that broadcasts to the axes of a row, as a vector."""
    axes, size = _trailing(node, b)
    if not node.input(index):
        return np.full(size, default, np.float32)
    value = b.required(node, index, f"the {what}").astype(np.float32)
    shape = tuple(b.shape(node.input(0))[a] for a in axes)
    squeezed = value.reshape(value.shape[max(value.ndim - len(shape), 0) :])
    return np.ascontiguousarray(np.broadcast_to(squeezed, shape)).reshape(-1)


@imports("LayerNormalization")
def import_layer_norm(node: Node, b: Builder) -> None:
    """Over the axes from any one on, with constant scale and bias; without the other outputs."""
    _refuse_statistics(node)
    gain = _per_element(node, b, 1, "scale", 1.0)
    bias = _per_element(node, b, 2, "bias", 0.0)
    _over_last_axes(node, b, _trailing(node, b)[0], gain, bias, True)


@imports("RMSNormalization", "SimplifiedLayerNormalization")
def import_rms_norm(node: Node, b: Builder) -> None:
    """Over the axes from any one on, with a constant scale; without the other outputs."""
    _refuse_statistics(node)
    gain = _per_element(node, b, 1, "scale", 1.0)
    _over_last_axes(node, b, _trailing(node, b)[0], gain, np.zeros_like(gain), False)


@imports("InstanceNormalization")
def import_instance_norm(node: Node, b: Builder) -> None:
    """One or two spatial axes, with constant scale and bias."""
    shape = b.shape(node.input(0))
    gain = _values(node, b, 1, "scale", 1.0, shape[1])
    bias = _values(node, b, 2, "bias", 0.0, shape[1])
    if len(shape) == 3 and len(np.unique(gain)) == len(np.unique(bias)) == 1:
        row = np.ones(shape[2], np.float32)  # rows lie in memory one after the other
        _over_last_axes(node, b, (2,), row * gain[0], row * bias[0], True)
        return
    _over_space(node, b, shape[1], gain, bias, True)


@imports("GroupNormalization")
def import_group_norm(node: Node, b: Builder) -> None:
    """One or two spatial axes; constant scale and bias per group (until opset 20) or channel."""
    channels = b.shape(node.input(0))[1]
    groups = int(node.attribute("num_groups", 0))
    if groups < 1 or channels % groups:
        raise Unsupported(f"{channels} channels in {groups} groups")
    size = groups if node.opset < 21 else channels
    gain = _values(node, b, 1, "scale", 1.0, size)
    bias = _values(node, b, 2, "bias", 0.0, size)
    gain, bias = (np.repeat(v, channels // size) for v in (gain, bias))
    _over_space(node, b, groups, gain, bias, True)


@imports("MeanVarianceNormalization")
def import_mean_variance_norm(node: Node, b: Builder) -> None:
    """Over any axes but a batch of several."""
    values: Iterable[int] = node.attribute("axes", (0, 2, 3))
    shape = b.shape(node.input(0))
    axes = axes_of(values, len(shape))
    if 0 in axes and shape[0] != 1:
        raise Unsupported("normalisation over the batch axis")
    mean = bool(node.attribute("subtract_mean", 1))
    node = _with_epsilon(node, float(node.attribute("epsilon", 0.0)))
    axes = tuple(a for a in axes if a != 0) or axes
    size = prod(shape[a] for a in axes)
    if len(shape) == 4 and axes == (2, 3):
        gain = np.ones(shape[1], np.float32)
        _over_space(node, b, shape[1], gain, np.zeros_like(gain), mean)
        return
    row = np.ones(size, np.float32)
    _over_last_axes(node, b, axes, row, np.zeros_like(row), mean)


def _with_epsilon(node: Node, epsilon: float) -> Node:
    return replace(node, attributes={**node.attributes, "epsilon": epsilon})


@imports("LpNormalization")
def import_lp_norm(node: Node, b: Builder) -> None:
    """p = 2 over any axis."""
    if node.attribute("p", 2) != 2:
        raise Unsupported(f"LpNormalization with p = {node.attribute('p')}", "p = 2 is supported")
    shape = b.shape(node.input(0))
    axis = axis_of(node.attribute("axis", -1), len(shape))
    row = np.full(shape[axis], 1 / sqrt(shape[axis]), np.float32)
    node = _with_epsilon(node, float(node.attribute("epsilon", 0.0)))
    _over_last_axes(node, b, (axis,), row, np.zeros_like(row), False)
