"""Kernel selection: which C function runs each operator, and the scratch memory it needs."""

from toolchain.select.select import Choice, choose, condition, select_kernels

__all__ = ["Choice", "choose", "condition", "select_kernels"]
