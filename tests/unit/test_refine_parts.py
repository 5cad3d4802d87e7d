"""The parts of better quantisation, each against what it promises."""

import numpy as np
import pytest

from tests.unit.refine_nets import chain_net, noise, samples_of
from toolchain.ops.add import Add
from toolchain.quant.chains import find_chains
from toolchain.quant.equalize import absorb, equalize
from toolchain.quant.histogram import Histogram
from toolchain.quant.layers import Recipe, refine_layers
from toolchain.quant.moments import Moments
from toolchain.quant.quantize import free_tensors, quantize
from toolchain.quant.ranges import choose_range, mse_range, outlier_ratio
from toolchain.quant.refine import extents
from toolchain.quant.rounding import round_weights
from toolchain.quant.search import candidate
from toolchain.quant.trial import Score, Trial, float_values


def plain_ranges(graph, samples):
    found = {}
    for name, value in float_values(graph, samples, free_tensors(graph)).items():
        seen = Histogram()
        seen.add(value)
        found[name] = choose_range(seen, "minmax")
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("strength", [0.5, 1.0])
@pytest.mark.parametrize("high", [None, 6.0])
def test_equalisation_changes_no_output_and_evens_channels(seed, strength, high):
    rng = np.random.default_rng(seed)
    graph = chain_net(rng, high=high)
    samples = samples_of(graph, rng, 40)
    seen = extents(graph, samples)
    even = equalize(graph, seen, strength)
    assert even is not graph
    fresh = samples_of(graph, rng, 20) if high is None else samples  # ReLU6: within the ranges
    for y, expected in float_values(graph, fresh, graph.outputs).items():
        got = float_values(even, fresh, even.outputs)[y]
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-4 * np.abs(expected).max())
    if high is None and strength == 1.0:
        after = extents(even, samples)
        for chain in find_chains(graph):
            largest = np.max(
                [np.abs(after[n]).max(axis=0).reshape(-1, chain.channels).max(axis=0)
                 for n in chain.tensors], axis=0,
            )  # fmt: skip
            live = largest[largest > 0]
            np.testing.assert_allclose(live, live.max(), rtol=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_origins_of_equalised_tensors_lead_to_their_values(seed):
    rng = np.random.default_rng(seed)
    graph = chain_net(rng)
    samples = samples_of(graph, rng, 30)
    even = absorb(equalize(graph, extents(graph, samples), 1.0), extents(graph, samples))
    before = float_values(graph, samples, graph.producers())
    after = float_values(even, samples, even.producers())
    for name, origin in even.origins.items():
        if name in after:
            expected = np.stack([origin.view(v, v.shape) for v in before[origin.tensor]])
            scale = np.abs(expected).max() + 1e-6
            np.testing.assert_allclose(after[name], expected, atol=2e-4 * scale)


@pytest.mark.parametrize("seed", range(6))
def test_absorption_changes_no_output_on_the_data_it_saw(seed):
    rng = np.random.default_rng(seed)
    graph = chain_net(rng, bias=3.0, padded=False)
    samples = samples_of(graph, rng, 40)
    changed = absorb(graph, extents(graph, samples))
    assert changed is not graph
    for y, expected in float_values(graph, samples, graph.outputs).items():
        got = float_values(changed, samples, changed.outputs)[y]
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-4 * np.abs(expected).max())


def test_a_sum_shares_its_factors_with_all_its_terms():
    graph = chain_net(np.random.default_rng(0))
    (residual,) = (op for op in graph.ops if isinstance(op, Add))
    (chain,) = (c for c in find_chains(graph) if residual.y in c.tensors)
    assert set(residual.inputs) <= set(chain.tensors)
    assert len(chain.producers) == 2


@pytest.mark.parametrize("seed", range(20))
def test_rounding_leaves_less_error_than_the_nearest_codes(seed):
    rng = np.random.default_rng(seed)
    taps, outputs = int(rng.integers(2, 40)), int(rng.integers(1, 9))
    mixed = rng.normal(size=(600, taps)) @ rng.normal(size=(taps, taps)) * 20
    codes = np.clip(np.rint(mixed), -255, 255)
    weights = rng.normal(size=(1, outputs, taps))
    scales = np.abs(weights).max(axis=2) / 127
    moments = Moments()
    moments.add(codes[:, None, :], np.zeros((600, 1, outputs)))
    found = round_weights(moments, weights, scales, 1e-3)
    assert np.array_equal(found, np.rint(found))
    assert np.abs(found).max() <= 127
    own = moments.covariances()[0][0]

    def error(rounded):
        wrong = (rounded * scales[:, :, None] - weights)[0]
        return np.einsum("ok,kl,ol->o", wrong, own, wrong)

    nearest = np.rint(weights / scales[:, :, None])
    assert error(found).sum() <= error(nearest).sum() * (1 + 1e-9)


@pytest.mark.parametrize("recipe", [Recipe(False), Recipe(True), Recipe(True, 1.0)])
def test_bias_correction_leaves_every_channel_without_mean_error(recipe):
    rng = np.random.default_rng(5)
    graph = chain_net(rng, activation=False)
    samples = samples_of(graph, rng, 400)
    ranges = plain_ranges(graph, samples)
    refined = refine_layers(graph, quantize(graph, ranges).graph, samples, recipe)
    trial = Trial(graph, samples)
    plain, better = (quantize(g, ranges).graph for g in (graph, refined))
    assert trial.judge(plain).mean == pytest.approx(1.0)
    assert trial.judge(better).mean < 1.0
    before, after = (np.abs(noise(graph, g, samples).mean(axis=0)).max() for g in (plain, better))
    assert after < before
    assert after < 4 * 0.29 / np.sqrt(400)  # of a step: the mean of so many roundings


def test_refined_codes_survive_quantisation():
    rng = np.random.default_rng(6)
    graph = chain_net(rng)
    samples = samples_of(graph, rng, 60)
    ranges = plain_ranges(graph, samples)
    refined = refine_layers(graph, quantize(graph, ranges).graph, samples, Recipe(True, 1.0))
    integer = quantize(refined, ranges).graph
    again = refine_layers(graph, integer, samples, Recipe(False))
    for op in quantize(again, ranges).graph.ops:
        for name in op.inputs:
            if name.endswith(".weights"):
                kept = integer.constants[name]
                np.testing.assert_array_equal(quantize(again, ranges).graph.constants[name], kept)


def test_mse_range_beats_all_others_on_a_grid():
    rng = np.random.default_rng(1)
    values = np.append(rng.normal(size=20_000), [30.0, -25.0]).astype(np.float32)
    seen = Histogram()
    seen.add(values)

    def error(low, high):
        step = (high - low) / 255
        inside = np.clip(values, low, high)
        return float(((np.rint(inside / step) * step - values) ** 2).sum())

    found = mse_range(seen)
    best = min(error(-a, b) for a in np.linspace(2, 25, 47) for b in np.linspace(2, 30, 57))
    assert error(found.low, found.high) <= 1.05 * best


def test_margins_answer_tails_and_only_those():
    rng = np.random.default_rng(2)
    tailed, bounded = Histogram(), Histogram()
    tailed.add(rng.exponential(size=1000))
    bounded.add(np.append(rng.uniform(size=100_000), [1.0] * 2000))
    whole, wide = choose_range(tailed, "minmax"), candidate(tailed, "margin")
    assert wide.high > whole.high
    assert wide.low == whole.low == 0.0
    assert candidate(bounded, "margin").high == pytest.approx(1.0)


def test_outliers_are_named_only_where_they_are():
    rng = np.random.default_rng(3)
    calm, wild, few = Histogram(), Histogram(), Histogram()
    calm.add(rng.normal(size=200_000))
    wild.add(np.append(rng.normal(size=200_000), 4000.0))
    few.add(np.append(rng.normal(size=20), 4000.0))
    assert outlier_ratio(calm) is None
    assert outlier_ratio(few) is None
    assert (outlier_ratio(wild) or 0) > 100


def test_chance_is_not_taken_for_a_gain():
    errors = np.full(50, 1.0)
    lucky = errors - np.eye(50)[0] * 0.9
    assert not Score(errors).better_than(Score(errors))
    assert not Score(lucky).better_than(Score(errors), certainty=2.5)
    assert Score(errors * 0.9).better_than(Score(errors), certainty=2.5)
    assert not Score(errors * 0.999).better_than(Score(errors))


@pytest.mark.parametrize("seed", range(4))
def test_a_trial_computes_again_what_changed(seed):
    rng = np.random.default_rng(seed)
    graph = chain_net(rng)
    samples = samples_of(graph, rng, 12)
    ranges = plain_ranges(graph, samples)
    trial, names = Trial(graph, samples), sorted(ranges)
    for name in [None, *rng.choice(names, 6), None]:
        changed = dict(ranges)
        if name is not None:
            span = ranges[name]
            changed[name] = type(span)(span.low * 0.7, span.high * 0.9)
        integer = quantize(graph, changed).graph
        fresh = Trial(graph, samples)
        fresh.judge(quantize(graph, ranges).graph)
        expected = fresh.judge(integer).errors
        if trial.count == 0:
            trial.judge(quantize(graph, ranges).graph)
            trial.keep()
        np.testing.assert_array_equal(trial.judge(integer).errors, expected)
        trial.keep()
