"""Firmware whose dead memory holds noise gives the same bytes; what depends on it is found."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.quantized.test_real_models import STATED
from tests.run import faults
from tests.unit.test_import_real_models import CLASSIFIER, REFUSED, TRANSPOSES
from toolchain import pipeline
from toolchain.emit import model as emitted
from toolchain.errors import RunFailed
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.ir import Graph
from toolchain.ir.execute import simulate
from toolchain.options import ConvertOptions
from toolchain.plan import Plan, Ram, dead_spans
from toolchain.project import Project
from toolchain.run import Kind

pytestmark = [pytest.mark.emulator]

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
BOARDS = {"M3": "mps2-an385", "M4": "mps2-an386", "M55": "mps3-an547"}
"""With room for every model."""
SAMPLES = 3
SHAPES = {CLASSIFIER: {"x": (1, 3, 48, 192)}}
"""Of models that do not state them."""
MODELS = (*STATED, *TRANSPOSES, CLASSIFIER)
WAYS = {
    "auto": ConvertOptions(),
    "min": ConvertOptions(ram=Ram.MIN),
    "min, fed": ConvertOptions(ram=Ram.MIN, by_rows=True),
}


def digits(folder: Path, options: ConvertOptions, board: str = "nucleo-f446re") -> Project:
    model, data = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    return pipeline.convert(model, data, board, folder, replace(options, prefix="digits"))


def require_same_bytes(project: Project, engine: Kind = "qemu", samples: int = SAMPLES) -> None:
    """The integer model's, from the plain firmware and with noise; the first sample thrice."""
    run = pipeline.emulate(project.directory, None, engine, samples, poison=True)
    assert run.poisoned
    graph, given = project.graph(), project.samples()[:samples]
    assert run.samples == len(given) == samples
    for i, sample in enumerate(given):
        right = simulate(graph, sample)
        for y in graph.outputs:
            assert np.array_equal(run.codes[y][i].reshape(-1), right[y].reshape(-1)), (i, y)


@pytest.mark.parametrize("way", WAYS)
def test_digits(way: str, tmp_path: Path) -> None:
    pytest.importorskip("unicorn")
    require_same_bytes(digits(tmp_path / "project", WAYS[way]), "all")


@pytest.mark.parametrize("way", WAYS)
def test_kws(way: str, shared: Path, tmp_path: Path) -> None:
    source = shared / "models" / "mlperf_kws_int8_qdq.onnx"
    folder = tmp_path / "project"
    require_same_bytes(pipeline.convert(source, None, "nucleo-f446re", folder, WAYS[way]))


def test_an_arena_in_parts(tmp_path: Path) -> None:
    options = ConvertOptions(arena_in="ccm:1400,sram")
    project = digits(tmp_path / "project", options, "stm32f4-discovery")
    table = (project.directory / "firmware" / "poison.h").read_text()
    assert "{digits_arena + " in table
    assert "{digits_arena_2 + " in table
    require_same_bytes(project)


def refuse(project: Project, layer: str, samples: int = SAMPLES) -> None:
    """The plain firmware passes; with noise the layer is named whose result differs first."""
    run = pipeline.emulate(project.directory, None, "qemu", samples)
    right = simulate(project.graph(), project.samples()[0])
    for y, codes in run.codes.items():
        assert np.array_equal(codes[0].reshape(-1), right[y].reshape(-1))
    with pytest.raises(RunFailed, match="dead memory is overwritten") as refusal:
        pipeline.emulate(project.directory, None, "qemu", samples, poison=True)
    assert f"first difference: sample 0, layer {layer}, " in refusal.value.reason
    assert refusal.value.where == layer


def test_a_value_that_the_plan_gives_away_too_early_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The residual of digits, which the sum reads, ends one step before it."""

    def early(graph: Graph, plan: Plan) -> tuple[tuple[tuple[int, int], ...], ...]:
        (step,) = (i for i, op in enumerate(graph.ops) if op.name == "/Add")
        kept = next(b for b in plan.buffers if b.last == step and b.first < step - 1)
        shorter = replace(kept, last=step - 1)
        buffers = tuple(shorter if b is kept else b for b in plan.buffers)
        return dead_spans(graph, replace(plan, buffers=buffers))

    monkeypatch.setattr(emitted, "dead_spans", early)
    refuse(digits(tmp_path / "project", ConvertOptions()), "/Add")


def test_memory_that_is_zero_after_a_reset_is_not_relied_on(tmp_path: Path) -> None:
    """A byte that nothing has written when the second layer begins decides about its input."""
    project = digits(tmp_path / "project", ConvertOptions())
    last = project.manifest.arena_bytes - 1
    read_ = f"(uint8_t)({{prefix}}_arena[{last}] != 0u)"
    faults.call(project, f"{{prefix}}_arena[0] = (uint8_t)({{prefix}}_arena[0] ^ {read_});")
    refuse(project, project.manifest.layers[faults.LAYER].name, samples=1)


def test_noise_is_never_written_over_what_is_kept(tmp_path: Path) -> None:
    """A table that names a byte too many is found: every byte of the output is needed."""
    project = digits(tmp_path / "project", ConvertOptions())
    path = project.directory / "firmware" / "poison.h"
    (port,) = project.manifest.firmware.outputs
    arena = project.manifest.arena_bytes
    last = rf"(digits_arena \+ ){port.nbytes}, {arena - port.nbytes}u"
    text, count = re.subn(last, rf"\g<1>{port.nbytes - 1}, 1u", path.read_text())
    assert count == 1
    path.write_text(text)
    with pytest.raises(RunFailed, match="sample 0 goes wrong when dead memory is overwritten"):
        pipeline.emulate(project.directory, None, "qemu", SAMPLES, poison=True)


def test_the_plain_programs_know_nothing_of_it(tmp_path: Path) -> None:
    project = digits(tmp_path / "project", ConvertOptions())
    built = pipeline.build(project.directory).programs
    for program in (built.firmware, built.emulation, built.hooks):
        assert b"poison" not in program.read_bytes()
    assert not list(built.directory.glob("*_poisoned.elf"))


def test_every_model_of_the_folder_is_run(shared: Path) -> None:
    files = {path.stem for path in (shared / "models").glob("*.onnx")}
    assert files - (REFUSED.keys() - SHAPES.keys()) == set(MODELS)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("ram", [Ram.AUTO, Ram.MIN])
def test_every_model(ram: Ram, core: str, name: str, shared: Path, tmp_path: Path) -> None:
    source, calibration = shared / "models" / f"{name}.onnx", None
    shapes = SHAPES.get(name, {})
    if STATED.get(name, ("all",)):
        calibration = tmp_path / "calibration.npz"
        rng = np.random.default_rng(0)
        inputs = read(load_model(source), name, shapes).inputs
        arrays = {x.name: rng.normal(size=(SAMPLES, *x.shape[1:])) for x in inputs}
        np.savez(calibration, **{x: a.astype(np.float32) for x, a in arrays.items()})
    options = ConvertOptions(shapes=shapes, ram=ram)
    folder = tmp_path / "project"
    require_same_bytes(pipeline.convert(source, calibration, BOARDS[core], folder, options))
