"""`doctor --emulator renode`: absent here, all right on the stand-in, wrong on an altered one."""

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

from toolchain.cli import main
from toolchain.run import renode
from toolchain.run.renode_assumptions import ASSUMPTIONS

STANDIN = Path(__file__).parent / "standin"


@pytest.fixture
def doctor(monkeypatch, capsys):
    def run():
        monkeypatch.setattr(sys, "argv", ["onnx2mcu", "doctor", "--emulator", "renode", "--json"])
        renode._pyrenode3_trouble.cache_clear()
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        renode._pyrenode3_trouble.cache_clear()
        return ended.value.code, json.loads(capsys.readouterr().out)["checks"]

    return run


def test_assumptions_are_numbered():
    assert [a.number for a in ASSUMPTIONS] == list(range(1, len(ASSUMPTIONS) + 1))


@pytest.mark.skipif(
    shutil.which("renode") is not None or importlib.util.find_spec("pyrenode3") is not None,
    reason="Renode is installed",
)
def test_absent_renode_is_missing(doctor):
    code, checks = doctor()
    assert code == 1
    (check,) = checks
    assert not check["ok"]
    assert "pip install 'pyrenode3" in check["hint"]
    assert "PYRENODE_PKG" in check["hint"]


def test_standin_meets_every_assumption(doctor, monkeypatch):
    pytest.importorskip("unicorn")
    monkeypatch.syspath_prepend(str(STANDIN))
    code, checks = doctor()
    assert {c["name"]: c["detail"] for c in checks if not c["ok"]} == {}
    assert code == 0
    assert len(checks) == 1 + len(ASSUMPTIONS)


@pytest.mark.parametrize(
    ("old", "new", "numbers"),
    [
        ("return self.executed - self.block", "return self.executed", {2}),
        ("self.bus.UnexpectedWrites += 1", "pass", {6}),
        ("if self.IsHalted:\n                core.emu_stop()", "pass", {3}),
        ('_Assembly("Renode", "1.16.1.4711")', '_Assembly("Renode.Core", "1.16.1.4711")', {11}),
        ("self.console.send(byte)", "pass", {12}),
        ("port.send(a[4] & 0xFF)", "None", {13}),
        ('"STM32F7_USART": 0x28, ', "", {14}),
        ("self.seconds += interval.seconds", "pass", {15}),
        ("self.stack.pop()", "pass", {16}),
        ("kind = re.search(", 'assert "m55" not in text\n        kind = re.search(', {9}),
    ],
)
def test_what_does_not_hold_is_named(doctor, monkeypatch, tmp_path, old, new, numbers):
    pytest.importorskip("unicorn")
    shutil.copytree(STANDIN, tmp_path / "altered")
    path = tmp_path / "altered" / "pyrenode3" / "wrappers.py"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    monkeypatch.syspath_prepend(str(tmp_path / "altered"))
    code, checks = doctor()
    assert code == 1
    wrong = {check["name"] for check in checks if not check["ok"]}
    assert wrong == {f"renode {number}" for number in numbers}
