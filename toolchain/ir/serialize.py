"""A graph on disk: graph.json (operators and types) and constants.npz, byte-for-byte repeatable."""

import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import msgspec
import numpy as np

from toolchain.errors import InputRefused
from toolchain.ir.graph import Graph
from toolchain.ir.op import Op
from toolchain.ir.tensor import Origin, TensorType

_GRAPH, _CONSTANTS = "graph.json", "constants.npz"
DAMAGED = (
    OSError, EOFError, LookupError, TypeError, ValueError, AttributeError, BadZipFile, zlib.error,
    msgspec.MsgspecError,
)  # fmt: skip
"""What reading files that were cut, edited or written by another version ends in."""


def save_graph(graph: Graph, directory: Path) -> None:
    """Write the graph into an existing folder."""
    record = {
        "name": graph.name,
        "ops": [{"type": type(op).__name__, **_fields(op)} for op in graph.ops],
        "types": graph.types,
        "inputs": graph.inputs,
        "outputs": graph.outputs,
        "origins": graph.origins,
        "constants": sorted(graph.constants),
    }
    text = msgspec.json.format(msgspec.json.encode(record, order="deterministic"), indent=1)
    (directory / _GRAPH).write_bytes(text)
    arrays = {f"c{i}": graph.constants[n] for i, n in enumerate(sorted(graph.constants))}
    np.savez_compressed(directory / _CONSTANTS, **arrays)  # type: ignore[arg-type]


def load_graph(directory: Path) -> Graph:
    """Read a graph that save_graph wrote.

    Raises:
        InputRefused: The files are missing or were not written by this version.
    """
    try:
        record = msgspec.json.decode((directory / _GRAPH).read_bytes())
        with np.load(directory / _CONSTANTS) as stored:
            constants = {n: stored[f"c{i}"] for i, n in enumerate(record["constants"])}
        return Graph(
            record["name"],
            tuple(_op(o) for o in record["ops"]),
            msgspec.convert(record["types"], dict[str, TensorType]),
            constants,
            tuple(record["inputs"]),
            tuple(record["outputs"]),
            msgspec.convert(record["origins"], dict[str, Origin]),
        )
    except DAMAGED as error:
        raise InputRefused(
            "read",
            str(directory),
            f"this is not a project of this version of onnx2mcu ({error})",
            "convert the model again",
        ) from error


def _fields(op: Op) -> dict[str, Any]:
    return {f.name: getattr(op, f.name) for f in fields(op)}


def _op(record: dict[str, Any]) -> Op:
    kind = Op.registry[record.pop("type")]
    return msgspec.convert(_frozen(record), kind)


def _frozen(value: Any) -> Any:
    """JSON arrays as tuples, at any depth."""
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, dict):
        return {k: _frozen(v) for k, v in value.items()}
    return value
