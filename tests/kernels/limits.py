"""Where Arm's CMSIS-NN must not be called: shapes on which a released version is wrong (R36).

Each predicate is true where the library is not to be trusted; its docstring is the reason. Pairs
are (height, width). Found by the differential tests of this folder on the host and on emulated
Cortex-M3, M4 and M55, which use these predicates and no other exception.
"""

from tests.kernels.cases import Window


def window_outside_image(shape: Window) -> bool:
    """Some window has no tap inside the image, which happens only with much padding.

    4.0.0: a 1x1 convolution reads past its input (every core); the DSP depthwise kernel writes past
    its scratch; the MVE 1xN convolution reads wild addresses and faults.
    """
    axes = zip(
        shape.size,
        shape.kernel,
        shape.stride,
        shape.padding,
        shape.dilation,
        shape.out,
        strict=True,
    )
    return any(
        not any(0 <= o * stride - padding + k * dilation < size for k in range(kernel))
        for size, kernel, stride, padding, dilation, out in axes
        for o in range(out)
    )


def depthwise_3x3_right_edge(shape: Window, factor: int) -> bool:
    """The 3x3 depthwise kernel reads its middle column outside the image (4.0.0 to 7.x, no MVE).

    Taken for a 3x3 window, channel multiplier 1, batch 1, dilation 1, begin padding at most 1;
    wrong when the last window has fewer than two columns left:
    (OW - 1) * stride_w - padding_w + 2 > W.
    """
    return (
        (shape.kernel, shape.dilation, factor, shape.batch) == ((3, 3), (1, 1), 1, 1)
        and max(shape.padding) <= 1
        and (shape.out[1] - 1) * shape.stride[1] - shape.padding[1] + 2 > shape.size[1]
    )


def one_row_on_mve(shape: Window, channels: int) -> bool:
    """The MVE kernel for 1xN windows over one row wants symmetric padding (4.1.0 to 7.x).

    Taken for H = 1, KH = 1, dilation_w 1, stride_w * C_IN a multiple of 4. It returns a failure
    or wrong codes when begin and end padding differ (an end that is not reached counts as negative
    padding), when the padded sections overlap, or when the window is wider than the image. The same
    layer with rows and columns exchanged (H = W, W = 1) is the same memory and does not take this
    kernel.
    """
    (height, width), (kernel_h, kernel), stride = shape.size, shape.kernel, shape.stride[1]
    if height != 1 or kernel_h != 1 or shape.dilation[1] != 1 or stride * channels % 4 != 0:
        return False
    padding, out = shape.padding[1], shape.out[1]
    symmetric = 2 * padding == (out - 1) * stride + kernel - width
    apart = 2 * -(-padding // stride) <= out
    return not (symmetric and apart and width >= kernel)


def convolution_limits(isa: str, shape: Window, channels: int) -> bool:
    """Any reason not to call arm_convolve_wrapper_s8 with batch 1 and one group."""
    return window_outside_image(shape) or (isa == "mve" and one_row_on_mve(shape, channels))


def depthwise_limits(isa: str, shape: Window, factor: int) -> bool:
    """Any reason not to call arm_depthwise_conv_wrapper_s8 with batch 1.

    With MVE, 7.x turns one input channel into a convolution, with the limits of that.
    """
    right_edge = isa != "mve" and depthwise_3x3_right_edge(shape, factor)
    return right_edge or window_outside_image(shape)


def softmax_long_row(row_size: int) -> bool:
    """arm_softmax_s8 shifts by 32 bits or more once the exponentials of a row sum to 512 or more.

    Undefined in C in every version, and wrong on the host (127 where 0 of 256 is right).
    cmsis_glue's own is right up to 4095.
    """
    return row_size >= 512
