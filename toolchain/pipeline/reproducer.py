"""A project that holds one layer, its input and its right output: what a wrong layer needs."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from toolchain.emit import ModelCode, write_code, write_firmware, write_model, write_renode
from toolchain.errors import InternalError
from toolchain.ir import Array, Family, Graph, Op, Rounding, Site, Target
from toolchain.ir.execute import simulate
from toolchain.pipeline.samples import checked_sample
from toolchain.plan import plan_memory
from toolchain.project import (
    Project,
    Source,
    firmware_of,
    manifest_of,
    write_records,
    written_aside,
)
from toolchain.run import Elf
from toolchain.select import Choice

SUFFIX = "-first-difference"


def write_reproducer(
    project: Project, graph: Graph, tensor: str, codes: Mapping[str, Array], elf: Elf
) -> Path:
    """Write the project of one layer beside a project; an earlier one is replaced.

    The kernels are those of the project's folder, the constants those of its program: what was
    altered there is altered here. `emulate` runs the layer on its input and compares its output.

    Args:
        project: The project that goes wrong.
        graph: Its integer graph.
        tensor: A tensor that the layer writes.
        codes: Input codes of the sample that goes wrong.
        elf: The program that was run.

    Returns:
        The folder.

    Raises:
        InputRefused: The folder is in use for something else.
    """
    op = next(op for op in graph.ops if tensor in op.outputs)
    layers = [other for other in graph.ops if not other.is_view]
    index = next(i for i, other in enumerate(layers) if other is op)
    manifest, values = project.manifest, simulate(graph, dict(codes))
    board = manifest.board
    target = Target(board.isa, Family(manifest.library))
    single = _single(graph, op, values)
    choices = {op.y: _same_kernel(single, op, target, manifest.layers[index].kernel)}
    plan = plan_memory(single, choices, target.alignment)
    code = write_code(single, choices, plan, target, manifest.prefix)
    code = _with_constants_of(elf, code, index)
    sample = {x: values[x] for x in single.inputs}
    folder = project.directory.with_name(project.directory.name + SUFFIX)
    source = Source(
        manifest.source,
        manifest.model_sha256,
        manifest.tool,
        board,
        target.family,
        manifest.calibration,
        1,
        manifest.stack_bytes,
        {},
        manifest.pixel_scale,
        (f"layer {manifest.layers[index].name} of {project.directory.name} alone",),
        (),
        Rounding(manifest.rounding),
    )
    with written_aside(folder, force=True) as aside:
        write_model(aside, code, source.facts())
        firmware = firmware_of(code)
        write_firmware(aside, firmware, board, _arm_library(project), source.stack_bytes)
        for path in (aside / "kernels").iterdir():
            shutil.copyfile(project.directory / "kernels" / path.name, path)
        write_renode(aside, code.prefix, board, [checked_sample(single, firmware, sample)])
        expected = {y: values[y][np.newaxis] for y in single.outputs}
        write_records(aside, None, single, manifest_of(code, source), [sample], expected)
    return folder


def _single(graph: Graph, op: Op, values: Mapping[str, Array]) -> Graph:
    """The graph of one operator; what does not depend on the model's inputs is a constant of it."""
    varying = set(graph.inputs)
    for other in graph.ops:
        if varying & set(other.inputs):
            varying |= set(other.outputs)
    names = dict.fromkeys((*op.inputs, *op.outputs))
    inputs = tuple(x for x in dict.fromkeys(op.inputs) if x in varying)
    return replace(
        graph,
        ops=(op,),
        types={name: graph.types[name] for name in names},
        constants={x: values[x] for x in op.inputs if x not in varying},
        inputs=inputs,
        outputs=tuple(op.outputs),
        origins={name: graph.origins[name] for name in names if name in graph.origins},
    )


def _same_kernel(graph: Graph, op: Op, target: Target, name: str) -> Choice:
    """The kernel that the project calls."""
    site = Site(op, graph.types, graph.constants, target)
    for kernel in op.kernels:
        if kernel.name == name and kernel.written_for(target) and kernel.when(site):
            overlap = dict(kernel.overlap(site))
            return Choice(kernel, kernel.scratch(site), (), overlap, kernel.onto(site))
    raise InternalError("trace", op.name, f"no kernel {name}")


def _with_constants_of(elf: Elf, code: ModelCode, index: int) -> ModelCode:
    """The code with the constants that the program holds for the layer of that index."""
    tables = []
    for table in code.tables:
        role = table.symbol.removeprefix(f"{code.prefix}_00_")
        address = elf.symbols.get(f"{code.prefix}_{index:02d}_{role}")
        held = b"" if address is None else elf.read(address, table.values.nbytes)
        if len(held) == table.values.nbytes:
            kind = table.values.dtype
            table = replace(table, values=np.frombuffer(held, kind).reshape(table.values.shape))
        tables.append(table)
    return replace(code, tables=tuple(tables))


def _arm_library(project: Project) -> Path | None:
    """The copy of CMSIS-NN that the project links, if it does."""
    text = (project.directory / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r'set\(CMSIS_NN_DIR "((?:[^"\\]|\\.)+)"', text)
    return Path(re.sub(r"\\(.)", r"\1", found[1])) if found else None
