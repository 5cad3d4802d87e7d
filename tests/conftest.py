"""Fixtures of the whole suite."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

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


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten."""
    return bool(request.config.getoption("--update-golden"))
