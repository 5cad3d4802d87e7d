"""A mean over a whole map, row by row: running sums, and what makes the means of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    HEIGHT,
    Array,
    DType,
    Example,
    Graph,
    Kernel,
    Op,
    RowCall,
    TensorType,
    Types,
    bands,
    is_map,
)
from toolchain.ops.average_pool import AveragePool

_SOURCES = ("glue_row_sums_s8.c",)


@dataclass(frozen=True, slots=True)
class RowSums(Op):
    """Codes of rows [1, H, W, C] summed per channel, int32 [1, 1, 1, C]; input 1: sums so far."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_row_sums_s8", "ops/row_sums.c.j2", _SOURCES),
    )

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[1, 1, 1, C]."""
        return ((1, 1, 1, types[self.x].shape[3]),)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The integers of the codes are what there is."""
        raise NotImplementedError

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """Exact: a map has less than 2^24 cells."""
        total = codes[0].astype(np.int32).sum(axis=(1, 2), keepdims=True, dtype=np.int32)
        return (total + codes[1] if len(codes) > 1 else total,)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """It is not in the registry."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class SumsMean(Op):
    """int32 sums of the codes of a map, to what the pool over the map gives.

    Args:
        pool: The pool; input 0 of it is the map.
        map: Type of the map.
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_sums_mean_s8", "ops/sums_mean.c.j2", _SOURCES),
    )

    pool: AveragePool
    map: TensorType

    def _types(self, types: Types) -> Types:
        return {self.pool.x: self.map, self.pool.y: types[self.y]}

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[1, 1, 1, C]."""
        return (types[self.x].shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The integers of the codes are what there is."""
        raise NotImplementedError

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """As the pool with these sums."""
        return (self.pool.mean(self._types(types), codes[0].astype(np.int64)),)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Cells of the map and clamp; requantisation where the output has a scale of its own."""
        whole = self._types(types)
        return {
            **self.pool.arguments(whole),
            "cells": prod(self.map.shape[1:3]),
            "zero": self.map.q.zero_point,
            "requantisation": self.pool.single_requantisation(whole),
        }

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """It is not in the registry."""
        raise NotImplementedError


def accumulated(
    op: Op, graph: Graph, band: int
) -> Sequence[tuple[Op, Sequence[RowCall], TensorType]] | None:
    """The operator that adds rows and the one that divides, each with its calls and its output.

    None for anything but a mean over a whole map.

    Args:
        op: The operator.
        graph: Types and constants.
        band: Rows that a call adds.
    """
    if not isinstance(op, AveragePool) or not is_map(graph.types[op.x]):
        return None
    kind = graph.types[op.x]
    height, width = kind.shape[1:3]
    if op.window.kernel != (height, width) or any(op.window.pads) or height < 2:
        return None
    name = f"{op.y}.sums"
    sums = TensorType((1, 1, 1, kind.shape[3]), DType.INT32)
    first = RowSums(op.name, (op.x,), (name,))
    adding = replace(first, inputs=(op.x, name))
    rows = bands(kind.shape[HEIGHT], band)
    calls = [RowCall(first, {op.x: rows[0]}, (0, 1))]
    calls += [RowCall(adding, {op.x: more, name: (0, 1)}, (0, 1)) for more in rows[1:]]
    mean = SumsMean(op.name, (name,), (op.y,), op, kind)
    return (
        (first, calls, sums),
        (mean, [RowCall(mean, {name: (0, 1)}, (0, 1))], graph.types[op.y]),
    )
