"""What the emulated tests share."""

import pytest

from tests.firmware.emulation import run_once


@pytest.fixture(autouse=True)
def _bytes_are_compared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """And counts in long runs."""
    if request.node.get_closest_marker("slow") is None:
        run_once(monkeypatch)
