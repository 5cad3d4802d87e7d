"""Batches against single samples: the same bytes, the same floats."""

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.ops.host import any_codes, example_graph, quantized, random_inputs
from toolchain.ir import Op
from toolchain.ir.batch import evaluate_op, simulate_each
from toolchain.ir.execute import evaluate, simulate


@pytest.mark.parametrize("name", sorted(Op.registry))
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_is_its_samples(name, seed):
    rng = np.random.default_rng(seed)
    graph = example_graph(Op.registry[name].example(rng))
    samples = [random_inputs(graph, rng) for _ in range(3)]
    integer = quantized(graph, samples)
    codes = [
        {x: any_codes(integer, x, rng) for x in graph.inputs}
        for _ in range(19)  # one batch and a rest
    ]
    found = list(simulate_each(integer, codes, dict))
    for sample, (given, values) in zip(codes, found, strict=True):
        assert given is sample
        for name, value in simulate(integer, sample).items():
            if name not in integer.constants:
                assert values[name].dtype == value.dtype
                np.testing.assert_array_equal(values[name], value)
    stacked = {x: np.stack([s[x] for s in samples]) for x in graph.inputs}
    floats = evaluate_op(graph, graph.ops[0], {**graph.constants, **stacked})
    for index, sample in enumerate(samples):
        expected = evaluate(graph, sample)
        for y, value in zip(graph.outputs, floats, strict=True):
            np.testing.assert_allclose(value[index], expected[y], rtol=1e-6, atol=1e-6)
