"""Convolutions and fully connected layers with MVE (Cortex-M55, M85)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir import Array, Kernel, Site
from toolchain.ops._diagonal import Group, grouped_overlap
from toolchain.ops.fast.epilogue import (
    accumulator_range,
    clamp_of,
    folded_bias,
    requantisation,
    rounds_once,
    rows_of,
)
from toolchain.ops.fast.short_rows import odd_pixel

STEP = 16
"""Bytes of one vector."""
MAX_CHANNELS = 65532
"""GLUE_MVE_MAX_CHANNELS: offsets of a scattered store have 16 bits."""
FEW_STEPS = 2
"""Steps of rows whose weights stay in registers."""
_FEW_CHANNELS = 16
"""Output channels up to which that pays where windows are gathered a few at a time."""
TILE = 4
"""Least rows of such a layer."""
_BATCH_BYTES = 768


def fits(site: Site) -> bool:
    """One image, at most 65532 output channels, and no sum of products leaves int32."""
    low, high = accumulator_range(site)
    inside = low.min() >= -(2**31) and high.max() < 2**31
    one = not hasattr(site.op, "window") or site.shape(site.op.x)[0] == 1
    return bool(inside) and one and site.shape(site.op.y)[-1] <= MAX_CHANNELS


def row_bytes(site: Site) -> int:
    """Bytes of the codes that one row of the filter meets."""
    return int(rows_of(site).shape[1]) * site.types[site.op.x].dtype.nbytes


def steps_of(site: Site) -> int:
    """Vectors in one row of the filter."""
    return -(-row_bytes(site) // STEP)


class Form(IntEnum):
    """Forms of requantisation, as glue_mve.h numbers them."""

    RECTIFIED = 0
    """Right shifts only, no clamp inside int8; halves go up: the output's zero point is -128.

    Or products are rounded once; then no shift is 0, but where the multiplier is.
    """
    SIGNED = 1
    """The same with any zero point and two roundings; no shift is 0, but where the multiplier is.
    """
    GENERAL = 2


def form_of(site: Site) -> Form:
    """The simplest form that serves; a channel that is requantised to nothing fits them all."""
    multipliers, left = requantisation(site)
    most_left = int(np.where(multipliers == 0, -1, left).max())
    if clamp_of(site) != (-128, 127) or most_left > 0:
        return Form.GENERAL
    if rounds_once(site):
        return Form.RECTIFIED if most_left < 0 else Form.GENERAL
    if site.quant(site.op.y).zero_point == -128:
        return Form.RECTIFIED
    return Form.SIGNED if most_left < 0 else Form.GENERAL


def _unchanged(values: NDArray[Any]) -> NDArray[Any]:
    return values


@dataclass(frozen=True)
class Packing:
    """The form in which a stream holds the weights and biases of pairs of channels.

    Args:
        words: Of words [blocks, ...], 16 codes of one channel and then of the next one.
        sums: What sums begin with, of biases [blocks, channels].
    """

    words: Callable[[NDArray[np.int32]], NDArray[np.int32]] = _unchanged
    sums: Callable[[NDArray[np.int64]], NDArray[Any]] = _unchanged


INT8 = Packing()


def _stream(site: Site, group: int, order: tuple[int, ...], packing: Packing) -> NDArray[np.int32]:
    """The filter as glue_filter_mve wants it.

    Args:
        site: Call of the kernel.
        group: Output channels per block.
        order: Channels of a block in the order of the tables behind the weights.
        packing: Of weights and biases.
    """
    channel, weights = blocks_of(site, group, STEP)
    ordered = channel[:, order]
    tables = (table[ordered] for table in tables_of(site, form_of(site)))
    return joined([packing.sums(folded_bias(site)[channel]), packing.words(weights), *tables])


def blocks_of(site: Site, group: int, step: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Channels [blocks, group], the last one once more where one is missing, and their weights.

    Args:
        site: Call of the kernel.
        group: Output channels per block.
        step: Codes in one vector.
    """
    rows, steps = rows_of(site), steps_of(site)
    blocks = -(-len(rows) // group)
    channel = np.minimum(np.arange(blocks * group), len(rows) - 1).reshape(blocks, group)
    padded = np.zeros((len(rows), steps * step), np.int8)
    padded[:, : rows.shape[1]] = rows
    weights = padded.reshape(-1, steps, step)[channel].transpose(0, 2, 1, 3)
    return channel, np.ascontiguousarray(weights).reshape(blocks, -1).view("<i4")


def tables_of(site: Site, form: Form) -> list[NDArray[np.int32]]:
    """Multipliers and right shifts [O], before them the left shifts where a form has them."""
    multipliers, left = requantisation(site)
    right = np.minimum(left, -1 if rounds_once(site) else 0)
    return [*([left - right] if form is Form.GENERAL else []), multipliers, right]


def joined(parts: Iterable[Array]) -> NDArray[np.int32]:
    """Blocks one after the other, of each its parts [blocks, ...]."""
    words = [part.astype("<i4") for part in parts]
    return np.concatenate(words, axis=1).reshape(-1).astype(np.int32)


def filter_facts(site: Site) -> Mapping[str, Any]:
    """What a filter states besides its stream."""
    return {
        "filter": {
            "steps": steps_of(site),
            "channels": site.shape(site.op.y)[-1],
            "form": f"GLUE_MVE_{form_of(site).name}",
            "clamp": clamp_of(site),
            "odd": odd_pixel(site),
        }
    }


def pack_rows(site: Site, packing: Packing = INT8) -> Mapping[str, Array]:
    """The filter as glue_rows_mve wants it."""
    return {"stream": _stream(site, 4, (0, 1, 2, 3), packing)}


def pack_pairs(site: Site, packing: Packing = INT8) -> Mapping[str, Array]:
    """The filter as glue_rows_32_mve wants it: biases stay what they are."""
    channel, weights = blocks_of(site, 2, STEP)
    multipliers, left = requantisation(site)
    zero = np.full((len(channel), 1), site.quant(site.op.y).zero_point)
    return {
        "stream": joined(
            [
                packing.words(weights),
                *(folded_bias(site)[channel], multipliers[channel], left[channel], zero),
            ]
        )
    }


# ---- one row ----


def one_row(site: Site) -> bool:
    """A single row of inputs."""
    return prod(site.shape(site.op.x)[:-1]) == 1 and fits(site)


def pack_dense(site: Site, packing: Packing = INT8) -> Mapping[str, Array]:
    """The filter as glue_dense_mve wants it."""
    return {"stream": _stream(site, 8, (0, 2, 4, 6, 1, 3, 5, 7), packing)}


def _dense_facts(site: Site) -> Mapping[str, Any]:
    return {**filter_facts(site), "depth": rows_of(site).shape[1]}


# ---- 3 x 3 ----


def shared_columns(site: Site) -> bool:
    """3 x 3, strides of 1, lines of 4 outputs or more, input channels / 16, output channels / 2.

    No clamp inside int8, right shifts only; the zero point is -128, or no shift is 0.
    """
    window = site.op.window
    if (window.kernel, window.stride, window.dilation) != ((3, 3), (1, 1), (1, 1)):
        return False
    _, _, width, channels = site.shape(site.op.y)
    if site.shape(site.op.x)[-1] % STEP or channels % 2 or width < TILE:
        return False
    few = channels <= MAX_CHANNELS // TILE
    return fits(site) and few and form_of(site) is not Form.GENERAL


def pack_3x3(site: Site, packing: Packing = INT8) -> Mapping[str, Array]:
    """The filter as glue_conv_3x3_mve wants it."""
    pairs = site.shape(site.op.y)[-1] // 2
    steps = site.shape(site.op.x)[-1] // STEP
    weights = rows_of(site).astype(np.int8).reshape(pairs, 2, 9, steps, STEP)
    words = np.ascontiguousarray(weights.transpose(0, 3, 2, 1, 4)).reshape(pairs, -1).view("<i4")
    bias = packing.sums(folded_bias(site).reshape(pairs, 2))
    multipliers, left = (table.reshape(pairs, 2) for table in requantisation(site))
    zero = site.quant(site.op.y).zero_point
    signed, zeros = (np.full((pairs, 1), v) for v in (form_of(site) is Form.SIGNED, zero))
    parts = [
        np.repeat(bias, TILE, axis=1),
        packing.words(words),
        *(multipliers, signed, left, zeros),
    ]
    return {"stream": joined(parts)}


def _3x3_scratch(site: Site) -> int:
    return 3 * 6 * site.shape(site.op.x)[-1]


def _3x3_facts(site: Site) -> Mapping[str, Any]:
    return {"steps": site.shape(site.op.x)[-1] // STEP, "in_place": 0}


def _over_itself(site: Site) -> bool:
    """In place, with one column of the input kept."""
    x, y = site.shape(site.op.x), site.shape(site.op.y)
    return x == y and x[2] % TILE == 0 and site.op.window.pads == (1, 1, 1, 1)


def _column_kept(site: Site) -> int:
    """Instructions of keeping a column for the next tiles, about."""
    _, height, width, channels = site.shape(site.op.x)
    return 7 * (height + 2) * (width // TILE) * (channels // STEP)


def _3x3_scratch_in_place(site: Site) -> int:
    _, height, _, channels = site.shape(site.op.x)
    return _3x3_scratch(site) + height * channels


def columns_shared(
    name: str, when: Callable[[Site], bool], pack: Callable[[Site], Mapping[str, Array]]
) -> Kernel:
    """The kernel for 3 x 3, for weights of any width."""
    usual = Kernel(
        name,
        "ops/fast/conv_3x3_mve.c.j2",
        (f"{name}.c", f"{name}.S"),
        when=when,
        scratch=_3x3_scratch,
        isas=MVE,
        pack=pack,
        facts=_3x3_facts,
    )
    in_place = replace(
        usual,
        when=_over_itself,
        scratch=_3x3_scratch_in_place,
        onto=lambda _: (0,),
        facts=lambda site: {**_3x3_facts(site), "in_place": 1},
        dearer=_column_kept,
    )
    return replace(usual, frugal=(in_place,))


# ---- windows that are gathered first ----


def _outputs(site: Site) -> int:
    _, height, width, _ = site.shape(site.op.y)
    return int(height * width)


def few_taps(site: Site) -> bool:
    """At most 32 taps times input channels, at most 16 output channels, 4 positions or more.

    The output's zero point is -128 or rounding single; no clamp inside int8, right shifts only.
    """
    return (
        fits(site)
        and form_of(site) is Form.RECTIFIED
        and steps_of(site) <= FEW_STEPS
        and site.shape(site.op.y)[-1] <= _FEW_CHANNELS
        and _outputs(site) >= TILE
    )


def _batch(site: Site) -> int:
    """Windows gathered before they are multiplied: a multiple of four, or two, or all."""
    fitting = _BATCH_BYTES // (STEP * steps_of(site)) // TILE * TILE
    return min(max(fitting, 2), _outputs(site))


def batches_in_order(site: Site) -> list[Group]:
    """A batch of windows is in scratch memory before any of its outputs is written.

    No batch of less than four follows one of at least eight.
    """
    groups, first, left = [], 0, _outputs(site)
    while left > 0:
        rest, size = left - _batch(site), _batch(site)
        if rest <= 0:
            size = left
        elif rest < TILE and size >= 2 * TILE:
            size -= TILE
        groups.append(Group(first, first + size))
        first, left = first + size, left - size
    return groups


def conv_scratch(site: Site) -> int:
    """Bytes of a batch of windows."""
    return _batch(site) * STEP * steps_of(site)


def windows_of(site: Site) -> Mapping[str, Any]:
    """Bytes of a pixel, windows gathered at a time, output columns before the right edge."""
    window, (_, _, width, channels) = site.op.window, site.shape(site.op.x)
    inside = (width + window.pads[1] - window.kernel[1]) // window.stride[1] + 1
    return {
        "pixel": channels * site.types[site.op.x].dtype.nbytes,
        "batch": _batch(site),
        "inside_end": max(inside, 0),
    }


def _conv_facts(site: Site) -> Mapping[str, Any]:
    return {**filter_facts(site), **windows_of(site)}


MVE = frozenset({Isa.MVE})
ROWS = (
    "glue_rows_mve.c",
    "glue_rows_mve.S",
    "glue_rows_single_mve.c",
    "glue_rows_single_mve.S",
)
WALK = ("glue_conv_walk_mve.c", "glue_windows_mve.c", "glue_windows_mve.S")
ROWS_32 = ("glue_rows_32_mve.c", "glue_rows_32_mve.S")


def gathered(
    name: str,
    rows: tuple[str, ...],
    when: Callable[[Site], bool],
    pack: Callable[[Site], Mapping[str, Array]],
) -> Kernel:
    """A kernel that gathers windows, which a function of its own multiplies."""
    return Kernel(
        name,
        "ops/fast/conv_mve.c.j2",
        (f"{name}.c", *WALK, *rows),
        when=when,
        scratch=conv_scratch,
        overlap=grouped_overlap(batches_in_order),
        isas=MVE,
        pack=pack,
        facts=_conv_facts,
    )


def dense(
    name: str, when: Callable[[Site], bool], pack: Callable[[Site], Mapping[str, Array]]
) -> Kernel:
    """The kernel for one row, for weights of any width."""
    return Kernel(
        name,
        "ops/fast/dense_mve.c.j2",
        (f"{name}.c", f"{name}.S"),
        when=when,
        isas=MVE,
        pack=pack,
        facts=_dense_facts,
    )


CONVOLUTION: tuple[Kernel, ...] = (
    columns_shared("glue_conv_3x3_mve", shared_columns, pack_3x3),
    gathered("glue_conv_32_mve", ROWS_32, few_taps, pack_pairs),
    gathered("glue_conv_mve", ROWS, fits, pack_rows),
)
FULLY_CONNECTED: tuple[Kernel, ...] = (dense("glue_dense_mve", one_row, pack_dense),)
