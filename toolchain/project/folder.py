"""A project folder: opened by the later commands, written aside and renamed by `convert`."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import numpy as np

import toolchain.ops  # noqa: F401 - registers the operators a stored graph names
from toolchain.errors import InputRefused
from toolchain.ir import Array, Graph
from toolchain.ir.serialize import DAMAGED, load_graph
from toolchain.project.file import obstacle, umask
from toolchain.project.manifest import Manifest

MANIFEST = "manifest.json"
MODEL = "model"
"""Folder of the original model, the integer graph and a few samples."""
BUILD = "build"
LATER = ("outputs.npz", "report.html")
"""What the commands after `convert` leave in a project."""
_BREAKING = '$;"\\|%,'
_NAMED = 5


class Project:
    """A project folder that exists.

    Args:
        directory: The folder `convert` wrote.

    Raises:
        InputRefused: The folder holds no project.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        path = directory / MANIFEST
        try:
            self.manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
        except OSError as error:
            raise InputRefused(
                "project",
                str(directory),
                f"there is no {MANIFEST}",
                "make the project with onnx2mcu convert",
            ) from error
        except msgspec.MsgspecError as error:
            raise InputRefused(
                "project", str(path), f"not a manifest of this version ({error})", "convert again"
            ) from error

    @property
    def model_path(self) -> Path:
        """The original ONNX model."""
        return self.directory / MODEL / "model.onnx"

    def graph(self) -> Graph:
        """The integer graph the firmware was generated from."""
        return load_graph(self.directory / MODEL)

    def samples(self) -> list[dict[str, Array]]:
        """A few calibration samples as int8 codes, for runs without data."""
        names = self.graph().inputs
        stored = self._stored("samples.npz", "input", len(names))
        arrays = [stored[f"input{i}"] for i in range(len(names))]
        return [dict(zip(names, codes, strict=True)) for codes in zip(*arrays, strict=True)]

    def expected(self) -> dict[str, Array] | None:
        """Right output codes [N, ...] of these samples; None when the project states none."""
        path = self.directory / MODEL / "expected.npz"
        if not path.exists():
            return None
        names = self.graph().outputs
        stored = self._stored(path.name, "output", len(names))
        return {y: stored[f"output{i}"] for i, y in enumerate(names)}

    def _stored(self, file: str, role: str, count: int) -> dict[str, Array]:
        """Arrays of a file in the model folder, by role and number."""
        path = self.directory / MODEL / file
        try:
            with np.load(path) as stored:
                return {f"{role}{i}": stored[f"{role}{i}"] for i in range(count)}
        except DAMAGED as error:
            reason = f"{file} of the project is missing or damaged ({error})"
            raise InputRefused("project", str(path), reason, "convert again") from error


@contextmanager
def written_aside(directory: Path, *, force: bool) -> Iterator[Path]:
    """A temporary folder beside `directory` that takes its place when the block succeeds.

    Args:
        directory: Folder to be; must not exist, be empty, or, with `force`, hold a project and
            nothing else.
        force: Replace an earlier project.

    Raises:
        InputRefused: The folder is in use, or cannot be written.
    """
    target = Path(os.path.abspath(directory))
    missing = []
    try:
        _check_name(target)
        _check_target(target, force)
        missing = [parent for parent in target.parents if not parent.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}-", dir=target.parent))
    except OSError as error:
        _remove_empty(missing)
        raise InputRefused(
            "write", str(directory), obstacle(target, error), "choose another folder"
        ) from error
    try:
        aside.chmod(0o777 & ~umask())
        yield aside
        _move(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        _remove_empty(missing)


@contextmanager
def taken_back_if_interrupted(directory: Path) -> Iterator[None]:
    """What the block makes of a folder that was not there is removed when the user stops it.

    A folder that was there stays: with `force`, its project has been replaced by then.
    """
    target = Path(os.path.abspath(directory))
    missing = [path for path in (target, *target.parents) if not path.exists()]
    try:
        yield
    except KeyboardInterrupt:
        if target in missing:
            shutil.rmtree(target, ignore_errors=True)
            _remove_empty(missing)
        raise


def _move(aside: Path, target: Path) -> None:
    """Let the new folder take the place of the target; a folder that exists keeps its identity.

    Somebody may stand in it, or a link may lead to it.
    """
    if not target.exists():
        aside.rename(target)
        return
    for old in target.iterdir():
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        else:
            old.unlink()
    for new in aside.iterdir():
        new.rename(target / new.name)


def _remove_empty(folders: list[Path]) -> None:
    """Take back the parent folders that were made for nothing, the innermost first."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _check_target(target: Path, force: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise InputRefused("write", str(target), "is a file", "choose another output folder")
    if not any(target.iterdir()):
        return
    is_project = (target / MANIFEST).is_file()
    if force and is_project:
        _check_foreign(target)
        return
    hint = "choose another folder" + (", or replace the project with --force" if is_project else "")
    raise InputRefused("write", str(target), "the output folder is in use", hint)


def _check_foreign(target: Path) -> None:
    """Refuse to replace a folder that holds files of somebody else."""
    written = {*_written_files(target), *LATER}
    found = (p.relative_to(target) for p in target.rglob("*") if p.is_symlink() or not p.is_dir())
    foreign = sorted(
        path.as_posix()
        for path in found
        if path.as_posix() not in written and path.parts[0] != BUILD
    )
    if foreign:
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        raise InputRefused(
            "write",
            str(target),
            f"it holds files that onnx2mcu did not write: {', '.join(foreign[:_NAMED])}{more}",
            "move them elsewhere, or choose another folder; --force would delete them",
        )


def _written_files(target: Path) -> list[str]:
    """Files that `convert` lists in the manifest, of this version or another."""
    try:
        manifest = msgspec.json.decode((target / MANIFEST).read_bytes())
        return msgspec.convert(manifest["files"], list[str])
    except (msgspec.MsgspecError, KeyError, TypeError):
        return []


def _check_name(target: Path) -> None:
    """Refuse paths that CMake, Ninja or the linker take apart."""
    found = sorted({c for c in str(target) if c in _BREAKING or not c.isprintable()})
    if found:
        raise InputRefused(
            "write",
            str(target),
            f"a project cannot be built in a folder with {' and '.join(map(repr, found))} in it",
            "choose a path without such characters",
        )
