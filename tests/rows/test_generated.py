"""The generated C of chains that run row by row, on the host: whole inputs and rows."""

from pathlib import Path

import numpy as np
import pytest

from tests.ops.host import HostModel
from tests.rows.chains import random_chain
from toolchain.board import Isa
from toolchain.ir import Family, Target
from toolchain.ir.execute import simulate
from toolchain.plan import Arranged, plan_memory
from toolchain.rows import Segments, with_segments
from toolchain.select import select_kernels

TARGET = Target(Isa.SCALAR, Family.PORTABLE)
REFUSED = -1
"""ARM_CMSIS_NN_ARG_ERROR."""


@pytest.mark.parametrize(("by_rows", "band"), [(False, 1), (True, 1), (False, 2), (True, 4)])
@pytest.mark.parametrize("seed", range(10))
def test_generated_c_equals_the_integer_model(
    seed: int, by_rows: bool, band: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    graph = random_chain(rng, int(rng.integers(2, 9)))
    segments = Segments(graph, TARGET, fed="x" if by_rows else None)
    segment = segments.segment(0, len(graph.ops) - 1, band)
    if segment is None:
        pytest.skip("a layer of this chain cannot run row by row")
    run, choices = with_segments(graph, select_kernels(graph, TARGET), [segment])
    planned = Arranged(run, choices, plan_memory(run, choices, TARGET.alignment))
    model = HostModel(graph, TARGET, tmp_path, planned)
    for _ in range(3):
        codes = {"x": rng.integers(-128, 128, graph.types["x"].shape, np.int8)}
        if by_rows:  # before the first run, and after each
            assert model.push_row(codes["x"][0, 0]) == REFUSED
        got = model.push(codes["x"]) if by_rows else model.run(codes)
        (y,) = graph.outputs
        np.testing.assert_array_equal(got[y], simulate(graph, codes)[y])
