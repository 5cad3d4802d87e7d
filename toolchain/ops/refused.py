"""Operators that are known and refused, each with what to do instead."""

from toolchain.ir import Builder, Node, Unsupported, imports

_HINTS = {
    "Hardmax": "use ArgMax, or take the largest score outside of the model",
    "ReduceProd": "products of many int8 values keep no precision",
    "ReduceLogSum": "use ReduceSum and Log",
    "ReduceLogSumExp": "use LogSoftmax, or Softmax and Log",
    "GlobalLpPool": "use GlobalAveragePool or GlobalMaxPool",
    "LpPool": "use AveragePool or MaxPool",
}


REFUSED = frozenset(_HINTS)
"""Operators that no shape or attribute makes possible."""


@imports(*_HINTS)
def refuse(node: Node, b: Builder) -> None:  # noqa: ARG001 - the contract of importers
    """Refused, with a hint; results that only feed outputs of integers are left out before."""
    raise Unsupported("this operator is not supported", _HINTS[node.op_type])
