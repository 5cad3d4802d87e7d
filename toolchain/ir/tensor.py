"""Tensor types: shape, element type and quantisation; no data."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


class DType(StrEnum):
    """Element type, by numpy's name."""

    FLOAT32 = "float32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"

    @property
    def nbytes(self) -> int:
        """Bytes per element."""
        return int(np.dtype(self.value).itemsize)

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        info = np.iinfo(self.value)
        return int(info.min), int(info.max)


@dataclass(frozen=True, slots=True)
class Quant:
    """real = scale * (code - zero_point); one scale, or one per index of `axis`.

    `dtype` is the type of an activation's codes.
    """

    scales: tuple[float, ...]
    zero_point: int = 0
    axis: int | None = None
    dtype: DType = DType.INT8

    @property
    def scale(self) -> float:
        """The per-tensor scale."""
        (scale,) = self.scales
        return scale


INDICES = Quant((1.0,), -128)
"""Of codes that count from 0 to 255."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """Static type of one tensor; axis 0 of an activation is the batch and is 1."""

    shape: tuple[int, ...]
    dtype: DType = DType.FLOAT32
    quant: Quant | None = None

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Storage in bytes."""
        return self.elements * self.dtype.nbytes

    @property
    def shape4(self) -> tuple[int, int, int, int]:
        """The shape of a tensor that has four dimensions."""
        a, b, c, d = self.shape
        return a, b, c, d

    @property
    def q(self) -> Quant:
        """The quantisation of a tensor that must have one."""
        assert self.quant is not None, "tensor is not quantised"
        return self.quant

    def with_shape(self, shape: tuple[int, ...]) -> "TensorType":
        """The same element type and quantisation with another shape."""
        return replace(self, shape=shape)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tensor's float value is in the ONNX model.

    The value is seen under the shape `kept`, transposed by `perm`, reshaped, multiplied by `gain`
    and moved by `shift` along the last axis, of which only `channels` are left. Gains and shifts
    of fewer channels than that axis has, repeat.
    """

    tensor: str
    perm: tuple[int, ...] | None = None
    channels: tuple[int, ...] | None = None
    kept: tuple[int, ...] | None = None
    gain: tuple[float, ...] | None = None
    shift: tuple[float, ...] | None = None

    @property
    def unchanged(self) -> bool:
        """The tensor holds the very values of the ONNX model."""
        return self.gain is None and self.shift is None

    def view(self, value: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """The ONNX tensor's value in this tensor's own layout, channels and shape."""
        whole = self.whole(value, shape)
        return (whole if self.channels is None else whole[..., list(self.channels)]).reshape(shape)

    def whole(self, value: NDArray[Any], shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """The same with all channels along the last axis, none left out.

        Args:
            value: Of the ONNX tensor.
            shape: Of this tensor; None where it is not reshaped.
        """
        value = value if self.kept is None else value.reshape(self.kept)
        whole = value if self.perm is None else value.transpose(self.perm)
        if shape:
            whole = whole.reshape(*shape[:-1], -1)
        if self.gain is not None:
            whole = whole * np.resize(np.array(self.gain), whole.shape[-1])
        if self.shift is not None:
            whole = whole + np.resize(np.array(self.shift), whole.shape[-1])
        return whole
