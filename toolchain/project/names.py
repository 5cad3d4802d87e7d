"""Names of layers that tell them apart, also where one ONNX node became several."""

from collections import Counter
from collections.abc import Sequence

from toolchain.ir import Op


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
