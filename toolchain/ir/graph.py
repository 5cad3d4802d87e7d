"""A straight-line program over named tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from toolchain.ir.fixedpoint import Rounding
from toolchain.ir.op import Array, Op
from toolchain.ir.tensor import Origin, TensorType

_Table = TypeVar("_Table")


@dataclass(frozen=True, slots=True)
class Graph:
    """Operators in execution order and everything known of their tensors.

    Args:
        name: Model name.
        ops: Operators, each after those whose outputs it reads.
        types: Type of every tensor, constants included.
        constants: Values of the constants.
        inputs: Tensors the caller fills.
        outputs: Tensors the caller reads.
        origins: For activations, where the float value is in the ONNX model.
    """

    name: str
    ops: tuple[Op, ...]
    types: Mapping[str, TensorType]
    constants: Mapping[str, Array]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    origins: Mapping[str, Origin] = field(default_factory=dict)
    _tables: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def rounding(self) -> Rounding:
        """How all operators requantise."""
        return self.ops[0].rounding if self.ops else Rounding.DOUBLE

    @property
    def output_shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the outputs, in order."""
        return [self.types[y].shape for y in self.outputs]

    def producers(self) -> Mapping[str, Op]:
        """Operator that writes each tensor."""
        return self._kept("producers", lambda: {y: op for op in self.ops for y in op.outputs})

    def consumers(self) -> Mapping[str, list[Op]]:
        """Operators that read each tensor, in order, one entry per operator."""
        return self._kept("consumers", self._consumers)

    def uses(self) -> Mapping[str, int]:
        """How often each tensor is read, being a graph output included; 0 for unknown names."""
        return self._kept(
            "uses",
            lambda: Counter([x for op in self.ops for x in op.inputs] + list(self.outputs)),
        )

    def _consumers(self) -> dict[str, list[Op]]:
        readers: dict[str, list[Op]] = {}
        for op in self.ops:
            for x in dict.fromkeys(op.inputs):
                readers.setdefault(x, []).append(op)
        return readers

    def _kept(self, name: str, make: Callable[[], _Table]) -> _Table:
        """What follows from the operators is computed once: rewrites ask for every operator."""
        if name not in self._tables:
            self._tables[name] = make()
        return cast(_Table, self._tables[name])

    def is_constant(self, name: str) -> bool:
        """Whether the tensor's value is known."""
        return name in self.constants

    def stored_bytes(self) -> Mapping[str, int]:
        """Bytes of flash that each constant takes, as the operators that read it store it."""
        packed = {x: op.stored_bytes(x, self.types) for op in self.ops for x in op.inputs}
        return {x: packed.get(x, int(value.nbytes)) for x, value in self.constants.items()}

    def activations(self, op: Op) -> tuple[str, ...]:
        """The inputs of an operator that are not constants."""
        return tuple(x for x in op.inputs if x not in self.constants)

    def with_ops(
        self,
        ops: Sequence[Op],
        types: Mapping[str, TensorType] | None = None,
        constants: Mapping[str, Array] | None = None,
        origins: Mapping[str, Origin] | None = None,
    ) -> Graph:
        """A graph with other operators and with additions to the tables; unused names go."""
        types = {**self.types, **(types or {})}
        constants = {**self.constants, **(constants or {})}
        origins = {**self.origins, **(origins or {})}
        live = {n for op in ops for n in (*op.inputs, *op.outputs)} | {*self.inputs, *self.outputs}
        return replace(
            self,
            ops=tuple(ops),
            types={n: t for n, t in types.items() if n in live},
            constants={n: c for n, c in constants.items() if n in live},
            origins={n: o for n, o in origins.items() if n in live},
        )
