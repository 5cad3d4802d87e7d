"""Bad input: one message of two lines, exit code 2, nothing written, no temporary folder."""

import json
import os
import shutil

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.cli import nets
from toolchain import resources


def write(path, data):
    path.write_bytes(data)
    return path


def operator_net(path, *operators):
    """A chain of nodes without inputs of their own."""
    names = ["image", *(f"t{i}" for i in range(len(operators)))]
    nodes = [
        helper.make_node(op, [x], [y], f"node {op}")
        for op, x, y in zip(operators, names, names[1:], strict=False)
    ]
    return nets.save(path, nodes, {"image": (1, 1, 8, 8)}, {names[-1]: (1, 1, 8, 8)}, {})


# ---- the model ----------------------------------------------------------------------------------
def test_truncated_file(onnx2mcu, arguments, model, tmp_path, untouched):
    path = write(tmp_path / "cut.onnx", model.read_bytes()[: model.stat().st_size // 2])
    untouched.add(path)
    onnx2mcu(*arguments(model=path)).refused("read: ", "cut.onnx", "damaged")


@pytest.mark.parametrize("command", ["convert", "inspect"])
def test_text_file(onnx2mcu, arguments, tmp_path, untouched, command):
    path = write(tmp_path / "readme.onnx", b"This is not a model.\n")
    untouched.add(path)
    line = arguments(model=path) if command == "convert" else ["inspect", path]
    onnx2mcu(*line).refused("readme.onnx", "not an ONNX model")


def test_empty_file(onnx2mcu, arguments, tmp_path, untouched):
    path = write(tmp_path / "empty.onnx", b"")
    untouched.add(path)
    onnx2mcu(*arguments(model=path)).refused("empty.onnx: the file is empty", "export")


def test_missing_file_and_folder(onnx2mcu, arguments, tmp_path, untouched):
    onnx2mcu(*arguments(model=tmp_path / "none.onnx")).refused("none.onnx", "no such file")
    onnx2mcu(*arguments(model=tmp_path)).refused(str(tmp_path), "a folder, not an ONNX file")


def test_three_unsupported_operators_are_listed_at_once(onnx2mcu, arguments, tmp_path, untouched):
    path = operator_net(tmp_path / "odd.onnx", "Det", "Relu", "NonZero", "Unique")
    untouched.add(path)
    done = onnx2mcu(*arguments(model=path))
    done.refused(
        "3 nodes cannot be converted", *(f"{o} 'node {o}'" for o in ("Det", "NonZero", "Unique"))
    )
    assert "Relu" not in done.err
    onnx2mcu("inspect", path).refused("3 nodes cannot be converted")


def test_dynamic_shape(onnx2mcu, arguments, tmp_path, untouched):
    node = helper.make_node("Relu", ["image"], ["y"], "r")
    shape = ("n", 1, "height", 8)
    path = nets.save(tmp_path / "open.onnx", [node], {"image": shape}, {"y": shape}, {})
    untouched.add(path)
    onnx2mcu(*arguments(model=path)).refused("image", "height", "--shape image=1,1,N,8")


def test_shape_option_makes_it_static(onnx2mcu, arguments, tmp_path):
    node = helper.make_node("Relu", ["image"], ["y"], "r")
    shape = ("n", 1, "height", 8)
    path = nets.save(tmp_path / "open.onnx", [node], {"image": shape}, {"y": shape}, {})
    assert onnx2mcu(*arguments(model=path, shape="image=1,1,8,8")).code == 0


@pytest.mark.parametrize("text", ["image", "image=", "=1,2", "image=1,x", "image=1,0,8,8"])
def test_what_is_no_shape(onnx2mcu, arguments, untouched, text):
    onnx2mcu(*arguments(shape=text)).refused(text, "NAME=1,3,96,96")


def test_shape_of_something_else(onnx2mcu, arguments, untouched):
    onnx2mcu(*arguments(shape="picture=1,1,8,8")).refused("picture", "image")


def test_output_that_is_none(onnx2mcu, arguments, untouched):
    onnx2mcu(*arguments(outputs="logits")).refused("logits", "scores")


# ---- the calibration data -----------------------------------------------------------------------
def test_missing_calibration_option(onnx2mcu, arguments, untouched):
    onnx2mcu(*arguments(calib=None)).refused("calib")


def test_missing_calibration_file(onnx2mcu, arguments, tmp_path, untouched):
    onnx2mcu(*arguments(calib=tmp_path / "none.npz")).refused("none.npz")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_a_number_in_the_calibration(onnx2mcu, arguments, tmp_path, untouched, bad):
    values = nets.images()
    values[7, 0, 3, 4] = bad
    path = tmp_path / "nan.npz"
    np.savez(path, image=values)
    untouched.add(path)
    onnx2mcu(*arguments(calib=path)).refused("image", "7")


@pytest.mark.parametrize("shape", [(24, 1, 8, 9), (24, 8, 8, 1), (8, 8), (0, 1, 8, 8)])
def test_calibration_of_another_shape(onnx2mcu, arguments, tmp_path, untouched, shape):
    path = tmp_path / "shape.npz"
    np.savez(path, image=np.zeros(shape, np.float32))
    untouched.add(path)
    onnx2mcu(*arguments(calib=path)).refused("image")


def test_calibration_of_another_input(onnx2mcu, arguments, tmp_path, untouched):
    path = tmp_path / "names.npz"
    np.savez(path, a=nets.images(), b=nets.images())
    untouched.add(path)
    onnx2mcu(*arguments(calib=path)).refused("image")


def test_calibration_that_is_no_array(onnx2mcu, arguments, tmp_path, untouched):
    path = write(tmp_path / "text.npz", b"hello\n")
    untouched.add(path)
    onnx2mcu(*arguments(calib=path)).refused("text.npz")


# ---- the board, the memory ----------------------------------------------------------------------
def test_unknown_board(onnx2mcu, arguments, untouched):
    done = onnx2mcu(*arguments(board="nucleo-f446"))
    done.refused("nucleo-f446", "unknown board", "did you mean", "nucleo-f446re")
    assert len(done.err.splitlines()) == 2


def test_board_file_with_a_slip(onnx2mcu, arguments, tmp_path, untouched):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nclok = 3\n')
    untouched.add(path)
    onnx2mcu(*arguments(board=path)).refused("mine.toml")


def test_model_that_does_not_fit_the_ram(onnx2mcu, shared, arguments, tmp_path, untouched):
    path = tmp_path / "calib.npy"
    with np.load(shared / "data" / "crops.npz") as data:
        np.save(path, data["vww"][:2].astype(np.float32) / 255)
    untouched.add(path)
    vww = shared / "models" / "mlperf_vww.onnx"
    done = onnx2mcu(*arguments(model=vww, calib=path, board="microbit-v1"))
    done.refused("bytes of RAM", "16,384", "The peak is at model/", "arena 34,268", "36,316")


@pytest.fixture
def wide(tmp_path, untouched):
    """A model of 320 KB of weights."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((64, 5000)).astype(np.float32)
    nodes = [
        helper.make_node("Flatten", ["image"], ["f"], "f"),
        helper.make_node("MatMul", ["f", "wide"], ["y"], "dense"),
    ]
    path = tmp_path / "wide.onnx"
    nets.save(path, nodes, {"image": (1, 1, 8, 8)}, {"y": (1, 5000)}, {"wide": weights})
    untouched.add(path)
    return path


def test_model_that_does_not_fit_the_flash(onnx2mcu, arguments, wide):
    onnx2mcu(*arguments(model=wide, board="microbit-v1")).refused(
        "bytes of flash", "262,144", "y.weights"
    )


MORE_MEMORY = """
[[memory]]
name = "ccm"
kind = "ram"
origin = 0x30000000
bytes = 8192

[[memory]]
name = "qspi"
kind = "flash"
origin = 0x90000000
bytes = 1_048_576
external = true
"""


@pytest.fixture
def small_board(tmp_path, untouched):
    """A board with 16 KiB of RAM and 8 KiB of another, 256 KiB of flash and a serial one."""
    path = tmp_path / "small.toml"
    text = (resources.BOARDS / "microbit-v1.toml").read_text()
    path.write_text(text.replace("\n[uart]", f"{MORE_MEMORY}\n[uart]"))
    untouched.add(path)
    return path


def test_other_memories_are_named_where_they_help(onnx2mcu, arguments, small_board):
    full = ("--stack", 16_184)
    done = onnx2mcu(*arguments(board=small_board), *full)
    done.refused("bytes of RAM", "the other memories of the board are enough: --arena-in ram,ccm")
    done = onnx2mcu(*arguments(board=small_board), "--stack", 16_384)  # nothing is left there
    done.refused("bytes of RAM", "the other memories of the board are enough: --arena-in ccm")
    done = onnx2mcu(*arguments(board=small_board), *full, "--arena-in", "ram:200,ccm:16")
    done.refused("neither whole nor in parts into ram (200 bytes), ccm (16 bytes)", "--ram min")
    done = onnx2mcu(*arguments(board=small_board), *full, "--arena-in", "ram:400")
    done.refused("--arena-in ram:400", "has 200 bytes besides stack")
    onnx2mcu(*arguments(board=small_board), "--arena-in", "dtcm").refused("ram (16,384 bytes), ccm")
    onnx2mcu(*arguments(board=small_board), "--weights-in", "ccm").refused("ccm is no flash")
    onnx2mcu(*arguments(board=small_board), "--hot-weights", "ccm:9000").refused("8,192 bytes")


def test_a_smaller_arena_is_advised_unless_it_is_the_smallest(onnx2mcu, arguments):
    given = arguments(board="microbit-v1")
    least = json.loads(onnx2mcu(*given, "--ram", "min", "--json", "--force").out)["arena_bytes"]
    stack = (16_384 - least) // 8 * 8
    done = onnx2mcu(*given, "--force", "--stack", stack)
    done.refused("bytes of RAM", f"with --ram min: an arena of {least:,} bytes, which fits")
    for more in ((), ("--ram", "min")):
        done = onnx2mcu(*given, "--force", "--stack", stack + 8, *more)
        done.refused("bytes of RAM", "use a smaller input")
        assert "--ram min" not in done.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "--arena-in: names no memory"),
        (" ", "--arena-in: names no memory"),
        (",", "--arena-in ,: one of the names is empty"),
        ("ram,", "--arena-in ram,: one of the names is empty"),
        (":16", "--arena-in :16: one of the names is empty"),
        ("auto,ccm", "--arena-in auto,ccm: auto is all RAM inside the part"),
    ],
)
def test_names_of_memories_that_are_none(onnx2mcu, arguments, small_board, text, told):
    onnx2mcu(*arguments(board=small_board), f"--arena-in={text}").refused(told)


@pytest.mark.parametrize("option", ["weights-in", "hot-weights"])
def test_an_option_for_a_memory_names_one(onnx2mcu, arguments, option, untouched):
    onnx2mcu(*arguments(), f"--{option}=").refused(f"--{option}: names no memory")


def test_copied_weights_are_counted(onnx2mcu, arguments, small_board):
    done = onnx2mcu(*arguments(board=small_board), "--stack", 8000, "--hot-weights", "ram:8384")
    done.refused("bytes of RAM", "stack 8,000, weights 8,384", "ram has 16,384")


def test_another_flash_is_named_where_it_helps(onnx2mcu, arguments, small_board, wide):
    done = onnx2mcu(*arguments(model=wide, board=small_board))
    done.refused("bytes of flash; flash has 262,144", "--weights-in qspi")


# ---- the output folder --------------------------------------------------------------------------
def test_output_folder_in_use(onnx2mcu, arguments, tmp_path, untouched):
    out = tmp_path / "out"
    out.mkdir()
    note = write(out / "thesis.txt", b"dear")
    untouched.add(note)
    onnx2mcu(*arguments()).refused("in use", "another folder")
    onnx2mcu(*arguments(), "--force").refused("in use")
    assert note.read_bytes() == b"dear"


def test_earlier_project_is_kept_without_force(onnx2mcu, arguments, tmp_path):
    assert onnx2mcu(*arguments()).code == 0
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    onnx2mcu(*arguments()).refused("in use", "--force")
    onnx2mcu(*arguments(board="nonsense"), "--force").refused("unknown board")
    onnx2mcu(*arguments(calib=tmp_path / "none"), "--force").refused("none")
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_output_that_is_a_file(onnx2mcu, arguments, tmp_path, untouched):
    path = write(tmp_path / "file", b"")
    untouched.add(path)
    onnx2mcu(*arguments(output=path)).refused("is a file")
    for below in (path / "below", path / "far" / "below"):
        onnx2mcu(*arguments(output=below)).refused(f"{path} is a file, not a folder")


def test_parents_made_for_nothing_are_taken_back(onnx2mcu, arguments, tmp_path, untouched):
    onnx2mcu(*arguments(output=tmp_path / "a" / "b" / "c", calib=tmp_path / "none")).refused("none")


def test_output_in_the_current_folder(onnx2mcu, arguments, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert onnx2mcu(*arguments(output=".")).code == 0
    assert os.path.isfile("small.h")
    assert [p.name for p in tmp_path.iterdir()] == ["here"]


def test_output_behind_a_link(onnx2mcu, arguments, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    assert onnx2mcu(*arguments()).code == 0
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "real" / "manifest.json").is_file()


# ---- the options --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (["convert"], ["Missing", "convert --help"]),
        (["compare", "somewhere"], ["--data"]),
        (["frobnicate"], ["No such command 'frobnicate'", "onnx2mcu --help"]),
        (["boards", "--frobnicate"], ["--frobnicate", "onnx2mcu boards --help"]),
        (["emulate", ".", "--emulator", "simics"], ["--emulator", "renode"]),
        (["emulate", ".", "--samples", "0"], ["--samples"]),
        (["emulate", ".", "--timeout", "soon"], ["--timeout"]),
        (["compare", ".", "--data", "x", "--min-agreement", "1.5"], ["--min-agreement"]),
        (["compare", ".", "--data", "x", "--max-drop", "-1"], ["--max-drop"]),
        (["boards", "surplus"], ["surplus"]),
    ],
)
def test_usage_errors_have_the_same_two_lines(onnx2mcu, line, parts, untouched):
    done = onnx2mcu(*line)
    done.refused("command line: ", *parts)
    assert len(done.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [("stack", 7), ("stack", -8), ("percentile", 400), ("calibration", "guess")],
)
def test_values_that_make_no_sense(onnx2mcu, arguments, untouched, option, value):
    changes = {"calibration": "percentile", option: value}
    onnx2mcu(*arguments(**changes)).refused(option)


def test_folder_that_is_no_cmsis_nn(onnx2mcu, arguments, tmp_path, untouched):
    onnx2mcu(*arguments(cmsis_nn_dir=tmp_path)).refused("CMSIS-NN", "Include")


def test_json_keeps_errors_off_the_output(onnx2mcu, arguments, untouched):
    onnx2mcu(*arguments(board="nonsense"), "--json").refused("unknown board")


# ---- later commands -----------------------------------------------------------------------------
@pytest.mark.parametrize("command", ["build", "emulate", "flash"])
def test_folder_that_is_no_project(onnx2mcu, tmp_path, untouched, command):
    onnx2mcu(command, tmp_path).refused("no manifest.json", "onnx2mcu convert")
    onnx2mcu(command, tmp_path / "nowhere").refused("no manifest.json")


def test_manifest_of_another_version(onnx2mcu, project, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    (copy / "manifest.json").write_text('{"tool": "0.0.0"}')
    onnx2mcu("build", copy).refused("manifest")


def test_test_data_that_do_not_exist(onnx2mcu, project, tmp_path):
    onnx2mcu("emulate", project, "--data", tmp_path / "none.npz").refused("none.npz")
    onnx2mcu("compare", project, "--data", tmp_path / "none.npz").refused("none.npz")


def test_missing_compiler(onnx2mcu, project, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    onnx2mcu("build", project).refused("arm-none-eabi-gcc", "not installed", "apt install")
    assert not (project / "build").exists()


def test_missing_emulator(onnx2mcu, project, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    onnx2mcu("emulate", project, "--emulator", "qemu").refused("qemu")
    onnx2mcu("emulate", project, "--emulator", "renode").refused("renode")


def test_run_looks_for_its_tools_before_it_writes(
    onnx2mcu, arguments, labelled, monkeypatch, tmp_path, untouched
):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = onnx2mcu(*arguments("run", data=labelled))
    done.refused("arm-none-eabi-gcc", "not installed")
    assert not (tmp_path / "out").exists()


def test_run_reads_its_data_before_it_writes(onnx2mcu, arguments, tmp_path):
    done = onnx2mcu(*arguments("run", data=tmp_path / "none.npz"))
    assert done.code == 2
    assert not (tmp_path / "out").exists()


def test_a_gate_of_convert_that_fails(onnx2mcu, arguments, untouched):
    done = onnx2mcu(*arguments(min_sqnr=99))
    done.refused("dB is below 99.0 dB", "worst layers: layer", "nothing was written", code=1)


def test_a_bug_is_called_one(onnx2mcu, model, monkeypatch):
    def broken(*_: object) -> None:
        raise RuntimeError("three\nlines\tof \x1b[31mtrouble")

    monkeypatch.setattr("toolchain.pipeline.inspect", broken)
    done = onnx2mcu("inspect", model)
    assert done.code == 1
    assert done.err.startswith("error: internal: RuntimeError: three")
    assert "\x1b" not in done.err
    assert done.err.endswith("hint: this is a bug; ONNX2MCU_DEBUG=1 shows where\n")


def test_names_cannot_add_lines_to_a_message(onnx2mcu, arguments, tmp_path, untouched):
    path = tmp_path / "odd.onnx"
    model = onnx.load(operator_net(path, "Det"))
    model.graph.node[0].name = "a\nhint: wrong\x1b[2J"
    onnx.save(model, path)
    untouched.add(path)
    done = onnx2mcu(*arguments(model=path))
    done.refused("Det", "\n  hint: wrong")
    assert "\x1b" not in done.err
