"""The quantised models of the shared folder, their data, and their integer form."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import ModelProto

from tests.calibration import calibrate, calibrated_tensors
from toolchain import passes
from toolchain.check.evaluate import input_codes
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.rounding import rounding_for
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, Graph, Rounding
from toolchain.ir.execute import simulate
from toolchain.ir.fixedpoint import dequantize
from toolchain.quant.mixed import mix
from toolchain.quant.prune import prune
from toolchain.quant.quantize import quantize


@dataclass(frozen=True)
class Integer:
    """A quantised model as it was read, and as integers.

    Args:
        model: In QDQ form.
        graph: The integer graph.
        calibrated: ONNX tensors whose scale the model does not state.
        dropped: Channels that pruning removed.
    """

    model: ModelProto
    graph: Graph
    calibrated: tuple[str, ...]
    dropped: int


class List(list[dict[str, Array]]):
    """Samples as calibrate() takes them."""

    codes = False


def integers(
    model: ModelProto,
    samples: Array | None = None,
    pruned: bool = True,
    rounding: Rounding | None = None,
) -> Integer:
    """The model as integers; `samples` [N, ...] of its only input give what scales are missing."""
    imported = read(model, "model")
    graph = passes.run(imported.graph)
    tensors = calibrated_tensors(graph)
    ranges = {}
    if tensors and samples is not None:
        rows = List({imported.inputs[0].name: s.reshape(imported.inputs[0].shape)} for s in samples)
        ranges = calibrate(FloatSession(model, tensors), rows, tensors)
    mixed = mix(graph, (), ranges, ranges)
    quantized = quantize(mixed.graph, mixed.ranges, rounding_for(model, rounding).rounding).graph
    if not pruned:
        return Integer(model, quantized, tensors, 0)
    smaller = prune(quantized)
    return Integer(model, smaller.graph, tensors, sum(n for _, n in smaller.dropped))


def outputs(integer: Integer, samples: Array) -> tuple[Array, Array]:
    """(the model's own output by ONNX Runtime, the integer model's), real values [N, ...]."""
    session = FloatSession(integer.model)
    (x,), (y,) = integer.graph.inputs, integer.graph.outputs
    kind, quant = integer.graph.types[x], integer.graph.types[y].q
    reference, own = [], []
    for sample in samples:
        codes = input_codes(integer.graph, {x: sample.reshape(kind.shape)})
        taken = session.input_type(x)
        fed: Array = sample.reshape(kind.shape)
        if taken == "int8":
            fed = codes[x]
        elif sample.dtype == np.int8:
            fed = dequantize(codes[x], kind.q)
        (value,) = session.run({x: fed}).values()
        real = value.astype(np.float64)
        if value.dtype != np.float32:
            shift = 128 if value.dtype == np.uint8 else 0
            real = dequantize(value.astype(np.int16) - shift, quant)
        reference.append(real.reshape(-1))
        own.append(dequantize(simulate(integer.graph, codes)[y], quant).reshape(-1))
    return np.stack(reference), np.stack(own)


DATA = {
    "digits_resnet": ("digits", "x_train", "x_test"),
    "fashion_dscnn": ("fashion_mnist_small", "x_calib", "x_test"),
    "mlperf_kws": ("kws_tts", "x", "x"),
    "mlperf_ad": ("mlperf_samples", "ad", "ad"),
    "mlperf_ic": ("crops", "ic", "ic"),
    "mlperf_vww": ("crops", "vww", "vww"),
    "mnist": ("mnist5k", "x_train", "x_test"),
    "vowels_tcn": ("japanese_vowels", "x_train", "x_test"),
    "vww": ("crops", "vww", "vww"),
}
"""Data file, calibration and test array, by a part of the model's name."""


def data(shared: Path, model: str) -> tuple[Array, Array]:
    """(calibration, test) samples of a model, float32; random ones where there are no data."""
    for part, (file, calibration, test) in DATA.items():
        if part in model:
            with np.load(shared / "data" / f"{file}.npz") as stored:
                arrays = stored[calibration], stored[test]
            if part == "vww":
                arrays = tuple(a[:, 8:88, 8:88] / np.float32(127.5) - 1 for a in arrays)
            if "lenet300" in model:
                arrays = tuple(a.transpose(0, 2, 3, 1) for a in arrays)
            return arrays[0][:100].astype(np.float32), arrays[1].astype(np.float32)
    raise LookupError(model)


def load(shared: Path, name: str) -> ModelProto:
    """A model of the shared folder, in QDQ form."""
    return load_model(shared / "models" / f"{name}.onnx")


def constants(model: ModelProto) -> Mapping[str, Array]:
    """The model's initialisers."""
    from onnx import numpy_helper

    return {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
