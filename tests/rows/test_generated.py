"""The generated C of chains that run row by row, on the host: whole inputs and rows."""

from pathlib import Path

import numpy as np
import pytest

from tests.ops.host import HostModel
from tests.rows.chains import LAYOUTS, laid_out, random_chain
from toolchain.board import Isa
from toolchain.ir import Family, Graph, Target
from toolchain.ir.execute import simulate
from toolchain.plan import Arranged, plan_memory
from toolchain.rows import Head, Segment, Segments, flattened, head_of, with_segments, without_head
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
    segment = None
    while segment is None:  # a layer of some chains cannot run row by row
        graph = random_chain(rng, int(rng.integers(2, 9)))
        segments = Segments(graph, TARGET, head=Head("x") if by_rows else None)
        segment = segments.segment(0, len(graph.ops) - 1, band)
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


def taking_rows(rng: np.random.Generator, layout: str) -> tuple[Graph, Graph, Head, Segment]:
    """A random model all of whose layers can run row by row: whole, and without its head."""
    for _ in range(100):
        chain = random_chain(rng, int(rng.integers(2, 6)), int(layout == "one channel"))
        graph = laid_out(chain, layout)
        head = head_of(graph)
        assert head is not None
        assert head.image == "x"
        inner = without_head(graph, head)
        segment = Segments(inner, TARGET, head=head).segment(0, len(inner.ops) - 1)
        if segment is not None:
            return graph, inner, head, segment
    raise AssertionError("no chain can run row by row")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(4))
def test_rows_are_pixels_in_every_layout_of_the_model(
    seed: int, layout: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    graph, inner, head, segment = taking_rows(rng, layout)
    run, choices = with_segments(inner, select_kernels(inner, TARGET), [segment])
    assert flattened(run) == graph
    planned = Arranged(run, choices, plan_memory(run, choices, TARGET.alignment))
    model = HostModel(graph, TARGET, tmp_path, planned)
    step, pixel, channel = head.strides(graph.types)
    for _ in range(2):
        given = rng.integers(-128, 128, graph.types[head.x].shape, np.int8)
        rows = np.zeros_like(given, shape=graph.types["x"].shape)
        for (_, row, column, c), _ in np.ndenumerate(rows):
            rows[0, row, column, c] = given.flat[row * step + column * pixel + c * channel]
        np.testing.assert_array_equal(rows, head.pixels(graph.types, given))
        (y,) = graph.outputs
        np.testing.assert_array_equal(model.push(rows)[y], simulate(graph, {head.x: given})[y])
