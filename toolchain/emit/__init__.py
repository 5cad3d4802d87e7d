"""Generated text: the model as C, and the project around it."""

from toolchain.emit.literals import identifier
from toolchain.emit.model import ModelCode, write_code, write_model
from toolchain.emit.project import FirmwareModel, LayerInfo, Port, write_firmware
from toolchain.emit.qdq import Exported, qdq_model
from toolchain.emit.renode import write_renode

__all__ = [
    "Exported",
    "FirmwareModel",
    "LayerInfo",
    "ModelCode",
    "Port",
    "identifier",
    "qdq_model",
    "write_code",
    "write_firmware",
    "write_model",
    "write_renode",
]
