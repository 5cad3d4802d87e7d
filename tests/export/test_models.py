"""Real models: within one step layer by layer, and the same integers when read again."""

from collections import Counter

import numpy as np
import onnx
import pytest

from tests.conftest import REPO
from tests.firmware.zoo import ZOO
from tests.ops.host import any_codes
from tests.quality.hard_net import hard_net, hard_samples
from tests.quality.test_hard_net import measure
from tests.quantized.models import integers
from toolchain import passes
from toolchain.check.exported import ExportCheck, check_export
from toolchain.emit import qdq_model
from toolchain.errors import InputRefused
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.samples import load_samples
from toolchain.ir import Graph, Op
from toolchain.ir.execute import simulate
from toolchain.ir.fixedpoint import quantize, quantize_as, quantize_multipliers
from toolchain.ops._layer import LayerOp
from toolchain.ops._weights import layer_multipliers
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose
from toolchain.options import silent
from toolchain.quant.choose import choose
from toolchain.quant.mixed import mix
from toolchain.quant.quantize import quantize as to_integers
from toolchain.quant.refine import Wanted, plain

QUANTISED = (
    "mlperf_kws_int8_qdq",
    "mlperf_ic_int8_qdq",
    "mlperf_ad_int8_qdq",
    "mlperf_vww_int8_qdq",
    "te_vww_int8_qdq",
    "tflm_micro_speech_int8_qdq",
    "q_mnist_ae__qdq_pc_MinMax_s8",
    "q_mnist_lenet__qop_pc_MinMax_u8",
    "pt_digits_resnet_pt2e_ptq__dynamo",
)


def _agrees(graph: Graph, samples) -> ExportCheck:
    """Within a step, and byte for byte the same model after a round trip through the file."""
    exported = qdq_model(graph)
    onnx.checker.check_model(exported.model, full_check=True)
    check = check_export(exported, graph, samples)
    too_far = [layer for layer in check.layers if layer.largest > 1]
    assert not too_far
    again = integers(onnx.load_from_string(exported.model.SerializeToString()))
    assert again.calibrated == ()
    assert again.graph.rounding is graph.rounding
    mine, theirs = (_computing(g) for g in (graph, again.graph))
    assert Counter(map(type, theirs)) == Counter(map(type, mine))
    layers = {op.name: op for op in theirs if isinstance(op, LayerOp)}
    for op in mine:  # branches may be read in another order
        if isinstance(op, LayerOp):
            _same_layer(graph, op, again.graph, layers.pop(op.name))
    assert not layers
    for codes in samples:
        expected, found = simulate(graph, codes), simulate(again.graph, codes)
        for y in graph.outputs:
            np.testing.assert_array_equal(found[y], expected[y])
    return check


def _computing(graph: Graph) -> list[Op]:
    """The operators but for changes of layout."""
    return [op for op in graph.ops if not isinstance(op, Reshape | Transpose)]


def _same_layer(graph: Graph, op, again: Graph, other) -> None:
    assert (op.low, op.high) == (other.low, other.high)
    for name, found in zip(op.inputs[1:], other.inputs[1:], strict=True):
        np.testing.assert_array_equal(again.constants[found], graph.constants[name], strict=True)
    before, after = (
        quantize_multipliers(layer_multipliers(o, g.types))
        for o, g in ((op, graph), (other, again))
    )
    for value, found in zip(before, after, strict=True):
        np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize("name", sorted(ZOO))
def test_float_models(shared, name):
    entry = ZOO[name]
    calibration, test, _ = entry.arrays(shared)
    graph = integers(load_model(entry.path(shared)), calibration[:40]).graph
    (x,) = graph.inputs
    kind = graph.types[x]
    check = _agrees(graph, [{x: quantize(s.reshape(kind.shape), kind.q)} for s in test[:6]])
    for output in check.outputs:  # end to end, where single steps add up
        assert output.differing <= 0.5 * output.values


@pytest.mark.parametrize("name", QUANTISED)
def test_quantised_models(shared, name):
    path = shared / "models" / f"{name}.onnx"
    rng = np.random.default_rng(1)
    model = load_model(path)
    (spec,) = read(model, "model").inputs
    graph = integers(model, rng.standard_normal((4, *spec.shape)).astype(np.float32)).graph
    shapes = {x: graph.types[x].shape for x in graph.inputs}
    samples = [
        {x: rng.integers(-128, 128, shape).astype(np.int8) for x, shape in shapes.items()}
        for _ in range(3)
    ]
    _agrees(graph, samples)


def test_the_example():
    folder = REPO / "examples" / "digits"
    with np.load(folder / "calibration.npz") as stored:
        images = stored[stored.files[0]]
    graph = integers(load_model(folder / "model.onnx"), images).graph
    (x,) = graph.inputs
    kind = graph.types[x]
    _agrees(graph, [{x: quantize(s.reshape(kind.shape), kind.q)} for s in images[:8]])


def _wide(graph: Graph, ranges, seen) -> Graph:
    """Every layer on int16 codes that has such a form."""
    mixed = mix(graph, [y for op in graph.ops for y in op.outputs], ranges, seen)
    return to_integers(mixed.graph, mixed.ranges).graph


def _agrees_wide(graph: Graph, inputs) -> None:
    (x,) = graph.inputs
    exported = qdq_model(graph)
    onnx.checker.check_model(exported.model, full_check=True)
    assert exported.model.opset_import[0].version >= 21
    kind = graph.types[x]
    samples = [{x: quantize_as(s.reshape(kind.shape), kind)} for s in inputs]
    assert max(layer.largest for layer in check_export(exported, graph, samples).layers) <= 1


def test_the_hard_net_with_int16_codes():
    graph, inputs = hard_net(), hard_samples(101, 1)
    found = plain(graph, measure(graph, inputs), Wanted("minmax", weights=False))
    _agrees_wide(_wide(found.graph, found.ranges, found.seen), inputs[-6:])


@pytest.mark.parametrize("name", sorted(ZOO))
def test_float_models_with_int16_codes(shared, name, tmp_path):
    entry = ZOO[name]
    calibration, test, _ = entry.arrays(shared)
    model = load_model(entry.path(shared))
    imported = read(model, "model")
    np.save(tmp_path / "calibration.npy", calibration[:20])
    samples = load_samples(tmp_path / "calibration.npy", imported.inputs)
    graph = passes.run(imported.graph)
    found = choose(graph, model, samples, Wanted("minmax", weights=False), silent)
    _agrees_wide(_wide(found.graph, found.ranges, found.seen), test[:3])


@pytest.mark.slow
def test_all_shared_models(shared):
    """Every model that can be converted and has a form in ONNX, on random data."""
    rng, done = np.random.default_rng(2), 0
    for path in sorted((shared / "models").glob("*.onnx")):
        try:
            model = load_model(path)
            specs = read(model, "model").inputs
            images = rng.standard_normal((4, *specs[0].shape)).astype(np.float32)
            graph = integers(model, images).graph
        except InputRefused:
            continue
        if len(specs) == 1:
            (x,) = graph.inputs
            _agrees(graph, [{x: any_codes(graph, x, rng)}])
            done += 1
    assert done > 80
