"""Tensors keep to the ONNX value they are said to have, whatever the rewrites did between."""

import numpy as np

from tests.unit.import_oracle import agree, model, node, normal


def test_a_function_that_sinks_below_a_reshape_of_a_transpose():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 2, 3, 1]), node("Reshape", "t s", "r"),
        node("Relu", "r", "a"), node("MaxPool", "a", kernel_shape=[1, 1]),
    ]  # fmt: skip
    agree(model(*nodes, x=(1, 2, 3, 4), s=np.array([1, 6, 4, 1])))


def test_a_function_that_sinks_below_a_reshape_to_another_rank():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 2, 3, 1]), node("Reshape", "t s", "r"),
        node("Sigmoid", "r", "a"), node("Mul", "a r", "b"), node("MatMul", "b w"),
    ]  # fmt: skip
    agree(model(*nodes, x=(1, 2, 3, 4), s=np.array([1, 4, 6]), w=normal(6, 2)))


def test_a_scaling_folded_forward_through_flatten():
    """The flattened tensor was left with the name, and so the values, of the scaled one."""
    nodes = [node("Add", "x x", "d"), node("Flatten", "d", "f"), node("Gemm", "f w", transB=1)]
    agree(model(*nodes, x=(1, 2, 2, 2), w=normal(4, 8)))


def test_a_batch_norm_folded_forward_through_flatten():
    nodes = [
        node("BatchNormalization", "x s o m v", "n"), node("Flatten", "n", "f"),
        node("Gemm", "f w"),
    ]  # fmt: skip
    constants = {n: np.abs(normal(3, seed=i)) + 0.2 for i, n in enumerate("somv")}
    agree(model(*nodes, x=(1, 3, 4, 5), w=normal(60, 4), **constants))
