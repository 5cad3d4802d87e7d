"""Convolutions and fully connected layers with MVE (Cortex-M55, M85)."""

from toolchain.ir import Kernel

CONVOLUTION: tuple[Kernel, ...] = ()
FULLY_CONNECTED: tuple[Kernel, ...] = ()
