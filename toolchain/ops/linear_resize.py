"""Linear interpolation along one or two axes, in integers, at the input's scale.

The result of an interpolation lies between its neighbours, so the input's scale and zero point
always fit: no requantisation, one rounding, and codes that need no calibration of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import Array, Example, Kernel, Op, SameAs, Target, Types, Writer, register
from toolchain.ops._coordinates import COORDINATES, positions
from toolchain.ops._examples import size

ONE = 4096
"""Positions are used in units of 1/4096 cell."""


@dataclass(frozen=True, slots=True)
class ResizedAxis:
    """One axis and the position in it of every cell of the result, in [0, size - 1]."""

    axis: int
    positions: tuple[float, ...]


@register
@dataclass(frozen=True, slots=True)
class LinearResize(Op):
    """y at a position between cells is their weighted mean; one or two axes, in ascending order."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_resize_linear_s8", "ops/linear_resize.c.j2", ("glue_resize_linear_s8.c",)),
    )

    axes: tuple[ResizedAxis, ...]

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """One cell per position."""
        shape = list(types[self.x].shape)
        for resized in self.axes:
            if not 0 <= min(resized.positions) <= max(resized.positions) <= shape[resized.axis] - 1:
                raise ValueError(f"positions outside axis {resized.axis} of {tuple(shape)}")
            shape[resized.axis] = len(resized.positions)
        return (tuple(shape),)

    def _interpolated(self, x: Array, one: float, codes: bool) -> Array:
        """Sum of neighbours times weights; the weights of a cell add up to one per axis."""
        for resized in self.axes:
            axis, last = resized.axis, x.shape[resized.axis] - 1
            where = _fixed(resized.positions) if codes else np.array(resized.positions)
            low = (where // one).astype(np.int64)
            weight = where - low * one
            weight = weight.reshape(-1, *(1,) * (x.ndim - axis - 1))
            first, second = (np.take(x, np.minimum(low + i, last), axis) for i in (0, 1))
            x = first * (one - weight) + second * weight
        return x

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Interpolated values."""
        return (self._interpolated(values[0].astype(np.float64), 1.0, False).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """Exact sum of codes times weights, rounded once, halves up."""
        total = self._interpolated(codes[0].astype(np.int64), ONE, True)
        whole = ONE ** len(self.axes)
        return (np.asarray((total + whole // 2) // whole, np.int8),)

    def quant_rule(self, _types: Types) -> SameAs:
        """As the input."""
        return SameAs()

    def permuted(self, perm: tuple[int, ...]) -> "LinearResize":
        """The same along the axes where the permutation took them from; their order is free."""
        axes = (replace(resized, axis=perm[resized.axis]) for resized in self.axes)
        return replace(self, axes=tuple(sorted(axes, key=lambda resized: resized.axis)))

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """The input as [outer, height, middle, width, inner]."""
        shape, last = types[self.x].shape, self.axes[-1].axis
        single = len(self.axes) == 1
        first = last if single else self.axes[0].axis
        height = 1 if single else shape[first]
        middle = prod(shape[first + 1 : last])
        sizes = (prod(shape[:first]), height, middle, shape[last], prod(shape[last + 1 :]))
        return dict(zip(("outer", "height", "middle", "width", "inner"), sizes, strict=True))

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """Positions along height and width; a single axis is the width."""
        *rows, columns = (_fixed(resized.positions) for resized in self.axes)
        return {"rows": rows[0] if rows else np.zeros(1, np.int32), "columns": columns}

    def write(self, w: Writer) -> None:
        """Resize in the mode that gives these positions, else products with the weights."""
        shape = w.graph.types[self.x].shape
        moving = [resized.axis for resized in self.axes]
        perm = (*(i for i in range(len(shape)) if i not in moving), *moving)
        mode = self._mode(shape)
        y = w.real(self.x, perm)
        if mode is not None and len(shape) in (2, 4):
            final = w.graph.types[self.y].shape
            sizes = w.number(np.array([final[p] for p in perm], np.int64), "sizes")
            y = w.node(
                "Resize",
                [y, "", "", sizes],
                self.y,
                self.name,
                mode="linear",
                coordinate_transformation_mode=mode,
            )
        else:
            for place, resized in enumerate(self.axes, start=-len(self.axes)):
                y = self._product(w, y, resized, shape[resized.axis], last=place == -1)
        w.finish(self.y, y, perm)

    def _mode(self, shape: tuple[int, ...]) -> str | None:
        """The coordinate mode under which ONNX computes these positions from the sizes."""
        for mode in COORDINATES:
            found = [
                np.clip(positions(mode, old, new, new / old), 0, old - 1)
                for old, new in ((shape[r.axis], len(r.positions)) for r in self.axes)
            ]
            if all(
                np.array_equal(f, np.array(r.positions, np.float32))
                for f, r in zip(found, self.axes, strict=True)
            ):
                return mode
        return None

    def _product(self, w: Writer, x: str, resized: ResizedAxis, size: int, last: bool) -> str:
        """One axis, the last or the one before it, as a product with its weights."""
        rows = np.arange(len(resized.positions))
        where = np.array(resized.positions)
        low = where.astype(np.int64)
        weights = np.zeros((len(rows), size), np.float32)
        weights[rows, low] = 1 - (where - low)
        weights[rows, np.minimum(low + 1, size - 1)] += where - low
        if last:
            return w.node("MatMul", [x, w.number(weights.T, "weights")], self.y, self.name)
        return w.node("MatMul", [w.number(weights, "weights"), x], self.y, self.name)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """One or two axes of a map, larger or smaller."""
        shape = (1, size(rng), size(rng), size(rng))
        chosen = sorted(rng.choice((1, 2, 3), int(rng.integers(1, 3)), replace=False).tolist())
        axes = tuple(
            ResizedAxis(
                axis, tuple(float(p) for p in np.linspace(0, shape[axis] - 1, size(rng, 1, 12)))
            )
            for axis in chosen
        )
        return Example(cls("linear_resize", ("x",), ("y",), axes), {"x": shape})


def _fixed(positions: tuple[float, ...]) -> Array:
    """Positions in units of 1/4096 cell, int32, halves up."""
    return np.asarray(np.floor(np.array(positions) * ONE + 0.5), np.int32)
