"""Depthwise convolutions with the DSP extension (Cortex-M4, M7, M33)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ops.fast.epilogue import (
    accumulator_range,
    clamp_of,
    folded_bias,
    interleaved,
    requantisation,
    rounds_once,
)
from toolchain.ops.fast.narrow import EXTENT, STEP, narrow
from toolchain.ops.fast.short_rows import first_place, windows_of_3x3

SHORT = 32
"""GLUE_DEPTHWISE_SHORT: added to the shift of channels with the short requantisation."""

SHORT_SHIFT = 11
"""GLUE_DEPTHWISE_SHIFT: the right shift all of them end with when rectified."""

SCRATCH = 1024
"""Bytes of lines above which a map is computed in bands."""

MEDIUM = 544
"""The same for the frugal form with medium bands."""

BAND = 290
"""Instructions of one more band of a channel: gathering, moving lines down, calling the body."""

LARGEST_SHIFT = 30


@dataclass(frozen=True, slots=True)
class Geometry:
    """The descriptor's shapes: lines along one axis of the image, elements along the other."""

    lines: int
    elements: int
    line_step: int
    element_step: int
    output_lines: int
    output_elements: int
    output_line_step: int
    output_element_step: int
    kernel_lines: int
    kernel_elements: int
    line_stride: int
    element_stride: int
    line_dilation: int
    line_padding: int
    element_padding: int
    band: int
    pitch: int
    transposed: bool

    @property
    def is_narrow(self) -> bool:
        """The descriptor has room for all numbers: uint8_t for those of the kernel."""
        kernel = (
            self.kernel_lines, self.kernel_elements, self.line_stride, self.element_stride,
            self.line_dilation, self.line_padding, self.element_padding,
        )  # fmt: skip
        steps = (
            self.line_step, self.element_step, self.output_line_step, self.output_element_step,
            self.pitch,
        )  # fmt: skip
        return max(kernel) <= STEP and max(steps) <= EXTENT

    @property
    def window(self) -> int:
        """Input lines that one output line reads, gaps included."""
        return (self.kernel_lines - 1) * self.line_dilation + 1

    @property
    def weight_words(self) -> int:
        """Words of the spread weights of one channel."""
        return self.kernel_lines * (self.kernel_elements + 1)

    @property
    def line_bytes(self) -> int:
        """Bytes of the lines in scratch memory."""
        lines = (self.band - 1) * self.line_stride + self.window
        return 2 * lines * self.pitch

    @property
    def cost(self) -> int:
        """Instructions per channel, roughly, for comparison of one with another."""
        pairs, odd = divmod(self.output_elements, 2)
        bands = -(-self.output_lines // self.band)
        return self.output_lines * (16 + 27 * pairs + 15 * odd) + 25 * self.lines + 80 * bands

    @property
    def overwrites(self) -> bool:
        """Outputs may be written where inputs lie: all that is overwritten was gathered before.

        Every pixel has the same channels in and out, so that a channel meets only itself. What the
        next band still gathers begins with input line `later`; rows are compared by where they end
        and begin, columns, which lie in one another, by their numbers.
        """
        if self.transposed and self.element_step != self.output_element_step:
            return self.band == self.output_lines
        for done in range(self.band, self.output_lines, self.band):
            later = done * self.line_stride - self.line_padding
            later = max(later + max(self.window - self.line_stride, 0), 0)
            if later < self.lines and done * self.output_line_step > later * self.line_step:
                return False
        return True


def geometry(site: Site, *, transposed: bool, scratch: int | None = None) -> Geometry | None:
    """Lines along the rows of the image, or, transposed, along its columns.

    None where the taps of a line do not lie side by side.

    Args:
        site: The layer.
        transposed: Along the columns.
        scratch: Bytes of lines above which a map is computed in bands; None for SCRATCH.
    """
    window, x, y = site.op.window, site.shape(site.op.x), site.shape(site.op.y)
    line, element = (1, 0) if transposed else (0, 1)
    if window.dilation[element] > 1 and window.kernel[element] > 1:
        return None
    steps = [(shape[2] * shape[3], shape[3]) for shape in (x, y)]
    kernel, stride = window.kernel, window.stride
    outputs = y[1 + element]
    read = (outputs - 1) * stride[element] + kernel[element] - window.pads[element]
    elements = max(1, min(x[1 + element], read))
    # one element more is read, and by twos two more still
    reach = kernel[element] + (3 if stride[element] == 2 else 1)
    pitch = max((outputs - 1) * stride[element] + reach, window.pads[element] + elements)
    pitch += pitch % 2
    rows = (kernel[line] - 1) * window.dilation[line] + 1
    room = SCRATCH if scratch is None else scratch
    fitting = (room // (2 * pitch) - rows) // stride[line] + 1
    return Geometry(
        lines=x[1 + line],
        elements=elements,
        line_step=steps[0][line],
        element_step=steps[0][element],
        output_lines=y[1 + line],
        output_elements=outputs,
        output_line_step=steps[1][line],
        output_element_step=steps[1][element],
        kernel_lines=kernel[line],
        kernel_elements=kernel[element],
        line_stride=stride[line],
        element_stride=stride[element],
        line_dilation=window.dilation[line],
        line_padding=window.pads[line],
        element_padding=window.pads[element],
        band=max(1, min(y[1 + line], fitting)),
        pitch=pitch,
        transposed=transposed,
    )


def best(site: Site) -> Geometry | None:
    """The cheaper direction of those the descriptor has room for."""
    both = [geometry(site, transposed=t) for t in (False, True)]
    fitting = (g for g in both if g is not None and g.is_narrow)
    return min(fitting, key=lambda g: g.cost, default=None)


def banded(site: Site, scratch: int) -> Geometry | None:
    """Small bands along the rows of the image, or as `best` where those are impossible."""
    found = geometry(site, transposed=False, scratch=scratch)
    return found if found is not None and found.is_narrow else best(site)


@dataclass(frozen=True, slots=True)
class Forms:
    """Requantisation per channel, as the descriptor says it.

    Args:
        multipliers: int32 [C].
        codes: Right shifts, SHORT added where the short requantisation is taken.
        rectified: The short one is that which rounds all halves upwards.
    """

    multipliers: Array
    codes: Array
    rectified: bool


def forms_of(site: Site) -> Forms | None:
    """None where a shift or an accumulator is out of range."""
    multipliers, left = requantisation(site)
    low, high = accumulator_range(site)
    largest = np.maximum(np.maximum(-low, high), np.abs(folded_bias(site)))
    shift = -left.astype(np.int64)
    nothing = (multipliers == 0) | (shift > LARGEST_SHIFT)
    multipliers = np.where(nothing, 0, multipliers)
    shift = np.where(nothing, SHORT_SHIFT - 1, shift)
    if shift.min() < -7 or np.any(largest << (1 + np.maximum(-shift, 0)) >= 2**31):
        return None
    rectified = rounds_once(site) or clamp_of(site)[0] == site.quant(site.op.y).zero_point
    scale = np.clip(SHORT_SHIFT - shift, 0, 8)
    upwards = (scale >= 1) & (scale <= 7) & (largest << (1 + scale) < 2**31)
    rectified = rectified and float(upwards.mean()) >= 0.5
    short = (upwards if rectified else shift >= 1) & (clamp_of(site) == (-128, 127))
    return Forms(multipliers, np.where(short, SHORT + shift, shift), rectified)


def _runs(site: Site) -> bool:
    """Taps side by side along one axis, and sums that fit in 32 bits."""
    return best(site) is not None and forms_of(site) is not None


def _moves(width: int, stride: int) -> Callable[[Site], bool]:
    def condition(site: Site) -> bool:
        plan, forms = best(site), forms_of(site)
        return (
            plan is not None
            and (plan.kernel_elements, plan.element_stride) == (width, stride)
            and forms is not None
            and bool(np.any(forms.codes >= SHORT))
        )

    condition.__doc__ = f"Lines of {width} taps that move by {stride}, not dilated."
    return condition


def _small(stride: int, *, rectified: bool) -> Callable[[Site], bool]:
    moves = _moves(3, stride)

    def condition(site: Site) -> bool:
        return moves(site) and _plan(site).kernel_lines == 3 and _forms(site).rectified == rectified

    where = "before a ReLU and with usual scales" if rectified else "with a scale below 1"
    condition.__doc__ = f"A 3x3 kernel with stride {stride}, not dilated, {where}."
    return condition


def _plan(site: Site) -> Geometry:
    plan = best(site)
    assert plan is not None
    return plan


def _banded_plan(scratch: int) -> Callable[[Site], Geometry]:
    def plan(site: Site) -> Geometry:
        found = banded(site, scratch)
        assert found is not None
        return found

    return plan


def _forms(site: Site) -> Forms:
    forms = forms_of(site)
    assert forms is not None
    return forms


def _pack(site: Site, plan: Geometry) -> Mapping[str, Array]:
    forms = _forms(site)
    weights = site.constants[site.op.inputs[1]][0]
    axes = (2, 1, 0) if plan.transposed else (2, 0, 1)
    return {
        "weights": np.ascontiguousarray(weights.transpose(axes)).astype(np.int8).reshape(-1),
        "factors": interleaved(folded_bias(site), forms.multipliers),
        "forms": forms.codes.astype(np.int8),
    }


def _facts(site: Site, plan: Geometry) -> Mapping[str, Any]:
    x = site.shape(site.op.x)
    return {
        "plan": plan,
        "image_step": x[1] * x[2] * x[3],
        "rectified": int(_forms(site).rectified),
    }


SHARED = ("glue_depthwise_channels_dsp.c", "glue_depthwise_gather_dsp.S")
FIVE = ("glue_depthwise_5_dsp.c", "glue_depthwise_5_dsp.S", *SHARED)
SMALL = ("glue_depthwise_3x3_dsp.c", "glue_depthwise_3x3_dsp.S", *SHARED)


def _onto(site: Site, plan: Geometry) -> tuple[int, ...]:
    """Each output is written over codes already read, if the bands of lines allow it."""
    same = site.shape(site.op.x)[3] == site.shape(site.op.y)[3]
    return (0,) if same and plan.overwrites else ()


def _dearer(site: Site, plan: Geometry) -> int:
    usual = _plan(site)
    bands = [-(-p.output_lines // p.band) for p in (plan, usual)]
    more = plan.cost - usual.cost + (BAND - 80) * (bands[0] - bands[1])
    return int(max(more, 0) * site.shape(site.op.y)[3])


def _scratch(site: Site, plan: Geometry, sources: tuple[str, ...]) -> int:
    """Lines, and the spread weights of a channel; 3x3 kernels keep those in registers."""
    in_registers = sources == SMALL and bool(np.all(_forms(site).codes >= SHORT))
    return plan.line_bytes + (0 if in_registers else 4 * plan.weight_words)


def _kernel(name: str, sources: tuple[str, ...], when: Callable[[Site], bool]) -> Kernel:
    def on(plan: Callable[[Site], Geometry], condition: Callable[[Site], bool]) -> Kernel:
        return Kernel(
            name,
            "ops/fast/depthwise_dsp.c.j2",
            sources,
            condition,
            lambda site: _scratch(site, plan(site), sources),
            onto=lambda site: _onto(site, plan(site)),
            isas=frozenset({Isa.DSP}),
            pack=lambda site: _pack(site, plan(site)),
            facts=lambda site: _facts(site, plan(site)),
        )

    def frugal(scratch: int) -> Kernel:
        plan = _banded_plan(scratch)

        def small(site: Site) -> bool:
            """Smaller bands of lines."""
            ways = (_plan(site), plan(site))
            same = len({(w.kernel_lines, w.kernel_elements, w.element_stride) for w in ways}) == 1
            return same and ways[1].line_bytes < ways[0].line_bytes

        return replace(on(plan, small), dearer=lambda site: _dearer(site, plan(site)))

    return replace(on(_plan, narrow(when)), frugal=(frugal(MEDIUM), frugal(0)))


def one_row(site: Site) -> bool:
    """One row of outputs, 3x3, stride 1, pads up to 1, before a ReLU and with usual scales."""
    forms = forms_of(site) if windows_of_3x3(site) else None
    return forms is not None and forms.rectified and bool(np.all(forms.codes >= SHORT))


def _row_pack(site: Site) -> Mapping[str, Array]:
    """The descriptor's stream: weights and sums scaled so that the last shift is the same."""
    forms = _forms(site)
    factors = SHORT_SHIFT + 1 - (forms.codes.astype(np.int64) - SHORT)
    weights = site.constants[site.op.inputs[1]][0].astype(np.int64) << factors
    top, second, third = weights & 0xFFFF
    zero = site.quant(site.op.y).zero_point
    # With one rounding, the last shift does all of it.
    first = np.zeros_like(factors) if rounds_once(site) else 1 << (factors - 2)
    constants = first + (1 << (SHORT_SHIFT - 1)) + zero * (1 << SHORT_SHIFT)
    words = [
        *(top | second << 16),
        third[0] | third[1] << 16,
        third[2],
        folded_bias(site) << factors,
        forms.multipliers.astype(np.int64),
        constants,
    ]
    stream = np.stack([np.asarray(w, np.int64) & 0xFFFFFFFF for w in words], axis=1)
    return {"stream": stream.astype(np.uint32).view(np.int32).reshape(-1)}


ROW = Kernel(
    "glue_depthwise_row_dsp",
    "ops/fast/depthwise_row_dsp.c.j2",
    ("glue_depthwise_row_dsp.c", "glue_depthwise_row_dsp.S"),
    one_row,
    onto=first_place,
    isas=frozenset({Isa.DSP}),
    pack=_row_pack,
)
DEPTHWISE: tuple[Kernel, ...] = (
    ROW,
    _kernel("glue_depthwise_3x3_dsp", SMALL, _small(1, rectified=True)),
    _kernel("glue_depthwise_3x3_signed_dsp", SMALL, _small(1, rectified=False)),
    _kernel("glue_depthwise_3x3_stride2_dsp", SMALL, _small(2, rectified=True)),
    _kernel("glue_depthwise_3x3_stride2_signed_dsp", SMALL, _small(2, rectified=False)),
    _kernel("glue_depthwise_5_dsp", FIVE, _moves(5, 1)),
    _kernel("glue_depthwise_5_stride2_dsp", FIVE, _moves(5, 2)),
    _kernel("glue_depthwise_dsp", ("glue_depthwise_dsp.c", *SHARED), _runs),
)
