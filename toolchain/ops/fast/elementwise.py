"""Element-wise kernels and pools in plain C that lean on tables made at generation."""

from toolchain.ir import Kernel

ADD: tuple[Kernel, ...] = ()
MUL: tuple[Kernel, ...] = ()
AVERAGE_POOL: tuple[Kernel, ...] = ()
MAX_POOL: tuple[Kernel, ...] = ()
