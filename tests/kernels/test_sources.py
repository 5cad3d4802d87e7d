"""What the compilers say: no warning, headers fit for C++ and for use beside CMSIS-NN's own."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kernels.conftest import GLUE, cmsis_nn_folder

WARNINGS = [
    "-std=c11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wpedantic",
    "-Wconversion",
    "-Wmissing-prototypes",
    "-Wundef",
    "-Wcast-qual",
]
ARM = "arm-none-eabi-gcc -mthumb -mcpu={}"
COMPILERS = ["gcc", "clang"] + [
    ARM.format(f"cortex-{core}") for core in ("m0", "m3", "m4", "m7", "m33", "m55")
]
SOURCES = sorted((GLUE / "src").glob("*.c"))
PUBLIC = {path.stem for path in SOURCES}

# What a generated model does with the headers: const tables, static parameters, every kind of call.
MODEL = """
#include "arm_nnfunctions.h"
#include "glue.h"
#if GLUE_API_VERSION != 1
#error "API"
#endif
static const int32_t multipliers[2] = {1073741824, 1073741824};
static const cmsis_nn_per_channel_quant_params quant = {
    .multiplier = GLUE_CONST_TABLE(multipliers), .shift = GLUE_CONST_TABLE(multipliers)};
arm_cmsis_nn_status layer(const int8_t *x, int8_t *y);
arm_cmsis_nn_status layer(const int8_t *x, int8_t *y)
{
    const cmsis_nn_context ctx = {.buf = 0, .size = 0};
    const cmsis_nn_fc_params params = {.input_offset = 1, .activation = {.min = -128, .max = 127}};
    const cmsis_nn_dims dims = {.n = 1, .h = 1, .w = 1, .c = 1};
    const glue_avgpool_params pool = {
        .table_size = 2, .multipliers = multipliers, .shifts = multipliers};
    (void)glue_avgpool_s8(&pool, &dims, x, &dims, &dims, y);
    (void)arm_avgpool_s8_get_buffer_size(1, 1);
    return arm_fully_connected_per_channel_s8(
        &ctx, &params, &quant, &dims, x, &dims, x, &dims, 0, &dims, y);
}
"""


def _compile(compiler: str, *arguments: object) -> None:
    program = compiler.split()
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not installed")
    done = subprocess.run(
        [*program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sources_compile_without_warning(compiler):
    _compile(compiler, *WARNINGS, f"-I{GLUE / 'include'}", "-fsyntax-only", *SOURCES)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_model_compiles_without_warning(compiler, tmp_path):
    (tmp_path / "model.c").write_text(MODEL)
    _compile(
        compiler,
        *WARNINGS,
        f"-I{GLUE / 'include'}",
        "-c",
        "-o",
        tmp_path / "o",
        tmp_path / "model.c",
    )


def test_a_model_compiles_beside_cmsis_nn_4_0_0(tmp_path):
    (tmp_path / "model.c").write_text(MODEL)
    (tmp_path / "glue.h").write_text((GLUE / "include" / "glue.h").read_text())
    headers = f"-isystem{cmsis_nn_folder() / 'Include'}"
    _compile(
        "gcc",
        *WARNINGS,
        "-D__GNUC_PYTHON__",
        "-D__RESTRICT=",
        headers,
        "-fsyntax-only",
        tmp_path / "model.c",
    )


@pytest.mark.parametrize("compiler", ["g++", "clang++", "arm-none-eabi-g++"])
def test_headers_are_cpp17(compiler, tmp_path):
    (tmp_path / "model.cpp").write_text(
        '#include "glue.h"\nint f(void) { return GLUE_API_VERSION; }\n'
    )
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-fsyntax-only"]
    _compile(compiler, *flags, f"-I{GLUE / 'include'}", tmp_path / "model.cpp")


def test_one_public_function_per_file(tmp_path):
    library = tmp_path / "glue.so"
    _compile("gcc", "-shared", "-fPIC", f"-I{GLUE / 'include'}", "-o", library, *SOURCES)
    table = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    exported = {line.split()[-1] for line in table.stdout.splitlines()}
    assert {name for name in exported if name.startswith(("arm_", "glue_"))} == PUBLIC


def test_kernels_hold_no_data(tmp_path):
    """Nothing writable, and no library function but memcpy, memset and 64-bit helpers."""
    cores = "arm-none-eabi-gcc -mthumb -mcpu=cortex-m0 -Os"
    for source in SOURCES:
        target = Path(tmp_path, source.stem + ".o")
        _compile(cores, *WARNINGS, f"-I{GLUE / 'include'}", "-c", "-o", target, source)
        symbols = subprocess.run(
            ["arm-none-eabi-nm", target], capture_output=True, text=True, check=True
        ).stdout.split("\n")
        kinds = {line.split()[-2]: line.split()[-1] for line in symbols if line.strip()}
        assert not kinds.keys() & set("dDbBC"), source.name
        undefined = {line.split()[-1] for line in symbols if " U " in line}
        assert all(
            u in {"memcpy", "memset"} | PUBLIC or u.startswith(("__aeabi_", "__gnu_thumb1"))
            for u in undefined
        ), (
            source.name,
            undefined,
        )
