"""A mean over a whole map of int16 codes was offered as running sums of int8 codes."""

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.ops.host import example_graph, quantized, random_inputs
from toolchain.board import Isa
from toolchain.ir import DType, Example, Op, Target
from toolchain.ops._windows import Window
from toolchain.ops.average_pool import AveragePool
from toolchain.ops.wide.pools import Int16AveragePool
from toolchain.rows.stages import stages_of
from toolchain.select import Optimize


def _stages(example: Example):
    rng = np.random.default_rng(1)
    graph = example_graph(example)
    integer = quantized(graph, [random_inputs(graph, rng)])
    op = integer.ops[-1]
    return op, stages_of(op, integer, Target(Isa.DSP), Optimize.SPEED)


@pytest.mark.parametrize("kind", [AveragePool, Int16AveragePool])
def test_a_mean_over_a_map_runs_by_rows_on_int8_codes_only(kind):
    pool = kind("pool", ("x",), ("y",), Window((4, 5)))
    _, stages = _stages(Example(pool, {"x": (1, 4, 5, 6)}))
    assert (stages is not None) is (kind is AveragePool)


@pytest.mark.parametrize("name", sorted(Op.registry))
def test_no_operator_on_other_codes_runs_by_rows(name):
    op, stages = _stages(Op.registry[name].example(np.random.default_rng(0)))
    if {op.reads, op.writes} != {DType.INT8}:
        assert stages is None
