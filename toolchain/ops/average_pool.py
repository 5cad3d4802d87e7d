"""Average over windows, a map or chosen axes; the output has a scale of its own (R9)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    FIRST,
    Array,
    Builder,
    Constants,
    DType,
    Example,
    Kernel,
    Node,
    Origin,
    RowCall,
    Site,
    Target,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import (
    clamp_codes,
    clip,
    dequantize,
    quantize_multipliers,
    requantize,
    saturate,
)
from toolchain.ops import _scratch as arm
from toolchain.ops import fast
from toolchain.ops._diagonal import Reads, window_overlap
from toolchain.ops._examples import clip_bounds, random_window, size
from toolchain.ops._layout import from_nhwc, nhwc_output, to_nhwc
from toolchain.ops._reduce import read_reduction
from toolchain.ops._windows import (
    Window,
    Windowed,
    import_window,
    refuse_windows_of_padding,
)
from toolchain.ops.pad import Pad
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose


def same_scale(site: Site) -> bool:
    """Input and output have the same scale and zero point, and padding is not counted."""
    return _same_scale(site.op, site.types)


def own_scale(site: Site) -> bool:
    """The output has a scale of its own, or padding is counted."""
    return not _same_scale(site.op, site.types)


def _same_scale(op: "AveragePool", types: Types) -> bool:
    padded = op.window.pads != (0, 0, 0, 0)
    same = types[op.x].q == types[op.y].q and op.writes is DType.INT8
    return same and not (padded and op.count_padding)


def _scratch(site: Site) -> int:
    if not site.target.arm_library:
        return 0
    return arm.avgpool(site.target.isa, site.shape(site.op.x)[3])


@register
@dataclass(frozen=True, slots=True)
class AveragePool(Windowed):
    """[N, H, W, C] to [N, OH, OW, C], clipped to [low, high].

    With `count_padding`, taps in the padding count as zeros; else they are left out.
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.AVERAGE_POOL,
        Kernel(
            "arm_avgpool_s8",
            "ops/average_pool.c.j2",
            ("arm_avgpool_s8.c",),
            when=same_scale,
            scratch=_scratch,
            overlap=window_overlap(Reads.OWN_CHANNEL, arm_function=True),
        ),
        Kernel(
            "glue_avgpool_s8",
            "ops/average_pool_rescale.c.j2",
            ("glue_avgpool_s8.c",),
            when=own_scale,
            overlap=window_overlap(Reads.OWN_CHANNEL),
        ),
    )
    batches: ClassVar[bool] = True
    has_activation: ClassVar[bool] = True

    window: Window
    count_padding: bool = False
    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[N, OH, OW, C]."""
        n, height, width, channels = types[self.x].shape
        return ((n, *self.window.output((height, width)), channels),)

    def derived_range(self, types: Types) -> tuple[float, float]:
        """A mean stays inside the range of what it averages."""
        low, high = dequantize(types[self.x].dtype.limits, types[self.x].q)
        return float(low), float(high)

    def _counts(self, size: tuple[int, int]) -> Array:
        if self.count_padding:
            return np.full((*self.window.output(size), 1), prod(self.window.kernel), np.int64)
        return self.window.counts(size)[..., None]

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Mean of the taps, clipped."""
        x = values[0].astype(np.float64)
        sums = np.asarray(sum(taps for _, _, taps in self.window.taps(x, 0)))
        mean = sums / self._counts((x.shape[1], x.shape[2]))
        return (clip(mean, self.low, self.high).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """As the kernel that is taken: codes averaged, or sums requantised to the output scale."""
        sums = sum(taps for _, _, taps in self.window.taps(codes[0].astype(np.int64), 0))
        return (self.mean(types, np.asarray(sums)),)

    def mean(self, types: Types, sums: Array) -> Array:
        """Output codes from the sums of the input codes inside the image, int64."""
        quant, (_, height, width, _) = types[self.y].q, types[self.x].shape
        counts = self._counts((height, width))
        low, high = clamp_codes(types[self.y], self.low, self.high)
        if _same_scale(self, types):
            half = counts // 2
            mean = np.where(sums > 0, (sums + half) // counts, -((half - sums) // counts))
            return saturate(mean, low, high)
        centred = sums - types[self.x].q.zero_point * self.window.counts((height, width))[..., None]
        multipliers, shifts = self._requantisation(types)
        index = counts - 1 if len(multipliers) > 1 else np.zeros_like(counts)
        scaled = requantize(centred, multipliers[index], shifts[index], self.rounding)
        return saturate(scaled + quant.zero_point, low, high, self.writes)

    def single_requantisation(self, types: Types) -> tuple[int, int] | None:
        """Multiplier and shift of a pool whose windows all have as many taps; None: codes' mean."""
        if _same_scale(self, types):
            return None
        (multiplier,), (shift,) = self._requantisation(types)
        return int(multiplier), int(shift)

    def output_floor(self, types: Types, constants: Constants) -> float:  # noqa: ARG002
        """Smallest output scale whose sums, shifted left, stay in int32."""
        return types[self.x].q.scale / 2.0**20

    def _requantisation(self, types: Types) -> tuple[Array, Array]:
        """Multiplier and shift by number of counted taps; one entry when it never varies."""
        _, height, width, _ = types[self.x].shape
        counts = np.unique(self._counts((height, width)))
        ratio = types[self.x].q.scale / types[self.y].q.scale
        every = counts if len(counts) == 1 else range(1, prod(self.window.kernel) + 1)
        return quantize_multipliers([ratio / int(n) for n in every])

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Geometry and clamp."""
        return {
            "window": self.window,
            "count_padding": self.count_padding,
            "clamp": clamp_codes(types[self.y], self.low, self.high),
        }

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """Requantisation by count, for the rescaling kernel only."""
        if _same_scale(self, types):
            return {}
        multipliers, shifts = self._requantisation(types)
        return {"multiplier": multipliers, "shift": shifts}

    def write(self, w: Writer) -> None:
        """AveragePool."""
        inputs = [w.real(self.x, FIRST)]
        attributes = {**self.window.attributes, "dilations": None}
        count = int(self.count_padding) or None
        y = w.node("AveragePool", inputs, self.y, self.name, count_include_pad=count, **attributes)
        w.finish(self.y, y, FIRST, self.low, self.high)

    def row(self, types: Types, constants: Constants, row: int, count: int = 1) -> RowCall | None:
        """From the rows under its window; not where padding counts, which changes the kernel."""
        if self.count_padding and any(self.window.pads):
            return None
        return Windowed.row(self, types, constants, row, count)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random geometry and padding rule."""
        window, height, width = random_window(rng, dilated=False)
        low, high = clip_bounds(rng)
        return Example(
            cls("average_pool", ("x",), ("y",), window, bool(rng.random() < 0.5), low, high),
            {"x": (1, height, width, size(rng, 1, 20))},
        )


@imports("AveragePool")
def import_average_pool(node: Node, b: Builder) -> None:
    """1-D and 2-D; count_include_pad by the specification."""
    shape, y = b.shape(node.input(0)), node.outputs[0]
    x = to_nhwc(b, node, node.input(0))
    window = import_window(node, shape[2:], tuple(node.attribute("kernel_shape")))
    if window.dilation != (1, 1):
        raise Unsupported("AveragePool with dilations", "use dilation 1")
    refuse_windows_of_padding(window)
    include = bool(node.attribute("count_include_pad", 0))
    if include and node.attribute("ceil_mode", 0):
        x, window = _pad_first(node, b, x, window, shape[2:])
        include = False
    name, origin = nhwc_output(b, y, len(shape))
    b.emit(AveragePool(node.name, (x,), (name,), window, include), origin)
    from_nhwc(b, node, name, y, len(shape))


def _pad_first(
    node: Node, b: Builder, x: str, window: Window, size: tuple[int, ...]
) -> tuple[str, Window]:
    """Explicit zeros for the pads that count, so that only what ceil_mode adds is left out."""
    floor = replace(node, attributes={**node.attributes, "ceil_mode": 0})
    top, left, bottom, right = import_window(
        floor, size, tuple(node.attribute("kernel_shape"))
    ).pads
    pad = Pad(
        node.name,
        (x,),
        (b.fresh(f"{x}.padded"),),
        (0, top, left, 0),
        (0, bottom, right, 0),
    )
    extra = (0, 0, window.pads[2] - bottom, window.pads[3] - right)
    return b.emit(pad, None), replace(window, pads=extra)


def emit_mean(node: Node, b: Builder, axes: tuple[int, ...], shape_out: tuple[int, ...]) -> None:
    """Mean over `axes` of input 0, as a pool over [1, A, 1, K] (A reduced, K kept elements)."""
    x, y = b.activation(node.input(0)), node.outputs[0]
    shape = b.shape(x)
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    lead = (0,) if 0 in kept and shape[0] == 1 else ()
    perm = (*lead, *axes, *(i for i in kept if i not in lead))
    source = Origin(x, perm) if b.origins.get(x) == Origin(x) else None
    if perm != tuple(range(len(shape))):
        x = b.emit(Transpose(node.name, (x,), (b.fresh(f"{x}.reduced"),), perm), source)
    reduced, remaining = prod(shape[a] for a in axes), prod(shape[k] for k in kept)
    view = (1, reduced, 1, remaining)
    if len(axes) == 2 and lead:
        view = (1, shape[axes[0]], shape[axes[1]], remaining)
    x = b.emit(Reshape(node.name, (x,), (b.fresh(f"{x}.map"),), view), source)
    window = Window((view[1], view[2]) if len(axes) == 2 and lead else (reduced, 1))
    mean = b.emit(AveragePool(node.name, (x,), (b.fresh(f"{y}.mean"),), window), Origin(y))
    b.emit(Reshape(node.name, (mean,), (y,), shape_out))


@imports("GlobalAveragePool")
def import_global_average_pool(node: Node, b: Builder) -> None:
    """Mean over all spatial axes, which stay with size 1."""
    shape = b.shape(node.input(0))
    axes = tuple(range(2, len(shape)))
    emit_mean(node, b, axes, (*shape[:2], *(1 for _ in axes)))


@imports("ReduceMean")
def import_reduce_mean(node: Node, b: Builder) -> None:
    """Mean over any axes but a batch of several, with or without keepdims."""
    shape, wanted = b.shape(node.input(0)), read_reduction(node, b)
    if not wanted.axes:
        x = b.activation(node.input(0))
        b.emit(Reshape(node.name, (x,), (node.outputs[0],), shape))
        return
    if 0 in wanted.axes and shape[0] != 1:
        raise Unsupported("ReduceMean over the batch axis")
    emit_mean(node, b, tuple(a for a in wanted.axes if shape[a] > 1) or wanted.axes, wanted.shape)
