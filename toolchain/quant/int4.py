"""Which layers can have int4 weights, and a graph in which some have."""

from collections.abc import Collection

from toolchain.ir import Graph, Op
from toolchain.ops.int4 import int4_form


def with_int4(graph: Graph, layers: Collection[str]) -> Graph:
    """The float graph with the int4 forms of some operators.

    Args:
        graph: Float graph, every operator with int8 weights.
        layers: Tensors that those operators write; others among them have no such form.
    """
    ops = [(int4_form(op) or op) if op.y in layers else op for op in graph.ops]
    return graph.with_ops(ops) if layers else graph


def states_weights(graph: Graph, op: Op) -> bool:
    """Whether the model came with integer weights of a layer, which it keeps."""
    return any(graph.types[n].quant is not None for n in op.inputs if n in graph.constants)


def int4_candidates(graph: Graph) -> list[Op]:
    """Layers of a float graph that can have int4 weights, those with the most weights first."""
    found = [op for op in graph.ops if int4_form(op) and not states_weights(graph, op)]
    return sorted(found, key=lambda op: -weights_of(graph, op))


def weights_of(graph: Graph, op: Op) -> int:
    """Number of weights of a layer; int4 ones save half a byte each."""
    return graph.types[op.inputs[1]].elements
