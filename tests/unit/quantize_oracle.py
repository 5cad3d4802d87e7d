"""From a small ONNX model to its int8 graph, and the integer model run with all sums watched."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest
from onnx import ModelProto

import toolchain.ops
from tests.calibration import calibrate, calibrated_tensors
from tests.unit.import_oracle import sample_of
from toolchain import passes
from toolchain.frontend.read import read
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, Graph
from toolchain.ir.execute import evaluate, simulate
from toolchain.ir.fixedpoint import Rounding, dequantize, quantize_multiplier
from toolchain.ir.fixedpoint import quantize as to_codes
from toolchain.ir.fixedpoint import requantize as exact_requantize
from toolchain.quant.quantize import Quantized, quantize
from toolchain.quant.ranges import Range

INT32 = 2**31 - 1


def float_graph(proto: ModelProto) -> Graph:
    return passes.run(read(proto, "m").graph)


def integer(proto: ModelProto, samples: int | Sequence[Mapping[str, Array]] = 4) -> Quantized:
    """The model quantised by min-max on normal samples, or on given ones."""
    graph = float_graph(proto)
    if isinstance(samples, int):
        samples = [sample_of(graph, seed) for seed in range(samples)]
    tensors = calibrated_tensors(graph)
    return quantize(graph, calibrate(FloatSession(proto, tensors), samples, tensors))


def codes_of(graph: Graph, sample: Mapping[str, Array]) -> dict[str, Array]:
    return {x: to_codes(sample[x], graph.types[x].q) for x in graph.inputs}


def random_codes(graph: Graph, rng: np.random.Generator, *, extreme: bool) -> dict[str, Array]:
    """Codes of all inputs: any, or only the two ends."""
    codes = {}
    for x in graph.inputs:
        kind = graph.types[x]
        low, high = kind.dtype.limits
        choices = np.array([low, high] if extreme else range(low, high + 1), kind.dtype.value)
        codes[x] = rng.choice(choices, kind.shape)
    return codes


def errors(proto: ModelProto, done: Graph, seed: int = 0) -> dict[str, float]:
    """Largest error of each output, in steps of its scale, on one calibrated sample."""
    graph = float_graph(proto)
    sample = sample_of(graph, seed)
    expected, got = evaluate(graph, sample), simulate(done, codes_of(done, sample))
    return {
        y: float(np.abs(dequantize(got[y], done.types[y].q) - expected[y]).max())
        / done.types[y].q.scale
        for y in graph.outputs
    }


def _watched(value: Array, multiplier: Array, shift: Array, rounding: Rounding) -> Array:
    """The requantisation, with every intermediate value held against int32."""
    value, shift = np.asarray(value, np.int64), np.asarray(shift, np.int64)
    multiplier = np.asarray(multiplier, np.int64)
    assert np.abs(value).max(initial=0) <= INT32, "accumulator"
    assert np.all(np.abs(value) <= INT32 >> np.maximum(shift, 0)), "left shift"
    used = multiplier != 0
    assert np.all((multiplier[used] >= 2**30) & (multiplier[used] < 2**31)), "multiplier"
    assert np.all((shift >= -31) & (shift <= 30)), "shift"
    return exact_requantize(value, multiplier, shift, rounding)


@contextmanager
def watched_arithmetic() -> Iterator[None]:
    """Inside, every requantisation of every operator is checked."""
    with pytest.MonkeyPatch.context() as patch:
        for info in iter_modules(toolchain.ops.__path__):
            module = import_module(f"toolchain.ops.{info.name}")
            if hasattr(module, "requantize"):
                patch.setattr(module, "requantize", _watched)
        yield


__all__ = [
    "INT32", "Range", "calibrated_tensors", "codes_of", "errors", "float_graph", "integer",
    "quantize", "quantize_multiplier", "random_codes", "simulate", "watched_arithmetic",
]  # fmt: skip
