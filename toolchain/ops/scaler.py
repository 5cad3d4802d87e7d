"""Scaler of ai.onnx.ml: what scikit-learn's StandardScaler and its kind become (R12)."""

import numpy as np

from toolchain.ir import Builder, Node, Unsupported, imports
from toolchain.ops.depthwise import emit_affine


@imports("ai.onnx.ml.Scaler")
def import_scaler(node: Node, b: Builder) -> None:
    """(x - offset) * scale, one value for all features or one per feature of [N, C]."""
    shape = b.shape(node.input(0))
    axis, values = len(shape) - 1, []
    for name in ("offset", "scale"):
        value = np.asarray(node.attribute(name, ()), np.float64)
        if value.size == 0:
            raise Unsupported(f"Scaler without {name}", "export the model again")
        if value.size not in (1, shape[axis]):
            raise Unsupported(f"{value.size} values for {shape[axis]} features")
        if value.size > 1 and len(shape) > 2:
            raise Unsupported(
                f"Scaler with a value per feature on a tensor of rank {len(shape)}",
                "scale a table of [N, features]",
            )
        values.append(np.broadcast_to(value, shape[axis]) if value.size == 1 else value)
    offset, gain = values
    emit_affine(node, b, node.input(0), node.outputs[0], axis, gain, -offset * gain)
