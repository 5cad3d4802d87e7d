"""Kernel selection: which C function runs each operator, and the scratch memory it needs."""

from toolchain.select.costs import Cost, Costs, Optimize, features, load_costs, save_costs
from toolchain.select.select import (
    Alternative,
    Choice,
    alternatives,
    choose,
    choose_together,
    condition,
    select_kernels,
)

__all__ = [
    "Alternative",
    "Choice",
    "Cost",
    "Costs",
    "Optimize",
    "alternatives",
    "choose",
    "choose_together",
    "condition",
    "features",
    "load_costs",
    "save_costs",
    "select_kernels",
]
