"""What the programs of one run of the tests share."""

from pathlib import Path

import pytest

from tests.sanitized.program import Objects


@pytest.fixture(scope="session")
def objects(for_all_workers: Path) -> Objects:
    """Kernels under sanitizers, compiled once for all workers."""
    folder = for_all_workers / "sanitized"
    folder.mkdir(exist_ok=True)
    return Objects(folder)
