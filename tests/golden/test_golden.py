"""What is generated for a few models, line by line; `make golden` rewrites the files.

A difference is no error by itself: it shows in review what a change does to users' code.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.golden import graphs
from toolchain import pipeline
from toolchain.options import ConvertOptions

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "digits"
RENODE = ("board.repl", "run.resc", "check.robot")
PARTS = ("digits_parts.c", "digits_parts.h", "firmware/board.ld")
"""Of digits with its arena and weights in several memories."""
NAMES = ["digits", *graphs.MODELS]
BOARDS = {"cortex-m0": "microbit-v1", "cortex-m4": "nucleo-f446re", "cortex-m55": "mps3-an547"}
WARNINGS = [
    "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wconversion", "-Wmissing-prototypes", "-Wundef",
    "-Wcast-qual",
]  # fmt: skip
CORES = {
    "cortex-m0": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m0"],
    "cortex-m4": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=softfp"],
    "cortex-m55": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m55", "-mfloat-abi=hard"],
    "gcc": ["gcc"],
    "clang": ["clang"],
}  # fmt: skip


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Converts a model for a board, once."""
    made: dict[tuple[str, str], Path] = {}
    folder = tmp_path_factory.mktemp("golden")

    def project(name: str, board: str = BOARDS["cortex-m4"]) -> Path:
        if (name, board) not in made:
            if name == "digits":
                model, data = EXAMPLE / "model.onnx", EXAMPLE / "calibration.npz"
            else:
                model, data = graphs.write(name, folder)
            out = folder / f"{name}-{board}"
            pipeline.convert(model, data, board, out, ConvertOptions(prefix=name))
            made[name, board] = out
        return made[name, board]

    return project


def neutral(text: str) -> str:
    """Without what changes with the tool's version, the model's bytes or the processor.

    Calibration runs in float32, whose last bits differ between processors: the digits of scales
    and multipliers that depend on them are cut.
    """
    text = re.sub(r"^ \* (model: [^,\n]*|tool: \w+).*$", r" * \1", text, flags=re.MULTILINE)
    text = re.sub(r"\d+\.\d{5,}(?:e[-+]\d+)?", lambda m: f"{float(m[0]):.3e}", text)
    return re.sub(r"\b\d{8,}\b", lambda m: m[0][:4].ljust(len(m[0]), "0"), text)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["graph.txt", "h", "c"])
def test_text(projects, name, suffix, update_golden):
    project = projects(name)
    source = (
        project / "model" / "graph.txt" if suffix == "graph.txt" else project / f"{name}.{suffix}"
    )
    found = neutral(source.read_text(encoding="utf-8"))
    golden = HERE / f"{name}.{suffix}"
    if update_golden:
        golden.write_text(found, encoding="utf-8", newline="\n")
    assert golden.is_file(), "no golden file: run `make golden`"
    assert found == golden.read_text(encoding="utf-8"), "if this is meant, run `make golden`"


@pytest.mark.parametrize("name", RENODE)
def test_renode_folder(projects, name, update_golden):
    found = (projects("digits") / "renode" / name).read_text(encoding="utf-8")
    golden = HERE / f"digits.{name}"
    if update_golden:
        golden.write_text(found, encoding="utf-8", newline="\n")
    assert golden.is_file(), "no golden file: run `make golden`"
    assert found == golden.read_text(encoding="utf-8"), "if this is meant, run `make golden`"


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """digits on a board with external memories."""
    out = tmp_path_factory.mktemp("parts") / "project"
    options = ConvertOptions(
        prefix="digits_parts",
        arena_in="sram:1600,sdram",
        weights_in="qspi",
        hot_weights="sdram:500",
    )
    data = EXAMPLE / "calibration.npz"
    pipeline.convert(EXAMPLE / "model.onnx", data, "stm32f746g-disco", out, options)
    return out


def golden_of_parts(name: str) -> Path:
    return HERE / f"digits_parts{Path(name).suffix}"


@pytest.mark.parametrize("name", PARTS)
def test_several_memories(parts, name, update_golden):
    found = neutral((parts / name).read_text(encoding="utf-8"))
    golden = golden_of_parts(name)
    if update_golden:
        golden.write_text(found, encoding="utf-8", newline="\n")
    assert golden.is_file(), "no golden file: run `make golden`"
    assert found == golden.read_text(encoding="utf-8"), "if this is meant, run `make golden`"


@pytest.mark.parametrize("core", CORES)
def test_parts_compile(parts, core, tmp_path):
    if shutil.which(CORES[core][0]) is None:
        pytest.skip(f"{CORES[core][0]} is not installed")
    compile_strictly(CORES[core], parts, "digits_parts", tmp_path)


def test_no_golden_file_is_left_over():
    suffixes = (".c", ".h", ".txt", ".repl", ".resc", ".robot", ".ld")
    kept = {p.name for p in HERE.iterdir() if p.suffix in suffixes}
    texts = {f"{name}.{suffix}" for name in NAMES for suffix in ("graph.txt", "h", "c")}
    texts |= {golden_of_parts(name).name for name in PARTS}
    assert kept == texts | {f"digits.{name}" for name in RENODE}


def compile_strictly(command, folder, prefix, target):
    sources = [folder / f"{prefix}.c", folder / f"{prefix}_weights.c"]
    for source in sources:
        done = subprocess.run(
            [*command, "-std=c11", *WARNINGS, "-O2", f"-I{folder}", f"-I{folder / 'kernels'}", "-c",
             source, "-o", target / "out.o"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("core", ["cortex-m0", "cortex-m55"])
@pytest.mark.parametrize("name", NAMES)
def test_other_instruction_sets_compile(projects, name, core, tmp_path):
    """Tables and alignment follow the core; the golden files show one of them."""
    if shutil.which(CORES[core][0]) is None:
        pytest.skip(f"{CORES[core][0]} is not installed")
    compile_strictly(CORES[core], projects(name, BOARDS[core]), name, tmp_path)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("name", NAMES)
def test_golden_source_compiles(projects, name, core, tmp_path):
    """The file in this folder itself, with its own header and the constants it names."""
    if shutil.which(CORES[core][0]) is None:
        pytest.skip(f"{CORES[core][0]} is not installed")
    folder = tmp_path / "golden"
    shutil.copytree(projects(name), folder)
    for suffix in ("h", "c"):
        shutil.copyfile(HERE / f"{name}.{suffix}", folder / f"{name}.{suffix}")
    compile_strictly(CORES[core], folder, name, tmp_path)
