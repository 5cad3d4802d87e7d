"""Weights in the order the tiles for the DSP extension walk them; see glue_conv_dsp_tile.h."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, Site
from toolchain.ops.fast.epilogue import (
    ShortForm,
    accumulator_range,
    folded_bias,
    interleaved,
    rows_of,
    short_form,
)

_SUM_LIMIT = 1 << 23
"""Sums of odd channels have 24 bits."""


_OUTPUT_LIMIT = 32000
"""Outputs before saturation and the zero point."""


def runs_of(site: Site) -> tuple[int, int]:
    """(number of runs, codes of a run): contiguous codes of a window, its rows if they can be."""
    window = getattr(site.op, "window", None)
    depth = rows_of(site).shape[1]
    if window is None:
        return 1, depth
    (rows, columns), dilation = window.kernel, window.dilation[1]
    runs = rows if dilation == 1 else rows * columns
    return runs, depth // runs


def _runs(site: Site) -> list[NDArray[np.int64]]:
    """Which taps of the filter each run has, column by column."""
    runs, length = runs_of(site)
    taps = np.arange(runs * length).reshape(runs, length)
    rows = 1 if (window := getattr(site.op, "window", None)) is None else window.kernel[0]
    return list(taps.reshape(rows, -1, length).swapaxes(0, 1).reshape(runs, length))


def _run_pairs(length: int) -> list[tuple[int, int]]:
    """Which two codes of a run make a pair; -1 is none."""
    pairs = []
    for q in range(0, length - 3, 4):
        pairs += [(q, q + 2), (q + 1, q + 3)]
    q = length // 4 * 4
    rest: list[list[tuple[int, int]]] = [
        [],
        [(q, -1)],
        [(q, q + 1)],
        [(q, q + 2), (q + 1, -1)],
    ]
    return pairs + rest[length % 4]


def _dense_pairs(depth: int) -> list[tuple[int, int]]:
    """Pairs of a fully connected layer: fours, filled up at the end."""
    taps = [[(q, q + 2), (q + 1, q + 3)] for q in range(0, depth, 4)]
    return [(a if a < depth else -1, b if b < depth else -1) for four in taps for a, b in four]


@dataclass(frozen=True, slots=True)
class Taps:
    """Weights of a layer in pairs of taps.

    Args:
        weights: int64 [channels filled up to whole groups, steps, 2].
        extra: Steps that come once more at the end.
    """

    weights: NDArray[np.int64]
    extra: NDArray[np.int32]

    @property
    def steps(self) -> int:
        """Pairs of taps, the extra ones included."""
        return int(self.weights.shape[1])


def taps_of(site: Site, group: int) -> Taps:
    """The weights, where 256 * odd channel + even channel fits 16 bits.

    -128 beside a negative weight does not: that tap is split into -127 and, in an extra step, -1.
    Channels that are requantised to nothing have weights 0.

    Args:
        site: The layer.
        group: Channels of a group: 4, or 8 for the fully connected kernel.
    """
    rows = rows_of(site)
    rows = np.where(_nothing(site)[:, None], 0, rows)
    fill = -len(rows) % group
    padded = np.pad(rows, ((0, fill), (0, 1)))
    if group == 8:
        pairs = _dense_pairs(rows.shape[1])
    else:
        pairs = [
            (run[a], run[b] if b >= 0 else -1)
            for run in _runs(site)
            for a, b in _run_pairs(len(run))
        ]
    weights = padded[:, np.array(pairs)]
    clash = np.zeros(weights.shape, bool)
    clash[1::2] = (weights[1::2] == -128) & (weights[0::2] < 0)
    extra = np.flatnonzero(clash.any(axis=(0, 2)))
    if group == 8 and len(extra) % 2:
        extra = np.append(extra, 0)
    split = np.where(clash, -1, 0)[:, extra]
    if group == 8 and clash.any(axis=(0, 2)).sum() % 2:
        split[:, -1] = 0
    weights = np.concatenate([np.where(clash, -127, weights), split], axis=1)
    return Taps(weights, extra.astype(np.int32))


def _nothing(site: Site) -> NDArray[np.bool_]:
    """Channels whose outputs are the zero point whatever the input is."""
    form = short_form(site)
    return np.zeros(len(rows_of(site)), bool) if form is None else form.multiplier == 0


def _within(low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    return bool(low.min(initial=0) >= -_SUM_LIMIT and high.max(initial=0) < _SUM_LIMIT)


def _bounds(weights: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Smallest and largest sum over the steps, of every odd channel."""
    odd = weights[1::2]
    low = np.minimum(odd * 127, odd * -128).sum(axis=(1, 2))
    return low, np.maximum(odd * 127, odd * -128).sum(axis=(1, 2))


def first_sums(site: Site, channels: int) -> NDArray[np.int64]:
    """[channels]: folded biases, 0 where the outputs are the zero point anyway."""
    bias = np.where(_nothing(site), 0, folded_bias(site))
    return np.pad(bias, (0, channels - len(bias)))


def is_rectified(site: Site) -> bool:
    """Outputs begin at the zero point and have 16 bits before they are saturated."""
    form = short_form(site)
    if form is None or not form.rectified:
        return False
    low, high = accumulator_range(site)
    reach = np.maximum(-low, high) * form.multiplier.astype(np.float64)
    return bool((reach / 2.0**31 / 2.0**form.shift).max(initial=0) < _OUTPUT_LIMIT)


def is_short(site: Site, group: int) -> bool:
    """The short requantisation applies and no sum of an odd channel leaves 24 bits."""
    form = short_form(site)
    if form is None or form.shift.min() < 1:
        return False
    weights = taps_of(site, group).weights
    low, high = _bounds(weights)
    bias = first_sums(site, len(weights))[1::2]
    return _within(low + bias, high + bias)


def chunk_of(site: Site, group: int) -> int:
    """Largest even number of steps, out of even divisions, whose sums stay inside 24 bits."""
    weights = taps_of(site, group).weights
    steps = int(weights.shape[1])
    for parts in range(1, steps + 1):
        chunk = -(-steps // parts)
        chunk += chunk % 2
        if all(_within(*_bounds(weights[:, i : i + chunk])) for i in range(0, steps, chunk)):
            break
    return chunk


def _words(weights: NDArray[np.int64], group: int) -> NDArray[np.int64]:
    """[groups, steps * group / 2]: 256 * odd + even of two taps."""
    halves = 256 * weights[1::2] + weights[0::2]
    words = (halves[..., 0] & 0xFFFF) | (halves[..., 1] << 16)
    pairs = words.reshape(-1, group // 2, words.shape[1])
    return np.asarray(pairs.transpose(0, 2, 1).reshape(len(pairs), -1))


def modulo(values: Array) -> NDArray[np.int32]:
    """Modulo 2^32."""
    return (values & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def numbers_of(form: ShortForm, channels: int) -> NDArray[np.int32]:
    """[channels * 2]: multiplier and scale of each; some for sums of 0 where there are none."""
    fill = (0, channels - len(form.multiplier))
    multiplier = np.pad(form.multiplier.astype(np.int64), fill)
    multiplier[0::2] = 2 * multiplier[0::2] - (1 << 32)
    multiplier[(multiplier == 0) | (multiplier == -(1 << 32))] = 1 << 30  # of sums that are 0
    scale = -(np.int64(1) << (32 - np.pad(form.shift.astype(np.int64), fill, constant_values=1)))
    return interleaved(multiplier, scale)


def short_stream(site: Site, group: int) -> NDArray[np.int32]:
    """Per group: sums to begin with, words of weights, multipliers and scales."""
    taps, form = taps_of(site, group), short_form(site)
    assert form is not None
    bias = first_sums(site, len(taps.weights))
    bias[1::2] = 256 * bias[1::2] + bias[0::2]
    numbers = numbers_of(form, len(bias))
    parts = [
        modulo(bias).reshape(-1, group),
        modulo(_words(taps.weights, group)),
        numbers.reshape(-1, 2 * group),
    ]
    return np.concatenate(parts, axis=1).reshape(-1)


def wide_stream(site: Site, group: int) -> NDArray[np.int32]:
    """Per group and chunk: sums to begin with, which are 0, and words of weights."""
    weights, chunk = taps_of(site, group).weights, chunk_of(site, group)
    parts = []
    for begin in range(0, weights.shape[1], chunk):
        words = modulo(_words(weights[:, begin : begin + chunk], group))
        parts += [np.zeros((len(words), group), np.int32), words]
    return np.concatenate(parts, axis=1).reshape(-1)
