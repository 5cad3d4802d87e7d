"""Each known weakness is named, with figures that are true."""

import re

import numpy as np
from onnx import helper

from tests.diagnosis.nets import CHANNELS, Rows, diagnosed, images, model_of, network, subject
from toolchain.check.advice import MANY, advise_on
from toolchain.check.diagnosis import diagnose
from toolchain.frontend.load import load_model


def _findings(found, name):
    return next(layer for layer in found.layers if layer.name == name)


def test_a_healthy_network_gets_no_alarm():
    found, advice = diagnosed(network(), images(64), images(64)[:16])
    for sentence in advice.values():
        assert "calibrate" not in sentence
        assert "equalise" not in sentence
    assert found.sqnr_db > 25


def test_channels_of_different_spans():
    gains = np.where(np.arange(CHANNELS) == 5, 300.0, 1.0)
    found, advice = diagnosed(network(gains), images(64), images(16, 5))
    sentence = advice["depthwise"]
    match = re.fullmatch(
        r"channel 5 spans (\d+) times the median channel, whose values reach (\d+) steps? from "
        r"zero: equalise the channels",
        sentence,
    )
    assert match, sentence
    layer = _findings(found, "depthwise")
    spans = layer.statistics.spans()
    assert int(match[1]) == round(spans[5] / np.median(spans)) > 100
    assert int(match[2]) == round(np.median(spans) / layer.statistics.quant.scale) < 2
    assert max(found.layers, key=lambda one: one.share).name in ("depthwise", "pointwise")
    assert "depthwise" in advice["pointwise"], "the cause lies before it"
    assert all("equalise" not in s for name, s in advice.items() if name != "depthwise")


def test_channels_that_pruning_took_out_still_explain_a_range():
    """Their reader rounds its weights for the wide channel to zero; the range stays as wide."""
    gains = np.where(np.arange(CHANNELS) == 5, 300.0, 1.0)
    found = subject(network(gains), images(64))
    diagnosis = diagnose(found.model, found.graph, Rows(images(16, 5)))
    layer = _findings(diagnosis, "depthwise")
    assert layer.statistics.places == (0, 1, 2, 3, 4, 6, 7)
    assert layer.removed == 1
    assert advise_on(diagnosis)["depthwise"].startswith("channel 5 spans ")


def test_values_outside_the_calibrated_range():
    found, advice = diagnosed(network(), images(64, scale=0.2), images(16, 5))
    layer = _findings(found, "stem (Conv2D)")
    sentence = advice[layer.name]
    assert "calibrate with data that reach there" in sentence
    share = float(re.match(r"([\d.]+)% of its values lie outside", sentence)[1]) / 100
    assert abs(share - layer.clipping_rate) < 1e-4
    assert layer.clipping_rate > 0.01


def test_outliers_that_stretch_a_range():
    data = images(400)
    data[0, 0, 3, 3] = 3e2
    found, advice = diagnosed(network(), data, data)
    sentence = advice["stem (Conv2D)"]
    assert "cut them off with --calibration percentile" in sentence
    match = re.match(r"99.9% of its values lie in ([\d.e+-]+)\.\.([\d.e+-]+),", sentence)
    values = _findings(found, "stem (Conv2D)").statistics
    assert float(match[2]) < values.representable[1] / MANY * 1.01


def test_a_range_made_for_other_data():
    _, advice = diagnosed(network(), images(64, scale=60.0), images(16, 5))
    assert "calibrate with data like these" in advice["stem (Conv2D)"]
    _, advice = diagnosed(network(), images(64, scale=1e5), images(16, 5))
    assert re.search(
        r"always has the same code, because its range .* too wide", advice["depthwise"]
    )


def test_channels_that_never_change():
    values = {"w": np.eye(8, 3)[:, :, None, None], "b": np.zeros(8), "wf": np.ones((8, 2)) / 8}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "stem"),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalMaxPool", ["r"], ["m"], "top"),
        helper.make_node("Flatten", ["m"], ["f"], "flatten"),
        helper.make_node("MatMul", ["f", "wf"], ["y"], "dense"),
    ]
    data = images(32)
    data[:, 2] = -np.abs(data[:, 2])  # the third channel dies in the ReLU
    found, advice = diagnosed(model_of(nodes, values, 2), data, data)
    layer = _findings(found, "stem (Conv2D)")
    assert layer.dead_channels == 6  # five of them have no weights
    assert advice[layer.name].startswith("6 of 8 channels have the same code")


def test_noise_is_attributed_to_its_cause():
    found, _ = diagnosed(network(), images(64), images(64)[:16])
    layer = _findings(found, "stem (Conv2D)").statistics
    own = float(layer.own_noise.sum())
    assert layer.grid_noise + layer.weight_noise + layer.input_noise >= 0.999 * own
    for part in (layer.grid_noise, layer.weight_noise, layer.input_noise):
        assert 0 < part < own


def test_weights_that_make_the_error_are_named():
    """Filters of 27 random taps on images of one colour: input and output are nearly exact."""
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((8, 3, 3, 3))
    wide[:, 1] -= wide.sum(axis=(1, 2, 3))[:, None, None] / 9 - 0.02
    values = {"w": wide, "b": np.zeros(8), "wf": rng.standard_normal((8, 2))}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "stem"),
        helper.make_node("GlobalAveragePool", ["c"], ["m"], "mean"),
        helper.make_node("Flatten", ["m"], ["f"], "flatten"),
        helper.make_node("MatMul", ["f", "wf"], ["y"], "dense"),
    ]
    # one value per image, on the grid of the codes: only the sum of a filter matters
    levels = np.arange(-128, 128, 8, dtype=np.float32)
    data = np.broadcast_to(levels[:, None, None, None], (len(levels), 3, 8, 8)).copy()
    data[-1] = 127
    found, advice = diagnosed(model_of(nodes, values, 2), data, data)
    layer = _findings(found, "stem (Conv2D)")
    assert layer.statistics.weight_noise > 10 * layer.statistics.grid_noise
    assert "most of it by the rounding of its weights" in advice[layer.name]


def test_quantised_models_are_not_blamed_for_their_weights(shared):
    """Their float model is the quantised one: weights and ranges are no errors."""
    model = load_model(shared / "models" / "q_mlperf_kws__qdq_pc_MinMax_s8.onnx")
    found = subject(model)
    (x,) = found.graph.inputs
    with np.load(shared / "data" / "kws_tts.npz") as stored:
        rows = Rows(stored["x"][:4])
    data = Rows([])
    data.extend({x: row["x"].reshape(found.graph.types[x].shape)} for row in rows)
    diagnosis = diagnose(model, found.unpruned, data)
    advice = advise_on(diagnosis)
    assert any("the model itself rounds to these codes" in s for s in advice.values())
    assert all("its weights" not in s for s in advice.values())


def test_a_channel_that_is_nothing_is_no_spread():
    gains = np.where(np.arange(CHANNELS) < 5, 1e-9, 1.0)
    _, advice = diagnosed(network(gains), images(64), images(16, 5))
    assert "spans" not in advice["depthwise"]
