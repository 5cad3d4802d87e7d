"""Per-channel int8 or int4 weights and int32 biases that cannot overflow (R1, R2, R3, R33)."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, DType, Lowered, Op, Quant, TensorType, Types

ACCUMULATOR_MAX = 2**31 - 1
INT8_REACH = 127
"""Largest magnitude of an int8 weight chosen here; a model may come with -128."""
INT4_REACH = 7
"""Largest magnitude of an int4 weight."""
_SMALLEST = 2.0**-31
"""A channel whose multiplier is below this cannot move the output: its weights count as zero."""
_DEAD_STEPS = 2.0**16
"""Steps of such a channel's bias in one step of the output."""

SHRUNK = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6)
"""Scales of int4 weights that are tried, relative to the one that holds the largest weight."""

_CODE_ERROR = 1e-3
"""How far from an integer a code may be that a stated scale gives."""


@dataclass(frozen=True, slots=True)
class Accumulators:
    """What sums of products are kept in.

    Args:
        name: For people.
        input_reach: Largest magnitude of a centred input code.
        limit: Largest magnitude of a sum.
        bias: Element type of the biases.
    """

    name: str
    input_reach: int
    limit: int
    bias: type[np.int32] | type[np.int64]


NARROW = Accumulators("int32", 255, ACCUMULATOR_MAX, np.int32)
"""Of int8 inputs."""
WIDE = Accumulators("48 bits", 2**15, 2**47 - 1, np.int64)
"""Of int16 inputs: a sum times a 16-bit multiplier fits 64 bits."""


@dataclass(frozen=True, slots=True)
class IntegerWeights:
    """Weights [O, ...] in int8, one scale per O, biases [O] as int32 or int64, and warnings."""

    codes: NDArray[np.int8]
    scales: tuple[float, ...]
    bias: Array
    warnings: tuple[str, ...]


def quantize_weights(
    weights: Array,
    bias: Array,
    input_scale: float,
    output_scale: float,
    node: str,
    accumulators: Accumulators = NARROW,
    reach: int = INT8_REACH,
) -> IntegerWeights:
    """Symmetric weights in [-reach, reach] per output channel, bias at s_in * s_w.

    A channel's scale is raised until its bias and its largest possible accumulator fit. That of
    int4 weights has the least squared error of SHRUNK; larger weights are clipped.

    Args:
        weights: Float weights, output channel first.
        bias: Float biases [O].
        input_scale: Scale of the layer's input.
        output_scale: Scale of the layer's output.
        node: ONNX node name, for warnings.
        accumulators: What they have to fit.
        reach: Largest magnitude of a code.
    """
    most, limit = accumulators.input_reach, accumulators.limit
    flat = weights.reshape(weights.shape[0], -1).astype(np.float64)
    bias = bias.astype(np.float64)
    natural = np.abs(flat).max(axis=1) / reach
    if reach == INT4_REACH:
        natural = natural * _least_error(flat, natural, reach)
    dead = natural * input_scale / output_scale < _SMALLEST
    # |sum of codes| <= most * (sum|w| / scale + one half each) + |bias| / (input_scale * scale) + 1
    total = np.where(dead, 0.0, most * np.abs(flat).sum(axis=1)) + np.abs(bias) / input_scale
    needed = total / (limit - 1 - most / 2 * flat.shape[1])
    scales = np.where(dead, output_scale / (input_scale * _DEAD_STEPS), natural)
    raised = scales < needed
    scales = np.where(raised, needed * (1 + 2.0**-20), scales).astype(np.float32)
    codes = np.where(dead[:, None], 0.0, flat) / scales[:, None].astype(np.float64)
    warnings = [
        f"{node}: channel {c}: its sums with bias {bias[c]:.4g} would leave {accumulators.name}; "
        f"its weight scale was raised {float(scales[c]) / natural[c]:.3g} times, "
        "which costs precision"
        for c in np.flatnonzero(raised & ~dead)
    ]
    unit = input_scale * scales.astype(np.float64)
    return IntegerWeights(
        np.clip(np.rint(codes), -reach, reach).astype(np.int8).reshape(weights.shape),
        tuple(float(s) for s in scales),
        np.rint(bias / unit).astype(accumulators.bias),
        tuple(warnings),
    )


def _least_error(
    rows: NDArray[np.float64], natural: NDArray[np.float64], reach: int
) -> NDArray[np.float64]:
    """[O]: the factor of SHRUNK for the scale with which a row is nearest to its codes."""
    scales = np.where(natural > 0, natural, 1.0)[:, None]
    errors = []
    for factor in SHRUNK:
        exact = rows / (scales * factor)
        codes = np.clip(np.rint(exact), -reach, reach)
        errors.append((((exact - codes) * factor) ** 2).sum(axis=1))
    return np.asarray(np.array(SHRUNK)[np.argmin(errors, axis=0)])


def lower_layer(
    op: Op,
    types: Types,
    weights: Array,
    bias: Array,
    axis: int,
    *,
    keep_single: bool = False,
    accumulators: Accumulators = NARROW,
    reach: int = INT8_REACH,
) -> Lowered:
    """Lower an operator whose inputs are (x, weights, bias); the result has a scale per channel.

    Args:
        op: The operator.
        types: Types with final activation parameters.
        weights: Float weights in the operator's own layout.
        bias: Float biases [O].
        axis: Output channel axis of the weights.
        keep_single: The operator has a kernel for weights with one scale, so that one the model
            came with stays a single one.
        accumulators: What the sums have to fit; wide ones that fit 32 bits become narrow.
        reach: Largest magnitude of a code chosen here.
    """
    s_in, s_out = types[op.x].q.scale, types[op.y].q.scale
    rows = np.moveaxis(weights, axis, 0)
    pinned = types[op.inputs[1]].quant
    integer = None
    if pinned is not None:
        given = types[op.inputs[2]].quant
        most = 128 if reach == INT8_REACH else reach
        integer = _given_weights((rows, most), pinned, bias, given, s_in, accumulators)
    if integer is None:
        integer = quantize_weights(rows, bias, s_in, s_out, op.name, accumulators, reach)
    if accumulators is WIDE and _fits_narrow(integer):
        integer = replace(integer, bias=integer.bias.astype(np.int32))
    codes = np.ascontiguousarray(np.moveaxis(integer.codes, 0, axis))
    scales = integer.scales
    if len(scales) == 1 and not keep_single:
        scales = scales * len(rows)
    w, b = f"{op.y}.weights", f"{op.y}.bias"
    lowered = type(op).renamed(op, {op.inputs[1]: w, op.inputs[2]: b})
    return Lowered(
        lowered,
        {
            w: (codes, TensorType(codes.shape, DType.INT8, Quant(scales, 0, axis))),
            b: (integer.bias, TensorType(integer.bias.shape, DType(integer.bias.dtype.name))),
        },
        integer.warnings,
    )


def _fits_narrow(integer: IntegerWeights) -> bool:
    """Whether no input of 16 bits takes a sum out of int32."""
    rows = np.abs(integer.codes.astype(np.int64)).reshape(len(integer.codes), -1).sum(axis=1)
    return bool((WIDE.input_reach * rows + np.abs(integer.bias) <= ACCUMULATOR_MAX).all())


def _given_weights(
    weights: tuple[Array, int],
    quant: Quant,
    bias: Array,
    bias_quant: Quant | None,
    input_scale: float,
    accumulators: Accumulators,
) -> IntegerWeights | None:
    """Weights and bias with the codes the model came with (R13); None when they cannot be kept.

    The bias codes are taken as they are when the model gives it as int32 at scale s_in * s_w, else
    a float bias is rounded at that scale. Given up are scales with which a bias does not fit, and
    scales that run over another axis than the output channels.

    Args:
        weights: Rows of an output channel each, and the largest magnitude of a code.
        quant: Of the weights.
        bias: Float biases.
        bias_quant: Of the biases.
        input_scale: Scale of the layer's input.
        accumulators: What the sums have to fit.
    """
    rows, most = weights
    if len(quant.scales) not in (1, len(rows)):
        return None
    scales = np.broadcast_to(np.array(quant.scales), len(rows))
    column = scales.reshape(-1, *(1 for _ in rows.shape[1:]))
    unit = input_scale * scales
    if bias_quant is not None:
        given = np.broadcast_to(np.array(bias_quant.scales), len(rows))
        if np.allclose(given, unit, rtol=1e-5, atol=0):
            unit = given
    bias_codes = np.rint(bias.astype(np.float64) / unit)
    exact = rows.astype(np.float64) / column
    codes = np.rint(exact)
    if np.abs(bias_codes).max(initial=0) > accumulators.limit:
        return None
    if np.abs(exact - codes).max(initial=0) > _CODE_ERROR or np.abs(codes).max(initial=0) > most:
        return None
    return IntegerWeights(
        codes.astype(np.int8),
        tuple(float(s) for s in (quant.scales if quant.axis is None else scales)),
        bias_codes.astype(accumulators.bias),
        (),
    )


def has_wide_sums(op: Op, types: Types) -> bool:
    """The sums of a lowered layer have 64 bits, and so have its biases."""
    return types[op.inputs[2]].dtype is DType.INT64


def layer_multipliers(op: Op, types: Types) -> list[float]:
    """Real requantisation multipliers s_in * s_w[c] / s_out, one per scale of the weights."""
    x, w, y = types[op.x].q, types[op.inputs[1]].q, types[op.y].q
    return [x.scale * s / y.scale for s in w.scales]


def smallest_output_scale(weights: Array, bias: Array, input_scale: float, axis: int) -> float:
    """Below this output scale the left shift of the requantisation could leave int32."""
    flat = np.moveaxis(weights, axis, 0).reshape(weights.shape[axis], -1)
    reach = np.abs(flat).sum(axis=1) * 255.0 * input_scale + np.abs(bias)
    return float(reach.max(initial=0.0)) / 2.0**29
