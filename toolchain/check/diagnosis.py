"""Where the error of an integer model arises: every layer measured by itself and in the whole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from onnx import ModelProto

from toolchain.check.compare import require_judgeable
from toolchain.check.evaluate import as_the_model_takes, input_codes, real_values
from toolchain.check.impact import Impact
from toolchain.check.metrics import ratio_db
from toolchain.check.statistics import LayerStatistics
from toolchain.check.tails import Tail
from toolchain.frontend.samples import Samples
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, Graph, Op
from toolchain.ir.batch import simulate_each
from toolchain.ir.fixedpoint import dequantize, quantize_as
from toolchain.ops._layer import LayerOp
from toolchain.project import layer_names

WORST = 3
"""Channels named per layer."""


@dataclass(frozen=True, slots=True)
class LayerFindings:
    """What was measured of one layer; SQNR in dB, infinite without any error.

    Args:
        name: Layer, or "input" and the name of an input.
        op: Operator; None for an input.
        tensor: Tensor of the graph it computes.
        sqnr_db: Integer model against float, with the errors of all layers before it.
        own_sqnr_db: The same when its inputs are the float model's, rounded.
        grid_sqnr_db: The same when nothing but its output is rounded.
        output_sqnr_db: SQNR of the model's outputs when only this layer is int8 (sensitivity).
        agreement: Share of samples that keep their class then; None: no output names one.
        accuracy: Accuracy then; None without labels.
        share: Its part of the outputs' error, 0 to 1, all layers taken by themselves.
        statistics: Its values and errors, channel by channel.
        removed: Dead channels that pruning took out.
    """

    name: str
    op: Op | None
    tensor: str
    sqnr_db: float
    own_sqnr_db: float
    grid_sqnr_db: float
    output_sqnr_db: float
    agreement: float | None
    accuracy: float | None
    share: float
    statistics: LayerStatistics
    removed: int

    @property
    def clipping_rate(self) -> float:
        """Share of the float values that are more than a step outside the range."""
        return self.statistics.clipped / self.statistics.count

    @property
    def dead_channels(self) -> int:
        """How many channels had the same code in all samples."""
        return int(self.statistics.dead.sum())

    @property
    def worst_channels(self) -> tuple[tuple[int, float], ...]:
        """(channel, own SQNR in dB) of the worst, those without a signal left out."""
        seen = self.statistics
        ratios = seen.channel_db()
        live = [int(c) for c in np.argsort(ratios, kind="stable") if seen.signal[c] > 0]
        return tuple((seen.places[c], float(ratios[c])) for c in live[:WORST])


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was measured of a model.

    Args:
        graph: Integer graph.
        samples: How many samples.
        sqnr_db: SQNR of the worst output.
        agreement: Share of samples of the float model's class; None: no output names one.
        accuracies: (float model, integer model); None without labels.
        layers: Findings of every layer that stands for a tensor of the float model, in order.
        unknown: Layers that stand for none.
    """

    graph: Graph
    samples: int
    sqnr_db: float
    agreement: float | None
    accuracies: tuple[float, float] | None
    layers: tuple[LayerFindings, ...]
    unknown: tuple[str, ...]


def diagnose(
    model: ModelProto,
    graph: Graph,
    samples: Samples,
    progress: Callable[[int, int], None] | None = None,
    removed: Mapping[str, int] | None = None,
) -> Diagnosis:
    """Run float and integer model over the samples; keep sums and extremes only.

    Args:
        model: The original model.
        graph: The integer graph.
        samples: Inputs, real values or codes.
        progress: Told after each sample.
        removed: Channels that pruning takes out of the layers, by operator; where the graph is
            pruned already, they follow from it.

    Raises:
        InputRefused: A label is none of the classes.
    """
    layers: dict[str, Op | None] = dict.fromkeys(graph.inputs)
    layers |= {y: op for op in graph.ops if not op.is_view for y in op.outputs}
    known = {y: op for y, op in layers.items() if y in graph.origins}
    tensors = list(dict.fromkeys(graph.origins[y].tensor for y in graph.outputs))
    tails = {t: Tail(model, t, tensors) for t in {graph.origins[y].tensor for y in known}}
    needed = [x for tail in tails.values() for x in tail.needs]
    session = FloatSession(model, [*(o.tensor for o in graph.origins.values()), *tensors, *needed])
    seen: dict[str, LayerStatistics] = {}
    alone = {y: Impact(graph.outputs) for y in known}
    whole = Impact(graph.outputs)
    labels = samples.labels
    require_judgeable(None, labels, graph.output_shapes)
    for index, (sample, values) in enumerate(
        simulate_each(graph, samples, partial(input_codes, graph))
    ):
        codes = {x: values[x] for x in graph.inputs}
        reference = session.run(as_the_model_takes(graph, session, sample, codes))
        label = None if labels is None else int(labels[index])
        step = _Step(graph, reference, codes)
        expected = step.outputs(reference)
        for y, op in known.items():
            own = codes[y] if op is None else step.alone(op)[op.outputs.index(y)]
            statistics = seen.setdefault(y, step.statistics(y))
            statistics.see(step.whole(y))
            statistics.add(step.real(y), values[y], own, step.weighted(op))
            tail = tails[graph.origins[y].tensor]
            found = tail.run(step.replaced(y, own), reference)
            alone[y].add(expected, step.outputs(found), label)
        found = {y: dequantize(values[y], graph.types[y].q) for y in graph.outputs}
        whole.add(expected, found, label)
        if progress is not None:
            progress(index + 1, len(samples))
    names = layer_names(graph.ops)
    total = sum(impact.relative_noise for impact in alone.values())
    findings = tuple(
        _findings(
            names.get(y, f"input {y}"),
            known[y],
            y,
            statistics,
            alone[y],
            total,
            labels is not None,
            removed,
        )
        for y, statistics in seen.items()
    )
    unknown = set(names.values()) - {names[y] for y in known if y in names}
    accuracies = whole.accuracies if labels is not None else None
    return Diagnosis(
        graph,
        len(samples),
        whole.sqnr_db,
        whole.agreement,
        accuracies,
        findings,
        tuple(n for n in dict.fromkeys(names.values()) if n in unknown),
    )


def _findings(
    name: str,
    op: Op | None,
    y: str,
    seen: LayerStatistics,
    impact: Impact,
    total: float,
    labelled: bool,
    removed: Mapping[str, int] | None,
) -> LayerFindings:
    signal = float(seen.signal.sum())
    noises = seen.noise.sum(), seen.own_noise.sum(), seen.grid_noise
    cumulative, own, grid = (ratio_db(signal, float(noise)) for noise in noises)
    accuracies = impact.accuracies if labelled else None
    lost = len(seen.low) - len(seen.places)
    if removed is not None and isinstance(op, LayerOp):
        lost = removed.get(op.name, 0)
    return LayerFindings(
        name,
        op,
        y,
        cumulative,
        own,
        grid,
        impact.sqnr_db,
        impact.agreement,
        accuracies and accuracies[1],
        impact.relative_noise / total if total else 0.0,
        seen,
        lost,
    )


class _Step:
    """One sample: the float model's values, and layers computed from their rounded inputs."""

    def __init__(
        self, graph: Graph, reference: Mapping[str, Array], codes: Mapping[str, Array]
    ) -> None:
        self.graph, self.reference = graph, reference
        self.producers = graph.producers()
        self.codes: dict[str, Array] = {**graph.constants, **codes}

    def real(self, y: str) -> Array:
        """The float model's values of a tensor, in the graph's layout."""
        kind, origin = self.graph.types[y], self.graph.origins[y]
        return origin.view(real_values(self.reference[origin.tensor], kind.q), kind.shape)

    def _left(self, y: str) -> tuple[int, ...] | None:
        """Which channels of the ONNX tensor are left, when pruning took some out."""
        channels, shape = self.graph.origins[y].channels, self.graph.types[y].shape
        return channels if channels is not None and len(channels) == shape[-1] else None

    def whole(self, y: str) -> Array:
        """The float model's values of the ONNX tensor, [..., channels], none left out."""
        if self._left(y) is None:
            return self.real(y)
        origin, quant = self.graph.origins[y], self.graph.types[y].q
        value = real_values(self.reference[origin.tensor], quant)
        return origin.whole(value, self.graph.types[y].shape)

    def statistics(self, y: str) -> LayerStatistics:
        """Statistics of a tensor, nothing in them yet."""
        kind = self.graph.types[y]
        places = self._left(y) or tuple(range(kind.shape[-1]))
        return LayerStatistics(kind, places, self.whole(y).shape[-1])

    def rounded(self, x: str) -> Array:
        """The codes of the float model's values; of tensors it does not have, those they give."""
        if x not in self.codes:
            if x in self.graph.origins:
                self.codes[x] = quantize_as(self.real(x), self.graph.types[x])
            else:
                op = self.producers[x]
                self.codes.update(zip(op.outputs, self.alone(op), strict=True))
        return self.codes[x]

    def alone(self, op: Op) -> tuple[Array, ...]:
        """Codes that one operator gives for rounded inputs."""
        return op.simulate(self.graph.types, *(self.rounded(x) for x in op.inputs))

    def weighted(self, op: Op | None) -> Array | None:
        """Real output of a layer for exact inputs, with its integer weights."""
        if not isinstance(op, LayerOp):
            return None
        x, w, b = op.inputs
        scales = np.array(self.graph.types[w].q.scales)
        rows = np.moveaxis(self.graph.constants[w], op.channel_axis, -1) * scales
        unit = self.graph.types[x].q.scale * scales
        bias = self.graph.constants[b] * unit
        real = self.real(x) if x in self.graph.origins else self._dequantized(x)
        (result,) = op.evaluate(real, np.moveaxis(rows, -1, op.channel_axis), bias)
        return result

    def _dequantized(self, x: str) -> Array:
        return dequantize(self.rounded(x), self.graph.types[x].q)

    def replaced(self, y: str, codes: Array) -> Array:
        """The ONNX tensor that `y` stands for, with these codes where `y` has its values."""
        origin, kind = self.graph.origins[y], self.graph.types[y]
        value = np.array(self.reference[origin.tensor])
        plain = replace(origin, gain=None, shift=None)
        cells = plain.view(np.arange(value.size).reshape(value.shape), kind.shape)
        if value.dtype == kind.dtype.value:
            given: Array = codes
        elif value.dtype == np.uint8:
            given = codes.astype(np.int16) + 128
        else:
            zero, one = (origin.view(np.full(value.shape, v), kind.shape) for v in (0.0, 1.0))
            given = (dequantize(codes, kind.q) - zero) / (one - zero)
        value.reshape(-1)[cells.ravel()] = given.ravel()
        return value

    def outputs(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs of the graph from those of the ONNX model, as real values."""
        found = {}
        for y in self.graph.outputs:
            kind = self.graph.types[y]
            value = real_values(values[self.graph.origins[y].tensor], kind.q)
            found[y] = value.reshape(kind.shape)
        return found
