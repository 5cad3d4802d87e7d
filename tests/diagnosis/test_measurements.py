"""The figures of a diagnosis against straightforward computations over all samples at once."""

import gc
import tracemalloc

import numpy as np
import pytest

from tests.diagnosis.nets import Rows, images, network, subject
from tests.firmware.zoo import ZOO
from tests.quantized.models import integers
from toolchain.check.compare import judge
from toolchain.check.diagnosis import diagnose
from toolchain.check.evaluate import evaluate, input_codes
from toolchain.check.metrics import sqnr_db
from toolchain.check.tails import Tail
from toolchain.check.whatif import measure_without
from toolchain.frontend.load import load_model
from toolchain.frontend.session import FloatSession
from toolchain.ir.execute import evaluate as in_float
from toolchain.ir.execute import simulate
from toolchain.ir.fixedpoint import dequantize, quantize
from toolchain.project import layer_names

DATA = images(12, 3)
LABELS = np.arange(12) % 4


@pytest.fixture(scope="module")
def net():
    return subject(network(dead=2), images(32))


@pytest.fixture(scope="module")
def found(net):
    return diagnose(net.model, net.graph, Rows(DATA, LABELS))


def test_cumulative_figures_are_those_of_the_evaluation(net, found):
    expected = evaluate(net.model, net.graph, Rows(DATA, LABELS))
    assert found.layers[0].name == "input x"
    assert [(layer.name, layer.sqnr_db) for layer in found.layers[1:]] == [
        (name, pytest.approx(db)) for name, db in expected.layers
    ]
    comparison = expected.comparison
    assert found.sqnr_db == pytest.approx(comparison.sqnr_db)
    assert found.agreement == comparison.agreement
    assert found.accuracies == (comparison.accuracy_float, comparison.accuracy_int8)
    assert found.samples == len(DATA)


def test_own_error_range_clipping_and_dead_channels(net):
    """On data wider than those of the calibration."""
    data = 3 * DATA
    found = diagnose(net.model, net.graph, Rows(data))
    tensors = sorted({o.tensor for o in net.graph.origins.values()})
    session, graph = FloatSession(net.model, tensors), net.graph
    for layer in found.layers[1:]:
        op, y = layer.op, layer.tensor
        kind, origin = graph.types[y], graph.origins[y]
        floats, own, codes = [], [], []
        for row in Rows(data):
            values = session.run(row)
            floats.append(origin.view(values[origin.tensor], kind.shape))
            given = [
                graph.constants[x]
                if x in graph.constants
                else quantize(
                    graph.origins[x].view(values[graph.origins[x].tensor], graph.types[x].shape),
                    graph.types[x].q,
                )
                for x in op.inputs
            ]
            own.append(op.simulate(graph.types, *given)[0])
            codes.append(simulate(graph, input_codes(graph, row))[y])
        ref, alone, whole = (np.concatenate(a) for a in (floats, own, codes))
        assert layer.own_sqnr_db == pytest.approx(sqnr_db(ref, dequantize(alone, kind.q)))
        rounded = dequantize(quantize(ref, kind.q), kind.q)
        assert layer.grid_sqnr_db == pytest.approx(sqnr_db(ref, rounded))
        low, high = dequantize([-128, 127], kind.q)
        outside = (ref < low - kind.q.scale) | (ref > high + kind.q.scale)
        left = len(layer.statistics.places) / len(layer.statistics.low)
        assert layer.clipping_rate == pytest.approx(outside.mean() * left)  # the others are zero
        assert layer.statistics.low.min() == ref.min()
        assert layer.statistics.high.max() == ref.max()
        flat = whole.reshape(-1, whole.shape[-1])
        assert layer.dead_channels == int((flat == flat[0]).all(axis=0).sum())
        channel = [
            sqnr_db(ref[..., c], dequantize(alone, kind.q)[..., c]) for c in range(ref.shape[-1])
        ]
        for index, db in layer.worst_channels:
            assert db == pytest.approx(channel[layer.statistics.places.index(index)])
        live = [db for db, c in zip(channel, range(len(channel)), strict=True) if ref[..., c].any()]
        assert layer.worst_channels[0][1] == pytest.approx(min(live))
    assert any(layer.clipping_rate > 0.01 for layer in found.layers)


def test_channels_that_pruning_took_out_are_counted(found):
    removed = {layer.name: layer.removed for layer in found.layers}
    assert removed["stem (Conv2D)"] == removed["depthwise"] == 2
    assert removed["dense"] == 0


def test_sensitivity_is_what_one_rounded_layer_does(net):
    """Against the float graph in numpy with that single layer on codes."""
    inputs = [input_codes(net.unpruned, row) for row in Rows(DATA)]
    data = np.concatenate([dequantize(c["x"], net.unpruned.types["x"].q) for c in inputs])
    unpruned = net.unpruned
    found = diagnose(net.model, unpruned, Rows(data, LABELS))
    names = layer_names(unpruned.ops)
    everything = set(names.values())
    assert len(found.layers) == len(everything) + 1
    for layer in found.layers[1:]:
        others = everything - {layer.name}
        impact = measure_without(net.model, net.floats, unpruned, others, Rows(data, LABELS))
        assert layer.output_sqnr_db == pytest.approx(impact.sqnr_db, abs=0.01) or (
            min(layer.output_sqnr_db, impact.sqnr_db) > 120  # nothing but float32
        )
        assert layer.agreement == impact.agreement
        assert layer.accuracy == impact.accuracies[1]
    assert sum(layer.share for layer in found.layers) == pytest.approx(1)


def test_all_layers_exact_leave_the_rounding_of_the_input(net):
    names = set(layer_names(net.unpruned.ops).values())
    impact = measure_without(net.model, net.floats, net.unpruned, names, Rows(DATA))
    outputs, expected = [], []
    for row in Rows(DATA):
        quant = net.unpruned.types["x"].q
        rounded = dequantize(quantize(row["x"], quant), quant)
        outputs.append(in_float(net.floats, {"x": rounded})["y"])
        expected.append(in_float(net.floats, row)["y"])
    value = sqnr_db(np.concatenate(expected), np.concatenate(outputs))
    assert impact.sqnr_db == pytest.approx(value, abs=0.01)


def test_no_layer_exact_is_the_integer_model(net, found):
    impact = measure_without(net.model, net.floats, net.unpruned, (), Rows(DATA, LABELS))
    assert impact.sqnr_db == pytest.approx(found.sqnr_db)
    assert impact.agreement == found.agreement
    assert impact.accuracies == found.accuracies


def test_classes_are_those_of_compare():
    """A single output that is a probability, and a vector."""
    from toolchain.check.impact import Impact

    rng = np.random.default_rng(0)
    for shape in ((9, 1), (9, 5)):
        reference = {"y": rng.random(shape)}
        values = {"y": rng.random(shape)}
        labels = rng.integers(0, 2, 9)
        expected = judge(reference, values, labels=labels)
        impact = Impact(["y"])
        for n in range(9):
            impact.add(
                {"y": reference["y"][n : n + 1]}, {"y": values["y"][n : n + 1]}, int(labels[n])
            )
        assert impact.agreement == expected.agreement
        assert impact.accuracies == (expected.accuracy_float, expected.accuracy_int8)
        assert impact.sqnr_db == pytest.approx(expected.sqnr_db)


@pytest.mark.parametrize("name", ["ic", "digits", "vowels", "lenet"])
def test_a_tail_from_any_tensor_gives_the_outputs(shared, name):
    entry = ZOO[name]
    model = load_model(entry.path(shared))
    _, test, _ = entry.arrays(shared)
    graph = integers(model, test[:4]).graph
    outputs = [graph.origins[y].tensor for y in graph.outputs]
    tails = [Tail(model, o.tensor, outputs) for o in graph.origins.values()]
    needs = [x for tail in tails for x in tail.needs]
    session = FloatSession(model, [*(t.tensor for t in tails), *outputs, *needs])
    (x,) = graph.inputs
    reference = session.run({x: test[0].reshape(graph.types[x].shape)})
    for tail in tails:
        found = tail.run(reference[tail.tensor], reference)
        for y in outputs:
            np.testing.assert_array_equal(found[y], reference[y])
        if tail.tensor not in outputs:
            other = tail.run(np.zeros_like(reference[tail.tensor]), reference)
            assert any(not np.array_equal(other[y], reference[y]) for y in outputs)


def test_quantised_models_are_compared_with_themselves(shared):
    """int8 inputs and outputs, values that exist as codes only."""
    model = load_model(shared / "models" / "mlperf_kws_int8_qdq.onnx")
    graph = integers(model).graph
    (x,) = graph.inputs
    with np.load(shared / "data" / "golden_cmsis_nn.npz") as golden:
        codes = golden["kws_x"][:4]

    class Codes(list):
        codes, labels, remarks = True, None, ()

    found = diagnose(model, graph, Codes({x: c.reshape(graph.types[x].shape)} for c in codes))
    assert len(found.layers) == len(set(layer_names(graph.ops).values())) + 1
    assert all(layer.own_sqnr_db > 30 for layer in found.layers)
    assert all(layer.clipping_rate == 0 for layer in found.layers)


def test_memory_does_not_grow_with_the_samples(net):
    class Generated(Rows):
        def __init__(self, count):
            super().__init__(images(1))
            self.count = count

        def __len__(self):
            return self.count

        def __iter__(self):
            for n in range(self.count):
                yield {"x": images(1, n)}

    peaks = []
    for count in (32, 32, 96):  # 16 are simulated at once; the first run also fills caches
        gc.collect()
        tracemalloc.start()
        diagnose(net.model, net.graph, Generated(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1] + 100_000  # the tensors of 64 samples are over a megabyte
