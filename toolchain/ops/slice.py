"""Slice: a range of cells along some axes."""

import numpy as np

from toolchain.ir import Builder, Node, Unsupported, imports
from toolchain.ops._axes import axis_of
from toolchain.ops.take import emit_take


@imports("Slice")
def import_slice(node: Node, b: Builder) -> None:
    """Constant starts, ends, axes and steps (also negative); attributes until opset 9."""
    shape = b.shape(node.input(0))
    if node.opset < 10:
        starts, ends = (list(node.attribute(name)) for name in ("starts", "ends"))
        axes = list(node.attribute("axes", range(len(starts))))
        steps = [1] * len(starts)
    else:
        starts, ends = (
            _integers(node, b, index, what) for index, what in ((1, "starts"), (2, "ends"))
        )
        axes = _integers(node, b, 3, "axes") if node.input(3) else list(range(len(starts)))
        steps = _integers(node, b, 4, "steps") if node.input(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Unsupported("starts, ends, axes and steps of different lengths")
    chosen = {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == 0:
            raise Unsupported("a step of 0")
        where = axis_of(axis, len(shape))
        if where in chosen:
            raise Unsupported(f"axis {where} is given twice")
        chosen[where] = range(shape[where])[start:end:step]
    emit_take(b, node, node.input(0), node.outputs[0], chosen)


def _integers(node: Node, b: Builder, index: int, what: str) -> list[int]:
    return [int(v) for v in np.ravel(b.required(node, index, f"the list of {what}"))]
