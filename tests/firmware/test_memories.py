"""Firmware with arena and weights in several memories: the same bytes, and faults are seen."""

import bisect
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.firmware.zoo import ZOO
from tests.run import faults
from toolchain import pipeline
from toolchain.check.evaluate import input_codes
from toolchain.errors import RunFailed
from toolchain.ir.execute import simulate
from toolchain.options import ConvertOptions
from toolchain.pipeline.engine_runs import run_engines
from toolchain.pipeline.samples import input_bytes, load_data
from toolchain.plan import Ram
from toolchain.project import Project
from toolchain.run import Elf, RunRequest
from toolchain.run.unicorn import Session

pytestmark = [pytest.mark.emulator]

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
SAMPLES = 8
PLACES = {
    "M3": ("mps2-an385", "ssram23:1300,psram", "", "psram"),
    "M4": ("stm32f4-discovery", "ccm:1400,sram", "", "ccm:600"),
    "M7": ("nucleo-h743zi", "dtcm:400,axi_sram:1100,d2_sram", "", "d3_sram:700"),
    "M7-external": ("stm32f746g-disco", "sram:1300,sdram", "qspi", "sram:700"),
    "M33": ("mps2-an505", "psram:1300,ssram23", "", "ssram23:700"),
    "M55": ("mps3-an547", "dtcm:1600,isram", "qspi", "dtcm:700"),
}
"""Board, arena, weights, copied weights; the first room is too small for the whole arena."""


def options_of(core: str) -> tuple[str, ConvertOptions]:
    board, arena, weights, hot = PLACES[core]
    return board, ConvertOptions(
        prefix="digits", arena_in=arena, weights_in=weights, hot_weights=hot
    )


def digits(folder: Path, core: str) -> Project:
    board, options = options_of(core)
    model, data = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    return pipeline.convert(model, data, board, folder, options)


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Function: core -> the project, which is made once."""
    folder, made = tmp_path_factory.mktemp("memories"), {}

    def project(core: str) -> Project:
        if core not in made:
            made[core] = digits(folder / core, core)
        return made[core]

    return project


def require_equal(project: Project, engine: str, codes: list[dict[str, np.ndarray]]) -> None:
    """Outputs and every layer that is kept have the bytes of the integer model."""
    graph = project.graph()
    (run,) = run_engines(project, graph, codes, engine, 120.0, dump_samples=2)
    layers = [op for op in graph.ops if not op.is_view]
    for index, (sample, output) in enumerate(zip(codes, run.outputs, strict=True)):
        right = simulate(graph, sample)
        assert output == b"".join(right[y].tobytes() for y in graph.outputs)
        if index < len(run.dumps):
            kept = zip(run.dumps[index], layers, project.manifest.firmware.layers, strict=True)
            for data, op, layer in kept:
                assert data == b"".join(right[y].tobytes() for y in op.outputs if layer.outputs)
    assert len(run.dumps) == min(2, len(codes))


@pytest.mark.parametrize("engine", ["qemu", "unicorn"])
@pytest.mark.parametrize("core", PLACES)
def test_digits_in_several_memories(projects, core: str, engine: str) -> None:
    if engine == "unicorn":
        pytest.importorskip("unicorn")
        if core == "M55":
            pytest.skip("unicorn does not emulate it")
    project = projects(core)
    assert len(project.manifest.firmware.parts) == PLACES[core][1].count(",") + 1
    data = load_data(project, DIGITS / "test.npz", SAMPLES, "emulate")
    require_equal(project, engine, [input_codes(project.graph(), s) for s in data])


@pytest.mark.parametrize("core", PLACES)
def test_everything_is_where_it_was_put(projects, core: str) -> None:
    """In the program for the board, at its addresses."""
    project = projects(core)
    built = pipeline.build(project.directory)
    model, board = project.manifest.firmware, project.manifest.board
    elf = Elf(built.programs.firmware)

    def memory(symbol: str) -> str:
        address = elf.address(symbol)
        return next(m.name for m in board.memory if m.origin <= address < m.end)

    assert [memory(part.symbol) for part in model.arenas] == [part.memory for part in model.arenas]
    hot, weights = PLACES[core][3].split(":")[0], PLACES[core][2] or board.flash.name
    tables = {name for name in elf.symbols if re.fullmatch(r"digits_\d\d_\w+", name)}
    assert tables >= set(model.hot_weights) > set()
    assert {memory(name) for name in model.hot_weights} == {hot}
    assert {memory(name) for name in tables - set(model.hot_weights)} <= {weights}
    used = {m.name: 0 for m in model.further_memories(board)}
    for part in model.arenas:
        if part.memory in used:
            used[part.memory] += part.nbytes
    sizes = built.sizes.memories
    assert sizes.keys() == used.keys()
    assert all(sizes[name] >= used[name] for name in used)


@pytest.mark.parametrize(
    ("name", "core", "ram", "by_rows", "arena"),
    [
        ("kws", "M4", Ram.AUTO, False, "ccm:8100,sram"),
        ("kws", "M4", Ram.MIN, False, "ccm:4000,sram"),
        pytest.param("vww", "M4", Ram.MIN, True, "ccm:9000,sram", marks=pytest.mark.slow),
    ],
)
def test_real_models_in_several_memories(
    name: str, core: str, ram: Ram, by_rows: bool, arena: str, shared: Path, tmp_path: Path
) -> None:
    model = ZOO[name]
    calibration, test = model.write(shared, tmp_path, 2)
    board, options = options_of(core)
    options = replace(options, arena_in=arena, ram=ram, by_rows=by_rows, hot_weights="ccm")
    project = pipeline.convert(model.path(shared), calibration, board, tmp_path / "p", options)
    assert len(project.manifest.firmware.parts) == 2
    evaluation, _ = pipeline.compare(tmp_path / "p", test, emulator="qemu")
    assert evaluation.comparison.bit_exact is True


def test_the_copied_weights_are_those_that_are_read_most(projects) -> None:
    """All loads of an inference are counted; no other choice by reads per byte saves 5 % more."""
    pytest.importorskip("unicorn")
    project = projects("M4")
    board, model = project.manifest.board, project.manifest.firmware
    built = pipeline.build(project.directory)
    elf = Elf(built.programs.emulation)
    text = (project.directory / "digits_weights.h").read_text()
    width = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4}
    sizes = {
        name: width[kind] * int(length)
        for kind, name, length in re.findall(r"(\w+_t) (digits_\d\d_\w+)\[(\d+)\]", text)
    }
    spans = sorted((elf.address(name), name) for name in sizes)
    starts = [address for address, _ in spans]
    loads = dict.fromkeys(sizes, 0)
    sample = input_bytes(project.graph(), model, project.samples()[0])
    session = Session(elf, RunRequest(built.programs.emulation, board, model, [sample]))

    def count(_cpu, _access, address: int, *_rest) -> None:
        start, name = spans[max(bisect.bisect_right(starts, address) - 1, 0)]
        if start <= address < start + sizes[name]:
            loads[name] += 1

    session.cpu.hook_add(session.api.UC_HOOK_MEM_READ, count)
    session.execute()
    best, left = 0, int(PLACES["M4"][3].split(":")[1])
    for name in sorted(sizes, key=lambda n: -loads[n] / sizes[n]):
        if -(-sizes[name] // 16) * 16 <= left:
            best, left = best + loads[name], left - -(-sizes[name] // 16) * 16
    assert sum(loads[name] for name in model.hot_weights) >= 0.95 * best > 0


# ---- faults -------------------------------------------------------------------------------------
def told(project: Project, engine: str, body: str) -> RunFailed:
    """What a run says when a function with this body is called in a layer."""
    faults.call(project, body)
    with pytest.raises(RunFailed) as failure:
        pipeline.emulate(project.directory, emulator=engine, max_samples=1, timeout_s=60)
    return failure.value


@pytest.fixture(params=["qemu", "unicorn"])
def engine(request) -> str:
    if request.param == "unicorn":
        pytest.importorskip("unicorn")
    return request.param


def test_a_byte_behind_the_second_part(tmp_path: Path, engine: str) -> None:
    project = digits(tmp_path / "p", "M4")
    part = project.manifest.firmware.arenas[1]
    body = f"*(volatile uint8_t *)((uintptr_t){part.symbol} + {part.nbytes + 3}u) = 7;"
    failure = told(project, engine, body)
    assert "wrote past the end of digits_arena_2: byte 3 behind it became 0x07" in failure.reason
    assert f"the plan needs {part.nbytes} bytes" in (failure.hint or "")


def test_a_byte_behind_the_first_part_of_a_further_memory(tmp_path: Path, engine: str) -> None:
    project = digits(tmp_path / "p", "M4")
    part = project.manifest.firmware.arenas[0]
    body = f"*(volatile uint8_t *)((uintptr_t){part.symbol} + {part.nbytes}u) = 7;"
    failure = told(project, engine, body)
    assert "wrote past the end of digits_arena: byte 0 behind it became 0x07" in failure.reason


def test_a_write_behind_a_further_memory(tmp_path: Path, engine: str) -> None:
    """The emulator's memory there is larger than the board's."""
    project = digits(tmp_path / "p", "M4")
    body = "extern uint8_t __memory_ccm_end[];\n    *(volatile uint8_t *)__memory_ccm_end = 7;"
    assert "access to 0x" in told(project, engine, body).reason


def test_a_write_to_the_weights_outside(tmp_path: Path, engine: str) -> None:
    project = digits(tmp_path / "p", "M7-external")
    hot = project.manifest.firmware.hot_weights
    text = (project.directory / "digits_weights.h").read_text()
    name = next(n for n in re.findall(r"const \w+ (digits_\d\d_\w+)\[", text) if n not in hot)
    failure = told(project, engine, f"*(volatile int8_t *)(uintptr_t){name} = 1;")
    assert f"({name})" in failure.reason
    assert failure.reason.startswith("wrote to flash at 0x")
