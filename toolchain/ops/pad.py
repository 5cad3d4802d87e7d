"""Padding: constant as an operator of its own, the other modes as a choice of indices.

Zero padding before a convolution is fused into it by a pass.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    HEIGHT,
    Array,
    Builder,
    Constants,
    Example,
    Kernel,
    Node,
    Op,
    RowCall,
    SameAs,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import quantize_as
from toolchain.ops._axes import axis_of
from toolchain.ops._examples import size
from toolchain.ops.take import emit_take


@register
@dataclass(frozen=True, slots=True)
class Pad(Op):
    """Adds before[i] and after[i] elements of `value` on axis i; at most 4 axes are padded."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_pad_s8", "ops/pad.c.j2", ("glue_pad_s8.c",)),
    )

    before: tuple[int, ...]
    after: tuple[int, ...]
    value: float = 0.0

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """Grown shape."""
        shape = types[self.x].shape
        return (tuple(b + n + a for b, n, a in zip(self.before, shape, self.after, strict=True)),)

    def _pad(self, x: Array, value: float) -> Array:
        return np.pad(
            x,
            tuple(zip(self.before, self.after, strict=True)),
            constant_values=x.dtype.type(value),
        )

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Padded values."""
        return (self._pad(values[0], self.value),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Padded with the code of the value."""
        return (self._pad(codes[0], self._code(types)),)

    def _code(self, types: Types) -> int:
        return int(quantize_as(self.value, types[self.y]))

    def quant_rule(self, _types: Types) -> SameAs:
        """As the input; a pad value outside its range saturates."""
        return SameAs()

    def permuted(self, perm: tuple[int, ...]) -> "Pad":
        """The same with the pads of every axis where the permutation took it from."""
        rank = range(len(perm))
        before = tuple(self.before[perm.index(i)] for i in rank)
        after = tuple(self.after[perm.index(i)] for i in rank)
        return replace(self, before=before, after=after)

    def row(self, types: Types, constants: Constants, row: int, count: int = 1) -> RowCall | None:
        """From the same row of the input, where no rows are added."""
        added = any(self.before[: HEIGHT + 1]) or any(self.after[: HEIGHT + 1])
        return None if added else self._same_row(types, constants, row, count)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Four dimensions and pads in bytes, and the code of the value."""
        kind = types[self.x]
        shape = (*kind.shape, kind.dtype.nbytes)
        dims, before, after = _folded(shape, (*self.before, 0), (*self.after, 0))
        lead = 4 - len(dims)
        return {
            "dims": [1] * lead + dims,
            "before": [0] * lead + before,
            "after": [0] * lead + after,
            "code": self._code(types),
        }

    def write(self, w: Writer) -> None:
        """Pad."""
        perm = w.layout(self.x)
        pads = [side[p] for side in (self.before, self.after) for p in perm]
        inputs = [w.real(self.x, perm), w.number(np.array(pads, np.int64), "pads")]
        y = w.node("Pad", [*inputs, w.scalar(self.value)], self.y, self.name)
        w.finish(self.y, y, perm)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Up to four padded axes, and one that is not."""
        rank = size(rng, 1, 4)
        before, after = (
            tuple(int(n) * int(rng.integers(0, 2)) for n in rng.integers(0, 4, rank))
            for _ in range(2)
        )
        shape = (1, *(size(rng, 1, 6) for _ in range(rank)))
        return Example(cls("pad", ("x",), ("y",), (0, *before), (0, *after)), {"x": shape})


@imports("Pad")
def import_pad(node: Node, b: Builder) -> None:
    """Modes constant, reflect, edge and wrap with constant pads; negative pads crop."""
    mode = node.attribute("mode", "constant")
    if mode not in ("constant", *_SOURCES):
        raise Unsupported(f"Pad with mode {mode!r}")
    x, y = node.input(0), node.outputs[0]
    before, after = _pads(node, b, len(b.shape(x)))
    value = float(node.attribute("value", 0.0))
    if node.input(2):
        value = float(b.required(node, 2, "the pad value").reshape(()))
    kept = {
        axis: range(max(-first, 0), size - max(-last, 0))
        for axis, (size, first, last) in enumerate(zip(b.shape(x), before, after, strict=True))
    }
    if mode != "constant":
        emit_take(b, node, x, y, {i: _around(mode, kept[i], before[i], after[i]) for i in kept})
        return
    if max((*before, *after), default=0) <= 0:
        emit_take(b, node, x, y, kept)
        return
    if min((*before, *after)) < 0:
        x = emit_take(b, node, x, b.fresh(f"{y}.cropped"), kept, None)
    before, after = (tuple(max(n, 0) for n in pads) for pads in (before, after))
    if len(_folded(b.shape(x), before, after)[0]) > 4:
        raise Unsupported("Pad of more than 4 dimensions", "pad fewer dimensions at once")
    b.emit(Pad(node.name, (b.activation(x),), (y,), before, after, value))


def _pads(node: Node, b: Builder, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Pads before and after every axis; attributes until opset 10, inputs since, axes since 18."""
    pads = node.attribute("pads")
    pads = b.required(node, 1, "the list of pads") if pads is None else np.asarray(pads)
    axes = list(range(rank))
    if node.input(3):
        axes = [axis_of(a, rank) for a in np.ravel(b.required(node, 3, "the list of axes"))]
    if len(pads) != 2 * len(axes):
        raise Unsupported(f"{len(pads)} pads for {len(axes)} axes")
    before, after = [0] * rank, [0] * rank
    for position, axis in enumerate(axes):
        before[axis], after[axis] = int(pads[position]), int(pads[len(axes) + position])
    return tuple(before), tuple(after)


def _reflect(cell: int, size: int) -> int:
    """Mirrored at the first and the last cell, which are not repeated."""
    if not -size < cell < 2 * size - 1:
        raise Unsupported("a reflection of more cells than there are", "use smaller pads")
    return min(abs(cell), 2 * (size - 1) - abs(cell))


_SOURCES: dict[str, Callable[[int, int], int]] = {
    "reflect": _reflect,
    "edge": lambda cell, size: min(max(cell, 0), size - 1),
    "wrap": lambda cell, size: cell % size,
}
"""By mode: the cell in [0, size) that a cell outside is a copy of."""


def _around(mode: str, kept: range, before: int, after: int) -> list[int]:
    """Indices of the kept cells with copies before and after them."""
    if not kept:
        return []
    cells = range(-max(before, 0), len(kept) + max(after, 0))
    return [kept[_SOURCES[mode](cell, len(kept))] for cell in cells]


def _folded(
    shape: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Dimensions and pads with neighbouring axes merged where neither is padded.

    An axis that is not padded also joins the padded one before it: pads count its cells too.
    """
    dims: list[int] = []
    first: list[int] = []
    last: list[int] = []
    for n, low, high in zip(shape, before, after, strict=True):
        if n == 1 and not (low or high):
            continue
        if dims and not (low or high):
            dims[-1], first[-1], last[-1] = dims[-1] * n, first[-1] * n, last[-1] * n
        else:
            dims.append(n)
            first.append(low)
            last.append(high)
    return dims, first, last
