"""Programs for the host in which address and undefined-behaviour sanitizers watch every kernel."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.firmware.test_operators import plan_apart
from tests.objects import object_of
from tests.ops.host import WARNINGS
from toolchain.emit import ModelCode, write_code, write_model
from toolchain.ir import Array, Graph, Target
from toolchain.plan import Plan
from toolchain.resources import CMSIS_GLUE
from toolchain.select import Choice

HOST = Path(__file__).parent / "host"
SANITIZERS = ["-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
COMMON = [
    "-std=c11",
    *SANITIZERS,
    f"-I{HOST}",
    f"-I{CMSIS_GLUE / 'include'}",
    f"-I{CMSIS_GLUE / 'src'}",
]
MVE = ["-D__ARM_FEATURE_MVE=1", "-isystem", str(HOST / "mve")]
"""The C forms with intrinsics; without, the plain ones of the same kernels."""
STEP = 16


@dataclass(frozen=True)
class Objects:
    """Kernel sources compiled once, whatever programs link them.

    Args:
        folder: Where the objects are kept; several processes may share it.
    """

    folder: Path

    def build(self, sources: Sequence[str], flags: Sequence[str]) -> list[Path]:
        """The objects of the C among files of cmsis_glue/src: assembly is not for the host."""
        files = [CMSIS_GLUE / "src" / name for name in sources if name.endswith(".c")]
        return [self._build(file, flags) for file in files]

    def runner(self) -> Path:
        """The main program."""
        return self._build(HOST / "runner.c", [])

    def _build(self, source: Path, flags: Sequence[str]) -> Path:
        return object_of(source, [_compiler(), *COMMON, *WARNINGS, *flags], self.folder)


def _compiler() -> str:
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler is not None
    return compiler


def compile_c(arguments: Sequence[str]) -> None:
    """Run the host compiler with the sanitizers."""
    command = [_compiler(), *COMMON, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Program:
    """A program that runs every layer of a graph on samples from its standard input."""

    graph: Graph
    path: Path

    def outputs(self, samples: Sequence[Mapping[str, Array]]) -> list[dict[str, Array]]:
        """Codes of all outputs, sample by sample; an assertion fails with a sanitizer's report."""
        codes = b"".join(s[x].tobytes() for s in samples for x in self.graph.inputs)
        done = subprocess.run(
            [str(self.path)],
            input=codes,
            capture_output=True,
            check=False,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1"},
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")[:6000]
        sizes = [self.graph.types[y].nbytes for y in self.graph.outputs]
        got = np.frombuffer(done.stdout, np.int8).reshape(len(samples), sum(sizes))
        return [self._values(np.split(row, np.cumsum(sizes)[:-1])) for row in got]

    def _values(self, parts: Sequence[Array]) -> dict[str, Array]:
        shaped = zip(self.graph.outputs, parts, strict=True)
        kinds = self.graph.types
        return {
            y: np.frombuffer(part.tobytes(), kinds[y].dtype.value).reshape(kinds[y].shape)
            for y, part in shaped
        }


def build_program(
    graph: Graph,
    choices: Mapping[str, Choice],
    target: Target,
    objects: Objects,
    folder: Path,
    flags: Sequence[str] = (),
    plan: Plan | None = None,
) -> Program:
    """The generated C of a graph and all it calls.

    Args:
        graph: Quantised operators side by side.
        choices: Kernel of every operator that computes, with the scratch memory it may use.
        target: Core the code is for.
        objects: Compiled kernels.
        folder: Where everything is written.
        flags: For the kernels.
        plan: Where the buffers lie; without one every buffer has a place of its own.
    """
    plan = plan or _apart(graph, choices, target)
    code = write_code(graph, choices, plan, target, "model")
    write_model(folder, code, {"test": graph.name})
    (folder / "layers.c").write_text(_layers(code))
    path = folder / "program"
    own = [folder / name for name in ("model.c", "model_weights.c", "layers.c")]
    rounding = ["-DGLUE_SINGLE_ROUNDING=1"] if code.single_rounding else []
    linked = [*own, objects.runner(), *objects.build(code.sources, [*flags, *rounding])]
    compile_c(["-DONNX2MCU_HARNESS", *rounding, f"-I{folder}", *map(str, linked), "-o", str(path)])
    return Program(graph, path)


def _apart(graph: Graph, choices: Mapping[str, Choice], target: Target) -> Plan:
    """Every buffer by itself, at addresses as little aligned as the target promises.

    They are multiples of 8 at least: the address sanitizer knows the first byte it forbids in every
    8, and no first byte that it allows.
    """
    shift = 0 if target.alignment == STEP else STEP // 2

    def block(end: int, nbytes: int) -> tuple[int, int]:
        start = end + shift
        return start, -(-(start + nbytes + 2 * STEP) // STEP) * STEP

    return plan_apart(graph, choices, STEP, block)


def _layers(code: ModelCode) -> str:
    """layers.c: what layers.h declares."""
    plan, graph = code.plan, code.graph
    regions: list[tuple[int, int]] = []
    first = [0]
    for layer in code.layers:
        names = [n for n in (*layer.op.inputs, *layer.op.outputs) if not graph.is_constant(n)]
        regions += [(plan.offsets[n], graph.types[n].nbytes) for n in names]
        if layer.choice.scratch:
            regions.append((plan.scratch_offsets[layer.op.y], layer.choice.scratch))
        first.append(len(regions))
    ports = {
        "inputs": [(plan.offsets[p.name], p.nbytes) for p in code.inputs],
        "kept": [
            (plan.offsets[p.name], p.nbytes)
            if plan.input_survives[p.name]
            else (plan.offsets[p.name], 0)
            for p in code.inputs
        ],
        "outputs": [(plan.offsets[p.name], p.nbytes) for p in code.outputs],
    }
    lines = [
        '#include "layers.h"',
        f"const int32_t layers = {len(code.layers)};",
        f"const size_t input_count = {len(code.inputs)};",
        f"const size_t input_bytes = {sum(p.nbytes for p in code.inputs)};",
        f"const size_t output_count = {len(code.outputs)};",
        f"const size_t arena_bytes = {plan.arena_bytes};",
        f"const size_t layer_first[] = {{{', '.join(map(str, first))}}};",
    ]
    for name, pairs in {"layer_regions": regions, **ports}.items():
        values = ", ".join(f"{{{offset}, {size}}}" for offset, size in pairs)
        lines.append(f"const region {name}[] = {{{values}}};")
    return "\n".join(lines) + "\n"
