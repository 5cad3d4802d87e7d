"""Ranges to an integer graph: every activation gets its scale, every constant becomes integers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor
from typing import NoReturn

import numpy as np

from toolchain.errors import InputRefused, InternalError
from toolchain.ir import (
    DType,
    Fixed,
    Graph,
    Op,
    Quant,
    Rounding,
    SameAs,
    Stage,
    TensorType,
    verify,
)
from toolchain.ir.fixedpoint import quant_from_range, symmetric, symmetric_from_range
from toolchain.ops.unary import Unary
from toolchain.ops.wide import Requantize
from toolchain.quant.ranges import Range

CONCAT_RATIO = 16.0
"""Ranges of concatenated tensors that differ by more than this lose bits worth a warning (R5)."""


@dataclass(frozen=True, slots=True)
class Quantized:
    """The integer graph and sentences for the user."""

    graph: Graph
    warnings: tuple[str, ...]


def free_tensors(graph: Graph) -> tuple[str, ...]:
    """The graph's own tensors that have no scale of any other source than a range."""
    names = [x for x in graph.inputs if graph.types[x].quant is None]
    for op in graph.ops:
        if not isinstance(op.quant_rule(graph.types), SameAs | Fixed):
            names += [y for y in op.outputs if graph.types[y].quant is None]
    return tuple(names)


def quantize(
    graph: Graph, ranges: Mapping[str, Range], rounding: Rounding = Rounding.DOUBLE
) -> Quantized:
    """Turn a float graph into the same graph on codes: int8, int16 where operators want these.

    1. Concat: an input nobody else reads takes the output's scale at its source; any other input
       is requantised by a table (R5).
    2. Activations take their scale from calibration, from their input, or from their operator.
       A scale below what the operator's integer arithmetic can hold is raised (R33).
    3. Constants become int8 or int32 by their operator's own rule.

    Args:
        graph: Float graph after the passes.
        ranges: Range of every tensor of free_tensors(graph), by its own name or, where the graph
            holds its values unchanged, by the name it has in the ONNX model.
        rounding: How the operators requantise.
    """
    graph, tied, warnings = _unify_concats(graph, ranges)
    types, raised = _assign(graph, ranges, tied, {})
    while raised:  # all tensors that share a scale take the one that arithmetic needs
        floors = raised
        types, raised = _assign(graph, ranges, tied, floors)
        raised = floors | raised if raised else {}
    ops: list[Op] = []
    constants: dict[str, np.ndarray] = {}
    for op in graph.ops:
        lowered = replace(op, rounding=rounding).lower(types, graph.constants)
        ops.append(lowered.op)
        warnings += lowered.warnings
        for name, (value, kind) in lowered.constants.items():
            constants[name], types[name] = value, kind
    done = replace(graph, types=types).with_ops(ops, types, constants)
    return Quantized(verify(done, Stage.QUANTIZED), tuple(warnings))


def _origin(graph: Graph, name: str) -> str:
    if name not in graph.origins:
        raise InternalError("quantise", name, "this tensor has no counterpart in the ONNX model")
    return graph.origins[name].tensor


def _measured(graph: Graph, ranges: Mapping[str, Range], name: str) -> Range | None:
    if name in ranges:
        return ranges[name]
    unchanged = name in graph.origins and graph.origins[name].unchanged
    return ranges.get(graph.origins[name].tensor) if unchanged else None


def _assign(
    graph: Graph,
    ranges: Mapping[str, Range],
    tied: Mapping[str, str],
    floors: Mapping[str, float],
) -> tuple[dict[str, TensorType], dict[str, float]]:
    """Types with parameters, and floors higher than those given that shared scales need.

    Args:
        graph: Graph with tables before its concats.
        ranges: Measured ranges by ONNX name.
        tied: Tensors that take the scale of another one.
        floors: Smallest scale of the tensors that others are tied to.
    """
    types = dict(graph.types)
    raised: dict[str, float] = {}
    leaders = set(tied.values())

    def give(name: str, quant: Quant, dtype: DType) -> None:
        types[name] = replace(types[name], dtype=dtype, quant=quant)

    def chosen(name: str, dtype: DType, op: Op | None = None) -> Quant:
        """What the model states, else what was measured, else what follows from the inputs."""
        leader = tied.get(name, name)
        stated = graph.types[leader].quant or graph.types[name].quant
        if stated is not None:
            return stated
        source = _origin(graph, leader)
        measured = _measured(graph, ranges, leader)
        span = measured or _derived(op, types) or _no_range(op, name, source)
        minimum = op.output_floor(types, graph.constants) if op else 0.0
        natural = covering(span, dtype)
        if leader in leaders and minimum > max(natural.scale, floors.get(leader, 0.0)):
            raised[leader] = max(minimum, raised.get(leader, 0.0))
        return _at_least(natural, span, max(minimum, floors.get(leader, 0.0)), dtype)

    for name in graph.inputs:
        wanted = read_as(graph, name)
        give(name, chosen(name, wanted), wanted)
    for op in graph.ops:
        rule, dtype = op.quant_rule(types), types[op.x].dtype if op.is_view else op.writes
        for name in op.outputs:
            if isinstance(rule, SameAs):
                give(name, types[op.inputs[rule.index]].q, dtype)
            elif isinstance(rule, Fixed) and (rule.strict or graph.types[name].quant is None):
                give(name, rule.quant, dtype)
            else:
                give(name, chosen(name, dtype, op), dtype)
    return types, raised


def read_as(graph: Graph, name: str) -> DType:
    """The type of codes in which a tensor is read, through views; int8 when nobody reads it."""
    for op in graph.consumers().get(name, ()):
        return read_as(graph, op.y) if op.is_view else op.reads
    return DType.INT8


def covering(span: Range, dtype: DType) -> Quant:
    """Parameters of codes of a type that cover a range."""
    if dtype is DType.INT16:
        return symmetric_from_range(span.low, span.high)
    return quant_from_range(span.low, span.high)


def _no_range(op: Op | None, name: str, source: str) -> NoReturn:
    raise InputRefused(
        "quantise",
        op.name if op else name,
        f"the model states no scale for {source}",
        "give calibration data: --calib DATA",
    )


def _derived(op: Op | None, types: Mapping[str, TensorType]) -> Range | None:
    """The range of an output that follows from the codes of the inputs, if it does."""
    if op is None or any(types[x].quant is None for x in op.inputs):
        return None
    span = op.derived_range(types)
    return span and Range(min(span[0], 0.0), max(span[1], 0.0))


def _at_least(quant: Quant, span: Range, minimum: float, dtype: DType) -> Quant:
    """The same range at a coarser scale, when the arithmetic needs one."""
    if quant.scale >= minimum:
        return quant
    scale = float(np.float32(minimum * (1 + 2.0**-20)))
    if dtype is DType.INT16:
        return symmetric(scale)
    zero = floor(-128 - min(span.low, 0.0) / scale + 0.5)
    return Quant((scale,), min(max(zero, -128), 127))


def _unify_concats(
    graph: Graph, ranges: Mapping[str, Range]
) -> tuple[Graph, dict[str, str], list[str]]:
    """Case 1: (graph with tables before concats, tensors tied to a concat's range, warnings)."""
    tied: dict[str, str] = {}
    warnings: list[str] = []
    ops: list[Op] = []
    types = dict(graph.types)
    for op in graph.ops:
        if not op.needs_equal_scales:
            ops.append(op)
            continue
        warnings += _spread(graph, op, ranges)
        names = {}
        wanted = graph.types[op.y].quant
        for x in dict.fromkeys(graph.activations(op)):
            if wanted is not None and graph.types[x].quant == wanted:
                continue
            source = _free_source(graph, x)
            if source is not None and source not in tied:
                tied[source] = tied.get(op.y, op.y)
            elif tied.get(source or x) != op.y:
                names[x] = f"{x}.as.{op.y}"
                types[names[x]] = replace(types[x], quant=None)
                tied[names[x]] = op.y
                ops.append(_rescaled(op, x, names[x]))
        ops.append(op.renamed(names) if names else op)
    return graph.with_ops(ops, types), tied, warnings


def _rescaled(op: Op, x: str, y: str) -> Op:
    """What brings an input of an operator to another scale."""
    if op.reads is DType.INT16:
        return Requantize(op.name, (x,), (y,), op.reads, op.reads)
    return Unary(op.name, (x,), (y,), ("x",))


def _free_source(graph: Graph, name: str) -> str | None:
    """The tensor whose scale decides that of `name`, if only this path reads it."""
    producers, uses = graph.producers(), graph.uses()
    while uses[name] == 1 and (op := producers.get(name)) is not None:
        rule = op.quant_rule(graph.types)
        if isinstance(rule, Fixed) or op.needs_equal_scales:
            return None
        if not isinstance(rule, SameAs):
            return name if graph.types[name].quant is None else None
        name = op.inputs[rule.index]
    return None


def _spread(graph: Graph, op: Op, ranges: Mapping[str, Range]) -> list[str]:
    spans = {}
    for x in graph.activations(op):
        span = _measured(graph, ranges, x)
        if span is not None:
            spans[x] = max(abs(span.low), abs(span.high))
    if len(spans) < 2 or min(spans.values()) * CONCAT_RATIO >= max(spans.values()):
        return []
    small = min(spans, key=lambda n: spans[n])
    return [
        f"{op.name}: the range of {small} is {max(spans.values()) / max(spans[small], 1e-30):.0f} "
        "times smaller than the largest it is concatenated with; it keeps few bits. "
        "Separate outputs would keep them all"
    ]
