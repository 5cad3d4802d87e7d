import shutil
from functools import cache

import pytest

from tests.run import fake_model
from toolchain.board import load_board
from toolchain.run import build

CORES = {
    "cortex-m0": "microbit-v1",
    "cortex-m0plus": "raspberry-pi-pico",
    "cortex-m3": "mps2-an385",
    "cortex-m4": "nucleo-f446re",
    "cortex-m7": "nucleo-h743zi",
    "cortex-m33": "nucleo-u575zi",
    "cortex-m55": "mps3-an547",
}


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Function: name of a board -> (board, its BuildResult), built once."""
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")

    @cache
    def make(name):
        board = load_board(name)
        project = fake_model.write_project(tmp_path_factory.mktemp(name) / "project", board)
        return board, build(project, board)

    return make


@pytest.fixture(scope="session")
def qemu():
    if shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm is not installed")
    from toolchain.run.qemu import Qemu

    return Qemu()
