"""An ONNX file under construction, as the operators see it that write themselves into it.

Codes are int8 tensors between QuantizeLinear and DequantizeLinear. They are kept in every layout
somebody asked for, so a change of layout is only written where no tensor of that layout exists.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from toolchain.ir.graph import Graph
from toolchain.ir.op import Array, Op
from toolchain.ir.tensor import DType, Quant, TensorType

FIRST = (0, 3, 1, 2)
"""Permutation from [N, H, W, C] to [N, C, H, W]."""

LOWEST_OPSET = 13
"""The first with a scale per channel."""

FIRST_WITH_INT16 = 21
"""The first whose QuantizeLinear gives 16-bit codes."""

Perm = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Stored:
    """Codes in the file: their name, shape, and the axes longer than 1 in their order."""

    name: str
    axes: Perm
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """A tensor of the graph: where its codes are kept, and its axes longer than 1 in order."""

    kept: list[_Stored]
    axes: Perm


@dataclass(frozen=True, slots=True)
class Written:
    """Where the codes that an operator computes are in the file: value.transpose(perm)."""

    name: str
    perm: Perm


@dataclass
class Writer:
    """Nodes and constants of the file, and where the codes of every tensor are.

    Args:
        graph: Integer graph.
    """

    graph: Graph
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    opset: int = LOWEST_OPSET
    written: dict[str, Written] = field(default_factory=dict)
    _layouts: dict[str, _Layout] = field(default_factory=dict)
    _reals: dict[str, str] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _node_names: set[str] = field(default_factory=set)
    _parameters: dict[tuple[str, Quant], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names |= {*self.graph.inputs, *self.graph.outputs}

    # ---- reading -----------------------------------------------------------------------------
    def codes(self, x: str, perm: Perm | None = None) -> str:
        """Name of the int8 codes of a tensor, transposed by `perm`."""
        shape = self.graph.types[x].shape
        perm = perm or tuple(range(len(shape)))
        layout = self._layouts[x]
        wanted, axes = tuple(shape[p] for p in perm), _moved(shape, layout.axes, perm)
        exact = next((s for s in layout.kept if (s.axes, s.shape) == (axes, wanted)), None)
        if exact is not None:
            return exact.name
        source = next((s for s in layout.kept if s.axes == axes), None)
        if source is None:
            source = self._turned(x, layout, axes)
        if source.shape != wanted:
            target = self.number(np.array(wanted, np.int64), "shape")
            name = self.node("Reshape", [source.name, target], x)
            source = _Stored(name, axes, wanted)
            layout.kept.append(source)
        return source.name

    def _turned(self, x: str, layout: _Layout, axes: Perm) -> _Stored:
        source = layout.kept[0]
        own = [i for i, n in enumerate(source.shape) if n != 1]
        ones = [i for i, n in enumerate(source.shape) if n == 1]
        moving = [own[source.axes.index(a)] for a in axes]
        perm = (*ones[:1], *moving, *ones[1:])
        name = self.node("Transpose", [source.name], x, perm=perm)
        turned = _Stored(name, axes, tuple(source.shape[p] for p in perm))
        layout.kept.append(turned)
        return turned

    def real(self, x: str, perm: Perm | None = None) -> str:
        """Name of the real values of an activation or a constant operand, transposed by `perm`."""
        if x in self.graph.constants:
            value = self.graph.constants[x]
            value = value if perm is None else value.transpose(perm)
            return self.integers(value, self.graph.types[x].q.scales, None, x, self._zero(x))
        codes = self.codes(x, perm)
        if codes not in self._reals:
            self._reals[codes] = self.dequantized(codes, self.graph.types[x])
        return self._reals[codes]

    def _zero(self, x: str) -> int:
        return self.graph.types[x].q.zero_point

    def layout(self, x: str) -> Perm:
        """The permutation under which the codes of a tensor are there without another node."""
        shape = self.graph.types[x].shape
        layout = self._layouts[x]
        for stored in layout.kept:
            if len(stored.shape) == len(shape):
                own = [i for i, n in enumerate(shape) if n != 1]
                ones = iter([i for i, n in enumerate(shape) if n == 1])
                long = iter(own[layout.axes.index(a)] for a in stored.axes)
                return tuple(next(ones) if n == 1 else next(long) for n in stored.shape)
        return tuple(range(len(shape)))

    def operands(self, op: Op) -> tuple[list[str], Perm]:
        """Reals of all inputs of an operator that does not mind the layout, and their layout."""
        largest = max(self.graph.activations(op), key=lambda x: self.graph.types[x].elements)
        perm = self.layout(largest)
        return [self.real(x, perm) for x in op.inputs], perm

    # ---- writing -----------------------------------------------------------------------------
    def require(self, opset: int) -> None:
        """State that a node needs at least this version of ONNX's operators."""
        self.opset = max(self.opset, opset)

    def fresh(self, base: str) -> str:
        """A tensor name that starts with `base` and is not used yet."""
        name, count = base, 1
        while name in self._names:
            name, count = f"{base}.{count}", count + 1
        self._names.add(name)
        return name

    def node(
        self, op_type: str, inputs: Sequence[str], base: str, name: str = "", **attributes: Any
    ) -> str:
        """Write a node with one output; returns the output.

        Args:
            op_type: ONNX operator.
            inputs: Tensors it reads, "" for one left out.
            base: What the output's name starts with.
            name: Name of the node; empty: made from the operator and the output's name.
            attributes: Its attributes; None leaves one out.
        """
        y = self.fresh(f"{self.base(base)}_{op_type}_Output")
        self._append(op_type, inputs, y, name or f"{self.base(base)}_{op_type}", **attributes)
        return y

    def _append(
        self, op_type: str, inputs: Sequence[str], y: str, name: str, **attributes: Any
    ) -> None:
        unique, count = name, 1
        while unique in self._node_names:
            unique, count = f"{name}.{count}", count + 1
        self._node_names.add(unique)
        given = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(helper.make_node(op_type, list(inputs), [y], name=unique, **given))

    def base(self, tensor: str) -> str:
        """Name of the ONNX tensor that a tensor of the graph stands for."""
        if tensor in self.graph.outputs or tensor not in self.graph.origins:
            return tensor
        return self.graph.origins[tensor].tensor

    def number(self, value: Array, what: str = "constant") -> str:
        """Write a constant; returns its name."""
        name = self.fresh(what)
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def scalar(self, value: float) -> str:
        """Write a float32 number; returns its name."""
        return self.number(np.array(value, np.float32))

    def integers(
        self, codes: Array, scales: Sequence[float], axis: int | None, base: str, zero: int = 0
    ) -> str:
        """Write integer constants and what makes them real; returns the name of the reals.

        Args:
            codes: int8 or int32 codes.
            scales: One scale, or one per index of `axis`.
            axis: Axis the scales run over.
            base: What the names start with.
            zero: Zero point.
        """
        stored = self.number(codes, f"{base}_quantized")
        single = len(scales) == 1
        given = np.array(scales[0] if single else scales, np.float32)
        inputs = [stored, self.number(given, f"{base}_scale")]
        zeros = np.full(given.shape, zero, codes.dtype)
        inputs.append(self.number(zeros, f"{base}_zero_point"))
        return self.node("DequantizeLinear", inputs, base, axis=None if single else axis)

    def _bias(self, codes: Array, unit: Sequence[float], base: str) -> str:
        """Reals of biases; those of 64 bits as float32 numbers, for ONNX has no codes so wide."""
        if codes.dtype == np.int32:
            return self.integers(codes, unit, 0, base)
        return self.number((codes * np.array(unit)).astype(np.float32), base)

    def filter_and_bias(
        self, op: Op, codes: Array, axis: int | None, steps: Sequence[float] | None = None
    ) -> list[str]:
        """Reals of a layer's weights and bias.

        Args:
            op: A layer with inputs x, weights, bias.
            codes: Its weights in ONNX's layout.
            axis: Axis of the output channels in them.
            steps: Scales along that axis, when they are not those of the weights' type.
        """
        x, w, b = op.inputs
        scales = self.graph.types[w].q.scales if steps is None else steps
        every = self.graph.types[w].q.scales
        unit = [float(np.float32(self.graph.types[x].q.scale * s)) for s in every]
        return [
            self.integers(codes, scales, axis, w),
            self._bias(self.graph.constants[b], unit, b),
        ]

    def parameters(self, kind: TensorType, base: str) -> list[str]:
        """Scale and zero point of an activation."""
        quant = kind.q
        if kind.dtype is DType.INT16:
            self.require(FIRST_WITH_INT16)
        if (base, quant) not in self._parameters:
            self._parameters[base, quant] = [
                self.number(np.array(quant.scale, np.float32), f"{base}_scale"),
                self.number(np.array(quant.zero_point, kind.dtype.value), f"{base}_zero_point"),
            ]
        return self._parameters[base, quant]

    def dequantized(self, codes: str, kind: TensorType, output: str = "") -> str:
        """Reals of the codes of a type, under a made-up name or that of an output of the file."""
        base = codes.removesuffix("_QuantizeLinear_Output")
        inputs = [codes, *self.parameters(kind, base)]
        y = output or self.fresh(f"{base}_DequantizeLinear_Output")
        self._append("DequantizeLinear", inputs, y, f"{base}_DequantizeLinear")
        return y

    def finish(
        self,
        y: str,
        real: str,
        perm: Perm | None = None,
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        """Clip the real values of a tensor and round them to its codes.

        Args:
            y: Tensor of the graph.
            real: Its values, transposed by `perm`.
            perm: Layout; None is the graph's own.
            low: Lower bound; None is open.
            high: Upper bound; None is open.
        """
        real = self.clipped(real, low, high, y)
        base = self.base(y)
        inputs = [real, *self.parameters(self.graph.types[y], base)]
        self.keep(y, self.node("QuantizeLinear", inputs, y), perm)

    def clipped(self, real: str, low: float | None, high: float | None, base: str) -> str:
        """Values between two bounds; None is open."""
        if low is None and high is None:
            return real
        if (low, high) == (0.0, None):
            return self.node("Relu", [real], base)
        bounds = ["" if bound is None else self.scalar(bound) for bound in (low, high)]
        return self.node("Clip", [real, *(bounds if bounds[1] else bounds[:1])], base)

    def keep(self, y: str, codes: str, perm: Perm | None = None) -> None:
        """State that these are the codes of a tensor, transposed by `perm`."""
        shape = self.graph.types[y].shape
        perm = perm or tuple(range(len(shape)))
        axes = tuple(range(sum(n != 1 for n in shape)))
        stored = _Stored(codes, _moved(shape, axes, perm), tuple(shape[p] for p in perm))
        self._layouts[y] = _Layout([stored], axes)
        self.written[y] = Written(codes, perm)

    def transposed(self, y: str, x: str, perm: Perm) -> None:
        """State that y is transpose(x, perm)."""
        layout, shape = self._layouts[x], self.graph.types[x].shape
        self._layouts[y] = _Layout(layout.kept, _moved(shape, layout.axes, perm))

    def reshaped(self, y: str, x: str) -> None:
        """State that y holds the codes of x under its own shape."""
        before, after = (self.graph.types[n].shape for n in (x, y))
        if [n for n in before if n != 1] == [n for n in after if n != 1]:
            self._layouts[y] = self._layouts[x]
            return
        target = self.number(np.array(after, np.int64), "shape")
        name = self.node("Reshape", [self.codes(x), target], y)
        axes = tuple(range(sum(n != 1 for n in after)))
        self._layouts[y] = _Layout([_Stored(name, axes, after)], axes)


def _moved(shape: tuple[int, ...], axes: Perm, perm: Perm) -> Perm:
    """The axes longer than 1 of a tensor of this shape, in the order `perm` brings them to."""
    long = iter(axes)
    of_dimension = [next(long) if n != 1 else -1 for n in shape]
    return tuple(of_dimension[p] for p in perm if shape[p] != 1)
