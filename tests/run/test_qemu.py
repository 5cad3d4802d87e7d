"""Firmware in QEMU: equal bytes, exact counts, and every fault as one clear sentence."""

import re
import subprocess
from collections import Counter

import numpy as np
import pytest

from tests.run import fake_model
from tests.run.conftest import CORES
from toolchain.emit.machines import machine_for
from toolchain.errors import InputRefused, RunFailed
from toolchain.run import Elf, RunRequest, choose
from toolchain.run.qemu import PROGRAM, command

pytestmark = pytest.mark.emulator
BOARDS = [CORES[cpu] for cpu in CORES if cpu != "cortex-m0"]
SAMPLES = [bytes(range(start, start + 16)) for start in (0, 3, 60, 84, 7)]


def run(built, qemu, name, samples, **more):
    board, result = built(name)
    return qemu.run(RunRequest(qemu.elf(result), board, fake_model.MODEL, samples, **more))


@pytest.mark.parametrize("name", BOARDS)
def test_outputs_are_equal_and_counts_repeat(built, qemu, name):
    got = run(built, qemu, name, SAMPLES)
    assert got.outputs == [fake_model.expected(sample) for sample in SAMPLES]
    assert got.instructions.shape == (len(SAMPLES), 3)
    assert (got.instructions == got.instructions[0]).all()
    again = run(built, qemu, name, SAMPLES)
    np.testing.assert_array_equal(again.instructions, got.instructions)
    assert again.stack_bytes == got.stack_bytes
    assert 16 <= got.stack_bytes <= 64


@pytest.mark.parametrize("name", BOARDS)
def test_counts_equal_the_log_of_every_instruction(built, qemu, name, tmp_path):
    """QEMU's own log, one line an instruction, knows nothing of the timer."""
    board, result = built(name)
    elf = Elf(result.emulation)
    (tmp_path / "in.bin").write_bytes(SAMPLES[0])
    words = command(machine_for(board), elf.path, 1, 0)
    at = words.index("-icount")
    del words[at : at + 2]  # with it the log repeats a block that was entered but not run
    told = subprocess.run([PROGRAM, "-help"], capture_output=True, text=True, timeout=60).stdout
    one = ["-singlestep"] if "-singlestep" in told else ["-accel", "tcg,one-insn-per-tb=on"]
    words += [*one, "-d", "exec,nochain", "-D", "log.txt"]
    subprocess.run(words, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    log = (tmp_path / "log.txt").read_text()
    addresses = [int(text, 16) for text in re.findall(r"^Trace \d+: \S+ \[\w+/(\w+)/", log, re.M)]
    mark = elf.address("onnx2mcu_mark")
    marks = [index for index, address in enumerate(addresses) if address == mark]
    between = np.diff(marks)
    assert len(marks) == 2 + 4  # calibration, then the layers
    logged = between[2:] - between[0]
    got = run(built, qemu, name, [SAMPLES[0]])
    assert got.instructions[0].tolist() == logged.tolist()
    loop = elf.address("kws_run")
    hits = Counter(address for address in addresses if loop <= address < loop + 64)
    assert sorted(hits.values())[-2:] == [fake_model.LOOP, fake_model.LOOP]
    assert 0 <= got.instructions[0][0] - (2 * fake_model.LOOP + 1) <= 1  # one scheduled in


def test_layers_of_the_first_samples_are_dumped(built, qemu):
    got = run(built, qemu, "nucleo-f446re", SAMPLES, dump_samples=2)
    want = [[b"", fake_model.expected(s), fake_model.expected(s)] for s in SAMPLES[:2]]
    assert got.dumps == want
    plain = run(built, qemu, "nucleo-f446re", SAMPLES)
    np.testing.assert_array_equal(got.instructions, plain.instructions)
    assert got.stack_bytes == plain.stack_bytes


def test_dump_of_every_sample(built, qemu):
    got = run(built, qemu, "nucleo-f446re", SAMPLES[:2], dump_samples=9)
    assert len(got.dumps) == 2


def test_no_samples_is_no_error(built, qemu):
    got = run(built, qemu, "nucleo-f446re", [])
    assert got.outputs == []
    assert got.instructions.shape == (0, 3)


def test_sample_of_the_wrong_size_is_refused(built, qemu):
    with pytest.raises(RunFailed, match="15 bytes"):
        run(built, qemu, "nucleo-f446re", [bytes(15)])


FAULTS = {
    fake_model.WRITE_PAST_RAM: (r"access to 0x\w+, 0 bytes past the end", "kws_misbehave"),
    fake_model.WRITE_FLASH: (r"wrote to flash at 0x\w+ \(kws_w\)", "kws_misbehave"),
    fake_model.OVERFLOW: ("stack overflow: 1024 bytes", "kws_overflow"),
    fake_model.UNDEFINED: ("undefined instruction", "kws_misbehave"),
    fake_model.SUPERVISOR: (r"executed SVC #3.*\(SVCall, CFSR 0x0+, PC", "kws_misbehave"),
    fake_model.BREAKPOINT: (r"executed BKPT #5.*\(HardFault, CFSR 0x0+, PC", "kws_misbehave"),
    fake_model.EXECUTE_RAM: ("not executable", "kws_arena"),
    fake_model.STATUS: ("status -7", "emulation.elf"),
    fake_model.HANG: ("still running after 1 s, in sample 1", "kws_misbehave"),
}


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("what", FAULTS)
def test_fault_is_one_clear_sentence(built, qemu, name, what):
    message, where = FAULTS[what]
    bad = bytes([what] + [0] * 15)
    limit = 1.0 if what == fake_model.HANG else 30.0
    with pytest.raises(RunFailed, match=message) as caught:
        run(built, qemu, name, [SAMPLES[0], bad], timeout_s=limit)
    assert caught.value.where.startswith(where)
    assert "\n" not in str(caught.value)


def test_program_for_another_core_is_refused(built, qemu):
    board, _ = built("mps2-an385")
    _, other = built("nucleo-f446re")
    request = RunRequest(other.emulation, board, fake_model.MODEL, SAMPLES)
    with pytest.raises(RunFailed, match="built for Armv7E-M, but cortex-m3 is Armv7-M"):
        qemu.run(request)


def test_choice(built, qemu, monkeypatch):
    board, _ = built("mps3-an547")
    assert [engine.name for engine in choose("qemu", board)] == ["qemu"]
    with pytest.raises(InputRefused, match="does not emulate cortex-m55"):
        choose("unicorn", board)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputRefused, match="apt install qemu-system-arm"):
        choose("qemu", board)
