"""2-D convolution in groups of more than one input channel, with per-channel int8 filters."""

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
    Types,
    Unsupported,
    Writer,
    register,
)
from toolchain.ir.fixedpoint import clamp_codes
from toolchain.ops import fast
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops._examples import clip_bounds, normal, random_window, size
from toolchain.ops._layer import STRUCTURES, LayerOp
from toolchain.ops._layout import from_nhwc, nhwc_output, to_nhwc
from toolchain.ops._windows import Window, Windowed
from toolchain.ops.depthwise import import_depthwise


@register
@dataclass(frozen=True, slots=True)
class GroupedConv2D(Windowed, LayerOp):
    """Inputs x [N, H, W, I], filter [O, KH, KW, I / G], bias [O]; output [N, OH, OW, O].

    Output channel c reads the input channels of group c // (O / G). The result is clipped to
    [low, high].
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.GROUPED,
        Kernel(
            "glue_group_conv_s8",
            "ops/grouped_conv.c.j2",
            ("glue_group_conv_s8.c",),
            call_bytes=STRUCTURES,
            overlap=window_overlap(Reads.ALL_CHANNELS),
        ),
    )

    window: Window
    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[N, OH, OW, O]."""
        n, height, width, channels = types[self.x].shape
        o, kh, kw, depth = types[self.inputs[1]].shape
        if (kh, kw) != self.window.kernel or channels % depth or o % (channels // depth):
            raise ValueError(
                f"filter {(o, kh, kw, depth)} does not fit input {types[self.x].shape}"
            )
        return ((n, *self.window.output((height, width)), o),)

    def sums(self, x: Array, w: Array) -> Array:
        """Group by group."""
        groups = x.shape[3] // w.shape[3]
        filters = np.split(w.astype(np.float64), groups, axis=0)
        total: Array = np.zeros(1)
        for ky, kx, taps in self.window.taps(x, 0):
            parts = np.split(taps.astype(np.float64), groups, axis=3)
            products = [p @ f[:, ky, kx].T for p, f in zip(parts, filters, strict=True)]
            total = total + np.concatenate(products, axis=3)
        return total

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Geometry and clamp."""
        return {
            "window": self.window,
            "clamp": clamp_codes(types[self.y], self.low, self.high),
        }

    def macs(self, types: Types) -> int:
        """One per filter weight and output position."""
        _, oh, ow, _ = types[self.y].shape
        return oh * ow * types[self.inputs[1]].elements

    def write(self, w: Writer) -> None:
        """Conv with groups; the filter as [O, I / G, KH, KW]."""
        codes = w.graph.constants[self.inputs[1]].transpose(FIRST)
        inputs = [w.real(self.x, FIRST), *w.filter_and_bias(self, codes, 0)]
        groups = w.graph.types[self.x].shape[3] // codes.shape[1]
        y = w.node("Conv", inputs, self.y, self.name, group=groups, **self.window.attributes)
        w.finish(self.y, y, FIRST, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random geometry, groups, channels and activation."""
        window, height, width = random_window(rng)
        groups, depth, per_group = size(rng, 2, 4), size(rng, 1, 5), size(rng, 1, 4)
        low, high = clip_bounds(rng)
        return Example(
            cls("grouped", ("x", "w", "b"), ("y",), window, low, high),
            {"x": (1, height, width, groups * depth)},
            {
                "w": normal(rng, groups * per_group, *window.kernel, depth),
                "b": normal(rng, groups * per_group),
            },
        )


def import_grouped(
    node: Node, b: Builder, weights: Array, bias: Array, window: Window, groups: int
) -> None:
    """An ONNX Conv with groups > 1; weights [O, I / G, KH, KW]."""
    if len(weights) % groups:
        raise Unsupported(f"{len(weights)} output channels in {groups} groups")
    if weights.shape[1] == 1:
        import_depthwise(node, b, weights, bias, window, groups)
        return
    y, rank = node.outputs[0], len(b.shape(node.input(0)))
    x = to_nhwc(b, node, node.input(0))
    name, origin = nhwc_output(b, y, rank)
    pins = b.pin(node.input(1), GroupedConv2D.channel_axis), b.pin(node.input(2), 0)
    w = b.constant(f"{y}.filter", weights.transpose(0, 2, 3, 1), pins[0])
    c = b.constant(f"{y}.bias", bias, pins[1])
    b.emit(GroupedConv2D(node.name, (x, w, c), (name,), window), origin)
    from_nhwc(b, node, name, y, rank)
