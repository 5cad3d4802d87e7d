"""Functions of real numbers that the tables of Unary are made from, in float64.

The first argument is the variable; others are numbers. What is not defined is NaN or infinite.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Real) -> Real:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _softplus(x: Real) -> Real:
    return np.asarray(np.logaddexp(0.0, x))


def _elu(x: Real, alpha: Real) -> Real:
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0.0)), x)


def _shrink(x: Real, threshold: Real, bias: Real) -> Real:
    return np.where(x > threshold, x - bias, np.where(x < -threshold, x + bias, 0.0))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    # of two operands
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "pow": np.power,
    "mod": np.mod,
    "fmod": np.fmod,
    # activations
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "erf": _erf,
    "softplus": _softplus,
    "softsign": lambda x: x / (1.0 + np.abs(x)),
    "leaky_relu": lambda x, slope: np.where(x < 0, slope * x, x),
    "elu": _elu,
    "celu": lambda x, alpha: alpha * _elu(x / alpha, np.ones(())),
    "threshold": lambda x, least: np.where(x > least, x, 0.0),
    "shrink": _shrink,
    # elementary functions
    "abs": np.abs,
    "neg": np.negative,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "reciprocal": np.reciprocal,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}
