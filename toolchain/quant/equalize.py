"""Channels made alike: factors and offsets move between layers, the float model stays the same."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from toolchain.ir import Array, Graph, Op, Origin, TensorType
from toolchain.ops._layer import LayerOp
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.conv_transpose import ConvTranspose2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.reshape import Reshape
from toolchain.quant.chains import (
    Chain,
    Extents,
    Vector,
    chain_extent,
    find_chains,
    repeated,
)

_SMALLEST = 2.0**-12


def equalize(graph: Graph, extents: Extents, strength: float) -> Graph:
    """Cross-layer equalisation: every channel of a chain fills the common range.

    1. The chain's tensors are divided by s_c = (largest of channel c / largest of all)^strength:
       rows of the weights and biases before them by s_c, columns of the weights after them times
       s_c. Exact for ReLU and without activation.
    2. Where a layer is clipped from above (ReLU6), a channel is divided only as far as the clip
       provably never acts in it, given the ranges of the layer's inputs.

    Args:
        graph: Float graph.
        extents: Measured extremes per channel of every tensor.
        strength: 1 fills the range in every channel; less spares the weights of the next layer.
    """
    for chain in find_chains(graph):
        low, high = chain_extent(chain, extents)
        size = np.maximum(np.abs(low), np.abs(high))
        if size.max() == 0:
            continue
        factors = np.where(size > 0, size / size.max(), 1.0) ** strength
        factors = np.maximum(factors, _SMALLEST)
        for op in _layers(graph, chain.producers):
            if op.high is not None:
                needed = _reach(graph, op, extents) / op.high
                factors = np.where(needed < 1, np.maximum(factors, needed), 1.0)
        if np.any(factors != 1):
            graph = _rescaled(graph, chain, factors)
            extents = {**extents, **_moved(chain, extents, 1 / factors, np.zeros(1))}
    return graph


def absorb(graph: Graph, extents: Extents) -> Graph:
    """High-bias absorption: what a channel always holds moves into the next layer's bias.

    1. Behind ReLU the smallest value a channel ever takes, where that is above zero: the ReLU never
       acts there, as far as the calibration data show.
    2. Without activation the middle of the channel's range: exact for all inputs.
    Chains with padding keep their offsets, because the padding does not hold them; so do sums.

    Args:
        graph: Float graph.
        extents: Measured extremes per channel of every tensor.
    """
    for chain in find_chains(graph):
        if not _takes_offsets(graph, chain):
            continue
        (producer,) = _layers(graph, chain.producers)
        low, high = chain_extent(chain, extents)
        offsets = np.maximum(low, 0.0) if producer.low == 0 else (low + high) / 2
        if np.any(offsets != 0):
            graph = _offset(graph, chain, offsets)
            extents = {**extents, **_moved(chain, extents, np.ones(1), -offsets)}
    return graph


def _moved(chain: Chain, extents: Extents, gain: Vector, shift: Vector) -> Extents:
    found = {}
    for name in chain.tensors:
        low, high = extents[name]
        by, to = repeated(gain, low.size), repeated(shift, low.size)
        found[name] = low * by + to, high * by + to
    return found


def _reach(graph: Graph, op: LayerOp, extents: Extents) -> Vector:
    """Largest sum each output channel can have while the inputs stay in the tensor's range."""
    w, bias = (graph.constants[n].astype(np.float64) for n in op.inputs[1:])
    low, high = extents[op.x]
    least, most = min(0.0, float(low.min())), max(0.0, float(high.max()))
    rows = np.moveaxis(w, op.channel_axis, 0).reshape(len(bias), -1)
    return np.asarray(bias + np.maximum(rows * least, rows * most).sum(axis=1))


def _rescaled(graph: Graph, chain: Chain, factors: Vector) -> Graph:
    """The chain's tensors divided by the factors."""
    edits: dict[str, tuple[Array, Array]] = {}
    for op in _layers(graph, chain.producers):
        w, bias = _constants(graph, op, edits)
        rows = np.expand_dims(factors, [i for i in range(w.ndim) if i != op.channel_axis])
        edits[op.y] = w / rows, bias / factors
    for op in _layers(graph, chain.consumers):
        w, bias = _constants(graph, op, edits)
        edits[op.y] = w * _columns(op, w, factors), bias
    return _edited(graph, chain, edits, 1 / factors, None)


def _offset(graph: Graph, chain: Chain, offsets: Vector) -> Graph:
    """The chain's tensors minus the offsets."""
    edits: dict[str, tuple[Array, Array]] = {}
    for op in _layers(graph, chain.producers):
        w, bias = _constants(graph, op, edits)
        edits[op.y] = w, bias - offsets
    for op in _layers(graph, chain.consumers):
        w, bias = _constants(graph, op, edits)
        rows = np.moveaxis(w * _columns(op, w, offsets), op.channel_axis, 0)
        edits[op.y] = w, bias + rows.reshape(len(bias), -1).sum(axis=1)
    return _edited(graph, chain, edits, None, -offsets)


def _takes_offsets(graph: Graph, chain: Chain) -> bool:
    if len(chain.producers) != 1 or _layers(graph, chain.producers)[0].high is not None:
        return False
    consumers = _layers(graph, chain.consumers)
    if any(isinstance(op, ConvTranspose2D) for op in consumers):
        return False
    windows = [op.window for op in consumers if not isinstance(op, FullyConnected)]
    for op in chain.ties:
        if isinstance(op, AveragePool) and op.low is None:
            windows.append(op.window)
        elif not isinstance(op, Reshape):
            return False
    return not any(any(window.pads) for window in windows)


def _layers(graph: Graph, names: Iterable[str]) -> list[Any]:
    """The layers that write the named tensors."""
    producers = graph.producers()
    return [producers[name] for name in names]


def _constants(
    graph: Graph, op: LayerOp, edits: Mapping[str, tuple[Array, Array]]
) -> tuple[Array, Array]:
    if op.y in edits:
        return edits[op.y]
    w, bias = (graph.constants[n].astype(np.float64) for n in op.inputs[1:])
    return w, bias


def _columns(op: LayerOp, w: Array, values: Vector) -> Array:
    """Values per input channel, in the shape of the weights' input axis."""
    if isinstance(op, DepthwiseConv2D):
        return np.repeat(values, w.shape[3] // len(values))
    return repeated(values, w.shape[-1])


def _edited(
    graph: Graph,
    chain: Chain,
    edits: Mapping[str, tuple[Array, Array]],
    gain: Vector | None,
    shift: Vector | None,
) -> Graph:
    ops: list[Op] = []
    types: dict[str, TensorType] = {}
    constants: dict[str, Array] = {}
    for op in graph.ops:
        if op.y in edits:
            names = f"{op.y}.equalised.weights", f"{op.y}.equalised.bias"
            for name, old, value in zip(names, op.inputs[1:], edits[op.y], strict=True):
                constants[name], types[name] = value, graph.types[old]
            op = op.renamed(dict(zip(op.inputs[1:], names, strict=True)))
        ops.append(op)
    origins = {
        name: _changed(graph.origins[name], gain, shift)
        for name in chain.tensors
        if name in graph.origins
    }
    return graph.with_ops(ops, types, constants, origins)


def _changed(origin: Origin, gain: Vector | None, shift: Vector | None) -> Origin:
    """The origin with one more factor or offset per channel behind those it has."""
    if gain is not None:
        before = np.ones(1) if origin.gain is None else np.array(origin.gain)
        moved = None if origin.shift is None else _tuple(np.array(origin.shift) * gain)
        return replace(origin, gain=_tuple(before * gain), shift=moved)
    assert shift is not None
    before = np.zeros(1) if origin.shift is None else np.array(origin.shift)
    return replace(origin, shift=_tuple(before + shift))


def _tuple(values: Vector) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
