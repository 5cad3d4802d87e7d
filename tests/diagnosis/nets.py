"""Models with one known weakness each, and their data."""

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.calibration import calibrate, calibrated_tensors
from toolchain import passes
from toolchain.check.advice import advise_on
from toolchain.check.diagnosis import Diagnosis, diagnose
from toolchain.frontend.read import read
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, Graph
from toolchain.quant.prune import prune
from toolchain.quant.quantize import quantize

SHAPE = (1, 3, 8, 8)
CHANNELS = 8


class Rows(list):
    """Samples as the stages take them."""

    codes = False
    notes = warnings = remarks = ()

    def __init__(self, images: Array, labels: Array | None = None) -> None:
        super().__init__({"x": image[None].astype(np.float32)} for image in images)
        self.labels = labels


def images(count: int, seed: int = 0, scale: float = 1.0) -> Array:
    """Normal values [N, 3, 8, 8]."""
    rng = np.random.default_rng(seed)
    return (scale * rng.standard_normal((count, *SHAPE[1:]))).astype(np.float32)


def network(gains: Array | None = None, dead: int = 0) -> ModelProto:
    """Convolution, depthwise convolution (its channels times `gains`), pointwise, mean, dense.

    The pointwise filter divides by the gains again, so that every channel matters alike. The first
    `dead` channels of the first convolution have no weights.
    """
    rng = np.random.default_rng(1)
    g = np.ones(CHANNELS) if gains is None else np.asarray(gains)
    live = (np.arange(CHANNELS) >= dead).astype(np.float32)
    values = {
        "w1": rng.standard_normal((CHANNELS, 3, 3, 3)) / 5 * live[:, None, None, None],
        "b1": live / 10,
        "wd": rng.standard_normal((CHANNELS, 1, 3, 3)) / 3 * g[:, None, None, None],
        "wp": rng.standard_normal((6, CHANNELS, 1, 1)) / g[None, :, None, None],
        "wf": rng.standard_normal((6, 4)),
        "bf": rng.standard_normal(4),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c"], "stem", pads=[1] * 4),
        helper.make_node("Relu", ["c"], ["r"], "stem relu"),
        helper.make_node("Conv", ["r", "wd"], ["d"], "depthwise", pads=[1] * 4, group=CHANNELS),
        helper.make_node("Conv", ["d", "wp"], ["p"], "pointwise"),
        helper.make_node("GlobalAveragePool", ["p"], ["m"], "mean"),
        helper.make_node("Flatten", ["m"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "wf", "bf"], ["y"], "dense"),
    ]
    return model_of(nodes, values, 4)


def model_of(nodes, values, outputs: int) -> ModelProto:
    """A checked model from x [1, 3, 8, 8] to y [1, outputs]."""
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, outputs))],
        [numpy_helper.from_array(np.asarray(v, np.float32), n) for n, v in values.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return model


@dataclass
class Subject:
    """A model as floats and as integers."""

    model: ModelProto
    floats: Graph
    unpruned: Graph
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        self.graph = prune(self.unpruned).graph


def subject(model: ModelProto, calibration: Array | None = None) -> Subject:
    """The model calibrated by min-max on the images."""
    floats = passes.run(read(model, "net").graph)
    tensors, ranges = calibrated_tensors(floats), {}
    if tensors and calibration is not None:
        ranges = calibrate(FloatSession(model, tensors), Rows(calibration), tensors)
    return Subject(model, floats, quantize(floats, ranges).graph)


def diagnosed(
    model: ModelProto, calibration: Array | None, data: Array, labels: Array | None = None
) -> tuple[Diagnosis, dict[str, str]]:
    """Findings and advice."""
    found = subject(model, calibration)
    diagnosis = diagnose(found.model, found.unpruned, Rows(data, labels))
    return diagnosis, advise_on(diagnosis)
