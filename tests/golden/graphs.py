"""Small float models, one per kind of template, with data; every value is exact in binary.

Weights are small multiples of 1/64 made by a recurrence, so that the golden files depend on
neither a random generator nor the rounding of a numeric library.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from toolchain.ir import Array

SAMPLES = 8


def numbers(seed: int, *shape: int) -> Array:
    """Multiples of 1/64 in [-1, 1], float32."""
    count, state, values = int(np.prod(shape)), seed * 7919 + 17, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        values.append((state >> 16) % 129 - 64)
    return (np.array(values, np.float32) / 64).reshape(shape)


def conv_pool_dense() -> tuple[list[NodeProto], dict[str, Array], tuple[int, ...], str]:
    """Convolution with ReLU, max and average pooling, depthwise, dense, softmax."""
    constants = {
        "w0": numbers(1, 4, 2, 3, 3),
        "b0": numbers(2, 4),
        "w1": numbers(3, 4, 1, 3, 3),
        "b1": numbers(4, 4),
        "w2": numbers(5, 16, 5),
        "b2": numbers(6, 5),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "stem", pads=[1] * 4),
        helper.make_node("Relu", ["c0"], ["r0"], "stem relu"),
        helper.make_node(
            "MaxPool", ["r0"], ["p0"], "pool", kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4
        ),
        helper.make_node(
            "Conv", ["p0", "w1", "b1"], ["c1"], "depthwise", group=4, auto_pad="SAME_UPPER"
        ),
        helper.make_node("Clip", ["c1", "zero", "six"], ["r1"], "relu6"),
        helper.make_node(
            "AveragePool", ["r1"], ["a"], "average", kernel_shape=[2, 2], strides=[2, 2]
        ),
        helper.make_node("Flatten", ["a"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w2", "b2"], ["d"], "dense"),
        helper.make_node("Softmax", ["d"], ["y"], "softmax", axis=1),
    ]
    constants |= {"zero": np.array(0, np.float32), "six": np.array(6, np.float32)}
    return nodes, constants, (1, 2, 8, 8), "y"


def residual_1d() -> tuple[list[NodeProto], dict[str, Array], tuple[int, ...], str]:
    """1-D convolutions with dilation, a residual addition, a mean over time."""
    constants = {
        "w0": numbers(11, 6, 3, 3),
        "b0": numbers(12, 6),
        "w1": numbers(13, 6, 6, 3),
        "b1": numbers(14, 6),
        "w2": numbers(15, 6, 4),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "first", pads=[1, 1]),
        helper.make_node("Relu", ["c0"], ["r0"], "first relu"),
        helper.make_node("Conv", ["r0", "w1", "b1"], ["c1"], "second", pads=[2, 2], dilations=[2]),
        helper.make_node("Add", ["r0", "c1"], ["s"], "residual"),
        helper.make_node("Relu", ["s"], ["r1"], "residual relu"),
        helper.make_node("ReduceMean", ["r1"], ["m"], "mean", axes=[2], keepdims=0),
        helper.make_node("MatMul", ["m", "w2"], ["y"], "dense"),
    ]
    return nodes, constants, (1, 3, 12), "y"


def concat_unary() -> tuple[list[NodeProto], dict[str, Array], tuple[int, ...], str]:
    """Two branches of different functions, joined, multiplied, a log softmax."""
    constants = {"w": numbers(21, 16, 6), "b": numbers(22, 6), "g": numbers(23, 6, 6)}
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["s"], "sigmoid"),
        helper.make_node("Tanh", ["x"], ["t"], "tanh"),
        helper.make_node("Concat", ["s", "t"], ["c"], "join", axis=1),
        helper.make_node("Gemm", ["c", "w", "b"], ["d"], "dense"),
        helper.make_node("Gemm", ["d", "g"], ["e"], "gate"),
        helper.make_node("Mul", ["d", "e"], ["m"], "product"),
        helper.make_node("Sub", ["m", "d"], ["n"], "difference"),
        helper.make_node("LogSoftmax", ["n"], ["y"], "log softmax", axis=1),
    ]
    return nodes, constants, (1, 8), "y"


def pad_transpose() -> tuple[list[NodeProto], dict[str, Array], tuple[int, ...], str]:
    """Padding that no convolution takes in, and a transpose that nothing cancels."""
    constants = {
        "pads": np.array([0, 0, 1, 2, 0, 0, 2, 1], np.int64),
        "value": np.array(0.5, np.float32),
    }
    nodes = [
        helper.make_node("Pad", ["x", "pads", "value"], ["p"], "pad", mode="constant"),
        helper.make_node("Tanh", ["p"], ["t"], "tanh"),
        helper.make_node("Transpose", ["t"], ["y"], "turn", perm=[0, 3, 1, 2]),
    ]
    return nodes, constants, (1, 2, 3, 4), "y"


MODELS: dict[str, Callable[[], tuple[list[NodeProto], dict[str, Array], tuple[int, ...], str]]] = {
    "conv_pool_dense": conv_pool_dense,
    "residual_1d": residual_1d,
    "concat_unary": concat_unary,
    "pad_transpose": pad_transpose,
}


def write(name: str, folder: Path) -> tuple[Path, Path]:
    """Write a model and its calibration data; returns both files."""
    nodes, constants, shape, result = MODELS[name]()
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in (result,)]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        infos,
        [numpy_helper.from_array(value, key) for key, value in constants.items()],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), folder / f"{name}.onnx")
    np.save(folder / f"{name}.npy", numbers(99, SAMPLES, *shape[1:]) * np.float32(2))
    return folder / f"{name}.onnx", folder / f"{name}.npy"
