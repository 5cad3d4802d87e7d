"""One sentence for every layer: what its error comes from, and what helps."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from toolchain.check.diagnosis import Diagnosis, LayerFindings
from toolchain.check.metrics import ratio_db
from toolchain.ir import Fixed, Graph, Op
from toolchain.ops._layer import LayerOp
from toolchain.ops.wide import twin

NOTICEABLE = 0.05
"""Part of the outputs' error from which on a layer is worth a remedy."""
POOR_DB = 30.0
"""Own SQNR below which a layer is worth one in any case."""
_NOTHING = 2.0**-20
"""A channel this many times narrower than the widest holds no more than the float model's noise."""
MANY = 16.0
"""How many times wider than needed a range is when that costs bits worth a remedy: four of 8."""


def advise_on(diagnosis: Diagnosis) -> dict[str, str]:
    """A sentence for every layer, by name."""
    by_tensor = {layer.tensor: layer for layer in diagnosis.layers}
    return {layer.name: _sentence(layer, diagnosis.graph, by_tensor) for layer in diagnosis.layers}


def _sentence(layer: LayerFindings, graph: Graph, by_tensor: Mapping[str, LayerFindings]) -> str:
    if layer.statistics.dead.all():
        return _constant(layer)
    if layer.share >= NOTICEABLE or layer.own_sqnr_db < POOR_DB:
        for remedy in _REMEDIES:
            found = remedy(layer, graph, by_tensor)
            if found is not None:
                return found
    return _dead_channels(layer, graph, 1) or (
        f"fine: {layer.share:.1%} of the output's error arises here"
    )


def _constant(layer: LayerFindings) -> str:
    """Of a layer whose output never changes."""
    seen = layer.statistics
    low, high = float(seen.low.min()), float(seen.high.max())
    if np.array_equal(seen.low, seen.high):
        return "its output is constant on all these data, in the float model as well"
    if high - low >= 2 * seen.quant.scale:
        return "its output always has the same codes, for it gets constant ones: see before it"
    bottom, top = seen.representable
    return (
        f"its output always has the same code, because its range {bottom:.3g}..{top:.3g} is too "
        f"wide for the values {low:.3g}..{high:.3g}: calibrate with data like these"
    )


def _stated(
    layer: LayerFindings, _graph: Graph, _by_tensor: Mapping[str, LayerFindings]
) -> str | None:
    if layer.statistics.grid_noise:
        return None
    return (
        f"the model itself rounds to these codes; {layer.own_sqnr_db:.0f} dB are what the "
        "firmware's arithmetic rounds differently, mostly halves of a step"
    )


def _clipping(
    layer: LayerFindings, graph: Graph, _by_tensor: Mapping[str, LayerFindings]
) -> str | None:
    seen = layer.statistics
    own = float(seen.own_noise.sum())
    if seen.clip_noise <= 0.5 * own or _is_fixed(layer.op, graph):
        return None
    low, high = seen.representable
    return (
        f"{_percent(seen.clipped / seen.count)} of its values lie outside {low:.3g}..{high:.3g} "
        f"(they run from {seen.low.min():.3g} to {seen.high.max():.3g}) and make most of its "
        "error: calibrate with data that reach there"
    )


def _channel_spread(
    layer: LayerFindings, _graph: Graph, _by_tensor: Mapping[str, LayerFindings]
) -> str | None:
    spans = layer.statistics.spans()
    live = spans[spans > _NOTHING * spans.max()]
    if len(live) < 2:
        return None
    middle, widest = float(np.median(live)), int(np.argmax(spans))
    ratio = float(spans[widest]) / middle
    if ratio < MANY:
        return None
    steps = middle / layer.statistics.quant.scale
    return (
        f"channel {widest} spans {ratio:.0f} times the median channel, whose values reach "
        f"{steps:.0f} step{'s' * (round(steps) != 1)} from zero: equalise the channels"
    )


def _tail(
    layer: LayerFindings, graph: Graph, _by_tensor: Mapping[str, LayerFindings]
) -> str | None:
    low, high = layer.statistics.bulk()
    bottom, top = layer.statistics.representable
    if high <= low or _is_fixed(layer.op, graph):
        return None
    ratio = (top - bottom) / (high - low)
    if ratio < MANY:
        return None
    seen = layer.statistics.low.min(), layer.statistics.high.max()
    if min(seen[0], 0.0) >= bottom / MANY and max(seen[1], 0.0) <= top / MANY:
        return (
            f"these data reach {seen[0]:.3g}..{seen[1]:.3g} only, but its range is "
            f"{bottom:.3g}..{top:.3g}: calibrate with data like these"
        )
    return (
        f"99.9% of its values lie in {low:.3g}..{high:.3g}, but outliers stretch its range to "
        f"{bottom:.3g}..{top:.3g}: cut them off with --calibration percentile"
    )


def _idle(
    layer: LayerFindings, graph: Graph, _by_tensor: Mapping[str, LayerFindings]
) -> str | None:
    return _dead_channels(layer, graph, max(1, len(layer.statistics.places) // 4))


def _dead_channels(layer: LayerFindings, graph: Graph, least: int) -> str | None:
    """Of a layer with weights of which at least so many channels never change."""
    inner = isinstance(layer.op, LayerOp) and layer.tensor not in graph.outputs
    if not inner or layer.dead_channels < least:
        return None
    return (
        f"{layer.dead_channels} of {len(layer.statistics.places)} channels have the same code on "
        "all these data: a narrower layer would do, if the data are representative"
    )


def _input_rounding(
    layer: LayerFindings, graph: Graph, by_tensor: Mapping[str, LayerFindings]
) -> str | None:
    sources = [by_tensor[x] for x in _read(graph, layer.op) if x in by_tensor]
    if _cause(layer) != "input" or not sources:
        return None
    signal, seen = float(layer.statistics.signal.sum()), layer.statistics
    names = ", ".join(dict.fromkeys(source.name for source in sources))
    return (
        f"most of its own error is the rounding of its input "
        f"({ratio_db(signal, seen.input_noise):.0f} dB; weights and output make less): see {names}"
    )


def _plain(layer: LayerFindings, _graph: Graph, _by_tensor: Mapping[str, LayerFindings]) -> str:
    cause = {
        "output": "the rounding of its output",
        "weights": "the rounding of its weights",
        "input": "the rounding of its input",
    }[_cause(layer)]
    sentence = (
        f"{layer.share:.1%} of the output's error arises here, most of it by {cause}; no range is "
        "too wide or too narrow, so only more bits or training would help"
    )
    widens = layer.op is not None and twin(layer.op) is not None and _cause(layer) != "weights"
    return f"{sentence}: --int16 gives it 16 bits" if widens else sentence


Remedy = Callable[[LayerFindings, Graph, Mapping[str, LayerFindings]], str | None]
_REMEDIES: tuple[Remedy, ...] = (
    _stated,
    _clipping,
    _channel_spread,
    _tail,
    _idle,
    _input_rounding,
    _plain,
)
"""The first that applies is told; the last always does."""


def _cause(layer: LayerFindings) -> str:
    """What makes most of the layer's own error: its "output", "weights" or "input"."""
    seen = layer.statistics
    noises = {
        "output": seen.grid_noise, "weights": seen.weight_noise, "input": seen.input_noise,
    }  # fmt: skip
    return max(noises, key=lambda cause: noises[cause])


def _is_fixed(op: Op | None, graph: Graph) -> bool:
    """Whether the operator dictates the range of its output."""
    return op is not None and isinstance(op.quant_rule(graph.types), Fixed)


def _read(graph: Graph, op: Op | None) -> Iterator[str]:
    """The tensors an operator reads, and those they are views of."""
    producers = graph.producers()
    for name in () if op is None else graph.activations(op):
        x = name
        while x in producers and producers[x].is_view:
            x = producers[x].x
        yield x


def _percent(share: float) -> str:
    return f"{share:.2%}" if share >= 1e-4 else f"{1e6 * share:.0f} ppm"
