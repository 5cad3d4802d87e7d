"""Projects with parts missing, damaged or read-only, and commands that the user stops."""

import shutil
import signal

import pytest

from tests.run import faults
from toolchain import pipeline
from toolchain.project import Project, taken_back_if_interrupted


@pytest.fixture
def copy(runnable, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(runnable, folder, ignore=shutil.ignore_patterns("build", "outputs.npz"))
    return folder


@pytest.mark.emulator
@pytest.mark.parametrize("data", [None, b"", b"hello", b"PK\x03\x04 cut"])
@pytest.mark.parametrize("command", ["emulate", "profile"])
def test_stored_samples(onnx2mcu, copy, command, data):
    path = copy / "model" / "samples.npz"
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    onnx2mcu(command, copy).refused("samples.npz of the project is missing or damaged", "convert")


@pytest.mark.parametrize("command", ["emulate", "compare"])
def test_float_model(onnx2mcu, copy, labelled, command):
    (copy / "model" / "model.onnx").unlink()
    done = onnx2mcu(command, copy, "--data", labelled)
    done.refused("model.onnx", "the float model is not in this project")


@pytest.mark.emulator
@pytest.mark.parametrize("command", ["build", "emulate", "profile"])
def test_folder_in_which_nothing_can_be_written(onnx2mcu, copy, command):
    (copy / "build").write_text("no folder can be made here")
    onnx2mcu(command, copy).refused(str(copy / "build"), "cannot be written", "copy the project")


@pytest.mark.emulator
def test_outputs_that_cannot_be_written(onnx2mcu, copy):
    (copy / "outputs.npz").mkdir()
    onnx2mcu("emulate", copy).refused(
        str(copy / "outputs.npz"), "cannot be written", "copy the project"
    )


@pytest.mark.emulator
def test_stacks_that_cannot_be_written(onnx2mcu, copy, tmp_path):
    onnx2mcu("profile", copy, "--stacks", tmp_path).refused(str(tmp_path), "is a folder")
    assert not (copy / "build").exists(), "it ran first"
    (tmp_path / "file").write_text("")
    done = onnx2mcu("profile", copy, "--stacks", tmp_path / "file" / "stacks.txt")
    done.refused("stacks.txt", "is a file, not a folder")


@pytest.mark.emulator
def test_c_that_was_altered(onnx2mcu, copy):
    path = copy / "net.c"
    path.write_text(path.read_text() + "int nonsense = missing_name;\n")
    done = onnx2mcu("build", copy)
    assert done.code == 1
    assert all(part in done.err for part in ("does not compile", "missing_name", "convert again"))
    lines = done.err.splitlines()
    assert len(lines) == len(set(lines))


def test_wrong_choice_is_told_in_plain_words(onnx2mcu):
    done = onnx2mcu("emulate", "x", "--emulator", "bochs")
    done.refused("'bochs' is not one of 'auto', 'all', 'renode', 'qemu', 'unicorn'")
    assert "alue error" not in done.err


@pytest.mark.emulator
@pytest.mark.parametrize("engine", ["qemu", "unicorn"])
def test_interrupt_ends_a_run(onnx2mcu, copy, engine):
    faults.endless_loop(Project(copy))
    pipeline.build(copy)
    # A job in the background of a shell ignores Ctrl-C; here it counts.
    presses = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGALRM: lambda *_: signal.raise_signal(signal.SIGINT),
    }
    before = {number: signal.signal(number, act) for number, act in presses.items()}
    signal.setitimer(signal.ITIMER_REAL, 5)
    try:
        done = onnx2mcu("emulate", copy, "--emulator", engine, "--timeout", 60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, act in before.items():
            signal.signal(number, act)
    assert (done.code, done.out, done.err) == (130, "", "")


@pytest.mark.parametrize("stopped", ["convert", "build", "compare"])
def test_interrupted_run_leaves_nothing(onnx2mcu, arguments, labelled, tmp_path, stopped):
    def press(*_, **__):
        raise KeyboardInterrupt

    output = tmp_path / "new" / "out"
    with pytest.MonkeyPatch.context() as patch:
        if stopped == "convert":
            patch.setattr(pipeline.writing, "write_records", press)
        else:
            patch.setattr(pipeline, stopped, press)
        if stopped == "compare":
            patch.setattr(pipeline, "build", lambda folder: (folder / "build").mkdir())
        done = onnx2mcu(*arguments("run", output=output, data=labelled))
    assert (done.code, done.out, done.err) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def make_and_stop(folder, reason):
    with taken_back_if_interrupted(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "x").write_text("")
        raise reason


def test_what_was_there_stays(tmp_path):
    (tmp_path / "old").mkdir()
    for folder in (tmp_path / "old", tmp_path / "new" / "one"):
        with pytest.raises(KeyboardInterrupt):
            make_and_stop(folder, KeyboardInterrupt())
    assert {p.name for p in tmp_path.rglob("*")} == {"old", "x"}
    with pytest.raises(ValueError, match="other"):
        make_and_stop(tmp_path / "new", ValueError("other"))
    assert (tmp_path / "new" / "x").exists()
