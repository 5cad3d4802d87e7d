"""The programs under sanitizers find what they are for: kernels that are wrong in one place."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.sanitized.cases import TARGETS, Batch, Way, batch, ways
from tests.sanitized.program import Objects, build_program
from toolchain.ir import Array, Target
from toolchain.ir.execute import simulate
from toolchain.resources import CMSIS_GLUE

FAULTS = {
    "i < size": ("i <= size", "use-after-poison"),
    "output[i] =": ("output[i + 1] =", "use-after-poison"),
    "+ 128]": ("+ 129]", "global-buffer-overflow"),
    "int32_t i = 0": ("int32_t i = -1", "use-after-poison"),
    "return ARM_CMSIS_NN_SUCCESS": ("return ARM_CMSIS_NN_ARG_ERROR", "refuses its arguments"),
    "if (size < 0)": ("if (size << 31 != 0)", "left shift"),
    "table[input[i] + 128];": (
        "table[input[i] + 128];\n        ((int8_t *)(intptr_t)input)[i] = 0;",
        "an input was written to",
    ),
}


def _way(kernel: str, target: Target) -> Way:
    return next(way for way in ways(target) if way.kernel.name == kernel)


def _run(made: Batch, target: Target, objects: Objects, folder: Path) -> None:
    program = build_program(made.graph, made.choices, target, objects, folder)
    rng = np.random.default_rng(0)
    codes: dict[str, Array] = {}
    for x in made.graph.inputs:
        codes[x] = rng.integers(-128, 128, made.graph.types[x].shape).astype(np.int8)
        codes[x].flat[0] = 127
    (got,) = program.outputs([codes])
    expected = simulate(made.graph, codes)
    for y in made.graph.outputs:
        np.testing.assert_array_equal(got[y], expected[y])


@pytest.mark.parametrize("text", FAULTS)
def test_one_fault_in_a_kernel_is_found(text: str, tmp_path: Path) -> None:
    instead, report = FAULTS[text]
    target = TARGETS["portable"]
    made = batch([_way("glue_lookup_s8", target)], 2)
    source = tmp_path / "glue_lookup_s8.c"
    right = (CMSIS_GLUE / "src" / source.name).read_text()
    assert right.count(text) == 1
    source.write_text(right)
    choices = {
        y: replace(choice, kernel=replace(choice.kernel, sources=(str(source),)))
        for y, choice in made.choices.items()
    }
    made = replace(made, choices=choices)
    _run(made, target, Objects(tmp_path), tmp_path)
    source.write_text(right.replace(text, instead))
    (tmp_path / "objects").mkdir()
    with pytest.raises(AssertionError, match=report):
        _run(made, target, Objects(tmp_path / "objects"), tmp_path)


def test_a_byte_less_of_scratch_memory_is_found(objects: Objects, tmp_path: Path) -> None:
    target = TARGETS["dsp"]
    made = batch([_way("glue_conv_dsp", target)], 2)
    choices = {y: replace(c, scratch=max(c.scratch - 1, 0)) for y, c in made.choices.items()}
    _run(made, target, objects, tmp_path)
    with pytest.raises(AssertionError, match="use-after-poison"):
        _run(replace(made, choices=choices), target, objects, tmp_path)
