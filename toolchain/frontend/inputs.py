"""Shapes and types of a model's inputs, made static (R15)."""

from collections.abc import Mapping
from dataclasses import dataclass

from onnx import ModelProto, TensorProto, ValueInfoProto

from toolchain.errors import InputRefused

_TYPES: dict[int, str] = {
    TensorProto.FLOAT: "float32",
    TensorProto.INT8: "int8",
    TensorProto.UINT8: "uint8",
}
"""Element types of inputs: real values, or the codes of a quantised model."""


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One input of the model.

    Args:
        name: ONNX name.
        shape: Static shape, batch 1 included.
        dtype: numpy name of the element type.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"


def model_inputs(
    model: ModelProto, overrides: Mapping[str, tuple[int, ...]] | None = None
) -> tuple[list[InputSpec], list[str]]:
    """The model's inputs with static shapes, and notes on what was assumed.

    Args:
        model: The model.
        overrides: Shapes given by the user, by input name.

    Raises:
        InputRefused: A dimension other than the batch is symbolic and not given; an input is not
            float32; an override names no input or contradicts the model.
    """
    overrides = overrides or {}
    stored = {t.name for t in model.graph.initializer}
    infos = [i for i in model.graph.input if i.name not in stored]
    if unknown := set(overrides) - {i.name for i in infos}:
        raise InputRefused(
            "read",
            ", ".join(sorted(unknown)),
            "a shape is given for something that is not an input",
            f"the inputs are {', '.join(i.name for i in infos)}",
        )
    specs, notes = [], []
    for info in infos:
        spec, note = _spec(info, overrides.get(info.name))
        specs.append(spec)
        notes += note
    return specs, notes


def _check_type(info: ValueInfoProto) -> None:
    if info.type.WhichOneof("value") not in ("tensor_type", None):
        raise InputRefused("read", info.name, "this input is not a tensor", "tensors are supported")
    number = info.type.tensor_type.elem_type
    if number not in _TYPES:
        names = {int(number): name.lower() for name, number in TensorProto.DataType.items()}
        raise InputRefused(
            "read",
            info.name,
            f"input of type {names.get(number, 'unknown')}; float32, int8 and uint8 are supported",
            "export the model with float32 inputs",
        )


def _spec(info: ValueInfoProto, given: tuple[int, ...] | None) -> tuple[InputSpec, list[str]]:
    _check_type(info)
    kind = info.type.tensor_type
    dims = [(d.dim_value, d.dim_param) for d in kind.shape.dim]
    if given is not None:
        declared = dims if kind.HasField("shape") else [(0, "")] * len(given)
        if len(given) != len(declared) or any(
            g < 1 or (n > 0 and n != g) for (n, _), g in zip(declared, given, strict=True)
        ):
            raise InputRefused(
                "read",
                info.name,
                f"shape {given} contradicts the model's {_text(dims)}",
                "give as many dimensions, and the model's own numbers where it states them",
            )
        return InputSpec(info.name, given, _TYPES[kind.elem_type]), []
    if not kind.HasField("shape"):
        raise InputRefused(
            "read", info.name, "its shape is not declared", f"give it: --shape {info.name}=1,..."
        )
    shape = [n if n > 0 else None for n, _ in dims]
    notes = []
    if shape and shape[0] is None:
        shape[0] = 1
        notes.append(f"{info.name}: the symbolic batch {_text(dims[:1])} is taken as 1")
    static = [n for n in shape if n is not None]
    if len(static) < len(shape):
        example = ",".join(str(n or "N") for n in shape)
        raise InputRefused(
            "read",
            info.name,
            f"its shape {_text(dims)} has dimensions that are not numbers",
            f"give the shape: --shape {info.name}={example}",
        )
    return InputSpec(info.name, tuple(static), _TYPES[kind.elem_type]), notes


def _text(dims: list[tuple[int, str]]) -> str:
    return "[" + ", ".join(str(n) if n > 0 else (p or "?") for n, p in dims) + "]"
