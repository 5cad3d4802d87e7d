"""Matrix product of two activations, batched, in any layout of the operands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
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
    Quant,
    TensorType,
    Types,
    Unsupported,
    Writer,
    register,
)
from toolchain.ir.fixedpoint import (
    activation_codes,
    clip,
    quant_from_range,
    quantize,
    quantize_multiplier,
    requantize,
    saturate,
)
from toolchain.ops._examples import clip_bounds, normal, size

MAX_DEPTH = 33000
"""Sums of more products of two centred codes could leave int32."""
BATCH_AXES = 3
_LARGEST = 255 * 255


@dataclass(frozen=True, slots=True)
class Walk:
    """How the kernel walks: sizes of the batch axes, and distances in codes.

    Args:
        batch: Sizes of BATCH_AXES axes, 1 where there are fewer.
        a: Steps of the first operand over the batch axes, the rows, the depth.
        b: Steps of the second operand over the batch axes, the columns, the depth.
    """

    batch: tuple[int, ...]
    a: tuple[int, ...]
    b: tuple[int, ...]


def _steps(shape: Sequence[int], perm: Sequence[int], rank: int) -> list[int]:
    """Distances in codes along each axis of the transposed tensor, 0 where it is broadcast."""
    own = [prod(shape[i + 1 :]) for i in range(len(shape))]
    arranged = [0 if shape[p] == 1 else own[p] for p in perm]
    return [0] * (rank - len(shape)) + arranged


@register
@dataclass(frozen=True, slots=True)
class MatMul(Op):
    """gain * transpose(a, a_perm) @ transpose(b, b_perm) + bias, clipped to [low, high].

    Inputs a [..., M, K] and b [..., K, N] (after their permutations), and perhaps a constant
    bias [N]; output [..., M, N]. The axes before the matrices broadcast. An empty permutation is
    none. One operand may be constant: it then has one scale for all its values.
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_matmul_s8", "ops/matmul.c.j2", ("glue_matmul_s8.c",)),
    )
    has_activation: ClassVar[bool] = True

    a_perm: tuple[int, ...] = ()
    b_perm: tuple[int, ...] = ()
    gain: float = 1.0
    low: float | None = None
    high: float | None = None

    def _perms(self, types: Types) -> tuple[tuple[int, ...], tuple[int, ...]]:
        ranks = (len(types[n].shape) for n in self.inputs[:2])
        first, second = (
            perm or tuple(range(rank))
            for perm, rank in zip((self.a_perm, self.b_perm), ranks, strict=True)
        )
        return first, second

    def _shapes(self, types: Types) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shapes of both operands as they are multiplied."""
        first, second = (
            tuple(types[name].shape[p] for p in perm)
            for name, perm in zip(self.inputs[:2], self._perms(types), strict=True)
        )
        return first, second

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[..., M, N]."""
        a, b = self._shapes(types)
        if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
            raise ValueError(f"matrices {a} and {b} do not fit")
        if a[-1] > MAX_DEPTH:
            raise Unsupported(f"sums of {a[-1]} products", f"up to {MAX_DEPTH} are supported")
        shape = (*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1])
        if self.walk(types) is None:
            raise Unsupported(f"the batch axes of {a} and {b} broadcast in too many ways")
        return (shape,)

    def walk(self, types: Types) -> Walk | None:
        """The kernel's loops, or None when they need more than BATCH_AXES batch axes."""
        a, b = self._shapes(types)
        batch = np.broadcast_shapes(a[:-2], b[:-2])
        rank = len(batch) + 2
        first, second = (
            _steps(types[n].shape, perm, rank)
            for n, perm in zip(self.inputs[:2], self._perms(types), strict=True)
        )
        merged: list[tuple[int, int, int]] = []
        for n, s, t in zip(batch, first, second, strict=False):
            if n == 1:
                continue
            if merged and merged[-1][1:] == (s * n, t * n):
                merged[-1] = (merged[-1][0] * n, s, t)
            else:
                merged.append((n, s, t))
        if len(merged) > BATCH_AXES:
            return None
        merged = [(1, 0, 0)] * (BATCH_AXES - len(merged)) + merged
        sizes, a_steps, b_steps = (tuple(axis[i] for axis in merged) for i in range(3))
        return Walk(sizes, (*a_steps, *first[-2:]), (*b_steps, second[-1], second[-2]))

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The product in float64."""
        total = self.gain * self._product(*values[:2])
        if len(values) > 2:
            total = total + values[2]
        return (clip(total, self.low, self.high).astype(np.float32),)

    def _product(self, a: Array, b: Array) -> Array:
        first = a.transpose(self.a_perm) if self.a_perm else a
        second = b.transpose(self.b_perm) if self.b_perm else b
        return np.asarray(first.astype(np.float64) @ second.astype(np.float64))

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """int32 sums of products of centred codes, requantised, clamped."""
        y = types[self.y].q
        a, b = (
            code.astype(np.int16) - types[n].q.zero_point
            for n, code in zip(self.inputs[:2], codes, strict=False)
        )
        total = self._product(a, b).astype(np.int64)
        if len(codes) > 2:
            total = total + codes[2]
        scaled = requantize(total, *self._multiplier(types), self.rounding) + y.zero_point
        return (saturate(scaled, *activation_codes(y, self.low, self.high)),)

    def _multiplier(self, types: Types) -> tuple[int, int]:
        a, b, y = (types[n].q.scale for n in (*self.inputs[:2], self.y))
        return quantize_multiplier(self.gain * a * b / y)

    def _unit(self, types: Types, constants: Constants) -> float:
        """Real value of 1 in the accumulator."""
        scales = [
            (_constant_quant(types, constants, n) if n in constants else types[n].q).scale
            for n in self.inputs[:2]
        ]
        return self.gain * prod(scales)

    def output_floor(self, types: Types, constants: Constants) -> float:
        """Smallest output scale whose arithmetic stays in int32."""
        depth = self._shapes(types)[0][-1]
        bias = np.abs(constants[self.inputs[2]]).max() if len(self.inputs) > 2 else 0.0
        reach = self._unit(types, constants) * _LARGEST * depth + float(bias)
        return reach / 2.0**29

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """A constant operand as int8 codes, the bias as int32."""
        added: dict[str, tuple[Array, TensorType]] = {}
        names: dict[str, str] = {}
        warnings: tuple[str, ...] = ()
        for index, x in enumerate(self.inputs[:2]):
            if x in constants:
                names[x] = f"{self.y}.operand{index}"
                quant = _constant_quant(types, constants, x)
                kind = replace(types[x], dtype=DType.INT8, quant=quant)
                added[names[x]] = (quantize(constants[x], quant), kind)
        if len(self.inputs) > 2:
            values = constants[self.inputs[2]].astype(np.float64)
            exact = np.rint(values / self._unit(types, constants))
            room = 2**31 - 1 - _LARGEST * self._shapes(types)[0][-1]
            bias = np.clip(exact, -room, room).astype(np.int32)
            if np.any(exact != bias):
                warnings = (f"{self.name}: its bias is too large for the products and is clipped",)
            names[self.inputs[2]] = f"{self.y}.bias"
            added[f"{self.y}.bias"] = (bias, TensorType(bias.shape, DType.INT32))
        return Lowered(Op.renamed(self, names), added, warnings)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Loops, requantisation and clamp."""
        a, b = self._shapes(types)
        return {
            "walk": self.walk(types),
            "rows": a[-2],
            "depth": a[-1],
            "columns": b[-1],
            "result": self._multiplier(types),
            "clamp": activation_codes(types[self.y].q, self.low, self.high),
        }

    def macs(self, types: Types) -> int:
        """Depth times output elements."""
        return types[self.y].elements * self._shapes(types)[0][-1]

    def write(self, w: Writer) -> None:
        """Gemm where there is a bias for two matrices; MatMul, the gain at the first operand."""
        types, gain = w.graph.types, self.gain if self.gain != 1 else None
        a, b = (
            w.real(x, perm) for x, perm in zip(self.inputs[:2], self._perms(types), strict=True)
        )
        bias = [
            w.integers(w.graph.constants[c], [self._unit(types, {})], None, c)
            for c in self.inputs[2:]
        ]
        if bias and len(types[self.y].shape) == 2:
            y = w.node("Gemm", [a, b, *bias], self.y, self.name, alpha=gain)
        else:
            a = a if gain is None else w.node("Mul", [a, w.scalar(gain)], self.y)
            y = w.node("MatMul", [a, b], self.y, self.name)
            y = w.node("Add", [y, *bias], self.y) if bias else y
        w.finish(self.y, y, None, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random matrices, batch axes that may broadcast, permutations, bias and activation."""
        rows, depth, columns = (size(rng, 1, 9) for _ in range(3))
        batch = [size(rng, 1, 3) for _ in range(int(rng.integers(0, 4)))]
        shapes, perms = [], []
        for matrix in ((rows, depth), (depth, columns)):
            wanted = (*(n if rng.random() < 0.7 else 1 for n in batch), *matrix)
            perm = tuple(int(p) for p in rng.permutation(len(wanted)))
            shapes.append(tuple(wanted[perm.index(i)] for i in range(len(wanted))))
            perms.append(perm)
        low, high = clip_bounds(rng)
        bias = {"c": normal(rng, columns)} if rng.random() < 0.5 else {}
        gain = float(rng.uniform(0.1, 2.0))
        return Example(
            cls("matmul", ("a", "b", *bias), ("y",), perms[0], perms[1], gain, low, high),
            {"a": shapes[0], "b": shapes[1]},
            bias,
        )


def _constant_quant(types: Types, constants: Constants, name: str) -> Quant:
    """What the model states for a constant operand, else what covers its values."""
    value = constants[name]
    return types[name].quant or quant_from_range(float(value.min()), float(value.max()))
