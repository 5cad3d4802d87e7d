"""Sample data from files: what calibration, emulation and comparison feed the model with."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolchain.frontend.arrays import Array, Source, members, refuse, shape_text, stored_file
from toolchain.frontend.inputs import InputSpec
from toolchain.frontend.pictures import IMAGES, pixels_of

_LABELS = ("y", "y_test", "labels", "label")
_FORMS = "give an .npz with one array per input name, a .npy, or a folder of .npy files or pictures"
_NUMBERS = "save a plain numeric array: float32, or uint8 pixels"
_LAYOUT = "the first axis counts samples, the others are the input's own, in the model's layout"


class Samples:
    """Samples, read again from the file at each iteration, one at a time.

    Iteration yields a dict from input name to array [1, ...]: float32 values in the model's own
    layout, or the integer codes as stored when `codes` is true.

    Attributes:
        labels: Class of each sample [N], or None.
        codes: The data are quantised codes: int8, or whatever integer the input itself takes.
        notes: How the file was read where it could be read in several ways, one line each.
        warnings: What looks doubtful about the data, one line each.
    """

    def __init__(
        self,
        inputs: Sequence[InputSpec],
        sources: Sequence[Source],
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
            where = ", ".join(spec.name for spec in inputs)
            refuse(stage, where, reason, "give every input the same samples, in the same order")
        self._count = counts[0] if limit is None else min(counts[0], limit)
        if self._count < 1:
            hint = f"store some along the first axis: {_shape_of(inputs[0])}, N from 1"
            refuse(stage, sources[0].where, "there are no samples in it", hint)
        kinds = {_is_codes(source, spec) for spec, source in self._columns}
        if len(kinds) > 1:
            reason = "some inputs are given as integer codes and some as floats"
            refuse(stage, "", reason, "give all of them as real values, or all as codes")
        self.codes = kinds == {True}
        self.labels = None if labels is None else labels[: self._count]
        self.notes: list[str] = []
        self.warnings: list[str] = []

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes and warnings."""
        return (*self.notes, *self.warnings)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Array]]:
        streams = [(spec, source, source.rows()) for spec, source in self._columns]
        for index in range(self._count):
            yield {
                spec.name: self._convert(spec, source, next(rows), index)
                for spec, source, rows in streams
            }

    def _convert(self, spec: InputSpec, source: Source, row: Array, index: int) -> Array:
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
            hint = "leave such samples out, or replace the value as when the model was trained"
            refuse(self._stage, source.where, f"sample {index} holds {what}", hint)
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
        refuse(stage, str(path), "there is no such file or folder", _FORMS)
    magic = b"" if path.is_dir() else _magic(path)
    if path.is_dir() or path.suffix.lower() in IMAGES:
        sources = [_from_files(path, _only(inputs, path, stage), stage)]
    elif magic == b"PK":
        arrays = members(path, stage)
        keys = _choose_keys(path, arrays, inputs, stage, notes)
        sources = [_fit(arrays[k], spec, stage) for k, spec in zip(keys, inputs, strict=True)]
        labels = _find_labels(arrays, keys, sources[0].shape[0], stage, notes)
    elif magic == b"\x93N":
        stored = stored_file(path, stage)
        sources = [_fit(stored, _only(inputs, path, stage), stage)]
    else:
        refuse(stage, str(path), "this is neither .npz nor .npy data", _FORMS)
    samples = Samples(inputs, sources, labels, limit, stage, pixel_scale)
    if samples.codes and all(spec.dtype == "float32" for spec in inputs):
        notes.append("the data are int8: taken as codes of the inputs, not as values")
    samples.notes, samples.warnings = notes, _doubts(samples)
    return samples


def _is_codes(source: Source, spec: InputSpec) -> bool:
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
        refuse(stage, str(path), reason, "save the arrays by input name with numpy.savez")
    return inputs[0]


def _magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(2)


def _fit(stored: Source, spec: InputSpec, stage: str) -> Source:
    """A stored array with the axis of samples first; refused when it does not fit the input."""
    if stored.dtype.hasobject:
        reason = "it holds pickled Python objects, which are never loaded"
        refuse(stage, stored.where, reason, _NUMBERS)
    if stored.dtype.kind not in "fiub":
        refuse(stage, stored.where, f"it holds {stored.dtype}, not numbers", _NUMBERS)
    if stored.shape and stored.shape[1:] in (spec.shape[1:], spec.shape):
        return stored
    if stored.shape != spec.shape[1:]:
        reason = f"input {spec.name} takes {_shape_of(spec)}, found {shape_text(stored.shape)}"
        refuse(stage, stored.where, reason, _LAYOUT)
    return replace(
        stored, shape=(1, *stored.shape), rows=lambda: iter([np.stack(list(stored.rows()))])
    )


def _shape_of(spec: InputSpec) -> str:
    """The shape of several samples of an input."""
    return shape_text(("N", *spec.shape[1:]))


def _choose_keys(
    path: Path,
    arrays: dict[str, Source],
    inputs: Sequence[InputSpec],
    stage: str,
    notes: list[str],
) -> list[str]:
    """Which array of an .npz belongs to each input."""
    missing = [spec.name for spec in inputs if spec.name not in arrays]
    if not missing:
        return [spec.name for spec in inputs]
    keys = (
        ", ".join(f"{key} {shape_text(array.shape)}" for key, array in arrays.items()) or "nothing"
    )
    if len(inputs) > 1:
        reason = f"no array for input {', '.join(missing)}; the file has {keys}"
        refuse(stage, str(path), reason, "name the arrays as the inputs are named")
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
        reason = f"no array is named {spec.name} or fits {_shape_of(spec)}; it has {keys}"
        refuse(stage, str(path), reason, _LAYOUT)
    if not named and len(fitting) > 1:
        reason = f"several arrays fit input {spec.name}: {', '.join(fitting)}"
        names = " or ".join(dict.fromkeys((spec.name, "x")))
        refuse(stage, str(path), reason, f"name the one to use {names}")
    chosen = (named or fitting)[0]
    others = [key for key in fitting if key != chosen]
    if others:
        notes.append(f"{path}: uses array {chosen}, not {', '.join(others)}")
    return [chosen]


def _find_labels(
    arrays: dict[str, Source], used: Sequence[str], count: int, stage: str, notes: list[str]
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
        kind = f"{stored.dtype} {shape_text(stored.shape)}"
        hint = "give one class number for each sample, or call them something else than labels or y"
        refuse(stage, stored.where, f"labels must be {count} integers, found {kind}", hint)
    values = np.array([row.item() for row in stored.rows()])
    whole = np.isfinite(values) & (values == np.floor(values))
    if not whole.all():
        if stage == "calibrate":  # which has no use for them
            notes.append(f"{stored.where}: ignored, these are not class numbers")
            return None
        index = int(np.argmin(whole))
        refuse(
            stage,
            stored.where,
            f"labels are class numbers, found {values[index]:g} at sample {index}",
            "call targets of another kind something else than y or labels",
        )
    return values.astype(np.int64)


def _from_files(path: Path, spec: InputSpec, stage: str) -> Source:
    """The samples of a folder of .npy files or images, or of one image."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    images = [file for file in files if file.suffix.lower() in IMAGES]
    arrays = [file for file in files if file.suffix.lower() == ".npy"]
    if bool(images) == bool(arrays):
        what = "both .npy files and images" if images else "no .npy files and no images"
        refuse(stage, str(path), f"the folder holds {what}", "give a folder of one kind")
    if images:
        rows = partial(pixels_of, images, spec, stage)
        return Source(str(path), (len(images), *spec.shape[1:]), np.dtype(np.uint8), rows)
    parts = [_fit(stored_file(file, stage), spec, stage) for file in arrays]
    if len({part.dtype for part in parts}) > 1:
        found = ", ".join(sorted({str(part.dtype) for part in parts}))
        refuse(stage, str(path), f"the files hold different types: {found}", "save all in one")
    count = sum(part.shape[0] for part in parts)
    return Source(
        str(path),
        (count, *spec.shape[1:]),
        parts[0].dtype,
        lambda: (row for part in parts for row in part.rows()),
    )
