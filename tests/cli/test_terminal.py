"""The console script as a process: progress bars, pipes, characters a terminal cannot show."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import nets

REPO = Path(__file__).parents[2]
SCRIPT = [sys.executable, "-c", "from toolchain.cli import main; main()"]


def environment(**changes: str) -> dict[str, str]:
    path = os.pathsep.join([str(REPO), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "TERM": "xterm", **changes}


def in_terminal(command: list[str], columns: int = 80) -> tuple[int, str, str]:
    """Run with standard error on a terminal; returns the exit code, its text, standard output."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment(COLUMNS=str(columns)),
        text=True,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                block = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            shown += block
        assert process.stdout is not None
        output = process.stdout.read()
    os.close(ours)
    return process.returncode, shown.decode(errors="replace"), output


def test_progress_bar_on_a_terminal(arguments):
    command = [*SCRIPT, *map(str, arguments()), "--json"]
    code, shown, output = in_terminal(command)
    assert code == 0, shown
    assert "calibrate" in shown
    assert "24/24" in shown
    assert output.startswith("{")
    assert output.count("\n") == 1


def test_pipe_gets_no_bar_no_escape_sequence_and_no_trailing_space(arguments):
    command = [*SCRIPT, *map(str, arguments())]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_reader_that_leaves_early():
    script = f"{sys.executable} -c 'from toolchain.cli import main; main()' ops | true"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stderr == ""


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_that_the_terminal_cannot_show(tmp_path, locale):
    path = nets.classifier(tmp_path / "net.onnx", node="schicht \u2211 [/b][red]\x1b[2J")
    done = subprocess.run(
        [*SCRIPT, "inspect", str(path)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(
            LC_ALL=locale, PYTHONUTF8="0", PYTHONIOENCODING="ascii" if locale == "C" else ""
        ),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ("\\u2211" if locale == "C" else "\u2211") in done.stdout
    assert "[/b][red]" in done.stdout
    assert "\x1b" not in done.stdout


def test_model_file_with_markup_in_its_name(onnx2mcu, arguments, tmp_path):
    path = nets.classifier(tmp_path / "[bold]x[!b].onnx")
    done = onnx2mcu(*arguments(model=path))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("[bold]x[!b].onnx for ")


def interrupted(folder: Path, **modules: str) -> tuple[int, str, str]:
    """`boards` with these modules in front of the installed ones."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(f"import os, signal\n{text}\n")
    done = subprocess.run(
        [sys.executable, "-m", "toolchain", "boards"],
        capture_output=True,
        text=True,
        env=environment(PYTHONPATH=os.pathsep.join([str(folder), str(REPO)])),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_interrupt_while_loading(tmp_path):
    press = "os.kill(os.getpid(), signal.SIGINT)"
    assert interrupted(tmp_path, typer=press) == (130, "", "")


def test_interrupt_while_running(tmp_path):
    press = "toolchain.board.list_boards = lambda: os.kill(os.getpid(), signal.SIGINT)"
    assert interrupted(tmp_path, sitecustomize=f"import toolchain.board\n{press}") == (130, "", "")
