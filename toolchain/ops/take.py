"""Take: chosen indices along every axis. Slice, Split, Gather, Tile, Expand, nearest Resize."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Example,
    Kernel,
    Node,
    Op,
    Origin,
    SameAs,
    Site,
    Target,
    TensorType,
    Types,
    Unsupported,
    Writer,
    register,
)
from toolchain.ops._copies import (
    MAX_RANK,
    IndexedCopy,
    StridedCopy,
    indexed_copy,
    progression,
    strided_copy,
    strides,
)
from toolchain.ops._examples import size

Indices = tuple[int, ...] | None
"""Which cells along an axis, in order; None takes all of them as they are."""


def _regular(site: Site) -> bool:
    """The cells of every axis are at regular distances, in up to 8 nested loops."""
    return site.op.strided(site.types) is not None


def _irregular(site: Site) -> bool:
    """The cells of an axis are not at regular distances."""
    return not _regular(site)


@register
@dataclass(frozen=True, slots=True)
class Take(Op):
    """y[i, j, ..] = x[indices[0][i], indices[1][j], ..]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel(
            "glue_strided_copy_s8",
            "ops/take_strided.c.j2",
            ("glue_strided_copy_s8.c",),
            when=_regular,
        ),
        Kernel(
            "glue_indexed_copy_s8",
            "ops/take_indexed.c.j2",
            ("glue_indexed_copy_s8.c",),
            when=_irregular,
        ),
    )

    indices: tuple[Indices, ...]

    def cells(self, shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The indices of every axis, written out.

        Args:
            shape: Shape of the input.
        """
        return tuple(
            tuple(range(n)) if i is None else i for i, n in zip(self.indices, shape, strict=True)
        )

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """One cell per index."""
        shape = types[self.x].shape
        cells = self.cells(shape)
        for values, n in zip(cells, shape, strict=True):
            if not values or min(values) < 0 or max(values) >= n:
                raise ValueError(f"indices {values} of an axis of size {n}")
        return (tuple(len(values) for values in cells),)

    def _taken(self, x: Array) -> Array:
        for axis, values in enumerate(self.indices):
            if values is not None:
                x = np.take(x, np.array(values, np.int64), axis)
        return np.ascontiguousarray(x)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The chosen values."""
        return (self._taken(values[0]),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """The chosen codes."""
        return (self._taken(codes[0]),)

    def quant_rule(self, _types: Types) -> SameAs:
        """As the input."""
        return SameAs()

    def permuted(self, perm: tuple[int, ...]) -> "Take":
        """The same with the indices of every axis where the permutation took it from."""
        return replace(self, indices=tuple(self.indices[perm.index(i)] for i in range(len(perm))))

    def strided(self, types: Types) -> StridedCopy | None:
        """The loops of glue_strided_copy_s8, or None when it cannot do it."""
        shape = types[self.x].shape
        loops, offset = [], 0
        for values, step in zip(self.cells(shape), strides(shape), strict=True):
            own = progression(values)
            if own is None:
                return None
            loops += [(n, step * s) for n, s in own]
            offset += step * values[0]
        copy = strided_copy(loops, offset, types[self.x].dtype.nbytes)
        return copy if len(copy.dims) <= MAX_RANK else None

    def _indexed(self, kind: TensorType) -> IndexedCopy:
        """The tables of glue_indexed_copy_s8."""
        return indexed_copy(self.cells(kind.shape), kind.shape, kind.dtype.nbytes)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Loops and block of the kernel."""
        copy = self.strided(types)
        if copy is not None:
            return {"copy": copy}
        table = self._indexed(types[self.x])
        if len(table.offsets) > MAX_RANK:
            raise ValueError(f"more than {MAX_RANK} axes to choose from")
        return {"dims": [len(t) for t in table.offsets], "block": table.block}

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """Offsets of the cells, axis by axis, when they are not regular."""
        if self.strided(types) is not None:
            return {}
        table = self._indexed(types[self.x])
        return {"offsets": np.concatenate([np.array(t, np.int32) for t in table.offsets])}

    def write(self, w: Writer) -> None:
        """Slice where cells are at regular distances, Gather elsewhere, on the codes."""
        perm = w.layout(self.x)
        codes = w.codes(self.x, perm)
        name = self.name
        for axis, values in enumerate(self.indices):
            if values is None:
                continue
            at, step = perm.index(axis), values[1] - values[0] if len(values) > 1 else 1
            if step and values == tuple(range(values[0], values[-1] + (step > 0) * 2 - 1, step)):
                size = w.graph.types[self.x].shape[axis]
                stop = values[-1] + step
                bounds = (values[0], stop if stop >= 0 else -size - 1, at, step)
                inputs = [w.number(np.array([n], np.int64), "slice") for n in bounds]
                codes = w.node("Slice", [codes, *inputs], self.y, name)
            else:
                cells = w.number(np.array(values, np.int64), "cells")
                codes = w.node("Gather", [codes, cells], self.y, name, axis=at)
        w.keep(self.y, codes, perm)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Any indices, a slice, a repetition or everything, for every axis."""
        shape = (1, *(size(rng, 1, 6) for _ in range(int(rng.integers(1, 4)))))
        indices: list[Indices] = [None]
        repeats = size(rng, 1, 3)
        for n in shape[1:]:
            choices: list[Indices] = [
                None,
                tuple(int(i) for i in rng.integers(0, n, size(rng, 1, 7))),
                tuple(range(n))[:: int(rng.integers(1, 4)) * int(rng.choice((-1, 1)))],
                tuple(range(n)) * repeats,
                tuple(i for i in range(n) for _ in range(repeats)),
            ]
            indices.append(choices[int(rng.integers(len(choices)))])
        return Example(cls("take", ("x",), ("y",), tuple(indices)), {"x": shape})


def emit_take(
    b: Builder,
    node: Node,
    x: str,
    y: str,
    chosen: Mapping[int, Sequence[int]],
    *origins: Origin | None,
) -> str:
    """Emit y = the chosen cells of x; axes that are not named stay whole.

    Args:
        b: Graph under construction.
        node: ONNX node it comes from.
        x: Input.
        y: Output.
        chosen: Indices in [0, size) by axis.
        origins: Origin of y when it is not the ONNX tensor of its name.

    Raises:
        Unsupported: Nothing is chosen along an axis.
    """
    x = b.activation(x)
    shape = b.shape(x)
    indices: list[Indices] = [None] * len(shape)
    for axis, values in chosen.items():
        if not len(values):
            raise Unsupported(f"its result is empty along axis {axis}")
        cells = tuple(int(v) for v in values)
        indices[axis] = None if cells == tuple(range(shape[axis])) else cells
    return b.emit(Take(node.name, (x,), (y,), tuple(indices)), *origins)
