"""ModelProto to Graph: nodes in order, each handed to the importer of its operator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, defs, helper, numpy_helper

import toolchain.ops  # noqa: F401 - registers the operators
from toolchain.errors import InputRefused
from toolchain.frontend.constants import fold, initializers
from toolchain.frontend.inputs import InputSpec, model_inputs
from toolchain.frontend.load import opsets
from toolchain.frontend.norms import recognise_norms
from toolchain.frontend.notes import notes_on
from toolchain.frontend.outputs import choose_outputs
from toolchain.frontend.refusal import refusal
from toolchain.ir import IMPORTERS, Builder, Graph, Node, TensorType, Unsupported, verify
from toolchain.ops.refused import REFUSED
from toolchain.ops.reshape import Reshape

_MALFORMED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError)
"""What an importer runs into when a node's attributes or constants make no sense."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What reading a model gives.

    Args:
        graph: The float graph, still with the model's transposes and batch normalisations.
        inputs: Name and static shape of every input.
        notes: What was assumed or left out, one sentence each.
    """

    graph: Graph
    inputs: tuple[InputSpec, ...]
    notes: tuple[str, ...]


def read(
    model: ModelProto,
    name: str,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    outputs: Sequence[str] = (),
) -> Imported:
    """Convert a model to a float graph.

    Args:
        model: The model, functions inlined.
        name: Name of the graph.
        shapes: Input shapes given by the user.
        outputs: Outputs to keep; empty keeps all that are float tensors.

    Raises:
        InputRefused: Some nodes cannot be converted; all of them are listed (R21).
    """
    specs, notes = model_inputs(model, shapes)
    kept, left_out = choose_outputs(model, outputs)
    nodes = _needed(recognise_norms(model), kept)
    read_names = {x for node in nodes for x in node.input} | set(kept)
    reader = _Reader(model, specs, read_names)
    reader.read(nodes)
    if reader.problems:
        raise refusal(reader.problems)
    reader.name_outputs(kept)
    if constant := [y for y in kept if y not in reader.builder.types]:
        raise InputRefused(
            "read",
            ", ".join(constant),
            "this output does not depend on the input",
            "name the outputs to keep with --outputs",
        )
    graph = reader.builder.graph(name, [s.name for s in specs], kept)
    live = graph.with_ops(graph.ops)
    found = (*notes, *left_out, *notes_on(model, live))
    return Imported(verify(live), tuple(specs), found)


class _Reader:
    def __init__(self, model: ModelProto, specs: list[InputSpec], read_names: set[str]) -> None:
        self.builder = Builder(initializers(model.graph))
        for spec in specs:
            self.builder.input(spec.name, spec.shape)
        self.opsets = opsets(model)
        self.read_names = read_names
        self.inferred = _inferred_shapes(model, specs)
        self.guessed: set[str] = set()
        self.problems: list[tuple[Node, Unsupported]] = []

    def read(self, nodes: Sequence[NodeProto]) -> None:
        for proto in nodes:
            node = self._node(proto, {})
            try:
                node = self._node(proto, {a.name: _attribute(a) for a in proto.attribute})
                if not self._fold(proto):
                    _importer(node)(node, self.builder)
            except Unsupported as problem:
                self._refuse(node, problem)
            except _MALFORMED as error:
                self._refuse(node, Unsupported(f"it is malformed: {error}"))
            if self.guessed & set(node.inputs):
                self.guessed.update(y for y in node.outputs if y not in self.inferred)

    def name_outputs(self, outputs: Sequence[str]) -> None:
        """An output that is another name of a tensor becomes a view of it."""
        for y in outputs:
            x = self.builder.aliases.pop(y, None)
            if x is not None:
                quant = self.builder.types[x].quant
                self.builder.emit(Reshape(f"output {y}", (x,), (y,), self.builder.shape(x)))
                if quant is not None:
                    self.builder.pin_activation(y, quant)

    def _fold(self, proto: NodeProto) -> bool:
        shapes = {n: t.shape for n, t in self.builder.types.items()}
        values = fold(proto, self.builder.known, shapes, self.opsets.get("", 1))
        if values is None:
            return False
        self.builder.known.update(zip([y for y in proto.output if y], values, strict=True))
        return True

    def _refuse(self, node: Node, problem: Unsupported) -> None:
        """Note a problem, and declare the outputs so that later nodes are judged on their own.

        Where a shape could only be guessed, nothing but operators that are never supported is
        noted downstream.
        """
        never = node.op_type not in IMPORTERS or node.op_type in REFUSED
        if never or not self.guessed & set(node.inputs):
            self.problems.append((node, problem))
        for y in node.outputs:
            if y and y not in self.builder.types:
                self.builder.types[y] = TensorType(self.inferred.get(y, (1,)))
                if y not in self.inferred:
                    self.guessed.add(y)

    def _outputs(self, proto: NodeProto) -> tuple[str, ...]:
        """The outputs, "" for optional ones that nobody reads."""
        try:
            version = self.opsets.get("" if proto.domain == "ai.onnx" else proto.domain, 1)
            declared = defs.get_schema(proto.op_type, version, proto.domain).outputs
        except defs.SchemaError:
            return tuple(proto.output)
        optional = defs.OpSchema.FormalParameterOption.Optional
        return tuple(
            ""
            if i < len(declared) and declared[i].option == optional and y not in self.read_names
            else y
            for i, y in enumerate(proto.output)
        )

    def _node(self, proto: NodeProto, attributes: Mapping[str, Any]) -> Node:
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        return Node(
            f"{domain}.{proto.op_type}" if domain else proto.op_type,
            proto.name or f"{proto.op_type}:{proto.output[0]}",
            tuple(self.builder.aliases.get(x, x) for x in proto.input),
            self._outputs(proto),
            attributes,
            self.opsets.get(domain, 1),
        )


def _importer(node: Node) -> Any:
    if node.op_type not in IMPORTERS:
        raise Unsupported("this operator is not supported")
    return IMPORTERS[node.op_type]


def _attribute(attribute: AttributeProto) -> Any:
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    return tuple(value) if isinstance(value, list) else value


def _needed(given: Sequence[NodeProto], outputs: Sequence[str]) -> list[NodeProto]:
    """The nodes the outputs depend on, in the model's order."""
    wanted, nodes = set(outputs), []
    for node in reversed(given):
        if wanted & set(node.output):
            nodes.append(node)
            wanted.update(x for x in node.input if x)
    return nodes[::-1]


def _inferred_shapes(model: ModelProto, specs: list[InputSpec]) -> dict[str, tuple[int, ...]]:
    """Static shapes by ONNX's own inference; only used to go on after a refused node."""
    fixed = ModelProto()
    fixed.CopyFrom(model)
    for info in fixed.graph.input:
        for spec in specs:
            if spec.name == info.name:
                info.type.tensor_type.shape.CopyFrom(
                    helper.make_tensor_type_proto(TensorProto.FLOAT, spec.shape).tensor_type.shape
                )
    try:
        inferred = onnx.shape_inference.infer_shapes(fixed)
    except Exception:  # inference is a convenience here; every refusal stays reported
        return {}
    shapes = {}
    for info in (*inferred.graph.value_info, *inferred.graph.output):
        dims = [d.dim_value for d in info.type.tensor_type.shape.dim]
        if all(dims):
            shapes[info.name] = tuple(int(d) for d in dims)
    return shapes
