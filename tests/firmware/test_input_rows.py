"""Firmware that takes its input row by row, of models with channels first."""

from pathlib import Path

import numpy as np
import pytest

from tests.firmware.test_poison import require_same_bytes
from tests.rows.exported import channels_first
from toolchain import pipeline
from toolchain.options import ConvertOptions
from toolchain.plan import Ram
from toolchain.project import Project
from toolchain.run import Kind

pytestmark = [pytest.mark.emulator]

M4 = "nucleo-f446re"


def made(folder: Path, seed: int, channels: int, board: str = M4, ram: Ram = Ram.MIN) -> Project:
    model, data = channels_first(folder, np.random.default_rng(seed), channels)
    options = ConvertOptions(ram=ram, by_rows=True)
    return pipeline.convert(model, data, board, folder / "project", options)


@pytest.mark.parametrize(("seed", "channels"), [(0, 1), (1, 1), (2, 2), (3, 3), (4, 5)])
def test_the_bytes_of_the_integer_model(seed: int, channels: int, tmp_path: Path) -> None:
    project = made(tmp_path, seed, channels)
    evaluation, run = pipeline.compare(project.directory, tmp_path / "data.npz", emulator="qemu")
    assert run.samples == 8
    assert evaluation.comparison.bit_exact is True
    require_same_bytes(project)


@pytest.mark.parametrize("board", ["mps2-an385", "mps3-an547"])
def test_other_cores_and_bands(board: str, tmp_path: Path) -> None:
    require_same_bytes(made(tmp_path, 5, 3, board, Ram.AUTO))


@pytest.mark.parametrize("channels", [1, 3])
def test_all_engines_agree(channels: int, tmp_path: Path) -> None:
    pytest.importorskip("unicorn")
    require_same_bytes(made(tmp_path, 6, channels), "all")


@pytest.mark.parametrize("engine", ["qemu", "unicorn"])
def test_layers_are_profiled_by_their_names(engine: Kind, tmp_path: Path) -> None:
    """The transpose that is the caller's is a layer of no instructions."""
    pytest.importorskip("unicorn")
    project = made(tmp_path, 7, 3)
    kernels = [layer.kernel for layer in project.manifest.layers]
    assert kernels.count("push_row") == 1
    assert kernels[0] == "push_row"
    found = pipeline.profile(project.directory, emulator=engine)
    counts = {layer.name: layer.instructions for layer in found.layers}
    assert counts.pop(project.manifest.layers[0].name) == 0
    if found.functions is not None:
        assert all(count > 0 for count in counts.values())


def test_the_header_says_what_a_row_is(tmp_path: Path) -> None:
    project = made(tmp_path, 8, 3)
    _, _, height, width = project.graph().types["x"].shape
    text = " ".join((project.directory / "net.h").read_text().split())
    assert f"{width} pixels from left to right, the 3 codes of each together" in text
    place = f"{width} * row + pixel + {height * width} * channel"
    assert f"The model's input has the code of a channel at {place}." in text


def test_the_header_of_one_channel(tmp_path: Path) -> None:
    project = made(tmp_path, 9, 1)
    _, _, _, width = project.graph().types["x"].shape
    text = " ".join((project.directory / "net.h").read_text().split())
    assert f"which is copied: {width} codes from left to right." in text
    assert "All rows, one after the other, are the model's input." in text
