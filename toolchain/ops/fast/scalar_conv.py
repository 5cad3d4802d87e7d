"""Convolutions and fully connected layers without SIMD (Cortex-M0, M0+, M3)."""

from toolchain.ir import Kernel

CONVOLUTION: tuple[Kernel, ...] = ()
FULLY_CONNECTED: tuple[Kernel, ...] = ()
