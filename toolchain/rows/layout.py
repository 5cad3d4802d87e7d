"""The memory of a segment as planned: what happens at every step, and where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolchain.ir import HEIGHT, TensorType
from toolchain.rows.schedule import Row
from toolchain.rows.stages import Stage


def row_bytes(kind: TensorType) -> int:
    """Bytes of one row."""
    return kind.nbytes // kind.shape[HEIGHT]


@dataclass(frozen=True, slots=True)
class Place:
    """An address of a step.

    Args:
        tensor: The whole tensor that it lies in; None: the memory of the segment.
        offset: Bytes from its start.
    """

    tensor: str | None
    offset: int


@dataclass(frozen=True, slots=True)
class Shift:
    """Bytes of the segment's memory that move to a lower address."""

    to: int
    start: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Action:
    """What happens at a step.

    Args:
        stage: Index of the stage.
        form: Index of its form.
        shifts: What moves before the call.
        y: Where the row is written.
        xs: Where the first row of each activation is read.
    """

    stage: int
    form: int
    shifts: tuple[Shift, ...]
    y: Place
    xs: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A segment with its memory planned.

    Args:
        stages: Its stages.
        actions: What happens, in order; none in a first estimate.
        rows: When every row exists, by tensor.
        scratch: Offset of scratch memory by stage and form, where some is needed.
        state: Offset of the number of the next step, where the segment waits for rows.
        nbytes: Size of the segment's memory.
        bound: Bytes that one step needs of it, at least.
        ends: Where the last byte ends that is in use, by step.
        needs: Bytes that are in use, at least, by step.
    """

    stages: tuple[Stage, ...]
    actions: tuple[Action, ...]
    rows: Mapping[str, Sequence[Row]]
    scratch: Mapping[tuple[int, int], int]
    state: int | None
    nbytes: int
    bound: int
    ends: Sequence[int]
    needs: Sequence[int]

    def beneath(self, x: str, types: Mapping[str, TensorType], *, least: bool = False) -> int:
        """Bytes by which the segment's memory must begin before input x, at least.

        It may grow over the rows of the input that are consumed.

        Args:
            x: The input.
            types: Types of all tensors.
            least: A number that no layout is below, in this order of the calls.
        """
        size, lowest, found = row_bytes(types[x]), 0, -types[x].nbytes
        rows = self.rows[x]
        for t, end in enumerate(self.needs if least else self.ends):
            while lowest < len(rows) and rows[lowest].last < t:
                lowest += 1
            if lowest < len(rows):
                found = max(found, end - lowest * size)
        return found

    def distance(self, x: str, types: Mapping[str, TensorType]) -> int:
        """Bytes by which the whole output must begin before input x, at least."""
        y, rows = self.stages[-1].y, self.rows[x]
        size, step = row_bytes(types[x]), row_bytes(types[y])
        needs, lowest = [-types[x].nbytes], 0
        for i, row in enumerate(self.rows[y]):
            while lowest < len(rows) and rows[lowest].last < row.born:
                lowest += 1
            if lowest < len(rows):
                needs.append((i + 1) * step - lowest * size)
        return max(needs)
