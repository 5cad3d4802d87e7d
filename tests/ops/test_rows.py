"""Operators that compute rows by themselves: all rows together are the whole output."""

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.ops.host import codes_of, example_graph, quantized, random_inputs
from toolchain.ir import HEIGHT, Op, bands
from toolchain.ir.execute import simulate

ALWAYS = {"Conv2D", "DepthwiseConv2D", "GroupedConv2D", "MaxPool"}
"""Operators all of whose examples are images."""


@pytest.mark.parametrize("band", [1, 2, 3])
@pytest.mark.parametrize("name", sorted(Op.registry))
def test_rows_make_the_output(name: str, band: int) -> None:
    streamed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        graph = example_graph(Op.registry[name].example(rng))
        samples = [random_inputs(graph, rng) for _ in range(2)]
        integer = quantized(graph, samples)
        (op, *others) = integer.ops
        kind = integer.types[op.y]
        if others or len(kind.shape) != 4:
            continue
        every = bands(kind.shape[HEIGHT], band)
        rows = [op.row(integer.types, integer.constants, *each) for each in every]
        if any(row is None for row in rows):
            continue
        streamed += 1
        values = simulate(integer, codes_of(integer, samples[0]))
        found = []
        for row in rows:
            parts = [
                values[x][:, row.reads[x][0] : sum(row.reads[x])] if x in row.reads else values[x]
                for x in row.op.inputs
            ]
            types = row.types(integer.types)
            assert row.op.infer(types)[0] == types[op.y].shape
            found += row.op.simulate(types, *parts)
        np.testing.assert_array_equal(np.concatenate(found, HEIGHT), values[op.y])
    assert streamed > 0 or name not in ALWAYS
