"""Why mlperf_ic's crops do not all keep ONNX Runtime's class: the second rounding, nothing else.

CMSIS-NN rounds twice where a layer is requantised (the golden bytes of the int8 reference need
that), ONNX Runtime once. On the crops, far from the training data, that turns 2 to 4 of 80 classes.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.quantized.models import Integer, data, integers, load, outputs
from tests.quantized.test_real_models import AGREEMENT, VARIANTS
from toolchain.frontend.load import load_model
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array
from toolchain.ops import _layer, _sum, average_pool

FEW = 8
SHARES = {"Conv2D": 0.004, "Add": 0.0, "AveragePool": 0.02, "FullyConnected": 0.03}
"""Share of a layer's codes that may be a step off on ONNX Runtime's own inputs.

Measured .0002 to .0021 for convolutions: after a right shift by n the second rounding moves about
one code in 2 ** n; shifts are 9 to 12. The pool breaks ties away from zero, ONNX Runtime to even.
"""


def _once(value: Array, multiplier: Array, shift: Array) -> Array:
    """Requantisation with one rounding."""
    factor = np.asarray(multiplier, np.float64) * np.exp2(np.asarray(shift, np.float64) - 31)
    return np.rint(np.asarray(value, np.float64) * factor).astype(np.int64)


def _same(a: Array, b: Array) -> float:
    return float((a.argmax(axis=1) == b.argmax(axis=1)).mean())


def _integer(shared: Path, variant: str) -> tuple[Integer, Array]:
    name = f"q_mlperf_ic__{variant}"
    return integers(load(shared, name), pruned=False), data(shared, name)[1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_with_one_rounding_the_classes_are_onnx_runtime_s(
    variant: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, test = _integer(shared, variant)
    for room in (_layer, _sum, average_pool):
        monkeypatch.setattr(room, "requantize", _once)
    assert _same(*outputs(made, test)) >= AGREEMENT


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_roundings_keep_the_float_net_s_class_as_often(variant: str, shared: Path) -> None:
    made, test = _integer(shared, variant)
    session = FloatSession(load_model(shared / "models" / "mlperf_ic.onnx"))
    (x,) = session.inputs
    exact = np.concatenate([next(iter(session.run({x: t[None]}).values())) for t in test])
    theirs, ours = outputs(made, test)
    assert _same(exact, ours) >= _same(exact, theirs)


def test_every_layer_is_at_most_a_step_off_on_equal_inputs(shared: Path) -> None:
    made, test = _integer(shared, "qdq_pc_MinMax_s8")
    graph = made.graph
    origins = {y: graph.origins[y] for y in graph.types if y in graph.origins}
    session = FloatSession(made.model, [o.tensor for o in origins.values()])
    off, size = dict.fromkeys(SHARES, 0), dict.fromkeys(SHARES, 0)
    for sample in test[:FEW]:
        values = session.run({graph.inputs[0]: sample[None]})
        codes: dict[str, Array] = dict(graph.constants)
        for y, origin in origins.items():
            kind = graph.types[y]
            real = origin.view(values[origin.tensor], kind.shape).astype(np.float64)
            grid = np.rint(real / kind.q.scale) + kind.q.zero_point
            codes[y] = np.clip(grid, -128, 127).astype(np.int8)
        for op in graph.ops:
            own = op.simulate(graph.types, *(codes[x] for x in op.inputs))[0].astype(int)
            difference = own - codes.setdefault(op.y, own.astype(np.int8))
            assert np.abs(difference).max() <= 1, op.name
            name = type(op).__name__
            if name in SHARES:
                off[name] += int((difference != 0).sum())
                size[name] += difference.size
    assert all(off[name] <= share * size[name] for name, share in SHARES.items())
    assert all(size.values())
