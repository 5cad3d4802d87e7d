"""The graph every stage reads and returns."""

from toolchain.ir.builder import IMPORTERS, Builder, imports
from toolchain.ir.fixedpoint import ROUNDING_KEY, Rounding
from toolchain.ir.graph import Graph
from toolchain.ir.node import Node, Unsupported
from toolchain.ir.op import (
    FREE,
    Array,
    Constants,
    Example,
    Family,
    Fixed,
    Free,
    Kernel,
    Lowered,
    Op,
    QuantRule,
    SameAs,
    Site,
    Target,
    Types,
    always,
    in_place,
    no_overlap,
    register,
)
from toolchain.ir.rows import HEIGHT, RowCall, Rows, bands, is_map
from toolchain.ir.tensor import INDICES, DType, Origin, Quant, TensorType
from toolchain.ir.verify import Stage, verify
from toolchain.ir.writer import FIRST, Writer, Written

__all__ = [
    "FIRST",
    "FREE",
    "HEIGHT",
    "IMPORTERS",
    "INDICES",
    "ROUNDING_KEY",
    "Array",
    "Builder",
    "Constants",
    "DType",
    "Example",
    "Family",
    "Fixed",
    "Free",
    "Graph",
    "Kernel",
    "Lowered",
    "Node",
    "Op",
    "Origin",
    "Quant",
    "QuantRule",
    "Rounding",
    "RowCall",
    "Rows",
    "SameAs",
    "Site",
    "Stage",
    "Target",
    "TensorType",
    "Types",
    "Unsupported",
    "Writer",
    "Written",
    "always",
    "bands",
    "imports",
    "in_place",
    "is_map",
    "no_overlap",
    "register",
    "verify",
]
