"""The float reference: the original model run by ONNX Runtime, every named tensor in view."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import numpy_helper

from toolchain.errors import InputRefused

Array = NDArray[np.generic]

_STAGE = "reference"
_EXPORT = "export the model again, and run it in ONNX Runtime"
# The IR version only says how a file may be laid out; operators follow the opset. The oldest
# supported ONNX Runtime reads version 9, so a newer number is lowered to it.
_MAX_IR_VERSION = 9
_NUMPY = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(bool)": "bool",
    **{
        f"tensor({kind}{bits})": f"{kind}{bits}"
        for kind in ("int", "uint")
        for bits in (8, 16, 32, 64)
    },
}


class FloatSession:
    """The ORIGINAL model, unoptimised, so that each tensor has the value the file describes.

    Args:
        model: Serialised or parsed model; a parsed one is not changed.
        tensors: Names of further tensors `run` returns: any node's output, an input or an
            initialiser. Their types need not be known.

    Raises:
        InputRefused: ONNX Runtime cannot load the model, or it has no tensor of that name.
    """

    def __init__(self, model: bytes | onnx.ModelProto, tensors: Sequence[str] = ()) -> None:
        proto = onnx.ModelProto()
        if isinstance(model, bytes):
            _parse(proto, model)
        else:
            proto.CopyFrom(model)
        proto.ir_version = min(proto.ir_version, _MAX_IR_VERSION)
        self.tensors = tuple(dict.fromkeys(tensors))
        outputs = [output.name for output in proto.graph.output]
        self._constants = {
            constant.name: numpy_helper.to_array(constant)
            for constant in proto.graph.initializer
            if constant.name in self.tensors and constant.name not in outputs
        }
        inputs = {value.name for value in proto.graph.input}
        computed = {name for node in proto.graph.node for name in node.output if name}
        for name in self.tensors:
            if name not in computed | inputs | set(outputs) | set(self._constants):
                reason = "the model has no tensor of this name"
                raise InputRefused(_STAGE, name, reason, "convert the model again")
            if name in computed and name not in outputs:
                proto.graph.output.add().name = name  # ONNX Runtime infers the type itself
        self._session = _load(proto.SerializeToString())
        self._types = {value.name: value.type for value in self._session.get_inputs()}
        results = [v.name for v in self._session.get_outputs() if v.type.startswith("tensor(")]
        self._results = results
        self.inputs: tuple[str, ...] = tuple(self._types)
        self.outputs: tuple[str, ...] = tuple(name for name in results if name in outputs)

    def run(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """Compute one sample.

        Args:
            sample: Value [1, ...] of each input by name, in the model's own layout; converted to
                the type the model takes where that loses nothing but float precision.

        Returns:
            The model's outputs and the tensors asked for, by name.

        Raises:
            InputRefused: An input is missing, or has a type or shape the model does not take.
        """
        feeds = {name: self._feed(name, sample) for name in self.inputs}
        try:
            values = self._session.run(self._results, feeds)
        except Exception as error:  # the exceptions of ONNX Runtime share no narrower base
            reason = f"ONNX Runtime cannot run it: {_line(error)}"
            raise InputRefused(_STAGE, "", reason, _EXPORT) from error
        found: dict[str, Array] = dict(zip(self._results, values, strict=True))
        known = {**self._constants, **feeds}
        return found | {name: known[name] for name in self.tensors if name not in found}

    def input_type(self, name: str) -> str:
        """numpy's name of the element type an input takes."""
        return _NUMPY.get(self._types[name], "float32")

    def _feed(self, name: str, sample: Mapping[str, Array]) -> Array:
        """The value of one input in the element type the model takes."""
        if name not in sample:
            given = ", ".join(sample) or "nothing"
            reason = f"the sample has no value for this input, only {given}"
            raise InputRefused(_STAGE, name, reason, "give every input a value")
        value = np.asarray(sample[name])
        target = np.dtype(self.input_type(name))
        if value.dtype == target:
            return value
        if value.dtype == np.int8 and target.kind == "f":
            reason = "the model takes floats here, the sample holds int8 codes"
            raise InputRefused(_STAGE, name, reason, "give the data as floats")
        converted = value.astype(target)
        if target.kind != "f" and not np.array_equal(converted, value):
            reason = f"the model takes {target} here, the sample holds other values"
            raise InputRefused(_STAGE, name, reason, f"give values that {target} can hold")
        return converted


def _parse(proto: onnx.ModelProto, data: bytes) -> None:
    """Fill `proto` from its serialised form."""
    try:
        proto.ParseFromString(data)
    except Exception as error:  # protobuf's DecodeError has moved between its versions
        raise InputRefused(_STAGE, "", "this is not an ONNX model", _EXPORT) from error


def _load(data: bytes) -> ort.InferenceSession:
    """An unoptimised, quiet session on one thread."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the exceptions of ONNX Runtime share no narrower base
        reason = f"ONNX Runtime refuses it: {_line(error)}"
        raise InputRefused(_STAGE, "", reason, _EXPORT) from error


def _line(error: Exception) -> str:
    """The first line of a message, without the addresses of source files before it."""
    text = str(error).strip().splitlines() or [type(error).__name__]
    return text[0].split(") ", 1)[-1] if ".cc:" in text[0] else text[0]
