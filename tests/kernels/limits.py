"""The shapes on which Arm's CMSIS-NN is wrong, for the windows of this folder (R36).

The differential tests of this folder on the host and on emulated Cortex-M3, M4 and M55 make no
exception but these; kernel selection asks the same predicates.
"""

from tests.kernels.cases import Window
from toolchain.board import Isa
from toolchain.ops import _arm_limits as limits
from toolchain.ops._windows import Window as PlainWindow


def _geometry(shape: Window) -> limits.Geometry:
    pads = (*shape.padding, *shape.end)
    window = PlainWindow(shape.kernel, shape.stride, pads, shape.dilation)
    return limits.Geometry(shape.size, window, shape.out)


def convolution_limits(isa: str, shape: Window, channels: int) -> bool:
    """Any reason not to call arm_convolve_wrapper_s8 with one group."""
    return limits.convolution(Isa(isa), _geometry(shape), channels)


def depthwise_limits(isa: str, shape: Window, factor: int, channels: int = 2) -> bool:
    """Any reason not to call arm_depthwise_conv_wrapper_s8."""
    return limits.depthwise(Isa(isa), _geometry(shape), channels, factor)
