"""Operators on codes (QLinearConv and its kind) in QDQ form: one form for what follows (R13)."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from toolchain.errors import InputRefused
from toolchain.frontend.constants import initializers


def to_qdq(model: ModelProto) -> ModelProto:
    """The model with every QLinear operator in QDQ form; models without any come back as they are.

    1. QLinearConv, QLinearMatMul (ONNX) and QGemm (com.microsoft): their int32 bias keeps its codes
       at scale s_in * s_w.
    2. QLinearAdd, QLinearMul, QLinearAveragePool, QLinearGlobalAveragePool, QLinearSoftmax,
       QLinearLeakyRelu, QLinearSigmoid, QLinearConcat, QLinearReduceMean (com.microsoft).
    """
    if not any(node.op_type in _RULES for node in model.graph.node):
        return model
    rewritten = ModelProto()
    rewritten.CopyFrom(model)
    rewriter = _Rewriter(rewritten)
    nodes: list[NodeProto] = []
    for node in model.graph.node:
        rule = _RULES.get(node.op_type)
        try:
            nodes += [node] if rule is None else list(rule(rewriter, node))
        except (ValueError, IndexError) as error:
            raise InputRefused(
                "read",
                node.name,
                f"{node.op_type} {node.name!r}: it has {len(node.input)} inputs and "
                f"{len(node.output)} outputs, which is not its form",
                "export the model again",
            ) from error
    del rewritten.graph.node[:]
    rewritten.graph.node.extend(nodes)
    rewritten.graph.initializer.extend(rewriter.added)
    return rewritten


class _Rewriter:
    def __init__(self, model: ModelProto) -> None:
        self.constants = initializers(model.graph)
        self.added: list[TensorProto] = []
        self._numbers = count()

    def name(self, node: NodeProto, role: str) -> str:
        return f"{node.output[0]}.{role}.{next(self._numbers)}"

    def value(self, name: str) -> NDArray[Any] | None:
        return self.constants.get(name)

    def constant(self, node: NodeProto, role: str, value: NDArray[Any]) -> str:
        name = self.name(node, role)
        self.added.append(numpy_helper.from_array(value, name))
        return name

    def dequantized(
        self, node: NodeProto, x: str, scale: str, zero: str, axis: int | None = None
    ) -> tuple[NodeProto, str]:
        y = self.name(node, "real")
        inputs = [x, scale, zero] if zero else [x, scale]
        attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
        return helper.make_node("DequantizeLinear", inputs, [y], **attributes), y

    def float_node(
        self, node: NodeProto, op_type: str, inputs: list[str], keep: tuple[str, ...] = ()
    ) -> tuple[NodeProto, str]:
        y = self.name(node, "float")
        made = helper.make_node(op_type, inputs, [y], name=node.name)
        made.attribute.extend(a for a in node.attribute if not keep or a.name in keep)
        return made, y

    def quantized(self, node: NodeProto, x: str, scale: str, zero: str) -> NodeProto:
        return helper.make_node("QuantizeLinear", [x, scale, zero], [node.output[0]])

    def bias(
        self, node: NodeProto, bias: str, x_scale: str, w_scale: str
    ) -> Iterator[tuple[NodeProto, str]]:
        """DequantizeLinear of an int32 bias at the product of the two scales."""
        scales = [self.value(x_scale), self.value(w_scale)]
        if scales[0] is None or scales[1] is None:
            return
        product = (scales[0].astype(np.float32) * scales[1].astype(np.float32)).astype(np.float32)
        scale = self.constant(node, "bias_scale", product)
        yield self.dequantized(node, bias, scale, "", 0 if product.size > 1 else None)


def _conv(r: _Rewriter, node: NodeProto) -> Iterator[NodeProto]:
    x, xs, xz, w, ws, wz, ys, yz, *bias = node.input
    dx, real_x = r.dequantized(node, x, xs, xz)
    dw, real_w = r.dequantized(node, w, ws, wz, 0)
    inputs = [real_x, real_w]
    yield from (dx, dw)
    if bias and bias[0]:
        for db, real_b in r.bias(node, bias[0], xs, ws):
            inputs.append(real_b)
            yield db
    made, y = r.float_node(node, "Conv", inputs)
    yield made
    yield r.quantized(node, y, ys, yz)


def _matmul(r: _Rewriter, node: NodeProto) -> Iterator[NodeProto]:
    a, a_scale, a_zero, b, b_scale, b_zero, ys, yz = node.input
    da, real_a = r.dequantized(node, a, a_scale, a_zero)
    scale = r.value(b_scale)
    per_column = scale is not None and scale.size > 1
    db, real_b = r.dequantized(node, b, b_scale, b_zero, 1 if per_column else None)
    made, y = r.float_node(node, "MatMul", [real_a, real_b])
    yield from (da, db, made)
    yield r.quantized(node, y, ys, yz)


def _gemm(r: _Rewriter, node: NodeProto) -> Iterator[NodeProto]:
    a, a_scale, a_zero, b, b_scale, b_zero, *rest = node.input
    transposed = any(t.name == "transB" and t.i for t in node.attribute)
    da, real_a = r.dequantized(node, a, a_scale, a_zero)
    db, real_b = r.dequantized(node, b, b_scale, b_zero, 0 if transposed else 1)
    inputs = [real_a, real_b]
    yield from (da, db)
    if rest and rest[0]:
        for dc, real_c in r.bias(node, rest[0], a_scale, b_scale):
            inputs.append(real_c)
            yield dc
    made, y = r.float_node(node, "Gemm", inputs)
    yield made
    if len(rest) > 1 and rest[1]:
        yield r.quantized(node, y, rest[1], rest[2])
    else:
        made.output[0] = node.output[0]


def _of_tensors(
    op_type: str, tensors: int
) -> Callable[[_Rewriter, NodeProto], Iterator[NodeProto]]:
    """Rule for nodes with `tensors` inputs (tensor, scale, zero point), then scale and zero."""

    def rule(r: _Rewriter, node: NodeProto) -> Iterator[NodeProto]:
        names = [*node.input, ""]
        reals = []
        for index in range(tensors):
            made, real = r.dequantized(node, *names[3 * index : 3 * index + 3])
            reals.append(real)
            yield made
        made, y = r.float_node(node, op_type, reals)
        _drop(made, "channels_last", "opset")
        yield made
        yield r.quantized(node, y, names[3 * tensors], names[3 * tensors + 1])

    return rule


def _softmax(r: _Rewriter, node: NodeProto) -> Iterator[NodeProto]:
    x, xs, xz, ys, yz = node.input
    dx, real = r.dequantized(node, x, xs, xz)
    made, y = r.float_node(node, "Softmax", [real], ("axis",))
    yield from (dx, made)
    yield r.quantized(node, y, ys, yz)


def _concat(r: _Rewriter, node: NodeProto) -> Iterator[NodeProto]:
    ys, yz, *parts = node.input
    reals = []
    for index in range(0, len(parts), 3):
        made, real = r.dequantized(node, *parts[index : index + 3])
        reals.append(real)
        yield made
    made, y = r.float_node(node, "Concat", reals)
    yield made
    yield r.quantized(node, y, ys, yz)


def _drop(node: NodeProto, *names: str) -> None:
    kept = [a for a in node.attribute if a.name not in names]
    del node.attribute[:]
    node.attribute.extend(kept)


_RULES: dict[str, Callable[[_Rewriter, NodeProto], Iterator[NodeProto]]] = {
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "QGemm": _gemm,
    "QLinearAdd": _of_tensors("Add", 2),
    "QLinearMul": _of_tensors("Mul", 2),
    "QLinearAveragePool": _of_tensors("AveragePool", 1),
    "QLinearGlobalAveragePool": _of_tensors("GlobalAveragePool", 1),
    "QLinearReduceMean": _of_tensors("ReduceMean", 1),
    "QLinearLeakyRelu": _of_tensors("LeakyRelu", 1),
    "QLinearSigmoid": _of_tensors("Sigmoid", 1),
    "QLinearSoftmax": _softmax,
    "QLinearConcat": _concat,
}
