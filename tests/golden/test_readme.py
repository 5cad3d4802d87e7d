"""The README says what the tool says; `make golden` brings its tables up to date."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from tests.cli import test_commands
from toolchain import pipeline
from toolchain.board import list_boards, load_board
from toolchain.cli import app
from toolchain.report.support import operator_markdown

REPO = Path(__file__).parents[2]
README = REPO / "README.md"
DOCUMENTS = [README, REPO / "CONTRIBUTING.md", REPO / "docs" / "design.md", REPO / "CHANGELOG.md"]


def board_markdown():
    lines = ["| board | core | flash | RAM | part |", "|---|---|---|---|---|"]
    for board in map(load_board, list_boards()):
        sizes = f"{board.flash.bytes:,} | {board.ram.bytes:,}"
        lines.append(f"| `{board.name}` | {board.cpu} | {sizes} | {board.description} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("name", "table"), [("operators", operator_markdown), ("boards", board_markdown)]
)
def test_tables_are_up_to_date(name, table, update_golden):
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, rest = README.read_text(encoding="utf-8").split(begin)
    found, after = rest.split(end)
    if update_golden:
        text = before + begin + table() + end + after
        README.write_text(text, encoding="utf-8", newline="\n")
        return
    assert found == table(), "run `make golden`"


def marks(name):
    """What stands before and behind an example."""
    return f"<!-- {name}: begin -->\n```text\n", f"```\n<!-- {name}: end -->\n"


def example(name="example"):
    """The text of an example."""
    begin, end = marks(name)
    return README.read_text(encoding="utf-8").split(begin)[1].split(end)[0]


def replace_example(name, found):
    """Put the output of this version into the README."""
    begin, end = marks(name)
    before, rest = README.read_text(encoding="utf-8").split(begin)
    text = before + begin + found + end + rest.split(end)[1]
    README.write_text(text, encoding="utf-8", newline="\n")


def output_of(folder, *options, code=0):
    """What a command on the example model prints, errors included."""
    digits = REPO / "examples" / "digits"
    command = [sys.executable, "-c", "from toolchain.cli import main; main()", options[0]]
    command += [digits / "model.onnx", "--calib", digits / "calibration.npz", *options[1:]]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


def test_example_states_the_plan_of_this_version(tmp_path):
    """Kernels, MACs, bytes: what does not depend on compiler and emulator."""
    digits = REPO / "examples" / "digits"
    manifest = pipeline.convert(
        digits / "model.onnx", digits / "calibration.npz", "nucleo-f446re", tmp_path / "out"
    ).manifest
    shown = example()
    for layer in manifest.layers:
        macs = f"{layer.macs:,}" if layer.macs else "-"
        assert re.search(
            rf"^ *{re.escape(layer.name)} +{layer.op} +{layer.kernel} .* {macs} ", shown, re.M
        )
    assert f"arena {manifest.arena_bytes:,} bytes; lower bound " in shown
    assert f"lower bound {manifest.arena_lower_bound:,} (optimal); peak at " in shown
    assert f"weights and tables {manifest.weights_bytes:,} bytes; {manifest.macs:,} MACs" in shown


def trimmed(output):
    """The output of `run` with two rows of each table that goes over all layers once more."""
    lines, row = [], 0
    for line in output.splitlines():
        starts = line.startswith(("executed instructions", "error of each layer"))
        row = 1 if starts else row + 1 if row and line else 0
        if row < 5:
            lines.append(line)
        elif row == 5:
            lines.append("...")
    return "\n".join(lines) + "\n"


@pytest.mark.emulator
def test_example_states_the_results_of_this_version(tmp_path, update_golden):
    """Everything but what depends on the versions of compiler and emulator."""
    options = ("--board", "nucleo-f446re", "-o", "build/digits", "--prefix", "digits")
    data = REPO / "examples" / "digits" / "test.npz"
    found, shown = trimmed(output_of(tmp_path, "run", "--data", data, *options)), example()
    if update_golden:
        replace_example("example", found)
        return
    start = found.index("comparison\n")
    assert shown.index("comparison\n") > 0
    assert shown[shown.index("comparison\n") :] == found[start:], "run `make golden`"
    assert neutral(shown) == neutral(found), "run `make golden`"


def neutral(text):
    """Without numbers of instructions, of code, and what is summed up from it."""
    lines = re.sub(r"executed instructions per inference \(.*\)", "executed", text).splitlines()
    varying = r"^(code|total|used) |instructions per inference| \d+\.\d%"
    return [line for line in lines if not re.search(varying, line)]


LIMITED = ("convert", "--board", "nrf52840-dk", "-o", "build/digits")


@pytest.mark.slow
@pytest.mark.emulator
@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("constraints", "--max-ram 4300 --max-energy-uj 30 --min-sqnr 40 --explain", 0),
        ("refusal", "--max-ram 3200 --max-latency-ms 2.6", 1),
    ],
)
def test_examples_of_constraints_are_those_of_this_version(
    name, options, code, tmp_path, update_golden
):
    """Plans, accuracy and verdicts; flash, time and energy depend on the compiler's version."""
    words = " ".join(README.read_text(encoding="utf-8").split())
    assert options in words
    found = output_of(tmp_path, *LIMITED, *options.split(), code=code)
    found = found.split("\nmodel.onnx for ")[0]
    if update_golden:
        replace_example(name, found)
        return
    assert built_apart(example(name)) == built_apart(found), "run `make golden`"


def built_apart(text):
    """Lines without what only a compiler knows."""
    lines = []
    for line in text.splitlines():
        cells = re.split(r" {2,}", re.sub(r"[\d,.]+ (bytes of flash|ms|uJ)", r"\1", line))
        lines.append([*cells[:8], cells[9], *cells[12:]] if len(cells) == 13 else cells)
    return lines


def test_commands_and_options_exist():
    commands = get_command(app).commands
    text = README.read_text(encoding="utf-8")
    for name, command in commands.items():
        assert re.search(rf"`onnx2mcu [^`]*\b{name}\b|, `{name}`", text), (
            f"{name} is not in the README"
        )
        assert command.help, name
    known = {o for c in commands.values() for p in c.params for o in p.opts}
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)):
        assert option in known | {"--help"}, option


def test_json_keys_are_those_of_the_commands():
    """Each key of the README's table is printed by its command (tests/cli checks the values)."""
    rows = dict(
        re.findall(r"^\| `(convert|build|emulate|compare)` \| (.*) \|$", README.read_text(), re.M)
    )
    for command, cells in rows.items():
        keys = set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", cells)))
        assert keys == getattr(test_commands, command.upper()), command
    assert len(rows) == 4


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_and_targets_that_are_named_exist(path):
    text = path.read_text(encoding="utf-8")
    makefile = (REPO / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([a-z]+)`", text):
        assert re.search(rf"^{target}:", makefile, re.M), target
    for name in re.findall(r"`((?:toolchain|templates|tests|cmsis_glue|boards)/[\w./-]+)`", text):
        assert (REPO / name).exists() or "NAME" in name, name


def test_version_of_the_changelog():
    project = (REPO / "pyproject.toml").read_text(encoding="utf-8")
    (version,) = re.findall(r'^version = "(.*)"$', project, re.M)
    assert f"## {version}" in (REPO / "CHANGELOG.md").read_text(encoding="utf-8")
