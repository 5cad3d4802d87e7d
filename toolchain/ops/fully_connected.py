"""Fully connected layer with per-channel int8 weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from toolchain.board import Isa
from toolchain.ir import (
    Array,
    Builder,
    Constants,
    Example,
    Kernel,
    Lowered,
    Node,
    Origin,
    Quant,
    Site,
    Target,
    Types,
    Unsupported,
    Writer,
    register,
)
from toolchain.ir.fixedpoint import (
    clamp_codes,
    quantize_multipliers,
)
from toolchain.ops import _scratch as arm
from toolchain.ops import fast
from toolchain.ops._examples import clip_bounds, normal, size
from toolchain.ops._layer import STRUCTURES, LayerOp, product_type
from toolchain.ops._weights import layer_multipliers, lower_layer
from toolchain.ops._windows import Window


def per_tensor(site: Site) -> bool:
    """The weights have one scale for all output channels."""
    return _one_scale(site.op, site.types)


def per_channel(site: Site) -> bool:
    """The weights have a scale for each output channel."""
    return not _one_scale(site.op, site.types)


def _one_scale(op: "FullyConnected", types: Types) -> bool:
    return len(types[op.inputs[1]].q.scales) == 1


def arm_on_mve(site: Site) -> bool:
    """Arm's library with MVE, whose versions disagree on fully connected context buffers."""
    return _pointwise(site.target)


def _pointwise(target: Target) -> bool:
    return target.arm_library and target.isa is Isa.MVE


def _pointwise_scratch(site: Site) -> int:
    o, i = site.shape(site.op.inputs[1])
    rows = prod(site.shape(site.op.x)[:-1])
    return arm.convolve(
        site.target.isa, (1, 1, rows, i), (o, 1, 1, i), (1, 1, rows, o), *Window((1, 1)).geometry
    )


@register
@dataclass(frozen=True, slots=True)
class FullyConnected(LayerOp):
    """Inputs x [..., I], weights [O, I], bias [O]; output [..., O], clipped to [low, high]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.FULLY_CONNECTED,
        Kernel(
            "arm_convolve_wrapper_s8",
            "ops/fully_connected_pointwise.c.j2",
            ("arm_convolve_wrapper_s8.c",),
            call_bytes=STRUCTURES,
            when=arm_on_mve,
            scratch=_pointwise_scratch,
        ),
        Kernel(
            "arm_fully_connected_s8",
            "ops/fully_connected.c.j2",
            ("arm_fully_connected_s8.c",),
            call_bytes=STRUCTURES,
            when=per_tensor,
        ),
        Kernel(
            "arm_fully_connected_per_channel_s8",
            "ops/fully_connected_per_channel.c.j2",
            ("arm_fully_connected_per_channel_s8.c",),
            call_bytes=STRUCTURES,
            when=per_channel,
        ),
    )

    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[..., O]."""
        shape, (o, i) = types[self.x].shape, types[self.inputs[1]].shape
        if shape[-1] != i:
            raise ValueError(f"weights {(o, i)} do not fit input {shape}")
        return ((*shape[:-1], o),)

    def sums(self, x: Array, w: Array) -> Array:
        """x @ weights.T."""
        kind = product_type(x, w, self.channel_axis)
        return np.asarray(x.astype(kind) @ w.T.astype(kind))

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """Integer weights per output channel, int32 biases."""
        w, bias = (constants[n] for n in self.inputs[1:])
        axis, reach = self.channel_axis, self.weight_reach
        return lower_layer(self, types, w, bias, axis, keep_single=True, reach=reach)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Rows (batch), input and output channels, first multiplier, clamp."""
        o, i = types[self.inputs[1]].shape
        multipliers, shifts = quantize_multipliers(layer_multipliers(self, types))
        return {
            "multiplier": (int(multipliers[0]), int(shifts[0])),
            "rows": prod(types[self.x].shape[:-1]),
            "depth": i,
            "channels": o,
            "clamp": clamp_codes(types[self.y], self.low, self.high),
        }

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:
        """Requantisation parameters per output channel; a single one is an argument."""
        pointwise = _pointwise(target)
        if _one_scale(self, types) and not pointwise:
            return {}
        multipliers, shifts = quantize_multipliers(layer_multipliers(self, types))
        if pointwise:
            channels = types[self.y].shape[-1]
            multipliers, shifts = (np.resize(v, channels) for v in (multipliers, shifts))
        return {"multiplier": multipliers, "shift": shifts}

    def macs(self, types: Types) -> int:
        """One per weight and row."""
        return prod(types[self.x].shape[:-1]) * types[self.inputs[1]].elements

    def write(self, w: Writer) -> None:
        """Gemm over rows."""
        shape = w.graph.types[self.y].shape
        x, flat = w.real(self.x), len(shape) == 2
        if not flat:
            rows = np.array((-1, w.graph.types[self.x].shape[-1]), np.int64)
            x = w.node("Reshape", [x, w.number(rows, "shape")], self.y)
        inputs = [x, *w.filter_and_bias(self, w.graph.constants[self.inputs[1]], 0)]
        y = w.node("Gemm", inputs, self.y, self.name, transB=1)
        if not flat:
            y = w.node("Reshape", [y, w.number(np.array(shape, np.int64), "shape")], self.y)
        w.finish(self.y, y, None, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random depth, channels, rows and activation."""
        depth, channels, rows = size(rng, 1, 40), size(rng, 1, 20), size(rng, 1, 3)
        low, high = clip_bounds(rng)
        shape = (1, depth) if rows == 1 else (1, rows, depth)
        return Example(
            cls("dense", ("x", "w", "b"), ("y",), low, high),
            {"x": shape},
            {"w": normal(rng, channels, depth), "b": normal(rng, channels)},
        )


def emit_dense(
    node: Node,
    b: Builder,
    x: str,
    y: tuple[str, Origin],
    weights: Array,
    bias: Array | None = None,
    pins: tuple[Quant | None, Quant | None] = (None, None),
) -> str:
    """Emit y = x @ weights.T + bias over the last axis of x; returns y.

    Args:
        node: ONNX node it comes from.
        b: Graph under construction.
        x: Input [..., I].
        y: Name of the output and its origin.
        weights: Constant [O, I].
        bias: Constant [O]; None is zero.
        pins: Quantisation that weights and bias came with.

    Raises:
        Unsupported: The weights do not fit the input.
    """
    name, origin = y
    if weights.ndim != 2 or b.shape(x)[-1:] != weights.shape[1:]:
        raise Unsupported(f"weights {weights.shape} do not fit input {b.shape(x)}")
    bias = np.zeros(len(weights), np.float32) if bias is None else bias
    w = b.constant(f"{name}.weights", weights, pins[0])
    c = b.constant(f"{name}.bias", bias, pins[1])
    return b.emit(FullyConnected(node.name, (x, w, c), (name,)), origin)
