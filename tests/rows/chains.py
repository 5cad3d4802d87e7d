"""Random quantised chains of layers with skips, for streaming by rows."""

from dataclasses import dataclass, field, replace

import numpy as np

from toolchain.ir import Graph, Op, Origin, TensorType
from toolchain.ops._windows import Window
from toolchain.ops.add import Add
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.concat import Concat
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.grouped_conv import GroupedConv2D
from toolchain.ops.max_pool import MaxPool
from toolchain.ops.mul import Mul
from toolchain.ops.pad import Pad
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose
from toolchain.ops.unary import Unary
from toolchain.quant.quantize import quantize
from toolchain.quant.ranges import Range

LAYERS = ("conv", "conv", "depthwise", "depthwise", "grouped", "max", "mean", "table", "pad")


@dataclass(slots=True)
class Chain:
    """A float graph in the making; x is the tensor that comes last."""

    rng: np.random.Generator
    x: str = "x"
    ops: list[Op] = field(default_factory=list)
    types: dict[str, TensorType] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)

    def pick(self, *values):
        return values[int(self.rng.integers(len(values)))]

    def constant(self, name: str, *shape: int) -> str:
        self.constants[name] = self.rng.normal(0, 0.3, shape).astype(np.float32)
        self.types[name] = TensorType(shape)
        return name

    def add(self, op: Op) -> str:
        """Append an operator; gives its output."""
        (shape,) = op.infer(self.types)
        self.ops.append(op)
        self.types[op.y] = TensorType(shape)
        return op.y

    def window(self, height: int, width: int, *, pool: bool = False) -> Window:
        """A window that fits; that of a pool never sees padding only."""
        while True:
            kernel = (self.pick(1, 2, 3, 5), self.pick(1, 3))
            stride = (self.pick(1, 1, 2, 3), self.pick(1, 2))
            dilation = (1 if pool else self.pick(1, 1, 2), 1)
            pads = tuple(int(self.rng.integers(0, k)) for k in kernel * 2)
            window = Window(kernel, stride, pads, dilation)
            if min(window.output((height, width))) >= 1:
                return window

    def layer(self, kind: str, name: str) -> str:
        """Append a layer on x, with everything about it random."""
        _, height, width, channels = self.types[self.x].shape
        window = self.window(height, width, pool=kind in ("max", "mean"))
        kernel, y = window.kernel, f"{name}_y"
        if kind == "conv":
            outputs = int(self.rng.integers(1, 10))
            w = self.constant(f"{name}.w", outputs, *kernel, channels)
            b = self.constant(f"{name}.b", outputs)
            return self.add(Conv2D(name, (self.x, w, b), (y,), window, self.pick(None, 0.0)))
        if kind == "depthwise":
            w = self.constant(f"{name}.w", 1, *kernel, channels)
            b = self.constant(f"{name}.b", channels)
            layer = DepthwiseConv2D(name, (self.x, w, b), (y,), window, self.pick(None, 0.0))
            return self.add(layer)
        if kind == "grouped" and channels % 2 == 0:
            w = self.constant(f"{name}.w", 4, *kernel, channels // 2)
            return self.add(
                GroupedConv2D(name, (self.x, w, self.constant(f"{name}.b", 4)), (y,), window)
            )
        if kind == "max":
            return self.add(MaxPool(name, (self.x,), (y,), window))
        if kind == "mean":
            return self.add(AveragePool(name, (self.x,), (y,), window))
        if kind == "pad":
            grown = Pad(name, (self.x,), (y,), (0, 0, 1, 0), (0, 0, 0, 2))
            return self.add(grown)
        return self.add(Unary(name, (self.x,), (y,), ("sigmoid", ("x",))))

    def join(self, name: str, other: str) -> str:
        """Append an operator on x and another tensor of its height and width."""
        y = f"{name}_y"
        same = self.types[other].shape == self.types[self.x].shape
        inputs = self.pick((self.x, other), (other, self.x))
        if not same:
            return self.add(Concat(name, inputs, (y,), 3))
        kind = self.pick(Add, Mul, None)
        if kind is None:
            return self.add(Concat(name, inputs, (y,), 3))
        return self.add(kind(name, inputs, (y,)))


def tall_chain(rng: np.random.Generator) -> Graph:
    """Depthwise and pointwise layers in turn over a high image, some of which halve it."""
    chain = Chain(rng)
    chain.types["x"] = TensorType((1, int(rng.integers(40, 60)), 4, 4))
    for i in range(8):
        channels = chain.types[chain.x].shape[3]
        stride = chain.pick(1, 2)
        w, b = chain.constant(f"d{i}_w", 1, 3, 3, channels), chain.constant(f"d{i}_b", channels)
        window = Window((3, 3), (stride, 1), (1, 1, 1, 1))
        layer = DepthwiseConv2D(f"d{i}", (chain.x, w, b), (f"d{i}_y",), window, 0.0)
        chain.x = chain.add(layer)
        outputs = chain.pick(4, 8, 12)
        w, b = (
            chain.constant(f"p{i}_w", outputs, 1, 1, channels),
            chain.constant(f"p{i}_b", outputs),
        )
        chain.x = chain.add(Conv2D(f"p{i}", (chain.x, w, b), (f"p{i}_y",), Window((1, 1)), 0.0))
        if chain.types[chain.x].shape[1] < 6:
            break
    return finished(chain)


LAYOUTS = ("channels last", "channels first", "one channel", "flat", "flat, channels first")
"""Of the input of a model."""


def laid_out(graph: Graph, layout: str) -> Graph:
    """A chain whose input has one of the layouts; "one channel" is for an image of one."""
    kind = graph.types["x"]
    _, height, width, channels = kind.shape
    first, perm = (1, channels, height, width), (0, 2, 3, 1)
    before: tuple[Op, ...] = ()
    shape = kind.shape
    if layout == "one channel":
        before, shape = (Reshape("layout", ("n",), ("x",), kind.shape),), first
    elif layout == "channels first":
        before, shape = (Transpose("layout", ("n",), ("x",), perm),), first
    elif layout == "flat":
        before, shape = (Reshape("layout", ("n",), ("x",), kind.shape),), (1, kind.elements)
    elif layout == "flat, channels first":
        view = Reshape("view", ("n",), ("first",), first)
        before = (view, Transpose("layout", ("first",), ("x",), perm))
        shape = (1, kind.elements)
    if not before:
        return graph
    shapes = {"n": shape, "first": first}
    types = graph.types | {op.x: kind.with_shape(shapes[op.x]) for op in before}
    origins = graph.origins | {op.x: Origin(op.x) for op in before}
    ops = (*before, *graph.ops)
    return replace(graph, ops=ops, types=types, inputs=("n",), origins=origins)


def random_chain(rng: np.random.Generator, layers: int, channels: int = 0) -> Graph:
    """A quantised graph with one input and one output; branches begin and end anywhere.

    Its input has a random number of channels if none is given.
    """
    chain = Chain(rng)
    shape = (1, int(rng.integers(5, 15)), int(rng.integers(3, 9)), int(rng.integers(1, 7)))
    shape = (*shape[:3], channels or shape[3])
    chain.types["x"] = TensorType(shape)
    made = ["x"]
    for i in range(layers):
        size = chain.types[chain.x].shape[1:3]
        others = [t for t in made if t != chain.x and chain.types[t].shape[1:3] == size]
        if others and rng.random() < 0.5:
            chain.x = chain.join(f"join{i}", chain.pick(*others))
        else:
            if rng.random() < 0.3:
                chain.x = chain.pick(*made[-2:])
            chain.x = chain.layer(chain.pick(*LAYERS), f"layer{i}")
        made.append(chain.x)
    _, height, width, _ = chain.types[chain.x].shape
    if rng.random() < 0.5:
        chain.x = chain.add(AveragePool("gap", (chain.x,), ("gap_y",), Window((height, width))))
    return finished(chain)


def finished(chain: Chain) -> Graph:
    """The graph that gives the last tensor, quantised."""
    names = {"x", chain.x}
    live: list[Op] = []
    for op in reversed(chain.ops):
        if op.y in names:
            live.insert(0, op)
            names.update(op.inputs)
    graph = Graph(
        "chain",
        tuple(live),
        {n: t for n, t in chain.types.items() if n in names},
        {n: c for n, c in chain.constants.items() if n in names},
        ("x",),
        (chain.x,),
        {n: Origin(n) for n in names - chain.constants.keys()},
    )
    ranges = {n: Range(-2.0, 2.0) for n in graph.origins}
    return quantize(graph, ranges).graph
