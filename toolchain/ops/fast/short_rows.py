"""Rows of a few pixels, of which there are many calls when a model is streamed."""

from toolchain.ir import Site

_PIXELS = 15
"""An odd last pixel of longer rows is not worth code of its own."""


def odd_pixel(site: Site) -> bool:
    """One short row of outputs, an odd number of them: the last is left over by pairs."""
    y = site.shape(site.op.y)
    return len(y) == 4 and y[:2] == (1, 1) and y[2] in range(3, _PIXELS + 1, 2)
