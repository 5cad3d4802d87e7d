"""Maximum over windows."""

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
    SameAs,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import clamp_codes, clip
from toolchain.ops import fast
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops._examples import clip_bounds, random_window, size
from toolchain.ops._layout import from_nhwc, nhwc_output, to_nhwc
from toolchain.ops._windows import Window, Windowed, import_window, refuse_windows_of_padding


@register
@dataclass(frozen=True, slots=True)
class MaxPool(Windowed):
    """[N, H, W, C] to [N, OH, OW, C]; padding never wins; clipped to [low, high]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.MAX_POOL,
        Kernel(
            "arm_max_pool_s8",
            "ops/max_pool.c.j2",
            ("arm_max_pool_s8.c",),
            overlap=window_overlap(Reads.OWN_CHANNEL, arm_function=True),
        ),
    )
    batches: ClassVar[bool] = True
    has_activation: ClassVar[bool] = True

    window: Window
    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[N, OH, OW, C]."""
        n, height, width, channels = types[self.x].shape
        return ((n, *self.window.output((height, width)), channels),)

    def _maximum(self, x: Array, lowest: float) -> Array:
        return np.asarray(np.maximum.reduce([t for _, _, t in self.window.taps(x, lowest)]))

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Maximum, clipped."""
        largest = self._maximum(values[0], -np.inf)
        return (clip(largest.astype(np.float64), self.low, self.high).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Maximum of the codes, clamped."""
        low, high = clamp_codes(types[self.y], self.low, self.high)
        lowest, _ = types[self.x].dtype.limits
        return (np.clip(self._maximum(codes[0], lowest), low, high).astype(codes[0].dtype),)

    def quant_rule(self, _types: Types) -> SameAs:
        """As the input."""
        return SameAs()

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Geometry and clamp."""
        return {
            "window": self.window,
            "clamp": clamp_codes(types[self.y], self.low, self.high),
        }

    def write(self, w: Writer) -> None:
        """MaxPool."""
        attributes = {**self.window.attributes, "dilations": None}
        y = w.node("MaxPool", [w.real(self.x, FIRST)], self.y, self.name, **attributes)
        w.finish(self.y, y, FIRST, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random geometry."""
        window, height, width = random_window(rng, dilated=False)
        low, high = clip_bounds(rng)
        return Example(
            cls("max_pool", ("x",), ("y",), window, low, high),
            {"x": (1, height, width, size(rng, 1, 20))},
        )


@imports("MaxPool")
def import_max_pool(node: Node, b: Builder) -> None:
    """1-D and 2-D without dilation."""
    if len(node.outputs) > 1 and node.outputs[1]:
        raise Unsupported("the Indices output of MaxPool", "only the values are supported")
    shape, y = b.shape(node.input(0)), node.outputs[0]
    x = to_nhwc(b, node, node.input(0))
    window = import_window(node, shape[2:], tuple(node.attribute("kernel_shape")))
    if window.dilation != (1, 1):
        raise Unsupported("MaxPool with dilations", "use dilation 1")
    refuse_windows_of_padding(window)
    name, origin = nhwc_output(b, y, len(shape))
    b.emit(MaxPool(node.name, (x,), (name,), window), origin)
    from_nhwc(b, node, name, y, len(shape))


@imports("GlobalMaxPool")
def import_global_max_pool(node: Node, b: Builder) -> None:
    """Maximum over one or two spatial axes, which stay with size 1."""
    shape, y = b.shape(node.input(0)), node.outputs[0]
    x = to_nhwc(b, node, node.input(0))
    name, origin = nhwc_output(b, y, len(shape))
    _, height, width, _ = b.shape(x)
    b.emit(MaxPool(node.name, (x,), (name,), Window((height, width))), origin)
    from_nhwc(b, node, name, y, len(shape))
