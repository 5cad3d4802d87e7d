"""Depthwise convolutions with the DSP extension (Cortex-M4, M7, M33)."""

from toolchain.ir import Kernel

DEPTHWISE: tuple[Kernel, ...] = ()
