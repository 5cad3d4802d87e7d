"""Convolutions and fully connected layers on int16 activations and int8 weights.

The contract of CMSIS-NN's s16 functions. Input and output are symmetric, weights are int8 with a
scale per output channel, biases have scale s_in * s_w. Where the largest sum that any input can
give fits 32 bits, for every channel of the layer, the biases are int32 and sums are requantised as
those of int8 layers, with a Q31 multiplier. Else the biases are int64, sums have 64 bits, and are
requantised with the multiplier reduced to Q15, rounded once (arm_nn_requantize_s64).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Constants,
    DType,
    Example,
    Kernel,
    Lowered,
    Site,
    Target,
    Types,
    register,
)
from toolchain.ir.fixedpoint import (
    clamp_codes,
    quantize_multipliers,
    reduced_multiplier,
    requantize,
    requantize_wide,
    saturate,
)
from toolchain.ops import fast
from toolchain.ops._diagonal import Reads, twice, window_overlap
from toolchain.ops._examples import clip_bounds, normal, size
from toolchain.ops._layer import LayerOp
from toolchain.ops._weights import WIDE, has_wide_sums, layer_multipliers, lower_layer
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fast.s16 import geometry, is_wide
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.grouped_conv import GroupedConv2D
from toolchain.ops.wide.twins import Wide, twin_of

_LARGE = 2.0**15
"""Such biases leave 32 bits in steps of the products."""


class WideLayer(Wide, LayerOp):
    """Inputs x, filter, bias; output clip(sums + bias) in int16 codes."""

    __slots__ = ()

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Accumulators of 32 or 64 bits, requantised per channel, clamped."""
        x, w, bias = codes
        total = self.sums(x.astype(np.int32), w).astype(np.int64) + bias
        multipliers, shifts = self._requantisation(types)
        if has_wide_sums(self, types):
            scaled = requantize_wide(total, multipliers, shifts)
        else:
            scaled = requantize(total, multipliers, shifts, self.rounding)
        clamp = clamp_codes(types[self.y], self.low, self.high)
        return (saturate(scaled, *clamp, DType.INT16),)

    def _requantisation(self, types: Types) -> tuple[Array, Array]:
        multipliers, shifts = quantize_multipliers(layer_multipliers(self, types))
        return (
            reduced_multiplier(multipliers) if has_wide_sums(self, types) else multipliers
        ), shifts

    def output_floor(self, types: Types, constants: Constants) -> float:
        """Smallest output scale with which the requantised sums stay in int32."""
        w, bias = (constants[n] for n in self.inputs[1:])
        rows = np.abs(np.moveaxis(w, self.channel_axis, 0).reshape(len(bias), -1)).sum(axis=1)
        reach = rows * 2.0**15 * types[self.x].q.scale + np.abs(bias)
        return float(reach.max(initial=0.0)) / 2.0**29

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """int8 filters per output channel, int32 or int64 biases."""
        w, bias = (constants[n] for n in self.inputs[1:])
        return lower_layer(self, types, w, bias, self.channel_axis, accumulators=WIDE)

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """Requantisation parameters per output channel."""
        multipliers, shifts = self._requantisation(types)
        return {"multiplier": multipliers, "shift": shifts}

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """As the twin's; some with biases that take sums of 64 bits."""
        made = super().example(rng)
        gain = np.float32(1.0 if rng.random() < 0.6 else _LARGE)
        return replace(made, constants={**made.constants, "b": made.constants["b"] * gain})


def _facts(site: Site) -> Mapping[str, Any]:
    return {**geometry(site), "wide": is_wide(site)}


_CONVOLUTION = Kernel(
    "glue_convolve_s16",
    "ops/wide/convolution.c.j2",
    ("glue_convolve_s16.c",),
    facts=_facts,
    overlap=twice(window_overlap(Reads.ALL_CHANNELS)),
)


@twin_of(Conv2D)
@register
@dataclass(frozen=True, slots=True)
class Int16Conv2D(WideLayer, Conv2D):
    """As Conv2D, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (*fast.INT16_CONVOLUTION, _CONVOLUTION)


@twin_of(GroupedConv2D)
@register
@dataclass(frozen=True, slots=True)
class Int16GroupedConv2D(WideLayer, GroupedConv2D):
    """As GroupedConv2D, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (_CONVOLUTION,)


@twin_of(DepthwiseConv2D)
@register
@dataclass(frozen=True, slots=True)
class Int16DepthwiseConv2D(WideLayer, DepthwiseConv2D):
    """As DepthwiseConv2D, on int16 codes."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.INT16_DEPTHWISE,
        Kernel(
            "glue_depthwise_conv_s16",
            "ops/wide/depthwise.c.j2",
            ("glue_depthwise_conv_s16.c",),
            facts=_facts,
            overlap=twice(window_overlap(Reads.OWN_CHANNEL)),
        ),
    )


@twin_of(FullyConnected)
@register
@dataclass(frozen=True, slots=True)
class Int16FullyConnected(WideLayer, FullyConnected):
    """As FullyConnected, on int16 codes: a convolution with a window of one row."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *fast.INT16_FULLY_CONNECTED,
        Kernel(
            "glue_convolve_s16",
            "ops/wide/convolution.c.j2",
            ("glue_convolve_s16.c",),
            facts=_facts,
        ),
    )

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """As the twin's; some so deep that sums have 64 bits."""
        if rng.random() < 0.7:
            return super(Int16FullyConnected, cls).example(rng)
        depth, channels = size(rng, 500, 1100), size(rng, 1, 4)
        return Example(
            cls("dense", ("x", "w", "b"), ("y",), *clip_bounds(rng)),
            {"x": (1, depth)},
            {"w": np.sign(normal(rng, channels, depth)), "b": normal(rng, channels)},
        )
