"""Which outputs of a model are kept: those that hold real values, or those the user names."""

from collections.abc import Mapping, Sequence

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto

from toolchain.errors import InputRefused

_REALS = (
    TensorProto.FLOAT,
    TensorProto.UNDEFINED,
    TensorProto.INT8,
    TensorProto.UINT8,
)
_SHAPING = ("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


def choose_outputs(model: ModelProto, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of the tensors to keep, and notes on outputs left out or replaced.

    Labels computed by ArgMax, ArgMin or TopK are kept where there are no scores beside them; the
    best value that TopK gives with its index is no vector of scores. The dictionary that ZipMap
    makes of class scores (scikit-learn's exports) is replaced by the scores.

    Args:
        model: The model.
        wanted: Outputs the user names; empty keeps all that hold real values.

    Raises:
        InputRefused: There is no output of a wanted name, or none holds real values.
    """
    infos = {o.name: o for o in model.graph.output}
    if unknown := [y for y in wanted if y not in infos]:
        raise InputRefused(
            "read",
            ", ".join(unknown),
            "the model has no output of this name",
            f"its outputs are {', '.join(infos)}",
        )
    makers = {y: node for node in model.graph.node for y in node.output}
    extremes = [y for y in infos if _is_extreme(y, makers)]
    alone = not any(_holds_reals(info) and y not in extremes for y, info in infos.items())
    scores = {
        y: makers[y].input[0]
        for y in infos
        if y in makers and makers[y].op_type == "ZipMap" and makers[y].input
    }
    kept, notes = [], []
    for name in wanted or infos:
        if name in scores:
            kept.append(scores[name])
            notes.append(f"output {name} is a dictionary; its scores are kept: {scores[name]}")
        elif wanted or _holds_reals(infos[name]) or (alone and name in extremes):
            kept.append(name)
        else:
            notes.append(
                f"output {name} holds no real values and is left out; "
                "compute labels from the scores"
            )
    if not kept:
        made = ", ".join(f"{y} by {makers[y].op_type if y in makers else 'no node'}" for y in infos)
        raise InputRefused(
            "read",
            "",
            f"no output holds real values ({made})",
            "export the scores; the firmware's user takes the largest",
        )
    return list(dict.fromkeys(kept)), notes


def _is_extreme(name: str, makers: Mapping[str, NodeProto]) -> bool:
    """Made by ArgMax, ArgMin or TopK, and perhaps brought into another shape or type."""
    seen: set[str] = set()  # a broken file may hold a circle
    while name in makers and name not in seen and makers[name].op_type in _SHAPING:
        seen.add(name)
        name = next(iter(makers[name].input), "")
    return name in makers and makers[name].op_type in ("ArgMax", "ArgMin", "TopK")


def _holds_reals(info: ValueInfoProto) -> bool:
    return info.type.tensor_type.elem_type in _REALS and info.type.WhichOneof("value") in (
        "tensor_type",
        None,
    )
