"""ONNX nets as PyTorch exports them, channels first, of random shape."""

from pathlib import Path

import numpy as np
from onnx import helper

from tests.cli.nets import save
from toolchain.ir import Array


def channels_first(folder: Path, rng: np.random.Generator, channels: int) -> tuple[Path, Path]:
    """Write net.onnx with an input x [1, channels, H, W], and data.npz with 8 samples of it.

    A convolution, a depthwise one, a pointwise one that is added to its input, a mean, a dense
    layer, Softmax.
    """
    height, width = (int(n) for n in rng.integers(6, 15, 2))
    inner, stride = int(rng.integers(2, 9)), int(rng.integers(1, 3))

    def weights(*shape: int) -> Array:
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    constants = {
        "w0": weights(inner, channels, 3, 3),
        "w1": weights(inner, 1, 3, 3),
        "w2": weights(inner, inner, 1, 1),
        "w3": weights(inner, 5),
    }
    conv, pads = "Conv", [1, 1, 1, 1]
    nodes = [
        helper.make_node(conv, ["x", "w0"], ["a"], "conv", pads=pads, strides=[stride, 1]),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node(conv, ["b", "w1"], ["c"], "depthwise", pads=pads, group=inner),
        helper.make_node(conv, ["c", "w2"], ["d"], "pointwise"),
        helper.make_node("Add", ["b", "d"], ["e"], "add"),
        helper.make_node("GlobalAveragePool", ["e"], ["f"], "mean"),
        helper.make_node("Flatten", ["f"], ["g"], "flatten"),
        helper.make_node("MatMul", ["g", "w3"], ["h"], "dense"),
        helper.make_node("Softmax", ["h"], ["y"], "softmax"),
    ]
    shape = (channels, height, width)
    model = save(folder / "net.onnx", nodes, {"x": (1, *shape)}, {"y": (1, 5)}, constants)
    data = folder / "data.npz"
    np.savez(data, x=rng.standard_normal((8, *shape)).astype(np.float32))
    return model, data
