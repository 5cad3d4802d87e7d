"""Every command: what it prints, the keys of its JSON, its exit code."""

import json
import os
import re

import numpy as np
import pytest
from onnx import helper

from tests.cli import nets
from toolchain.board import list_boards
from toolchain.ir import IMPORTERS, Rounding
from toolchain.project import Project

CONVERT = {
    "project", "model", "arena_bytes", "arena_lower_bound", "arena_parts", "weights_bytes", "macs",
    "rounding", "layers",
}  # fmt: skip
BUILD = {"elf", "flash_bytes", "code_bytes", "weights_bytes", "data_bytes", "bss_bytes"} | {
    "stack_worst_bytes",
    "memories",
}
EMULATE = {"emulator", "core", "samples", "instructions", "stack_bytes", "layers", "outputs"} | {
    "counted_together",
    "poisoned",
    "console",
}
COMPARE = {
    "bit_exact", "max_abs_error", "sqnr_db", "cosine", "agreement", "accuracy_float",
    "accuracy_int8", "worst_layers", "passed",
}  # fmt: skip
COMMANDS = (
    "inspect", "convert", "build", "emulate", "compare", "run", "flash", "boards", "ops", "doctor",
)  # fmt: skip


def only_object(done, keys, code=0):
    """The one JSON object of the output; standard error is empty."""
    assert (done.code, done.err) == (code, ""), done
    assert done.out.count("\n") == 1
    record = json.loads(done.out, parse_constant=pytest.fail)
    assert isinstance(record, dict)
    assert keys <= set(record)
    return record


# ---- without an emulator ------------------------------------------------------------------------
@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_every_command(onnx2mcu, arguments):
    done = onnx2mcu(*arguments)
    assert (done.code, done.err) == (0, "")
    assert {line.split()[0] for line in done.out.splitlines() if line.startswith("  ")} >= set(
        COMMANDS
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(onnx2mcu, command):
    done = onnx2mcu(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: onnx2mcu {command}")


def test_inspect(onnx2mcu, model):
    done = onnx2mcu("inspect", model, "--board", "microbit-v1")
    assert (done.code, done.err) == (0, "")
    assert "layer0" in done.out
    assert "microbit-v1: fits (16,384 bytes RAM, 262,144 bytes flash)" in done.out


def test_inspect_json(onnx2mcu, model):
    keys = {"model", "macs", "weights_bytes", "activation_peak_bytes", "fits", "short", "layers"}
    record = only_object(onnx2mcu("inspect", model, "--json"), keys)
    assert record["macs"] == 64 * 4 * 9 + 64 * 3
    assert record["weights_bytes"] == 4 * 9 + 4 * 4 + 64 * 3 + 3 * 4
    assert record["fits"] is None
    record = only_object(onnx2mcu("inspect", model, "--json", "--board", "microbit-v1"), keys)
    assert (record["fits"], record["short"]) == (True, [])


def test_inspect_says_which_memory_is_too_small_and_what_may_help(onnx2mcu, tmp_path):
    side = 128
    weights = {"w": np.ones((1, 1, 3, 3), np.float32)}
    nodes = [helper.make_node("Conv", ["image", "w"], ["y"], "conv", pads=[1, 1, 1, 1])]
    path = tmp_path / "large.onnx"
    nets.save(path, nodes, {"image": (1, 1, side, side)}, {"y": None}, weights)
    done = onnx2mcu("inspect", path, "--board", "microbit-v1")
    assert (done.code, done.err) == (0, "")
    needed = 2 * side * side + 2048
    assert "microbit-v1: DOES NOT FIT layer by layer (16,384 bytes RAM" in done.out
    assert f"ram: activations and stack take {needed:,} bytes, 16,384 are there" in done.out
    assert "flash: " not in done.out
    assert "what may help: run layers row by row with --ram min" in done.out
    record = json.loads(onnx2mcu("inspect", path, "--board", "microbit-v1", "--json").out)
    (short,) = record["short"]
    assert (record["fits"], short["memory"], short["needed_bytes"]) == (False, "ram", needed)


def test_convert(onnx2mcu, arguments, tmp_path):
    done = onnx2mcu(*arguments())
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^layer0 +Conv2D +glue_conv_dsp +1x8x8x4 +2,304", done.out, re.M)
    assert re.search(r"^arena [\d,]+ bytes; lower bound [\d,]+ \(optimal\)", done.out, re.M)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "CMakeLists.txt", "firmware", "kernels", "manifest.json", "model", "renode", "small.c",
        "small.h", "small_weights.c", "small_weights.h",
    }  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_convert_json(onnx2mcu, arguments, tmp_path):
    record = only_object(onnx2mcu(*arguments(), "--json"), CONVERT)
    assert record["project"] == str(tmp_path / "out")
    assert record["model"] == "small.onnx"
    assert record["arena_bytes"] >= record["arena_lower_bound"] > 0
    assert record["macs"] == sum(layer["macs"] for layer in record["layers"]) == 64 * 39
    assert all({"name", "op", "kernel", "macs"} <= set(layer) for layer in record["layers"])
    header = (tmp_path / "out" / "small.h").read_text()
    assert f"#define SMALL_ARENA_BYTES {record['arena_bytes']}\n" in header


def test_convert_choices_reach_the_header(onnx2mcu, arguments, tmp_path):
    assert onnx2mcu(*arguments(prefix="Eye", calibration="entropy"), "--keep-inputs").code == 0
    header = (tmp_path / "out" / "eye.h").read_text()
    assert "EYE_ARENA_BYTES" in header
    assert "survives a run" in header


def test_convert_rounds_as_told(onnx2mcu, arguments, tmp_path):
    folder = tmp_path / "out"
    assert onnx2mcu(*arguments()).code == 0
    assert "GLUE_SINGLE_ROUNDING" not in (folder / "CMakeLists.txt").read_text()
    done = onnx2mcu(*arguments(), "--rounding", "single", "--force", "--json")
    assert only_object(done, CONVERT)["rounding"] == "single"
    text = (folder / "CMakeLists.txt").read_text()
    assert "target_compile_definitions(kernels PUBLIC GLUE_SINGLE_ROUNDING=1)" in text
    assert "target_compile_definitions(cmsis_nn PRIVATE CMSIS_NN_USE_SINGLE_ROUNDING)" in text
    assert "rounding: single" in (folder / "small.h").read_text()
    assert "#if GLUE_SINGLE_ROUNDING != 1" in (folder / "small.c").read_text()
    assert Project(folder).graph().rounding is Rounding.SINGLE
    onnx2mcu(*arguments(), "--rounding", "once").refused("--rounding")


def test_convert_reads_arrays_and_folders(onnx2mcu, arguments, tmp_path):
    values = np.load(arguments()[3])["image"]
    np.save(tmp_path / "calib.npy", values)
    (tmp_path / "folder").mkdir()
    for index, value in enumerate(values):
        np.save(tmp_path / "folder" / f"{index:03}.npy", value)
    texts = []
    for index, data in enumerate((None, tmp_path / "calib.npy", tmp_path / "folder")):
        out = tmp_path / f"out{index}"
        changes = {"output": out} if data is None else {"output": out, "calib": data}
        assert onnx2mcu(*arguments(**changes)).code == 0
        texts.append((out / "small_weights.c").read_text() + (out / "small.c").read_text())
    assert len(set(texts)) == 1


def test_force_replaces_a_project(onnx2mcu, arguments, tmp_path):
    assert onnx2mcu(*arguments(prefix="one")).code == 0
    assert onnx2mcu(*arguments(prefix="two"), "--force").code == 0
    assert {p.name for p in (tmp_path / "out").glob("*.h")} == {"two.h", "two_weights.h"}


def test_boards(onnx2mcu):
    done = onnx2mcu("boards")
    assert (done.code, done.err) == (0, "")
    assert {line.split()[0] for line in done.out.splitlines()[2:]} == set(list_boards())
    assert re.search(r"^nucleo-f446re +cortex-m4 +180 +524,288 +131,072 ", done.out, re.M)
    record = only_object(onnx2mcu("boards", "--json"), {"boards"})
    (board,) = (b for b in record["boards"] if b["name"] == "nucleo-f446re")
    assert (board["flash_bytes"], board["ram_bytes"]) == (524288, 131072)


def test_ops(onnx2mcu):
    done = onnx2mcu("ops")
    assert (done.code, done.err) == (0, "")
    assert all(re.search(rf"^{name} ", done.out, re.M) for name in IMPORTERS)
    record = only_object(onnx2mcu("ops", "--json"), {"operators"})
    assert {row["operator"] for row in record["operators"]} == set(IMPORTERS)
    rows = onnx2mcu("ops", "--markdown").out.splitlines()
    assert all(row.startswith("| ") and row.endswith(" |") for row in [rows[0], *rows[2:]])
    named = {name for row in rows[2:] for name in row.split(" | ")[0][2:].split(", ")}
    assert named == {row["operator"] for row in record["operators"] if row["supported"]}
    assert {"Conv", "Gemm", "Softmax"} <= named


def test_doctor(onnx2mcu):
    done = onnx2mcu("doctor")
    assert done.err == ""
    for part in ("python", "arm-none-eabi-gcc", "cmake", "ninja", "renode", "qemu", "unicorn"):
        assert re.search(rf"^{part} +(ok|missing) ", done.out, re.M), part


def test_doctor_fails_without_a_compiler(onnx2mcu, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = onnx2mcu("doctor")
    assert done.code == 1
    assert re.search(r"^arm-none-eabi-gcc +missing .*apt install gcc-arm-none-eabi", done.out, re.M)
    record = only_object(onnx2mcu("doctor", "--json"), {"checks"}, code=1)
    (gcc,) = (c for c in record["checks"] if c["name"] == "arm-none-eabi-gcc")
    assert (gcc["ok"], gcc["needed"]) == (False, True)


# ---- with compiler and emulator -----------------------------------------------------------------
@pytest.mark.emulator
def test_build(onnx2mcu, runnable):
    done = onnx2mcu("build", runnable)
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^nucleo-f446re has +524,288 +131,072$", done.out, re.M)
    record = only_object(onnx2mcu("build", runnable, "--json"), BUILD)
    assert record["elf"] == str(runnable / "build" / "firmware.elf")
    parts = record["code_bytes"] + record["weights_bytes"] + record["data_bytes"]
    assert record["flash_bytes"] == parts
    assert record["data_bytes"] == 0


@pytest.mark.emulator
def test_emulate(onnx2mcu, runnable):
    done = onnx2mcu("emulate", runnable)
    assert (done.code, done.err) == (0, "")
    assert re.search(
        r"^[\d,]+ instructions per inference over 16 samples, peak stack \d+", done.out, re.M
    )
    record = only_object(onnx2mcu("emulate", runnable, "--json", "--samples", 2), EMULATE)
    assert record["samples"] == 2
    assert record["emulator"] in ("renode", "qemu")
    assert record["core"].startswith("cortex-m4")
    counts = [layer["instructions"] for layer in record["layers"]]
    assert min(counts) > 0
    assert abs(sum(counts) - record["instructions"]) <= len(counts)
    with np.load(record["outputs"]) as outputs:
        assert outputs["scores"].dtype == np.int8
        assert outputs["scores"].shape == (2, 3)


@pytest.mark.emulator
def test_emulate_with_dead_memory_overwritten(onnx2mcu, runnable):
    options = ["emulate", runnable, "--samples", 2]
    plain = only_object(onnx2mcu(*options, "--json"), EMULATE)
    poisoned = only_object(onnx2mcu(*options, "--json", "--poison"), EMULATE)
    assert poisoned == {**plain, "poisoned": True}
    told = "the same bytes when dead memory is overwritten before every layer"
    assert told in onnx2mcu(*options, "--poison").out
    assert told not in onnx2mcu(*options).out


@pytest.mark.emulator
def test_emulate_with_unicorn(onnx2mcu, runnable):
    pytest.importorskip("unicorn")
    record = only_object(
        onnx2mcu("emulate", runnable, "--json", "--samples", 2, "--emulator", "unicorn"), EMULATE
    )
    assert record["emulator"] == "unicorn"


@pytest.mark.emulator
def test_compare(onnx2mcu, runnable, labelled):
    options = ["compare", runnable, "--data", labelled, "--max-drop", 50]
    done = onnx2mcu(*options)
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^firmware against integer model +equal, byte for byte$", done.out, re.M)
    assert done.out.endswith("\npassed\n")
    record = only_object(onnx2mcu(*options, "--json"), COMPARE)
    assert record["bit_exact"] is True
    assert record["passed"] is True
    assert record["samples"] == 12
    assert record["sqnr_db"] > 20
    assert all({"name", "sqnr_db"} <= set(layer) for layer in record["worst_layers"])


@pytest.mark.emulator
def test_a_gate_that_fails(onnx2mcu, runnable, labelled):
    options = ["compare", runnable, "--data", labelled, "--min-sqnr", 99]
    done = onnx2mcu(*options)
    assert done.code == 1
    assert done.out.endswith("\nFAILED\n")
    error, hint = done.err.splitlines()
    assert re.match(r"error: compare: SQNR [\d.]+ dB is below 99.0 dB; worst layers: layer", error)
    assert hint.startswith("hint: ")
    done = onnx2mcu(*options, "--json")
    assert done.code == 1
    record = json.loads(done.out)
    assert record["passed"] is False
    assert record["bit_exact"] is True


@pytest.mark.emulator
def test_run(onnx2mcu, arguments, labelled, tmp_path):
    out = tmp_path / "out"
    options = [*arguments("run", data=labelled, max_drop=50), "--samples", 3]
    done = onnx2mcu(*options)
    assert (done.code, done.err) == (0, "")
    assert "equal, byte for byte" in done.out
    assert done.out.endswith(f"report: {out / 'report.html'}\n")
    record = only_object(
        onnx2mcu(*options, "--json", "--force"), CONVERT | BUILD | EMULATE | COMPARE | {"report"}
    )
    assert record["passed"] is True
    assert record["samples"] == 3
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "equal, byte for byte" in page
    assert page.count("<svg") == 2  # the arena; the functions, with every layer
    layers = json.loads((out / "manifest.json").read_text())["layers"]
    assert all(f"<title>{layer['name']}: " in page for layer in layers)
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.emulator
def test_run_with_a_gate_that_fails_still_writes_the_report(
    onnx2mcu, arguments, labelled, tmp_path
):
    done = onnx2mcu(*arguments("run", data=labelled, min_sqnr=99), "--samples", 2)
    assert done.code == 1
    assert done.err.startswith("error: compare: SQNR ")
    assert "is below 99.0 dB" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.emulator
def test_flash_prints_its_command(onnx2mcu, runnable, monkeypatch, tmp_path):
    tool = tmp_path / "pyocd"
    tool.write_text("#!/bin/sh\nexit 3\n")
    tool.chmod(0o755)
    done = onnx2mcu("flash", runnable, "--dry-run")
    assert done.code == 0
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    done = onnx2mcu("flash", runnable, "--dry-run")
    assert (done.code, done.err) == (0, "")
    assert "flash --target " in done.out
    assert done.out.endswith("firmware.elf\n")
    if str(tool) in done.out:
        assert onnx2mcu("flash", runnable).code == 3
