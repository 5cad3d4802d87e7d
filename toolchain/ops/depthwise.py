"""Depthwise 2-D convolution with per-channel int8 filters.

A 1x1 instance is a multiplication and addition per channel: that is how BatchNormalization and
element-wise operations with per-channel constants enter the graph (R12).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    FIRST,
    Array,
    Builder,
    Example,
    Kernel,
    Node,
    Origin,
    Quant,
    Site,
    Types,
    Unsupported,
    Writer,
    register,
)
from toolchain.ir.fixedpoint import (
    clamp_codes,
)
from toolchain.ops import _arm_limits as limits
from toolchain.ops import _scratch as arm
from toolchain.ops import fast
from toolchain.ops._axes import axis_of
from toolchain.ops._channels import channels_last, restore
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops._examples import clip_bounds, normal, random_window, size
from toolchain.ops._layer import STRUCTURES, LayerOp, product_type
from toolchain.ops._layout import from_nhwc, nhwc_output, to_nhwc
from toolchain.ops._windows import Window, Windowed


def _scratch(site: Site) -> int:
    if not site.target.arm_library:
        return 0
    x, y = site.types[site.op.x].shape4, site.types[site.op.y].shape4
    window = site.op.window
    return arm.depthwise(site.target.isa, x, window.kernel, y, *window.geometry)


def _arm_is_right(site: Site) -> bool:
    """Arm's library is not known to be wrong on this shape."""
    x, y = site.types[site.op.x].shape4, site.types[site.op.y].shape4
    geometry = limits.Geometry(x[1:3], site.op.window, y[1:3])
    wrong = limits.depthwise(site.target.isa, geometry, x[3], y[3] // x[3])
    return not (site.target.arm_library and wrong)


@register
@dataclass(frozen=True, slots=True)
class DepthwiseConv2D(Windowed, LayerOp):
    """Inputs x [N, H, W, C], filter [1, KH, KW, C * M], bias [C * M]; output [N, OH, OW, C * M].

    Output channel c reads input channel c // M. The result is clipped to [low, high].
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.DEPTHWISE,
        Kernel(
            "arm_depthwise_conv_wrapper_s8",
            "ops/depthwise.c.j2",
            ("arm_depthwise_conv_wrapper_s8.c",),
            call_bytes=STRUCTURES,
            when=_arm_is_right,
            scratch=_scratch,
            overlap=window_overlap(Reads.OWN_CHANNEL, arm_function=True),
        ),
        Kernel(
            "glue_depthwise_conv_s8",
            "ops/depthwise.c.j2",
            ("glue_depthwise_conv_s8.c",),
            call_bytes=STRUCTURES,
            overlap=window_overlap(Reads.OWN_CHANNEL),
        ),
    )
    channel_axis: ClassVar[int] = 3

    window: Window
    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[N, OH, OW, C * M]."""
        n, height, width, channels = types[self.x].shape
        one, kh, kw, outputs = types[self.inputs[1]].shape
        if one != 1 or (kh, kw) != self.window.kernel or outputs % channels:
            raise ValueError(f"filter {(one, kh, kw, outputs)} does not fit {types[self.x].shape}")
        return ((n, *self.window.output((height, width)), outputs),)

    def sums(self, x: Array, w: Array) -> Array:
        """Sum over the taps of every window."""
        kind = product_type(x, w, self.channel_axis)
        multiplier = w.shape[3] // x.shape[3]
        wide = (np.repeat(x, multiplier, axis=3) if multiplier > 1 else x).astype(kind)
        filters = w[0].astype(kind)
        ((_, _, first), *others) = self.window.taps(wide, 0)
        total = first * filters[0, 0]
        for ky, kx, taps in others:
            total += taps * filters[ky, kx]
        return np.asarray(total)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Geometry, channel multiplier and clamp."""
        return {
            "window": self.window,
            "ch_mult": types[self.y].shape[3] // types[self.x].shape[3],
            "clamp": clamp_codes(types[self.y], self.low, self.high),
        }

    def macs(self, types: Types) -> int:
        """One per filter weight and output position."""
        _, oh, ow, _ = types[self.y].shape
        return oh * ow * types[self.inputs[1]].elements

    def write(self, w: Writer) -> None:
        """Conv with a group per input channel; the filter as [C * M, 1, KH, KW]."""
        codes = w.graph.constants[self.inputs[1]].transpose(3, 0, 1, 2)
        inputs = [w.real(self.x, FIRST), *w.filter_and_bias(self, codes, 0)]
        groups = w.graph.types[self.x].shape[3]
        y = w.node("Conv", inputs, self.y, self.name, group=groups, **self.window.attributes)
        w.finish(self.y, y, FIRST, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random geometry, channels, channel multiplier and activation."""
        window, height, width = random_window(rng)
        channels, multiplier = size(rng, 1, 17), size(rng, 1, 3) if rng.random() < 0.3 else 1
        low, high = clip_bounds(rng)
        return Example(
            cls("depthwise", ("x", "w", "b"), ("y",), window, low, high),
            {"x": (1, height, width, channels)},
            {
                "w": normal(rng, 1, *window.kernel, channels * multiplier),
                "b": normal(rng, channels * multiplier),
            },
        )


def import_depthwise(
    node: Node, b: Builder, weights: Array, bias: Array, window: Window, groups: int
) -> None:
    """A grouped ONNX Conv with one input channel per group; weights [C * M, 1, KH, KW]."""
    if groups != b.shape(node.input(0))[1] or len(weights) % groups:
        raise Unsupported(
            f"{groups} groups and a filter {weights.shape} for input {b.shape(node.input(0))}"
        )
    y, rank = node.outputs[0], len(b.shape(node.input(0)))
    x = to_nhwc(b, node, node.input(0))
    name, origin = nhwc_output(b, y, rank)
    pins = b.pin(node.input(1), DepthwiseConv2D.channel_axis), b.pin(node.input(2), 0)
    w = b.constant(f"{y}.filter", weights.transpose(1, 2, 3, 0), pins[0])
    c = b.constant(f"{y}.bias", bias, pins[1])
    b.emit(DepthwiseConv2D(node.name, (x, w, c), (name,), window), origin)
    from_nhwc(b, node, name, y, rank)


def emit_affine(
    node: Node,
    b: Builder,
    x: str,
    y: str,
    axis: int,
    gain: Array,
    bias: Array,
    pin: Quant | None = None,
) -> None:
    """y = x * gain + bias along one axis, as a 1x1 depthwise convolution.

    Args:
        node: ONNX node it comes from.
        b: Graph under construction.
        x: Input tensor of any rank.
        y: ONNX name of the output.
        axis: Axis that gain and bias run over.
        gain: Factor per index of the axis.
        bias: Addend per index of the axis.
        pin: Quantisation the bias came with.
    """
    shape = b.shape(x)
    axis = axis_of(axis, len(shape))
    if {np.size(gain), np.size(bias)} != {shape[axis]}:
        raise Unsupported(f"{np.size(gain)} values along an axis of size {shape[axis]}")
    view, perm = channels_last(b, node, x, axis)
    name = b.fresh(f"{y}.affine")
    w = b.constant(f"{y}.gain", np.asarray(gain).reshape(1, 1, 1, -1))
    c = b.constant(f"{y}.bias", np.asarray(bias).reshape(-1), pin)
    b.emit(DepthwiseConv2D(node.name, (view, w, c), (name,), Window((1, 1))), Origin(y, perm))
    restore(b, node, name, y, perm, shape)
