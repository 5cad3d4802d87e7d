"""Every registered operator: generated C against the integer model, integer model against float."""

from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.ops.host import HostModel, any_codes, codes_of, example_graph, quantized, random_inputs
from toolchain.board import Isa
from toolchain.ir import Op, Stage, Target, verify
from toolchain.ir.execute import evaluate, simulate
from toolchain.ir.fixedpoint import dequantize
from toolchain.ir.serialize import load_graph, save_graph

OPERATORS = sorted(Op.registry)
SEEDS = range(6)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("seed", SEEDS)
def test_generated_c_equals_the_integer_model(name: str, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    graph = example_graph(Op.registry[name].example(rng))
    samples = [random_inputs(graph, rng) for _ in range(4)]
    integer = quantized(graph, samples)
    model = HostModel(integer, Target(Isa.SCALAR), tmp_path)
    extreme = {x: any_codes(integer, x, rng) for x in integer.inputs}
    for codes in [*(codes_of(integer, s) for s in samples), extreme, extreme]:
        expected = simulate(integer, codes)
        for y, got in model.run(codes).items():
            np.testing.assert_array_equal(got, expected[y])


@pytest.mark.parametrize("name", OPERATORS)
def test_integer_model_is_close_to_float(name: str) -> None:
    """On calibrated inputs the integer model is at least 25 dB above its error, in the median."""
    ratios = []
    for seed in range(20):
        rng = np.random.default_rng(1000 + seed)
        graph = example_graph(Op.registry[name].example(rng))
        samples = [random_inputs(graph, rng) for _ in range(4)]
        integer = quantized(graph, samples)
        for sample in samples:
            expected, codes = evaluate(graph, sample), simulate(integer, codes_of(integer, sample))
            for y in graph.outputs:
                real = dequantize(codes[y], integer.types[y].q)
                noise = float(np.sum((real - expected[y]) ** 2)) + 1e-12
                ratios.append(10 * np.log10(float(np.sum(expected[y] ** 2)) / noise + 1e-12))
    assert np.median(ratios) > 25


@pytest.mark.parametrize("name", OPERATORS)
def test_graphs_survive_storage(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    graph = example_graph(Op.registry[name].example(rng))
    integer = quantized(graph, [random_inputs(graph, rng)])
    save_graph(integer, tmp_path)
    loaded = verify(load_graph(tmp_path), Stage.QUANTIZED)
    assert loaded.ops == integer.ops
    assert loaded.types == integer.types
    for constant, value in integer.constants.items():
        np.testing.assert_array_equal(loaded.constants[constant], value)
