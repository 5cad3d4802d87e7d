"""How often an inference reads and writes each buffer: an estimate, to rank them."""

from collections.abc import Mapping

from toolchain.ir import Graph
from toolchain.plan.lifetimes import view_roots
from toolchain.select import Choice

Key = tuple[str, bool]
"""Name of a buffer, and whether it is scratch memory."""


def accesses(graph: Graph, choices: Mapping[str, Choice]) -> dict[Key, int]:
    """Estimated number of bytes read from and written to every buffer in an inference.

    1. An operator writes every output once.
    2. It reads every input once, and for every product one value more: of its scratch memory where
       the kernel has some, which then holds a copy of the values, else of its first input.
    3. Scratch memory is written once.

    Args:
        graph: Operators in the order they run.
        choices: Kernel of every operator that computes, by its first output.
    """
    roots = view_roots(graph)
    found: dict[Key, int] = {}

    def count(name: str, number: int, *, scratch: bool = False) -> None:
        key = (name, True) if scratch else (roots[name], False)
        found[key] = found.get(key, 0) + number

    for op in graph.ops:
        if op.is_view:
            continue
        choice = choices.get(op.y)
        for name in dict.fromkeys((*op.inputs, *op.outputs)):
            count(name, graph.types[name].nbytes)
        products = op.macs(graph.types)
        if choice is not None and choice.scratch:
            count(op.y, choice.scratch + products, scratch=True)
        elif op.inputs:
            count(op.inputs[0], products)
    return found
