"""Tensors that share a factor per channel, and the layers that can take it over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Graph, Op
from toolchain.ops._layer import LayerOp
from toolchain.ops.add import Add
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.conv_transpose import ConvTranspose2D
from toolchain.ops.max_pool import MaxPool
from toolchain.ops.prelu import PRelu
from toolchain.ops.reshape import Reshape
from toolchain.ops.sub import Sub
from toolchain.ops.take import Take
from toolchain.ops.unary import Unary, clip_of, evaluate_expression
from toolchain.quant.moments import Layer

Vector = NDArray[np.float64]
Extents = Mapping[str, tuple[Vector, Vector]]
"""Smallest and largest value of each channel (index of the last axis) by tensor."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Tensors whose channels can be rescaled together without changing the float model.

    Args:
        tensors: The tensors, each of a multiple of `channels` along its last axis.
        channels: Channels.
        producers: Outputs of the layers that write one of them.
        consumers: Outputs of the layers that read one of them.
        ties: Operators in between: sums, pools, copies, ReLU and its kind.
    """

    tensors: tuple[str, ...]
    channels: int
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    ties: tuple[Op, ...]


def find_chains(graph: Graph) -> list[Chain]:
    """Every chain of the graph that layers begin and end, in order of execution.

    Factors are positive, so they pass ReLU, sums of tensors that all have them, and pools. A tensor
    that is an input or output of the graph, that comes with a scale, or that another operator reads
    or writes belongs to none.
    """
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.get(name, name) != name:
            name = leader[name]
        return name

    ties = [op for op in graph.ops if _ties(graph, op)]
    for op in ties:
        for name in graph.activations(op):
            leader[find(op.y)] = find(name)
    members: dict[str, list[str]] = {}
    for op in graph.ops:
        for y in op.outputs:
            members.setdefault(find(y), []).append(y)
    found = (_chain(graph, names, ties) for names in members.values())
    return [chain for chain in found if chain is not None]


def repeated(values: Vector, length: int) -> Vector:
    """Values per channel for a last axis that holds the channels several times."""
    return np.resize(values, length)


def chain_extent(chain: Chain, extents: Extents) -> tuple[Vector, Vector]:
    """Smallest and largest value of each channel in any tensor of the chain."""
    lows, highs = [], []
    for name in chain.tensors:
        low, high = extents[name]
        lows.append(low.reshape(-1, chain.channels).min(axis=0))
        highs.append(high.reshape(-1, chain.channels).max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _last(graph: Graph, name: str) -> int:
    return (graph.types[name].shape or (1,))[-1]


def _ties(graph: Graph, op: Op) -> bool:
    """Factors per channel of the inputs are those of the output."""
    if isinstance(op, PRelu):
        return op.inputs[1] in graph.constants
    if any(x in graph.constants for x in op.inputs):
        return False
    if isinstance(op, Unary):
        bounds = clip_of(op.expression)
        return _homogeneous(op) if bounds is None else _passes(*bounds)
    if isinstance(op, Take):
        return bool(op.indices) and op.indices[-1] is None
    if isinstance(op, Reshape):
        before, after = graph.types[op.x], graph.types[op.y]
        same = _last(graph, op.x) == _last(graph, op.y)
        return same or _last(graph, op.y) == after.elements == before.elements
    if isinstance(op, Add | Sub):
        equal = len({graph.types[n].shape for n in (*op.inputs, op.y)}) == 1
        return equal and _passes(op.low, op.high)
    return isinstance(op, AveragePool | MaxPool) and _passes(op.low, op.high)


def _homogeneous(op: Unary) -> bool:
    """f(s * x) = s * f(x) for every s > 0, as LeakyReLU and Abs; powers of two show it exactly."""
    x = np.outer([-1.0, 1.0], 2.0 ** np.arange(-20, 21))
    y = np.broadcast_to(evaluate_expression(op.expression, x), x.shape)
    with np.errstate(invalid="ignore"):
        return bool(np.array_equal(y, y[:, 20:21] * np.abs(x)))


def _passes(low: float | None, high: float | None) -> bool:
    """clip(x, low, high) / s = clip(x / s, low, high) for every s > 0."""
    return low in (None, 0.0) and high is None


def _chain(graph: Graph, names: list[str], ties: Iterable[Op]) -> Chain | None:
    producers, readers = graph.producers(), graph.consumers()
    inside = {op.y: op for op in ties}
    channels = min(_last(graph, n) for n in names)
    first: list[str] = []
    last: dict[str, None] = {}
    for name in names:
        if name in graph.outputs or graph.types[name].quant or _last(graph, name) % channels:
            return None
        op = producers[name]
        if _is_layer(op, graph) and op.low in (None, 0.0) and _plain(graph, op):
            first.append(op.y)
        elif op.y not in inside or any(x not in names for x in graph.activations(op)):
            return None
        for reader in readers.get(name, ()):
            if _is_layer(reader, graph) and _plain(graph, reader):
                last[reader.y] = None
            elif reader.y not in inside or reader.y not in names:
                return None
    if not first or not last or channels < 2:
        return None
    between = tuple(inside[n] for n in names if n in inside)
    return Chain(tuple(names), channels, tuple(first), tuple(last), between)


def _is_layer(op: Op, graph: Graph) -> TypeGuard[LayerOp]:
    """A layer whose filter has a column for every input channel, or one per channel."""
    if isinstance(op, ConvTranspose2D):
        return graph.types[op.inputs[1]].shape[-1] == _last(graph, op.x)
    return isinstance(op, Layer)


def _plain(graph: Graph, op: LayerOp) -> bool:
    """Nobody has fixed the codes of its weights."""
    return graph.types[op.inputs[1]].quant is None
