"""The ONNX backend node tests as models of one operator with constants as initialisers."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, defs, numpy_helper, version_converter
from onnx.backend.test.case.node import collect_testcases

from toolchain.frontend.load import MAX_OPSET, MIN_OPSET
from toolchain.ir import Array

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"

EVERY_FLOAT_INPUT = {
    "Add", "Sub", "Mul", "Div", "Min", "Max", "Sum", "Mean", "MatMul", "Concat", "Pow", "Mod",
}  # fmt: skip
"""Operators whose float inputs are all activations; of others only the first one is."""

RELEVANT = {
    "Abs", "Add", "ArgMax", "ArgMin", "AveragePool", "BatchNormalization", "Cast", "Ceil", "Celu",
    "Clip", "Concat", "Constant", "ConstantOfShape", "Conv", "ConvTranspose", "DepthToSpace",
    "Div", "Dropout", "Elu", "Equal", "Erf", "Exp", "Expand", "Flatten", "Floor", "GRU", "Gather",
    "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "Greater", "GroupNormalization",
    "HardSigmoid", "HardSwish", "Identity", "InstanceNormalization", "LRN", "LSTM",
    "LayerNormalization", "LeakyRelu", "Less", "Log", "LogSoftmax", "MatMul", "Max", "MaxPool",
    "Mean", "Min", "Mish", "Mul", "Neg", "PRelu", "Pad", "Pow", "Reciprocal", "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceSum", "Relu", "Reshape", "Resize", "Round", "Selu", "Shape",
    "Sigmoid", "Sign", "Slice", "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Split", "Sqrt",
    "Squeeze", "Sub", "Sum", "Swish", "Tanh", "ThresholdedRelu", "Tile", "TopK", "Transpose",
    "Unsqueeze", "Upsample", "Where",
}  # fmt: skip
"""The operators the tool is about: supported ones, and those people ask for."""


@dataclass(frozen=True)
class Case:
    """One test of the ONNX suite.

    Args:
        name: Its name there.
        operator: ONNX operator.
        model: One node; constants are initialisers.
        inputs: Real values of the inputs that are left.
        outputs: Expected values.
    """

    name: str
    operator: str
    model: ModelProto
    inputs: dict[str, Array]
    outputs: dict[str, Array]


@cache
def cases() -> tuple[Case, ...]:
    """Every float32 case of the relevant operators, sorted by name."""
    found = [*_node_cases(), *_converted_cases()]
    return tuple(sorted(found, key=lambda case: case.name))


def _node_cases() -> Iterator[Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        generated = collect_testcases(None)
    for test in generated:
        case = _case(test.name, test.model, *test.data_sets[0]) if test.data_sets else None
        if case is not None:
            yield case


def _converted_cases() -> Iterator[Case]:
    """Older tests stored as files, brought to opset 13 by onnx's version converter."""
    for kind in ("pytorch-converted", "pytorch-operator"):
        for folder in sorted((DATA / kind).glob("test_*")):
            model = onnx.load(folder / "model.onnx")
            if len(model.graph.node) != 1:
                continue
            try:
                model = version_converter.convert_version(model, 13)
            except Exception:  # the converter has no adapter: the model is too old for anyone
                continue
            data = folder / "test_data_set_0"
            inputs, outputs = (_stored(data, stem) for stem in ("input", "output"))
            case = _case(f"{kind}/{folder.name}", model, inputs, outputs)
            if case is not None:
                yield case


def _stored(folder: Path, stem: str) -> list[Array]:
    values = []
    for index in range(len(list(folder.glob(f"{stem}_*.pb")))):
        tensor = TensorProto()
        tensor.ParseFromString((folder / f"{stem}_{index}.pb").read_bytes())
        values.append(numpy_helper.to_array(tensor))
    return values


def _case(name: str, model: ModelProto, inputs: list, outputs: list) -> Case | None:
    """The case when it is one of ours: one relevant node on float32 tensors."""
    if len(model.graph.node) != 1 or model.graph.node[0].op_type not in RELEVANT:
        return None
    values = [*inputs, *outputs]
    if not values or not all(isinstance(v, np.ndarray) for v in values):
        return None
    node = model.graph.node[0]
    named = dict(zip([i.name for i in model.graph.input], inputs, strict=False))
    floats = [x for x in named if named[x].dtype == np.float32]
    if node.op_type not in EVERY_FLOAT_INPUT:
        floats = floats[:1]
    if not floats or outputs[0].dtype not in (np.float32, np.int64):
        return None
    if any(named[x].size == 0 or not np.isfinite(named[x]).all() for x in floats):
        return None
    names = _main_outputs(model)
    return Case(
        name,
        node.op_type,
        _with_initialisers(model, named, set(floats)),
        {x: named[x] for x in floats},
        dict(zip(names, outputs, strict=False)),
    )


def _main_outputs(model: ModelProto) -> list[str]:
    """Names of the outputs without the operator's optional ones (Mean, Mask, Indices, ...)."""
    node, version = model.graph.node[0], model.opset_import[0].version
    declared = defs.get_schema(node.op_type, version).outputs
    optional = defs.OpSchema.FormalParameterOption.Optional
    return [
        y.name
        for i, y in enumerate(model.graph.output)
        if i == 0 or i >= len(declared) or declared[i].option != optional
    ]


def _with_initialisers(model: ModelProto, named: dict[str, Array], kept: set[str]) -> ModelProto:
    fixed = ModelProto()
    fixed.CopyFrom(model)
    inputs = [i for i in fixed.graph.input if i.name in kept]
    del fixed.graph.input[:]
    fixed.graph.input.extend(inputs)
    for name, value in named.items():
        if name not in kept:
            fixed.graph.initializer.append(numpy_helper.from_array(value, name))
    _lower_opset(fixed)
    return fixed


def _fits(node: NodeProto) -> bool:
    """Whether the operator of the newest opset we read has all that the node uses."""
    try:
        schema = defs.get_schema(node.op_type, MAX_OPSET)
    except defs.SchemaError:
        return False
    return {a.name for a in node.attribute} <= set(schema.attributes) and len(
        node.input
    ) <= schema.max_input


def _lower_opset(model: ModelProto) -> None:
    """State the newest opset we read, when the operator of that version has all that is used."""
    node = model.graph.node[0]
    for entry in model.opset_import:
        if entry.domain not in ("", "ai.onnx"):
            continue
        if entry.version > MAX_OPSET and _fits(node):
            entry.version = MAX_OPSET
        entry.version = max(entry.version, MIN_OPSET)
