"""int4 weights: how they are chosen, which layers get them, and what is refused."""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from tests.unit.refine_nets import chain_net, noise, samples_of
from tests.unit.test_refine_parts import plain_ranges
from toolchain.board import Isa, load_board
from toolchain.check.compare import Gates
from toolchain.errors import InputRefused
from toolchain.ir import Family, Graph, Quant, Rounding, Target
from toolchain.ops._weights import INT4_REACH, quantize_weights
from toolchain.ops.int4 import Int4Layer
from toolchain.options import ConvertOptions, silent
from toolchain.pipeline.int4 import choose_int4, int4_named, int4_note, refuse_both
from toolchain.pipeline.precision import Good, Meeting
from toolchain.plan import plan_for, require_fit
from toolchain.quant.int4 import int4_candidates, with_int4
from toolchain.quant.layers import refine_layers
from toolchain.quant.mixture import Mixture
from toolchain.quant.moments import Moments
from toolchain.quant.quantize import quantize
from toolchain.quant.refine import split
from toolchain.quant.rounding import best_scales, round_weights

RNG = np.random.default_rng(0)


class Several(list):
    """Samples as the pipeline takes them."""

    codes = False


def _mixture(count: int = 30) -> tuple[Mixture, Several]:
    graph = chain_net(np.random.default_rng(3))
    columns = samples_of(graph, np.random.default_rng(4), count)
    (name,) = graph.inputs
    samples = Several({name: column} for column in columns[name])
    fit, _ = split(graph, samples, count)
    ranges = plain_ranges(graph, columns)
    return Mixture(graph, ranges, ranges, Rounding.DOUBLE, fit=fit), samples


@pytest.fixture(scope="module")
def made() -> tuple[Mixture, Several]:
    return _mixture()


@pytest.fixture(scope="module")
def mixture(made: tuple[Mixture, Several]) -> Mixture:
    return made[0]


def _able(graph: Graph) -> set[str]:
    return {op.y for op in int4_candidates(graph)}


def test_a_clipped_weight_can_be_worth_finer_steps() -> None:
    weights = RNG.normal(0, 1, (1, 400)).astype(np.float32)
    weights[0, 0] = 8.0
    found = quantize_weights(weights, np.zeros(1), 1.0, 1.0, "node", reach=INT4_REACH)
    assert np.abs(found.codes).max() == INT4_REACH
    assert found.scales[0] < 8.0 / INT4_REACH
    clipped = np.sum((found.codes * found.scales[0] - weights) ** 2)
    widest = np.rint(weights * INT4_REACH / 8.0) * 8.0 / INT4_REACH
    assert clipped < np.sum((widest - weights) ** 2)


def test_weights_that_fit_stay_as_they_are() -> None:
    codes = RNG.integers(-7, 8, (5, 20))
    codes[:, 0] = 7
    found = quantize_weights(codes * 0.25, np.zeros(5), 1.0, 1.0, "node", reach=INT4_REACH)
    np.testing.assert_array_equal(found.codes, codes)
    assert set(found.scales) == {0.25}


def test_scales_are_chosen_for_the_error_of_the_sums() -> None:
    x = RNG.integers(-50, 50, (500, 1, 12)) @ RNG.normal(0, 1, (12, 12))
    w = RNG.normal(0, 1, (6, 12)) ** 3
    moments = Moments()
    moments.add(x, x @ w.T)
    largest = np.abs(w).max(axis=1)[None] / INT4_REACH

    def error(scales: np.ndarray) -> float:
        codes = round_weights(moments, w[None], scales, 0.01, INT4_REACH)
        assert np.abs(codes).max() <= INT4_REACH
        return float(np.sum((x @ (codes[0] * scales.T - w).T) ** 2))

    assert error(best_scales(moments, w[None], largest, 0.01, INT4_REACH)) < 0.9 * error(largest)


def test_rounding_by_sums_beats_nearest_weights() -> None:
    graph = chain_net(np.random.default_rng(5))
    samples = samples_of(graph, np.random.default_rng(6), 60)
    ranges = plain_ranges(graph, samples)
    few = with_int4(graph, _able(graph))
    integer = quantize(few, ranges).graph
    refined = quantize(refine_layers(few, integer, samples, None), ranges).graph
    for op in refined.ops:
        if isinstance(op, Int4Layer):
            assert np.abs(refined.constants[op.inputs[1]]).max() <= INT4_REACH
    depthwise = next(op for op in refined.ops if type(op).__name__ == "DepthwiseConv2D")
    for name in depthwise.inputs[1:]:
        np.testing.assert_array_equal(refined.constants[name], integer.constants[name])
    fresh = samples_of(graph, np.random.default_rng(7), 60)
    after, before = (float(np.square(noise(graph, g, fresh)).sum()) for g in (refined, integer))
    assert after < 0.6 * before


def test_layers_that_can_are_found_the_largest_first(mixture: Mixture) -> None:
    graph = mixture.graph
    sizes = [graph.types[op.inputs[1]].elements for op in int4_candidates(graph)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 4


def test_a_pattern_takes_those_that_can(mixture: Mixture) -> None:
    graph = mixture.graph
    assert int4_named(graph, ("*",)) == _able(graph)
    assert int4_named(graph, ()) == frozenset()


def _kinds(graph: Graph) -> dict[str, str]:
    return {type(op).__name__: op.name for op in graph.ops}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("AveragePool", "no weights"), ("Add", "no weights"), ("DepthwiseConv2D", "stay int8")],
)
def test_layers_without_such_a_form_are_refused(mixture: Mixture, kind: str, reason: str) -> None:
    graph = mixture.graph
    with pytest.raises(InputRefused, match=reason) as refused:
        int4_named(graph, (_kinds(graph)[kind],))
    assert _kinds(graph)[kind] in str(refused.value)


def test_a_pattern_without_a_layer_is_refused(mixture: Mixture) -> None:
    with pytest.raises(InputRefused, match="names no layer"):
        int4_named(mixture.graph, ("nothing*",))


def test_stated_weights_are_kept(mixture: Mixture) -> None:
    graph = mixture.graph
    op = int4_candidates(graph)[0]
    w = op.inputs[1]
    stated = replace(graph.types[w], quant=Quant((0.5,), 0))
    graph = graph.with_ops(graph.ops, {**graph.types, w: stated})
    with pytest.raises(InputRefused, match="the model states integer weights"):
        int4_named(graph, (op.name,))


def test_one_layer_has_one_precision(mixture: Mixture) -> None:
    graph = mixture.graph
    with pytest.raises(InputRefused, match="--int16 and --int4"):
        refuse_both(graph, frozenset({"t0", "t2"}), frozenset({"t2"}))
    refuse_both(graph, frozenset({"t0"}), frozenset({"t2"}))


def test_options_that_contradict_each_other() -> None:
    with pytest.raises(InputRefused, match="int4 weights"):
        ConvertOptions(int4=("a",), pure_int8=True)
    with pytest.raises(InputRefused, match="int4 weights"):
        ConvertOptions(int4=("a",), kernels=Family.CMSIS_NN)


def test_as_many_layers_as_the_gates_allow(made: tuple[Mixture, Several]) -> None:
    mixture, samples = made
    every = _able(mixture.graph)

    def chosen(good: Good, kept: Callable[[Graph], bool] | None = None) -> tuple[set[str], str]:
        layers, remark = choose_int4(mixture, samples, good, kept, silent)  # type: ignore[arg-type]
        return set(layers), remark

    assert chosen(Meeting(Gates(min_sqnr=1.0))) == (every, "")
    without = (set(), "int4 auto: the gates do not hold without")
    assert chosen(Meeting(Gates(min_sqnr=99.0))) == without
    assert chosen(lambda *_: True, lambda _: False) == without
    largest = {int4_candidates(mixture.graph)[0].y}
    asked = [False, True, True, False, False, False]
    assert chosen(lambda *_: asked.pop(0)) == (largest, "")
    assert asked == []


def test_to_choose_takes_samples() -> None:
    mixture, samples = _mixture(15)
    with pytest.raises(InputRefused, match="calibration samples"):
        choose_int4(mixture, samples, Meeting(None), None, silent)  # type: ignore[arg-type]


def test_the_note_tells_what_it_saves_and_costs(made: tuple[Mixture, Several]) -> None:
    mixture, samples = made
    op = int4_candidates(mixture.graph)[0]
    few = mixture.also(few={op.y})
    note = int4_note(few, samples, few.quantized().graph)  # type: ignore[arg-type]
    saved = mixture.graph.types[op.inputs[1]].elements // 2
    assert note.startswith(f"int4 weights: {op.name}; {saved:,} bytes less; on held-back samples")
    assert "with int8 weights SQNR" in note


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_samples_are_enough_to_name_layers(count: int) -> None:
    mixture, _ = _mixture(count)
    graph = mixture.also(few=int4_named(mixture.graph, ("*",))).quantized().graph
    assert sum(isinstance(op, Int4Layer) for op in graph.ops) == 4


def test_flash_is_counted_as_weights_are_packed(mixture: Mixture) -> None:
    few = mixture.also(few=_able(mixture.graph)).quantized().graph
    before, after = (sum(g.stored_bytes().values()) for g in (mixture.quantized().graph, few))
    layers = [op for op in few.ops if isinstance(op, Int4Layer)]
    assert before - after == sum(few.types[op.inputs[1]].elements // 2 for op in layers)
    board, planned = load_board("nucleo-f446re"), plan_for(few, Target(Isa.DSP))
    for flash in (after, after - 1):
        code = msgspec.structs.replace(board.flash, bytes=flash)
        small = msgspec.structs.replace(board, memory=(code, board.ram))
        if flash == after:
            require_fit(planned, small, 0)
        else:
            with pytest.raises(InputRefused, match=f"the weights take {after:,} bytes of flash"):
                require_fit(planned, small, 0)
