"""renode/ of a project, carried out command by command on the stand-in, which is not Renode."""

import re
import shutil
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from tests.rows.exported import channels_first
from tests.run import faults
from toolchain import pipeline
from toolchain.board import list_boards, load_board
from toolchain.emit.renode import DIFFERENT, EQUAL, FAULT, spare_address
from toolchain.options import ConvertOptions
from toolchain.project import Project
from toolchain.run import Elf

pytest.importorskip("unicorn")
DIGITS = Path(__file__).parents[2] / "examples" / "digits"
BOARDS = ["microbit-v1", "mps2-an385", "nucleo-f446re", "nucleo-u575zi"]


@pytest.fixture
def wrappers(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "standin"))
    import pyrenode3.wrappers

    yield pyrenode3.wrappers
    for name in [name for name in sys.modules if name.startswith("pyrenode3")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Function: board and fault -> a built project."""
    folder = tmp_path_factory.mktemp("renode")

    def make(board, fault=None):
        target = folder / f"{board}-{fault}"
        options = ConvertOptions(prefix="digits")
        pipeline.convert(DIGITS / "model.onnx", DIGITS / "calibration.npz", board, target, options)
        if fault:
            faults.inject(target, fault)
        pipeline.emulation.build_project(target)
        return Project(target)

    return make


class Monitor:
    """The commands of run.resc, and no others."""

    def __init__(self, wrappers, folder, slices):
        self.emulation, self.folder = wrappers.Emulation(), folder
        self.elf = None
        self.interval = wrappers._Interval()
        self.slices = slices

    def execute(self, line):
        line = re.sub(r"`sysbus GetSymbolAddress \"(\w+)\"`", self._symbol, line)
        line = line.replace("$ORIGIN", str(self.folder))
        words = line.split()
        return self.COMMANDS[tuple(words[:2])](self, words) or ""

    def _create(self, words):
        self.machine = self.emulation.add_mach(words[2].strip('"'))

    def _load_elf(self, words):
        self.elf = Elf(Path(words[2]))
        self.machine.load_elf(words[2])

    def _vector_table(self, words):
        self.machine.cpu.VectorTableOffset = int(words[2])

    def _run(self, _words):
        for _ in range(self.slices):
            self.emulation.RunFor(self.interval)
            if self.machine.bus.ReadDoubleWord(self.elf.address("onnx2mcu_check_state")):
                break

    COMMANDS: ClassVar = {
        ("mach", "create"): _create,
        ("machine", "LoadPlatformDescription"): lambda self, w: self.machine.load_repl(w[2]),
        ("sysbus", "LoadBinary"): lambda self, w: self.machine.cpu.core.mem_write(
            int(w[3], 16), Path(w[2]).read_bytes()
        ),
        ("sysbus", "LoadELF"): _load_elf,
        ("sysbus.cpu", "PerformanceInMips"): lambda self, w: int(w[2]) and None,
        ("sysbus.cpu", "VectorTableOffset"): _vector_table,
        ("emulation", "SetGlobalAdvanceImmediately"): lambda self, w: None,
        ("emulation", "RunFor"): _run,
        ("sysbus", "ReadDoubleWord"): lambda self, w: (
            f"0x{self.machine.bus.ReadDoubleWord(int(w[2])):08X}"
        ),
    }

    def _symbol(self, match):
        return str(self.elf.address(match[1]))


def robot(wrappers, project, slices=20):
    """Carry out the Robot test; returns (its state, what it must contain, monitor)."""
    folder = project.directory / "renode"
    monitor = Monitor(wrappers, folder, slices)
    lines = (folder / "check.robot").read_text().split("*** Test Cases ***")[1].splitlines()
    state = expected = ""
    for line in lines[2:]:
        cells = re.split(r"\s{2,}", line.strip())
        if cells[0] == "Execute Script":
            script = folder / cells[1].replace("${CURDIR}/", "")
            for command in script.read_text().splitlines():
                if command and command[0] not in "#:":
                    monitor.execute(command)
        elif cells[0] == "Execute Command":
            monitor.execute(cells[1])
        elif cells[0] == "${state}=":
            state = monitor.execute(cells[2])
        elif cells[0] == "Should Contain":
            expected = cells[2]
    return int(state, 16), int(expected, 16), monitor


@pytest.mark.emulator
@pytest.mark.parametrize("board", BOARDS)
def test_outputs_are_equal(wrappers, checked, board):
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    state, expected, monitor = robot(wrappers, checked(board))
    assert state == expected == EQUAL
    symbol = '`sysbus GetSymbolAddress "onnx2mcu_check_sample"`'
    assert int(monitor.execute(f"sysbus ReadDoubleWord {symbol}"), 16) == 2


@pytest.mark.emulator
@pytest.mark.parametrize("channels", [1, 3])
def test_outputs_are_equal_where_rows_come_in(wrappers, channels, tmp_path):
    model, data = channels_first(tmp_path, np.random.default_rng(channels), channels)
    options = ConvertOptions(by_rows=True)
    project = pipeline.convert(model, data, "nucleo-f446re", tmp_path / "project", options)
    pipeline.emulation.build_project(project.directory)
    state, expected, _ = robot(wrappers, project)
    assert state == expected == EQUAL


@pytest.mark.emulator
@pytest.mark.parametrize(("fault", "state"), [("wrong_weight", DIFFERENT), ("endless_loop", 0)])
def test_faults_are_not_equal(wrappers, checked, fault, state):
    found, expected, _ = robot(wrappers, checked("nucleo-f446re", fault), 2 if state == 0 else 20)
    assert found == state != expected
    assert FAULT not in (found, expected)


@pytest.mark.parametrize("name", list_boards())
def test_samples_lie_outside_the_memory_of_the_part(name):
    board = load_board(name)
    at = spare_address(board)
    assert all(memory.end <= at or at + (1 << 28) <= memory.origin for memory in board.memory)
