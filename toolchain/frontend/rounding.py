"""Which rounding the scales of a model were made for."""

from dataclasses import dataclass

from onnx import ModelProto

from toolchain.ir import ROUNDING_KEY, Rounding

_QUANTISERS = {"onnx.quantize": "ONNX Runtime's quantiser", "pytorch": "PyTorch's quantiser"}
"""Producers of models with QuantizeLinear nodes that follow ONNX, by name."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A rounding, and sentences on why it was chosen."""

    rounding: Rounding
    notes: tuple[str, ...] = ()


def rounding_for(model: ModelProto, wanted: Rounding | None = None) -> Chosen:
    """The rounding the user wants, else that of the kernels a model was quantised for.

    1. A model that export-qdq wrote says how its products are rounded.
    2. A quantised model from a tool that follows ONNX, whose QuantizeLinear rounds the exact value
       once, is rounded once. Those tools are known by the producer's name in the file.
    3. Every other quantised model is rounded twice: converted TensorFlow Lite models (tf2onnx),
       whose reference kernels do that, and those of unknown producers.
    4. A float model is rounded twice, as CMSIS-NN does by default: its scales follow from
       calibration and suit either way.

    Args:
        model: The model as load_model gives it: QDQ form.
        wanted: What the user asked for; None for the rule.
    """
    if wanted is not None:
        return Chosen(wanted)
    stated = {p.key: p.value for p in model.metadata_props}.get(ROUNDING_KEY)
    if stated in set(Rounding):
        return Chosen(Rounding(stated))
    if not any(node.op_type == "QuantizeLinear" for node in model.graph.node):
        return Chosen(Rounding.DOUBLE)
    maker = _QUANTISERS.get(model.producer_name)
    if maker is not None:
        return Chosen(
            Rounding.SINGLE,
            (f"products are rounded once, as for ONNX Runtime: {maker} made the scales",),
        )
    return Chosen(
        Rounding.DOUBLE,
        (
            "products are rounded twice, as by TensorFlow Lite and CMSIS-NN "
            f"(producer: {model.producer_name or 'unknown'}); "
            "--rounding single follows ONNX Runtime",
        ),
    )
