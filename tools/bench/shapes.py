"""The sites on which kernels are measured: layers like those of small networks, and odd ones."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

import toolchain.ops  # noqa: F401 - registers the operators
from toolchain.ir import Array, Example, Graph, Op, Origin, Quant, TensorType
from toolchain.ir.execute import evaluate
from toolchain.ops._windows import Window
from toolchain.ops.add import Add
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.int4 import int4_form
from toolchain.ops.max_pool import MaxPool
from toolchain.ops.mul import Mul
from toolchain.ops.softmax import Softmax
from toolchain.ops.sub import Sub
from toolchain.ops.wide.elementwise import Int16Add
from toolchain.ops.wide.layers import Int16Conv2D, Int16DepthwiseConv2D, Int16FullyConnected
from toolchain.quant.quantize import quantize
from toolchain.quant.ranges import Range

Maker = Callable[[np.random.Generator], Iterator["Instance"]]

_GRID = 0.02
_LARGE = np.float32(2.0**15)
_EXAMPLES = 8
"""Random instances of an operator that has no shapes of its own here."""

# (height, width, input channels, output channels, kernel, stride, top and left, bottom and right)
_CONVOLUTIONS = (
    (2, 2, 4, 4, (1, 1), 1, 0, 0),
    (4, 3, 4, 8, (3, 3), 1, 1, 1),
    (12, 5, 64, 64, (1, 1), 1, 0, 0),
    (12, 12, 8, 16, (1, 1), 1, 0, 0),
    (6, 6, 32, 64, (1, 1), 1, 0, 0),
    (3, 3, 128, 128, (1, 1), 1, 0, 0),
    (16, 16, 16, 32, (1, 1), 2, 0, 0),
    (7, 5, 11, 13, (1, 1), 1, 0, 0),
    (5, 5, 32, 32, (1, 1), 1, 0, 0),
    (7, 7, 64, 24, (1, 1), 1, 0, 0),
    (6, 5, 96, 48, (1, 1), 1, 0, 0),
    (2, 2, 32, 16, (1, 1), 1, 0, 0),
    (1, 1, 256, 64, (1, 1), 1, 0, 0),
    (1, 1, 64, 10, (1, 1), 1, 0, 0),
    (1, 1, 33, 12, (1, 1), 1, 0, 0),
    (24, 24, 3, 8, (3, 3), 2, 0, 1),
    (16, 16, 3, 16, (3, 3), 1, 1, 1),
    (24, 10, 1, 64, (10, 4), 2, 4, 5),
    (12, 12, 16, 16, (3, 3), 1, 1, 1),
    (6, 6, 32, 32, (3, 3), 1, 1, 1),
    (4, 4, 64, 64, (3, 3), 1, 1, 1),
    (9, 7, 5, 7, (3, 3), 1, 0, 0),
    (8, 7, 16, 32, (3, 3), 1, 1, 1),
    (5, 5, 32, 16, (3, 3), 1, 1, 1),
    (10, 9, 8, 12, (3, 3), 1, 1, 1),
    (2, 2, 16, 16, (3, 3), 1, 1, 1),
    (8, 9, 24, 20, (5, 5), 2, 2, 2),
)
_DEPTHWISE = (
    (3, 3, 4, 1, (3, 3), 1, 1, 1),
    (25, 5, 64, 1, (3, 3), 1, 1, 1),
    (24, 24, 8, 1, (3, 3), 1, 1, 1),
    (24, 24, 16, 1, (3, 3), 2, 0, 1),
    (12, 12, 32, 1, (3, 3), 1, 1, 1),
    (12, 12, 32, 1, (3, 3), 2, 0, 1),
    (9, 9, 27, 1, (3, 3), 2, 1, 1),
    (6, 6, 64, 1, (3, 3), 2, 0, 1),
    (6, 6, 64, 1, (3, 3), 1, 1, 1),
    (3, 3, 256, 1, (3, 3), 1, 1, 1),
    (9, 8, 13, 1, (3, 3), 1, 0, 0),
    (12, 12, 24, 1, (5, 5), 1, 2, 2),
    (14, 14, 16, 1, (5, 5), 2, 2, 2),
    (10, 9, 12, 1, (4, 2), 1, 1, 0),
    (8, 8, 8, 2, (3, 3), 1, 1, 1),
    (8, 8, 32, 1, (1, 1), 1, 0, 0),
    (40, 1, 32, 1, (7, 1), 1, 0, 0),
)
# (rows, width, channels)
_ROWS = ((3, 5, 64), (3, 48, 8), (3, 24, 32), (3, 12, 64), (2, 6, 20), (3, 9, 13), (3, 3, 24))
# (rows, depth, channels)
_DENSE = (
    (1, 640, 128), (1, 128, 128), (1, 128, 8), (1, 8, 128), (1, 64, 12), (1, 256, 2), (1, 99, 33),
    (4, 32, 48), (1, 5, 3),
)  # fmt: skip
_SAME = ((1, 16, 16, 16), (1, 8, 8, 64), (1, 12, 12, 32), (1, 5, 7, 9), (1, 1, 2, 4))
_BROADCAST = (
    ((1, 12, 12, 16), (1, 1, 1, 16)), ((1, 8, 8, 32), (1, 8, 8, 1)), ((1, 6, 5, 7), (1, 6, 1, 7)),
    ((1, 4, 1, 64), (1, 1, 9, 64)), ((1, 2, 2, 4), (1, 1, 2, 4)),
)  # fmt: skip
# (height, width, channels, kernel, stride)
_POOLS = (
    (25, 5, 64, (25, 5), 1), (3, 3, 256, (3, 3), 1), (8, 8, 64, (8, 8), 1), (16, 16, 16, (2, 2), 2),
    (12, 12, 32, (3, 3), 2), (9, 9, 13, (3, 3), 1),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Instance:
    """An operator with its shapes and constants.

    Args:
        example: The operator.
        given: Quantisation that tensors come with, by name.
    """

    example: Example
    given: dict[str, Quant]

    def graph(self, rng: np.random.Generator) -> Graph:
        """The int8 graph, calibrated on one random sample."""
        example, op = self.example, self.example.op
        types = {n: TensorType(s, quant=self.given.get(n)) for n, s in example.shapes.items()}
        for name, value in example.constants.items():
            types[name] = TensorType(value.shape, quant=self.given.get(name))
        for y, shape in zip(op.outputs, op.infer(types), strict=True):
            types[y] = TensorType(shape, quant=self.given.get(y))
        names = (*example.shapes, *op.outputs)
        origins = {n: Origin(n) for n in names}
        inputs = tuple(example.shapes)
        graph = Graph(op.name, (op,), types, example.constants, inputs, op.outputs, origins)
        sample = {x: rng.standard_normal(s).astype(np.float32) for x, s in example.shapes.items()}
        values = evaluate(graph, sample)
        return quantize(graph, {n: _range(values[n]) for n in names}).graph


def _range(values: Array) -> Range:
    return Range(min(float(values.min()), 0.0), max(float(values.max()), 0.0) + 1e-6)


def instances() -> Iterator[Instance]:
    """Every operator with several kernels, on shapes of its own or on random examples."""
    rng = np.random.default_rng(11)
    for name, operator in sorted(Op.registry.items()):
        if len(operator.kernels) < 2 or name in _INT16_SHAPES:
            continue
        if name in _SHAPES:
            yield from _SHAPES[name](rng)
            continue
        for seed in range(_EXAMPLES):
            yield Instance(operator.example(np.random.default_rng(seed)), {})
    yield from _depthwise_rows(rng)
    for shapes in _INT16_SHAPES.values():
        yield from shapes(rng)


def _normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def _convolutions(rng: np.random.Generator, operator: type[Conv2D] = Conv2D) -> Iterator[Instance]:
    for h, w, i, o, kernel, stride, before, after in _CONVOLUTIONS:
        window = Window(kernel, (stride, stride), _pads(kernel, before, after))
        op = operator("conv", ("x", "w", "b"), ("y",), window, 0.0)
        constants = {"w": _normal(rng, o, *kernel, i), "b": _normal(rng, o)}
        yield Instance(Example(op, {"x": (1, h, w, i)}, constants), {})


def _depthwise(
    rng: np.random.Generator, operator: type[DepthwiseConv2D] = DepthwiseConv2D
) -> Iterator[Instance]:
    for h, w, i, m, kernel, stride, before, after in _DEPTHWISE:
        window = Window(kernel, (stride, stride), _pads(kernel, before, after))
        constants = {"w": _normal(rng, 1, *kernel, i * m), "b": _normal(rng, i * m)}
        for low in (0.0, None):
            op = operator("depthwise", ("x", "w", "b"), ("y",), window, low)
            yield Instance(Example(op, {"x": (1, h, w, i)}, constants), {})


def _int16_layers(made: Iterator[Instance]) -> Iterator[Instance]:
    """Each, and some with biases that take sums of 64 bits."""
    for index, instance in enumerate(made):
        yield instance
        if index % 3 == 0:
            example = instance.example
            constants = {**example.constants, "b": example.constants["b"] * _LARGE}
            yield replace(instance, example=replace(example, constants=constants))


def _depthwise_rows(rng: np.random.Generator) -> Iterator[Instance]:
    """One row of outputs, as layers have it that run row by row."""
    for rows, width, channels in _ROWS:
        window = Window((3, 3), pads=(3 - rows, 1, 0, 1))
        constants = {"w": _normal(rng, 1, 3, 3, channels), "b": _normal(rng, channels)}
        op = DepthwiseConv2D("depthwise", ("x", "w", "b"), ("y",), window, 0.0)
        yield Instance(Example(op, {"x": (1, rows, width, channels)}, constants), {})


def _pads(kernel: tuple[int, int], before: int, after: int) -> tuple[int, int, int, int]:
    """Padding on both axes, none along an axis of one tap."""
    down, right = (kernel[0] > 1), (kernel[1] > 1)
    return (
        before * down,
        min(before, kernel[1] // 2) * right,
        after * down,
        min(after, kernel[1] // 2) * right,
    )


def _dense(
    rng: np.random.Generator, operator: type[FullyConnected] = FullyConnected
) -> Iterator[Instance]:
    for rows, depth, channels in _DENSE:
        for one_scale in (True, False):
            op = operator("dense", ("x", "w", "b"), ("y",), 0.0)
            weights = np.clip(np.rint(_normal(rng, channels, depth) * 40), -127, 127) * _GRID
            constants = {"w": weights.astype(np.float32), "b": _normal(rng, channels)}
            shape = (1, depth) if rows == 1 else (1, rows, depth)
            given = {"w": Quant((_GRID,), 0)} if one_scale else {}
            yield Instance(Example(op, {"x": shape}, constants), given)


def _int4(make: Maker) -> Maker:
    """The same layers with int4 weights and scales of their own."""

    def made(_rng: np.random.Generator) -> Iterator[Instance]:
        for instance in make(np.random.default_rng(12)):  # what follows keeps its numbers
            op = int4_form(instance.example.op)
            if op is not None and not instance.given:
                yield Instance(replace(instance.example, op=op), {})

    return made


def _binary(operator: type[Add] | type[Sub] | type[Mul]) -> Iterator[Instance]:
    for a, b in (*((shape, shape) for shape in _SAME), *_BROADCAST):
        for low in (0.0, None):
            op = operator("op", ("a", "b"), ("y",), low)
            yield Instance(Example(op, {"a": a, "b": b}), {})


def _pools(operator: type[AveragePool] | type[MaxPool]) -> Iterator[Instance]:
    quant = Quant((_GRID,), 3)
    for h, w, c, kernel, stride in _POOLS:
        op = operator("pool", ("x",), ("y",), Window(kernel, (stride, stride)))
        yield Instance(Example(op, {"x": (1, h, w, c)}), {})
        yield Instance(Example(op, {"x": (1, h, w, c)}), {"x": quant, "y": quant})


def _softmax(_rng: np.random.Generator) -> Iterator[Instance]:
    for shape in ((1, 2), (1, 12), (1, 10), (1, 100), (1, 9, 20), (1, 40, 7)):
        yield Instance(Example(Softmax("softmax", ("x",), ("y",)), {"x": shape}), {})


_SHAPES = {
    "Conv2D": _convolutions,
    "DepthwiseConv2D": _depthwise,
    "FullyConnected": _dense,
    "Int4Conv2D": _int4(_convolutions),
    "Int4FullyConnected": _int4(_dense),
    "Add": lambda _: _binary(Add),
    "Sub": lambda _: _binary(Sub),
    "Mul": lambda _: _binary(Mul),
    "AveragePool": lambda _: _pools(AveragePool),
    "MaxPool": lambda _: _pools(MaxPool),
    "Softmax": _softmax,
}

_INT16_SHAPES: dict[str, Callable[[np.random.Generator], Iterator[Instance]]] = {
    "Int16Conv2D": lambda rng: _int16_layers(_convolutions(rng, Int16Conv2D)),
    "Int16DepthwiseConv2D": lambda rng: _depthwise(rng, Int16DepthwiseConv2D),
    "Int16FullyConnected": lambda rng: _int16_layers(_dense(rng, Int16FullyConnected)),
    "Int16Add": lambda _: _binary(Int16Add),
}
