"""Rows of an operator's output computed by themselves: what streaming by rows is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolchain.ir.tensor import TensorType

if TYPE_CHECKING:
    from toolchain.ir.op import Op

HEIGHT = 1
"""Axis of the rows: tensors are [N, H, W, C]."""

Rows = tuple[int, int]
"""Neighbours: the first one, and how many."""


@dataclass(frozen=True, slots=True)
class RowCall:
    """An operator that computes rows of another one's output from some rows of its inputs.

    Args:
        op: The operator; its tensors have the names of the whole ones.
        reads: By input that is no constant: the first row read, and how many.
        writes: The first row written, and how many.
    """

    op: Op
    reads: Mapping[str, Rows]
    writes: Rows

    def types(self, types: Mapping[str, TensorType]) -> dict[str, TensorType]:
        """Types of the tensors of the operator: the rows that it reads and those it writes."""
        rows = {**dict.fromkeys(self.op.outputs, self.writes), **self.reads}
        own = {name: types[name] for name in (*self.op.inputs, *self.op.outputs)}
        for name, (_, count) in rows.items():
            shape = own[name].shape
            own[name] = own[name].with_shape((*shape[:HEIGHT], count, *shape[HEIGHT + 1 :]))
        return own


def is_map(kind: TensorType) -> bool:
    """One image [1, H, W, C]."""
    return len(kind.shape) == 4 and kind.shape[0] == 1


def bands(height: int, size: int) -> list[Rows]:
    """All rows of a map in bands of so many; what is left over is the last one."""
    return [(row, min(size, height - row)) for row in range(0, height, size)]
