"""BatchNormalization: an affine function per channel; a pass folds it into layers (R12)."""

import numpy as np

from toolchain.ir import Builder, Node, Unsupported, imports
from toolchain.ops.depthwise import emit_affine


@imports("BatchNormalization")
def import_batch_norm(node: Node, b: Builder) -> None:
    """gain = scale / sqrt(var + epsilon), bias = B - mean * gain, along axis 1."""
    if node.attribute("training_mode", 0) or sum(1 for y in node.outputs if y) > 1:
        raise Unsupported("BatchNormalization in training mode", "export the model in eval mode")
    if not node.attribute("spatial", 1):
        raise Unsupported("BatchNormalization with spatial = 0", "one value per channel only")
    names = ("scale", "B", "mean", "var")
    scale, shift, mean, var = (
        b.required(node, 1 + i, f"the {name}").astype(np.float64) for i, name in enumerate(names)
    )
    gain = scale / np.sqrt(var + node.attribute("epsilon", 1e-5))
    emit_affine(node, b, node.input(0), node.outputs[0], 1, gain, shift - mean * gain)
