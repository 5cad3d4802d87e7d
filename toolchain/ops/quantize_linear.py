"""QuantizeLinear and DequantizeLinear: the scales a quantised model comes with (R13).

Neither computes anything on the device. On a constant they give its codes; on an activation they
state its quantisation, and the tensor before and after is one and the same.
"""

import numpy as np

from toolchain.ir import Array, Builder, Node, Quant, Unsupported, imports
from toolchain.ir.fixedpoint import symmetric
from toolchain.ops.unary import Unary

_SHIFT = {"int8": 0, "uint8": 128, "int32": 0}
"""What to take from a code or zero point of each type to have a signed one."""

_WIDE = {"int16": 0, "uint16": 2**15}
"""The same of 16-bit activations."""

_ACTIVATIONS = "activations"


@imports("DequantizeLinear", "com.microsoft.DequantizeLinear")
def import_dequantize(node: Node, b: Builder) -> None:
    """States the scale of 8-bit or int32 codes, or of 16-bit activations; constants per channel."""
    codes = b.value(node.input(0))
    if codes is None:
        _state(node, b)
        return
    scale, zero, axis = _parameters(node, b, codes.dtype.name)
    column, zeros = _aligned(scale, codes.ndim, axis), _aligned(zero, codes.ndim, axis)
    b.known[node.outputs[0]] = (codes.astype(np.float64) - zeros) * column
    signed = zero - _SHIFT[codes.dtype.name]
    if not signed.any():
        channels = axis % codes.ndim if scale.size > 1 else None
        b.pins[node.outputs[0]] = Quant(tuple(float(s) for s in scale.ravel()), 0, channels)


@imports("QuantizeLinear", "com.microsoft.QuantizeLinear")
def import_quantize(node: Node, b: Builder) -> None:
    """States the scale of 8-bit codes, or of 16-bit activations; of constants also per channel."""
    value = b.value(node.input(0))
    if value is None:
        _state(node, b)
        return
    name = _code_type(node, b)
    scale, zero, axis = _parameters(node, b, name)
    column = _aligned(scale, value.ndim, axis).astype(np.float32)
    codes = np.rint(value / column) + _aligned(zero, value.ndim, axis)
    limits = np.iinfo(name)
    b.known[node.outputs[0]] = np.clip(codes, limits.min, limits.max).astype(name)


def _aligned(values: Array, rank: int, axis: int) -> Array:
    """Values per channel, or a single one, shaped to broadcast over a tensor."""
    if values.size == 1:
        return values.reshape(())
    shape = [1] * rank
    shape[axis % rank] = values.size
    return values.reshape(shape)


def _code_type(node: Node, b: Builder) -> str:
    """Type of the codes: that of the zero point, else uint8."""
    return str(b.required(node, 2, "the zero point").dtype.name) if node.input(2) else "uint8"


def _parameters(
    node: Node, b: Builder, dtype: str, what: str = "weights"
) -> tuple[Array, Array, int]:
    """(scales as float64, zero points as int64, axis)."""
    if node.attribute("block_size", 0):
        raise Unsupported("blocked quantisation", "use one scale per tensor or channel")
    scale = b.required(node, 1, "the scale").astype(np.float64)
    zero = np.zeros(scale.shape, np.int64)
    if node.input(2):
        zero = b.required(node, 2, "the zero point").astype(np.int64)
    if dtype not in _SHIFT and not (what == _ACTIVATIONS and dtype in _WIDE):
        raise Unsupported(
            f"{dtype} {what}; the kernels compute with 8-bit ones",
            f"quantise the model again with 8-bit {what}",
        )
    return scale, zero, int(node.attribute("axis", 1))


def _state(node: Node, b: Builder) -> None:
    """Pin the quantisation of an activation; the output is another name of it."""
    x, y, dtype = b.activation(node.input(0)), node.outputs[0], _code_type(node, b)
    scale, zero, _ = _parameters(node, b, dtype, _ACTIVATIONS)
    if scale.size > 1:
        raise Unsupported("an activation with one scale per channel", "use one scale per tensor")
    quant = Quant((float(scale.reshape(())),), int(zero.reshape(())) - {**_SHIFT, **_WIDE}[dtype])
    if dtype in _WIDE:
        if quant.zero_point:
            raise Unsupported(
                f"{dtype} activations with zero point {int(zero.reshape(()))}",
                "quantise 16-bit activations symmetrically",
            )
        quant = symmetric(quant.scale)
    if b.types[x].quant in (None, quant):
        b.pin_activation(x, quant)
        b.aliases[y] = x
        if node.op_type.endswith("DequantizeLinear"):
            b.stand_for(x, y)
        return
    if node.op_type.endswith("DequantizeLinear"):
        raise Unsupported("codes read at another scale than they were written with")
    b.emit(Unary(node.name, (x,), (y,), ("x",)))
    b.pin_activation(y, quant)
