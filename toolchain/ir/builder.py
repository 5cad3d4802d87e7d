"""The graph under construction, as the importers of the operators see it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from toolchain.ir.graph import Graph
from toolchain.ir.node import Node, Unsupported
from toolchain.ir.op import Array, Op
from toolchain.ir.tensor import DType, Origin, Quant, TensorType

Importer = Callable[[Node, "Builder"], None]
_Importer = TypeVar("_Importer", bound=Importer)
IMPORTERS: dict[str, Importer] = {}


def imports(*op_types: str) -> Callable[[_Importer], _Importer]:
    """Decorator: this function converts nodes of these ONNX operators."""

    def declare(function: _Importer) -> _Importer:
        for op_type in op_types:
            if op_type in IMPORTERS:
                raise ValueError(f"two importers for ONNX {op_type}")
            IMPORTERS[op_type] = function
        return function

    return declare


def _finite(value: Array) -> Array:
    if not np.isfinite(value).all():
        raise Unsupported("one of its constants holds NaN or infinity", "train or export it again")
    return value


class Builder:
    """Collects operators, types and constants while nodes are read in order.

    Args:
        constants: Initialisers and folded constants by ONNX name.
    """

    def __init__(self, constants: Mapping[str, Array]) -> None:
        self.known = dict(constants)
        self.ops: list[Op] = []
        self.types: dict[str, TensorType] = {}
        self.constants: dict[str, Array] = {}
        self.origins: dict[str, Origin] = {}
        self.aliases: dict[str, str] = {}
        self.pins: dict[str, Quant] = {}
        self.dequantized: dict[str, str] = {}

    # ---- reading -----------------------------------------------------------------------------
    def shape(self, name: str) -> tuple[int, ...]:
        """Static shape of a tensor that is already there."""
        if name in self.types:
            return self.types[name].shape
        if name in self.known:
            return tuple(self.known[name].shape)
        raise Unsupported(f"its input {name!r} comes from a node that cannot be converted")

    def value(self, name: str) -> Array | None:
        """Value of a constant tensor, or None for an activation or a missing input."""
        return self.known.get(name)

    def required(self, node: Node, index: int, what: str) -> Array:
        """Value of an input that must be constant."""
        value = self.value(node.input(index))
        if value is None:
            raise Unsupported(
                f"{what} (input {index}) is computed at run time",
                "only a constant is supported here; fold constants or export with static shapes",
            )
        return value

    def activation(self, name: str) -> str:
        """Name to read a tensor by; a constant becomes a constant of the graph."""
        if name not in self.types:
            value = self.known.get(name)
            if value is None:
                raise Unsupported(f"its input {name!r} comes from a node that cannot be converted")
            self.types[name] = TensorType(tuple(value.shape))
            self.constants[name] = _finite(np.asarray(value, np.float32))
        return name

    def pin(self, name: str, axis: int | None = None) -> Quant | None:
        """Quantisation a constant came with (R13), its channels on `axis`; None for floats."""
        quant = self.pins.get(name)
        if quant is None or len(quant.scales) == 1:
            return quant
        return replace(quant, axis=axis)

    # ---- writing -----------------------------------------------------------------------------
    def pin_activation(self, name: str, quant: Quant) -> None:
        """Give an activation the quantisation the model states."""
        self.types[name] = replace(self.types[name], quant=quant)

    def stand_for(self, x: str, y: str) -> None:
        """From now on the value of `x` in the ONNX model is that of `y`, after its rounding."""
        self.dequantized.setdefault(x, y)

    def input(self, name: str, shape: tuple[int, ...]) -> None:
        """Declare an input of the graph."""
        self.types[name] = TensorType(shape)
        self.origins[name] = Origin(name)

    def fresh(self, base: str) -> str:
        """A tensor name not yet in use that starts with `base`."""
        name, n = base, 1
        while name in self.types or name in self.known or name in self.aliases:
            name, n = f"{base}.{n}", n + 1
        return name

    def constant(
        self,
        base: str,
        value: NDArray[np.floating] | NDArray[np.integer],
        quant: Quant | None = None,
    ) -> str:
        """Add a constant of real values; returns its name.

        Args:
            base: Name to start from.
            value: Values.
            quant: Quantisation they came with; they are then kept in float64, from which every
                32-bit code can be had back.
        """
        name = self.fresh(base)
        kind = np.float64 if quant else np.float32
        self.constants[name] = _finite(np.asarray(value, kind, order="C"))
        self.types[name] = TensorType(tuple(value.shape), DType.FLOAT32, quant)
        return name

    def emit(self, op: Op, *origins: Origin | None) -> str:
        """Append an operator and declare its outputs; returns the first output.

        Args:
            op: Operator whose inputs are declared.
            origins: Origin of each output; by default the ONNX tensor of the same name.
        """
        for index, (y, shape) in enumerate(zip(op.outputs, op.infer(self.types), strict=True)):
            self.types[y] = TensorType(shape)
            origin = origins[index] if index < len(origins) else Origin(y)
            if origin is not None:
                self.origins[y] = origin
        self.ops.append(op)
        return op.y

    def graph(self, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Graph:
        """The finished graph."""
        return Graph(
            name,
            tuple(self.ops),
            self.types,
            self.constants,
            tuple(inputs),
            tuple(outputs),
            {
                n: replace(o, tensor=self.dequantized.get(o.tensor, o.tensor))
                for n, o in self.origins.items()
            },
        )
