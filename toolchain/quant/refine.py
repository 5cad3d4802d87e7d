"""Ranges and weights chosen by what they do to the outputs, each technique only where it helps."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from toolchain.ir import Array, Graph, Rounding
from toolchain.quant.calibrate import Profile
from toolchain.quant.chains import Extents
from toolchain.quant.equalize import absorb, equalize
from toolchain.quant.histogram import Histogram
from toolchain.quant.layers import Recipe, refine_layers
from toolchain.quant.quantize import free_tensors, quantize
from toolchain.quant.ranges import PERCENTILE, Calibration, Range, choose_range
from toolchain.quant.search import candidate, candidates, choose_ranges, function_behind
from toolchain.quant.trial import Samples, Score, Trial, float_values

Profiles = Mapping[str, Profile]
Measure = Callable[[Graph], Profiles]
"""What all calibration samples show of the tensors of a float graph that need a range."""
Progress = Callable[[int, int], None]

LEAST_SAMPLES = 16
"""With fewer there is nothing to hold back."""
_HELD = 3  # every third sample is held back
_MOST_SAMPLES = 256
_MACS = 250e6  # of all samples judged together
_FIT = 3  # times as many samples to fit by as to judge by
_BYTES = 32e6  # of all codes of the samples judged together
_JUDGED = 80  # integer graphs that a search for ranges may judge,
_JUDGED_MACS = 10e9  # and what they may cost

_ROUNDINGS = (Recipe(True), Recipe(True, 1.0))
_STRENGTHS = (1.0, 0.5)


@dataclass(frozen=True, slots=True)
class Gain:
    """What one technique did on held-back samples.

    Args:
        technique: Its name.
        sqnr_db: SQNR of the worst output with it, in dB.
        gain_db: How much lower the outputs' error became, in dB.
        kept: It is in the result.
    """

    technique: str
    sqnr_db: float
    gain_db: float
    kept: bool


@dataclass(frozen=True, slots=True)
class Refined:
    """What to quantise: quantize(graph, ranges).

    Args:
        graph: Float graph; refined constants carry the scales of their codes.
        ranges: Range of every tensor that needs one, by its own name.
        methods: How each of them was chosen.
        gains: What was tried.
        warnings: What the user should know of the data.
        seen: Smallest and largest value of every such tensor.
        remarks: Further sentences on what was chosen.
        scaled: The graph before its constants were refined; None: they were not.
        recipe: How they were.
    """

    graph: Graph
    ranges: Mapping[str, Range]
    methods: Mapping[str, str]
    gains: tuple[Gain, ...] = ()
    warnings: tuple[str, ...] = ()
    seen: Mapping[str, Range] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    scaled: Graph | None = None
    recipe: Recipe | None = None

    @property
    def unrefined(self) -> Graph:
        """The graph with its channels rescaled, but with the weights that it had."""
        return self.graph if self.scaled is None else self.scaled

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each technique in the result, and the remarks."""
        told = tuple(
            f"{gain.technique}: {gain.gain_db:.1f} dB less error on held-back samples"
            for gain in self.gains
            if gain.kept
        )
        return (*told, *self.remarks)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What refine() may choose.

    Args:
        method: How ranges follow from the data; "auto" chooses for each tensor.
        percentile: Share of values to keep, in percent, for method "percentile".
        weights: Refine weights and biases.
        rounding: How the integer model requantises.
    """

    method: Calibration = "auto"
    percentile: float = PERCENTILE
    weights: bool = True
    rounding: Rounding = Rounding.DOUBLE


def refine(
    graph: Graph,
    samples: tuple[Iterable[Mapping[str, Array]], int],
    measured: tuple[Profiles, Measure],
    wanted: Wanted,
    progress: Progress | None = None,
) -> Refined:
    """Choose ranges and weights by the outputs' error on held-back samples.

    In this order, each kept only when the error falls: bias correction, weight rounding,
    cross-layer equalisation and high-bias absorption, ranges tensor by tensor (both with the layers
    refined again).

    Args:
        graph: Float graph after the passes, without stated scales.
        samples: Calibration samples [1, ...] by input name, real values, and their number.
        measured: Profiles of the graph over all samples, and what measures other graphs.
        wanted: What may be chosen.
        progress: Called with (steps done, steps in all).
    """
    fit, held = split(graph, *samples)
    return _Search(graph, (fit, held), measured, wanted, progress).run()


def plain(graph: Graph, profiles: Profiles, wanted: Wanted) -> Refined:
    """The method wanted for all tensors, minmax with "auto", and weights as they are."""
    methods = dict.fromkeys(free_tensors(graph), _plain_method(wanted))
    ranges = _ranges(graph, profiles, methods, wanted.percentile)
    return Refined(graph, ranges, methods, seen=_seen(graph, profiles))


def _seen(graph: Graph, profiles: Profiles) -> dict[str, Range]:
    methods = dict.fromkeys(free_tensors(graph), "minmax")
    return _ranges(graph, profiles, methods, PERCENTILE)


def _plain_method(wanted: Wanted) -> str:
    return "minmax" if wanted.method == "auto" else wanted.method


def split(
    graph: Graph, samples: Iterable[Mapping[str, Array]], count: int
) -> tuple[Samples, Samples]:
    """Samples to fit and samples to judge by: every third is held back, of fewer than three none.

    Of many samples evenly spread ones are taken, as many as can be judged in about a second.
    """
    macs = macs_of(graph)
    elements = sum(graph.types[y].elements for op in graph.ops for y in op.outputs)
    most = int(min(_MOST_SAMPLES, _MACS / max(macs, 1), _BYTES / max(elements, 1)))
    fits = set(_spread([i for i in range(count) if i % _HELD != _HELD - 1], max(_FIT * most, 12)))
    helds = set(_spread([i for i in range(count) if i % _HELD == _HELD - 1], max(most, 6)))
    if count < _HELD:
        helds = fits
    columns: tuple[dict[str, list[Array]], ...] = (
        {x: [] for x in graph.inputs},
        {x: [] for x in graph.inputs},
    )
    for index, sample in enumerate(samples):
        for chosen, column in zip((fits, helds), columns, strict=True):
            if index in chosen:
                for x in graph.inputs:
                    column[x].append(np.asarray(sample[x], np.float32))
    fit, held = ({x: np.stack(v) for x, v in column.items()} for column in columns)
    return fit, held


def macs_of(graph: Graph) -> int:
    """Multiplications of one sample."""
    return sum(op.macs(graph.types) for op in graph.ops)


def _spread(indices: list[int], most: int) -> list[int]:
    places = np.linspace(0, len(indices) - 1, min(most, len(indices))).round().astype(int)
    return [indices[i] for i in places]


def extents(graph: Graph, samples: Samples) -> Extents:
    """Extremes of each channel of every tensor of the float graph."""
    names = [y for op in graph.ops for y in op.outputs]
    values = {**float_values(graph, samples, names), **samples}
    found = {}
    for name, value in values.items():
        rows = value.reshape(-1, (graph.types[name].shape or (1,))[-1])
        found[name] = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
    return found


def _ranges(
    graph: Graph, profiles: Profiles, methods: Mapping[str, str], percentile: float
) -> dict[str, Range]:
    """Ranges of a graph whose channels may have been rescaled since it was measured."""
    found = {}
    for name, method in methods.items():
        profile = profiles[name]
        if profile.origin == graph.origins[name]:
            function = function_behind(graph, name)
            found[name] = candidate(profile.histogram, method, percentile, function)
        else:
            found[name] = choose_range(profile.moved(graph.origins[name]), "minmax")
    return found


def _stale(graph: Graph, profiles: Profiles, methods: Mapping[str, str]) -> bool:
    """Whether a method needs a histogram of a tensor that was rescaled since it was measured."""
    return any(
        method != "minmax" and profiles[name].origin != graph.origins[name]
        for name, method in methods.items()
    )


@dataclass(frozen=True, slots=True)
class _State:
    """A candidate result.

    Args:
        scaled: Float graph with channels rescaled, weights not yet refined.
        graph: The same with refined weights.
        recipe: How they were refined.
        ranges: Ranges.
        methods: How they were chosen.
        score: How good it is.
        sqnr_db: SQNR of the worst output.
    """

    scaled: Graph
    graph: Graph
    recipe: Recipe | None
    ranges: Mapping[str, Range]
    methods: Mapping[str, str]
    score: Score
    sqnr_db: float


class _Search:
    """The state of refine()."""

    def __init__(
        self,
        graph: Graph,
        samples: tuple[Samples, Samples],
        measured: tuple[Profiles, Measure],
        wanted: Wanted,
        progress: Progress | None,
    ) -> None:
        self._fit, held = samples
        self._profiles, self._measure = measured
        self._wanted, self._progress = wanted, progress
        self._trial = Trial(graph, held)
        self._cost = macs_of(graph) * len(held[graph.inputs[0]])
        self._gains: list[Gain] = []
        self._steps = 0
        self._best = self._refined(graph, None)

    def run(self) -> Refined:
        """All techniques in turn."""
        if self._wanted.weights:
            self._weights("bias correction", (Recipe(False),))
            self._weights("weight rounding", _ROUNDINGS)
            self._rescale()
        if self._wanted.method == "auto":
            self._search_ranges()
        best = self._best
        return Refined(
            best.graph,
            best.ranges,
            best.methods,
            tuple(self._gains),
            seen=_seen(best.graph, self._profiles),
            scaled=best.scaled,
            recipe=best.recipe,
        )

    def _start(self, graph: Graph) -> dict[str, str]:
        """Methods before any search: with "auto" minmax, and a margin where samples come and go."""
        plain = _plain_method(self._wanted)
        margin = "margin" if self._wanted.method == "auto" else plain
        ends = {*graph.inputs, *graph.outputs}
        return {n: margin if n in ends else plain for n in free_tensors(graph)}

    def _state(
        self,
        scaled: Graph,
        graph: Graph,
        recipe: Recipe | None,
        ranges: Mapping[str, Range],
        methods: Mapping[str, str],
    ) -> _State:
        score = self._trial.judge(self._quantized(graph, ranges))
        return _State(scaled, graph, recipe, ranges, methods, score, self._trial.sqnr_db())

    def _ranges(self, graph: Graph, methods: Mapping[str, str]) -> dict[str, Range]:
        """Over all samples; they are run again only where the profiles do not tell."""
        if _stale(graph, self._profiles, methods):
            self._profiles = self._measure(graph)
        return _ranges(graph, self._profiles, methods, self._wanted.percentile)

    def _refined(self, scaled: Graph, recipe: Recipe | None) -> _State:
        """The state with the ranges to start with and weights refined for them."""
        methods = self._start(scaled)
        ranges = self._ranges(scaled, methods)
        graph = scaled
        if recipe is not None:
            integer = self._quantized(scaled, ranges)
            graph = refine_layers(scaled, integer, self._fit, recipe)
        return self._state(scaled, graph, recipe, ranges, methods)

    def _quantized(self, graph: Graph, ranges: Mapping[str, Range]) -> Graph:
        return quantize(graph, ranges, self._wanted.rounding).graph

    def _offer(self, technique: str, states: Iterable[_State]) -> bool:
        """Keep the best of the states if it is better than what there is."""
        found = min(states, key=lambda s: s.score.mean)
        before, kept = self._best, found.score.better_than(self._best.score)
        gain = found.score.gain_db - before.score.gain_db
        self._gains.append(Gain(technique, found.sqnr_db, gain, kept))
        if kept:
            self._best = found
        self._steps += 1
        if self._progress is not None:
            self._progress(self._steps, 5)
        return kept

    def _weights(self, technique: str, recipes: Iterable[Recipe]) -> None:
        scaled = self._best.scaled
        self._offer(technique, [self._refined(scaled, r) for r in recipes])

    def _rescale(self) -> None:
        """Equalisation and absorption, each with the layers refined again."""
        seen = extents(self._best.scaled, self._fit)
        self._offer_scaled(
            "cross-layer equalisation",
            [equalize(self._best.scaled, seen, strength) for strength in _STRENGTHS],
        )
        seen = extents(self._best.scaled, self._fit)
        self._offer_scaled("high-bias absorption", [absorb(self._best.scaled, seen)])

    def _offer_scaled(self, technique: str, graphs: Iterable[Graph]) -> None:
        recipes = dict.fromkeys((self._best.recipe, _ROUNDINGS[-1]))
        changed = [graph for graph in graphs if graph is not self._best.scaled]
        if changed:
            self._offer(technique, [self._refined(g, r) for g in changed for r in recipes])

    def _search_ranges(self) -> None:
        best = self._best
        seen = _observed(best.scaled, self._fit)
        choices = candidates(best.graph, seen, self._wanted.percentile)
        self._trial.keep()
        budget = int(min(_JUDGED, _JUDGED_MACS / max(self._cost, 1)))
        chosen = choose_ranges(best.graph, choices, self._trial, budget, self._wanted.rounding)
        methods = chosen.methods
        if methods == best.methods:
            self._offer("ranges by tensor", [best])
            return
        ranges = self._ranges(best.graph, methods)
        states = [self._state(best.scaled, best.graph, best.recipe, ranges, methods)]
        if best.recipe is not None:
            again = {Recipe(False): best.graph, best.recipe: best.scaled}
            for recipe, graph in again.items():
                integer = self._quantized(graph, ranges)
                graph = refine_layers(best.scaled, integer, self._fit, recipe)
                states.append(self._state(best.scaled, graph, best.recipe, ranges, methods))
        self._offer("ranges by tensor", states)


def _observed(graph: Graph, samples: Samples) -> Mapping[str, Histogram]:
    """Histograms of the tensors that need a range, over samples in memory."""
    found = {}
    for name, value in float_values(graph, samples, free_tensors(graph)).items():
        found[name] = Histogram()
        found[name].add(value)
    return found
