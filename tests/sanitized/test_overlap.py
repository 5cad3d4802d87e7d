"""Every kernel that allows an output over an input, at the very distance that it states.

By the registry: on the host in C under sanitizers, and in the emulator in assembly.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.firmware.test_operators import _joined, _samples
from tests.firmware.test_overlap import _overlapping_plan, _wrong
from tests.sanitized.cases import TARGETS, over_inputs, ways
from tests.sanitized.program import MVE, Objects, build_program
from tests.sanitized.test_emulator import BOARDS
from toolchain.board import Isa
from toolchain.ir import Target
from toolchain.ir.execute import simulate

HOST_LAYERS, EMULATOR_LAYERS = 6, 4


@pytest.mark.parametrize("name", TARGETS)
def test_outputs_over_inputs_on_the_host(name: str, objects: Objects, tmp_path: Path) -> None:
    target = TARGETS[name]
    cases = over_inputs(ways(target), HOST_LAYERS, first=1000)
    assert cases
    graph = _joined([case.graph for case in cases])
    by_output = {case.graph.ops[-1].y: case for case in cases}
    choices = {y: case.choice for y, case in by_output.items()}
    plan = _overlapping_plan(graph, by_output, target.alignment, 0)
    flags = MVE if name == Isa.MVE else []
    program = build_program(graph, choices, target, objects, tmp_path, flags, plan)
    samples = _samples([case.graph for case in cases], [case.floats for case in cases])
    for sample, got in zip(samples, program.outputs(samples), strict=True):
        expected = simulate(graph, sample)
        for y in graph.outputs:
            np.testing.assert_array_equal(got[y], expected[y], err_msg=y)


@pytest.mark.emulator
@pytest.mark.parametrize("isa", Isa, ids=str)
def test_outputs_over_inputs_in_the_emulator(isa: Isa, tmp_path: Path) -> None:
    target = Target(isa)
    cases = over_inputs(ways(target), EMULATOR_LAYERS, first=6000)
    assert not _wrong(cases, target, BOARDS[isa], tmp_path / "project")
