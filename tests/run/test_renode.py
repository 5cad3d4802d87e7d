"""The Renode engine against a stand-in for pyrenode3 (tests/run/standin), not against Renode."""

import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.run import fake_model
from toolchain import pipeline
from toolchain.board import load_board
from toolchain.emit.renode import platform
from toolchain.errors import RunFailed
from toolchain.ir.execute import simulate
from toolchain.options import ConvertOptions
from toolchain.pipeline.engine_runs import run_engines
from toolchain.run import RunRequest, count_functions, printed, renode
from toolchain.run.elf import Elf
from toolchain.run.renode_job import job_of
from toolchain.run.renode_profile import per_function

SAMPLES = [bytes(range(start, start + 16)) for start in (0, 3, 60)]


@pytest.fixture
def standin(monkeypatch):
    pytest.importorskip("unicorn")
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "standin"))
    renode._pyrenode3_trouble.cache_clear()
    yield renode.Renode()
    renode._pyrenode3_trouble.cache_clear()


def altered(monkeypatch, tmp_path, old, new):
    """A stand-in that differs in one place."""
    shutil.copytree(Path(__file__).parent / "standin", tmp_path / "altered")
    path = tmp_path / "altered" / "pyrenode3" / "wrappers.py"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    monkeypatch.syspath_prepend(str(tmp_path / "altered"))
    monkeypatch.setattr(renode, "executable", lambda: None)
    renode._pyrenode3_trouble.cache_clear()


def request_for(built, samples, name="nucleo-f446re", **more):
    board, result = built(name)
    return RunRequest(result.hooks, board, fake_model.MODEL, samples, **more)


@pytest.mark.emulator
@pytest.mark.parametrize("name", ["microbit-v1", "mps2-an385", "nucleo-f446re", "nucleo-u575zi"])
def test_standin_gives_what_qemu_gives(built, qemu, standin, name):
    assert standin.missing("cortex-m4") is None
    got = standin.run(request_for(built, SAMPLES, name, dump_samples=2))
    board, result = built(name)
    model = fake_model.MODEL
    other = qemu.run(RunRequest(result.emulation, board, model, SAMPLES, dump_samples=2))
    assert got.outputs == other.outputs == [fake_model.expected(sample) for sample in SAMPLES]
    assert got.dumps == other.dumps
    np.testing.assert_array_equal(got.instructions, other.instructions)
    assert got.emulator == "renode"
    assert got.stack_bytes > 0


@pytest.mark.emulator
@pytest.mark.parametrize(
    ("what", "told"),
    [
        (fake_model.STATUS, "status -7"),
        (fake_model.HANG, "still running"),
        (fake_model.WRITE_FLASH, "wrote to flash"),
        (fake_model.OVERFLOW, "stack overflow"),
    ],
)
def test_standin_misbehaviour(built, standin, what, told):
    request = request_for(built, [bytes([what] + [0] * 15)], timeout_s=1.0)
    with pytest.raises(RunFailed, match=told):
        standin.run(request)


def test_pyrenode3_that_does_not_load_is_diagnosed_in_one_line(monkeypatch, tmp_path):
    package = tmp_path / "pyrenode3"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('no .NET here\\nand more')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(renode, "executable", lambda: None)
    renode._pyrenode3_trouble.cache_clear()
    reason = renode.Renode().missing("cortex-m4")
    renode._pyrenode3_trouble.cache_clear()
    assert reason is not None
    assert "no .NET here" in reason
    assert "\n" not in reason
    assert "PYRENODE_PKG" in reason


def test_platform_has_the_true_sizes():
    text = platform(load_board("nucleo-h743zi"))
    assert 'cpuType: "cortex-m7"' in text
    assert "axi_sram: Memory.MappedMemory @ sysbus 0x24000000\n    size: 0x80000\n" in text
    assert "d2_sram: Memory.MappedMemory @ sysbus 0x30000000\n    size: 0x48000\n" in text
    assert text.count("MappedMemory") == 6


@pytest.mark.emulator
def test_script_for_the_executable_is_complete(built, tmp_path):
    request = request_for(built, SAMPLES, dump_samples=1)
    text = renode.script(tmp_path, job_of(request, Elf(request.elf)))
    place = tmp_path.as_posix()
    sources = {"sysbus.cpu.semihosting.console": "semihosting", "sysbus.uart": "uart"}
    for port, name in sources.items():
        assert f"\n{port} CreateFileBackend @{place}/{name}.txt true\n" in text
    assert "Profiler" not in text
    profiled = renode.script(tmp_path, job_of(request, Elf(request.elf), profile=True))
    assert f"\nsysbus.cpu EnableProfilerCollapsedStack @{place}/stacks.txt\n" in profiled
    assert profiled.endswith("\nsysbus.cpu DisableProfiler\nquit\n")
    silent = msgspec.structs.replace(job_of(request, Elf(request.elf)), uart=False)
    assert "sysbus.uart" not in renode.script(tmp_path, silent)
    assert text.count('"""') == 8
    hooks = text.split('"""')[1::2]
    for hook in hooks:
        assert '"' not in hook
        assert "\\" not in hook
        compile(hook, "hook", "exec")


@pytest.mark.emulator
def test_executable_that_fails_is_reported(built, tmp_path, monkeypatch):
    program = tmp_path / "renode"  # a stand-in that only complains
    program.write_text("#!/bin/sh\necho cannot open display\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(renode, "executable", lambda: str(program))
    with pytest.raises(RunFailed, match="cannot open display"):
        renode.Renode().run(request_for(built, SAMPLES))


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("Renode v1.15.3.12345", "is version 1.15.3: install Renode 1.16.1 or later"),
        ("Renode v1.16.1.999", None),
        ("Renode v2.0.0", None),
        ("a build of my own", None),
    ],
)
def test_oldest_executable(tmp_path, monkeypatch, version, reason):
    program = tmp_path / "renode"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    monkeypatch.setattr(renode, "executable", lambda: str(program))
    found = renode.Renode().missing("cortex-m4")
    assert found is None if reason is None else found.endswith(reason)


@pytest.mark.parametrize(("version", "good"), [("1.15.3.1", False), ("1.16.1.4711", True)])
def test_oldest_renode_of_pyrenode3(tmp_path, monkeypatch, version, good):
    pytest.importorskip("unicorn")
    altered(monkeypatch, tmp_path, "1.16.1.4711", version)
    reason = renode.Renode().missing("cortex-m4")
    renode._pyrenode3_trouble.cache_clear()
    if good:
        assert reason is None
    else:
        assert reason.startswith(
            "pyrenode3 cannot load Renode (Renode is version 1.15.3, older than 1.16.1): pip"
        )


def test_pyrenode3_that_loads_serves_beside_an_old_executable(standin, tmp_path, monkeypatch):
    program = tmp_path / "renode"
    program.write_text("#!/bin/sh\necho Renode v1.15.3.1\n")
    program.chmod(0o755)
    monkeypatch.setattr(renode, "executable", lambda: str(program))
    assert standin.missing("cortex-m4") is None


@pytest.mark.skipif(shutil.which("renode") is None, reason="renode is not installed")
@pytest.mark.emulator
def test_real_renode(built):
    got = renode.Renode().run(request_for(built, SAMPLES))
    assert got.outputs == [fake_model.expected(sample) for sample in SAMPLES]


@pytest.mark.emulator
def test_console_is_heard(built, qemu, standin):
    samples = [bytes([what] + [0] * 15) for what in (fake_model.PRINT, fake_model.SERIAL)]
    assert standin.run(request_for(built, samples)).console == "hello from the model\nhi"
    board, result = built("nucleo-f446re")
    other = qemu.run(RunRequest(result.emulation, board, fake_model.MODEL, samples[:1]))
    assert printed(other.console) == "hello from the model\n"


@pytest.mark.emulator
def test_console_that_cannot_be_heard_does_not_stop_the_run(built, monkeypatch, tmp_path):
    pytest.importorskip("unicorn")
    altered(monkeypatch, tmp_path, "self.CharReceived = _Event()", "pass")
    got = renode.Renode().run(request_for(built, SAMPLES))
    assert got.outputs == [fake_model.expected(sample) for sample in SAMPLES]
    assert got.console.startswith("(semihosting is not heard: ")


@pytest.mark.emulator
def test_emulated_time_has_a_limit(built, standin):
    request = request_for(built, [bytes([fake_model.HANG] + [0] * 15)], emulated_s=0.1)
    with pytest.raises(
        RunFailed, match=r"running after 0\.1 s of emulated time, in sample 0"
    ) as how:
        standin.run(request)
    assert how.value.where.startswith("kws_misbehave")


@pytest.mark.emulator
@pytest.mark.parametrize("name", ["microbit-v1", "nucleo-f446re", "nucleo-u575zi"])
def test_profile_by_call_stacks(built, standin, name):
    """Functions that are called, not jumped to: Renode's way gives what blocks give."""
    board, result = built(name)
    request = RunRequest(result.emulation, board, fake_model.MODEL, [bytes(range(16))])
    engines, expected = count_functions(request, "unicorn")
    assert engines == ("unicorn",)
    engines, counts = count_functions(request, "renode", result.hooks)
    assert engines == ("renode",)
    assert counts == expected


@pytest.mark.emulator
def test_poisoned_harness(standin, tmp_path):
    """It gives the same bytes, and others once its table names all of the arena before the sum."""
    digits, folder = Path(__file__).parents[2] / "examples" / "digits", tmp_path / "digits"
    data, options = digits / "calibration.npz", ConvertOptions(prefix="digits")
    project = pipeline.convert(digits / "model.onnx", data, "nucleo-f446re", folder, options)
    graph, codes, made = project.graph(), project.samples()[0], project.manifest
    right = simulate(graph, codes)[graph.outputs[0]].tobytes()
    (run,) = run_engines(project, graph, [codes], "renode", 60, poisoned=True)
    assert run.outputs == [right]
    table = folder / "firmware" / "poison.h"
    lines = table.read_text().splitlines()
    spans = [i for i, line in enumerate(lines) if line.startswith("    {digits_arena + ")]
    (layer,) = (i for i, fact in enumerate(made.layers) if fact.op == "Add")
    first = sum(len(mark) for mark in made.firmware.dead[:layer])
    lines[spans[first]] = f"    {{digits_arena + 0, {made.arena_bytes}u}},"
    table.write_text("\n".join(lines) + "\n")
    (run,) = run_engines(project, graph, [codes], "renode", 60, poisoned=True)
    assert run.outputs != [right]


@pytest.mark.emulator
def test_profile_of_a_model(standin, tmp_path):
    digits, folder = Path(__file__).parents[2] / "examples" / "digits", tmp_path / "digits"
    data, options = digits / "calibration.npz", ConvertOptions(prefix="digits")
    pipeline.convert(digits / "model.onnx", data, "nucleo-f446re", folder, options)
    found, expected = (pipeline.profile_functions(folder, kind) for kind in ("renode", "unicorn"))
    assert (found.root, found.engines) == ("digits_run", ("renode",))
    assert found.layers == expected.layers


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("main;kws_run 10\n", "the stacks end after 10 instructions, the last layer after 300"),
        ("main;kws_run 90\nmain;f 210\n", "50 instructions in the functions of loop, of 48"),
        ("main;kws_run\n", "no collapsed stack: 'main;kws_run'"),
    ],
)
def test_stacks_that_do_not_fit_are_refused(tmp_path, text, told):
    (tmp_path / "events").write_text("".join(f"M 0 {n}\n" for n in (1, 2, 100, 150, 200, 300)))
    (tmp_path / "stacks.txt").write_text(text)
    with pytest.raises(RunFailed, match=told):
        per_function(tmp_path, np.array([48, 48, 98]), fake_model.MODEL)


def test_stacks_are_read_whatever_stands_behind_a_name(tmp_path):
    (tmp_path / "events").write_text("".join(f"M 0 {n}\n" for n in (1, 2, 100, 150, 200, 300)))
    lines = ["a 90", "a;kws_run 20", "a;kws_run;f (entry) 45", "a;kws_run 10"]
    lines += ["a;kws_run;g+0x12 (guessed) 135"]
    (tmp_path / "stacks.txt").write_text("\n".join(lines) + "\n")
    counts = per_function(tmp_path, np.array([48, 48, 100]), fake_model.MODEL)
    assert counts == [{"kws_run": 8, "f": 40}, {"f": 5, "kws_run": 8, "g": 35}, {"g": 100}]
