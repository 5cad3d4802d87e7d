"""Which layers the narrow fields of glue_shapes.h have room for."""

from collections.abc import Callable
from math import prod

from toolchain.ir import Site

EXTENT = 65535
"""uint16_t: extents of tensors and windows, cells of a window."""

STEP = 255
"""uint8_t: strides, dilations, cells of padding before the first row and column."""


def is_narrow(site: Site) -> bool:
    """Extents up to 65,535, strides, dilations and pads up to 255."""
    extents = [*site.shape(site.op.x), *site.shape(site.op.y)]
    window = getattr(site.op, "window", None)
    steps: tuple[int, ...] = ()
    if window is not None:
        extents.append(prod(window.kernel))
        steps = (*window.stride, *window.dilation, *window.pads)
    return max(extents) <= EXTENT and max(steps, default=0) <= STEP


def narrow(when: Callable[[Site], bool], *counts: Callable[[Site], int]) -> Callable[[Site], bool]:
    """A condition, and that the layer's descriptor has room for its numbers.

    Args:
        when: The condition.
        counts: Further numbers up to EXTENT, asked for where the condition holds.
    """

    def condition(site: Site) -> bool:
        return is_narrow(site) and when(site) and all(n(site) <= EXTENT for n in counts)

    first = (when.__doc__ or "").strip().split("\n")[0].rstrip(".")
    condition.__doc__ = f"{first}; extents up to 65,535, strides and pads up to 255."
    return condition
