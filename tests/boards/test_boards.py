"""The shipped boards, and what is said about a wrong one."""

import pytest

from toolchain.board import Isa, list_boards, load_board
from toolchain.errors import InputRefused

KIB = 1024
GOOD = """
name = "mine"
description = "a part"
cpu = "cortex-m4"
fpu = "fpv4-sp-d16"
clock_hz = 100_000_000

[[memory]]
name = "flash"
kind = "flash"
origin = 0x08000000
bytes = 131072

[[memory]]
name = "sram"
kind = "ram"
origin = 0x20000000
bytes = 65536
"""

# name: (cpu, flash for code and weights, RAM for the arena), in KiB, from the parts' data sheets
PARTS = {
    "nucleo-f446re": ("cortex-m4", 512, 128),
    "stm32f4-discovery": ("cortex-m4", 1024, 128),
    "nucleo-l4r5zi": ("cortex-m4", 2048, 640),
    "stm32f746g-disco": ("cortex-m7", 1024, 320),
    "nucleo-h743zi": ("cortex-m7", 2048, 512),
    "nucleo-u575zi": ("cortex-m33", 2048, 768),
    "nrf52840-dk": ("cortex-m4", 1024, 256),
    "arduino-nano-33-ble": ("cortex-m4", 960, 256),
    "raspberry-pi-pico": ("cortex-m0plus", 2047.75, 264),
    "raspberry-pi-pico-2": ("cortex-m33", 4096, 520),
    "microbit-v1": ("cortex-m0", 256, 16),
    "mps2-an385": ("cortex-m3", 4096, 4096),
    "mps2-an386": ("cortex-m4", 4096, 4096),
    "mps2-an500": ("cortex-m7", 4096, 4096),
    "mps2-an505": ("cortex-m33", 4096, 4096),
    "mps3-an547": ("cortex-m55", 2048, 4096),
}


def test_every_board_is_listed():
    assert list_boards() == tuple(sorted(PARTS))


@pytest.mark.parametrize("name", list_boards())
def test_board_has_the_sizes_of_the_part(name):
    board = load_board(name)
    cpu, flash, ram = PARTS[name]
    assert board.name == name
    assert board.cpu == cpu
    assert board.flash.bytes == flash * KIB
    assert board.ram.bytes == ram * KIB
    assert board.flash.kind == "flash"
    assert board.ram.kind == "ram"


def test_instruction_sets():
    isas = {name: load_board(name).isa for name in list_boards()}
    assert isas["raspberry-pi-pico"] is isas["microbit-v1"] is Isa.BASELINE
    assert isas["mps2-an385"] is Isa.SCALAR
    assert isas["nucleo-f446re"] is isas["nucleo-h743zi"] is isas["nucleo-u575zi"] is Isa.DSP
    assert isas["mps3-an547"] is Isa.MVE
    assert load_board("mps3-an547").alignment == 16
    assert load_board("nucleo-f446re").alignment == 4


def test_gcc_flags():
    m4 = load_board("nucleo-f446re").gcc_flags
    assert m4 == ("-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
    m0 = load_board("raspberry-pi-pico").gcc_flags
    assert m0 == ("-mthumb", "-mcpu=cortex-m0plus", "-mfloat-abi=soft")


def test_firmware_starts_behind_the_boot_loader():
    assert load_board("raspberry-pi-pico").flash.origin == 0x10000100
    assert load_board("arduino-nano-33-ble").flash.origin == 0x00010000


def test_unknown_board_names_the_close_ones():
    with pytest.raises(InputRefused, match="unknown board") as caught:
        load_board("nucleo-f446")
    assert "did you mean nucleo-f446re" in caught.value.hint
    assert all(name in caught.value.hint for name in list_boards())


def test_own_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    assert load_board(path) == load_board(str(path))
    assert load_board(path).ram.bytes == 64 * KIB


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "mine"', 'name = "../mine"', r"at `\$.name`"),
        ("a part", "a part */ int x;", r"at `\$.description`"),
        ("a part", r"a part\nfoo", r"at `\$.description`"),
        ("bytes = 131072", 'bytes = "128K"', r"Expected `int`, got `str` - at `\$.memory\[0\].by"),
        ("bytes = 65536", "bytes = 65000", r"multiple of 1024.* - at `\$.memory\[1\].bytes`"),
        ("bytes = 65536", "bytes = 0", r"at `\$.memory\[1\].bytes`"),
        ("origin = 0x20000000", "origin = 0x20000004", r"at `\$.memory\[1\].origin`"),
        ("origin = 0x20000000", "origin = 0x08001000", "flash and sram overlap"),
        ("origin = 0x20000000", "origin = 0xFFFFF000", r"at `\$.memory\[1\].bytes`"),
        ("bytes = 65536", "bytes = 65536\nreserved = 65536", r"at `\$.memory\[1\].reserved`"),
        ('name = "sram"', 'name = "s ram"', r"at `\$.memory\[1\].name`"),
        ('name = "sram"', 'name = "flash"', "two regions are called flash"),
        ('kind = "ram"', 'kind = "rom"', r"at `\$.memory\[1\].kind`"),
        ('kind = "ram"', 'kind = "flash"', r"kind ram - at `\$.memory`"),
        ("clock_hz", "clok_hz", r"missing required field `clock_hz`|unknown field `clok_hz`"),
        ("clock_hz = 100_000_000", "clock_hz = 0", r"at `\$.clock_hz`"),
        ('cpu = "cortex-m4"', 'cpu = "cortex-m85"', r"at `\$.cpu`"),
        ('cpu = "cortex-m4"', 'cpu = "cortex-m3"', "cortex-m3 has no fpv4-sp-d16"),
        ("clock_hz", "speed = 1\nclock_hz", "unknown field `speed`"),
        ('cpu = "cortex-m4"', "cpu = cortex-m4", "not a TOML file"),
    ],
)
def test_wrong_file_is_refused_with_the_path_of_the_field(tmp_path, old, new, told):
    assert old in GOOD
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputRefused, match=told) as caught:
        load_board(path)
    assert caught.value.where == str(path)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(InputRefused, match="No such file"):
        load_board(tmp_path / "none.toml")


def test_mve_needs_its_unit(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace("cortex-m4", "cortex-m55").replace('fpu = "fpv4-sp-d16"', ""))
    with pytest.raises(InputRefused, match='fpu = "auto"'):
        load_board(path)
