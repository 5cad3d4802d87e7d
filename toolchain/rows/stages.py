"""The operators of a segment as stages: which calls make their output, with which kernel."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolchain.ir import HEIGHT, DType, Graph, Op, RowCall, Rows, Site, Target, TensorType, bands
from toolchain.rows.sums import accumulated
from toolchain.select import Choice, Optimize, choose_together

INPUTS = 2
"""Activations that a call can read, at most."""


@dataclass(frozen=True, slots=True)
class Form:
    """One operator that computes rows, for all rows that differ in nothing but their number.

    Args:
        op: The operator.
        types: Types of its tensors, as many rows as a call reads and writes.
        choice: Its kernel.
    """

    op: Op
    types: Mapping[str, TensorType]
    choice: Choice

    def site(self, graph: Graph, target: Target) -> Site:
        """Where its kernel is called."""
        return Site(self.op, self.types, graph.constants, target)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a stage.

    Args:
        form: Index of its form.
        reads: (tensor, first row, rows) of every activation, in the order of the inputs.
        writes: First row written, and how many.
    """

    form: int
    reads: tuple[tuple[str, int, int], ...]
    writes: Rows


@dataclass(frozen=True, slots=True)
class Stage:
    """An operator of a segment.

    Args:
        op: The whole operator.
        y: The tensor it writes.
        kind: Type of that tensor.
        forms: What its calls are instances of.
        calls: In order.
        adds: All calls add to the one row of the output; else each writes the rows after the last.
    """

    op: Op
    y: str
    kind: TensorType
    forms: tuple[Form, ...]
    calls: tuple[Call, ...]
    adds: bool = False

    @property
    def predicted(self) -> int | None:
        """Instructions of all calls, as the cost table expects; None without data."""
        total = 0
        for call in self.calls:
            predicted = self.forms[call.form].choice.predicted
            if predicted is None:
                return None
            total += predicted
        return total


def stages_of(
    op: Op, graph: Graph, target: Target, optimize: Optimize, band: int = 1
) -> tuple[Stage, ...] | None:
    """The stages that compute an operator row by row; None when it cannot be.

    Rows are moved as int8 codes: an operator that reads or writes others has no stages.

    Args:
        op: The operator.
        graph: Types and constants.
        target: Instruction set and family.
        optimize: What kernels are chosen for.
        band: Rows that a call computes.
    """
    if op.is_view or len(op.outputs) != 1 or {op.reads, op.writes} != {DType.INT8}:
        return None
    pair = accumulated(op, graph, band)
    if pair is not None:
        known = replace(graph, types={**graph.types, **{part.y: kind for part, _, kind in pair}})
        first, last = (_stage(part, rows, known, target, optimize) for part, rows, _ in pair)
        return replace(first, op=op, adds=True), replace(last, op=op)
    rows = _rows(op, graph, band)
    return None if rows is None else (_stage(op, rows, graph, target, optimize),)


def _rows(op: Op, graph: Graph, band: int) -> list[RowCall] | None:
    kind = graph.types[op.y]
    if len(kind.shape) != 4 or kind.shape[HEIGHT] < 2 or len(graph.activations(op)) > INPUTS:
        return None
    every = bands(kind.shape[HEIGHT], band)
    rows = [op.row(graph.types, graph.constants, *each) for each in every]
    known = [row for row in rows if row is not None]
    return known if len(known) == len(rows) else None


_Key = tuple[Op, tuple[int, ...]]


def _key(row: RowCall) -> _Key:
    """What calls of one form have in common."""
    return row.op, tuple(count for _, count in (row.writes, *row.reads.values()))


def _stage(
    op: Op, rows: Sequence[RowCall], graph: Graph, target: Target, optimize: Optimize
) -> Stage:
    counts: Counter[_Key] = Counter()
    distinct: dict[_Key, RowCall] = {}
    for row in rows:
        counts[_key(row)] += 1
        distinct.setdefault(_key(row), row)
    kinds = [row.types(graph.types) for row in distinct.values()]
    sites = [
        Site(row.op, types, graph.constants, target)
        for row, types in zip(distinct.values(), kinds, strict=True)
    ]
    choices = choose_together(sites, list(counts.values()), optimize)
    forms = [
        Form(site.op, types, choice)
        for site, types, choice in zip(sites, kinds, choices, strict=True)
    ]
    index = {key: i for i, key in enumerate(distinct)}
    calls = [
        Call(
            index[_key(row)],
            tuple((x, *row.reads[x]) for x in row.op.inputs if x in row.reads),
            row.writes,
        )
        for row in rows
    ]
    return Stage(op, op.y, graph.types[op.y], tuple(forms), tuple(calls))
