"""Measure one model on one core with one family of kernels."""

import importlib.util
import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from toolchain import pipeline
from toolchain.board import load_board
from toolchain.ir import Array, Family
from toolchain.ir.execute import simulate
from toolchain.options import ConvertOptions
from toolchain.project import Project
from toolchain.results import Emulation
from toolchain.run import Kind
from toolchain.run.build import COMPILER, find_tool
from toolchain.run.cycles import CORE, estimate_cycles
from toolchain.run.unicorn import Unicorn
from toolchain.select import Optimize
from tools.bench.figures import REPO, Figures, LayerFigures
from tools.bench.flash import code_bytes

NETS = ("kws", "ic", "vww", "ad")
"""MLPerf Tiny: keyword spotting, image classification, visual wake words, anomaly detection."""
BOARDS = {
    "M0+": "raspberry-pi-pico",
    "M3": "mps2-an385",
    "M4": "mps2-an386",
    "M7": "mps2-an500",
    "M33": "mps2-an505",
    "M55": "mps3-an547",
}
FAMILIES = (Family.FAST, Family.CMSIS_NN)


def models_folder() -> Path:
    """Where the models are: ../shared/models, or `models` in ONNX2MCU_SHARED."""
    return Path(os.environ.get("ONNX2MCU_SHARED", REPO.parent / "shared")) / "models"


def model_path(models: Path, net: str) -> Path:
    """The quantised reference model of a benchmark."""
    return models / f"mlperf_{net}_int8_qdq.onnx"


def cmsis_nn_folder() -> Path | None:
    """CMSIS-NN 4.0.0 (Include, Source) as the bakenn package carries it; None when absent."""
    spec = importlib.util.find_spec("bakenn")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "backend" / "cmsis_nn" / "vendor" / "cmsis_nn"


def compiler() -> str:
    """Version of the cross compiler; instruction counts depend on it."""
    command = [find_tool(COMPILER) or COMPILER, "-dumpfullversion"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def measure(
    model: Path,
    core: str,
    family: Family,
    project: Path,
    optimize: Optimize = Optimize.SPEED,
    *,
    exact: bool = False,
) -> Figures:
    """Convert, build and run one sample.

    Args:
        model: ONNX file.
        core: Key of BOARDS.
        family: Whose kernels; Arm's are those of the bakenn package.
        project: Folder to be.
        optimize: Speed or size.
        exact: Count with Unicorn where it knows the core; QEMU on a busy machine is some
            hundredths of a percent off.

    Raises:
        RuntimeError: The firmware's bytes are not those of the integer model.
    """
    library = cmsis_nn_folder() if family is Family.CMSIS_NN else None
    options = ConvertOptions(
        kernels=family, cmsis_nn_dir=library, optimize=optimize, prefix="model", force=True
    )
    made = pipeline.convert(model, None, BOARDS[core], project, options)
    cpu = load_board(BOARDS[core]).cpu
    engine: Kind = "unicorn" if exact and Unicorn().missing(cpu) is None else "qemu"
    run = pipeline.emulate(project, emulator=engine, max_samples=1)
    _require_equal_bytes(made, run.codes)
    return _figures(made, run, _cycles(made) if cpu == CORE else None)


def _figures(made: Project, run: Emulation, cycles: list[int] | None) -> Figures:
    manifest, sizes = made.manifest, pipeline.build(made.directory).sizes
    code = code_bytes(made.directory / "build" / "firmware.map")
    graph = made.graph()
    computed = [op for op in graph.ops if not op.is_view]
    layers = tuple(
        LayerFigures(
            op=fact.op,
            kernel=fact.kernel,
            shape=fact.shape,
            macs=fact.macs,
            outputs=sum(graph.types[y].elements for y in op.outputs),
            instructions=count,
            cycles=None if cycles is None else cycles[index],
        )
        for index, (fact, op, (_, count)) in enumerate(
            zip(manifest.layers, computed, run.layers, strict=True)
        )
    )
    weights = sum(layer.weights_bytes for layer in manifest.layers)
    return Figures(
        instructions=run.instructions,
        macs=manifest.macs,
        cycles=None if cycles is None else sum(cycles),
        code=sizes.code,
        code_kernels=code["kernels"],
        code_generated=code["generated"],
        code_descriptors=code["descriptors"],
        code_library=code["library"],
        weights=weights,
        tables=sizes.weights - weights,
        arena=manifest.arena_bytes,
        stack=run.stack_bytes,
        layers=layers,
    )


def _require_equal_bytes(made: Project, codes: Mapping[str, Array]) -> None:
    expected = simulate(made.graph(), made.samples()[0])
    for name, got in codes.items():
        if not np.array_equal(got.reshape(-1), expected[name].reshape(-1)):
            raise RuntimeError(f"{made.directory}: {name} differs from the integer model")


def _cycles(made: Project) -> list[int]:
    """The Cortex-M4 estimate of every layer, between its marks: as its instructions."""
    request = pipeline.one_sample(made)
    whole = replace(request, model=replace(request.model, by_rows=()))
    return [int(count) for count in estimate_cycles(whole)]
