"""Where Arm's CMSIS-NN must not be called: shapes on which a released version is wrong (R36).

Each predicate is true where the library is not to be trusted; its docstring is the reason. The
differential tests of the kernels on the host and on emulated Cortex-M3, M4 and M55 use these
predicates and no other exception. Pairs are (height, width).
"""

from dataclasses import dataclass

from toolchain.board import Isa
from toolchain.ops._windows import Window

SOFTMAX_ROW = 512
"""arm_softmax_s8 is wrong on rows that may sum to this many exponentials of 1 or more.

It shifts by 32 bits or more there, which is undefined in C, and gives 127 where 0 of 256 is right.
cmsis_glue's own is right up to 4095.
"""


@dataclass(frozen=True, slots=True)
class Geometry:
    """A window over an image; `out` is the size of the output."""

    size: tuple[int, int]
    window: Window
    out: tuple[int, int]


def window_outside_image(g: Geometry) -> bool:
    """Some window has no tap inside the image, which happens only with much padding.

    4.0.0: a 1x1 convolution reads past its input (every core); the DSP depthwise kernel writes past
    its scratch; the MVE 1xN convolution reads wild addresses and faults.
    """
    w = g.window
    axes = zip(g.size, w.kernel, w.stride, w.pads[:2], w.dilation, g.out, strict=True)
    return any(
        not any(0 <= o * stride - padding + k * dilation < size for k in range(kernel))
        for size, kernel, stride, padding, dilation, out in axes
        for o in range(out)
    )


def depthwise_3x3_right_edge(g: Geometry, factor: int) -> bool:
    """The 3x3 depthwise kernel reads its middle column outside the image (4.0.0 to 7.x, no MVE).

    Taken for a 3x3 window, channel multiplier 1, batch 1, dilation 1, begin padding at most 1;
    wrong when the last window has fewer than two columns left:
    (OW - 1) * stride_w - padding_w + 2 > W.
    """
    w = g.window
    return (
        (w.kernel, w.dilation, factor) == ((3, 3), (1, 1), 1)
        and max(w.pads[:2]) <= 1
        and (g.out[1] - 1) * w.stride[1] - w.pads[1] + 2 > g.size[1]
    )


def one_row_on_mve(g: Geometry, channels: int) -> bool:
    """The MVE kernel for 1xN windows over one row wants symmetric padding (4.1.0 to 7.x).

    Taken for H = 1, KH = 1, dilation_w 1, stride_w * C_IN a multiple of 4. It returns a failure
    or wrong codes when begin and end padding differ (an end that is not reached counts as negative
    padding), when the padded sections overlap, or when the window is wider than the image. The same
    layer with rows and columns exchanged (H = W, W = 1) is the same memory and does not take this
    kernel.
    """
    (height, width), w, out = g.size, g.window, g.out[1]
    stride, kernel, padding = w.stride[1], w.kernel[1], w.pads[1]
    if height != 1 or w.kernel[0] != 1 or w.dilation[1] != 1 or stride * channels % 4 != 0:
        return False
    symmetric = 2 * padding == (out - 1) * stride + kernel - width
    apart = 2 * -(-padding // stride) <= out
    return not (symmetric and apart and width >= kernel)


def convolution(isa: Isa, g: Geometry, channels: int) -> bool:
    """Any reason not to call arm_convolve_wrapper_s8 with batch 1 and one group."""
    return window_outside_image(g) or (isa is Isa.MVE and one_row_on_mve(g, channels))


def depthwise(isa: Isa, g: Geometry, channels: int, factor: int) -> bool:
    """Any reason not to call arm_depthwise_conv_wrapper_s8 with batch 1.

    With MVE, 7.x turns one input channel into a convolution, with the limits of that.
    """
    right_edge = isa is not Isa.MVE and depthwise_3x3_right_edge(g, factor)
    as_convolution = channels == 1 and convolution(isa, g, channels)
    return right_edge or window_outside_image(g) or as_convolution
