"""Outputs over their inputs in the emulator, at the very distance that the kernels state.

Every operator whose kernel allows an overlap runs on random shapes with its output as far up as
alignment lets it go: one step further and bytes would be lost before they are read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.firmware.test_operators import BOARDS, _instance, _joined, _samples
from toolchain.board import load_board
from toolchain.emit import write_code, write_firmware, write_model
from toolchain.ir import Array, Family, Graph, Op, Target
from toolchain.ir.execute import simulate
from toolchain.plan import Plan
from toolchain.plan.lifetimes import aligned
from toolchain.project import firmware_of
from toolchain.run import RunRequest, build
from toolchain.run.qemu import Qemu
from toolchain.select import Choice, select_kernels

pytestmark = [pytest.mark.emulator]

PER_PROJECT = 150
CI_SEEDS, ALL_SEEDS = range(500, 512), range(600, 700)
PRODUCERS = {"Conv2D", "DepthwiseConv2D", "GroupedConv2D", "AveragePool", "MaxPool"}


@dataclass(frozen=True)
class Case:
    """A graph of one operator, the input it is written over, and its samples."""

    graph: Graph
    index: int
    floats: list[dict[str, Array]]


def _cases(seeds: Sequence[int], target: Target) -> list[Case]:
    """Every operator, seed and input of which the kernel that is taken allows an overlap."""
    cases = []
    for name in sorted(Op.registry):
        for seed in seeds:
            for index in (0, 1):
                rng = np.random.default_rng(seed)
                stem = f"{name}_{seed}_{index}_"
                graph, floats = _instance(Op.registry[name].example(rng), rng, stem)
                op = graph.ops[-1]
                if op.is_view or len(graph.ops) > 1:  # quantisation rescales an input first
                    continue
                choice = select_kernels(graph, target)[op.y]
                if index in choice.overlap and op.inputs[index] in graph.inputs:
                    cases.append(Case(graph, index, floats))
    return cases


def _overlapping_plan(
    graph: Graph,
    indices: Mapping[str, int],
    choices: Mapping[str, Choice],
    alignment: int,
    missing: int,
) -> Plan:
    """Each output over an input at the kernel's distance less `missing` bytes; all else apart."""
    offsets: dict[str, int] = {}
    scratch: dict[str, int] = {}
    end = 0

    def block(nbytes: int) -> int:
        nonlocal end
        start, end = end, aligned(end + nbytes + alignment, 16)
        return start

    for op in graph.ops:
        index, choice = indices[op.y], choices[op.y]
        covered, size = op.inputs[index], graph.types[op.y].nbytes
        below = aligned(choice.overlap[index], alignment) - missing
        start = block(max(below, 0) + max(size - min(below, 0), graph.types[covered].nbytes))
        offsets[op.y], offsets[covered] = start - min(below, 0), start + max(below, 0)
        for x in op.inputs:
            if x in graph.inputs and x != covered:
                offsets[x] = block(graph.types[x].nbytes)
        if choice.scratch:
            scratch[op.y] = block(choice.scratch)
    survives = dict.fromkeys(graph.inputs, False)
    return Plan(offsets, scratch, end, end, False, "", (), (), survives, {})


def _wrong(
    cases: Sequence[Case],
    target: Target,
    board: str,
    folder: Path,
    missing: int = 0,
    choices: dict[str, Choice] | None = None,
) -> set[str]:
    """Names of the outputs that differ from their oracles; preferred kernels, or `choices`."""
    graph = _joined([case.graph for case in cases])
    indices = {case.graph.ops[-1].y: case.index for case in cases}
    choices = select_kernels(graph, target) if choices is None else choices
    plan = _overlapping_plan(graph, indices, choices, target.alignment, missing)
    code = write_code(graph, choices, plan, target, "overlaps")
    folder.mkdir(parents=True)
    write_model(folder, code, {"test": "overlaps"})
    firmware, description = firmware_of(code), load_board(board)
    write_firmware(folder, firmware, description, None)
    samples = _samples([case.graph for case in cases], [case.floats for case in cases])
    inputs = [b"".join(s[x].tobytes() for x in graph.inputs) for s in samples]
    program = build(folder, description).emulation
    result = Qemu().run(RunRequest(program, description, firmware, inputs))
    wrong = set()
    for sample, output in zip(samples, result.outputs, strict=True):
        expected, start = simulate(graph, sample), 0
        for y in graph.outputs:
            stop = start + graph.types[y].nbytes
            if output[start:stop] != expected[y].tobytes():
                wrong.add(y)
            start = stop
    return wrong


def _check(seeds: Sequence[int], core: str, family: Family, folder: Path) -> None:
    target = Target(load_board(BOARDS[core]).isa, family)
    cases = _cases(seeds, target)
    if family is Family.PORTABLE:
        assert {type(case.graph.ops[-1]).__name__ for case in cases} >= PRODUCERS
    for start in range(0, len(cases), PER_PROJECT):
        chunk = cases[start : start + PER_PROJECT]
        assert not _wrong(chunk, target, BOARDS[core], folder / f"project{start}")


@pytest.mark.parametrize("family", [Family.FAST, Family.PORTABLE])
@pytest.mark.parametrize("core", BOARDS)
def test_outputs_over_inputs_equal_their_oracles(core: str, family: Family, tmp_path: Path) -> None:
    _check(CI_SEEDS, core, family, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("core", BOARDS)
def test_outputs_over_inputs_equal_their_oracles_on_many_shapes(core: str, tmp_path: Path) -> None:
    _check(ALL_SEEDS, core, Family.FAST, tmp_path)


def test_less_than_the_distance_is_wrong(tmp_path: Path) -> None:
    """Else the test above could not fail. Outputs that cannot spoil anything are left out."""
    target = Target(load_board(BOARDS["M4"]).isa, Family.PORTABLE)
    cases = [case for case in _cases(CI_SEEDS, target) if _is_tight(case, target)]
    wrong = _wrong(cases, target, BOARDS["M4"], tmp_path / "project", 2 * target.alignment)
    assert len(wrong) > len(cases) / 2


def _is_tight(case: Case, target: Target) -> bool:
    op, types = case.graph.ops[-1], case.graph.types
    distance = select_kernels(case.graph, target)[op.y].overlap[case.index]
    return -types[op.inputs[case.index]].nbytes + 8 < distance and types[op.y].nbytes > 8
