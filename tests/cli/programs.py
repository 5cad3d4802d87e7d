"""Generated projects compiled for this machine, and their answers against the integer model."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from toolchain.ir.execute import simulate
from toolchain.project import Project

LANGUAGE = ["-std=c11"]
WARNINGS = [
    "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wconversion", "-Wmissing-prototypes", "-Wundef",
    "-Wcast-qual", "-Wcomment", "-Wtrigraphs",
]  # fmt: skip
HOST = [found for found in map(shutil.which, ("gcc", "clang")) if found]


def includes(folders: list[Path]) -> list[str]:
    """Options for the headers of projects and of their kernels."""
    return [f"-I{path}" for folder in folders for path in (folder, folder / "kernels")]


def sources(folder: Path) -> list[Path]:
    """The model's own files."""
    prefix = Project(folder).manifest.prefix
    return [folder / f"{prefix}.c", folder / f"{prefix}_weights.c"]


SANITIZED = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all"]


def compiled(source: Path, target: Path, *options: str) -> Path:
    """Compile one file for this machine with every warning; returns the object file."""
    path = target / f"{source.stem}.o"
    done = subprocess.run(
        [HOST[0], *LANGUAGE, *WARNINGS, "-O1", *options, "-c", source, "-o", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return path


_KERNELS: dict[str, bytes] = {}
"""Object files of kernels, by source text: most projects have the same ones."""


def _kernel(source: Path, target: Path) -> Path:
    text = source.read_text()
    if text not in _KERNELS:
        path = compiled(source, target, *SANITIZED, *includes([source.parents[1]]))
        _KERNELS[text] = path.read_bytes()
    path = target / f"{source.stem}.o"
    path.write_bytes(_KERNELS[text])
    return path


def run_models(folders: list[Path]) -> None:
    """Link all models into one program; every stored sample must give the oracle's bytes.

    The models run in turns, so that one that touches the other's memory is found out.
    """
    if not HOST:
        pytest.skip("no compiler for this machine")
    projects = [Project(folder) for folder in folders]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        program = scratch / "program"
        (scratch / "main.c").write_text(_main(projects))
        kernels = {p.name: p for folder in folders for p in (folder / "kernels").glob("*.c")}
        options = [*SANITIZED, *includes(folders)]
        own = [scratch / "main.c", *(s for folder in folders for s in sources(folder))]
        parts = [compiled(source, scratch, *options) for source in own]
        parts += [_kernel(source, scratch) for source in kernels.values()]
        subprocess.run([HOST[0], *SANITIZED, *parts, "-o", program], check=True)
        graphs = [project.graph() for project in projects]
        rounds = list(zip(*(project.samples() for project in projects), strict=True))
        given = b"".join(
            sample[x].tobytes()
            for turn in rounds
            for graph, sample in zip(graphs, turn, strict=True)
            for x in graph.inputs
        )
        answer = subprocess.run([program], input=given, capture_output=True, check=False)
        assert answer.returncode == 0, answer.stderr
    expected = b"".join(
        simulate(graph, sample)[y].astype(np.int8).tobytes()
        for turn in rounds
        for graph, sample in zip(graphs, turn, strict=True)
        for y in graph.outputs
    )
    assert len(expected) > 0
    assert answer.stdout == expected


def _main(projects: list[Project]) -> str:
    """A program that reads the inputs of all models and writes their outputs, until the end."""
    lines = ["#include <stdio.h>"]
    lines += [f'#include "{p.manifest.prefix}.h"' for p in projects]
    lines += ["int main(void)", "{", "    for (;;)", "    {"]
    for number, project in enumerate(projects):
        model = project.manifest.firmware
        for port in model.inputs:
            end = "return 0" if number == 0 and port is model.inputs[0] else "return 2"
            read = f"fread({model.prefix}_input_{port.ident}(), 1, {port.nbytes}, stdin)"
            lines.append(f"        if ({read} != {port.nbytes}) {{ {end}; }}")
        lines.append(f"        if ({model.prefix}_run() != 0) {{ return 3; }}")
        for port in model.outputs:
            write = f"fwrite({model.prefix}_output_{port.ident}(), 1, {port.nbytes}, stdout)"
            lines.append(f"        if ({write} != {port.nbytes}) {{ return 4; }}")
    return "\n".join([*lines, "    }", "}", ""])
