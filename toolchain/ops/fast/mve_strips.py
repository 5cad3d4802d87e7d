"""How the MVE strip kernels cut a depthwise layer, and what their weights look like."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from toolchain.ir import Array, Site
from toolchain.ops._diagonal import NEVER
from toolchain.ops.fast.epilogue import clamp_of, folded_bias, requantisation, rounds_once

_CHANNELS = 16
"""Of a strip."""

_SINGLE = 8
"""Outputs of a step of one line."""

_SCRATCH = 3200
_MOVE, _KEEP = 60, 8
"""Instructions of going to a strip elsewhere, and of keeping one position of 16 channels."""
_REACH = 1 << 16
"""Offsets of the scatter have 16 bits."""


@dataclass(frozen=True, slots=True)
class Form:
    """One of the kernels.

    Args:
        name: Its glue_strip_form.
        stride: Distance of outputs, both ways.
        places: Where in a window the kernel lies: (position, line) of each output.
        cell: Bytes of a strip per position.
        copy: Instructions to copy one position of 16 channels.
        step: Instructions of one step.
        single: Instructions of one step of 8 outputs of an odd last line; None: it has no form.
        outputs: What a step gives along the strip,
        lines: and across.
    """

    name: str
    stride: int
    places: tuple[tuple[int, int], ...]
    cell: int
    copy: int
    step: int
    single: int | None
    outputs: int = 4
    lines: int = 2


STRIDE1 = Form("3x3", 1, ((0, 0), (1, 0), (0, 1), (1, 1)), 64, 15, 27, 29)
STRIDE2 = Form("3x3_stride2", 2, ((0, 0),), 128, 22, 33, None)
STRIDE2_LINE = Form("3x3_stride2_line", 2, ((0, 0),), 64, 15, 33, None, _SINGLE, 1)


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
        by_lines: All strips of some lines come before the next lines.
        in_place: Outputs are written where the inputs lie; a line that is read again is kept.
    """

    along: Axis
    across: Axis
    span: int
    transposed: bool
    narrow: bool
    cost: int
    by_lines: bool = False
    in_place: bool = False

    @property
    def starts(self) -> range:
        """The first output of every strip along the axis; the last one may begin before."""
        return range(0, self.along.output, self.span)


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
    odd = across.output % form.lines == 1
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

    whole, odd = divmod(across.output, form.lines)
    cost = whole * strip(form.outputs, form.step)
    if form.single is not None and _has_single(form, across, span, narrow):
        cost += strip(_SINGLE, form.single)
    elif odd:
        if not whole:
            return None
        cost += strip(form.outputs, form.step)
    return _ceil(along.output, span) * cost


def _cuts(site: Site, form: Form) -> Iterator[Cut]:
    (top, left), x, y = site.op.window.pads[:2], site.shape(site.op.x), site.shape(site.op.y)
    channels = x[3]
    height = Axis(x[1], y[1], top, x[2] * channels, y[2] * channels)
    width = Axis(x[2], y[2], left, channels, channels)
    for along, across in ((width, height), (height, width)):
        if (_SINGLE - 1) * along.output_step + across.output_step >= _REACH:
            continue
        for span in range(form.outputs, along.output + 1):
            for narrow in {False, _narrow(form, along, span, channels)}:
                cost = _cost(form, along, across, span, channels, narrow)
                if _bytes(form, span, narrow) <= _SCRATCH and cost is not None:
                    yield Cut(along, across, span, along is height, narrow, cost)


def _applies(site: Site, form: Form) -> bool:
    window = site.op.window
    return (
        max(window.kernel) <= 3
        and window.stride == (form.stride, form.stride)
        and window.dilation == (1, 1)
        and site.shape(site.op.x)[3] == site.shape(site.op.y)[3]
    )


def _cheapest(cuts: Iterable[Cut]) -> Cut | None:
    return min(cuts, key=lambda c: c.cost, default=None)


def cut(site: Site, form: Form) -> Cut | None:
    """The cheapest cut; None where the kernel does not apply."""
    return _cheapest(_cuts(site, form)) if _applies(site, form) else None


def cut_by_lines(site: Site, form: Form) -> Cut | None:
    """The cheapest cut whose outputs come in the order of their rows; None where it is that anyhow.

    Going to another place costs some instructions.
    """
    if not _applies(site, form):
        return None
    found = _cheapest(c for c in _cuts(site, form) if not c.transposed)
    if found is None or (found == cut(site, form) and len(found.starts) == 1):
        return None
    places = len(found.starts)
    moves = places * _ceil(found.across.output, form.lines) if places > 1 else 0
    return replace(found, by_lines=True, cost=found.cost + _MOVE * moves)


def cut_in_place(site: Site, form: Form) -> Cut | None:
    """The cheapest cut that can keep the line it is about to overwrite; None where none can."""
    if not _applies(site, form) or form is not STRIDE1:
        return None
    if site.shape(site.op.x) != site.shape(site.op.y):
        return None

    def keeps(c: Cut) -> bool:
        even = c.across.output % form.lines == 0 or _has_single(form, c.across, c.span, c.narrow)
        return even and len(c.starts) == 1 and c.across.padding <= 1

    found = _cheapest(filter(keeps, _cuts(site, form)))
    if found is None:
        return None
    later = _ceil(found.across.output - form.lines, form.lines)
    strips = later * _ceil(site.shape(site.op.x)[3], _CHANNELS)
    kept = strips * (_KEEP * found.along.input + _MOVE)
    return replace(found, in_place=True, cost=found.cost + kept)


def scratch(site: Site, form: Form, chosen: Cut) -> int:
    """Bytes of one strip, and of the line that is kept."""
    kept = chosen.along.input * site.shape(site.op.x)[3] if chosen.in_place else 0
    return _bytes(form, chosen.span, chosen.narrow) + kept


def distance(site: Site, form: Form, chosen: Cut) -> int:
    """Bytes by which the output must begin before the input, at least.

    Each strip reads all it needs of 16 channels before it writes their outputs.
    """
    strips = list(_strips(site, form, chosen))
    needs, later = -int(np.prod(site.shape(site.op.x))), NEVER
    written = np.maximum.accumulate([last for _, last in strips])
    for (first, _), before in zip(reversed(strips), reversed(written.tolist()), strict=True):
        needs = max(needs, before + 1 - later)
        later = min(later, first)
    return needs


def _strips(site: Site, form: Form, chosen: Cut) -> Iterator[tuple[int, int]]:
    """First byte read and last byte written by every strip, in their order."""
    along, across = chosen.along, chosen.across
    images, channels = (site.shape(site.op.x)[i] for i in (0, 3))
    sizes = [int(np.prod(site.shape(t)[1:])) for t in (site.op.x, site.op.y)]
    single = _has_single(form, across, chosen.span, chosen.narrow)
    lines = list(range(0, across.output - form.lines + 1, form.lines))
    if across.output % form.lines:
        lines.append(across.output - (1 if single else form.lines))
    places = [(line, start) for start in chosen.starts for line in lines]
    if chosen.by_lines:
        places = [(line, start) for line in lines for start in chosen.starts]
    for image in range(images):
        for line, start in places:
            output = min(start, along.output - chosen.span)
            last = min(line + form.lines, across.output) - 1
            x = max(line * form.stride - across.padding, 0) * across.input_step
            x += max(output * form.stride - along.padding, 0) * along.input_step
            y = last * across.output_step + (output + chosen.span - 1) * along.output_step
            for first in range(0, channels, _CHANNELS):
                final = min(first + _CHANNELS, channels) - 1
                yield image * sizes[0] + x + first, image * sizes[1] + y + final


def is_general(site: Site) -> bool:
    """Some channel needs more than the short records can say."""
    low, high = clamp_of(site)
    multipliers, left = requantisation(site)
    if rounds_once(site):
        return (low, high) != (-128, 127) or bool(((left >= 0) & (multipliers != 0)).any())
    away = site.quant(site.op.y).zero_point != low and bool((left < 0).any())
    return (low, high) != (-128, 127) or away or bool((left > 0).any())


def facts(site: Site, form: Form, found: Cut) -> Mapping[str, Any]:
    """Axes, span, and the forms, which say what the records are."""
    kind = "general_mve" if is_general(site) else "mve"
    width = "_narrow" if found.narrow else ""
    single = f"&glue_depthwise_{form.name}_line_{kind}"
    axes = {
        name: (a.input, a.output, a.padding, a.input_step, a.output_step)
        for name, a in (("along", found.along), ("across", found.across))
    }
    return {
        **axes,
        "span": found.span,
        "by_lines": int(found.by_lines),
        "in_place": int(found.in_place),
        "form": f"glue_depthwise_{form.name}{width}_{kind}",
        "single": single if _has_single(form, found.across, found.span, found.narrow) else "NULL",
    }


def _windows(site: Site, form: Form, chosen: Cut) -> Array:
    """int8 [channels, outputs, 4 positions, 4 lines]: the kernel at its places in the window."""
    kernel = site.constants[site.op.inputs[1]][0]
    if not chosen.transposed:
        kernel = kernel.transpose(1, 0, 2)  # positions first
    positions, lines, channels = kernel.shape
    windows = np.zeros((channels, len(form.places), 4, 4), np.int8)
    for index, (p, q) in enumerate(form.places):
        windows[:, index, p : p + positions, q : q + lines] = kernel.transpose(2, 0, 1)
    return windows


def pack(site: Site, form: Form, chosen: Cut) -> Mapping[str, Array]:
    """One record of words per channel."""
    windows = _windows(site, form, chosen)
    weights = windows.reshape(len(windows), -1).view(np.dtype("<i4"))
    multiplier, left = requantisation(site)
    right = np.minimum(left, -1 if rounds_once(site) else 0)
    columns = [folded_bias(site), multiplier, right]
    if is_general(site):
        columns += [left - right, left < 0]
    numbers = np.stack([np.asarray(c).astype(np.int32) for c in columns], axis=1)
    return {"stream": np.concatenate([weights, numbers], axis=1).astype(np.int32)}
