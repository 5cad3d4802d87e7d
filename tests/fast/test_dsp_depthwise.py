"""Depthwise convolutions for the DSP extension: the oracle's bytes on the host and emulated."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.fast.oracle import (
    check_in_emulator,
    check_on_host,
    clip,
    depthwise_row,
    instances,
    normal,
)
from tests.firmware import test_operators
from toolchain import resources
from toolchain.board import Isa
from toolchain.emit import write_firmware
from toolchain.ir import Example, Site, Target
from toolchain.ops._windows import Window
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fast import dsp_depthwise
from toolchain.plan import check_plan, plan_memory
from toolchain.select import select_kernels

SMALL = tuple(f"glue_depthwise_3x3{s}_dsp" for s in ("", "_signed", "_stride2", "_stride2_signed"))
Maker = Callable[[np.random.Generator], Example]


def _layer(
    rng: np.random.Generator,
    window: Window,
    size: tuple[int, int],
    channels: int,
    bounds: tuple[float | None, float | None],
    multiplier: int = 1,
) -> Example:
    # filters of very different magnitude: channels with all kinds of shifts in one layer
    spread = 10.0 ** rng.uniform(-2.5, 0.5, channels * multiplier)
    weights = normal(rng, 1, *window.kernel, channels * multiplier) * spread
    return Example(
        DepthwiseConv2D("depthwise", ("x", "w", "b"), ("y",), window, *bounds),
        {"x": (1, *size, channels)},
        {
            "w": weights.astype(np.float32),
            "b": (normal(rng, channels * multiplier) * spread).astype(np.float32),
        },
    )


def _pads(rng: np.random.Generator, kernel: tuple[int, int]) -> tuple[int, int, int, int]:
    top, left, bottom, right = (int(rng.integers(0, kernel[i % 2] + 1)) for i in range(4))
    return top, left, bottom, right


def _common(rng: np.random.Generator) -> Example:
    """3x3 before a ReLU, as most networks have it."""
    stride = int(rng.integers(1, 3))
    pads = _pads(rng, (2, 2)) if rng.random() < 0.5 else (1, 1, 1, 1)
    size = (int(rng.integers(3, 15)), int(rng.integers(3, 15)))
    bounds = [(0.0, None), (None, None), clip(rng)][int(rng.choice(3, p=[0.5, 0.3, 0.2]))]
    window = Window((3, 3), (int(rng.integers(1, 3)), stride), pads)
    return _layer(rng, window, size, int(rng.integers(1, 20)), bounds)


def _any(rng: np.random.Generator) -> Example:
    kernel = (int(rng.integers(1, 7)), int(rng.integers(1, 7)))
    dilation = (int(rng.integers(1, 3)), 1) if rng.random() < 0.4 else (1, 1)
    if rng.random() < 0.3:
        dilation = (dilation[1], dilation[0])
    stride = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    size = (reach[0] + int(rng.integers(0, 9)), reach[1] + int(rng.integers(0, 9)))
    multiplier = int(rng.integers(1, 4)) if rng.random() < 0.3 else 1
    window = Window(kernel, stride, _pads(rng, kernel), dilation)
    return _layer(rng, window, size, int(rng.integers(1, 12)), clip(rng), multiplier)


def _five(rng: np.random.Generator) -> Example:
    """Five taps along a line, as the longer side of the image has it."""
    kernel = (int(rng.choice([5, 5, 3, 2])), 5)
    size = (int(rng.integers(5, 8)), int(rng.integers(8, 14)))
    if rng.random() < 0.3:
        kernel, size = (5, 5), (size[1], size[0])
    stride = int(rng.integers(1, 3))
    bounds = [(0.0, None), (None, None), clip(rng)][int(rng.choice(3, p=[0.4, 0.4, 0.2]))]
    window = Window(kernel, (stride, stride), _pads(rng, (kernel[0] - 1, kernel[1] - 1)))
    return _layer(rng, window, size, int(rng.integers(1, 9)), bounds)


MAKERS = {"common": _common, "five": _five, "row": depthwise_row, "any": _any}
TAKEN = {
    "row": {"glue_depthwise_row_dsp"},
    "common": set(SMALL),
    "five": {"glue_depthwise_5_dsp", "glue_depthwise_5_stride2_dsp"},
    "any": {"glue_depthwise_dsp"},
}


@pytest.fixture(params=[1024, 120], ids=["planes", "bands"])
def scratch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Little scratch memory makes small maps go in bands."""
    monkeypatch.setattr(dsp_depthwise, "SCRATCH", request.param)
    return int(request.param)


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("what", MAKERS)
def test_bytes_on_the_host(what: str, tmp_path: Path) -> None:
    check_on_host(MAKERS[what], range(20), Target(Isa.DSP), tmp_path)


@pytest.mark.emulator
@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("what", MAKERS)
def test_bytes_in_the_emulator(what: str, tmp_path: Path) -> None:
    taken = check_in_emulator(MAKERS[what], range(40), "mps2-an386", tmp_path / "p")
    assert taken >= TAKEN[what]


@pytest.mark.emulator
@pytest.mark.parametrize("what", ["common", "five", "row"])
def test_bytes_of_the_c_form_in_the_emulator(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "glue"
    _copy_without_assembly(sources)
    plain = write_firmware
    monkeypatch.setattr(
        test_operators, "write_firmware", lambda *args: plain(*args, glue_dir=sources)
    )
    check_in_emulator(MAKERS[what], range(30), "mps2-an386", tmp_path / "p")


def _copy_without_assembly(folder: Path) -> None:
    for part in ("src", "include"):
        (folder / part).mkdir(parents=True)
        for file in (resources.CMSIS_GLUE / part).iterdir():
            (folder / part / file.name).write_bytes(file.read_bytes())
    switch = folder / "src" / "glue_asm.h"
    text = switch.read_text().replace("#define GLUE_ASM 1", "#define GLUE_ASM 0")
    assert text.count("#define GLUE_ASM 0") == 2
    switch.write_text(text)


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("seed", range(30))
def test_outputs_over_inputs_read_before(seed: int) -> None:
    """No output of a band lies on an input code that a later band of the channel reads."""
    (graph,), _ = instances(_common if seed % 2 else _any, [seed])
    (op,) = graph.ops
    choices = select_kernels(graph, Target(Isa.DSP))
    choice = choices[op.y]
    if choice.onto and graph.types[op.y].nbytes <= graph.types[op.x].nbytes:
        plan = plan_memory(graph, choices, 4)
        check_plan(graph, choices, plan, 4)
        assert plan.offsets[op.x] == plan.offsets[op.y]
    site = Site(op, graph.types, graph.constants, Target(Isa.DSP))
    shapes = dsp_depthwise.best(site)
    if shapes is None or not choice.onto:
        return
    for done in range(shapes.band, shapes.output_lines, shapes.band):
        read = done * shapes.line_stride - shapes.line_padding
        kept = max(shapes.window - shapes.line_stride, 0)
        later = {
            line * shapes.line_step + i * shapes.element_step
            for line in range(max(read + kept, 0), shapes.lines)
            for i in range(shapes.elements)
        }
        written = {
            line * shapes.output_line_step + i * shapes.output_element_step
            for line in range(done)
            for i in range(shapes.output_elements)
        }
        assert not later & written
