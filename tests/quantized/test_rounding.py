"""Which models are rounded once, and what a second rounding does to mlperf_ic's crops.

CMSIS-NN rounds twice where a layer is requantised (the golden bytes of the int8 reference need
that), ONNX Runtime once. On the crops, far from the training data, that turns 2 to 4 of 80 classes.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.quantized.models import Integer, data, integers, load, outputs
from tests.quantized.test_real_models import AGREEMENT, STATED, VARIANTS
from toolchain.frontend.rounding import rounding_for
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, Rounding

FEW = 8
SHARES = {
    Rounding.DOUBLE: {"Conv2D": 0.004, "Add": 0.0, "AveragePool": 0.02, "FullyConnected": 0.03},
    Rounding.SINGLE: {"Conv2D": 0.0001, "Add": 0.0, "AveragePool": 0.02, "FullyConnected": 0.0},
}
"""Share of a layer's codes that may be a step off on ONNX Runtime's own inputs.

After a right shift by n the second rounding moves about one code in 2 ** n; shifts are 9 to 12. The
pool breaks ties upwards, ONNX Runtime to even.
"""


@pytest.mark.parametrize("name", STATED)
def test_the_quantiser_decides(name: str, shared: Path) -> None:
    chosen = rounding_for(load(shared, name))
    once = name.startswith(("q_", "pkg_", "pt_"))
    assert chosen.rounding is (Rounding.SINGLE if once else Rounding.DOUBLE)
    assert len(chosen.notes) == (0 if name == "mlperf_kws_drq" else 1)


@pytest.mark.parametrize("wanted", Rounding)
def test_the_user_decides_first(wanted: Rounding, shared: Path) -> None:
    for name in ("q_mnist_lenet__qop_pc_MinMax_u8", "tflm_hello_int8_qdq", "mlperf_kws"):
        assert rounding_for(load(shared, name), wanted).rounding is wanted


def test_float_models_are_rounded_twice(shared: Path) -> None:
    for name in ("mlperf_kws", "pt_digits_resnet_pt2e_ptq__dynamo"):
        model = load(shared, name)
        for node in model.graph.node:
            node.op_type = node.op_type.replace("QuantizeLinear", "Identity")
        assert rounding_for(model).rounding is Rounding.DOUBLE
        assert not rounding_for(model).notes


def _same(a: Array, b: Array) -> float:
    return float((a.argmax(axis=1) == b.argmax(axis=1)).mean())


def _integer(shared: Path, variant: str, rounding: Rounding) -> tuple[Integer, Array]:
    name = f"q_mlperf_ic__{variant}"
    model = load(shared, name)
    return integers(model, pruned=False, rounding=rounding), data(shared, name)[1]


def test_a_second_rounding_turns_classes(shared: Path) -> None:
    made, test = _integer(shared, "qop_pc_MinMax_u8", Rounding.DOUBLE)
    assert _same(*outputs(made, test)) < AGREEMENT


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_roundings_keep_the_float_net_s_class_as_often(variant: str, shared: Path) -> None:
    made, test = _integer(shared, variant, Rounding.DOUBLE)
    session = FloatSession(load(shared, "mlperf_ic"))
    (x,) = session.inputs
    exact = np.concatenate([next(iter(session.run({x: t[None]}).values())) for t in test])
    theirs, ours = outputs(made, test)
    assert _same(exact, ours) >= _same(exact, theirs)


@pytest.mark.parametrize("rounding", Rounding)
def test_every_layer_is_at_most_a_step_off_on_equal_inputs(
    rounding: Rounding, shared: Path
) -> None:
    made, test = _integer(shared, "qdq_pc_MinMax_s8", rounding)
    shares = SHARES[rounding]
    graph = made.graph
    origins = {y: graph.origins[y] for y in graph.types if y in graph.origins}
    session = FloatSession(made.model, [o.tensor for o in origins.values()])
    off, size = dict.fromkeys(shares, 0), dict.fromkeys(shares, 0)
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
            if name in shares:
                off[name] += int((difference != 0).sum())
                size[name] += difference.size
    assert all(off[name] <= share * size[name] for name, share in shares.items()), (off, size)
    assert all(size.values())
