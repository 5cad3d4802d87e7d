"""What the programs of one run of the tests share."""

import os
from pathlib import Path

import pytest

from tests.sanitized.program import Objects


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Objects:
    """Kernels under sanitizers, compiled once for all workers."""
    root = tmp_path_factory.getbasetemp()
    folder: Path = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "sanitized"
    folder.mkdir(exist_ok=True)
    return Objects(folder)
