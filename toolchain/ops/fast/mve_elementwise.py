"""Element-wise kernels and pools with MVE (Cortex-M55, M85)."""

from toolchain.ir import Kernel

ADD: tuple[Kernel, ...] = ()
MUL: tuple[Kernel, ...] = ()
AVERAGE_POOL: tuple[Kernel, ...] = ()
MAX_POOL: tuple[Kernel, ...] = ()
