"""The float model from one tensor on: what its outputs become when that tensor is another."""

from collections.abc import Mapping, Sequence

from onnx import ModelProto, NodeProto, helper

from toolchain.frontend.session import FloatSession
from toolchain.ir import Array


class Tail:
    """The nodes of a model that lie between a tensor and the outputs.

    Args:
        model: The model.
        tensor: Where it is cut open.
        outputs: Tensors to compute.
    """

    def __init__(self, model: ModelProto, tensor: str, outputs: Sequence[str]) -> None:
        self._model, self.tensor, self.outputs = model, tensor, tuple(outputs)
        self._nodes = _between(model, tensor, outputs)
        made = {y for node in self._nodes for y in node.output}
        self.reached = tuple(y for y in outputs if y in made)
        read = dict.fromkeys(x for node in self._nodes for x in node.input if x)
        stored = {constant.name for constant in model.graph.initializer}
        self._constants = [c for c in model.graph.initializer if c.name in read]
        self.needs = tuple(x for x in read if x not in made | stored and x != tensor)
        """Tensors of the whole model that it reads beside its own."""
        self._session: FloatSession | None = None

    def run(self, value: Array, reference: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs when the tensor has this value.

        Args:
            value: Value of the tensor, in the model's layout and type.
            reference: Values of the whole model: its outputs, and what this tail `needs`.
        """
        found = {y: value if y == self.tensor else reference[y] for y in self.outputs}
        if not self._nodes:
            return found
        given = {self.tensor: value, **{x: reference[x] for x in self.needs}}
        if self._session is None:
            self._session = FloatSession(self._cut(given), self.reached)
        return found | {y: v for y, v in self._session.run(given).items() if y in self.reached}

    def _cut(self, given: Mapping[str, Array]) -> ModelProto:
        inputs = [
            helper.make_tensor_value_info(
                x, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
            )
            for x, value in given.items()
        ]
        outputs = [helper.make_empty_tensor_value_info(y) for y in self.reached]
        graph = helper.make_graph(self._nodes, "tail", inputs, outputs, self._constants)
        return helper.make_model(
            graph,
            opset_imports=list(self._model.opset_import),
            ir_version=self._model.ir_version,
        )


def _between(model: ModelProto, tensor: str, outputs: Sequence[str]) -> list[NodeProto]:
    """Nodes that depend on the tensor and that an output depends on, in the model's order."""
    reached, after = {tensor}, []
    for node in model.graph.node:
        if reached & set(node.input):
            after.append(node)
            reached.update(y for y in node.output if y)
    wanted, nodes = set(outputs) - {tensor}, []
    for node in reversed(after):
        if wanted & set(node.output):
            nodes.append(node)
            wanted.update(node.input)
    return nodes[::-1]
