"""Counts per function: three ways to count, one answer."""

import shutil
import subprocess
from collections import Counter

import pytest

from tests.run import fake_model
from tests.run.conftest import CORES
from toolchain.errors import InputRefused, RunFailed
from toolchain.run import NoCounts, RunRequest, block_plugin, count_functions
from toolchain.run.function_counts import require_same

needs_plugins = pytest.mark.skipif(
    block_plugin.missing() is not None, reason=f"no plugins: {block_plugin.missing()}"
)
BOARDS = [CORES[cpu] for cpu in CORES if cpu != "cortex-m0"]


def request_for(built, name):
    board, result = built(name)
    return RunRequest(result.emulation, board, fake_model.MODEL, [bytes(range(16))])


@needs_plugins
@pytest.mark.emulator
@pytest.mark.parametrize("name", BOARDS)
def test_plugin_counts_what_the_timer_and_unicorn_count(built, qemu, name):
    request = request_for(built, name)
    engines, counts = count_functions(request, "all")
    assert engines == (("qemu",) if name == "mps3-an547" else ("qemu", "unicorn"))
    assert [layer.total() for layer in counts] == qemu.run(request).instructions[0].tolist()
    assert counts[0] == {"kws_run": counts[0].total()}
    assert counts[1]["glue_fake"] > 16 * 3
    assert all("onnx2mcu_mark" not in layer for layer in counts)


@pytest.mark.emulator
def test_unicorn_counts_without_a_host_compiler(built, qemu, monkeypatch):
    pytest.importorskip("unicorn")
    request = request_for(built, "nucleo-f446re")
    monkeypatch.setattr(block_plugin, "_compiler", lambda: None)
    reason = block_plugin.missing()
    assert reason is not None
    assert "apt install gcc" in reason
    assert count_functions(request)[0] == ("unicorn",)
    with pytest.raises(InputRefused, match="no C compiler"):
        count_functions(request, "qemu")


@needs_plugins
@pytest.mark.emulator
def test_the_version_of_the_interface_that_qemu_names_is_tried(built, monkeypatch):
    """QEMU 7.2 takes up to version 1; later ones name the least they take."""
    pytest.importorskip("unicorn")
    request = request_for(built, "nucleo-f446re")
    expected = count_functions(request, "qemu")
    for first in (1, 2, block_plugin.NEWEST):
        monkeypatch.setattr(block_plugin, "_by_version", lambda first=first: first)
        assert count_functions(request, "qemu") == expected
    told = "TCG plugin x requires API version 2, but this QEMU supports only a minimum version of "
    tried = []
    monkeypatch.setattr(block_plugin, "_run", lambda *_: told + str(block_plugin.NEWEST + 1))
    monkeypatch.setattr(block_plugin, "compile_plugin", lambda _, i: tried.append(i))
    with pytest.raises(RunFailed, match="a minimum version of 7") as caught:
        count_functions(request, "qemu")
    assert "unicorn" in caught.value.hint
    assert count_functions(request)[0] == ("unicorn",)
    with pytest.raises(NoCounts):
        count_functions(request, "all")
    tried.clear()
    monkeypatch.setattr(block_plugin, "_by_version", lambda: 2)
    monkeypatch.setattr(block_plugin, "_run", lambda *_: told + "3" if tried[-1] < 3 else "late")
    with pytest.raises(RunFailed, match="late"):
        count_functions(request, "qemu")
    assert tried == [2, 3]


def test_engines_that_disagree_are_named():
    one = [Counter(a=1), Counter(b=2)]
    require_same(one, [Counter(a=1), Counter(b=2)])
    with pytest.raises(RunFailed, match="qemu and unicorn count 2 and 3 instructions") as caught:
        require_same(one, [Counter(a=1), Counter(b=3)])
    assert caught.value.where == "b, layer 1"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("interface", [1, 2, block_plugin.NEWEST])
def test_plugin_compiles_without_a_warning(compiler, interface, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    options = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wmissing-prototypes", "-Werror"]
    words = [compiler, *block_plugin._OPTIONS, *options, f"-DPLUGIN_API={interface}"]
    words += ["-o", tmp_path / "x.so", block_plugin.SOURCE]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


_INTERFACE = """
#include <stddef.h>
#include <stdint.h>
struct qemu_info_t;
struct qemu_plugin_tb;
enum flags { NO_REGISTERS, READS_REGISTERS, WRITES_REGISTERS };
extern int qemu_plugin_version;
int qemu_plugin_install(uint64_t, const struct qemu_info_t *, int, char **);
void qemu_plugin_register_vcpu_tb_trans_cb(
    uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(
    struct qemu_plugin_tb *, void (*)(unsigned, void *), enum flags, void *);
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
"""
"""The types of what the plugin calls: in QEMU 7.2 (version 1) as in 10.2 (version 5), and in 6."""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("interface", [1, 2, block_plugin.NEWEST])
def test_plugin_has_the_types_of_the_interface(compiler, interface, tmp_path):
    """A declaration that contradicts another does not compile."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    header = tmp_path / "interface.h"

    def compiles(text):
        header.write_text(text)
        words = [compiler, *block_plugin._OPTIONS, f"-DPLUGIN_API={interface}"]
        words += ["-include", header, "-o", tmp_path / "x.so", block_plugin.SOURCE]
        return subprocess.run(words, capture_output=True, text=True).returncode == 0

    assert compiles(_INTERFACE)
    for old, new in (("enum flags, ", ""), ("size_t q", "int q"), ("const struct qemu_p", "int q")):
        assert old in _INTERFACE
        assert not compiles(_INTERFACE.replace(old, new))
