"""Fixtures of the whole suite."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import objects

# Machines of all speeds run the suite; in CI the examples are always the same, elsewhere new ones.
settings.register_profile("suite", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("suite")

REPO = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real models and data beside the checkout; ONNX2MCU_SHARED names another."""
    folder = Path(os.environ.get("ONNX2MCU_SHARED", REPO.parent / "shared"))
    if not (folder / "models").is_dir():
        missing = "the shared models are absent: set ONNX2MCU_SHARED to their folder"
        if "CI" in os.environ:
            pytest.fail(missing)
        pytest.skip(missing)
    return folder


@pytest.fixture(scope="session")
def for_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run of the tests that its processes share."""
    root = tmp_path_factory.getbasetemp()
    return root.parent if "PYTEST_XDIST_WORKER" in os.environ else root


@pytest.fixture(scope="session")
def compiler_cache(for_all_workers: Path) -> Path | None:
    """The launcher of tests/compiler_cache.c; None without a compiler for the host."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    launcher = for_all_workers / "compiler_cache"
    partial = launcher.with_suffix(f".{os.getpid()}")
    source = REPO / "tests" / "compiler_cache.c"
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wconversion"]
    subprocess.run([compiler, "-std=c11", "-O2", *warnings, source, "-o", partial], check=True)
    return partial.replace(launcher)


@pytest.fixture(scope="session", autouse=True)
def _objects_are_kept(for_all_workers: Path, compiler_cache: Path | None) -> Iterator[None]:
    """Every CMake project of the tests takes objects that another one has compiled already."""
    objects.shared = for_all_workers / "objects"
    objects.shared.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        if compiler_cache is not None:
            patch.setenv("CMAKE_C_COMPILER_LAUNCHER", f"{compiler_cache};{objects.shared}")
        yield


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten."""
    return bool(request.config.getoption("--update-golden"))
