"""Kernels for one instruction set, which pack their weights at generation; by operator.

The order is that of preference. None of these modules imports an operator: they see a call site.
"""

from toolchain.ir import Kernel
from toolchain.ops.fast import (
    compact,
    dsp_conv,
    dsp_depthwise,
    dsp_s16,
    elementwise,
    mve_conv,
    mve_depthwise,
    mve_elementwise,
    mve_pointwise,
    mve_s16,
    scalar_conv,
    scalar_depthwise,
    sums_s16,
)

CONVOLUTION: tuple[Kernel, ...] = (
    *mve_pointwise.POINTWISE,
    *mve_conv.CONVOLUTION,
    *dsp_conv.CONVOLUTION,
    *scalar_conv.CONVOLUTION,
    *compact.LAYER,
)
DEPTHWISE: tuple[Kernel, ...] = (
    *mve_depthwise.DEPTHWISE,
    *dsp_depthwise.DEPTHWISE,
    *scalar_depthwise.DEPTHWISE,
    *compact.LAYER,
)
GROUPED: tuple[Kernel, ...] = compact.LAYER
FULLY_CONNECTED: tuple[Kernel, ...] = (
    *mve_conv.FULLY_CONNECTED,
    *mve_pointwise.POINTWISE,
    *dsp_conv.FULLY_CONNECTED,
    *scalar_conv.FULLY_CONNECTED,
    *compact.LAYER,
)
ADD: tuple[Kernel, ...] = (*mve_elementwise.ADD, *elementwise.ADD)
MUL: tuple[Kernel, ...] = (*mve_elementwise.MUL, *elementwise.MUL)
AVERAGE_POOL: tuple[Kernel, ...] = (*mve_elementwise.AVERAGE_POOL, *elementwise.AVERAGE_POOL)
MAX_POOL: tuple[Kernel, ...] = (*mve_elementwise.MAX_POOL, *elementwise.MAX_POOL)

INT16_CONVOLUTION: tuple[Kernel, ...] = (*mve_s16.CONVOLUTION, *dsp_s16.CONVOLUTION)
INT16_DEPTHWISE: tuple[Kernel, ...] = (*mve_s16.DEPTHWISE, *dsp_s16.DEPTHWISE)
INT16_FULLY_CONNECTED: tuple[Kernel, ...] = (*mve_s16.FULLY_CONNECTED, *dsp_s16.FULLY_CONNECTED)
INT16_ADD: tuple[Kernel, ...] = sums_s16.ADD
