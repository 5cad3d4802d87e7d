"""A graph as text, for people and golden files."""

from dataclasses import fields

from toolchain.ir.fixedpoint import Rounding
from toolchain.ir.graph import Graph
from toolchain.ir.op import Op
from toolchain.ir.tensor import TensorType

_COMMON = {"name", "inputs", "outputs", "rounding"}


def _type(kind: TensorType) -> str:
    text = f"{kind.dtype}[{', '.join(map(str, kind.shape))}]"
    if kind.quant is None:
        return text
    if len(kind.quant.scales) == 1:
        return f"{text} scale {kind.quant.scale:.9g} zero {kind.quant.zero_point}"
    scales = kind.quant.scales
    return f"{text} scales {min(scales):.4g}..{max(scales):.4g} on axis {kind.quant.axis}"


def _attributes(op: Op) -> str:
    shown = [f"{f.name}={getattr(op, f.name)}" for f in fields(op) if f.name not in _COMMON]
    return f" ({', '.join(shown)})" if shown else ""


def graph_text(graph: Graph) -> str:
    """One line per tensor declaration and operator, in execution order."""
    once = ", single rounding" if graph.rounding is Rounding.SINGLE else ""
    lines = [f"graph {graph.name}{once}"]
    lines += [f"  input {x}: {_type(graph.types[x])}" for x in graph.inputs]
    for op in graph.ops:
        lines.append(f"  {type(op).__name__}{_attributes(op)} <- {', '.join(op.inputs)}")
        lines += [f"    {c}: {_type(graph.types[c])}" for c in op.inputs if c in graph.constants]
        lines += [f"    -> {y}: {_type(graph.types[y])}" for y in op.outputs]
    lines += [f"  output {y}" for y in graph.outputs]
    return "\n".join(lines) + "\n"
