"""An exported QDQ model in ONNX Runtime against the integer model, layer by layer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, TensorProto, helper

from toolchain.emit import Exported
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, DType, Graph
from toolchain.ir.batch import simulate_each
from toolchain.ir.fixedpoint import dequantize
from toolchain.project import layer_names

_FED = ".fed"
_ELEMENT = {DType.INT8: TensorProto.INT8, DType.INT16: TensorProto.INT16}


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the codes of a layer, or of an output, are from the integer model's.

    Args:
        name: Layer or output.
        values: Codes compared.
        differing: How many of them differ.
        largest: Largest difference, in steps of the tensor's scale (LSB).
    """

    name: str
    values: int
    differing: int
    largest: int


@dataclass(frozen=True, slots=True)
class ExportCheck:
    """An exported model against the integer model.

    Args:
        layers: Every layer fed the integer model's own codes, so that errors do not add up.
        outputs: The outputs of the model as it is.
    """

    layers: tuple[Agreement, ...]
    outputs: tuple[Agreement, ...]


def check_export(
    exported: Exported, graph: Graph, samples: Iterable[Mapping[str, Array]]
) -> ExportCheck:
    """Run an exported model in ONNX Runtime, without optimisation, beside the integer model.

    Args:
        exported: The model.
        graph: The graph it was made from.
        samples: Input codes, at least one sample.
    """
    names = layer_names(graph.ops)
    computed = [y for op in graph.ops if not op.is_view for y in op.outputs]
    layers = {y: exported.written[y] for y in computed if y in exported.written}
    cut = FloatSession(_cut(exported, graph), [w.name for w in layers.values()])
    whole = FloatSession(exported.model)
    by_layer = {names[y]: _Counter() for y in layers}
    by_output = {y: _Counter() for y in graph.outputs}
    for codes, values in simulate_each(graph, samples, dict):
        reals = {x: dequantize(codes[x], graph.types[x].q) for x in graph.inputs}
        fed = {f"{w.name}{_FED}": values[y].transpose(w.perm) for y, w in layers.items()}
        found = cut.run({**reals, **{n: np.ascontiguousarray(v) for n, v in fed.items()}})
        for y, written in layers.items():
            by_layer[names[y]].add(found[written.name], values[y].transpose(written.perm))
        for y, real in whole.run(reals).items():
            quant = graph.types[y].q
            given = np.rint(real.astype(np.float64) / quant.scale) + quant.zero_point
            by_output[y].add(given, values[y])
    return ExportCheck(
        tuple(counter.agreement(name) for name, counter in by_layer.items()),
        tuple(counter.agreement(name) for name, counter in by_output.items()),
    )


class _Counter:
    def __init__(self) -> None:
        self.values = self.differing = self.largest = 0

    def add(self, found: Array, expected: Array) -> None:
        distance = np.abs(found.astype(np.int64) - expected.astype(np.int64).reshape(found.shape))
        self.values += distance.size
        self.differing += int(np.count_nonzero(distance))
        self.largest = max(self.largest, int(distance.max(initial=0)))

    def agreement(self, name: str) -> Agreement:
        return Agreement(name, self.values, self.differing, self.largest)


def _cut(exported: Exported, graph: Graph) -> ModelProto:
    """The model with the codes of every layer read from inputs of their own."""
    model = ModelProto()
    model.CopyFrom(exported.model)
    given = {w.name: y for y, w in exported.written.items() if y not in graph.inputs}
    for node in model.graph.node:
        for index, x in enumerate(node.input):
            if x in given:
                node.input[index] = f"{x}{_FED}"
    for name, y in given.items():
        shape = [graph.types[y].shape[p] for p in exported.written[y].perm]
        model.graph.input.append(
            helper.make_tensor_value_info(f"{name}{_FED}", _ELEMENT[graph.types[y].dtype], shape)
        )
    return model
