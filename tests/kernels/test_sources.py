"""What the compilers say: no warning, headers fit for C++ and for use beside CMSIS-NN's own."""

import shutil
import subprocess

import pytest

from tests.kernels.conftest import GLUE, PORTABLE_SOURCES, SOURCES, cmsis_nn_folder

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
MVE = ARM.format("cortex-m55") + " -mfloat-abi=hard"
COMPILERS = [
    "gcc",
    "clang",
    *(ARM.format(f"cortex-{core}") for core in ("m0", "m3", "m4", "m7", "m33")),
    MVE,
]
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
    sources = SOURCES if compiler == MVE else PORTABLE_SOURCES
    _compile(compiler, *WARNINGS, f"-I{GLUE / 'include'}", "-fsyntax-only", *sources)


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
    for header in (GLUE / "include").glob("glue*.h"):
        (tmp_path / header.name).write_text(header.read_text())
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


@pytest.fixture(scope="module")
def symbols(tmp_path_factory) -> dict[str, dict[str, str]]:
    """Kind of every symbol of the C form of every source, by source and symbol."""
    folder, found = tmp_path_factory.mktemp("objects"), {}
    for source in SOURCES:
        compiler = ARM.format("cortex-m0") if source in PORTABLE_SOURCES else MVE
        target = folder / f"{source.stem}.o"
        flags = ["-Os", "-DGLUE_NO_ASM", *WARNINGS, f"-I{GLUE / 'include'}"]
        _compile(compiler, *flags, "-c", "-o", target, source)
        table = subprocess.run(
            ["arm-none-eabi-nm", target], capture_output=True, text=True, check=True
        )
        words = [line.split() for line in table.stdout.splitlines()]
        found[source.stem] = {word[-1]: word[-2] for word in words}
    return found


def test_external_names_are_ours_and_unique(symbols):
    """A file defines what it is named after; only names of the interfaces arm_ and glue_."""
    owners: dict[str, str] = {}
    for source, table in symbols.items():
        for name, kind in table.items():
            if kind.isupper() and kind != "U":
                assert name.startswith(("arm_", "glue_")), (source, name)
                assert name not in owners, (source, owners[name], name)
                owners[name] = source
    assert [s for s in PUBLIC if owners.get(s, s) != s] == []


def test_kernels_hold_no_data(symbols):
    """Nothing writable, and no library function but memcpy, memset and 64-bit helpers."""
    defined = {n for table in symbols.values() for n, kind in table.items() if kind != "U"}
    for source, table in symbols.items():
        assert not set(table.values()) & set("dDbBC"), source
        undefined = {name for name, kind in table.items() if kind == "U"}
        assert all(
            u in {"memcpy", "memset"} | defined or u.startswith(("__aeabi_", "__gnu_thumb1"))
            for u in undefined
        ), (source, undefined)
