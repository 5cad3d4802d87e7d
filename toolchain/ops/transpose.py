"""Transpose: permute the dimensions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Example,
    Kernel,
    Node,
    Op,
    SameAs,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ops._copies import MAX_RANK, StridedCopy, strided_copy, strides


def transposition(shape: Sequence[int], perm: Sequence[int], each: int = 1) -> StridedCopy:
    """The loops that write transpose(x, perm) in order, axes that stay together merged.

    Args:
        shape: Shape of x.
        perm: The permutation.
        each: Bytes of a code.
    """
    steps = strides(shape)
    return strided_copy([(shape[p], steps[p]) for p in perm], each=each)


@register
@dataclass(frozen=True, slots=True)
class Transpose(Op):
    """y.shape[i] = x.shape[perm[i]]."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_strided_copy_s8", "ops/transpose.c.j2", ("glue_strided_copy_s8.c",)),
    )

    perm: tuple[int, ...]

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """Permuted shape."""
        shape = types[self.x].shape
        return (tuple(shape[p] for p in self.perm),)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Permuted values."""
        return (values[0].transpose(self.perm),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """Permuted codes."""
        return (np.ascontiguousarray(codes[0].transpose(self.perm)),)

    def quant_rule(self, _types: Types) -> SameAs:
        """As the input."""
        return SameAs()

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Loops and block of the kernel."""
        kind = types[self.x]
        return {"copy": transposition(kind.shape, self.perm, kind.dtype.nbytes)}

    def write(self, w: Writer) -> None:
        """Transpose, where somebody asks for that layout."""
        w.transposed(self.y, self.x, self.perm)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """A random permutation of 2 to 5 dimensions."""
        rank = int(rng.integers(2, 6))
        shape = (1, *(int(n) for n in rng.integers(1, 6, rank - 1)))
        perm = tuple(int(p) for p in rng.permutation(rank))
        return Example(cls("transpose", ("x",), ("y",), perm), {"x": shape})


@imports("Transpose")
def import_transpose(node: Node, b: Builder) -> None:
    """The permutation defaults to reversing all dimensions."""
    x = b.activation(node.input(0))
    rank = len(b.shape(x))
    perm = tuple(int(p) for p in node.attribute("perm", tuple(reversed(range(rank)))))
    if sorted(perm) != list(range(rank)):
        raise Unsupported(f"perm {perm} does not permute {rank} dimensions")
    if len(transposition(b.shape(x), perm).dims) > MAX_RANK:
        raise Unsupported(f"more than {MAX_RANK} dimensions that move")
    b.emit(Transpose(node.name, (x,), (node.outputs[0],), perm))
