"""Arm's own CMSIS-NN 4.0.0 linked instead of cmsis_glue: the same bytes (R36).

The library is the copy in the bakenn package (convolutions, fully connected layers, pools), laid
out as in the CMSIS 5 tree: NN/ with Include/ and Source/, and Core/Include beside it.
"""

import re
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.firmware.test_operators import BOARDS, _compare, _instance, _run
from tests.firmware.zoo import ZOO
from tests.kernels.conftest import cmsis_nn_folder
from tests.ops import host
from tests.suites import slow_unless
from toolchain import pipeline
from toolchain.ir import Example, Rounding
from toolchain.ops._examples import normal
from toolchain.ops._windows import Window
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.softmax import Softmax
from toolchain.options import ConvertOptions

pytestmark = [pytest.mark.emulator]

SAMPLES = 4
CONVOLUTION = {"arm_convolve_wrapper_s8", "arm_nn_mat_mult_nt_t_s8"}
MODELS = {
    "kws": CONVOLUTION | {"arm_depthwise_conv_wrapper_s8"},
    "ic": CONVOLUTION,
    "vww": CONVOLUTION | {"arm_depthwise_conv_wrapper_s8"},
    "ad": set(),
    "digits": CONVOLUTION,
    "fashion": CONVOLUTION | {"arm_depthwise_conv_wrapper_s8"},
}
"""Functions of Arm's that each model must take from the library.

The pools of these models have an output scale of their own, which CMSIS-NN's do not know (R9).
4.0.0 has no fully connected layer with a scale per channel: on M3 and M4 that of cmsis_glue serves;
with MVE it is called as a convolution.
"""


@pytest.fixture(scope="session")
def cmsis_nn_dir(tmp_path_factory) -> Path:
    """CMSIS-NN 4.0.0 as a user has it."""
    vendor, folder = cmsis_nn_folder(), tmp_path_factory.mktemp("CMSIS")
    shutil.copytree(vendor, folder / "NN", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(vendor.parent / "cmsis_core" / "Include", folder / "Core" / "Include")
    return folder / "NN"


def _linked(project: Path) -> dict[str, str]:
    """Library that each source file of the emulated program was taken from."""
    text = (project / "build" / "emulation.map").read_text()
    members = text.split("Discarded input sections")[0]
    found = re.findall(r"^lib(\w+)\.a\((\w+)\.c\.obj\)", members, re.MULTILINE)
    return {name: library for library, name in found}


def _instructions(name: str, core: str, shared: Path, folder: Path, library: Path | None) -> int:
    """Instructions per inference of a model that gives the integer model's bytes."""
    model, project = ZOO[name], folder / "project"
    calibration, test = model.write(shared, folder, SAMPLES)
    options = ConvertOptions(cmsis_nn_dir=library, force=True)
    pipeline.convert(model.path(shared), calibration, BOARDS[core], project, options)
    evaluation, run = pipeline.compare(project, test, emulator="qemu")
    assert evaluation.comparison.bit_exact is True
    linked = {n for n, source in _linked(project).items() if source == "cmsis_nn"}
    if library is None:
        assert not linked
    else:
        assert linked >= (MODELS[name] or (CONVOLUTION if core == "M55" else set()))
    return run.instructions


def _every_time(name: str, core: str) -> bool:
    return name in ("kws", "vww", "digits") and core != "M3"


@pytest.mark.parametrize(
    ("name", "core"),
    slow_unless(_every_time, product(MODELS, ("M3", "M4", "M55"))),
)
def test_models_give_the_same_bytes(
    name: str, core: str, shared: Path, cmsis_nn_dir: Path, tmp_path: Path
) -> None:
    assert _instructions(name, core, shared, tmp_path, cmsis_nn_dir) > 0


@pytest.mark.slow
@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("name", MODELS)
def test_the_library_is_not_slower_than_portable_c(
    name: str, core: str, shared: Path, cmsis_nn_dir: Path, tmp_path: Path, record_property
) -> None:
    arm = _instructions(name, core, shared, tmp_path, cmsis_nn_dir)
    own = _instructions(name, core, shared, tmp_path, None)
    record_property("instructions", {"cmsis-nn": arm, "cmsis_glue": own})
    print(f"{name} on {core}: {arm:,} instructions of CMSIS-NN, {own:,} of cmsis_glue")
    assert arm < own or (name == "ad" and arm == own)


@pytest.mark.parametrize("core", ["M3", "M4"])
def test_one_scale_per_tensor_takes_the_fully_connected_layer(
    core: str, shared: Path, cmsis_nn_dir: Path, tmp_path: Path
) -> None:
    options = ConvertOptions(cmsis_nn_dir=cmsis_nn_dir)
    model = shared / "models" / "mlperf_ad_int8_qdq.onnx"
    pipeline.convert(model, None, BOARDS[core], tmp_path / "project", options)
    with np.load(shared / "data" / "golden_cmsis_nn.npz") as golden:
        inputs, expected = golden["ad_x"], golden["ad_y"]
    np.save(tmp_path / "x.npy", inputs)
    run = pipeline.emulate(tmp_path / "project", tmp_path / "x.npy", "qemu")
    (codes,) = run.codes.values()
    np.testing.assert_array_equal(codes.reshape(expected.shape), expected)
    linked = _linked(tmp_path / "project")
    assert linked["arm_fully_connected_s8"] == linked["arm_nn_vec_mat_mult_t_s8"] == "cmsis_nn"


@pytest.mark.parametrize("core", BOARDS)
def test_operators_equal_their_oracles(core: str, cmsis_nn_dir: Path, tmp_path: Path) -> None:
    _run(range(400, 410), BOARDS[core], tmp_path / "project", cmsis_nn_dir)


@pytest.mark.parametrize("core", ["M4", "M55"])
def test_operators_that_round_once(
    core: str, cmsis_nn_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "rounding", Rounding.SINGLE)
    _run(range(600, 604), BOARDS[core], tmp_path / "project", cmsis_nn_dir)


@pytest.mark.slow
@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("first", range(410, 600, 10))
def test_operators_equal_their_oracles_on_many_shapes(
    core: str, first: int, cmsis_nn_dir: Path, tmp_path: Path
) -> None:
    _run(range(first, first + 10), BOARDS[core], tmp_path / "project", cmsis_nn_dir)


def _convolution(
    rng: np.random.Generator, size: tuple[int, int], channels: int, window: Window
) -> Example:
    constants = {"w": normal(rng, 3, *window.kernel, channels), "b": normal(rng, 3)}
    return Example(
        Conv2D("c", ("x", "w", "b"), ("y",), window), {"x": (1, *size, channels)}, constants
    )


def _depthwise(
    rng: np.random.Generator, size: tuple[int, int], channels: int, window: Window
) -> Example:
    constants = {"w": normal(rng, 1, *window.kernel, channels), "b": normal(rng, channels)}
    op = DepthwiseConv2D("d", ("x", "w", "b"), ("y",), window)
    return Example(op, {"x": (1, *size, channels)}, constants)


def _limited(rng: np.random.Generator) -> list[tuple[str, Example, set[str]]]:
    """(name, layer, cores on which a version of the library is wrong)."""
    every, thumb = {"M3", "M4", "M55"}, {"M3", "M4"}
    edge, plain = Window((3, 3), (1, 1), (1, 1, 1, 2)), Window((3, 3), (1, 1), (1, 1, 1, 1))
    stepping = Window((3, 3), (2, 2), (0, 0, 0, 1))
    layers = [
        ("pointwise", _convolution(rng, (4, 5), 6, Window((1, 1), (1, 1), (1, 1, 1, 1))), every),
        ("spread", _convolution(rng, (2, 2), 3, Window((2, 2), (1, 1), (3, 3, 3, 3))), every),
        (
            "spread_depthwise",
            _depthwise(rng, (2, 2), 5, Window((2, 2), (1, 1), (3, 3, 3, 3))),
            every,
        ),
        ("edge", _depthwise(rng, (4, 3), 5, edge), thumb),
        ("no_edge", _depthwise(rng, (4, 1), 5, plain), set()),
        ("stepping", _depthwise(rng, (5, 6), 5, stepping), set()),
        ("row", _convolution(rng, (1, 9), 4, Window((1, 4), (1, 1), (0, 1, 0, 2))), {"M55"}),
        ("even_row", _convolution(rng, (1, 9), 4, Window((1, 3), (1, 1), (0, 1, 0, 1))), set()),
    ]
    for size in (511, 512, 600):
        long = Example(Softmax("s", ("x",), ("y",)), {"x": (1, size)})
        layers.append((f"softmax{size}", long, every if size >= 512 else set()))
    return layers


@pytest.mark.parametrize("core", BOARDS)
def test_shapes_on_which_the_library_is_wrong_take_our_kernel(
    core: str, cmsis_nn_dir: Path, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    layers = _limited(rng)
    made = [_instance(example, rng, f"{name}_") for name, example, _ in layers]
    graphs, floats = [g for g, _ in made], [f for _, f in made]
    choices = _compare(graphs, floats, BOARDS[core], tmp_path / "project", cmsis_nn_dir)
    ours = {n for n, _, _ in layers if choices[f"{n}_y"].kernel.name.startswith("glue_")}
    assert ours == {name for name, _, cores in layers if core in cores}
