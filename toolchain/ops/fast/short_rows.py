"""Rows of a few pixels, of which there are many calls when a model is streamed."""

from toolchain.ir import Site
from toolchain.ops.fast.narrow import EXTENT

_PIXELS = 15
"""An odd last pixel of longer rows is not worth code of its own."""


def odd_pixel(site: Site) -> bool:
    """One short row of outputs, an odd number of them: the last is left over by pairs."""
    y = site.shape(site.op.y)
    return len(y) == 4 and y[:2] == (1, 1) and y[2] in range(3, _PIXELS + 1, 2)


def windows_of_3x3(site: Site) -> bool:
    """One sample and row of outputs, depthwise 3x3, stride 1, pads up to 1, channels kept.

    Three rows of inputs, or two and one of padding; no more columns than fit into 16 bits.
    """
    window, x, y = site.op.window, site.shape(site.op.x), site.shape(site.op.y)
    return (
        (window.kernel, window.stride, window.dilation) == ((3, 3), (1, 1), (1, 1))
        and (x[0], y[1]) == (1, 1)
        and x[3] == y[3]
        and max(window.pads) <= 1
        and 2 <= x[1] <= 3
        and 3 <= x[2] <= EXTENT
    )


def first_place(_site: Site) -> tuple[int, ...]:
    """Each output is written over a code of its channel that is read already."""
    return (0,)
