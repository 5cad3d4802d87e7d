"""Split: consecutive parts along one axis."""

import numpy as np

from toolchain.ir import Builder, Node, Unsupported, imports
from toolchain.ops._axes import axis_of
from toolchain.ops.take import emit_take


@imports("Split")
def import_split(node: Node, b: Builder) -> None:
    """Any axis; sizes as attribute, constant input, num_outputs, or equal parts."""
    shape = b.shape(node.input(0))
    axis = axis_of(node.attribute("axis", 0), len(shape))
    parts = _parts(node, b, shape[axis])
    if len(parts) != len(node.outputs) or sum(parts) != shape[axis] or min(parts) < 1:
        raise Unsupported(
            f"parts {parts} of axis {axis} of {shape} for {len(node.outputs)} outputs"
        )
    start = 0
    for part, y in zip(parts, node.outputs, strict=True):
        if y:
            emit_take(b, node, node.input(0), y, {axis: range(start, start + part)})
        start += part


def _parts(node: Node, b: Builder, total: int) -> list[int]:
    sizes = node.attribute("split")
    if sizes is None and node.input(1):
        sizes = b.required(node, 1, "the list of sizes")
    if sizes is not None:
        return [int(n) for n in np.ravel(sizes)]
    count = int(node.attribute("num_outputs", len(node.outputs)))
    if count < 1:
        raise Unsupported(f"{count} outputs")
    if "num_outputs" not in node.attributes and total % count:
        raise Unsupported(f"{total} cells do not split into {count} equal parts")
    each = -(-total // count)
    return [each] * (count - 1) + [total - each * (count - 1)]
