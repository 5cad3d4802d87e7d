"""A net that int8 per tensor does not survive: unequal channels, outliers, a sigmoid head."""

from dataclasses import replace
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from toolchain.ir import Graph, Origin, TensorType
from toolchain.ops._windows import Window
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.reshape import Reshape
from toolchain.ops.unary import Unary
from toolchain.quant.trial import float_values

CHANNELS = 16
SPREAD = 300.0
TAIL = 1000.0


def hard_net(*, outliers: bool = True) -> Graph:
    """conv, depthwise, conv, depthwise, pool, dense, sigmoid over [1, 12, 12, 2].

    The channels behind the depthwise layers have ranges of 1 to SPREAD, and what reads them weighs
    them so that all matter alike. The input has a tail of TAIL times its usual size, in a channel
    that hardly matters. Half of the samples are of either class.
    """
    rng = np.random.default_rng(11)
    sizes = SPREAD ** rng.permutation(np.linspace(0, 1, CHANNELS))
    again = SPREAD ** rng.permutation(np.linspace(0, 1, CHANNELS))
    first = rng.normal(size=(CHANNELS, 3, 3, 2)) / 3
    if outliers:
        first[..., 1] *= 1e-3
    constants = {
        "w0": first * sizes[:, None, None, None],
        "b0": rng.normal(size=CHANNELS) * sizes * 0.2,
        "w1": rng.normal(size=(1, 3, 3, CHANNELS)) / 3,
        "b1": rng.normal(size=CHANNELS) * sizes * 0.2,
        "w2": rng.normal(size=(CHANNELS, 1, 1, CHANNELS)) / 4 / sizes * again[:, None, None, None],
        "b2": rng.normal(size=CHANNELS) * again * 0.2,
        "w3": rng.normal(size=(1, 3, 3, CHANNELS)) / 3,
        "b3": rng.normal(size=CHANNELS) * again * 0.2,
        "w4": rng.normal(size=(1, CHANNELS)) * 6 / again,
        "b4": np.zeros(1),
    }
    constants = {n: v.astype(np.float32) for n, v in constants.items()}
    same = Window((3, 3), (1, 1), (1, 1, 1, 1))
    half = Window((3, 3), (2, 2), (1, 1, 1, 1))
    ops = (
        Conv2D("conv0", ("x", "w0", "b0"), ("t0",), same, 0.0),
        DepthwiseConv2D("depthwise1", ("t0", "w1", "b1"), ("t1",), half, 0.0),
        Conv2D("conv2", ("t1", "w2", "b2"), ("t2",), Window((1, 1)), 0.0),
        DepthwiseConv2D("depthwise3", ("t2", "w3", "b3"), ("t3",), same, 0.0),
        AveragePool("pool", ("t3",), ("t4",), Window((6, 6))),
        Reshape("flat", ("t4",), ("t5",), (1, CHANNELS)),
        FullyConnected("dense", ("t5", "w4", "b4"), ("t6",)),
        Unary("sigmoid", ("t6",), ("y",), ("sigmoid", ("x",))),
    )
    types = {"x": TensorType((1, 12, 12, 2))}
    types |= {n: TensorType(v.shape) for n, v in constants.items()}
    for op in ops:
        types |= {y: TensorType(s) for y, s in zip(op.outputs, op.infer(types), strict=True)}
    origins = {n: Origin(n) for n in ("x", *(op.y for op in ops))}
    graph = Graph("hard", ops, types, constants, ("x",), ("y",), origins)
    seen = float_values(graph, {"x": hard_samples(200, 0, outliers=outliers)}, ["t6"])["t6"]
    gain = 2 / seen.std()
    head = {"w4": constants["w4"] * gain, "b4": np.float32(-gain * np.median(seen)).reshape(1)}
    return replace(graph, constants={**constants, **head})


def hard_samples(count: int, seed: int, *, outliers: bool = True) -> np.ndarray:
    """Inputs [count, 1, 12, 12, 2]; in one of 100 samples one value of channel 1 is an outlier."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 1, 12, 12, 2)) + rng.normal(size=(count, 1, 1, 1, 2))
    if outliers:
        for i in range(0, count, 100):
            x[i, 0, rng.integers(12), rng.integers(12), 1] = TAIL
    return x.astype(np.float32)


def hard_model(graph: Graph) -> ModelProto:
    """The same net as an ONNX file, channels first."""
    nodes, stored = [], []
    for op in graph.ops:
        kernel: dict[str, Any] = {}
        if isinstance(op, Conv2D | DepthwiseConv2D):
            kind, axes = "Conv", (0, 3, 1, 2) if isinstance(op, Conv2D) else (3, 0, 1, 2)
            groups = 1 if isinstance(op, Conv2D) else CHANNELS
            kernel = {**op.window.attributes, "group": groups}
        elif isinstance(op, AveragePool):
            kind, axes = "GlobalAveragePool", ()
        elif isinstance(op, FullyConnected):
            kind, axes, kernel = "Gemm", (0, 1), {"transB": 1}
        else:
            kind, axes = ("Flatten" if isinstance(op, Reshape) else "Sigmoid"), ()
        for name, order in zip(op.inputs[1:], (axes, (0,)), strict=False):
            stored.append(numpy_helper.from_array(graph.constants[name].transpose(order), name))
        rectified = getattr(op, "low", None) == 0.0
        y = f"{op.y}.sums" if rectified else op.y
        nodes.append(helper.make_node(kind, op.inputs, [y], op.name, **kernel))
        if rectified:
            nodes.append(helper.make_node("Relu", [y], [op.y], f"{op.name}.relu"))
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", (1, 2, 12, 12)), ("y", (1, 1)))
    ]
    made = helper.make_graph(nodes, "hard", ports[:1], ports[1:], stored)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)])
