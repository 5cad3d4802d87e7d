"""What layers with a constant filter and bias share: everything but the sums."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import Array, Constants, Lowered, Op, Target, Types
from toolchain.ir.fixedpoint import (
    activation_codes,
    clip,
    quantize_multipliers,
    requantize,
    saturate,
)
from toolchain.ops._weights import (
    INT8_REACH,
    layer_multipliers,
    lower_layer,
    smallest_output_scale,
)

STRUCTURES = 180
"""Kernel.call_bytes of a call in CMSIS-NN's manner: nine structures and pointers."""
_EXACT = 2**24
"""float32 holds every integer up to here."""


def product_type(x: Array, w: Array, axis: int) -> type[np.floating[Any]]:
    """The floating-point type in which sums of products are exact, for floats the wide one.

    Args:
        x: Centred codes, -255..255 of 16 bits or -32768..32767 of 32 bits, or floats.
        w: Weight codes or floats.
        axis: Output channel axis of the weights.
    """
    if x.dtype.kind == "f" or w.dtype.kind == "f":
        return np.float64
    others = tuple(i for i in range(w.ndim) if i != axis)
    most = 255 if x.dtype.itemsize <= 2 else 2**15
    reach = most * int(np.abs(w.astype(np.int64)).sum(axis=others).max(initial=0))
    return np.float32 if reach < _EXACT else np.float64


class LayerOp(Op):
    """Inputs x, filter, bias; output clip(sums + bias); requantised per output channel.

    A subclass is a dataclass with the fields low and high (None: open) and says what the sums are.
    """

    __slots__ = ()

    has_activation: ClassVar[bool] = True
    batches: ClassVar[bool] = True
    channel_axis: ClassVar[int] = 0
    """Axis of the output channels in the filter."""
    weight_reach: ClassVar[int] = INT8_REACH
    """Largest magnitude of a weight."""

    low: float | None
    high: float | None

    @property
    def weight_bits(self) -> int:
        """Bits of a weight in flash."""
        return self.weight_reach.bit_length() + 1

    @abstractmethod
    def sums(self, x: Array, w: Array) -> Array:
        """Sum over all taps, floating point [..., O]; exact for integers of the int8 contract."""

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Sums, bias, clip."""
        x, w, bias = values
        return (clip(self.sums(x, w) + bias, self.low, self.high).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """int32 accumulators, requantised per channel, clamped."""
        x, w, bias = codes
        x_zero, y = types[self.x].q.zero_point, types[self.y].q
        total = self.sums(x.astype(np.int16) - x_zero, w).astype(np.int64) + bias
        multipliers, shifts = quantize_multipliers(layer_multipliers(self, types))
        scaled = requantize(total, multipliers, shifts, self.rounding) + y.zero_point
        return (saturate(scaled, *activation_codes(y, self.low, self.high)),)

    def output_floor(self, types: Types, constants: Constants) -> float:
        """Smallest output scale whose arithmetic stays in int32."""
        w, bias = (constants[n] for n in self.inputs[1:])
        return smallest_output_scale(w, bias, types[self.x].q.scale, self.channel_axis)

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """Integer filters per output channel, int32 biases."""
        w, bias = (constants[n] for n in self.inputs[1:])
        axis, reach = self.channel_axis, self.weight_reach
        return lower_layer(self, types, w, bias, axis, reach=reach)

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """Requantisation parameters per output channel."""
        multipliers, shifts = quantize_multipliers(layer_multipliers(self, types))
        return {"multiplier": multipliers, "shift": shifts}
