"""Scratch memory that Arm's CMSIS-NN needs, by instruction set, for versions 4.0.0 to 7.x.

Where versions differ the largest answer is given, so that a project may be linked with any of them.
Each function states the kernel the library chooses. All answers are bytes; 0 means that no buffer
is needed. cmsis_glue's own kernels need none.

Instruction sets: "baseline" (Cortex-M0, M0+), "scalar" (M3), "dsp" (M4, M7, M33), "mve" (M55, M85).
"""

Nhwc = tuple[int, int, int, int]
Ohwi = tuple[int, int, int, int]
HeightWidth = tuple[int, int]

ISAS = ("baseline", "scalar", "dsp", "mve")

# Channels that the MVE depthwise kernel handles at once (CH_IN_BLOCK_MVE in every version).
_MVE_CHANNEL_BLOCK = 124


def convolve(
    isa: str,
    in_shape: Nhwc,
    filter_shape: Ohwi,
    out_shape: Nhwc,
    stride: HeightWidth,
    padding: HeightWidth,
    dilation: HeightWidth,
) -> int:
    """Bytes of scratch of arm_convolve_wrapper_s8.

    Args:
        isa: One of ISAS.
        in_shape: Input [N, H, W, C_IN].
        filter_shape: Weights [C_OUT, KH, KW, C_IN / groups].
        out_shape: Output [N, OH, OW, C_OUT]; what depends on it is bounded without it.
        stride: Rows and columns between outputs.
        padding: Rows and columns before the image.
        dilation: Rows and columns between taps.

    Returns:
        1x1 without padding: nothing, but two pixels of int16 for the DSP kernel of Arm Compiler
        (7.x). Else without MVE: two columns of int16 taps, each rounded up to 4 taps (early
        versions do not round). Else with MVE: four columns of int8 taps, each rounded up to 16
        (early versions: 8), and for one row of input at least the padded window of the 1xN
        kernel.

    Raises:
        ValueError: The instruction set is unknown.
    """
    _check(isa)
    del out_shape
    _, kernel_h, kernel_w, group_channels = filter_shape
    channels = in_shape[3]
    pointwise = (kernel_h, kernel_w) == (1, 1) and padding == (0, 0) and dilation == (1, 1)
    if pointwise and channels == group_channels:
        return 4 * channels if isa == "dsp" and stride == (1, 1) else 0
    taps = kernel_h * kernel_w * channels
    if isa != "mve":
        return 4 * _round_up(taps, 4)
    columns = 4 * _round_up(taps, 16)
    one_row = in_shape[1] == 1 and kernel_h == 1 and dilation[1] == 1
    return max(columns, (kernel_w + padding[1]) * channels) if one_row else columns


def depthwise(
    isa: str,
    in_shape: Nhwc,
    filter_hw: HeightWidth,
    out_shape: Nhwc,
    stride: HeightWidth,
    padding: HeightWidth,
    dilation: HeightWidth,
) -> int:
    """Bytes of scratch of arm_depthwise_conv_wrapper_s8.

    Args:
        isa: One of ISAS.
        in_shape: Input [N, H, W, C_IN].
        filter_hw: Window (KH, KW).
        out_shape: Output [N, OH, OW, C_OUT].
        stride: Rows and columns between outputs.
        padding: Rows and columns before the image.
        dilation: Rows and columns between taps.

    Returns:
        The plain C kernels need nothing. The optimised one (channel multiplier 1, batch 1, no
        dilation) needs one int16 column of all channels with DSP, except for 3x3 with padding up to
        1, and four int8 columns of 124 channels with MVE. With MVE, 7.x turns one input channel
        into a convolution with a copy of the weights.

    Raises:
        ValueError: The instruction set is unknown.
    """
    _check(isa)
    taps = filter_hw[0] * filter_hw[1]
    optimised = in_shape[3] == out_shape[3] and in_shape[0] == 1 and dilation == (1, 1)
    if isa in ("baseline", "scalar") or (isa == "dsp" and not optimised):
        return 0
    if isa == "dsp":
        three_by_three = filter_hw == (3, 3) and max(padding) <= 1
        return 0 if three_by_three else 2 * taps * in_shape[3]
    size = 4 * _MVE_CHANNEL_BLOCK * taps if optimised else 0
    if in_shape[3] == 1 and out_shape[3] > 1:
        weights = (out_shape[3], *filter_hw, 1)
        as_convolution = convolve(isa, in_shape, weights, out_shape, stride, padding, dilation)
        size = max(size, as_convolution + taps * out_shape[3])
    return size


def avgpool(isa: str, channels: int) -> int:
    """Bytes of scratch of arm_avgpool_s8: one int32 sum per channel with DSP, else none.

    Raises:
        ValueError: The instruction set is unknown.
    """
    _check(isa)
    return 4 * channels if isa == "dsp" else 0


def _check(isa: str) -> None:
    if isa not in ISAS:
        raise ValueError(f"instruction set {isa!r} is none of {', '.join(ISAS)}")


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
