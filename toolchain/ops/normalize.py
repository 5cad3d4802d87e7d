"""Normalisation of rows in integers: layer, instance, group and root-mean-square forms."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isqrt, prod
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Constants,
    DType,
    Example,
    Kernel,
    Lowered,
    Op,
    Site,
    TensorType,
    Types,
    Unsupported,
    Writer,
    register,
)
from toolchain.ir.fixedpoint import activation_codes, clip
from toolchain.ops._examples import clip_bounds, normal, size

MAX_COUNT = 65536
"""Elements of a row (GLUE_MAX_NORMALIZED)."""
_FRACTION = 20
_BIAS_FRACTION = 16
_MIN_SHIFT, _MAX_SHIFT = 16, 46


@dataclass(frozen=True, slots=True)
class Rows:
    """A tensor as [outer, span, groups, depth]; a row is [span, depth] of one group."""

    outer: int
    span: int
    groups: int
    depth: int

    @property
    def count(self) -> int:
        """Elements of a row."""
        return self.span * self.depth


def _overlap(site: Site) -> Mapping[int, int]:
    """One group is written through all blocks of its row before the next group is read."""
    rows: Rows = site.op.rows(site.shape(site.op.x))
    return {0: (rows.span - 1) * rows.groups * rows.depth if rows.groups > 1 else 0}


@register
@dataclass(frozen=True, slots=True)
class Normalize(Op):
    """Inputs x [N, ..., C], gain [C], bias [C]; output clip(normal * gain + bias).

    The last axis falls into `groups`; a row holds the channels of one group, and with `across` also
    all axes between the first and the last. normal = (x - mean) / sqrt(variance + epsilon) of the
    row, or without `subtract_mean` x / sqrt(mean of x * x + epsilon).
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_normalize_s8", "ops/normalize.c.j2", ("glue_normalize_s8.c",), overlap=_overlap
        ),
    )
    has_activation: ClassVar[bool] = True
    channel_axis: ClassVar[int] = 0

    groups: int = 1
    across: bool = False
    epsilon: float = 1e-5
    subtract_mean: bool = True
    low: float | None = None
    high: float | None = None
    shift: int = 0
    """Of the result; known once the constants are integers."""

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the input."""
        shape = types[self.x].shape
        if shape[-1] % self.groups:
            raise ValueError(f"{shape[-1]} channels in {self.groups} groups")
        count = self.rows(shape).count
        if count > MAX_COUNT:
            raise Unsupported(f"rows of {count} elements", f"up to {MAX_COUNT} are supported")
        return (shape,)

    def rows(self, shape: tuple[int, ...]) -> Rows:
        """How a tensor of this shape falls into rows."""
        split = 1 if self.across else len(shape) - 1
        outer, span = prod(shape[:split]), prod(shape[split:-1])
        return Rows(outer, span, self.groups, shape[-1] // self.groups)

    def _view(self, x: Array) -> tuple[Array, Rows]:
        r = self.rows(x.shape)
        return x.reshape(r.outer, r.span, r.groups, r.depth), r

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """In float64."""
        x, rows = self._view(values[0].astype(np.float64))
        if self.subtract_mean:
            x = x - x.mean(axis=(1, 3), keepdims=True)
        power = (x * x).mean(axis=(1, 3), keepdims=True) + self.epsilon
        normals = x / np.sqrt(np.where(power > 0, power, 1.0))
        gain, bias = (v.reshape(rows.groups, rows.depth) for v in values[1:])
        result = clip(normals * gain + bias, self.low, self.high)
        return (result.astype(np.float32).reshape(values[0].shape),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """As glue_normalize_s8: see cmsis_glue/include/glue.h."""
        y = types[self.y].q
        x, rows = self._view(codes[0].astype(np.int64) - types[self.x].q.zero_point)
        total = x.sum(axis=(1, 3), keepdims=True) * int(self.subtract_mean)
        squares = (x * x).sum(axis=(1, 3), keepdims=True)
        power = rows.count * squares - total * total + self._epsilon_code(types)
        pairs = [_inverse_root(int(p)) for p in power.ravel()]
        factors, shifts = (
            np.array(v, np.int64).reshape(power.shape) for v in zip(*pairs, strict=True)
        )
        half = np.int64(1) << (shifts - 1)
        normals = ((rows.count * x - total) * factors + half) >> shifts
        gain, bias = (
            np.broadcast_to(v.astype(np.int64), rows.groups * rows.depth).reshape(
                rows.groups, rows.depth
            )
            for v in codes[1:]
        )
        scaled = normals * gain + (bias << (self.shift - _BIAS_FRACTION))
        result = ((scaled + (1 << (self.shift - 1))) >> self.shift) + y.zero_point
        low, high = activation_codes(y, self.low, self.high)
        return (np.clip(result, low, high).astype(np.int8).reshape(codes[0].shape),)

    def _epsilon_code(self, types: Types) -> int:
        """epsilon at the scale of count**2 * variance."""
        kind = types[self.x]
        count = self.rows(kind.shape).count
        return min(round(self.epsilon * (count / kind.q.scale) ** 2), 1 << 60)

    def output_floor(self, types: Types, constants: Constants) -> float:  # noqa: ARG002
        """Smallest output scale for which gain and bias fit their integers."""
        largest = max(float(np.abs(constants[n]).max()) for n in self.inputs[1:])
        return largest / 2.0**14

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """Gain and bias as int32 in steps of the output; one entry when all are alike."""
        gain, bias = (
            constants[n].astype(np.float64) / types[self.y].q.scale for n in self.inputs[1:]
        )
        if len(np.unique(gain)) == len(np.unique(bias)) == 1:
            gain, bias = gain[:1], bias[:1]
        top = float(np.abs(gain).max())
        shift = next(
            s
            for s in range(_MAX_SHIFT, _MIN_SHIFT - 1, -1)
            if s == _MIN_SHIFT or top * 2.0 ** (s - _FRACTION) < 2**31 - 1
        )
        codes = (
            np.rint(gain * 2.0 ** (shift - _FRACTION)).astype(np.int32),
            np.rint(bias * 2.0**_BIAS_FRACTION).astype(np.int32),
        )
        names = (f"{self.y}.gain", f"{self.y}.bias")
        renamed = Op.renamed(self, dict(zip(self.inputs[1:], names, strict=True)))
        assert isinstance(renamed, Normalize)
        return Lowered(
            replace(renamed, shift=shift),
            {n: (c, TensorType(c.shape, DType.INT32)) for n, c in zip(names, codes, strict=True)},
        )

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Rows, epsilon, shift, clamp."""
        return {
            "rows": self.rows(types[self.x].shape),
            "epsilon": self._epsilon_code(types),
            "subtract_mean": self.subtract_mean,
            "shift": self.shift,
            "clamp": activation_codes(types[self.y].q, self.low, self.high),
        }

    def write(self, w: Writer) -> None:
        """LayerNormalization or InstanceNormalization, of groups too; else its definition."""
        types, step = w.graph.types, w.graph.types[self.y].q.scale
        shape = types[self.x].shape
        fractions = self.shift - _FRACTION, _BIAS_FRACTION
        gain, bias = (
            np.broadcast_to(w.graph.constants[n] * step * 2.0**-bits, shape[-1]).astype(np.float32)
            for n, bits in zip(self.inputs[1:], fractions, strict=True)
        )
        epsilon = self.epsilon or 1e-7 * types[self.x].q.scale ** 2  # a row of zeros stays zero
        if self.subtract_mean and self.across:
            first = (0, len(shape) - 1, *range(1, len(shape) - 1))
            y = self._instances(w, w.real(self.x, first), (gain, bias), epsilon)
            w.finish(self.y, y, first, self.low, self.high)
            return
        if self.subtract_mean and self.groups == 1:
            w.require(17)
            inputs = [w.real(self.x), w.number(gain, "gain"), w.number(bias, "bias")]
            y = w.node("LayerNormalization", inputs, self.y, self.name, axis=-1, epsilon=epsilon)
        else:
            y = self._defined(w, w.real(self.x), epsilon)
            y = w.node("Mul", [y, w.number(gain, "gain")], self.y)
            if bias.any():
                y = w.node("Add", [y, w.number(bias, "bias")], self.y)
        w.finish(self.y, y, None, self.low, self.high)

    def _instances(self, w: Writer, x: str, affine: tuple[Array, Array], epsilon: float) -> str:
        """Rows that run over all positions of a channel or a group, [N, C, ...]."""
        n, *space, channels = w.graph.types[self.x].shape
        if self.groups == channels:
            inputs = [x, *(w.number(v, "affine") for v in affine)]
            return w.node("InstanceNormalization", inputs, self.y, self.name, epsilon=epsilon)
        grouped = w.number(np.array((n, self.groups, -1), np.int64), "shape")
        ones = np.ones(self.groups, np.float32)
        inputs = [w.node("Reshape", [x, grouped], self.y)]
        inputs += [w.number(v, "affine") for v in (ones, 0 * ones)]
        y = w.node("InstanceNormalization", inputs, self.y, self.name, epsilon=epsilon)
        whole = w.number(np.array((n, channels, *space), np.int64), "shape")
        y = w.node("Reshape", [y, whole], self.y)
        for op_type, values in zip(("Mul", "Add"), affine, strict=True):
            column = values.reshape(-1, *(1 for _ in space))
            y = w.node(op_type, [y, w.number(column, "affine")], self.y)
        return y

    def _defined(self, w: Writer, x: str, epsilon: float) -> str:
        """Rows of mean 0 and variance 1, or of mean square 1."""
        shape = w.graph.types[self.x].shape
        rows = self.rows(shape)
        axes: tuple[int, ...] = (-1,)
        if rows.groups > 1 or self.across:
            view = np.array((rows.outer, rows.span, rows.groups, rows.depth), np.int64)
            x, axes = w.node("Reshape", [x, w.number(view, "shape")], self.y), (1, 3)
        if self.subtract_mean:
            x = w.node("Sub", [x, w.node("ReduceMean", [x], self.y, axes=axes)], self.y)
        power = w.node("ReduceMean", [w.node("Mul", [x, x], self.y)], self.y, axes=axes)
        power = w.node("Add", [power, w.scalar(epsilon)], self.y)
        x = w.node("Div", [x, w.node("Sqrt", [power], self.y)], self.y, self.name)
        if axes == (-1,):
            return x
        return w.node("Reshape", [x, w.number(np.array(shape, np.int64), "shape")], self.y)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Layer, instance, group or root-mean-square normalisation of a random map."""
        groups, depth = size(rng, 1, 4), size(rng, 1, 6)
        across = bool(rng.random() < 0.6)
        if not across:
            groups, depth = 1, size(rng, 2, 40)
        low, high = clip_bounds(rng)
        channels = groups * depth
        alike = rng.random() < 0.2
        gain, bias = normal(rng, channels), normal(rng, channels)
        op = cls(
            "normalize",
            ("x", "g", "b"),
            ("y",),
            groups,
            across,
            float(rng.choice([1e-5, 1e-3, 0.0])),
            bool(rng.random() < 0.7),
            low,
            high,
        )
        return Example(
            op,
            {"x": (1, size(rng, 2, 6), size(rng, 2, 6), channels)},
            {"g": np.full_like(gain, gain[0]), "b": np.full_like(bias, bias[0])}
            if alike
            else {"g": gain, "b": bias},
        )


def _inverse_root(power: int) -> tuple[int, int]:
    """(factor, shift) with 1 / sqrt(power) = factor * 2**(-shift - 20); factor 0 for power 0."""
    if power == 0:
        return 0, 1
    doublings = max(0, (62 - power.bit_length()) // 2)
    return (1 << 61) // isqrt(power << (2 * doublings)), 61 - _FRACTION - doublings
