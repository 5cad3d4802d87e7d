"""What the tests of the fast kernels share."""

import pytest


@pytest.fixture(params=["assembly", "C"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which of the twin forms is built."""
    if request.param == "C":
        for flags in ("CFLAGS", "ASMFLAGS"):
            monkeypatch.setenv(flags, "-DGLUE_NO_ASM")
    return str(request.param)
