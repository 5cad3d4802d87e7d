"""Linear algebra on one thread: the same results on every number of cores, and sooner.

Several threads add up in another order, and a weight is rounded the other way. The matrices of
models for microcontrollers are so small that threads wait for each other more than they compute.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy.linalg  # noqa: F401, the controller knows the libraries that are loaded
from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")

_LIBRARIES = ThreadpoolController()


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: linear algebra in this function, and all that it calls, runs on one thread."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _LIBRARIES.limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
