"""An input that the caller hands over row by row: a stage whose calls wait for a row."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from toolchain.ir import HEIGHT, Array, Example, Kernel, Op, TensorType, Types, bands
from toolchain.rows.stages import Call, Form, Stage
from toolchain.select import Choice

_WHY = "the caller hands over rows as they are read"


@dataclass(frozen=True, slots=True)
class Feed(Op):
    """Writes one row of output 0, which somebody else knows."""

    kernels: ClassVar[tuple[Kernel, ...]] = (Kernel("push_row", "", ()),)

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As declared."""
        return (types[self.y].shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Nobody can."""
        raise NotImplementedError

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Nobody can."""
        raise NotImplementedError

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """It is not in the registry."""
        raise NotImplementedError


def feed_of(kind: TensorType, x: str) -> Stage:
    """The stage that takes the rows of an image.

    Args:
        kind: Type of the image [1, H, W, C].
        x: Its name.
    """
    op = Feed("", (), (x,))
    row = kind.with_shape((1, 1, *kind.shape[2:]))
    form = Form(op, {x: row}, Choice(op.kernels[0], 0, predicted=0, reason=_WHY))
    calls = tuple(Call(0, (), rows) for rows in bands(kind.shape[HEIGHT], 1))
    return Stage(op, x, kind, (form,), calls)
