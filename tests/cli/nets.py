"""Small float nets with names of the test's choice, and data for them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from toolchain.ir import Array

SIDE = 8
CLASSES = 3


def save(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Sequence[int | str]],
    outputs: dict[str, Sequence[int | str]],
    constants: dict[str, Array],
    opset: int = 13,
) -> Path:
    """Write a model; returns its path."""
    ports = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in group.items()]
        for group in (inputs, outputs)
    ]
    stored = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(list(nodes), "net", *ports, stored)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path
    )
    return path


def classifier(
    path: Path,
    source: str = "image",
    result: str = "scores",
    between: str = "hidden",
    node: str = "layer",
    seed: int = 1,
) -> Path:
    """Convolution, ReLU, pooling, dense layer, softmax on [1, 1, 8, 8].

    Args:
        path: Where to write it.
        source: Name of the input.
        result: Name of the output.
        between: How the names of the other tensors start.
        node: How the names of the nodes start.
        seed: Of the weights.
    """
    rng = np.random.default_rng(seed)
    weights = {
        f"{between}w": rng.standard_normal((4, 1, 3, 3)).astype(np.float32),
        f"{between}b": rng.standard_normal(4).astype(np.float32),
        f"{between}v": rng.standard_normal((64, CLASSES)).astype(np.float32) / 8,
        f"{between}c": rng.standard_normal(CLASSES).astype(np.float32),
    }
    conv, relu, pool, flat, dense = (f"{between}{i}" for i in range(5))
    nodes = [
        helper.make_node(
            "Conv", [source, f"{between}w", f"{between}b"], [conv], f"{node}0", pads=[1] * 4
        ),
        helper.make_node("Relu", [conv], [relu], f"{node}1"),
        helper.make_node(
            "MaxPool", [relu], [pool], f"{node}2", kernel_shape=[2, 2], strides=[2, 2]
        ),
        helper.make_node("Flatten", [pool], [flat], f"{node}3"),
        helper.make_node("Gemm", [flat, f"{between}v", f"{between}c"], [dense], f"{node}4"),
        helper.make_node("Softmax", [dense], [result], f"{node}5", axis=1),
    ]
    return save(path, nodes, {source: (1, 1, SIDE, SIDE)}, {result: (1, CLASSES)}, weights)


def images(count: int = 24, seed: int = 2) -> Array:
    """Samples for the classifier, float32 [count, 1, 8, 8]."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, 1, SIDE, SIDE)).astype(np.float32)
