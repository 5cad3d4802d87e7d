"""A float graph and calibration samples to what quantize() takes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from onnx import ModelProto

from toolchain.errors import InputRefused
from toolchain.frontend.samples import Samples
from toolchain.frontend.session import FloatSession
from toolchain.ir import Graph
from toolchain.quant.calibrate import check_method, observe
from toolchain.quant.quantize import free_tensors
from toolchain.quant.ranges import Calibration, outlier_ratio
from toolchain.quant.refine import (
    LEAST_SAMPLES,
    Profiles,
    Refined,
    Wanted,
    plain,
    refine,
)
from toolchain.threads import one_thread

Progress = Callable[[str, int, int], None]


@one_thread
def choose(
    graph: Graph, model: ModelProto, samples: Samples, wanted: Wanted, progress: Progress
) -> Refined:
    """Ranges and weights for quantize().

    A model that states scales of its own keeps them, and its weights; tensors without one get the
    range of the method wanted, with "auto" everything seen.

    Args:
        graph: Float graph after the passes.
        model: The ONNX model it comes from.
        samples: Calibration samples.
        wanted: What may be chosen.
        progress: Called with (stage, done, total).

    Raises:
        InputRefused: The samples are codes, or a tensor is not finite.
    """
    if wanted.method != "auto":
        check_method(wanted.method, wanted.percentile)
    if samples.codes:
        raise InputRefused(
            "calibrate", "", "the calibration data are int8 codes", "give real values"
        )

    def measure(graph: Graph) -> Profiles:
        """Of all samples, for the tensors of a graph that need a range."""
        tensors = {n: (graph.origins[n], graph.types[n].shape) for n in free_tensors(graph)}
        names = dict.fromkeys(origin.tensor for origin, _ in tensors.values())
        session = FloatSession(model, list(names))
        return observe(
            session,
            samples,
            tensors,
            lambda done, total: progress("calibrate", done, total),
        )

    profiles = measure(graph)
    warnings = outliers(graph, profiles)
    if states_scales(graph) or not (wanted.method == "auto" or wanted.weights):
        found = plain(graph, profiles, wanted)
    elif len(samples) < LEAST_SAMPLES:
        found = plain(graph, profiles, wanted)
        few = f"{len(samples)} calibration samples are too few to choose anything by them"
        warnings = (*warnings, f"{few}: {LEAST_SAMPLES} or more allow for better ranges")
    else:
        steps = partial(progress, "refine")
        found = refine(graph, (samples, len(samples)), (profiles, measure), wanted, steps)
    return replace(found, warnings=warnings)


def states_scales(graph: Graph) -> bool:
    """Whether a float graph comes from a model with scales of its own, which it keeps."""
    return any(graph.types[n].quant for n in (*graph.inputs, *graph.producers()))


def idle_choices(
    graph: Graph, method: Calibration, *, weights: bool, data: bool
) -> tuple[str, ...]:
    """A sentence where a model states scales, so that what was asked for chooses little or nothing.

    Args:
        graph: Float graph after the passes.
        method: How ranges are to follow from the data.
        weights: Weights are to be refined.
        data: There are calibration data, and nothing but ranges and weights to use them for.
    """
    free = free_tensors(graph)
    asked = ["--calib"] if data and not free else []
    asked += [f"--calibration {method}"] if method != "minmax" else []
    asked += ["--weights auto"] if weights else []
    if not asked or not states_scales(graph) or (free and method not in ("minmax", "auto")):
        return ()
    *most, last = asked
    named = f"{', '.join(most)} and {last}" if most else last
    told = f"{named}: nothing to choose, the model states scales and keeps them"
    if free:
        told += "; what has none gets the range that the data show"
    return (told,)


def choosable(graph: Graph, samples: Samples) -> bool:
    """Whether ranges and weights can be chosen by what they do to the outputs."""
    return not states_scales(graph) and not samples.codes and len(samples) >= LEAST_SAMPLES


def outliers(graph: Graph, profiles: Profiles) -> tuple[str, ...]:
    """A sentence for every tensor whose range is mostly empty."""
    producers = graph.producers()
    found = []
    for name, profile in profiles.items():
        histogram = profile.histogram
        ratio = outlier_ratio(histogram)
        if ratio is not None:
            node = f"{producers[name].name}: " if name in producers else ""
            found.append(
                f"{node}{graph.origins[name].tensor} has outliers: its range "
                f"{histogram.low:.4g}..{histogram.high:.4g} is {ratio:.0f} times as wide as that "
                "of 99.99 % of its values; a model trained with ReLU6 keeps more bits"
            )
    return tuple(found)
