"""Convert one case and hold the integer model against its specification."""

import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from tests.conformance.cases import Case
from toolchain import passes
from toolchain.errors import InputRefused
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.ir import Array, Graph
from toolchain.ir.execute import evaluate, simulate
from toolchain.ir.fixedpoint import dequantize
from toolchain.ir.fixedpoint import quantize as to_codes
from toolchain.quant.quantize import quantize
from toolchain.quant.ranges import Range

LAYOUT = {
    "AveragePool", "Cast", "Concat", "Constant", "DepthToSpace", "Dropout", "Expand", "Flatten",
    "Gather", "GlobalAveragePool", "GlobalMaxPool", "Identity", "MaxPool", "Pad", "ReduceMax",
    "ReduceMin", "Relu", "Clip", "Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile",
    "Transpose", "Unsqueeze",
}  # fmt: skip
LINEAR = {
    "Add", "BatchNormalization", "Conv", "ConvTranspose", "Gemm", "MatMul", "Mean", "ReduceMean",
    "ReduceSum", "Resize", "Sub", "Sum", "Upsample",
}  # fmt: skip


class Verdict(StrEnum):
    """How a case ended."""

    PASS = "pass"
    REFUSED = "refused"
    WRONG = "wrong"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Result:
    """A verdict and the reason or the distance behind it."""

    verdict: Verdict
    detail: str


def tolerance(operator: str) -> float:
    """Allowed distance in steps of the output scale, the inputs being exactly representable."""
    if operator in LAYOUT:
        return 1
    return 3 if operator in LINEAR else 2


def judge(case: Case) -> Result:
    """Float values as the suite expects, then codes within the tolerance.

    The codes are compared with the float function of the DEQUANTISED inputs, so that the rounding
    of the inputs, which no implementation can undo, does not count.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(case.model.SerializeToString())
            imported = read(load_model(path), case.name, outputs=list(case.outputs))
        graph = passes.run(imported.graph)
        wrong = _float_distance(case, graph)
        if wrong:
            return Result(Verdict.WRONG, wrong)
        return _codes_distance(case, graph)
    except InputRefused as refusal:
        return Result(Verdict.REFUSED, refusal.reason)
    except Exception as error:  # the point of the suite: nothing may crash
        return Result(Verdict.CRASHED, f"{type(error).__name__}: {error}")


def _float_distance(case: Case, graph: Graph) -> str:
    values = evaluate(graph, case.inputs)
    for y in graph.outputs:
        expected = case.outputs[y].astype(np.float32)
        if values[y].shape != expected.shape:
            return f"shape {values[y].shape}, expected {expected.shape}"
        scale = float(np.abs(expected).max(initial=0)) + 1e-6
        if not np.allclose(values[y], expected, atol=1e-4 * scale, rtol=1e-3, equal_nan=True):
            return f"float values are {np.abs(values[y] - expected).max() / scale:.3g} off"
    return ""


def _ranges(graph: Graph, values: dict[str, Array]) -> dict[str, Range]:
    ranges = {}
    for name, origin in graph.origins.items():
        finite = values[name][np.isfinite(values[name])]
        low = min(float(finite.min(initial=0)), 0.0)
        high = max(float(finite.max(initial=0)), 0.0)
        old = ranges.get(origin.tensor, Range(0.0, 1e-9))
        ranges[origin.tensor] = Range(min(low, old.low), max(high, old.high))
    return ranges


def _codes_distance(case: Case, graph: Graph) -> Result:
    integer = quantize(graph, _ranges(graph, evaluate(graph, case.inputs))).graph
    codes = {x: to_codes(case.inputs[x], integer.types[x].q) for x in graph.inputs}
    reals = {x: dequantize(c, integer.types[x].q) for x, c in codes.items()}
    expected, got = evaluate(graph, reals), simulate(integer, codes)
    worst = 0.0
    for y in graph.outputs:
        quant = integer.types[y].q
        low, high = dequantize([-128, 127], quant)
        target = np.clip(np.nan_to_num(expected[y], posinf=high, neginf=low), low, high)
        steps = np.abs(dequantize(got[y], quant) - target) / quant.scale
        worst = max(worst, float(steps.max(initial=0)))
    allowed = tolerance(case.operator) + 1e-3
    verdict = Verdict.PASS if worst <= allowed else Verdict.WRONG
    return Result(verdict, f"{worst:.2f} steps")
