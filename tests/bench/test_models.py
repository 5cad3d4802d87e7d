"""No figure of docs/bench.json may get worse: our kernels, four models on six cores."""

import os
from itertools import product
from pathlib import Path

import pytest

from tests.suites import slow_unless
from toolchain.ir import Family
from tools.bench import cells, figures

pytestmark = [pytest.mark.emulator]


@pytest.fixture(scope="module")
def bench() -> figures.Bench:
    """The committed figures; they hold for one version of the compiler only."""
    committed, found = figures.load(), cells.compiler()
    if found != committed.compiler:
        reason = f"docs/bench.json is of gcc {committed.compiler}, this is {found}"
        if "CI" in os.environ:
            pytest.fail(f"{reason}: run `make bench`")
        pytest.skip(reason)
    return committed


def _every_time(net: str, core: str) -> bool:
    """M7 and M33 run the kernels of M4."""
    return core not in ("M7", "M33") or net == "kws"


@pytest.mark.parametrize(
    ("net", "core"),
    slow_unless(_every_time, product(cells.NETS, cells.BOARDS)),
)
def test_no_figure_grows(
    net: str, core: str, shared: Path, bench: figures.Bench, tmp_path: Path
) -> None:
    model = cells.model_path(shared / "models", net)
    new = cells.measure(model, core, Family.FAST, tmp_path / "project")
    lines = figures.grown(bench.cells[net][core]["fast"], new)
    assert not lines, "\n".join(
        [f"{net} on {core}: more than in docs/bench.json; `make bench` accepts it", *lines]
    )
