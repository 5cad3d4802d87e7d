"""The scales a quantised model states reach every tensor that must share them (R13)."""

from dataclasses import replace

from toolchain.ir import Graph, Op, SameAs
from toolchain.ops.unary import Unary
from toolchain.passes.edit import Edit, everywhere, fresh, same_origin


def spread_pins(graph: Graph) -> Graph:
    """Carry stated scales through operators whose output has the scale of their input.

    1. Forwards and backwards through reshapes, transposes, pads, maxima.
    2. Where the two sides state different scales, a table requantises in between.
    """
    return everywhere(_separate, everywhere(_spread, graph))


def _source(graph: Graph, op: Op) -> str | None:
    rule = op.quant_rule(graph.types)
    if not isinstance(rule, SameAs) or len(op.outputs) != 1:
        return None
    x = op.inputs[rule.index]
    return None if graph.is_constant(x) else x


def _spread(graph: Graph, op: Op) -> Edit | None:
    x = _source(graph, op)
    if x is None:
        return None
    before, after = graph.types[x].quant, graph.types[op.y].quant
    if (before is None) == (after is None):
        return None
    target, quant = (op.y, before) if after is None else (x, after)
    return Edit([op], [op], types={target: replace(graph.types[target], quant=quant)})


def _separate(graph: Graph, op: Op) -> Edit | None:
    x = _source(graph, op)
    if x is None or graph.types[x].quant == graph.types[op.y].quant:
        return None
    between = fresh(graph, f"{op.y}.as")
    kind = replace(graph.types[x], quant=graph.types[op.y].quant)
    return Edit(
        [op],
        [Unary(op.name, (x,), (between,), ("x",)), op.renamed({x: between})],
        types={between: kind},
        origins=same_origin(graph, x, between),
    )
