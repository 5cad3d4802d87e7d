"""Random integer networks with dead channels, built operator by operator."""

from typing import Any

import numpy as np

from toolchain.ir import Array, DType, Graph, Op, Quant, Stage, TensorType, verify
from toolchain.ops._windows import Window
from toolchain.ops.add import Add
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.concat import Concat
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.max_pool import MaxPool
from toolchain.ops.reshape import Reshape


class Net:
    """An integer graph that grows; every method returns the name of a new tensor.

    Args:
        rng: Decides weights, scales and zero points.
        dead: Share of output channels without weights, and of input channels nobody weighs.
    """

    def __init__(self, rng: np.random.Generator, dead: float = 0.4) -> None:
        self.rng, self.dead = rng, dead
        self.ops: list[Op] = []
        self.types: dict[str, TensorType] = {}
        self.constants: dict[str, Array] = {}

    def input(self, *shape: int) -> str:
        self.types["x"] = TensorType(shape, DType.INT8, Quant((0.05,), 3))
        return "x"

    def quant(self, zero: int | None = None) -> Quant:
        zero_point = int(self.rng.integers(-128, 60)) if zero is None else zero
        return Quant((float(np.float32(self.rng.uniform(0.02, 0.2))),), zero_point)

    def emit(self, kind: type[Op], inputs: tuple[str, ...], quant: Quant, *rest: Any) -> str:
        y = f"t{len(self.ops)}"
        op = kind(y, inputs, (y,), *rest)
        (shape,) = op.infer(self.types)
        self.types[y] = TensorType(shape, DType.INT8, quant)
        self.ops.append(op)
        return y

    def weights(
        self, shape: tuple[int, ...], axis: int, bias: Array | None = None
    ) -> tuple[str, str]:
        """Filter with zeroed rows and columns, and bias; one scale per channel, or one for all."""
        w = self.rng.integers(-127, 128, shape).astype(np.int8)
        rows = np.moveaxis(w, axis, 0)
        rows[self.rng.random(len(rows)) < self.dead] = 0
        if axis == 0:
            w[..., self.rng.random(shape[-1]) < self.dead] = 0
        count = shape[axis]
        if bias is None:
            bias = self.rng.integers(-3000, 3000, count)
        name, reach = (
            f"w{len(self.ops)}",
            2e4 * max(np.abs(rows).reshape(count, -1).sum(1).max(), 1),
        )
        one = self.rng.random() < 0.3
        scales = self.rng.uniform(50, 200, 1 if one else count) / np.sqrt(reach) / 50
        quant = Quant(tuple(float(s) for s in np.resize(scales, count)), 0, axis)
        self.types[name] = TensorType(shape, DType.INT8, quant)
        self.types[f"{name}b"] = TensorType((count,), DType.INT32)
        self.constants |= {name: w, f"{name}b": bias.astype(np.int32)}
        return name, f"{name}b"

    def bounds(self) -> tuple[float | None, float | None]:
        choices: list[tuple[float | None, float | None]] = [(None, None), (0.0, None), (0.0, 3.0)]
        return choices[int(self.rng.integers(3))]

    def conv(self, x: str, o: int, k: int = 1, pads: bool = False, **given: Any) -> str:
        names = self.weights((o, k, k, self.types[x].shape[3]), 0, given.get("bias"))
        window = Window((k, k), (1, 1), (k // 2,) * 4 if pads else (0, 0, 0, 0))
        quant = self.quant(given.get("zero"))
        return self.emit(Conv2D, (x, *names), quant, window, *given.get("bounds", self.bounds()))

    def depthwise(self, x: str, times: int = 1, k: int = 3, pads: bool = True) -> str:
        names = self.weights((1, k, k, self.types[x].shape[3] * times), 3)
        window = Window((k, k), (1, 1), (k // 2,) * 4 if pads else (0, 0, 0, 0))
        return self.emit(DepthwiseConv2D, (x, *names), self.quant(), window, *self.bounds())

    def dense(self, x: str, o: int) -> str:
        names = self.weights((o, self.types[x].shape[-1]), 0)
        return self.emit(FullyConnected, (x, *names), self.quant(), *self.bounds())

    def pool(self, x: str, kind: type[Op] = MaxPool, size: int = 2) -> str:
        keeps = kind is MaxPool or self.rng.random() < 0.5
        window = Window((size, size), (1, 1), (size - 1, size - 1, 0, 0))
        rest = (window,) if kind is MaxPool else (window, bool(self.rng.random() < 0.5))
        return self.emit(kind, (x,), self.types[x].q if keeps else self.quant(), *rest)

    def average(self, x: str) -> str:
        return self.pool(x, AveragePool)

    def add(self, a: str, b: str) -> str:
        return self.emit(Add, (a, b), self.quant())

    def concat(self, a: str, b: str) -> str:
        """Along the channels; both sides are given one scale."""
        self.types[b] = TensorType(self.types[b].shape, DType.INT8, self.types[a].q)
        return self.emit(Concat, (a, b), self.types[a].q, 3)

    def flat(self, x: str) -> str:
        return self.emit(Reshape, (x,), self.types[x].q, (1, self.types[x].elements))

    def graph(self, *outputs: str) -> Graph:
        types = dict(self.types)
        made = Graph("net", tuple(self.ops), types, self.constants, ("x",), outputs)
        return verify(made.with_ops(made.ops), Stage.QUANTIZED)
