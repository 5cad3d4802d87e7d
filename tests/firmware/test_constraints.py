"""Limits just at and just below what is feasible, confirmed by the build and the emulator."""

from dataclasses import replace
from pathlib import Path

import pytest

from toolchain import pipeline
from toolchain.board import load_board
from toolchain.options import ConvertOptions
from toolchain.pipeline.costs import COUNTED, CYCLES, cycles_of, estimates_cycles
from toolchain.plan import Ram
from toolchain.project import Project
from toolchain.solve import FLASH, LATENCY, RAM, Infeasible, Limits

pytestmark = pytest.mark.emulator
DIGITS = Path(__file__).parents[2] / "examples" / "digits"
BOARDS = ["nucleo-f446re", "mps2-an385", "mps3-an547"]
AMONG_OTHERS = [*BOARDS[::2], pytest.param(BOARDS[1], marks=pytest.mark.slow)]
ONE = ConvertOptions(optimize="size", ram=Ram.MIN, pure_int8=True)
"""Leaves one candidate."""


def within(folder, board, limits, options=None, **more):
    model, calib = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    return pipeline.convert_within(model, calib, board, folder, limits, options, **more)


def measured(folder, board):
    """Flash, RAM and latency, by the commands that users have."""
    built = pipeline.build(folder)
    run = pipeline.emulate(folder, max_samples=1)
    part = load_board(board)
    cycles = cycles_of(Project(folder)) if estimates_cycles(part) else run.instructions
    return built.sizes.flash, built.sizes.ram, cycles / part.clock_hz * 1e3


@pytest.mark.parametrize("board", AMONG_OTHERS)
def test_figures_are_those_of_the_build_and_the_emulator(board, tmp_path):
    _, outcome = within(tmp_path / "one", board, Limits(), ONE)
    assert len(outcome.points) == 1
    costs = outcome.taken.costs
    assert (costs.flash, costs.ram, costs.latency_ms) == measured(tmp_path / "one", board)
    assert costs.basis == (CYCLES if estimates_cycles(load_board(board)) else COUNTED)
    exact = Limits(costs.flash, costs.ram, costs.latency_ms)
    within(tmp_path / "exact", board, exact, ONE)
    for metric, less in ((FLASH, 1), (RAM, 1), (LATENCY, 1e-5)):
        value = metric.of(costs)
        limits = replace(exact, **{metric.field: value - less})
        with pytest.raises(Infeasible) as error:
            within(tmp_path / "less", board, limits, ONE)
        assert f"{metric.option} {metric.text(value - less)} binds" in error.value.reason
        assert f"the least of all is {metric.text(value)}" in error.value.reason
        assert not (tmp_path / "less").exists()


@pytest.mark.parametrize("board", AMONG_OTHERS)
def test_less_ram_than_the_default_plan_takes(board, tmp_path):
    options = ConvertOptions(optimize="size")
    pipeline.convert(DIGITS / "model.onnx", DIGITS / "calibration.npz", board, tmp_path, options)
    ram = pipeline.build(tmp_path).sizes.ram
    _, outcome = within(tmp_path / "less", board, Limits(ram=ram - 200), options)
    costs = outcome.taken.costs
    assert costs.ram <= ram - 200
    assert (costs.flash, costs.ram, costs.latency_ms) == measured(tmp_path / "less", board)


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS)
def test_every_limit_at_and_below_the_best_of_all_candidates(board, tmp_path):
    _, outcome = within(tmp_path / "all", board, Limits(), complete=True)
    known = [p for p in outcome.points if p.costs is not None]
    assert len(known) > 4
    for metric in (FLASH, RAM, LATENCY):
        least = min(metric.of(p.costs) for p in known)
        folder = tmp_path / metric.field
        _, found = within(folder, board, Limits(**{metric.field: least}))
        taken = found.taken.costs
        assert metric.of(taken) == least
        assert (taken.flash, taken.ram, taken.latency_ms) == measured(folder, board)
        with pytest.raises(Infeasible, match="the least of all is") as error:
            within(tmp_path / "less", board, Limits(**{metric.field: least * 0.99}))
        assert metric.text(least) in error.value.reason
