"""How the MVE strip kernels cut a depthwise layer, and what their weights look like."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from toolchain.ir import Array, Site
from toolchain.ops.fast.epilogue import clamp_of, folded_bias, requantisation, rounds_once

_CHANNELS = 16
"""Of a strip."""

_OUTPUTS, _LINES, _SINGLE = 4, 2, 8
"""Outputs and lines of a step; outputs of a step of one line."""

_SCRATCH = 3200
_REACH = 1 << 16
"""Offsets of the scatter have 16 bits."""


@dataclass(frozen=True, slots=True)
class Form:
    """One of the two kernels.

    Args:
        name: Its glue_strip_form.
        stride: Distance of outputs, both ways.
        places: Where in a window the kernel lies: (position, line) of each output.
        cell: Bytes of a strip per position.
        copy: Instructions to copy one position of 16 channels.
        step: Instructions of one step, which gives 4 outputs of 2 lines.
        single: Instructions of one step of 8 outputs of one line; None: only two together.
    """

    name: str
    stride: int
    places: tuple[tuple[int, int], ...]
    cell: int
    copy: int
    step: int
    single: int | None


STRIDE1 = Form("3x3", 1, ((0, 0), (1, 0), (0, 1), (1, 1)), 64, 15, 27, 29)
STRIDE2 = Form("3x3_stride2", 2, ((0, 0),), 128, 22, 33, None)


@dataclass(frozen=True, slots=True)
class Axis:
    """glue_depthwise_axis_mve."""

    input: int
    output: int
    padding: int
    input_step: int
    output_step: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Strips along one axis, `span` outputs each.

    Args:
        along: The axis of the strips.
        across: The other one.
        span: Outputs of one strip.
        transposed: Strips run along the height.
        narrow: The form for 8 channels that copies two positions at a time.
        cost: Instructions, about.
    """

    along: Axis
    across: Axis
    span: int
    transposed: bool
    narrow: bool
    cost: int


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _positions(form: Form, span: int) -> int:
    return (span - 1) * form.stride + 3


def _bytes(form: Form, span: int, narrow: bool) -> int:
    return _positions(form, span) * form.cell // (1 + narrow)


def _narrow(form: Form, along: Axis, span: int, channels: int) -> bool:
    """Two positions are 16 codes, and the one strip along the axis has whole pairs of them."""
    inside = min(along.input, _positions(form, span) - along.padding)
    packed = channels == along.input_step == _CHANNELS // 2 and form is STRIDE1
    return packed and span == along.output and inside > 0 and inside % 2 == 0


def _has_single(form: Form, across: Axis, span: int, narrow: bool) -> bool:
    """An odd last line is computed by itself."""
    odd = across.output % _LINES == 1
    return form.single is not None and odd and span >= _SINGLE and not narrow


def _cost(
    form: Form, along: Axis, across: Axis, span: int, channels: int, narrow: bool
) -> int | None:
    """Instructions of a layer: copying, set-up per channel, steps; None: impossible."""
    positions = _positions(form, span) // (1 + narrow)
    copy = _ceil(channels, _CHANNELS) * (form.copy * positions + (130 if narrow else 100))

    def strip(outputs: int, step: int) -> int:
        steps, rest = divmod(span, outputs)
        tail = 0 if rest == 0 else 22 if rest <= outputs // 2 else step + 8
        return copy + channels * (18 + steps * step + tail)

    pairs, odd = divmod(across.output, _LINES)
    cost = pairs * strip(_OUTPUTS, form.step)
    if form.single is not None and _has_single(form, across, span, narrow):
        cost += strip(_SINGLE, form.single)
    elif odd:
        if not pairs:
            return None
        cost += strip(_OUTPUTS, form.step)
    return _ceil(along.output, span) * cost


def _cuts(site: Site, form: Form) -> Iterator[Cut]:
    (top, left), x, y = site.op.window.pads[:2], site.shape(site.op.x), site.shape(site.op.y)
    channels = x[3]
    height = Axis(x[1], y[1], top, x[2] * channels, y[2] * channels)
    width = Axis(x[2], y[2], left, channels, channels)
    for along, across in ((width, height), (height, width)):
        if (_SINGLE - 1) * along.output_step + across.output_step >= _REACH:
            continue
        for span in range(_OUTPUTS, along.output + 1):
            for narrow in {False, _narrow(form, along, span, channels)}:
                cost = _cost(form, along, across, span, channels, narrow)
                if _bytes(form, span, narrow) <= _SCRATCH and cost is not None:
                    yield Cut(along, across, span, along is height, narrow, cost)


def cut(site: Site, form: Form) -> Cut | None:
    """The cheapest cut; None where the kernel does not apply."""
    window = site.op.window
    fits = (
        max(window.kernel) <= 3
        and window.stride == (form.stride, form.stride)
        and window.dilation == (1, 1)
        and site.shape(site.op.x)[3] == site.shape(site.op.y)[3]
    )
    return min(_cuts(site, form), key=lambda c: c.cost, default=None) if fits else None


def _chosen(site: Site, form: Form) -> Cut:
    found = cut(site, form)
    assert found is not None, "the kernel does not apply"
    return found


def scratch(site: Site, form: Form) -> int:
    """Bytes of one strip."""
    found = _chosen(site, form)
    return _bytes(form, found.span, found.narrow)


def _general(site: Site) -> bool:
    """Some channel needs more than the short records can say."""
    low, high = clamp_of(site)
    multipliers, left = requantisation(site)
    if rounds_once(site):
        return (low, high) != (-128, 127) or bool(((left >= 0) & (multipliers != 0)).any())
    away = site.quant(site.op.y).zero_point != low and bool((left < 0).any())
    return (low, high) != (-128, 127) or away or bool((left > 0).any())


def facts(site: Site, form: Form) -> Mapping[str, Any]:
    """Axes, span, and the forms, which say what the records are."""
    found = _chosen(site, form)
    kind = "general_mve" if _general(site) else "mve"
    width = "_narrow" if found.narrow else ""
    single = f"&glue_depthwise_{form.name}_line_{kind}"
    axes = {
        name: (a.input, a.output, a.padding, a.input_step, a.output_step)
        for name, a in (("along", found.along), ("across", found.across))
    }
    return {
        **axes,
        "span": found.span,
        "form": f"glue_depthwise_{form.name}{width}_{kind}",
        "single": single if _has_single(form, found.across, found.span, found.narrow) else "NULL",
    }


def _windows(site: Site, form: Form) -> Array:
    """int8 [channels, outputs, 4 positions, 4 lines]: the kernel at its places in the window."""
    kernel = site.constants[site.op.inputs[1]][0]
    if not _chosen(site, form).transposed:
        kernel = kernel.transpose(1, 0, 2)  # positions first
    positions, lines, channels = kernel.shape
    windows = np.zeros((channels, len(form.places), 4, 4), np.int8)
    for index, (p, q) in enumerate(form.places):
        windows[:, index, p : p + positions, q : q + lines] = kernel.transpose(2, 0, 1)
    return windows


def pack(site: Site, form: Form) -> Mapping[str, Array]:
    """One record of words per channel."""
    windows = _windows(site, form)
    weights = windows.reshape(len(windows), -1).view(np.dtype("<i4"))
    multiplier, left = requantisation(site)
    right = np.minimum(left, -1 if rounds_once(site) else 0)
    columns = [folded_bias(site), multiplier, right]
    if _general(site):
        columns += [left - right, left < 0]
    numbers = np.stack([np.asarray(c).astype(np.int32) for c in columns], axis=1)
    return {"stream": np.concatenate([weights, numbers], axis=1).astype(np.int32)}
