"""Every injected fault is reported with what, where and what to do, in time, with exit code 1."""

import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from tests.run import faults
from toolchain import pipeline
from toolchain.cli import main
from toolchain.options import ConvertOptions
from toolchain.project import Project
from toolchain.run import build

pytestmark = pytest.mark.emulator
DIGITS = Path(__file__).parents[2] / "examples" / "digits"
BOARDS = {"M0+": "raspberry-pi-pico", "M4": "nucleo-f446re", "M33": "nucleo-u575zi"}
CASES = [
    *(("M4", fault) for fault in faults.FAULTS),
    ("M33", "stack_overflow"),  # caught by the core's stack limit, not by the memory map
    ("M0+", "write_flash"),
    ("M0+", "breakpoint_left"),
]
LIMIT_S = 3
SLACK_S = 25
"""For asking Ninja, for starting the emulator twice, and a second run, on a busy machine."""

# Where; what; what to do. {layer}, {before}: names of the fault's layer and of the one before;
# {table}: symbol of its weights; {size}: bytes of the arena; {output}: the first wrong tensor.
TOLD = {
    "short_arena": (
        r"layer \S+",
        r"wrote past the end of digits_arena: byte 0 behind it became 0x\w\w",
        "the plan needs {size} bytes",
    ),
    "canary": (
        "layer {layer}",
        "wrote past the end of digits_arena: byte 3 behind it became 0x07",
        "the plan needs {size} bytes",
    ),
    "write_flash": (
        r"injected(\+0x\w+)?, layer {layer}",
        r"wrote to flash at 0x\w+ \({table}\) \(",
        "constants are fixed",
    ),
    "stack_overflow": (
        r"injected(\+0x\w+)?, layer {layer}",
        "stack overflow: 2048 bytes are not enough",
        "a larger --stack",
    ),
    "endless_loop": (
        r"injected(\+0x\w+)?, layer {layer}",
        f"still running after {LIMIT_S} s, in sample 0",
        "the function named never ends",
    ),
    "undefined": (
        r"injected(\+0x\w+)?, layer {layer}",
        r"undefined instruction \(",
        "compiled with other -mcpu flags",
    ),
    "supervisor_call": (
        r"injected(\+0x\w+)?, layer {layer}",
        r"executed SVC #3, a call of an operating system: there is none \(SVC",
        "built for an operating system",
    ),
    "breakpoint_left": (
        r"injected(\+0x\w+)?, layer {layer}",
        r"executed BKPT #5, a breakpoint, without a debugger \(",
        "a breakpoint that was left in",
    ),
    "wrong_weight": (
        "",
        r"first difference: sample 0, layer {layer}, \S+\[.*\]: firmware -?\d+, integer model ",
        "the generated code is wrong",
    ),
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Function: core and fault -> the project with the fault; built once for all engines."""
    folder = tmp_path_factory.mktemp("faults")

    def make(core: str, fault: str) -> Project:
        sound, target = folder / core, folder / f"{core}-{fault}"
        if not sound.exists():
            model, calibration = DIGITS / "model.onnx", DIGITS / "calibration.npz"
            options = ConvertOptions(prefix="digits")
            pipeline.convert(model, calibration, BOARDS[core], sound, options)
        if not target.exists():
            shutil.copytree(sound, target)
            faults.inject(target, fault)
            build(target)
        return Project(target)

    return make


def command(project: Project, fault: str, engine: str) -> list[str]:
    name = "compare" if fault == "wrong_weight" else "emulate"
    data = ["--data", str(DIGITS / "test.npz"), "--samples", "8"]
    return [name, str(project.directory), *data, "--emulator", engine, "--timeout", str(LIMIT_S)]


@pytest.mark.parametrize("engine", ["qemu", "unicorn"])
@pytest.mark.parametrize(("core", "fault"), CASES)
def test_fault_is_reported(broken, core, fault, engine, monkeypatch, capsys):
    if engine == "unicorn":
        pytest.importorskip("unicorn")
    project = broken(core, fault)
    monkeypatch.setattr(sys, "argv", ["onnx2mcu", *command(project, fault, engine)])
    capsys.readouterr()
    started = time.monotonic()
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert time.monotonic() - started < LIMIT_S + SLACK_S
    message = capsys.readouterr().err
    error, hint = message.strip().splitlines()
    names = {
        "layer": re.escape(project.manifest.layers[faults.LAYER].name),
        "table": faults.table(project),
        "size": project.manifest.arena_bytes,
    }
    where, what, do = (text.format(**names) for text in TOLD[fault])
    stage = command(project, fault, engine)[0]
    between = ": " if where else ".*"
    assert re.match(rf"error: {stage}: {where}{between}{what}", error), message
    assert hint.startswith("hint: "), message
    assert do in hint, message
    assert "Traceback" not in message


def test_arena_that_is_too_small_does_not_compile(broken, monkeypatch, capsys):
    """The assertion that `short_arena` takes away says it first."""
    project = broken("M4", "short_arena")
    source = project.directory / "digits.c"
    text, size = source.read_text(), project.manifest.arena_bytes
    check = f'_Static_assert(DIGITS_ARENA_BYTES >= {size}, "DIGITS_ARENA_BYTES must be {size}");\n'
    try:
        source.write_text(text.replace("#include <stddef.h>\n", f"#include <stddef.h>\n{check}"))
        monkeypatch.setattr(sys, "argv", ["onnx2mcu", "build", str(project.directory)])
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        source.write_text(text)
    assert ended.value.code == 1
    assert f"DIGITS_ARENA_BYTES must be {size}" in capsys.readouterr().err
