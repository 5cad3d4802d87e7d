"""Small ONNX models, and the check that an imported graph computes what ONNX Runtime does."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tests.calibration import calibrated_tensors
from toolchain import passes
from toolchain.frontend.read import read
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, Graph
from toolchain.ir.execute import evaluate

TOLERANCE = 1e-4
"""Largest difference, relative to the largest value of the tensor."""

Names = str | Sequence[str]


def names(text: Names) -> list[str]:
    """Names separated by spaces as a list; a list may hold "" for an input left out."""
    return text.split() if isinstance(text, str) else list(text)


def node(op_type: str, inputs: Names, outputs: Names = "y", **attributes) -> NodeProto:
    """A node named after its first output."""
    outputs = names(outputs)
    return helper.make_node(op_type, names(inputs), outputs, name=f"n_{outputs[0]}", **attributes)


def model(
    *nodes: NodeProto,
    x: Sequence[int | str] = (1, 3, 8, 8),
    inputs: Mapping[str, Sequence[int | str]] | None = None,
    outputs: Names = "y",
    opset: int = 13,
    listed: bool = False,
    **constants,
) -> ModelProto:
    """A model of these nodes.

    Args:
        nodes: Nodes in order.
        x: Shape of the input "x", unless `inputs` says otherwise.
        inputs: Shapes of all inputs by name.
        outputs: Names of the outputs; their shapes are left open.
        opset: Version of ONNX's own operators.
        listed: List the initialisers as inputs too, as IR version 3 had it.
        constants: Initialisers by name: float32 unless they are arrays of integers.
    """
    stored = [numpy_helper.from_array(value(c), name) for name, c in constants.items()]
    shapes = {"x": x} if inputs is None else inputs
    infos = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, list(s)) for n, s in shapes.items()
    ]
    if listed:
        infos += [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in stored]
    results = [helper.make_tensor_value_info(y, TensorProto.FLOAT, None) for y in names(outputs)]
    graph = helper.make_graph(list(nodes), "g", infos, results, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def value(constant) -> NDArray[np.generic]:
    """A constant as the array it is stored as."""
    array = np.asarray(constant)
    return array if array.dtype.kind in "iub" else array.astype(np.float32)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def normal(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    """Normal float32 values."""
    return rng_of(seed).standard_normal(shape).astype(np.float32)


def sample_of(graph: Graph, seed: int = 0) -> dict[str, Array]:
    """Normal values for every input, some of them large."""
    rng = rng_of(seed)
    return {
        x: (3 * rng.standard_normal(graph.types[x].shape)).astype(np.float32) for x in graph.inputs
    }


def agree(proto: ModelProto, seed: int = 0, sample: Mapping[str, Array] | None = None) -> Graph:
    """Every tensor with an origin has ONNX Runtime's value, before and after the passes.

    Returns:
        The graph after the passes.
    """
    imported = read(proto, "model").graph
    rewritten = passes.run(imported)
    tensors = {o.tensor for g in (imported, rewritten) for o in g.origins.values()}
    session = FloatSession(proto, [*sorted(tensors), *imported.outputs])
    sample = sample_of(imported, seed) if sample is None else sample
    expected = session.run(sample)
    for graph in (imported, rewritten):
        values = evaluate(graph, sample)
        for name, origin in graph.origins.items():
            own = values[name]
            assert own.shape == graph.types[name].shape, name
            close(own, origin.view(expected[origin.tensor], own.shape), name)
        for y in graph.outputs:
            assert values[y].shape == expected[y].shape
            close(values[y], expected[y], y)
        assert set(calibrated_tensors(graph)) <= {*tensors, *graph.inputs}
    return rewritten


def close(own: Array, expected: Array, name: str) -> None:
    """The two are equal within float32 rounding."""
    expected = np.asarray(expected, np.float64)
    scale = max(float(np.abs(expected).max(initial=0.0)), 1e-2)
    worst = float(np.abs(own - expected).max(initial=0.0)) / scale
    assert worst <= TOLERANCE, f"{name}: off by {worst:.2g} of its largest value"


def kinds(graph: Graph) -> list[str]:
    """Names of the operators, in order."""
    return [type(op).__name__ for op in graph.ops]
