"""Layer by layer: integer weights and biases that undo what quantisation has done so far.

Both models run side by side over calibration samples, the float one and the integer one with the
layers already refined, so that every layer sees the inputs it will get. The result is a float graph
whose refined constants carry the scales of their codes: quantize() keeps those codes.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array, DType, Graph, Op, Quant, TensorType
from toolchain.ir.batch import evaluate_op, last_uses, simulate_op
from toolchain.ir.fixedpoint import clip, quantize_as
from toolchain.ops._layer import LayerOp
from toolchain.ops._weights import ACCUMULATOR_MAX, INT8_REACH, NARROW, WIDE
from toolchain.quant.moments import Layer, Moments, as_groups, from_groups, positions
from toolchain.quant.rounding import best_scales, best_weights, round_weights
from toolchain.quant.trial import Samples

_POSITIONS = 8192
_DAMPING = 0.01
_SAMPLES = 16


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is done to each layer.

    Args:
        rounding: Choose the codes of the weights against the layer's output error.
        pull: Strength that holds the weights to be rounded to the float ones, in units of the
            mean variance of an input code; None rounds the float weights themselves.
    """

    rounding: bool
    pull: float | None = None


INT4 = Recipe(True, 0.1)
"""What is done to layers with int4 weights."""


def refine_layers(
    graph: Graph, integer: Graph, samples: Samples, recipe: Recipe | None, int4: Recipe = INT4
) -> Graph:
    """The float graph with refined weights and biases for quantize().

    1. Convolutions, depthwise convolutions and fully connected layers get the weights of the
       recipe; those a model came with codes for keep them.
    2. Every layer's bias makes the mean of each channel, over all samples and positions, that of
       the float model (bias correction).
    Channels that are dead, or whose sums could leave int32, stay as they are.

    Args:
        graph: Float graph.
        integer: quantize(graph, ...), whose scales of activations are taken.
        samples: Calibration samples.
        recipe: What to do; None: layers with int8 weights stay as they are.
        int4: What to do to layers with int4 weights.
    """
    floats: dict[str, Array] = {**graph.constants, **samples}
    codes: dict[str, Array] = dict(integer.constants)
    codes.update((x, quantize_as(samples[x], integer.types[x])) for x in graph.inputs)
    twins = {op.y: (op, dying) for op, dying in last_uses(graph)}
    refined: dict[str, _Constants] = {}
    for op, dying in last_uses(integer):
        twin, done = twins.get(op.y, (None, []))
        own = int4 if isinstance(op, LayerOp) and op.weight_reach < INT8_REACH else recipe
        if isinstance(twin, LayerOp) and isinstance(op, LayerOp) and own is not None:
            sums = _sums(graph, twin, floats)
            new = _refine(graph, integer, (twin, op), codes, sums, own)
            refined[op.y] = new
            integer = _with(integer, op, new)
            codes.update({n: integer.constants[n] for n in op.inputs[1:]})
            floats[op.y] = clip(sums, twin.low, twin.high).astype(np.float32)
        elif twin is not None:
            floats.update(zip(twin.outputs, evaluate_op(graph, twin, floats), strict=True))
        codes.update(zip(op.outputs, simulate_op(integer, op, codes), strict=True))
        for values, names in ((floats, done), (codes, dying)):
            for name in names:
                del values[name]
    return _pinned(graph, refined)


@dataclass(frozen=True, slots=True)
class _Constants:
    """Integer weights in the operator's layout, their scales, biases, and the real value of 1."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float64]
    bias: NDArray[np.int64]
    unit: NDArray[np.float64]


def _sums(graph: Graph, op: LayerOp, values: dict[str, Array]) -> Array:
    """Float results before the activation, [N, *shape]."""
    x, w, bias = (values[n] for n in op.inputs)
    shape = graph.types[op.y].shape
    flat = x.reshape(-1, *graph.types[op.x].shape[1:])
    step = max(1, _SAMPLES * graph.types[op.x].shape[0])
    parts = [op.sums(flat[i : i + step], w) + bias for i in range(0, len(flat), step)]
    return np.concatenate(parts).reshape(len(x), *shape)


def _refine(
    graph: Graph,
    integer: Graph,
    ops: tuple[LayerOp, LayerOp],
    codes: dict[str, Array],
    sums: Array,
    recipe: Recipe,
) -> _Constants:
    """New constants of one layer, the integer graph's where those must stay."""
    twin, op = ops
    x, w_name, b_name = op.inputs
    kind = integer.types[x]
    wide = op.reads is DType.INT16
    exact = np.int32 if wide else np.int16
    centred = codes[x].reshape(-1, *kind.shape[1:]).astype(exact) - kind.q.zero_point
    old = integer.constants[w_name]
    bias_old = integer.constants[b_name].astype(np.int64)
    scales_old = np.broadcast_to(np.array(integer.types[w_name].q.scales), bias_old.shape)
    new, scales = old.astype(np.float64), scales_old
    if recipe.rounding and isinstance(op, Layer) and graph.types[twin.inputs[1]].quant is None:
        new, scales = _rounded(
            op,
            centred,
            sums,
            graph.constants[twin.inputs[1]],
            (old, scales_old),
            kind.q.scale,
            recipe,
        )
    results = sums.reshape(-1, len(bias_old))
    step = max(1, _SAMPLES * kind.shape[0])
    total = np.zeros(len(bias_old))
    weights = new.astype(np.int8)
    for i in range(0, len(centred), step):
        total += (
            op.sums(centred[i : i + step], weights)
            .reshape(-1, len(bias_old))
            .sum(axis=0, dtype=np.float64)
        )
    unit = scales * kind.q.scale
    bias = np.rint(results.mean(axis=0) / unit - total / len(results)).astype(np.int64)
    rows = np.abs(np.moveaxis(new, op.channel_axis, 0).reshape(len(bias), -1)).sum(axis=1)
    most = WIDE.input_reach if wide else NARROW.input_reach
    most_sum = WIDE.limit if integer.constants[b_name].dtype == np.int64 else ACCUMULATOR_MAX
    reach = float(most) * rows + np.abs(bias)
    limit = 2.0**29 * integer.types[op.y].q.scale / unit
    safe = (reach <= most_sum) & (reach <= limit)
    dead = ~np.moveaxis(old, op.channel_axis, 0).reshape(len(bias), -1).any(axis=1)
    kept = safe & ~dead
    column = np.expand_dims(kept, [i for i in range(old.ndim) if i != op.channel_axis])
    chosen = np.where(kept, scales, scales_old)
    return _Constants(
        np.where(column, weights, old),
        chosen,
        np.where(kept, bias, bias_old),
        chosen * kind.q.scale,
    )


def _rounded(
    op: Layer,
    centred: Array,
    sums: Array,
    weights: Array,
    old: tuple[Array, NDArray[np.float64]],
    scale: float,
    recipe: Recipe,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Codes in the operator's layout and scales."""
    inputs = centred.shape[-1]
    moments = Moments()
    moments.add(*positions(op, centred, sums, _POSITIONS))
    target = as_groups(op, weights, inputs) * scale
    scales = old[1].reshape(target.shape[:2])
    reach = op.weight_reach
    if recipe.pull is not None:
        target = best_weights(moments, target, recipe.pull)
    if recipe.pull is not None or reach < INT8_REACH:
        natural = np.abs(target).max(axis=2) / (reach * scale)
        if reach < INT8_REACH:
            largest = np.where(natural > 0, natural, 1.0) * scale
            found = best_scales(moments, target, largest, _DAMPING, reach) / scale
            natural = np.where(natural > 0, found, 0.0)
        natural = natural.astype(np.float32)
        # a scale that was raised against overflow stays
        raised = np.abs(as_groups(op, old[0], inputs)).max(axis=2) < reach - reach // INT8_REACH
        scales = np.where(raised | (natural == 0), scales, natural.astype(np.float64))
    codes = round_weights(moments, target, scales * scale, _DAMPING, reach)
    return from_groups(op, codes, weights.shape), scales.reshape(-1)


def _with(integer: Graph, op: Op, new: _Constants) -> Graph:
    """The integer graph with the constants of one layer replaced."""
    w, b = op.inputs[1:]
    quant = replace(integer.types[w].q, scales=tuple(float(s) for s in new.scales))
    if len(integer.types[w].q.scales) == 1 and len(set(quant.scales)) == 1:
        quant = integer.types[w].q
    types = {**integer.types, w: replace(integer.types[w], quant=quant)}
    constants = {**integer.constants, w: new.codes, b: new.bias.astype(integer.constants[b].dtype)}
    return replace(integer, types=types, constants=constants)


def _pinned(graph: Graph, refined: dict[str, _Constants]) -> Graph:
    """The float graph with refined constants as real values, and the scales of their codes."""
    ops: list[Op] = []
    types: dict[str, TensorType] = {}
    constants: dict[str, Array] = {}
    for op in graph.ops:
        new = refined.get(op.y)
        if new is None or not isinstance(op, LayerOp):
            ops.append(op)
            continue
        w, b = f"{op.y}.refined.weights", f"{op.y}.refined.bias"
        axis = op.channel_axis
        column = np.expand_dims(new.scales, [i for i in range(new.codes.ndim) if i != axis])
        constants[w], constants[b] = new.codes * column, new.bias * new.unit
        quant = Quant(tuple(float(s) for s in new.scales), 0, axis)
        types[w] = replace(graph.types[op.inputs[1]], quant=quant)
        types[b] = replace(graph.types[op.inputs[2]], quant=None)
        ops.append(op.renamed({op.inputs[1]: w, op.inputs[2]: b}))
    return graph.with_ops(ops, types, constants)
