"""Dead channels: what is constant after quantisation is folded away, what nobody reads is dropped.

Everything happens on the integer graph and is bit-exact: the remaining bytes do not change.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, DType, Graph, Op, TensorType
from toolchain.ir.fixedpoint import (
    activation_codes,
    quantize_multipliers,
    requantize,
    saturate,
)
from toolchain.ops._weights import layer_multipliers
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.max_pool import MaxPool
from toolchain.ops.reshape import Reshape

Mask = NDArray[np.bool_]
Layer = Conv2D | DepthwiseConv2D | FullyConnected
_POOLS = AveragePool | MaxPool


@dataclass(frozen=True, slots=True)
class Pruned:
    """The smaller graph, and (operator, channels dropped) for every layer that lost some."""

    graph: Graph
    dropped: tuple[tuple[str, int], ...]


def prune(graph: Graph) -> Pruned:
    """Remove dead channels of convolutions and fully connected layers.

    1. An output channel whose weights are all zero is a constant. Readers take its part into
       their bias; a reader with padding only when the constant is the zero point, because padded
       cells do not hold it. Pools pass a constant on; a depthwise channel of a constant is one.
    2. A channel that no reader weighs is dropped, and with it all that only feeds it. A depthwise
       channel goes together with its input channel.
    Tensors that other operators read, and outputs, keep their channels. What was dropped may leave
    further channels without weights: all is repeated until nothing changes. Layers on int16 codes
    stay as they are.
    """
    lost: Counter[str] = Counter()
    while True:
        pruner = _Pruner(graph)
        pruner.fold_constants()
        smaller = pruner.drop_unread()
        graph = smaller.graph
        if not smaller.dropped:
            names = dict.fromkeys(op.name for op in graph.ops if lost[op.name])
            return Pruned(graph, tuple((name, lost[name]) for name in names))
        for name, channels in smaller.dropped:
            lost[name] += channels


class _Pruner:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.readers = graph.consumers()
        self.values: dict[str, Array] = dict(graph.constants)

    # ---- case 1 ------------------------------------------------------------------------------
    def fold_constants(self) -> None:
        """Give every reader of constant channels their part as bias, and zero its weights."""
        constant: dict[str, tuple[Mask, Array]] = {}
        for op in self.graph.ops:
            known = constant.get(op.x)
            if isinstance(op, Layer) and _narrow(op):
                if known is not None:
                    self._absorb(op, *known)
                constant[op.y] = self._constant_outputs(op)
            elif known is not None and isinstance(op, _POOLS | Reshape) and _narrow(op):
                through = self._through(op, *known)
                if through is not None:
                    constant[op.y] = through

    def _constant_outputs(self, op: Layer) -> tuple[Mask, Array]:
        """(which output channels have no weights left, the codes they always have)."""
        w, bias = (self.values[n] for n in op.inputs[1:])
        rows = np.moveaxis(w, op.channel_axis, 0).reshape(len(bias), -1)
        multipliers, shifts = quantize_multipliers(layer_multipliers(op, self.graph.types))
        quant = self.graph.types[op.y].q
        codes = requantize(bias.astype(np.int64), multipliers, shifts, op.rounding)
        return np.asarray(~rows.any(axis=1)), saturate(
            codes + quant.zero_point, *activation_codes(quant, op.low, op.high)
        )

    def _absorb(self, op: Layer, mask: Mask, codes: Array) -> None:
        zero = self.graph.types[op.x].q.zero_point
        padded = not isinstance(op, FullyConnected) and any(op.window.pads)
        known = mask & (codes == zero) if padded else mask
        w_name, b_name = op.inputs[1:]
        w, bias = self.values[w_name], self.values[b_name].astype(np.int64)
        offset = np.where(known, codes.astype(np.int64) - zero, 0)
        if isinstance(op, DepthwiseConv2D):
            times = w.shape[3] // len(known)
            known, offset = np.repeat(known, times), np.repeat(offset, times)
            bias = bias + (w.astype(np.int64) * offset).sum(axis=(0, 1, 2))
        else:
            bias = bias + (w.astype(np.int64) * offset).reshape(len(w), -1).sum(axis=1)
        if np.abs(bias).max(initial=0) <= 2**31 - 1:
            self.values[w_name] = np.where(known, 0, w).astype(np.int8)
            self.values[b_name] = bias.astype(np.int32)

    def _through(self, op: Op, mask: Mask, codes: Array) -> tuple[Mask, Array] | None:
        """Constants behind a pool or a reshape that keeps or flattens channels."""
        if isinstance(op, Reshape):
            times = self._flattened(op)
            return None if times is None else (np.tile(mask, times), np.tile(codes, times))
        shape = self.graph.types[op.x].shape
        flat = np.broadcast_to(codes, shape).astype(np.int8)
        (pooled,) = op.simulate(self.graph.types, flat)
        rows = pooled.reshape(-1, shape[-1])
        return np.asarray(mask & (rows == rows[0]).all(axis=0)), rows[0]

    def _flattened(self, op: Reshape) -> int | None:
        """How often the channels of the input follow each other in the last axis of the output."""
        before, after = self.graph.types[op.x].shape[-1], op.shape[-1]
        inner = [n for n in self.graph.types[op.x].shape[:-1] if n != 1]
        whole = after == self.graph.types[op.x].elements
        return 1 if after == before else after // before if whole and inner else None

    # ---- case 2 ------------------------------------------------------------------------------
    def drop_unread(self) -> Pruned:
        """Shrink layers until every channel that is left is read."""
        kept: dict[str, Mask] = {}
        for op in reversed(self.graph.ops):
            for y in op.outputs:
                kept[y] = self._needed(y, kept) if self._shrinks(op) else self._all(y)
        kept = {n: m if m.any() else _first(m) for n, m in kept.items()}
        kept |= {x: self._all(x) for x in self.graph.inputs}
        return self._shrunk(kept)

    def _all(self, name: str) -> Mask:
        return np.ones(self.graph.types[name].shape[-1:], bool)

    def _shrinks(self, op: Op) -> bool:
        """Whether an operator works on fewer channels as well."""
        flattens = isinstance(op, Reshape) and self._flattened(op) is not None
        return flattens or (isinstance(op, Layer | _POOLS) and _narrow(op))

    def _needed(self, name: str, kept: dict[str, Mask]) -> Mask:
        readers = self.readers.get(name, [])
        if name in self.graph.outputs or not readers:
            return self._all(name)
        masks = [self._read_by(op, name, kept) for op in readers]
        return np.asarray(np.logical_or.reduce(masks))

    def _read_by(self, op: Op, name: str, kept: dict[str, Mask]) -> Mask:
        """Which channels of `name` an operator needs."""
        channels = self.graph.types[name].shape[-1]
        if not _narrow(op):
            return self._all(name)
        if isinstance(op, DepthwiseConv2D):
            return np.asarray(kept[op.y].reshape(channels, -1).any(axis=1))
        if isinstance(op, Conv2D | FullyConnected):
            rows = self.values[op.inputs[1]][kept[op.y]]
            return np.asarray(rows.reshape(-1, channels).any(axis=0))
        if isinstance(op, _POOLS):
            return kept[op.y]
        if isinstance(op, Reshape) and (times := self._flattened(op)) is not None:
            return np.asarray(kept[op.y].reshape(times, channels).any(axis=0))
        return self._all(name)

    def _shrunk(self, kept: dict[str, Mask]) -> Pruned:
        types, values = dict(self.graph.types), self.values
        origins = dict(self.graph.origins)
        ops: list[Op] = []
        dropped = []
        for op in self.graph.ops:
            if isinstance(op, Layer) and _narrow(op):
                self._shrink_layer(op, kept, types, values)
                if not kept[op.y].all():
                    dropped.append((op.name, int((~kept[op.y]).sum())))
            elif isinstance(op, _POOLS) and _narrow(op):
                kept[op.y] = kept[op.x]
            elif isinstance(op, Reshape) and self._flattened(op) is not None:
                kept[op.y] = np.tile(kept[op.x], self._flattened(op) or 1)
                op = replace(op, shape=(*op.shape[:-1], int(kept[op.y].sum())))
            for y in op.outputs:
                mask = kept[y]
                if not mask.all():
                    types[y] = types[y].with_shape((*types[y].shape[:-1], int(mask.sum())))
                    if y in origins:
                        left = tuple(int(c) for c in np.flatnonzero(mask))
                        origins[y] = replace(origins[y], channels=left)
            ops.append(op)
        done = replace(self.graph, types=types, constants=values, origins=origins)
        return Pruned(done.with_ops(ops), tuple(dropped))

    def _shrink_layer(
        self,
        op: Layer,
        kept: dict[str, Mask],
        types: dict[str, TensorType],
        values: dict[str, Array],
    ) -> None:
        w_name, b_name = op.inputs[1:]
        if isinstance(op, DepthwiseConv2D):
            times = len(kept[op.y]) // len(kept[op.x])
            kept[op.y] = np.repeat(kept[op.x], times)
        w = np.compress(kept[op.y], values[w_name], op.channel_axis)
        if not isinstance(op, DepthwiseConv2D):
            w = np.compress(kept[op.x], w, w.ndim - 1)
        values[w_name] = np.ascontiguousarray(w)
        values[b_name] = values[b_name][kept[op.y]]
        quant = types[w_name].q
        if len(quant.scales) > 1:
            chosen = np.array(quant.scales)[kept[op.y]]
            quant = replace(quant, scales=tuple(float(s) for s in chosen))
        types[w_name] = replace(types[w_name], shape=w.shape, quant=quant)
        types[b_name] = types[b_name].with_shape(values[b_name].shape)


def _narrow(op: Op) -> bool:
    """It works on int8 codes; what others do not read is not looked for."""
    return op.reads is DType.INT8


def _first(mask: Mask) -> Mask:
    """A tensor keeps at least one channel."""
    return np.asarray(np.arange(len(mask)) == 0)
