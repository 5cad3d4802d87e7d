"""Unicorn counts instructions another way than QEMU; both must agree."""

import sys

import numpy as np
import pytest

from tests.run import fake_model
from tests.run.conftest import CORES
from toolchain.errors import RunFailed
from toolchain.run import RunRequest, unicorn
from toolchain.run.unicorn import Unicorn

pytest.importorskip("unicorn")
pytestmark = pytest.mark.emulator
BOARDS = [CORES[cpu] for cpu in CORES if cpu not in ("cortex-m0", "cortex-m55")]
SAMPLES = [bytes(range(start, start + 16)) for start in (0, 3, 60)]


@pytest.mark.parametrize("name", BOARDS)
def test_everything_equals_qemu(built, qemu, name):
    board, result = built(name)
    request = RunRequest(result.emulation, board, fake_model.MODEL, SAMPLES, dump_samples=2)
    one, two = Unicorn().run(request), qemu.run(request)
    assert one.outputs == two.outputs
    assert one.dumps == two.dumps
    assert one.stack_bytes == two.stack_bytes
    np.testing.assert_array_equal(one.instructions, two.instructions)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (fake_model.WRITE_PAST_RAM, "UNMAPPED"),
        (fake_model.WRITE_FLASH, "WRITE_PROT"),
        (fake_model.OVERFLOW, "stack overflow"),
        (fake_model.UNDEFINED, "INSN_INVALID"),
        (fake_model.SUPERVISOR, r"executed SVC #3.*\(SVC, PC"),
        (fake_model.BREAKPOINT, r"executed BKPT #5.*\(BKPT, PC"),
        (fake_model.STATUS, "status -7"),
        (fake_model.HANG, "still running"),
    ],
)
@pytest.mark.parametrize("name", ["nucleo-f446re", "nucleo-u575zi"])
def test_faults(built, name, what, told):
    board, result = built(name)
    samples = [bytes([what] + [0] * 15)]
    with pytest.raises(RunFailed, match=told) as caught:
        Unicorn().run(RunRequest(result.emulation, board, fake_model.MODEL, samples, timeout_s=0.5))
    assert caught.value.where.startswith(("kws_", "emulation.elf"))


def test_package_that_does_not_load(monkeypatch, tmp_path):
    (tmp_path / "unicorn.py").write_text("raise ImportError('libunicorn.so.2:\\nno such file')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "unicorn"]:
        monkeypatch.delitem(sys.modules, name)
    unicorn._import_trouble.cache_clear()
    reason = Unicorn().missing("cortex-m4")
    unicorn._import_trouble.cache_clear()
    assert reason == (
        "unicorn does not load (libunicorn.so.2: no such file): "
        "pip install --force-reinstall unicorn"
    )
