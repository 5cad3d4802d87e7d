"""The same random layers on emulated cores: cmsis_glue, and CMSIS-NN 4.0.0 in C, DSP and MVE form.

The real library also says how much scratch it wants; toolchain.ops._scratch must cover that.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.kernels import oracle
from tests.kernels.cases import Window, clamp_range, codes
from tests.kernels.conftest import GLUE, cmsis_nn_folder
from tests.kernels.limits import convolution_limits, depthwise_limits
from tests.kernels.native import Activation, Dims, PoolParams, tile
from tests.kernels.test_convolution import Call, convolution, depthwise
from tests.objects import object_of
from toolchain.ops import _scratch as scratch

pytestmark = pytest.mark.emulator

FIRMWARE = Path(__file__).parent / "firmware"
CORES = {
    "scalar": ("cortex-m3", "mps2-an385"),
    "dsp": ("cortex-m4", "mps2-an386"),
    "mve": ("cortex-m55", "mps3-an547"),
}
CASES = 240


@dataclass(frozen=True)
class Case:
    """One layer with its geometry and the scratch our table gives it."""

    shape: Window
    call: Call
    scratch: int
    trusted: bool


def _window(rng: np.random.Generator, pooling: bool) -> Window:
    """A random geometry; a third 1x1, a third 3x3, some with one row."""
    kernel = [(1, 1), (3, 3), tuple(rng.integers(1, 6, 2).tolist())][rng.integers(3)]
    reach = [k - 1 if pooling else min(k + 1, 3) for k in kernel]
    padding, end = (tuple(int(rng.integers(0, r + 1)) for r in reach) for _ in range(2))
    plain = pooling or rng.integers(2)
    dilation = (1, 1) if plain else tuple(rng.integers(1, 4, 2).tolist())
    low = [
        max((k - 1) * d + 1 - p - e, 1)
        for k, d, p, e in zip(kernel, dilation, padding, end, strict=True)
    ]
    size = [int(rng.integers(n, n + 6)) for n in low]
    if rng.integers(3) == 0 and not pooling:
        kernel, size[0] = (1, kernel[1]), 1
        padding, end = (0, padding[1]), (0, end[1])
    stride = tuple(rng.integers(1, 4, 2).tolist())
    return Window(1, tuple(size), kernel, stride, padding, end, dilation)


def _convolution(isa: str, shape: Window, rng: np.random.Generator) -> Case:
    call = convolution(shape, rng, 1, tuple(rng.integers(1, 21, 2).tolist()), bias=True)
    geometry = shape.stride, shape.padding, shape.dilation
    shapes = call.x.shape, call.w.shape, call.expected.shape
    return Case(
        shape,
        call,
        scratch.convolve(isa, *shapes, *geometry),
        not convolution_limits(isa, shape, call.x.shape[3]),
    )


def _depthwise(isa: str, shape: Window, rng: np.random.Generator) -> Case:
    factor = int(rng.integers(1, 4))
    call = depthwise(shape, rng, int(rng.integers(1, 40)), factor, bias=True)
    geometry = shape.stride, shape.padding, shape.dilation
    size = scratch.depthwise(isa, call.x.shape, shape.kernel, call.expected.shape, *geometry)
    limited = depthwise_limits(isa, shape, factor)
    if call.x.shape[3] == 1:
        limited = limited or convolution_limits(isa, shape, 1)
    return Case(shape, call, size, not limited)


def _pool(isa: str, shape: Window, rng: np.random.Generator, maximum: bool) -> Case | None:
    geometry = shape.out, shape.kernel, shape.stride, shape.padding
    if not oracle.inside(shape.size, *geometry).any(axis=(2, 3)).all():
        return None
    x = codes(rng, 1, *shape.size, int(rng.integers(1, 40)))
    low, high = clamp_range(rng)
    values = (oracle.max_pool if maximum else oracle.average_codes)(x, *geometry)
    call = Call(
        "arm_max_pool_s8" if maximum else "arm_avgpool_s8",
        PoolParams(tile(shape.stride), tile(shape.padding), Activation(low, high)),
        None,
        Dims(*x.shape),
        x,
        Dims(1, *shape.kernel, 1),
        np.zeros(1, np.int8),
        None,
        Dims(1, *shape.out, x.shape[3]),
        oracle.clamp(values, low, high),
    )
    return Case(shape, call, 0 if maximum else scratch.avgpool(isa, x.shape[3]), True)


def _cases(isa: str, seed: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    cases: list[Case] = []
    while len(cases) < CASES:
        kind = len(cases) % 4
        shape = _window(rng, pooling=kind > 1)
        make = (_convolution, _depthwise)[kind] if kind < 2 else _pool
        case = make(isa, shape, rng, *((kind == 3,) if kind > 1 else ()))
        if case is not None and case.call.expected.size <= 4096:
            cases.append(case)
    return cases


def _array(name: str, ctype: str, values: np.ndarray) -> str:
    return f"static const {ctype} {name}[] = {{{','.join(map(str, np.ravel(values)))}}};\n"


def _braces(*values: int) -> str:
    return "{" + ",".join(map(str, values)) + "}"


def _table(cases: list[Case]) -> str:
    arrays, rows = "", ""
    kinds = {
        "arm_convolve_wrapper_s8": "CONVOLVE",
        "arm_depthwise_conv_wrapper_s8": "DEPTHWISE",
        "arm_avgpool_s8": "AVERAGE",
        "arm_max_pool_s8": "MAXIMUM",
    }
    for i, case in enumerate(cases):
        call, shape = case.call, case.shape
        channels = call.output_dims.c
        quant = ("0", "0")
        if call.quant is not None:
            arrays += _array(f"m{i}", "int32_t", call.quant.multiplier[:channels])
            arrays += _array(f"s{i}", "int32_t", call.quant.shift[:channels])
            arrays += _array(f"b{i}", "int32_t", call.bias)
            quant = (f"(int32_t *)m{i}", f"(int32_t *)s{i}")
        arrays += _array(f"x{i}", "int8_t", call.x) + _array(f"w{i}", "int8_t", call.w)
        arrays += _array(f"e{i}", "int8_t", call.expected)
        offsets = [getattr(call.params, n, 0) for n in ("input_offset", "output_offset", "ch_mult")]
        clamp = call.params.activation.min, call.params.activation.max
        pairs = [_braces(w, h) for h, w in (shape.stride, shape.padding, shape.dilation)]
        dims = [
            _braces(d.n, d.h, d.w, d.c)
            for d in (call.input_dims, call.filter_dims, call.output_dims)
        ]
        fields = [kinds[call.function], *offsets, *clamp, *pairs, *dims, f"x{i}", f"w{i}"]
        fields += [f"b{i}" if call.quant is not None else "0", *quant, f"e{i}"]
        fields += [call.expected.size, case.scratch]
        rows += _braces(*fields) + ",\n"
    largest = max(c.scratch for c in cases), max(c.call.expected.size for c in cases)
    return (
        f"#define CASE_COUNT {len(cases)}\n#define SCRATCH_MAX {largest[0]}\n"
        f"#define OUTPUT_MAX {largest[1]}\n{arrays}static const test_case cases[] = {{\n{rows}}};\n"
    )


def _emulate(
    isa: str, cases: list[Case], includes: list[str], sources: list[Path], folder: Path
) -> np.ndarray:
    """One row per case: index, status, differing codes, canaries overwritten, scratch asked for."""
    for program in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    core, machine = CORES[isa]
    (folder / "cases.h").write_text(_table(cases))
    elf = folder / "cores.elf"
    abi = ["-mfloat-abi=hard"] if isa == "mve" else ["-mfloat-abi=soft"]
    compiler = ["arm-none-eabi-gcc", "-mthumb", f"-mcpu={core}", *abi, "-O2", "-w"]
    compiler += ["-ffunction-sections", *includes]
    command = [*compiler, "-nostartfiles", "-Wl,--gc-sections", f"-T{FIRMWARE / 'link.ld'}"]
    command += [f"-I{folder}", f"-I{FIRMWARE}", str(FIRMWARE / "main.c"), "-o", str(elf)]
    subprocess.run([*command, *(object_of(path, compiler) for path in sources)], check=True)
    emulator = ["qemu-system-arm", "-M", machine, "-nographic", "-monitor", "none"]
    emulator += ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*emulator, "-kernel", str(elf)], capture_output=True, text=True, timeout=60, check=False
    )
    text = done.stdout + done.stderr
    assert "fault" not in text, text[-500:]
    rows = np.array([[int(n) for n in line.split()] for line in text.strip().splitlines()])
    assert len(rows) == len(cases)
    return rows


@pytest.mark.parametrize("isa", CORES)
def test_glue_is_exact_on_the_core(isa, tmp_path):
    cases = _cases(isa, seed=1)
    sources = [p for p in (GLUE / "src").glob("arm_*.c") if "per_channel" not in p.name]
    rows = _emulate(isa, cases, [f"-I{GLUE / 'include'}"], sources, tmp_path)
    assert not rows[:, 1:].any(), rows[rows[:, 1:].any(axis=1)]


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("isa", CORES)
def test_cmsis_nn_is_exact_where_it_is_trusted(isa, seed, tmp_path):
    cases = [case for case in _cases(isa, seed) if case.trusted]
    assert len(cases) > CASES / 2
    vendor = cmsis_nn_folder()
    includes = [f"-I{vendor / 'Include'}", f"-I{vendor.parent / 'cmsis_core' / 'Include'}"]
    sources = list((vendor / "Source").rglob("arm_*.c"))
    rows = _emulate(isa, cases, includes, sources, tmp_path)
    bad = np.flatnonzero(rows[:, 1:4].any(axis=1))
    assert not bad.size, [(rows[i].tolist(), cases[i].shape) for i in bad]
    for row, case in zip(rows, cases, strict=True):
        # 4.0.0 asks for a buffer that its 3x3 depthwise kernel does not touch
        unused = case.call.function.startswith("arm_depthwise") and case.shape.kernel == (3, 3)
        assert row[4] <= case.scratch or (unused and isa == "dsp"), case.shape
