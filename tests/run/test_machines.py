"""The table of machines, the MPU's registers, the linker scripts."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.run import fake_model
from toolchain.board import list_boards, load_board
from toolchain.emit.machines import MACHINES, machine_for, stand_ins
from toolchain.emit.mpu import decompose, register_pairs
from toolchain.errors import InputRefused
from toolchain.run.qemu import instructions


@pytest.mark.parametrize("name", list_boards())
def test_machine_is_large_enough_for_the_board(name):
    board = load_board(name)
    machine = machine_for(board)
    assert board.ram.bytes <= machine.ram.bytes
    assert board.flash.bytes <= machine.flash.bytes
    assert machine.core == {"cortex-m0": "cortex-m3", "cortex-m0plus": "cortex-m3"}.get(
        board.cpu, board.cpu
    )


def test_unknown_machine_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    source = load_board("mps2-an385")
    text = (
        f'name = "mine"\ndescription = "x"\ncpu = "{source.cpu}"\nclock_hz = 1\n'
        '[qemu]\nmachine = "pdp-11"\n'
        '[[memory]]\nname = "f"\nkind = "flash"\norigin = 0\nbytes = 1024\n'
        '[[memory]]\nname = "r"\nkind = "ram"\norigin = 1024\nbytes = 1024\n'
    )
    path.write_text(text)
    with pytest.raises(InputRefused, match="pdp-11"):
        machine_for(load_board(path))


@pytest.mark.parametrize("machine", MACHINES.values(), ids=lambda machine: machine.name)
@given(counts=st.lists(st.integers(0, 2**31), min_size=1), start=st.integers(0, 2**40))
@settings(max_examples=100, deadline=None)
def test_tick_differences_give_exact_instruction_counts(machine, counts, start):
    """Readings are cut to whole ticks, at any phase of the clock."""
    ratio = machine.timer.ticks_per_instruction
    readings = [int(position * ratio) for position in np.cumsum([start, *counts]).tolist()]
    ticks = np.diff(np.array(readings, dtype=np.int64))
    assert instructions(ticks, ratio).tolist() == counts


@given(start=st.integers(0, 2**14), size=st.integers(1, 2**17))
@settings(deadline=None)
def test_decomposition_covers_exactly_the_range(start, size):
    origin, length = 0x20000000 + 32 * start, 32 * size
    spans = []
    for region in decompose(origin, length):
        assert region.size >= 256
        assert region.size & (region.size - 1) == 0
        assert region.base % region.size == 0
        assert 0 <= region.disabled < 255
        spans += region.spans
    spans.sort()
    assert spans[0][0] == origin
    assert spans[-1][1] == origin + length
    assert all(one[1] == two[0] for one, two in itertools.pairwise(spans))


@given(kib=st.integers(1, 4096))
@settings(deadline=None)
def test_eight_regions_are_enough_for_any_ram(kib):
    assert len(register_pairs(MACHINES["mps2-an386"], 1024 * kib)) <= 8


@pytest.mark.parametrize("name", list_boards())
def test_the_other_memories_of_a_board_have_a_place(name):
    """Apart from each other and from what the machine uses already; the MPU has the regions."""
    board = load_board(name)
    machine = machine_for(board)
    others = [m for m in board.memory if m.name not in (board.ram.name, board.flash.name)]
    found = stand_ins(machine, others)
    assert [(m.name, m.kind) for m in found] == [(m.name, m.kind) for m in others]
    assert all(m.bytes == min(m.bytes, o.bytes) for m, o in zip(found, others, strict=True))
    taken = [machine.flash, machine.ram, machine.harness, *found]
    for one, two in itertools.combinations(taken, 2):
        assert one.end <= two.origin or two.end <= one.origin
    assert all(machine.further.origin <= m.origin and m.end <= machine.further.end for m in found)
    usable = [m for m, other in zip(found, others, strict=True) if other.origin]
    assert len(register_pairs(machine, board.ram.bytes, usable)) <= 8


def test_mpu_registers_of_128_kib():
    pairs = register_pairs(MACHINES["mps2-an386"], 128 * 1024)
    assert pairs == [
        (0x00000000, 6 << 24 | 1 << 17 | 21 << 1 | 1),  # 4 MiB, read-only
        (0x20000000, 1 << 28 | 3 << 24 | 1 << 17 | 16 << 1 | 1),  # 128 KiB, never executable
        (0x21000000, 1 << 28 | 3 << 24 | 1 << 17 | 18 << 1 | 1),  # 512 KiB of the harness
        (0x40000000, 1 << 28 | 3 << 24 | 1 << 16 | 11 << 1 | 1),  # 4 KiB of the timer
    ]


def test_mpu_registers_v8m():
    pairs = register_pairs(MACHINES["mps2-an505"], 768 * 1024)
    assert pairs[0] == (0x10000000 | 6, 0x103FFFE0 | 1)
    assert pairs[1] == (0x38000000 | 3, 0x380BFFE0 | 1)
    assert pairs[3] == (0x50000000 | 3, 0x50000FE0 | 2 | 1)


def regions(path):
    found = re.findall(r"(\w+) \(r\w\) : ORIGIN = (0x\w+), LENGTH = (\d+)", path.read_text())
    return {name: (int(origin, 16), int(length)) for name, origin, length in found}


def test_board_script_has_the_map_of_the_board(tmp_path):
    fake_model.write_project(tmp_path / "p", "raspberry-pi-pico")
    found = regions(tmp_path / "p" / "firmware" / "board.ld")
    assert found == {"FLASH": (0x10000100, 2 * 2**20 - 256), "RAM": (0x20000000, 264 * 1024)}


def test_emulator_script_has_the_machine_s_map_and_the_board_s_sizes(tmp_path):
    fake_model.write_project(tmp_path / "p", "nucleo-f446re")
    found = regions(tmp_path / "p" / "firmware" / "emulator.ld")
    assert found["FLASH"] == (0x00000000, 512 * 1024)
    assert found["RAM"] == (0x20000000, 128 * 1024)
    assert found["HARNESS"][0] == 0x21000000


def test_vector_table_apart_from_the_flash(tmp_path):
    fake_model.write_project(tmp_path / "p", "mps3-an547")
    for script in ("board.ld", "emulator.ld"):
        found = regions(tmp_path / "p" / "firmware" / script)
        assert found["VECTORS"][0] == 0
        assert found["FLASH"][0] == 0x01000000


def test_project_is_reproducible(tmp_path):
    def text(folder):
        return {
            path.relative_to(folder): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    one = fake_model.write_project(tmp_path / "one", "nucleo-f446re")
    two = fake_model.write_project(tmp_path / "two", "nucleo-f446re")
    assert text(one) == text(two)
    assert len(text(one)) > 12
