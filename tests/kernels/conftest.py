"""Host builds of cmsis_glue and of the real CMSIS-NN 4.0.0."""

import importlib.util
import os
from pathlib import Path

import pytest

from tests.kernels.native import Kernels, build

GLUE = Path(__file__).resolve().parents[2] / "cmsis_glue"
SOURCES = sorted((GLUE / "src").glob("*.c"))
MVE_SOURCES = [path for path in SOURCES if "mve" in path.stem.split("_")]
"""Those that need the intrinsics of arm_mve.h."""
PORTABLE_SOURCES = [path for path in SOURCES if path not in MVE_SOURCES]


@pytest.fixture(scope="session")
def glue(tmp_path_factory) -> Kernels:
    """cmsis_glue with the undefined-behaviour sanitizer, which aborts with the line at fault.

    GLUE_SANITIZE names other sanitizers; "address,undefined" needs libasan in LD_PRELOAD.
    """
    target = tmp_path_factory.mktemp("glue") / "glue.so"
    sanitizers = os.environ.get("GLUE_SANITIZE", "undefined")
    flags = ["-O1", "-g", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all"]
    build(PORTABLE_SOURCES, [GLUE / "include"], target, flags)
    return Kernels(target)


def cmsis_nn_folder() -> Path:
    """CMSIS-NN 4.0.0 (Include, Source) as the bakenn package carries it; skips when absent."""
    spec = importlib.util.find_spec("bakenn")
    if spec is None or spec.origin is None:
        pytest.skip("needs the bakenn package, which carries CMSIS-NN 4.0.0")
    return Path(spec.origin).parent / "backend" / "cmsis_nn" / "vendor" / "cmsis_nn"


@pytest.fixture(scope="session")
def cmsis_nn(tmp_path_factory) -> Kernels:
    """The real CMSIS-NN 4.0.0, plain C path."""
    folder = cmsis_nn_folder()
    target = tmp_path_factory.mktemp("cmsis_nn") / "cmsis_nn.so"
    sources = sorted((folder / "Source").rglob("arm_*.c"))
    build(
        sources,
        [folder / "Include"],
        target,
        ["-O1", "-w", "-D__GNUC_PYTHON__", "-D__RESTRICT=__restrict"],
    )
    return Kernels(target)
