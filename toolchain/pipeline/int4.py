"""Layers that get int4 weights: those named, or as many as the gates allow."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolchain.errors import InputRefused
from toolchain.frontend.samples import Samples
from toolchain.ir import Graph, Op
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.int4 import int4_form
from toolchain.options import Progress
from toolchain.pipeline.precision import Good, effect, require_choice
from toolchain.project import layer_names, layers_named
from toolchain.quant.int4 import int4_candidates, weights_of
from toolchain.quant.mixture import Mixture
from toolchain.quant.refine import split
from toolchain.quant.trial import float_values, integer_outputs


def int4_named(graph: Graph, patterns: Sequence[str]) -> frozenset[str]:
    """Tensors that the layers write which are named; of what a pattern names, those that can.

    Args:
        graph: Float graph after the passes.
        patterns: Names, in which * and ? may be used.

    Raises:
        InputRefused: A pattern names no layer, or none that can have int4 weights.
    """
    able = {op.y for op in int4_candidates(graph)}
    chosen: set[str] = set()
    for pattern in patterns:
        named = layers_named(graph, (pattern,), "convert")
        if not named & able:
            first = next(op for op in graph.ops if op.y in named)
            names = layer_names(graph.ops)
            reason, hint = _why_not(graph, first)
            raise InputRefused("convert", names[first.y], f"--int4: {reason}", hint)
        chosen |= named & able
    return frozenset(chosen)


def _why_not(graph: Graph, op: Op) -> tuple[str, str]:
    hint = "name convolutions or fully connected layers"
    if int4_form(op) is not None:
        return "the model states integer weights here, which are kept", "give the float model"
    if isinstance(op, DepthwiseConv2D):
        return "the weights of a depthwise convolution stay int8, for they are few", hint
    if any(n in graph.constants for n in op.inputs):
        return f"{type(op).__name__} has no form with int4 weights", hint
    return "this layer has no weights", hint


def refuse_both(graph: Graph, wide: frozenset[str], few: frozenset[str]) -> None:
    """Refuse a layer that is to have int16 codes and int4 weights.

    Raises:
        InputRefused: There is one.
    """
    names = layer_names(graph.ops)
    for op in graph.ops:
        if op.y in wide & few:
            reason = "--int16 and --int4 name this layer; its kernels take one of both"
            raise InputRefused("convert", names[op.y], reason, "give it one of them")


def choose_int4(
    mixture: Mixture,
    samples: Samples | None,
    good: Good,
    kept: Callable[[Graph], bool] | None,
    progress: Progress,
) -> tuple[frozenset[str], str]:
    """More layers, as many as the gates allow, those with the most weights first.

    They are chosen on held-back calibration samples; where the gates are asked of the calibration
    samples, they hold there too.

    Args:
        mixture: The model; layers that have another precision keep it.
        samples: Calibration samples, real values.
        good: Whether outputs, beside those of the float graph, are good enough.
        kept: What the integer graph has to keep besides.
        progress: Told about the integer models judged.

    Returns:
        These layers, by the tensors they write, and a remark where there are none.

    Raises:
        InputRefused: There are no samples to choose by, or no layers to choose from.
    """
    graph, asked = mixture.graph, "--int4 auto"
    taken = mixture.wide | mixture.few
    candidates = [op.y for op in int4_candidates(graph) if op.y not in taken]
    if not candidates and not mixture.few:
        reason = "no layer has float weights that 4 bits can hold"
        raise InputRefused("convert", asked, reason, "give a float model with convolutions")
    known = require_choice(samples, asked)
    _, held = split(graph, known, len(known))
    expected = float_values(graph, held, graph.outputs)
    done = 0

    def holds(layers: frozenset[str]) -> bool:
        nonlocal done
        done += 1
        progress("int4", done, len(candidates) + 2)
        integer = mixture.also(few=layers).quantized().graph
        enough = good(expected, integer_outputs(integer, held))
        return enough and (kept is None or kept(integer))

    none: frozenset[str] = frozenset()
    every = frozenset(candidates)
    if holds(every):
        return every, ""
    if not holds(none):
        return none, "int4 auto: the gates do not hold without"
    chosen = none
    for y in candidates:
        if holds(chosen | {y}):
            chosen |= {y}
    return chosen, "" if chosen else "int4 auto: the gates allow for no layer"


def int4_note(mixture: Mixture, samples: Samples | None, found: Graph) -> str:
    """Layers with int4 weights, the bytes they save, and what they cost on held-back samples.

    Args:
        mixture: The model.
        samples: Calibration samples; None: there are none.
        found: Its integer graph as it goes on.
    """
    graph = mixture.graph
    names = layer_names(graph.ops)
    ops = [op for op in found.ops if op.y in mixture.few]
    saved = sum(weights_of(found, op) // 2 for op in ops)
    note = f"int4 weights: {', '.join(names[op.y] for op in ops)}; {saved:,} bytes less"
    int8 = replace(mixture, few=frozenset())
    return note + effect(mixture, samples, found, int8, "int8 weights")
