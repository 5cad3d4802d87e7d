"""The arm_mve.h for the host against the instructions of an emulated Cortex-M55."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.test_cores import CORES, FIRMWARE
from tests.sanitized.program import HOST, MVE, compile_c
from toolchain.resources import CMSIS_GLUE

ROUNDS = 60
PROBE = HOST / "mve_probe.c"


def _mixed(rng: np.random.Generator, bits: int, count: int) -> list[int]:
    """Values of all magnitudes, with the ends of the range among them."""
    top = 2 ** (bits - 1)
    ends = [-top, -top + 1, -1, 0, 1, top - 1]
    scaled = np.ldexp(rng.uniform(-1, 1, count), rng.integers(1, bits, count)).astype(np.int64)
    return [int(rng.choice(ends)) if rng.random() < 0.2 else int(v) for v in scaled]


def _lanes(rng: np.random.Generator, size: int) -> int:
    """A predicate of whole lanes of `size` bytes."""
    bits = np.repeat(rng.integers(0, 2, 16 // size), size)
    return int(np.packbits(bits, bitorder="little").view("<u2")[0])


def _round(rng: np.random.Generator) -> str:
    shifts = (rng.integers(-40, 41, 4) & 0xFF) | (rng.integers(-(2**23), 2**23, 4) << 8)
    arrays = [
        *(_mixed(rng, 8, 16) for _ in range(2)),
        *(_mixed(rng, 32, 4) for _ in range(2)),
        shifts.tolist(),
        *(_mixed(rng, 16, 8) for _ in range(2)),
    ]
    scalars = [*_mixed(rng, 32, 1), int(rng.choice([0, 1, 3, 4, 7, 8, 15, 16, 17, 2**31]))]
    scalars += [_lanes(rng, 1), _lanes(rng, 2), _lanes(rng, 4)]
    fields = ["{" + ", ".join(map(_literal, values)) + "}" for values in arrays]
    return "{" + ", ".join([*fields, *map(_literal, scalars)]) + "}"


def _literal(value: int) -> str:
    return "INT32_MIN" if value == -(2**31) else str(value)


def _operands(folder: Path) -> None:
    rng = np.random.default_rng(0)
    rows = ",\n".join(_round(rng) for _ in range(ROUNDS))
    (folder / "operands.h").write_text(f"static const operands rounds[] = {{\n{rows}}};\n")


def _on_host(folder: Path) -> list[str]:
    program = folder / "host"
    compile_c([f"-I{folder}", *MVE, str(PROBE), "-o", str(program)])
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def _in_emulator(folder: Path) -> list[str]:
    for program in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    core, machine = CORES["mve"]
    elf = folder / "probe.elf"
    command = ["arm-none-eabi-gcc", "-mthumb", f"-mcpu={core}", "-mfloat-abi=hard", "-O1"]
    command += ["-nostartfiles", f"-T{FIRMWARE / 'link.ld'}", f"-I{folder}", str(PROBE)]
    subprocess.run([*command, "-o", str(elf)], check=True)
    emulator = ["qemu-system-arm", "-M", machine, "-nographic", "-monitor", "none"]
    emulator += ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*emulator, "-kernel", str(elf)], capture_output=True, text=True, timeout=60, check=False
    )
    return (done.stdout + done.stderr).splitlines()


@pytest.mark.emulator
def test_intrinsics_do_what_the_instructions_do(tmp_path: Path) -> None:
    _operands(tmp_path)
    expected, got = _in_emulator(tmp_path), _on_host(tmp_path)
    assert len(expected) > 50 * ROUNDS
    wrong = {line.split()[0] for line, other in zip(got, expected, strict=True) if line != other}
    assert not wrong


def test_every_intrinsic_of_the_kernels_is_compared() -> None:
    pattern = re.compile(r"\b(v[a-z0-9]+q(?:_[a-z0-9_]+)?)\(")
    files = [path for path in (CMSIS_GLUE / "src").iterdir() if path.suffix in {".c", ".h"}]
    used = {name for path in files for name in pattern.findall(path.read_text())}
    assert len(used) > 50
    assert used <= set(pattern.findall(PROBE.read_text()))
