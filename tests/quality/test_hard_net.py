"""How far pure int8 rescues a net made to break it."""

import re

import numpy as np
import onnx
import pytest

from tests.quality.hard_net import hard_model, hard_net, hard_samples
from toolchain import passes, pipeline
from toolchain.check.compare import Gates
from toolchain.check.diagnosis import diagnose
from toolchain.check.metrics import agreement
from toolchain.errors import GateFailed
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.samples import load_samples
from toolchain.ir.batch import simulate_batch
from toolchain.ir.fixedpoint import dequantize
from toolchain.ir.fixedpoint import quantize as to_codes
from toolchain.ops.average_pool import AveragePool
from toolchain.options import ConvertOptions, silent
from toolchain.quant.calibrate import Profile
from toolchain.quant.choose import choose, outliers
from toolchain.quant.quantize import free_tensors, quantize
from toolchain.quant.refine import Wanted, plain, refine
from toolchain.quant.trial import float_values
from toolchain.solve import Infeasible, Limits

PLAIN = Wanted("minmax", weights=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The net as an ONNX file, and calibration samples."""
    folder = tmp_path_factory.mktemp("hard")
    onnx.save(hard_model(hard_net()), folder / "hard.onnx")
    np.save(folder / "calibration.npy", hard_samples(300, 1)[:, 0].transpose(0, 3, 1, 2))
    return folder


def convert(files, method, output):
    options = ConvertOptions(
        method=method,
        refine_weights=method == "auto",
        gates=Gates(min_agreement=0.99),
        pure_int8=True,
    )
    calibration = files / "calibration.npy"
    return pipeline.convert(files / "hard.onnx", calibration, "mps2-an386", output, options)


def test_the_gate_refuses_plain_int8_and_names_the_layers(files, tmp_path):
    with pytest.raises(GateFailed, match=r"agreement .* is below 99.00%") as refused:
        convert(files, "minmax", tmp_path / "out")
    named = re.search(r"worst layers: (.*)", refused.value.reason)
    assert named is not None
    assert not (tmp_path / "out").exists()
    model = load_model(files / "hard.onnx")
    imported = read(model, "hard")
    graph = passes.run(imported.graph)
    samples = load_samples(files / "calibration.npy", imported.inputs)
    chosen = choose(graph, model, samples, PLAIN, silent)
    layers = diagnose(model, quantize(chosen.graph, chosen.ranges).graph, samples).layers
    costliest = max((f for f in layers if f.op is not None), key=lambda f: f.share)
    assert costliest.name in named[1]


def within(files, folder, limits, least, **options):
    """The net within limits, its gate on the calibration samples."""
    gates = pipeline.Judged(Gates(min_sqnr=least))
    found = ConvertOptions(**options)
    calibration = files / "calibration.npy"
    return pipeline.convert_within(
        files / "hard.onnx", calibration, "mps2-an386", folder, limits, found, gates
    )


@pytest.mark.emulator
def test_int16_codes_where_int8_is_not_enough_and_what_they_cost(files, tmp_path):
    """What a refusal says would do, does; the firmware gives the bytes of the integer model."""
    few = {"method": "auto", "refine_weights": True, "optimize": "size"}
    with pytest.raises(Infeasible) as error:
        within(files, tmp_path / "none", Limits(ram=4000), 42.0, **few)
    reason, hint = error.value.reason, error.value.hint
    assert "--max-ram 4,000 bytes of RAM binds: the least that meets the gates is" in reason
    assert "int8 --calibration auto --weights auto: SQNR" in reason
    assert not (tmp_path / "none").exists()
    (need,) = re.findall(r"--max-ram (\d+) would do", hint)
    least = int(need)
    folder = tmp_path / "enough"
    _, outcome = within(files, folder, Limits(ram=least), 42.0, **few)
    assert outcome.taken.candidate.precision.name == "int8+int16"
    assert pipeline.build(folder).sizes.ram == outcome.taken.costs.ram == least
    np.save(tmp_path / "test.npy", hard_samples(600, 2)[:40, 0].transpose(0, 3, 1, 2))
    found, _ = pipeline.compare(folder, tmp_path / "test.npy", Gates(min_agreement=0.99))
    assert found.comparison.bit_exact
    assert found.comparison.passed


@pytest.mark.emulator
def test_pure_int8_is_refused_with_the_figures_it_reaches(files, tmp_path):
    with pytest.raises(Infeasible) as error:
        within(files, tmp_path / "out", Limits(ram=100_000), 42.0, pure_int8=True)
    told = re.findall(r"(int\S+) .*: SQNR ([-\d.]+) dB is below 42.0 dB", error.value.reason)
    assert [name for name, _ in told] == ["int8"] * 3
    options = ConvertOptions(method="auto", refine_weights=True, gates=Gates(min_sqnr=42.0))
    with pytest.raises(GateFailed, match=f"SQNR {told[-1][1]} dB is below"):
        pipeline.convert(
            files / "hard.onnx", files / "calibration.npy", "mps2-an386", tmp_path / "x", options
        )


def test_int16_auto_says_when_it_is_not_enough(files, tmp_path):
    wanted = ConvertOptions(int16=("auto",), gates=Gates(min_sqnr=90.0))
    with pytest.raises(GateFailed, match=r"is below 90\.0 dB") as refused:
        pipeline.convert(
            files / "hard.onnx", files / "calibration.npy", "mps2-an386", tmp_path / "x", wanted
        )
    assert re.fullmatch(
        r"int16 auto: all 7 layers, which is not enough "
        r"\(weights stay int8, --weights auto chooses them better\); on held-back samples SQNR .*, "
        r"with int8 codes SQNR .*; nothing was written",
        refused.value.hint,
    )


def test_auto_passes_the_same_gate(files, tmp_path):
    convert(files, "auto", tmp_path / "out")
    assert (tmp_path / "out" / "manifest.json").exists()


def test_rescaled_layers_are_diagnosed_as_they_are(files):
    """Behind a global pool ONNX's last axis has one cell, the tensor's all the channels."""
    model = load_model(files / "hard.onnx")
    imported = read(model, "hard")
    graph = passes.run(imported.graph)
    samples = load_samples(files / "calibration.npy", imported.inputs)
    chosen = choose(graph, model, samples, Wanted(), silent)
    (pool,) = (op for op in chosen.graph.ops if isinstance(op, AveragePool))
    assert chosen.graph.origins[pool.y].gain is not None
    integer = quantize(chosen.graph, chosen.ranges).graph
    for layer in diagnose(model, integer, samples).layers:
        assert layer.output_sqnr_db > 30, layer.name
        if layer.name == "pool":
            assert layer.sqnr_db > 30
            assert layer.clipping_rate < 0.01


def measure(graph, samples):
    found = {}
    for name, value in float_values(graph, {"x": samples}, free_tensors(graph)).items():
        found[name] = Profile(graph.origins[name])
        found[name].add(value)
    return found


def reached(graph, chosen, samples):
    """Share of test samples with the class of the float net."""
    integer = quantize(chosen.graph, chosen.ranges).graph
    codes = simulate_batch(integer, {"x": to_codes(samples, integer.types["x"].q)})["y"]
    expected = float_values(graph, {"x": samples}, ["y"])["y"]
    value = dequantize(codes, integer.types["y"].q)
    return agreement(expected.reshape(-1, 1), value.reshape(-1, 1))


@pytest.mark.parametrize(("tail", "least"), [(False, 0.99), (True, 0.99)])
def test_auto_rescues_the_hard_net(tail, least):
    graph = hard_net(outliers=tail)
    samples = hard_samples(300, 1, outliers=tail)
    test = hard_samples(600, 2, outliers=tail)
    histograms = measure(graph, samples)
    before = reached(graph, plain(graph, histograms, PLAIN), test)
    columns = [{"x": x} for x in samples]
    chosen = refine(
        graph, (columns, len(columns)), (histograms, lambda g: measure(g, samples)), Wanted()
    )
    after = reached(graph, chosen, test)
    assert before < 0.97
    assert after >= least


def test_the_warning_names_tensor_and_tail():
    graph = hard_net()
    (warning, *_) = outliers(graph, measure(graph, hard_samples(300, 1)))
    assert warning.startswith("x has outliers")
    assert not outliers(
        hard_net(outliers=False), measure(graph, hard_samples(300, 1, outliers=False))
    )
