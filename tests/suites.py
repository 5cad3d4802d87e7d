"""Which cases of a test run every time, and which in the slow suite alone."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_unless(every_time: Callable[..., bool], cases: Iterable[tuple[Any, ...]]) -> list[Any]:
    """All cases for parametrize, those marked slow that need not run every time.

    Args:
        every_time: Whether a case, given as its values, runs every time.
        cases: Values of the parameters.
    """
    return [pytest.param(*c, marks=[] if every_time(*c) else [pytest.mark.slow]) for c in cases]
