import pytest
from tests.firmware import test_operators as t
from toolchain.ir import Op
pytestmark=[pytest.mark.emulator]
@pytest.mark.parametrize("core", t.BOARDS)
@pytest.mark.parametrize("first", range(500, 600, 25))
def test_mine(core, first, tmp_path, monkeypatch):
    monkeypatch.setattr(t.Op, "registry", {n: Op.registry[n] for n in ("Take","LinearResize","Transpose","Pad","Concat")})
    t._run(range(first, first+25), t.BOARDS[core], tmp_path/"p")
