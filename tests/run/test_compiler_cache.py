"""The launcher that spares the tests compilations gives the objects the compiler would give."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.run import fake_model
from toolchain.run import build

KEPT = "int once(int x);\nint once(int x) { return x + THING; }\n"


@pytest.fixture
def compile_in(compiler_cache: Path | None, tmp_path: Path):
    """Compile kernels/k.c of a project through the launcher; the shell script notes every call."""
    if compiler_cache is None:
        pytest.skip("no compiler for the host")
    calls, kept = tmp_path / "calls", tmp_path / "kept"
    kept.mkdir()
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\necho >> "{calls}"\nexec {shutil.which("gcc")} "$@"\n')
    compiler.chmod(0o755)

    def run(project: Path, *flags: str) -> tuple[int, int]:
        """Exit code, and how often the compiler has run so far."""
        (project / "build").mkdir(exist_ok=True)
        kernels = project / "kernels"
        rest = ["-fstack-usage", f"-I{kernels}", *flags, "-MD", "-MT", "k.c.obj", "-MF", "k.d"]
        words = [*rest, "-o", "k.c.obj", "-c", str(kernels / "k.c")]
        command = [str(compiler_cache), str(kept), str(compiler), *words]
        done = subprocess.run(command, cwd=project / "build", capture_output=True, check=False)
        return done.returncode, len(calls.read_text().splitlines())

    return run


def _project(folder: Path, thing: str) -> Path:
    kernels = folder / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "k.c").write_text(f'#include "k.h"\n{KEPT}')
    (kernels / "k.h").write_text(f"#define THING {thing}\n")
    return folder


def test_the_same_source_is_compiled_once(compile_in, tmp_path: Path) -> None:
    first, second = _project(tmp_path / "a", "1"), _project(tmp_path / "b c", "1")
    assert compile_in(first) == (0, 1)
    assert compile_in(second) == (0, 1)
    for name in ("k.c.obj", "k.c.su"):
        assert (second / "build" / name).read_bytes() == (first / "build" / name).read_bytes()
    rule = (second / "build" / "k.d").read_text()
    assert rule.startswith("k.c.obj:")
    assert "b\\ c/kernels/k.c" in rule
    assert "b\\ c/kernels/k.h" in rule


def test_all_that_may_change_an_object_makes_another(compile_in, tmp_path: Path) -> None:
    project = _project(tmp_path / "a", "1")
    assert compile_in(project) == (0, 1)
    assert compile_in(project, "-O2") == (0, 2)
    (project / "kernels" / "k.h").write_text("#define THING 2\n")
    assert compile_in(project) == (0, 3)
    (project / "kernels" / "k.c").write_text(f'#include "k.h"\n{KEPT}\n')
    assert compile_in(project) == (0, 4)
    assert compile_in(project) == (0, 4)


def test_a_failure_is_not_kept(compile_in, tmp_path: Path) -> None:
    project = _project(tmp_path / "a", "nonsense")
    assert compile_in(project) == (1, 1)
    assert compile_in(project) == (1, 2)


@pytest.mark.emulator
def test_programs_are_those_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions and constants, byte for byte; the notes for debuggers name other folders."""
    kept = [fake_model.write_project(tmp_path / name, "mps2-an385") for name in ("a", "b", "c")]
    for project in kept[:2]:
        build(project)
    monkeypatch.delenv("CMAKE_C_COMPILER_LAUNCHER")
    build(kept[2])
    for program in ("firmware", "emulation", "hooks"):
        assert len({_loaded(project / "build" / f"{program}.elf") for project in kept}) == 1


def _loaded(elf: Path) -> bytes:
    image = elf.with_suffix(".bin")
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", elf, image], check=True)
    return image.read_bytes()
