"""Names of layers that tell them apart, also where one ONNX node became several."""

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from toolchain.errors import InputRefused
from toolchain.ir import Graph, Op


def layer_names(ops: Sequence[Op]) -> dict[str, str]:
    """Name of the layer that computes each tensor: the ONNX node's, unique among the layers.

    Layers of one node are called after their operators as well: "softmax (Transpose)", and counted
    where these are equal too: "softmax (Transpose 2)".
    """
    layers = [op for op in ops if not op.is_view]
    shared = Counter(op.name for op in layers)
    taken: set[str] = {op.name for op in layers if shared[op.name] == 1}
    names: dict[str, str] = {}
    for op in layers:
        name = op.name if shared[op.name] == 1 else _free(op, taken)
        taken.add(name)
        names.update(dict.fromkeys(op.outputs, name))
    return names


def _free(op: Op, taken: set[str]) -> str:
    kind, count = type(op).__name__, 1
    name = f"{op.name} ({kind})"
    while name in taken:
        count += 1
        name = f"{op.name} ({kind} {count})"
    return name


def matching(graph: Graph, patterns: Sequence[str], stage: str) -> tuple[str, ...]:
    """Layers that the patterns name, in order of execution.

    Args:
        graph: The graph.
        patterns: Names, in which * and ? may be used.
        stage: Who asks, for messages.

    Raises:
        InputRefused: A pattern names no layer.
    """
    names = list(dict.fromkeys(layer_names(graph.ops).values()))
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in names):
            raise InputRefused(
                stage,
                pattern or "the empty name",
                "names no layer",
                f"* and ? may be used; the layers are {', '.join(names)}",
            )
    return tuple(n for n in names if any(_matches(n, pattern) for pattern in patterns))


def layers_named(graph: Graph, patterns: Sequence[str], stage: str) -> frozenset[str]:
    """Tensors that the layers write which the patterns name; as `matching`."""
    chosen = set(matching(graph, patterns, stage)) if patterns else set()
    return frozenset(y for y, name in layer_names(graph.ops).items() if name in chosen)


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)
