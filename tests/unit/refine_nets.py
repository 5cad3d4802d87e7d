"""Small float graphs with chains, a residual sum and a head, and samples for them."""

import numpy as np

from toolchain.ir import Graph, Origin, TensorType
from toolchain.ir.batch import simulate_batch
from toolchain.ir.fixedpoint import dequantize
from toolchain.ir.fixedpoint import quantize as to_codes
from toolchain.ops._windows import Window
from toolchain.ops.add import Add
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.reshape import Reshape
from toolchain.quant.trial import float_values


def chain_net(rng, *, high=None, bias=0.0, padded=True, activation=True):
    """conv, depthwise, conv, residual sum, pool, dense; channels of very different sizes."""
    low = 0.0 if activation else None
    pads = (1, 1, 1, 1) if padded else (0, 0, 0, 0)
    three, one = Window((3, 3), (1, 1), pads), Window((1, 1))
    size = 6 if padded else 4
    spread = 10.0 ** rng.uniform(-1.5, 0.5, 8)
    constants = {
        "w0": rng.normal(size=(8, 1, 1, 3)) * spread[:, None, None, None],
        "b0": (rng.normal(size=8) + bias) * spread,
        "w1": rng.normal(size=(1, 3, 3, 8)) * 10.0 ** rng.uniform(-1, 0.5, 8),
        "b1": rng.normal(size=8) + bias,
        "w2": rng.normal(size=(8, 1, 1, 8)),
        "b2": rng.normal(size=8),
        "w3": rng.normal(size=(8, 1, 1, 8)),
        "b3": rng.normal(size=8),
        "w4": rng.normal(size=(5, 8)),
        "b4": rng.normal(size=5),
    }
    constants = {n: v.astype(np.float32) for n, v in constants.items()}
    ops = (
        Conv2D("first", ("x", "w0", "b0"), ("t0",), one, low, high),
        DepthwiseConv2D("depthwise", ("t0", "w1", "b1"), ("t1",), three, low, high),
        Conv2D("second", ("t1", "w2", "b2"), ("t2",), one, low, None),
        Conv2D("third", ("t2", "w3", "b3"), ("t3",), one),
        Add("sum", ("t2", "t3"), ("t4",), low, None),
        AveragePool("pool", ("t4",), ("t5",), Window((size, size))),
        Reshape("flat", ("t5",), ("t6",), (1, 8)),
        FullyConnected("dense", ("t6", "w4", "b4"), ("y",)),
    )
    types = {"x": TensorType((1, 6, 6, 3))}
    types |= {n: TensorType(v.shape) for n, v in constants.items()}
    for op in ops:
        types |= {y: TensorType(s) for y, s in zip(op.outputs, op.infer(types), strict=True)}
    names = ("x", *(op.y for op in ops))
    origins = {n: Origin(n) for n in names}
    return Graph("chain", ops, types, constants, ("x",), ("y",), origins)


def samples_of(graph, rng, count):
    """Normal inputs [N, *shape]."""
    shapes = {x: graph.types[x].shape for x in graph.inputs}
    return {x: rng.normal(size=(count, *s)).astype(np.float32) for x, s in shapes.items()}


def noise(graph, integer, samples):
    """Errors of the output [N, channels] in steps, the noise of the input left out of the mean."""
    codes = {x: to_codes(v, integer.types[x].q) for x, v in samples.items()}
    found = simulate_batch(integer, codes)
    (y,) = graph.outputs
    expected = float_values(graph, samples, [y])[y]
    wrong = dequantize(found[y], integer.types[y].q) - expected
    return wrong.reshape(len(wrong), -1) / integer.types[y].q.scale
