"""What users of the generated files rely on."""

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.cli import nets
from tests.cli.programs import (
    HOST,
    LANGUAGE,
    WARNINGS,
    compiled,
    includes,
    run_models,
    sources,
)
from toolchain import pipeline
from toolchain.ir.fixedpoint import quantize
from toolchain.options import ConvertOptions
from toolchain.project import Project

NM = shutil.which("nm")
EXAMPLES = Path(__file__).parents[2] / "examples"


def syntax(command, source, folder, *options):
    return subprocess.run(
        [*command, *WARNINGS, *options, *includes([folder]), "-fsyntax-only", source],
        capture_output=True,
        text=True,
        check=False,
    )


def test_output_is_the_same_byte_for_byte(onnx2mcu, arguments, tmp_path):
    folders = [tmp_path / "one", tmp_path / "somewhere" / "else"]
    for folder in folders:
        assert onnx2mcu(*arguments(output=folder)).code == 0
    one, two = (
        {p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders
    )
    assert set(one) == set(two)
    assert {str(name) for name in one if one[name] != two[name]} == set()
    assert len(one) > 20
    assert not any(str(tmp_path).encode() in data for data in one.values())


@pytest.mark.emulator
def test_running_leaves_the_converted_files_alone(onnx2mcu, arguments, labelled, project, tmp_path):
    out = tmp_path / "out"
    options = arguments("run", data=labelled, max_drop=50)
    assert onnx2mcu(*options, "--samples", 2).code == 0
    for path in project.rglob("*"):
        if path.is_file() and "build" not in path.relative_to(project).parts:
            assert (out / path.relative_to(project)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_header_is_c11(project, tmp_path, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "user.c"
    source.write_text('#include "small.h"\n#include "small.h"\n')
    done = syntax([compiler, *LANGUAGE], source, project)
    assert done.returncode == 0, done.stderr


def test_header_is_cpp17(project, tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    source = tmp_path / "user.cpp"
    source.write_text(
        '#include "small.h"\n'
        'static_assert(SMALL_ARENA_BYTES > 0, "");\n'
        "int main()\n{\n"
        "    small_input_image()[0] = small_quantize_input_image(0.5f);\n"
        "    const int8_t code = small_output_scores()[0];\n"
        "    return small_run() != 0 || small_dequantize_output_scores(code) < 0;\n"
        "}\n"
    )
    warnings = [w for w in WARNINGS if w != "-Wmissing-prototypes"]
    done = subprocess.run(
        ["g++", "-std=c++17", *warnings, *includes([project]), "-fsyntax-only", source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_cpp_program_links_with_the_c_files(project, tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    parts = [
        compiled(source, tmp_path, *includes([project]))
        for source in (*sources(project), *sorted((project / "kernels").glob("*.c")))
    ]
    (tmp_path / "user.cpp").write_text(
        '#include "small.h"\nint main() { return static_cast<int>(small_run()); }\n'
    )
    program = tmp_path / "program"
    command = ["g++", "-std=c++17", *includes([project]), tmp_path / "user.cpp", *parts]
    subprocess.run([*command, "-o", program], check=True)
    assert subprocess.run([program], check=False).returncode == 0


def test_arena_one_byte_less_does_not_compile(project):
    (source, _), header = sources(project), (project / "small.h").read_text()
    found = re.search(r"#define SMALL_ARENA_BYTES (\d+)", header)
    assert found is not None
    size = int(found[1])
    for compiler in HOST:
        command = [compiler, *LANGUAGE]
        small = syntax(command, source, project, f"-DSMALL_ARENA_BYTES={size - 1}")
        assert small.returncode != 0
        assert f"SMALL_ARENA_BYTES must be at least {size}" in small.stderr
        for larger in (size, size + 1, 4 * size):
            done = syntax(command, source, project, f"-DSMALL_ARENA_BYTES={larger}")
            assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def parts(model, calib, tmp_path_factory):
    """The arena in two memories, the weights in two others."""
    folder = tmp_path_factory.mktemp("parts") / "small"
    options = ConvertOptions(
        arena_in="sram:300,sdram", weights_in="qspi", hot_weights="sdram:500", prefix="small"
    )
    made = pipeline.convert(model, calib, "stm32f746g-disco", folder, options)
    assert len(made.manifest.firmware.parts) == 2
    return folder


def test_every_part_of_an_arena_is_exact(parts):
    (source, _), header = sources(parts), (parts / "small.h").read_text()
    found = re.findall(r"#define (SMALL_ARENA(?:_2)?_BYTES) (\d+)", header)
    assert [name for name, _ in found] == ["SMALL_ARENA_BYTES", "SMALL_ARENA_2_BYTES"]
    for compiler, (name, text) in itertools.product(HOST, found):
        command, size = [compiler, *LANGUAGE], int(text)
        small = syntax(command, source, parts, f"-D{name}={size - 1}")
        assert small.returncode != 0
        assert f"{name} must be at least {size}" in small.stderr
        assert small.stderr.count("must be at least") == small.stderr.count(f"{name} must")
        done = syntax(command, source, parts, f"-D{name}={size + 1}")
        assert done.returncode == 0, done.stderr


def section_of(path, symbol):
    """The section of an object file that holds a symbol."""
    listing = subprocess.run(["objdump", "-t", path], capture_output=True, text=True, check=True)
    found = re.search(rf" (\S+)\t.* {symbol}$", listing.stdout, re.M)
    assert found is not None
    return found[1]


def test_sections_have_names_of_the_users_choice(parts, tmp_path):
    """What linker scripts take for plain data by default, and any name instead."""
    model, weights = sources(parts)
    hot, *_ = Project(parts).manifest.firmware.hot_weights
    listed = re.findall(r"const \w+ (small_\w+)\[", (parts / "small_weights.h").read_text())
    for source, macro, symbol, section in (
        (model, "SMALL_ARENA_SECTION", "small_arena", ".bss.sram"),
        (model, "SMALL_ARENA_2_SECTION", "small_arena_2", ".bss.sdram"),
        (weights, "SMALL_WEIGHTS_SECTION", listed[0], ".rodata.qspi"),
        (weights, "SMALL_HOT_WEIGHTS_SECTION", hot, ".data.sdram"),
    ):
        assert section_of(compiled(source, tmp_path, *includes([parts])), symbol) == section
        own = compiled(source, tmp_path, *includes([parts]), f'-D{macro}=".own"')
        assert section_of(own, symbol) == ".own"


def test_arena_can_be_placed(project, tmp_path):
    placed = compiled(
        sources(project)[0],
        tmp_path,
        *includes([project]),
        '-DSMALL_ARENA_ATTRIBUTE=__attribute__((aligned(32), section(".dtcm")))',
    )
    listing = subprocess.run(
        ["objdump", "-t", placed], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r" \.dtcm\s.* small_arena$", listing, re.M)


@pytest.mark.skipif(NM is None, reason="binutils are not installed")
def test_symbols_carry_the_prefix_and_nothing_is_initialised_data(project, tmp_path):
    for source in sources(project):
        # Addresses in constants are constant where code does not move, as in firmware.
        path = compiled(source, tmp_path, *includes([project]), "-fno-pic")
        rows = [
            line.split()[-2:]
            for line in subprocess.run(
                [NM, "--defined-only", path], capture_output=True, text=True, check=True
            ).stdout.splitlines()
        ]
        outside = [name for kind, name in rows if kind.isupper()]
        assert outside
        assert all(name.startswith("small_") for name in outside)
        assert {kind for kind, _ in rows} <= set("TtRrBb"), rows
    kernels = sorted((project / "kernels").glob("*.c"))
    assert kernels
    for source in kernels:
        path = compiled(source, tmp_path, *includes([project]))
        kinds = subprocess.run(
            [NM, "--defined-only", path], capture_output=True, text=True, check=True
        ).stdout.split()[1::3]
        assert set(kinds) <= set("TtRrW"), (source.name, kinds)


def test_weights_are_data_after_any_other_object(project):
    text = (project / "small_weights.c").read_text()
    arrays = re.findall(r"^ALIGNED const (?:int8|int32)_t small_\d\d_\w+\[\d+\] = \{$", text, re.M)
    assert len(arrays) == text.count("[")
    assert "aligned(16)" in text


def test_two_models_in_one_firmware(onnx2mcu, arguments, tmp_path):
    folders = []
    for seed, name in enumerate(("eye", "ear")):
        path = nets.classifier(tmp_path / f"{name}.onnx", seed=seed)
        folder = tmp_path / name
        assert onnx2mcu(*arguments(model=path, output=folder)).code == 0
        folders.append(folder)
    run_models(folders)


def test_the_comparison_can_fail(onnx2mcu, arguments, tmp_path):
    assert onnx2mcu(*arguments()).code == 0
    path = tmp_path / "out" / "small_weights.c"
    text, count = re.subn(r"(_stream\[\d+\] = \{\n *)(-?\d+)", r"\g<1>99999", path.read_text())
    assert count
    path.write_text(text)
    with pytest.raises(AssertionError):
        run_models([tmp_path / "out"])


def test_codes_of_the_header_are_those_of_the_tool(project, tmp_path):
    """small_quantize_input_image() on the host, for values inside, outside and between codes."""
    graph = Project(project).graph()
    quant = graph.types["image"].q
    rng = np.random.default_rng(4)
    values = (rng.standard_normal(20000) * 200 * quant.scale).astype(np.float32)
    values[:4] = [np.inf, -np.inf, 1e30, -1e30]
    (tmp_path / "user.c").write_text(
        '#include "small.h"\n#include <stdio.h>\n'
        "int main(void)\n{\n    float value;\n"
        "    while (fread(&value, 4, 1, stdin) == 1)\n    {\n"
        "        (void)putchar((unsigned char)small_quantize_input_image(value));\n    }\n"
        "    return 0;\n}\n"
    )
    part = compiled(tmp_path / "user.c", tmp_path, *includes([project]), "-fno-inline")
    others = [
        compiled(source, tmp_path, *includes([project]))
        for source in (*sources(project), *(project / "kernels").glob("*.c"))
    ]
    subprocess.run([HOST[0], part, *others, "-o", tmp_path / "user"], check=True)
    done = subprocess.run(
        [tmp_path / "user"], input=values.tobytes(), capture_output=True, check=True
    )
    assert np.array_equal(np.frombuffer(done.stdout, np.int8), quantize(values, quant))


def test_the_embed_example_reads_its_digit(onnx2mcu, tmp_path):
    """examples/embed with the files it says it is for: it returns 0 when it reads a 3."""
    digits, embed = EXAMPLES / "digits", EXAMPLES / "embed"
    out = tmp_path / "digits"
    command = ["convert", digits / "model.onnx", "--calib", digits / "calibration.npz"]
    assert onnx2mcu(*command, "--board", "nucleo-f446re", "-o", out, "--prefix", "digits").code == 0
    parts = [
        compiled(source, tmp_path, *includes([out]), f"-I{embed}")
        for source in (*sources(out), *(out / "kernels").glob("*.c"), *embed.glob("*.c"))
    ]
    subprocess.run([HOST[0], *parts, "-o", tmp_path / "reader"], check=True)
    assert subprocess.run([tmp_path / "reader"], check=False).returncode == 0
