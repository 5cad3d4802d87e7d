"""Sample data from files: what calibration, emulation and comparison feed the model with."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
from numpy.typing import NDArray

from toolchain.errors import InputRefused
from toolchain.frontend.inputs import InputSpec

Array = NDArray[np.generic]

_LABELS = ("y", "y_test", "labels", "label")
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp")
_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError)
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


@dataclass(frozen=True, slots=True)
class _Source:
    """An array that is read row by row; once matched to an input, its rows are the samples.

    Args:
        where: File, and key within it, for messages.
        shape: Shape of the whole array.
        dtype: Type of its elements.
        rows: Starts over and yields array[i] for each i of the first axis.
    """

    where: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    rows: Callable[[], Iterator[Array]]


class Samples:
    """Samples, read again from the file at each iteration, one at a time.

    Iteration yields a dict from input name to array [1, ...]: float32 values in the model's own
    layout, or the integer codes as stored when `codes` is true.

    Attributes:
        labels: Class of each sample [N], or None.
        codes: The data are quantised codes: int8, or whatever integer the input itself takes.
        warnings: What looks doubtful about the data, one line each.
    """

    def __init__(
        self,
        inputs: Sequence[InputSpec],
        sources: Sequence[_Source],
        labels: NDArray[np.int64] | None,
        limit: int | None,
        stage: str,
        pixel_scale: float,
    ) -> None:
        self._columns = tuple(zip(inputs, sources, strict=True))
        self._stage, self._pixel_scale = stage, pixel_scale
        counts = [source.shape[0] for source in sources]
        if len(set(counts)) > 1:
            reason = f"the inputs have different numbers of samples: {counts}"
            _refuse(stage, ", ".join(spec.name for spec in inputs), reason)
        self._count = counts[0] if limit is None else min(counts[0], limit)
        if self._count < 1:
            _refuse(stage, sources[0].where, "there are no samples in it")
        kinds = {_is_codes(source, spec) for spec, source in self._columns}
        if len(kinds) > 1:
            _refuse(stage, "", "some inputs are given as integer codes and some as floats")
        self.codes = kinds == {True}
        self.labels = None if labels is None else labels[: self._count]
        self.warnings: list[str] = []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Array]]:
        streams = [(spec, source, source.rows()) for spec, source in self._columns]
        for index in range(self._count):
            yield {
                spec.name: self._convert(spec, source, next(rows), index)
                for spec, source, rows in streams
            }

    def _convert(self, spec: InputSpec, source: _Source, row: Array, index: int) -> Array:
        """One sample [1, ...] of one input."""
        value = row.reshape(spec.shape)
        if self.codes:
            return value
        with np.errstate(over="ignore"):
            real = value.astype(np.float32)
        if source.dtype == np.uint8 and self._pixel_scale != 1.0:
            real *= np.float32(self._pixel_scale)
        if not np.isfinite(real).all():
            what = "NaN" if np.isnan(real).any() else "an infinite value"
            _refuse(self._stage, source.where, f"sample {index} holds {what}")
        return real


def load_samples(
    path: Path,
    inputs: Sequence[InputSpec],
    limit: int | None = None,
    stage: str = "calibrate",
    *,
    pixel_scale: float = 1.0,
) -> Samples:
    """Open sample data, read it through once and check it.

    - .npz: arrays by input name, the first axis counting samples. For a model of one input also
      x, input or data; x_calib or x_train when calibrating, else x_test; or the only array that
      fits. Labels from y, y_test, labels or label, or y_SUFFIX beside x_SUFFIX.
    - .npy: one input.
    - A folder of .npy files, one sample or several in each, or of images as large as the input
      (NCHW or NHWC), in the order of their names. One image file is a folder of one.

    Samples may have the batch axis of 1 or not. int8 arrays are codes and stay int8; all else
    becomes float32, uint8 arrays and images being multiplied by `pixel_scale`.

    Args:
        path: File or folder.
        inputs: What the model takes.
        limit: Use at most so many samples, from the first.
        stage: Who asks, for messages and for the choice between train and test arrays.
        pixel_scale: Real value of one step of an 8-bit pixel, e.g. 1 / 255.

    Raises:
        InputRefused: The data cannot be used; the message says why in one line.
    """
    notes: list[str] = []
    labels = None
    if not path.exists():
        _refuse(stage, str(path), "there is no such file or folder")
    magic = b"" if path.is_dir() else _magic(path)
    if path.is_dir() or path.suffix.lower() in _IMAGES:
        sources = [_from_files(path, _only(inputs, path, stage), stage)]
    elif magic == b"PK":
        arrays = _members(path, stage)
        keys = _choose_keys(path, arrays, inputs, stage, notes)
        sources = [_fit(arrays[k], spec, stage) for k, spec in zip(keys, inputs, strict=True)]
        labels = _find_labels(arrays, keys, sources[0].shape[0], stage, notes)
    elif magic == b"\x93N":
        stored = _stored(partial(_open, path), str(path), stage)
        sources = [_fit(stored, _only(inputs, path, stage), stage)]
    else:
        _refuse(stage, str(path), "this is neither .npz nor .npy data", "save it with numpy.savez")
    samples = Samples(inputs, sources, labels, limit, stage, pixel_scale)
    if samples.codes and all(spec.dtype == "float32" for spec in inputs):
        notes.append("the data are int8: taken as codes of the inputs, not as values")
    samples.warnings = notes + _doubts(samples)
    return samples


def _refuse(stage: str, where: str, reason: str, hint: str = "") -> NoReturn:
    raise InputRefused(stage, where, reason, hint)


def _is_codes(source: _Source, spec: InputSpec) -> bool:
    """Whether values are passed on as they are: int8, or 8-bit codes of an 8-bit input."""
    same = source.dtype == np.uint8 and np.dtype(spec.dtype) == np.uint8
    return source.dtype == np.int8 or same


def _doubts(samples: Samples) -> list[str]:
    """Read all samples once; what to warn about. Refuses those that are not finite."""
    first: dict[str, Array] | None = None
    same = True
    for sample in samples:
        first = first or sample
        same = same and all(np.array_equal(first[name], value) for name, value in sample.items())
    assert first is not None
    flat = all(np.all(value == value.flat[0]) for value in first.values())
    if same and flat and sum(value.size for value in first.values()) > 1:
        return [f"every value of every sample is {next(iter(first.values())).flat[0]:g}"]
    if len(samples) == 1:
        return ["there is only 1 sample"]
    return [f"all {len(samples)} samples are equal"] if same else []


def _only(inputs: Sequence[InputSpec], path: Path, stage: str) -> InputSpec:
    """The model's single input."""
    if len(inputs) != 1:
        names = ", ".join(spec.name for spec in inputs)
        reason = f"the model has {len(inputs)} inputs ({names}), which need an .npz"
        _refuse(stage, str(path), reason, "save the arrays by input name with numpy.savez")
    return inputs[0]


def _magic(path: Path) -> bytes:
    with _open(path) as file:
        return file.read(2)


def _members(path: Path, stage: str) -> dict[str, _Source]:
    """The arrays of an .npz file by key; only their headers are read."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
    except _DAMAGED as error:
        _refuse(stage, str(path), f"this .npz file is damaged: {error}")
    keys = {name.removesuffix(".npy"): name for name in names}
    return {
        key: _stored(partial(_open_member, path, name), f"{path}[{key}]", stage)
        for key, name in keys.items()
    }


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_member(path: Path, name: str) -> IO[bytes]:
    return zipfile.ZipFile(path).open(name)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Shape, whether the first index runs fastest, and type; the file is left at the data."""
    if np.lib.format.read_magic(file) == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


def _stored(opener: Callable[[], IO[bytes]], where: str, stage: str) -> _Source:
    """An array in numpy's format, by its header."""

    def rows() -> Iterator[Array]:
        try:
            with opener() as file:
                if fortran:
                    yield from np.lib.format.read_array(file, allow_pickle=False)
                    return
                _header(file)
                size = prod(shape[1:]) * dtype.itemsize
                for left in reversed(range(shape[0])):
                    data = file.read(size)
                    if not left:
                        file.read(1)  # the checksum is compared at the end of the member
                    if len(data) != size:
                        _refuse(stage, where, "the file ends before its data")
                    yield np.frombuffer(data, dtype).reshape(shape[1:])
        except _DAMAGED as error:
            _refuse(stage, where, f"the data cannot be read: {error}")

    try:
        with opener() as file:
            shape, fortran, dtype = _header(file)
    except _DAMAGED as error:
        _refuse(stage, where, f"this is not an array in numpy's format: {error}")
    return _Source(where, shape, dtype, rows)


def _fit(stored: _Source, spec: InputSpec, stage: str) -> _Source:
    """A stored array with the axis of samples first; refused when it does not fit the input."""
    if stored.dtype.hasobject:
        reason = "it holds pickled Python objects, which are never loaded"
        _refuse(stage, stored.where, reason, "save a plain numeric array")
    if stored.dtype.kind not in "fiub":
        _refuse(stage, stored.where, f"it holds {stored.dtype}, not numbers")
    if stored.shape and stored.shape[1:] in (spec.shape[1:], spec.shape):
        return stored
    if stored.shape != spec.shape[1:]:
        expected, found = _text(("N", *spec.shape[1:])), _text(stored.shape)
        _refuse(stage, stored.where, f"input {spec.name} takes {expected}, found {found}")
    return replace(
        stored, shape=(1, *stored.shape), rows=lambda: iter([np.stack(list(stored.rows()))])
    )


def _text(shape: Sequence[int | str]) -> str:
    return "[" + ", ".join(str(n) for n in shape) + "]"


def _choose_keys(
    path: Path,
    arrays: dict[str, _Source],
    inputs: Sequence[InputSpec],
    stage: str,
    notes: list[str],
) -> list[str]:
    """Which array of an .npz belongs to each input."""
    missing = [spec.name for spec in inputs if spec.name not in arrays]
    if not missing:
        return [spec.name for spec in inputs]
    keys = ", ".join(f"{key} {_text(array.shape)}" for key, array in arrays.items()) or "nothing"
    if len(inputs) > 1:
        _refuse(stage, str(path), f"no array for input {', '.join(missing)}; the file has {keys}")
    spec = inputs[0]
    shapes = (spec.shape[1:], spec.shape)
    fitting = [
        key
        for key, array in arrays.items()
        if key.lower() not in _LABELS and (array.shape in shapes or array.shape[1:] in shapes)
    ]
    split = ("x_calib", "x_train", "x_test") if stage == "calibrate" else ("x_test",)
    named = [k for name in ("x", "input", "data", *split) for k in fitting if k.lower() == name]
    if not fitting:
        expected = _text(("N", *spec.shape[1:]))
        _refuse(
            stage, str(path), f"no array is named {spec.name} or fits {expected}; it has {keys}"
        )
    if not named and len(fitting) > 1:
        reason = f"several arrays fit input {spec.name}: {', '.join(fitting)}"
        names = " or ".join(dict.fromkeys((spec.name, "x")))
        _refuse(stage, str(path), reason, f"name the one to use {names}")
    chosen = (named or fitting)[0]
    others = [key for key in fitting if key != chosen]
    if others:
        notes.append(f"{path}: uses array {chosen}, not {', '.join(others)}")
    return [chosen]


def _find_labels(
    arrays: dict[str, _Source], used: Sequence[str], count: int, stage: str, notes: list[str]
) -> NDArray[np.int64] | None:
    """The class of each sample, if the file has them."""
    key = used[0].lower()
    own = f"y{key[1:]}" if key.startswith("x_") else ""
    by_name = {key.lower(): array for key, array in arrays.items() if key not in used}
    found = [by_name[name] for name in (own, *_LABELS) if name in by_name]
    if own and own not in by_name:  # the others may belong to another x_
        found = [array for array in found if array.shape[:1] == (count,)]
    if not found:
        return None
    stored = found[0]
    if stored.dtype.kind not in "fiub" or stored.shape not in ((count,), (count, 1)):
        kind = f"{stored.dtype} {_text(stored.shape)}"
        _refuse(stage, stored.where, f"labels must be {count} integers, found {kind}")
    values = np.array([row.item() for row in stored.rows()])
    whole = np.isfinite(values) & (values == np.floor(values))
    if not whole.all():
        if stage == "calibrate":  # which has no use for them
            notes.append(f"{stored.where}: ignored, these are not class numbers")
            return None
        index = int(np.argmin(whole))
        _refuse(
            stage,
            stored.where,
            f"labels are class numbers, found {values[index]:g} at sample {index}",
            "call targets of another kind something else than y or labels",
        )
    return values.astype(np.int64)


def _from_files(path: Path, spec: InputSpec, stage: str) -> _Source:
    """The samples of a folder of .npy files or images, or of one image."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    images = [file for file in files if file.suffix.lower() in _IMAGES]
    arrays = [file for file in files if file.suffix.lower() == ".npy"]
    if bool(images) == bool(arrays):
        what = "both .npy files and images" if images else "no .npy files and no images"
        _refuse(stage, str(path), f"the folder holds {what}", "give a folder of one kind")
    if images:
        rows = partial(_pixels, images, spec, stage)
        return _Source(str(path), (len(images), *spec.shape[1:]), np.dtype(np.uint8), rows)
    parts = [_fit(_stored(partial(_open, file), str(file), stage), spec, stage) for file in arrays]
    if len({part.dtype for part in parts}) > 1:
        found = ", ".join(sorted({str(part.dtype) for part in parts}))
        _refuse(stage, str(path), f"the files hold different types: {found}")
    count = sum(part.shape[0] for part in parts)
    return _Source(
        str(path),
        (count, *spec.shape[1:]),
        parts[0].dtype,
        lambda: (row for part in parts for row in part.rows()),
    )


def _pixels(files: Sequence[Path], spec: InputSpec, stage: str) -> Iterator[Array]:
    """Each image as uint8 in the input's layout: channels first if axis 1 can count them."""
    try:
        from PIL import Image
    except ImportError as error:
        hint = "pip install 'onnx2mcu[images]'"
        raise InputRefused(stage, str(files[0]), "reading images needs Pillow", hint) from error
    shape = spec.shape
    if len(shape) != 4 or (shape[1] not in _MODES and shape[3] not in _MODES):
        _refuse(stage, spec.name, f"an input of shape {_text(shape)} does not take images")
    first = shape[1] in _MODES
    channels, height, width = shape[1:] if first else (shape[3], shape[1], shape[2])
    for file in files:
        try:
            with Image.open(file) as image:
                size = image.size
                pixels = np.asarray(image.convert(_MODES[channels]))
        except (OSError, ValueError) as error:
            _refuse(stage, str(file), f"the image cannot be read: {error}")
        if size != (width, height):
            reason = f"the image is {size[0]}x{size[1]}, the input takes {width}x{height}"
            _refuse(stage, str(file), reason, "resize the images the way the model was trained")
        pixels = pixels.reshape(height, width, channels)
        yield pixels.transpose(2, 0, 1) if first else pixels
