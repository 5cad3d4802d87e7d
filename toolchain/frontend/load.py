"""ONNX file to ModelProto: the file is read, checked, and made self-contained."""

from collections.abc import Iterator
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import ModelProto, external_data_helper, helper, inliner

from toolchain.errors import InputRefused
from toolchain.frontend.codes import real_constants
from toolchain.frontend.qoperator import to_qdq

MIN_OPSET, MAX_OPSET = 7, 23


def load_model(path: Path) -> ModelProto:
    """Read an ONNX file with its external data, inline its functions, check its opset.

    QLinear operators are written out as DequantizeLinear, operator, QuantizeLinear. That is also
    the form the reference runs: ONNX Runtime's own QLinear kernels saturate 16-bit sums of uint8
    activations and int8 weights on processors without VNNI, and would be a wrong reference there.

    Raises:
        InputRefused: The file is missing, is not an ONNX model, or has an opset outside 7 to 23.
    """
    where = str(path)
    _require_file(path)
    model = _parsed(path)
    if not all(isinstance(name, str) for name in _names(model)):
        raise InputRefused("read", where, "it holds names that are not text", "export it again")
    if not model.graph.node or not model.graph.output:
        raise InputRefused("read", where, "the model holds no nodes", "export it again")
    _check_opset(model, where)
    _load_external_data(model, path)
    return real_constants(to_qdq(_inlined(model, where) if model.functions else model))


def _require_file(path: Path) -> None:
    """Refuse what cannot hold a model."""
    if path.is_dir():
        reason, hint = "this is a folder, not an ONNX file", "name the .onnx file"
    elif not path.exists():
        reason, hint = "there is no such file", "name the .onnx file that your framework exported"
    elif path.is_file() and not path.stat().st_size:
        reason, hint = "the file is empty", "export the model again"
    else:
        return
    raise InputRefused("read", str(path), reason, hint)


def opsets(model: ModelProto) -> dict[str, int]:
    """Version of every operator domain the model imports; ONNX's own is ""."""
    return {"" if o.domain == "ai.onnx" else o.domain: int(o.version) for o in model.opset_import}


def _names(model: ModelProto) -> Iterator[str]:
    """Everything that names something; protobuf gives bytes where it is not UTF-8."""
    for opset in model.opset_import:
        yield opset.domain
    graph = model.graph
    for item in (*graph.input, *graph.output, *graph.initializer):
        yield item.name
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)


def _parsed(path: Path) -> ModelProto:
    try:
        return onnx.load(path, format="protobuf", load_external_data=False)
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}"
        raise InputRefused("read", str(path), reason, "look at its permissions") from error
    except (DecodeError, ValueError) as error:
        raise InputRefused(
            "read",
            str(path),
            "this is not an ONNX model, or the file is damaged",
            "export it again",
        ) from error


def _load_external_data(model: ModelProto, path: Path) -> None:
    """Bring tensors kept in other files into the model; files outside its folder are refused."""
    try:
        external_data_helper.load_external_data_for_model(model, str(path.parent))
    except Exception as error:  # onnx raises what the file system, C++ or its own checks say
        raise InputRefused(
            "read",
            str(path),
            f"its external data cannot be read: {(str(error) or 'no data').splitlines()[0]}",
            "keep the data file beside the model",
        ) from error


def _inlined(model: ModelProto, where: str) -> ModelProto:
    try:
        inlined = inliner.inline_local_functions(model)
        if not inlined.functions:
            return inlined
        # those left were written for another opset; converting needs the types of all tensors
        known = {i.name for i in (*model.graph.input, *model.graph.value_info)}
        model.graph.value_info.extend(
            helper.make_tensor_value_info(t.name, t.data_type, t.dims)
            for t in model.graph.initializer
            if t.name not in known
        )
        return inliner.inline_local_functions(model, convert_version=True)
    except Exception as error:  # the exceptions of onnx's C++ part share no narrower base
        raise InputRefused(
            "read",
            where,
            "its local functions cannot be inlined: "
            + str(error).rsplit("failed: ", 1)[-1].strip(),
            "export the model without functions",
        ) from error


def _check_opset(model: ModelProto, where: str) -> None:
    version = opsets(model).get("", 0)
    if not MIN_OPSET <= version <= MAX_OPSET:
        raise InputRefused(
            "read",
            where,
            f"the model uses opset {version}; {MIN_OPSET} to {MAX_OPSET} are supported",
            "export it with another opset, for example 17",
        )
