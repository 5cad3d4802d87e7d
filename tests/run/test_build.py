"""Compiling a project, what the ELF file tells, what the doctor says."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.run import fake_model
from toolchain.board import load_board
from toolchain.errors import InputRefused, RunFailed
from toolchain.run import Elf, build, doctor
from toolchain.run.build import INSTALL
from toolchain.run.lock import locked

GCC = pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="no cross compiler")


@pytest.mark.emulator
def test_sizes(built):
    _, result = built("nucleo-f446re")
    sizes = Elf(result.firmware).sizes
    assert sizes.weights == 16
    assert sizes.data == 0
    assert sizes.stack == 1024
    assert 64 <= sizes.bss <= 128
    assert 300 < sizes.code < 2000
    assert sizes.flash == sizes.code + 16
    assert sizes.ram == sizes.bss + 1024


@pytest.mark.emulator
def test_symbols(built):
    _, result = built("nucleo-f446re")
    elf = Elf(result.firmware)
    start = elf.address("kws_run")
    assert start % 2 == 0
    assert elf.symbol_at(start) == "kws_run"
    assert elf.symbol_at(start + 2) == "kws_run+0x2"
    assert elf.symbol_at(0x30000000) is None
    assert "kws_w" in elf.symbols
    with pytest.raises(RunFailed, match="no symbol nothing"):
        elf.address("nothing")


@pytest.mark.emulator
def test_example_program_does_not_hold_the_harness(built):
    _, result = built("nucleo-f446re")
    symbols = Elf(result.firmware).symbols
    assert "kws_run" in symbols
    assert "onnx2mcu_mark" not in symbols


@pytest.mark.emulator
def test_map_and_stack_usage_are_written(built):
    _, result = built("nucleo-f446re")
    assert (result.directory / "firmware.map").is_file()
    assert list(result.directory.rglob("kws.c.su"))


@pytest.mark.emulator
@pytest.mark.parametrize("cpu", ["microbit-v1"])
def test_arena_that_does_not_fit_is_one_sentence(cpu, tmp_path):
    project = fake_model.write_project(tmp_path / "p", cpu, arena=16 * 1024)
    with pytest.raises(RunFailed, match=r"needs \d+ bytes more RAM than the board has") as caught:
        build(project)
    assert "larger board" in caught.value.hint


@pytest.mark.emulator
def test_compile_errors_are_shown_trimmed(tmp_path):
    project = fake_model.write_project(tmp_path / "p", "mps2-an385")
    with (project / "kws.c").open("a") as stream:
        stream.write("int nonsense = missing_name;\n")
    with pytest.raises(RunFailed, match="missing_name") as caught:
        build(project)
    assert len(str(caught.value).splitlines()) < 12


@pytest.mark.emulator
def test_two_builds_at_once(tmp_path):
    """One waits for the other: neither links what the other has not compiled yet."""
    project = fake_model.write_project(tmp_path / "p", "mps2-an385")
    code = "import sys, pathlib, toolchain.run as r; r.build(pathlib.Path(sys.argv[1]))"
    words = [sys.executable, "-c", code, str(project)]
    processes = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in processes:
        _, told = process.communicate()
        assert process.returncode == 0, told


@pytest.mark.emulator
def test_build_waits_for_the_lock(tmp_path):
    project = fake_model.write_project(tmp_path / "p", "mps2-an385")
    pool = ThreadPoolExecutor(1)
    with locked(project / "build"):
        other = pool.submit(build, project)
        with pytest.raises(TimeoutError):
            other.result(timeout=1)
        assert not (project / "build" / "CMakeCache.txt").exists()
    assert other.result(timeout=300).firmware.exists()


@pytest.mark.emulator
def test_copied_project_is_built_anew(tmp_path):
    project = fake_model.write_project(tmp_path / "p", "mps2-an385")
    build(project)
    (project / "build" / "of-the-first-folder").write_text("")
    shutil.copytree(project, tmp_path / "q")
    assert build(tmp_path / "q").firmware.exists()
    assert not (tmp_path / "q" / "build" / "of-the-first-folder").exists()


@pytest.mark.emulator
def test_arm_s_library_comes_before_the_own_kernels(tmp_path):
    """A folder laid out as CMSIS-NN that holds one of the functions."""
    arm = tmp_path / "arm"
    (arm / "Include").mkdir(parents=True)
    (arm / "Source" / "Fake").mkdir(parents=True)
    (arm / "Include" / "arm_nnfunctions.h").write_text("")
    (arm / "Source" / "Fake" / "fake.c").write_text(
        '#include "arm_nnfunctions.h"\n'
        "int from_arm = 1;\n"
        "int glue_fake(const signed char *a, const signed char *b, signed char *c, int n)\n"
        "{ return from_arm; }\n"
    )
    project = fake_model.write_project(tmp_path / "p", "mps2-an385", cmsis_nn_dir=arm)
    assert "from_arm" in Elf(build(project).firmware).symbols


def test_folder_that_is_not_cmsis_nn_is_refused(tmp_path):
    with pytest.raises(InputRefused, match="not a copy of CMSIS-NN"):
        fake_model.write_project(tmp_path / "p", "mps2-an385", cmsis_nn_dir=tmp_path)


@pytest.mark.parametrize("tool", INSTALL)
def test_missing_tool_is_one_line_with_the_command(tool, tmp_path, monkeypatch):
    real = shutil.which

    def which(name, path=None):
        return None if name == tool else real(name, path=path) or name

    monkeypatch.setattr(shutil, "which", which)
    with pytest.raises(InputRefused, match="not installed") as caught:
        build(tmp_path)
    assert caught.value.hint == INSTALL[tool]


@GCC
def test_folder_without_a_project(tmp_path):
    with pytest.raises(InputRefused, match="not a generated project"):
        build(tmp_path)


def test_elf_that_is_none(tmp_path):
    path = tmp_path / "x.elf"
    with pytest.raises(RunFailed, match="No such file"):
        Elf(path)
    path.write_bytes(b"hello")
    with pytest.raises(RunFailed, match="not an ELF file"):
        Elf(path)


def test_doctor_says_how_to_get_what_is_missing(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    checks = {check.name: check for check in doctor()}
    assert list(checks) == ["python", *INSTALL, "renode", "qemu", "unicorn", "qemu plugins"]
    assert checks["python"].ok
    for name in INSTALL:
        assert not checks[name].ok
        assert checks[name].hint == INSTALL[name]
        assert checks[name].needed
    assert "apt install qemu-system-arm" in checks["qemu"].hint


def test_stack_must_be_a_multiple_of_eight(tmp_path):
    from toolchain.emit.project import write_firmware

    with pytest.raises(InputRefused, match="multiple of 8"):
        write_firmware(tmp_path, fake_model.MODEL, load_board("mps2-an385"), stack_bytes=1001)
