"""Depthwise convolutions without SIMD (Cortex-M0, M0+, M3)."""

from toolchain.ir import Kernel

DEPTHWISE: tuple[Kernel, ...] = ()
