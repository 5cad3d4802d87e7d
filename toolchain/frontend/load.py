"""ONNX file to ModelProto: the file is read, checked, and made self-contained."""

from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import ModelProto, checker, inliner

from toolchain.errors import InputRefused

MIN_OPSET, MAX_OPSET = 7, 23


def load_model(path: Path) -> ModelProto:
    """Read an ONNX file with its external data, inline its local functions, check its opset.

    Raises:
        InputRefused: The file is missing, is not an ONNX model, or has an opset outside 7 to 23.
    """
    where = str(path)
    if not path.is_file():
        raise InputRefused("read", where, "no such file")
    try:
        model = onnx.load(path)
    except (DecodeError, ValueError, UnicodeDecodeError) as error:
        raise InputRefused(
            "read", where, "this is not an ONNX model, or the file is damaged", "export it again"
        ) from error
    except (OSError, checker.ValidationError) as error:
        raise InputRefused(
            "read",
            where,
            f"its external data cannot be read: {str(error).splitlines()[0]}",
            "keep the data file beside the model",
        ) from error
    if not model.graph.node or not model.graph.output:
        raise InputRefused("read", where, "the model holds no nodes", "export it again")
    _check_opset(model, where)
    return inliner.inline_local_functions(model) if model.functions else model


def opsets(model: ModelProto) -> dict[str, int]:
    """Version of every operator domain the model imports; ONNX's own is ""."""
    return {"" if o.domain == "ai.onnx" else o.domain: int(o.version) for o in model.opset_import}


def _check_opset(model: ModelProto, where: str) -> None:
    version = opsets(model).get("", 0)
    if not MIN_OPSET <= version <= MAX_OPSET:
        raise InputRefused(
            "read",
            where,
            f"the model uses opset {version}; {MIN_OPSET} to {MAX_OPSET} are supported",
            "export it with another opset, for example 17",
        )
