"""The command line in this process, and projects it made."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.cli import nets
from toolchain import pipeline
from toolchain.cli import main
from toolchain.options import ConvertOptions

BOARD = "nucleo-f446re"


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    def refused(self, *parts: str, code: int = 2) -> None:
        """One message: an error: with all parts in it, a hint:, nothing on standard output."""
        assert self.code == code, self
        assert self.err.startswith("error: "), self
        assert self.err.count("error: ") == 1, self
        assert self.err.splitlines()[-1].startswith("hint: "), self
        assert self.err.count("\nhint: ") == 1, self
        assert "Traceback" not in self.err
        assert "internal" not in self.err
        assert self.out == ""
        for part in parts:
            assert part in self.err, self


@pytest.fixture
def onnx2mcu(monkeypatch, capsys):
    """Runs a command line as the console script does."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["onnx2mcu", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A small classifier."""
    return nets.classifier(tmp_path_factory.mktemp("model") / "small.onnx")


@pytest.fixture(scope="session")
def calib(tmp_path_factory):
    """Calibration data for it."""
    path = tmp_path_factory.mktemp("data") / "calib.npz"
    np.savez(path, image=nets.images())
    return path


@pytest.fixture(scope="session")
def labelled(tmp_path_factory):
    """Test data with labels."""
    path = tmp_path_factory.mktemp("data") / "test.npz"
    np.savez(path, image=nets.images(12, 3), labels=np.arange(12) % nets.CLASSES)
    return path


@pytest.fixture(scope="session")
def project(model, calib, tmp_path_factory) -> Path:
    """A converted project; tests must not change it."""
    folder = tmp_path_factory.mktemp("projects") / "small"
    pipeline.convert(model, calib, BOARD, folder)
    return folder


@pytest.fixture(scope="session")
def runnable(model, calib, tmp_path_factory) -> Path:
    """A project that may be built and run."""
    folder = tmp_path_factory.mktemp("projects") / "runnable"
    pipeline.convert(model, calib, BOARD, folder, ConvertOptions(prefix="net"))
    return folder


@pytest.fixture
def arguments(model, calib, tmp_path):
    """What `convert` needs, by option; tests replace what they are about."""

    def build(command: str = "convert", **changes: object) -> list[object]:
        values: dict[str, object] = {
            "model": model,
            "calib": calib,
            "board": BOARD,
            "output": tmp_path / "out",
            **changes,
        }
        first = values.pop("model")
        pairs = [(f"--{k.replace('_', '-')}", v) for k, v in values.items() if v is not None]
        return [command, first, *(text for pair in pairs for text in pair)]

    return build


@pytest.fixture
def untouched(tmp_path):
    """At the end the folder of the test holds what it held: no output, no temporary folder."""
    kept: set[Path] = set()
    yield kept
    assert set(tmp_path.rglob("*")) == kept | {p for k in kept for p in k.parents if p > tmp_path}
