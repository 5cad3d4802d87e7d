"""Convolutions and fully connected layers with the DSP extension (Cortex-M4, M7, M33)."""

from toolchain.ir import Kernel

CONVOLUTION: tuple[Kernel, ...] = ()
FULLY_CONNECTED: tuple[Kernel, ...] = ()
