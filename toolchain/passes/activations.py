"""Activations: clips fuse into the operator before them, other functions into one table."""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from toolchain.ir import Graph, Op
from toolchain.ops.add import Add
from toolchain.ops.div import Div
from toolchain.ops.extremum import Extremum
from toolchain.ops.mul import Mul
from toolchain.ops.sub import Sub
from toolchain.ops.sum import Sum
from toolchain.ops.unary import Expression, Unary, clip_of, substitute
from toolchain.passes.edit import Edit, everywhere

_FUNCTION = {Add: "add", Div: "div", Mul: "mul", Sub: "sub", Sum: "add"}


def fuse_activations(graph: Graph) -> Graph:
    """Fuse ReLU and Clip into the operator before them.

    Legal when nobody else reads that operator's output (R4): a branch that needs the negative
    half keeps it. Where a quantised model states another scale in between, its rounding stays.
    """
    return everywhere(_fuse_clip, graph)


def fuse_unary(graph: Graph) -> Graph:
    """Make one function of every chain of element-wise operators over one tensor (R6).

    1. f(g(x)) is one function when only f reads g(x).
    2. f(x) + g(x), f(x) * g(x), max(f(x), g(x)) and their kind are functions of x: SiLU, Gelu,
       HardSwish, Mish however they are spelt out.
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
    return _join(graph, producers, op)


def _join(graph: Graph, producers: Mapping[str, Op], op: Op) -> Edit | None:
    """Case 2: an operator whose operands are all functions of one tensor of its shape."""
    function = _FUNCTION.get(type(op))
    if isinstance(op, Extremum):
        function = "max" if op.largest else "min"
    if function is None:
        return None
    operands = [_functions(graph, producers, x) for x in op.inputs]
    shared = [x for x in operands[0] if all(x in others for others in operands[1:])]
    if not shared or graph.types[shared[0]].shape != graph.types[op.y].shape:
        return None
    expression = reduce(lambda f, g: (function, f, g), (of[shared[0]] for of in operands))
    return Edit([op], [Unary(op.name, (shared[0],), op.outputs, _finished(expression, op))])


def _functions(graph: Graph, producers: Mapping[str, Op], name: str) -> dict[str, Expression]:
    """The tensors a tensor is a function of, nearest first, and the functions.

    A tensor whose scale the model states is rounded there, so nothing is looked up behind it.
    """
    found: dict[str, Expression] = {}
    expression: Expression = ("x",)
    while name not in graph.constants:
        found[name] = expression
        producer = producers.get(name)
        if not isinstance(producer, Unary) or graph.types[name].quant is not None:
            break
        name, expression = producer.x, substitute(expression, producer.expression)
    return found


def _finished(expression: Expression, op: Any) -> Expression:
    """The expression with what the operator does to its result."""
    if isinstance(op, Sum) and op.gain != 1:
        expression = ("mul", expression, ("const", op.gain))
    if isinstance(op, Extremum):
        return expression
    if op.low is not None:
        expression = ("max", expression, ("const", op.low))
    if op.high is not None:
        expression = ("min", expression, ("const", op.high))
    return expression
