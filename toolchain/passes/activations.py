"""Activations: clips fuse into the operator before them, other functions into one table."""

from dataclasses import replace
from typing import Any

from toolchain.ir import Graph, Op
from toolchain.ops.add import Add
from toolchain.ops.mul import Mul
from toolchain.ops.sub import Sub
from toolchain.ops.unary import Expression, Unary, clip_of, substitute
from toolchain.passes.edit import Edit, everywhere

_BINARY = {Add: "add", Mul: "mul", Sub: "sub"}


def fuse_activations(graph: Graph) -> Graph:
    """Fuse ReLU and Clip into the operator before them.

    Legal when nobody else reads that operator's output (R4): a branch that needs the negative
    half keeps it. Where a quantised model states another scale in between, its rounding stays.
    """
    return everywhere(_fuse_clip, graph)


def fuse_unary(graph: Graph) -> Graph:
    """Make one function of every chain of element-wise operators over one tensor (R6).

    1. f(g(x)) is one function when only f reads g(x).
    2. f(x) + g(x), f(x) * g(x), f(x) - g(x) are functions of x: SiLU, HardSwish and their kind.
    """
    return everywhere(_fuse_chain, graph)


def _fuse_clip(graph: Graph, op: Op) -> Edit | None:
    bounds = clip_of(op.expression) if isinstance(op, Unary) else None
    before: Any = graph.producers().get(op.x)
    if bounds is None or before is None or not before.has_activation or graph.uses()[op.x] != 1:
        return None
    if graph.types[op.x].quant not in (None, graph.types[op.y].quant):
        return None  # the model rounds in between
    low, high = bounds
    return Edit(
        [before, op],
        [
            replace(
                before,
                low=_bound(before.low, low, high, max),
                high=_bound(before.high, high, low, min),
                outputs=op.outputs,
            )
        ],
    )


def _bound(own: float | None, new: float | None, other: float | None, pick: Any) -> float | None:
    """One bound of clip(clip(x)): the tighter one, kept inside the outer clip's other bound."""
    given = [bound for bound in (own, new) if bound is not None]
    tight: float | None = pick(given) if given else None
    if tight is None or other is None:
        return tight
    return float(min(tight, other) if pick is max else max(tight, other))


def _fuse_chain(graph: Graph, op: Op) -> Edit | None:
    producers, uses = graph.producers(), graph.uses()
    if isinstance(op, Unary):
        before = producers.get(op.x)
        if not isinstance(before, Unary) or uses[op.x] != 1 or graph.types[op.x].quant:
            return None
        expression = substitute(op.expression, before.expression)
        return Edit([op], [replace(op, inputs=before.inputs, expression=expression)])
    if type(op) not in _BINARY:
        return None
    (x0, f0), (x1, f1) = (_function(graph, producers.get(x), x) for x in op.inputs)
    if x0 != x1 or x0 in graph.constants:
        return None
    expression = _clipped((_BINARY[type(op)], f0, f1), op)
    return Edit([op], [Unary(op.name, (x0,), op.outputs, expression)])


def _function(graph: Graph, producer: Op | None, name: str) -> tuple[str, Expression]:
    """The tensor a name is a function of, and the function."""
    if isinstance(producer, Unary) and graph.types[name].quant is None:
        return producer.x, producer.expression
    return name, ("x",)


def _clipped(expression: Expression, op: Any) -> Expression:
    if op.low is not None:
        expression = ("max", expression, ("const", op.low))
    if op.high is not None:
        expression = ("min", expression, ("const", op.high))
    return expression
