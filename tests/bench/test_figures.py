"""docs/bench.json, the comparison with it, and the tables made from it."""

from pathlib import Path

import msgspec
import pytest

from toolchain.ir import Family
from tools.bench import cells, figures, flash, table


def _figures(**changed: int) -> figures.Figures:
    layer = figures.LayerFigures(
        op="Conv2D", kernel="k", shape=(1, 2, 2, 4), macs=64, outputs=16, instructions=1000
    )
    plain = figures.Figures(
        instructions=1000,
        macs=64,
        code=500,
        code_kernels=300,
        code_generated=100,
        code_descriptors=50,
        code_library=0,
        weights=400,
        tables=100,
        arena=64,
        stack=200,
        layers=(layer,),
    )
    return msgspec.structs.replace(plain, **changed)


def test_one_percent_is_let_through():
    assert figures.grown(_figures(), _figures(instructions=1010, arena=64)) == []
    assert figures.grown(_figures(), _figures(instructions=1)) == []


def test_growth_is_told_with_both_values():
    slower = msgspec.structs.replace(_figures().layers[0], instructions=1011)
    lines = figures.grown(_figures(), _figures(instructions=1011, stack=208, layers=(slower,)))
    assert lines == [
        "instructions: 1,000 -> 1,011 (+1.1%)",
        "stack: 200 -> 208 (+4.0%)",
        "  layer 0 k: 1,000 -> 1,011 instructions",
    ]


def test_a_figure_that_was_zero_may_not_appear():
    assert figures.grown(_figures(), _figures(code_library=20)) == [
        "code_library: 0 -> 20 (+1900.0%)"
    ]


def test_file_keeps_everything(tmp_path):
    bench = figures.Bench("12.2.1", "QEMU 7", {"kws": {"M4": {"fast": _figures(cycles=1200)}}})
    figures.save(bench, tmp_path / "bench.json")
    assert figures.load(tmp_path / "bench.json") == bench
    assert (tmp_path / "bench.json").read_text().count("\n") < 30


def test_committed_file_is_complete_and_canonical(tmp_path):
    bench = figures.load()
    for net in cells.NETS:
        assert bench.cells[net].keys() == cells.BOARDS.keys()
        for cell in bench.cells[net].values():
            assert set(cell) == set(cells.FAMILIES)
            for found in cell.values():
                assert sum(layer.instructions for layer in found.layers) == found.instructions
                assert sum(layer.macs for layer in found.layers) == found.macs
    figures.save(bench, tmp_path / "bench.json")
    assert (tmp_path / "bench.json").read_text() == figures.BENCH.read_text()


def test_document_has_the_committed_figures(update_golden):
    if update_golden:
        table.update(figures.load())
        return
    assert table.found() == table.markdown(figures.load()), "run `make golden`"


MAP = """
Discarded input sections

 .text.unused   0x00000000      0x999 libkernels.a(arm_softmax_s8.c.obj)

Linker script and memory map

.vectors        0x00000000       0x40
 .vectors       0x00000000       0x40 CMakeFiles/firmware.dir/firmware/startup.c.obj

.text           0x00000040     0x1910
 *(.text .text.*)
 .text.model_run
                0x00000110      0x5c4 libmodel.a(model.c.obj)
 .text.arm_avgpool_s8
                0x000006d4      0x1e0 libkernels.a(arm_avgpool_s8.c.obj)
                0x000006d4                arm_avgpool_s8
 .rodata.params.16
                0x00000900       0x68 libmodel.a(model.c.obj)
 .text          0x000015d4      0x134 /usr/lib/libc_nano.a(lib_a-memcpy.o)

.weights        0x00001950     0x7130
 .rodata.model_10_bias
                0x00001950       0x30 libmodel.a(model_weights.c.obj)
"""


def test_linker_map(tmp_path):
    path = tmp_path / "firmware.map"
    path.write_text(MAP)
    assert flash.code_bytes(path) == {
        "start-up": 0x40,
        "generated": 0x5C4,
        "descriptors": 0x68,
        "kernels": 0x1E0,
        "library": 0x134,
    }


def test_arms_library_is_found_or_named(monkeypatch):
    monkeypatch.setattr(cells.importlib.util, "find_spec", lambda _: None)
    assert cells.cmsis_nn_folder() is None
    with pytest.raises(KeyError):
        cells.measure(Path("x.onnx"), "M99", Family.FAST, Path("y"))
