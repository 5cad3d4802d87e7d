"""Convolutions and fully connected layers with int4 weights."""

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from toolchain.ir import Array, Example, Kernel, Op, Types, register
from toolchain.ops._layer import LayerOp
from toolchain.ops._weights import INT4_REACH
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.ops.int4 import dsp, mve, portable


class Int4Layer(LayerOp):
    """A layer whose weights are in [-7, 7], one scale per output channel."""

    __slots__ = ()

    weight_reach: ClassVar[int] = INT4_REACH

    def stored_bytes(self, constant: str, types: Types) -> int:
        """Two weights to a byte."""
        kind = types[constant]
        return -(-kind.elements // 2) if constant == self.inputs[1] else kind.nbytes

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """As that with int8 weights; the weights are multiples of a step, up to seven of them."""
        made = super().example(rng)
        return replace(made, constants={**made.constants, "w": _stepped(made.constants["w"])})


def _stepped(weights: Array) -> Array:
    """The nearest weights that 4 bits can hold exactly."""
    rows = weights.reshape(len(weights), -1)
    step = np.abs(rows).max(axis=1, keepdims=True) / INT4_REACH
    return np.asarray((np.rint(rows / step) * step).reshape(weights.shape), np.float32)


@register
@dataclass(frozen=True, slots=True)
class Int4Conv2D(Int4Layer, Conv2D):
    """As Conv2D, with int4 weights."""

    kernels: ClassVar[tuple[Kernel, ...]] = (*mve.CONVOLUTION, *dsp.LAYER, *portable.LAYER)


@register
@dataclass(frozen=True, slots=True)
class Int4FullyConnected(Int4Layer, FullyConnected):
    """As FullyConnected, with int4 weights."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        *mve.FULLY_CONNECTED,
        *dsp.LAYER,
        *portable.LAYER,
    )


_FORMS: dict[type[Op], type[Int4Layer]] = {Conv2D: Int4Conv2D, FullyConnected: Int4FullyConnected}


def int4_form(op: Op) -> Op | None:
    """The same layer with int4 weights; None where there is no such."""
    kind = _FORMS.get(type(op))
    return None if kind is None else kind(**{f.name: getattr(op, f.name) for f in fields(op)})
