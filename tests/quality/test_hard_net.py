"""How far pure int8 rescues a net made to break it."""

import pytest

from tests.quality.hard_net import hard_net, hard_samples
from toolchain.check.metrics import agreement
from toolchain.ir.batch import simulate_batch
from toolchain.ir.fixedpoint import dequantize
from toolchain.ir.fixedpoint import quantize as to_codes
from toolchain.quant.calibrate import Profile
from toolchain.quant.choose import outliers
from toolchain.quant.quantize import free_tensors, quantize
from toolchain.quant.refine import Wanted, plain, refine
from toolchain.quant.trial import float_values

PLAIN = Wanted("minmax", weights=False)


def measure(graph, samples):
    found = {}
    for name, value in float_values(graph, {"x": samples}, free_tensors(graph)).items():
        found[name] = Profile(graph.origins[name])
        found[name].add(value)
    return found


def reached(graph, chosen, samples):
    """Share of test samples with the class of the float net."""
    integer = quantize(chosen.graph, chosen.ranges).graph
    codes = simulate_batch(integer, {"x": to_codes(samples, integer.types["x"].q)})["y"]
    expected = float_values(graph, {"x": samples}, ["y"])["y"]
    value = dequantize(codes, integer.types["y"].q)
    return agreement(expected.reshape(-1, 1), value.reshape(-1, 1))


@pytest.mark.parametrize(("tail", "least"), [(False, 0.99), (True, 0.99)])
def test_auto_rescues_the_hard_net(tail, least):
    graph = hard_net(outliers=tail)
    samples = hard_samples(300, 1, outliers=tail)
    test = hard_samples(600, 2, outliers=tail)
    histograms = measure(graph, samples)
    before = reached(graph, plain(graph, histograms, PLAIN), test)
    columns = [{"x": x} for x in samples]
    chosen = refine(
        graph, (columns, len(columns)), (histograms, lambda g: measure(g, samples)), Wanted()
    )
    after = reached(graph, chosen, test)
    assert before < 0.97
    assert after >= least


def test_the_warning_names_tensor_and_tail():
    graph = hard_net()
    (warning, *_) = outliers(graph, measure(graph, hard_samples(300, 1)))
    assert warning.startswith("x has outliers")
    assert not outliers(
        hard_net(outliers=False), measure(graph, hard_samples(300, 1, outliers=False))
    )
