"""Layers that run row by row are counted one by one where blocks are, and together elsewhere."""

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from tests.cli import nets
from toolchain import pipeline
from toolchain.options import ConvertOptions
from toolchain.project import Project
from toolchain.report import html
from toolchain.run import block_plugin, count_blocks
from toolchain.run.cycles import layer_cycles
from toolchain.run.unicorn import Unicorn

pytestmark = [
    pytest.mark.emulator,
    pytest.mark.skipif(block_plugin.missing() is not None, reason="no QEMU plugins"),
]
DIGITS = Path(__file__).parents[2] / "examples" / "digits"
BOARDS = {"M0+": "raspberry-pi-pico", "M4": "nucleo-f446re", "M55": "mps3-an547"}


@pytest.fixture(scope="module")
def streamed(tmp_path_factory):
    """Function: core, whether the input comes by rows -> a project."""
    folder = tmp_path_factory.mktemp("rows")

    def make(core: str, by_rows: bool = False) -> Path:
        target = folder / f"{core}-{by_rows}"
        if not target.exists():
            options = ConvertOptions(prefix="digits", ram="min", by_rows=by_rows)
            model, data = DIGITS / "model.onnx", DIGITS / "calibration.npz"
            if by_rows:
                model, data = camera(folder / "camera.onnx"), folder / "camera.npz"
                rng = np.random.default_rng(5)
                np.savez(data, image=rng.standard_normal((20, 8, 8, 4)).astype(np.float32))
            pipeline.convert(model, data, BOARDS[core], target, options)
        return target

    return make


def camera(path: Path) -> Path:
    """Two convolutions and a dense layer on rows of pixels, [1, 8, 8, 4]."""
    rng = np.random.default_rng(3)
    shapes = {"a": (8, 4, 3, 3), "b": (8, 8, 3, 3), "c": (8, 3)}
    weights = {name: rng.normal(0, 0.3, s).astype(np.float32) for name, s in shapes.items()}
    nodes = [
        helper.make_node("Transpose", ["image"], ["x"], "turn", perm=[0, 3, 1, 2]),
        helper.make_node("Conv", ["x", "a"], ["y"], "one", pads=[1] * 4),
        helper.make_node("Conv", ["y", "b"], ["z"], "two", pads=[1] * 4),
        helper.make_node("GlobalAveragePool", ["z"], ["m"], "mean"),
        helper.make_node("Flatten", ["m"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "c"], ["scores"], "dense"),
    ]
    return nets.save(path, nodes, {"image": (1, 8, 8, 4)}, {"scores": (1, 3)}, weights)


def gathered(counts, segments):
    """The counts as marks give them: all of a segment at its last layer."""
    found = list(counts)
    for first, end in segments:
        found[first:end] = [*[0] * (end - first - 1), sum(found[first:end])]
    return found


@pytest.mark.parametrize(
    ("core", "by_rows"), [("M0+", False), ("M4", False), ("M4", True), ("M55", False)]
)
def test_every_row_counts_at_its_layer(streamed, core, by_rows):
    project = Project(streamed(core, by_rows))
    board, model = project.manifest.board, project.manifest.firmware
    request = pipeline.one_sample(project)
    kinds = ("all",) if Unicorn().missing(board.cpu) is None else ("qemu",)
    counted = count_blocks(request, *kinds)
    split = [functions.total() for functions in counted.functions]
    marks = pipeline.emulate(project.directory, None, "qemu", 1)
    assert marks.together == model.by_rows
    counts = [count for _, count in marks.layers]  # some instructions may stand between two marks
    assert gathered(split, model.by_rows) == gathered(counts, model.by_rows)
    ((first, end), *_) = model.by_rows
    assert end - first > 1
    for index in range(first, end):
        fact, functions = project.manifest.layers[index], counted.functions[index]
        assert split[index] > fact.macs / 8
        assert any(name.startswith(f"row_{index:02d}_") for name in functions)
        others = (name for name in functions if name.startswith("row_"))
        assert all(name.startswith(f"row_{index:02d}_") for name in others)
    if not by_rows:
        driver = {name for name in counted.functions[end - 1] if not name.startswith("row_")}
        assert "glue_move_down_s8" in driver


def test_engines_estimate_the_same_cycles(streamed):
    pytest.importorskip("capstone")
    request = pipeline.one_sample(Project(streamed("M4")))
    one, two = (layer_cycles(count_blocks(request, kind)) for kind in ("qemu", "unicorn"))
    assert one.tolist() == two.tolist()
    assert (one > 0).all()


def test_without_blocks_a_segment_is_told_as_one(streamed, monkeypatch):
    folder = streamed("M4")
    whole = pipeline.profile(folder, folder)
    assert whole.together == ()
    assert all(layer.before == layer.instructions > 0 for layer in whole.layers)
    monkeypatch.setattr(block_plugin, "_run", lambda *_: "refused")
    seen = pipeline.profile(folder, folder, "qemu")
    ((first, end),) = seen.together
    counts = [layer.instructions for layer in seen.layers]
    assert sum(counts[first : end - 1]) < 10 * (end - first)
    split = [layer.instructions for layer in whole.layers]
    assert gathered(split, seen.together) == gathered(counts, seen.together)
    assert (seen.instructions, seen.functions) == (whole.instructions, None)
    assert seen.cycles == whole.cycles


def test_report_tells_layers_apart(streamed):
    folder = streamed("M4")
    names = [layer.name for layer in Project(folder).manifest.layers]
    run, functions = pipeline.emulate(folder, None, "qemu", 1), None
    assert html._instructions(run, functions) == [count for _, count in run.layers]
    ((first, end),) = run.together
    (told,) = html._remarks(run, functions, names)
    count = f"{end - first} layers together, from {names[first]} on"
    assert told == f"{names[end - 1]} has the instructions of {count}: they run row by row"
    functions = pipeline.functions_if_countable(folder)
    counts = html._instructions(run, functions)
    assert sum(counts) == run.instructions
    assert min(counts) > 0
    (told,) = html._remarks(run, functions, names)
    assert told.startswith(f"The {end - first} layers from {names[first]} to {names[end - 1]} run")


def test_a_layer_alone_in_rows_is_counted_by_itself(tmp_path):
    """It may need no memory for its rows, and less for its kernel; nothing is told of bytes."""
    folder, data = tmp_path / "digits", DIGITS / "calibration.npz"
    options = ConvertOptions(ram=2112)
    pipeline.convert(DIGITS / "model.onnx", data, BOARDS["M4"], folder, options)
    manifest = Project(folder).manifest
    ((first, end),) = manifest.firmware.by_rows
    assert end - first == 1
    name = manifest.layers[first].name
    (note,) = (n for n in manifest.notes if "row by row" in n)
    assert note.startswith(f"{name}: row by row, without memory of its own; predicted ")
    run = pipeline.emulate(folder, None, "qemu", 1)
    assert run.together == ()
    assert run.layers[first][1] > 0
