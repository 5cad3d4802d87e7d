"""What the tests of the fast kernels share."""

import pytest

from toolchain.select.costs import Costs


@pytest.fixture(params=["assembly", "C"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which of the twin forms is built."""
    if request.param == "C":
        for flags in ("CFLAGS", "ASMFLAGS"):
            monkeypatch.setenv(flags, "-DGLUE_NO_ASM")
    return str(request.param)


@pytest.fixture
def in_order_of_preference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are taken in the order of their list, whatever the measured costs say."""
    monkeypatch.setattr("toolchain.select.select.load_costs", lambda: Costs("", {}, {}))
