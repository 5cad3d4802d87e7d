"""Depthwise convolutions with MVE (Cortex-M55, M85)."""

from toolchain.ir import Kernel

DEPTHWISE: tuple[Kernel, ...] = ()
