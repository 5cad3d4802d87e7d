"""2-D convolution with per-channel int8 filters."""

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
    Site,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import (
    clamp_codes,
)
from toolchain.ops import _arm_limits as limits
from toolchain.ops import _scratch as arm
from toolchain.ops import fast
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops._examples import clip_bounds, normal, random_window, size
from toolchain.ops._layer import STRUCTURES, LayerOp, product_type
from toolchain.ops._layout import from_nhwc, nhwc_output, to_nhwc
from toolchain.ops._windows import Window, Windowed, import_window
from toolchain.ops.grouped_conv import import_grouped


def _scratch(site: Site) -> int:
    if not site.target.arm_library:
        return 0
    x, w, y = (site.types[n].shape4 for n in (site.op.x, site.op.inputs[1], site.op.y))
    return arm.convolve(site.target.isa, x, w, y, *site.op.window.geometry)


def _arm_is_right(site: Site) -> bool:
    """Arm's library is not known to be wrong on this shape."""
    x, y = site.types[site.op.x].shape4, site.types[site.op.y].shape4
    geometry = limits.Geometry(x[1:3], site.op.window, y[1:3])
    return not (site.target.arm_library and limits.convolution(site.target.isa, geometry, x[3]))


@register
@dataclass(frozen=True, slots=True)
class Conv2D(Windowed, LayerOp):
    """Inputs x [N, H, W, I], filter [O, KH, KW, I], bias [O]; output [N, OH, OW, O].

    The result is clipped to [low, high] (None: open), which fuses ReLU and Clip.
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.CONVOLUTION,
        Kernel(
            "arm_convolve_wrapper_s8",
            "ops/conv2d.c.j2",
            ("arm_convolve_wrapper_s8.c",),
            call_bytes=STRUCTURES,
            when=_arm_is_right,
            scratch=_scratch,
            overlap=window_overlap(Reads.ALL_CHANNELS, arm_function=True),
        ),
        Kernel(
            "glue_convolve_s8",
            "ops/conv2d.c.j2",
            ("glue_convolve_s8.c",),
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
        if (kh, kw) != self.window.kernel or depth != channels:
            raise ValueError(
                f"filter {(o, kh, kw, depth)} does not fit input {types[self.x].shape}"
            )
        return ((n, *self.window.output((height, width)), o),)

    def sums(self, x: Array, w: Array) -> Array:
        """Sum over the taps of every window."""
        kind = product_type(x, w, self.channel_axis)
        matrix = w.reshape(len(w), -1).T.astype(kind)
        if self.window.kernel == (1, 1):
            ((_, _, taps),) = self.window.taps(x, 0)
            return np.asarray(taps.astype(kind) @ matrix)
        patches = np.concatenate([t.astype(kind) for _, _, t in self.window.taps(x, 0)], axis=3)
        return np.asarray(patches @ matrix)

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
        """Conv; the filter as [O, I, KH, KW]."""
        codes = w.graph.constants[self.inputs[1]].transpose(FIRST)
        inputs = [w.real(self.x, FIRST), *w.filter_and_bias(self, codes, 0)]
        y = w.node("Conv", inputs, self.y, self.name, **self.window.attributes)
        w.finish(self.y, y, FIRST, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random geometry, channels and activation."""
        window, height, width = random_window(rng)
        i, o = size(rng, 1, 17), size(rng, 1, 9)
        low, high = clip_bounds(rng)
        return Example(
            cls("conv", ("x", "w", "b"), ("y",), window, low, high),
            {"x": (1, height, width, i)},
            {"w": normal(rng, o, *window.kernel, i), "b": normal(rng, o)},
        )


@imports("Conv")
def import_conv(node: Node, b: Builder) -> None:
    """1-D and 2-D with constant weights; all strides, pads, dilations and groups."""
    weights = b.required(node, 1, "the filter")
    shape = b.shape(node.input(0))
    rank, groups = len(shape), int(node.attribute("group", 1))
    if rank not in (3, 4):
        raise Unsupported(f"{rank - 2}-D convolution", "1-D and 2-D convolutions are supported")
    if weights.shape[1] * groups != shape[1]:
        raise Unsupported(f"filter {weights.shape} does not fit input {shape}")
    bias = b.required(node, 2, "the bias") if node.input(2) else np.zeros(len(weights), np.float32)
    if bias.shape != (len(weights),):
        raise Unsupported(f"a bias of shape {bias.shape} for {len(weights)} output channels")
    if weights.ndim != rank:
        raise Unsupported(f"filter {weights.shape} does not fit input {shape}")
    window = import_window(node, shape[2:], weights.shape[2:])
    if rank == 3:
        weights = weights[:, :, None, :]
    if groups > 1:
        import_grouped(node, b, weights, bias, window, groups)
        return
    y = node.outputs[0]
    x = to_nhwc(b, node, node.input(0))
    name, origin = nhwc_output(b, y, rank)
    pins = b.pin(node.input(1), Conv2D.channel_axis), b.pin(node.input(2), 0)
    w = b.constant(f"{y}.filter", weights.transpose(0, 2, 3, 1), pins[0])
    c = b.constant(f"{y}.bias", bias, pins[1])
    b.emit(Conv2D(node.name, (x, w, c), (name,), window), origin)
    from_nhwc(b, node, name, y, rank)
