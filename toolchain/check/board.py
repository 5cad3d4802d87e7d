"""What a real board computed, beside the integer model: the first layer that differs."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from toolchain.check.trace import Difference
from toolchain.emit import FirmwareModel
from toolchain.errors import InputRefused
from toolchain.ir import Array, Graph, Op
from toolchain.ir.batch import simulate_each
from toolchain.project import layer_names

ARENA = "arena"
"""Key of snapshots of the arena, [N, layers + 1, bytes]: one at every call of the layer hook."""
_STAGE = "diagnose"


@dataclass(frozen=True, slots=True)
class BoardLayer:
    """A layer or output of the board against the integer model.

    Args:
        name: Layer, or output.
        values: Codes compared, all samples together.
        differing: How many are not the integer model's.
    """

    name: str
    values: int
    differing: int


@dataclass(frozen=True, slots=True)
class BoardFindings:
    """What a board computed.

    Args:
        layers: What was dumped, in order of execution.
        first: The first value that differs, by layer, in the first sample that has one.
    """

    layers: tuple[BoardLayer, ...]
    first: Difference | None


class BoardOutputs:
    """Codes that a board computed.

    The file holds arrays of codes [N, ...] by name of an output, of a tensor, or of a layer with
    one output; or snapshots of the arena.

    Args:
        path: An .npz file.
        graph: The integer graph of the firmware.
        firmware: Where the firmware keeps its tensors.

    Raises:
        InputRefused: The file cannot be read, or an array in it is no such thing.
    """

    def __init__(self, path: Path, graph: Graph, firmware: FirmwareModel) -> None:
        self.path, self.graph = path, graph
        self.arrays = _read(path)
        self._snapshots: Array | None = None
        self._ops = [op for op in graph.ops if not op.is_view]
        self._places = {
            y: (index + 1, *place)
            for index, (op, layer) in enumerate(zip(self._ops, firmware.layers, strict=True))
            for y, place in zip(op.outputs, layer.outputs, strict=True)
        }
        self._keys = self._meanings()
        counts = {len(a) for a in self.arrays.values()}
        if len(counts) != 1:
            raise InputRefused(
                _STAGE, str(path), f"arrays of {sorted(counts)} samples", "give [N, ...] alike"
            )
        (self.samples,) = counts

    def _meanings(self) -> dict[str, str]:
        """The key that holds each tensor."""
        names = layer_names(self.graph.ops)
        single = {names[op.y]: op.y for op in self._ops if len(op.outputs) == 1}
        known = {**single, **{y: y for y in (*self._places, *self.graph.outputs)}}
        keys: dict[str, str] = {}
        for key, value in self.arrays.items():
            if key == ARENA and key not in known:
                self._check_snapshots(value)
                self._snapshots = value
                continue
            if key not in known:
                outputs, layers = ", ".join(self.graph.outputs), ", ".join(single)
                raise InputRefused(
                    _STAGE,
                    f"{self.path}: {key}",
                    "is neither a layer nor an output of the project",
                    f"its layers are {layers}; its outputs {outputs}",
                )
            self._check_codes(key, value, known[key])
            keys[known[key]] = key
        return keys

    def _check_codes(self, key: str, value: Array, tensor: str) -> None:
        kind = self.graph.types[tensor]
        if value.dtype != kind.dtype or value[0].size != kind.elements:
            wanted = f"{kind.dtype} codes [N, {kind.elements}]"
            raise InputRefused(
                _STAGE,
                f"{self.path}: {key}",
                f"is {value.dtype} {list(value.shape)}, not {wanted}",
                "store the bytes of the firmware as they are",
            )

    def _check_snapshots(self, value: Array) -> None:
        least = max(offset + size for _, offset, size in self._places.values())
        wanted = len(self._ops) + 1
        if value.dtype not in (np.int8, np.uint8) or value.ndim != 3 or value.shape[1] != wanted:
            raise InputRefused(
                _STAGE,
                f"{self.path}: {ARENA}",
                f"is {value.dtype} {list(value.shape)}, not uint8 [N, {wanted}, bytes]",
                "store the arena at every call of the layer hook, the one after the last included",
            )
        if value.shape[2] < least:
            raise InputRefused(
                _STAGE,
                f"{self.path}: {ARENA}",
                f"holds {value.shape[2]} bytes of the arena, whose tensors need {least}",
                "store all of it",
            )

    def of(self, sample: int) -> Iterator[tuple[Op | None, str, Array]]:
        """(operator, tensor, codes) of what the file holds of a sample, in order of execution."""
        for op in self._ops:
            for y in op.outputs:
                if self._snapshots is not None:
                    call, offset, size = self._places[y]
                    place = self._snapshots[sample, call, offset : offset + size]
                    kind = self.graph.types[y]
                    yield op, y, place.view(kind.dtype.value).reshape(kind.shape)
                elif y in self._keys:
                    yield op, y, self._stored(y, sample)
        for y in self.graph.outputs:
            if y in self._keys and y not in self._places:
                yield None, y, self._stored(y, sample)

    def _stored(self, y: str, sample: int) -> Array:
        value: Array = self.arrays[self._keys[y]][sample]
        return value.reshape(self.graph.types[y].shape)


def compare_board(board: BoardOutputs, samples: Sequence[Mapping[str, Array]]) -> BoardFindings:
    """Compare the board's codes with the integer model's.

    Args:
        board: What the board computed.
        samples: Input codes of the samples it was given.

    Raises:
        InputRefused: There are fewer samples than the board computed.
    """
    if len(samples) < board.samples:
        raise InputRefused(
            _STAGE,
            str(board.path),
            f"holds {board.samples} samples, the data {len(samples)}",
            "give the data the board was given, in the same order",
        )
    names = layer_names(board.graph.ops)
    counts: dict[str, list[int]] = {}
    first = None
    given = samples[: board.samples]
    for index, (_, expected) in enumerate(simulate_each(board.graph, given, dict)):
        for op, y, codes in board.of(index):
            where = np.argwhere(codes != expected[y])
            name = y if op is None else names[y]
            count = counts.setdefault(name, [0, 0])
            count[0] += codes.size
            count[1] += len(where)
            if len(where) and first is None:
                at = tuple(int(i) for i in where[0])
                found = int(codes[at]), int(expected[y][at])
                first = Difference(index, name, y, at, *found, len(where))
    layers = tuple(BoardLayer(name, *count) for name, count in counts.items())
    return BoardFindings(layers, first)


def _read(path: Path) -> dict[str, Array]:
    try:
        with np.load(path) as stored:
            arrays = {key: stored[key] for key in stored.files}
    except (OSError, ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise InputRefused(
            _STAGE, str(path), f"cannot be read: {error}", "give an .npz file"
        ) from error
    if not arrays or any(not a.ndim or not a.size for a in arrays.values()):
        raise InputRefused(_STAGE, str(path), "holds no arrays [N, ...]", "see the README")
    return arrays
