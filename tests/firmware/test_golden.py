"""The reference int8 models in the emulator: the bytes Arm's own CMSIS-NN gives (issue 3)."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.suites import slow_unless
from toolchain import pipeline
from toolchain.options import ConvertOptions
from toolchain.plan import Ram

pytestmark = [pytest.mark.emulator]

MODELS = ["kws", "ic", "vww", "ad"]
BOARDS = {
    "M0": "microbit-v1",
    "M0+": "raspberry-pi-pico",
    "M3": "mps2-an385",
    "M4": "nucleo-f446re",
    "M55": "mps3-an547",
}
CORES = ("M0+", "M3", "M4", "M55")
BY_ROWS = ["M4", *(pytest.param(core, marks=pytest.mark.slow) for core in ("M3", "M55"))]
"""The numpy executor of tests/rows covers every instruction set every time."""


def _every_time(name: str, core: str) -> bool:
    """tests/bench holds the large ones to the integer model on every core."""
    return name not in ("ic", "vww") or core in ("M4", "M55")


@pytest.mark.parametrize(
    ("name", "core"),
    slow_unless(_every_time, product(MODELS, CORES)),
)
def test_firmware_gives_the_golden_bytes(
    name: str, core: str, shared: Path, tmp_path: Path
) -> None:
    _require_golden_bytes(name, core, ConvertOptions(), shared, tmp_path)


@pytest.mark.parametrize("core", ["M4", "M55"])
def test_so_it_does_with_its_dead_channels(core: str, shared: Path, tmp_path: Path) -> None:
    _require_golden_bytes("vww", core, ConvertOptions(prune=False), shared, tmp_path)


def test_so_it_does_where_the_ram_is_smaller_than_a_frame(shared: Path, tmp_path: Path) -> None:
    options = ConvertOptions(ram=Ram.MIN, by_rows=True)
    _require_golden_bytes("vww", "M0", options, shared, tmp_path)


@pytest.mark.parametrize("by_rows", [False, True], ids=["whole", "rows"])
@pytest.mark.parametrize("core", BY_ROWS)
@pytest.mark.parametrize("name", ["kws", pytest.param("ic", marks=pytest.mark.slow), "vww"])
def test_so_it_does_in_the_smallest_arena(
    name: str, core: str, by_rows: bool, shared: Path, tmp_path: Path
) -> None:
    options = ConvertOptions(ram=Ram.MIN, by_rows=by_rows)
    _require_golden_bytes(name, core, options, shared, tmp_path)


def _require_golden_bytes(
    name: str, core: str, options: ConvertOptions, shared: Path, tmp_path: Path
) -> None:
    with np.load(shared / "data" / "golden_cmsis_nn.npz") as golden:
        inputs, expected = golden[f"{name}_x"], golden[f"{name}_y"]
    np.save(tmp_path / "x.npy", inputs)
    model = shared / "models" / f"mlperf_{name}_int8_qdq.onnx"
    project = tmp_path / "project"
    made = pipeline.convert(model, None, BOARDS[core], project, options)
    run = pipeline.emulate(project, tmp_path / "x.npy", "qemu")
    (codes,) = run.codes.values()
    np.testing.assert_array_equal(codes.reshape(expected.shape), expected)
    removed = [note for note in made.manifest.notes if "dead channels removed" in note]
    assert bool(removed) == (options.prune and name == "vww")
