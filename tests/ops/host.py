"""Single-operator graphs, and their generated C run on the host."""

import ctypes
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.objects import object_of
from toolchain.emit import write_code, write_model
from toolchain.ir import Array, Example, Graph, Origin, Rounding, Target, TensorType
from toolchain.ir.execute import evaluate, simulate
from toolchain.ir.fixedpoint import quantize_as as to_codes
from toolchain.plan import Arranged, check_planned, plan_memory
from toolchain.quant.quantize import quantize
from toolchain.quant.ranges import Range
from toolchain.resources import CMSIS_GLUE
from toolchain.select import select_kernels

WARNINGS = [
    "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wconversion", "-Wmissing-prototypes",
]  # fmt: skip


def example_graph(example: Example) -> Graph:
    """A float graph with nothing but the example's operator."""
    types = {n: TensorType(s) for n, s in example.shapes.items()}
    types |= {n: TensorType(c.shape) for n, c in example.constants.items()}
    op = example.op
    types |= {y: TensorType(s) for y, s in zip(op.outputs, op.infer(types), strict=True)}
    names = (*example.shapes, *op.outputs)
    return Graph(
        "example",
        (op,),
        types,
        example.constants,
        tuple(example.shapes),
        op.outputs,
        {n: Origin(n) for n in names},
    )


def random_inputs(graph: Graph, rng: np.random.Generator) -> dict[str, Array]:
    """Float inputs: normal values with a scale and an offset of their own."""
    return {
        x: (
            rng.standard_normal(graph.types[x].shape) * 10 ** rng.uniform(-1, 1) + rng.normal()
        ).astype(np.float32)
        for x in graph.inputs
    }


rounding = Rounding.DOUBLE
"""Of the graphs that quantized() makes; the fixture of the same name changes it."""


def quantized(graph: Graph, samples: list[dict[str, Array]]) -> Graph:
    """The int8 graph, calibrated by min-max on the samples."""
    ranges: dict[str, Range] = {}
    for sample in samples:
        for name, value in evaluate(graph, sample).items():
            low, high = float(min(value.min(), 0)), float(max(value.max(), 0))
            old = ranges.get(name, Range(low, max(high, low + 1e-6)))
            ranges[name] = Range(min(old.low, low), max(old.high, high))
    return quantize(graph, ranges, rounding).graph


def codes_of(graph: Graph, sample: Mapping[str, Array]) -> dict[str, Array]:
    """Codes of float inputs."""
    return {x: to_codes(sample[x], graph.types[x]) for x in graph.inputs}


def any_codes(graph: Graph, x: str, rng: np.random.Generator) -> Array:
    """Random codes of a tensor over their whole range."""
    kind = graph.types[x]
    low, high = kind.dtype.limits
    return rng.integers(low, high + 1, kind.shape).astype(kind.dtype.value)


def generate(
    graph: Graph,
    target: Target,
    directory: Path,
    prefix: str = "model",
    planned: Arranged | None = None,
) -> list[Path]:
    """Write the C of a quantised graph; returns the sources, kernels included.

    Without a plan, every layer runs by itself.
    """
    if planned is None:
        choices = select_kernels(graph, target)
        planned = Arranged(graph, choices, plan_memory(graph, choices, target.alignment))
    check_planned(planned, target)
    code = write_code(planned.graph, planned.choices, planned.plan, target, prefix)
    write_model(directory, code, {"test": graph.name})
    return [
        directory / f"{prefix}.c",
        directory / f"{prefix}_weights.c",
        *(CMSIS_GLUE / "src" / s for s in code.sources),
    ]


class HostModel:
    """The generated C of a graph, compiled for the host with the undefined-behaviour sanitizer."""

    def __init__(
        self, graph: Graph, target: Target, directory: Path, planned: Arranged | None = None
    ) -> None:
        self.graph = graph
        sources = generate(graph, target, directory, planned=planned)
        ports = directory / "ports.c"
        whole = graph.inputs if planned is None else planned.graph.inputs
        idents = [(("input", x), i) for i, x in enumerate(whole)]
        idents += [(("output", y), i) for i, y in enumerate(graph.outputs)]
        lines = ['#include "model.h"']
        for (direction, name), index in idents:
            lines.append(f"void *port_{direction}_{index}(void);")
            lines.append(
                f"void *port_{direction}_{index}(void)"
                f" {{ return (void *)(uintptr_t)model_{direction}_{name}(); }}"
            )
        ports.write_text("\n".join(lines) + "\n")
        library = directory / "model.so"
        compiler = shutil.which("gcc") or shutil.which("cc")
        assert compiler is not None
        compile_c = [
            compiler, "-std=c11", "-O1", "-g", "-fPIC", *WARNINGS,
            "-fsanitize=undefined", "-fno-sanitize-recover=all",
            f"-DGLUE_SINGLE_ROUNDING={int(graph.rounding is Rounding.SINGLE)}",
            f"-I{CMSIS_GLUE / 'include'}", f"-I{CMSIS_GLUE / 'src'}",
        ]  # fmt: skip
        own = [path for path in sources if path.parent == directory]
        kernels = [object_of(path, compile_c) for path in sources if path not in own]
        linked = map(str, (*own, ports, *kernels))
        command = [*compile_c, "-shared", f"-I{directory}", *linked, "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self._library = ctypes.CDLL(str(library))

    def _port(self, direction: str, index: int, name: str) -> Array:
        function = getattr(self._library, f"port_{direction}_{index}")
        function.restype = ctypes.c_void_p
        kind = self.graph.types[name]
        buffer = (ctypes.c_int8 * kind.nbytes).from_address(function())
        return np.frombuffer(buffer, kind.dtype.value).reshape(kind.shape)

    def run(self, codes: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs of one inference."""
        for index, x in enumerate(self.graph.inputs):
            self._port("input", index, x)[...] = codes[x]
        assert self._library.model_run() == 0
        return self._outputs()

    def push(self, image: Array) -> dict[str, Array]:
        """Outputs when the only input [1, H, ...] comes row by row."""
        assert self._library.model_begin() == 0
        for row in np.ascontiguousarray(image[0]):
            assert self.push_row(row) == 0
        return self._outputs()

    def push_row(self, row: Array) -> int:
        """What model_push_row() returns."""
        return int(self._library.model_push_row(ctypes.c_void_p(row.ctypes.data)))

    def _outputs(self) -> dict[str, Array]:
        return {y: self._port("output", i, y).copy() for i, y in enumerate(self.graph.outputs)}


__all__ = [
    "HostModel", "any_codes", "codes_of", "example_graph", "generate", "quantized", "random_inputs",
    "replace", "simulate",
]  # fmt: skip
