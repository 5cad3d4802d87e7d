"""1 x 1 convolutions and fully connected layers on many rows with MVE (Cortex-M55, M85)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from toolchain.ir import Array, Kernel, Site
from toolchain.ops._diagonal import Group, grouped_overlap, groups_of
from toolchain.ops.fast.mve_conv import (
    FEW_STEPS,
    MAX_CHANNELS,
    MVE,
    ROWS,
    ROWS_32,
    STEP,
    TILE,
    Form,
    filter_facts,
    fits,
    form_of,
    pack_pairs,
    pack_rows,
    row_bytes,
    steps_of,
)
from toolchain.ops.fast.short_rows import odd_pixel

_GROUP = 4
"""Channels of glue_rows_mve computed at a time."""
_BLOCK = 128
"""Most rows of a block."""


def lines_of(site: Site, least: int = 1) -> dict[str, int]:
    """How a pointwise layer walks over its input.

    Args:
        site: Call of the kernel.
        least: Least number of rows, if any, that are read in place, or copied.
    """
    depth, steps = row_bytes(site), steps_of(site)
    shape = site.shape(site.op.x)
    window = getattr(site.op, "window", None)
    if window is None or window.stride == (1, 1):
        rows = prod(shape[:-1])
        # the steps of row i end at i * depth + 16 * steps
        direct = max((rows * depth - STEP * steps) // depth + 1, 0)
        direct = direct if direct == rows else min(direct, rows - least)
        return {
            "pitch": depth,
            "lines": 1,
            "line_step": depth * (0 if direct < least else direct),
            "rows": rows,
            "direct": 0 if direct < least else direct,
        }
    (down, right), (_, height, width, _) = window.stride, site.shape(site.op.y)
    return {
        "pitch": right * depth,
        "lines": height,
        "line_step": down * shape[2] * depth,
        "rows": width,
        "direct": width,
    }


def _blocks(site: Site) -> dict[str, int] | None:
    """The same with some rows of a long line at a time, each time for all channels."""
    whole = lines_of(site, TILE)
    if whole["lines"] > 1 or whole["direct"] < 2 * _BLOCK:
        return None
    fewest = whole["rows"] - whole["direct"]
    for rest in range(fewest, fewest + _BLOCK):
        if 0 < rest < TILE:
            continue
        for size in range(_BLOCK, _BLOCK * 3 // 4, -1):
            if (whole["rows"] - rest) % size:
                continue
            lines = (whole["rows"] - rest) // size
            return {
                **whole, "lines": lines, "line_step": size * whole["pitch"],
                "rows": size + rest, "direct": size,
            }  # fmt: skip
    return None


def _in_blocks(site: Site) -> dict[str, int]:
    found = _blocks(site)
    assert found is not None
    return found


def _block_by_block(site: Site) -> bool:
    """A hundred rows at a time."""
    return _blocks(site) is not None


def _block_calls(site: Site) -> int:
    """Instructions of the calls for blocks after the first, about."""
    pairs = -(-site.shape(site.op.y)[-1] // 2)
    return (_in_blocks(site)["lines"] - 1) * (80 + 45 * pairs)


def is_pointwise(site: Site) -> bool:
    """A 1 x 1 window without padding; with strides, pixels of whole vectors."""
    window = getattr(site.op, "window", None)
    if window is None:
        return True
    if window.kernel != (1, 1) or any(window.pads):
        return False
    return bool(window.stride == (1, 1)) or row_bytes(site) % STEP == 0


def rows_in_place(site: Site) -> bool:
    """A 1 x 1 window without padding; with strides, input channels in multiples of 16."""
    return is_pointwise(site) and fits(site)


def few_channels_in_place(site: Site) -> bool:
    """As glue_pointwise_mve, but at most 16, or 32 input channels, and 4 rows or more in a line.

    The output's zero point is -128 or rounding single; no clamp inside int8, right shifts only.
    """
    if not rows_in_place(site) or steps_of(site) > FEW_STEPS:
        return False
    lines = lines_of(site, TILE)
    gapless = steps_of(site) == 1 or lines["pitch"] == STEP * FEW_STEPS
    few = site.shape(site.op.y)[-1] <= MAX_CHANNELS // TILE
    rectified = form_of(site) is Form.RECTIFIED
    return gapless and few and rectified and lines["rows"] >= TILE


Walk = Callable[[Site], dict[str, int]]


def pointwise_scratch(walk: Walk) -> Callable[[Site], int]:
    """Bytes of the rows that are copied."""

    def scratch(site: Site) -> int:
        lines = walk(site)
        return (lines["rows"] - lines["direct"]) * STEP * steps_of(site)

    return scratch


def _pointwise_facts(walk: Walk) -> Callable[[Site], Mapping[str, Any]]:
    def facts(site: Site) -> Mapping[str, Any]:
        return {**filter_facts(site), "depth": row_bytes(site), "walk": walk(site)}

    return facts


def _lines_in_order(site: Site, walk: Walk) -> tuple[list[range], list[Group]]:
    """Rows of every line, and the group of those that are copied before they are multiplied."""
    lines = walk(site)
    direct, end = lines["direct"], lines["lines"] * lines["direct"]
    rest = lines["rows"] - direct
    copied = [Group(end, end + rest)] if rest else []
    return [range(i, i + direct) for i in range(0, end, direct or 1)], copied


def rows_in_order(site: Site, together: int = 2, *, single: bool = False) -> list[Group]:
    """Rows, read again for every four channels.

    Args:
        site: Call of the kernel.
        together: Rows computed together. An odd number begins with two pairs that have a row in
            common.
        single: The last of an odd number is computed by itself instead.
    """
    again = (-(-site.shape(site.op.y)[-1] // _GROUP) - 1) * _GROUP
    lines, copied = _lines_in_order(site, lines_of)
    groups: list[Group] = []
    for rows in lines:
        odd = len(rows) % together
        if single:
            groups += groups_of(rows[: len(rows) - odd], together, again)
            groups += groups_of(rows[len(rows) - odd :], 1, again)
            continue
        groups += groups_of(rows[: together * odd], together, again)
        groups += groups_of(rows[odd:], together, again)
    return groups + copied


def _pairs_in_order(site: Site) -> list[Group]:
    return rows_in_order(site, single=odd_pixel(site))


def _tiles(rows: range) -> list[Group]:
    """Whole tiles; the last rows together with some before them once more."""
    rest = len(rows) % TILE
    last = [Group(rows.stop - TILE, rows.stop)] if rest else []
    return groups_of(rows[: len(rows) - rest], TILE) + last


def _lines_by_channels(walk: Walk) -> Callable[[Site], list[Group]]:
    """All rows of a line, again for every two channels; for two at most, tiles in their order."""

    def groups(site: Site) -> list[Group]:
        again = (-(-site.shape(site.op.y)[-1] // 2) - 1) * 2
        lines, copied = _lines_in_order(site, walk)
        if again:
            return [Group(rows.start, rows.stop, again) for rows in lines] + copied
        return [tile for rows in lines for tile in _tiles(rows)] + copied

    return groups


def _long_lines(site: Site) -> dict[str, int]:
    return lines_of(site, TILE)


def few_channels(
    name: str, rows: tuple[str, ...], pack: Callable[[Site], Mapping[str, Array]]
) -> Kernel:
    """The kernel for few input channels, for weights of any width."""
    whole = Kernel(
        name,
        "ops/fast/pointwise_mve.c.j2",
        (f"{name}.c", "glue_pointwise_walk_mve.c", *rows),
        when=few_channels_in_place,
        scratch=pointwise_scratch(_long_lines),
        overlap=grouped_overlap(_lines_by_channels(_long_lines)),
        isas=MVE,
        pack=pack,
        facts=_pointwise_facts(_long_lines),
    )
    blocks = replace(
        whole,
        when=_block_by_block,
        scratch=pointwise_scratch(_in_blocks),
        overlap=grouped_overlap(_lines_by_channels(_in_blocks)),
        facts=_pointwise_facts(_in_blocks),
        dearer=_block_calls,
    )
    return replace(whole, frugal=(blocks,))


def any_channels(
    name: str,
    rows: tuple[str, ...],
    when: Callable[[Site], bool],
    pack: Callable[[Site], Mapping[str, Array]],
    *,
    single: bool = False,
) -> Kernel:
    """The kernel for any number of input channels, for weights of any width.

    Args:
        name: Its name.
        rows: Sources of what multiplies rows.
        when: Its condition.
        pack: What it packs.
        single: An odd last row may be computed by itself.
    """
    return Kernel(
        name,
        "ops/fast/pointwise_mve.c.j2",
        (f"{name}.c", "glue_pointwise_walk_mve.c", *rows),
        when=when,
        scratch=pointwise_scratch(lines_of),
        overlap=grouped_overlap(_pairs_in_order if single else rows_in_order),
        isas=MVE,
        pack=pack,
        facts=_pointwise_facts(lines_of),
    )


POINTWISE: tuple[Kernel, ...] = (
    few_channels("glue_pointwise_32_mve", ROWS_32, pack_pairs),
    any_channels("glue_pointwise_mve", ROWS, rows_in_place, pack_rows, single=True),
)
