"""Whatever the weights and the ranges: int32 holds every sum, multipliers are legal (R2, R33)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toolchain.ops  # noqa: F401 - registers the operators
from tests.ops.host import example_graph
from tests.unit.quantize_oracle import (
    Range,
    calibrated_tensors,
    quantize,
    random_codes,
    simulate,
    watched_arithmetic,
)
from toolchain.board import Isa
from toolchain.ir import DType, Graph, Op, Target

OPERATORS = sorted(Op.registry)


def random_range(rng: np.random.Generator) -> Range:
    """Any range that contains zero, from 1e-9 to 1e9 wide."""
    low, high = -(10 ** rng.uniform(-9, 9)), 10 ** rng.uniform(-9, 9)
    side = rng.integers(3)
    return Range(0.0 if side == 0 else low, 0.0 if side == 1 else high)


def random_constants(graph: Graph, rng: np.random.Generator) -> Graph:
    """The graph with constants of wild and degenerate magnitudes, by channel."""
    from dataclasses import replace

    def wild(value):
        factor = 10.0 ** rng.uniform(-12, 9, value.shape[-1:])
        factor[rng.random(factor.shape) < 0.2] = 0
        factor[rng.random(factor.shape) < 0.1] = 1e-42  # a denormal number
        return (value * factor).astype(np.float32)

    return replace(graph, constants={n: wild(c) for n, c in graph.constants.items()})


@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_r33_sums_stay_within_int32_on_extreme_codes_and_unrelated_ranges(name, seed):
    rng = np.random.default_rng(seed)
    graph = random_constants(example_graph(Op.registry[name].example(rng)), rng)
    ranges = {t: random_range(rng) for t in calibrated_tensors(graph)}
    done = quantize(graph, ranges).graph
    for quant in (t.q for t in done.types.values() if t.quant is not None):
        assert all(np.isfinite(s) and s > 0 for s in quant.scales)
    for constant, value in done.constants.items():
        assert value.dtype == done.types[constant].dtype.value
        assert done.types[constant].dtype is not DType.FLOAT32
    with watched_arithmetic():
        for extreme in (True, True, False):
            result = simulate(done, random_codes(done, rng, extreme=extreme))
            assert all(result[y].dtype == done.types[y].dtype.value for y in done.outputs)
        for op in done.ops:
            op.tables(done.types, Target(Isa.SCALAR))
            op.arguments(done.types)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_r33_sums_of_long_dot_products_with_adversarial_inputs_stay_within_int32(seed):
    """Codes that agree in sign with every weight, tens of thousands of them."""
    from tests.unit.import_oracle import model, node

    rng = np.random.default_rng(seed)
    depth = int(rng.integers(1000, 70000))
    w = rng.standard_normal((2, depth)).astype(np.float32)
    w[0] = np.sign(w[0])
    from toolchain import passes
    from toolchain.frontend.read import read

    proto = model(node("Gemm", "x w b", transB=1), x=(1, depth), w=w, b=rng.normal(size=2) * 1e6)
    graph = passes.run(read(proto, "m").graph)
    ranges = {t: random_range(rng) for t in calibrated_tensors(graph)}
    done = quantize(graph, ranges).graph
    (layer,) = done.ops
    codes = done.constants[layer.inputs[1]]
    with watched_arithmetic():
        for row in codes:
            for sign in (1, -1):
                worst = np.where(sign * row.astype(int) >= 0, 127, -128).astype(np.int8)[None]
                simulate(done, {"x": worst})
