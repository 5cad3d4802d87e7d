"""Measure every kernel on every site it serves, on every instruction set, and fit its cost.

Calls of one instruction set run in one firmware for each type of codes, which tells the
instructions of each.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import chain, combinations, groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from elftools.elf.elffile import ELFFile

from toolchain.board import Board, Isa, load_board
from toolchain.emit import write_code, write_firmware, write_model
from toolchain.ir import Array, DType, Family, Graph, Kernel, Site, Target
from toolchain.ir.execute import simulate
from toolchain.ir.fixedpoint import random_codes
from toolchain.plan import Plan
from toolchain.project import firmware_of
from toolchain.run import RunRequest, build
from toolchain.run.qemu import Qemu
from toolchain.select import Choice, Cost, Costs, Optimize, features
from tools.bench.cells import compiler
from tools.bench.shapes import instances

_SHF_ALLOC = 2
_FEWEST = 2
"""Sites below which nothing is fitted."""
_SITES_PER_FEATURE = 2
"""A fit to few sites gets few coefficients, or it would say nonsense of others."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One kernel on one site."""

    site: int
    graph: Graph
    kernel: Kernel
    scratch: int


def measure_kernels(folder: Path, isa: Isa, old: Costs, operators: Collection[str] = ()) -> Costs:
    """The table with new figures of one instruction set.

    Args:
        folder: Folder for the firmware.
        isa: Instruction set.
        old: The table before; it keeps what is not measured.
        operators: Those to measure, by name; none: all.

    Raises:
        RuntimeError: A kernel's bytes are not those of its operator.
    """
    graphs = [i.graph(np.random.default_rng(n)) for n, i in enumerate(instances())]
    instructions = {o: dict(old.instructions.get(o, {})) for o in Optimize}
    costs = Costs(compiler(), instructions, dict(old.code_bytes))
    board = _board(isa)
    calls = _calls(graphs, Target(isa, Family.FAST), operators)
    for optimize, by_isa in costs.instructions.items():
        counts: list[int] = []
        sources: dict[str, int] = {}
        for kind, part in groupby(calls, _codes_of):
            project = folder / f"{isa}-{optimize}-{kind}"
            more, files = _run(list(part), board, optimize, project)
            counts += more
            sources |= files
        by_isa[isa] = (by_isa.get(isa, {}) if operators else {}) | _fitted(calls, counts)
        if optimize is Optimize.SIZE:
            costs.code_bytes[isa] = (costs.code_bytes.get(isa, {}) if operators else {}) | sources
        print(f"{isa} for {optimize}: {len(calls)} calls, {sum(counts):,} instructions", flush=True)
    return costs


def _codes_of(call: _Call) -> DType:
    """Type of the codes an operator reads: all in one firmware would not fit."""
    return call.graph.ops[0].reads


def _board(isa: Isa) -> Board:
    """One with memory enough for all sites at once."""
    if isa is Isa.BASELINE:
        m3 = load_board("mps2-an385")
        return msgspec.structs.replace(m3, name="baseline", cpu="cortex-m0plus")
    names = {Isa.SCALAR: "mps2-an385", Isa.DSP: "mps2-an386", Isa.MVE: "mps3-an547"}
    return load_board(names[isa])


def _calls(graphs: list[Graph], target: Target, operators: Collection[str]) -> list[_Call]:
    """Every kernel on every site, by the type of codes."""
    calls: list[_Call] = []
    for number, graph in sorted(enumerate(graphs), key=lambda g: g[1].ops[0].reads):
        (op,) = graph.ops
        if operators and type(op).__name__ not in operators:
            continue
        site = Site(op, graph.types, graph.constants, target)
        for kernel in op.kernels:
            if kernel.serves(site):
                prefixed = _prefixed(graph, f"n{len(calls)}_")
                calls.append(_Call(number, prefixed, kernel, kernel.scratch(site)))
    return calls


def _prefixed(graph: Graph, stem: str) -> Graph:
    names = {n: f"{stem}{n}" for n in graph.types}
    return Graph(
        graph.name,
        tuple(replace(op.renamed(names), name=f"{stem}{op.name}") for op in graph.ops),
        {names[n]: t for n, t in graph.types.items()},
        {names[n]: c for n, c in graph.constants.items()},
        tuple(names[x] for x in graph.inputs),
        tuple(names[y] for y in graph.outputs),
    )


def _joined(calls: list[_Call]) -> Graph:
    graphs = [call.graph for call in calls]
    return Graph(
        "kernels",
        tuple(op for g in graphs for op in g.ops),
        {n: t for g in graphs for n, t in g.types.items()},
        {n: c for g in graphs for n, c in g.constants.items()},
        tuple(x for g in graphs for x in g.inputs),
        tuple(y for g in graphs for y in g.outputs),
    )


def _plan(graph: Graph, calls: list[_Call]) -> Plan:
    """Every tensor at an address of its own; one scratch buffer for all."""
    offsets, end = {}, -(-max(call.scratch for call in calls) // 16) * 16
    for name in (*graph.inputs, *graph.outputs):
        offsets[name], end = end, -(-(end + graph.types[name].nbytes) // 16) * 16
    scratch = {call.graph.ops[0].y: 0 for call in calls if call.scratch}
    survives = dict.fromkeys(graph.inputs, True)
    return Plan(offsets, scratch, end, end, False, "", (), (), survives, {})


def _run(
    calls: list[_Call], board: Board, optimize: Optimize, project: Path
) -> tuple[list[int], dict[str, int]]:
    """Instructions of every call, and code bytes of every source file."""
    graph, target = _joined(calls), Target(board.isa, Family.FAST)
    plan = _plan(graph, calls)
    choices = {c.graph.ops[0].y: Choice(c.kernel, c.scratch, ()) for c in calls}
    code = write_code(graph, choices, plan, target, "kernels")
    project.mkdir()
    write_model(project, code, {"kernels": "all"})
    firmware = firmware_of(code)
    write_firmware(project, firmware, board, optimize=optimize)
    built = build(project, board)
    sample = {x: value for call in calls for x, value in _codes(call).items()}
    inputs = b"".join(sample[x].tobytes() for x in graph.inputs)
    result = Qemu().run(RunRequest(built.emulation, board, firmware, [inputs], timeout_s=600))
    _require_equal_bytes(calls, simulate(graph, sample), result.outputs[0])
    objects = (built.directory / "CMakeFiles" / "kernels.dir" / "kernels").glob("*.obj")
    sources = {path.name.removesuffix(".obj"): _code_bytes(path) for path in objects}
    headers = {s: 0 for c in calls for s in c.kernel.sources if s not in sources}
    return [int(n) for n in result.instructions[0]], sources | headers


def _codes(call: _Call) -> dict[str, Array]:
    """Random inputs, the same for all kernels of a site."""
    rng, types = np.random.default_rng(call.site), call.graph.types
    return {x: random_codes(types[x], rng) for x in call.graph.inputs}


def _require_equal_bytes(calls: list[_Call], expected: dict[str, Array], output: bytes) -> None:
    start = 0
    for call in calls:
        for y in call.graph.outputs:
            size = expected[y].nbytes
            if output[start : start + size] != expected[y].tobytes():
                shape = expected[y].shape
                raise RuntimeError(f"{call.kernel.name} computes other bytes, output {shape}")
            start += size


def _code_bytes(path: Path) -> int:
    """Bytes of flash of an object file."""
    with path.open("rb") as stream:
        sections: Any = ELFFile(stream).iter_sections()
        kept = [s for s in sections if s["sh_flags"] & _SHF_ALLOC and s["sh_type"] != "SHT_NOBITS"]
        return sum(int(section["sh_size"]) for section in kept)


def _fitted(calls: list[_Call], counts: list[int]) -> dict[str, dict[str, Cost]]:
    """Cost by operator and kernel."""
    rows: dict[tuple[str, str], list[tuple[int, ...]]] = defaultdict(list)
    for call, count in zip(calls, counts, strict=True):
        (op,) = call.graph.ops
        row = (*features(op, call.graph.types), count)
        rows[type(op).__name__, call.kernel.name].append(row)
    costs: dict[str, dict[str, Cost]] = defaultdict(dict)
    for (operator, kernel), measured in rows.items():
        if len(measured) >= _FEWEST:
            costs[operator][kernel] = _fit(np.array(measured, np.float64))
    return dict(costs)


def _fit(rows: Array) -> Cost:
    """Least squares of the relative error, with coefficients that are not negative; work counts.

    Args:
        rows: Features and instructions of every call [n, features + 1].
    """
    table = rows[:, :-1] / rows[:, -1:]
    count = table.shape[1]
    best, coefficients = np.inf, np.zeros(count)
    most = min(count, max(1, len(rows) // _SITES_PER_FEATURE))
    others = chain.from_iterable(combinations(range(1, count), n) for n in range(most))
    for columns in ((0, *rest) for rest in others):
        found = np.linalg.lstsq(table[:, columns], np.ones(len(rows)), rcond=None)[0]
        error = float(np.sum((table[:, columns] @ found - 1) ** 2))
        if found.min() >= 0 and error < best - 1e-12:
            best, coefficients = error, np.zeros(count)
            coefficients[list(columns)] = found
    worst = float(np.abs(table @ coefficients - 1).max())
    work, output, channel, call = (round(float(c), 3) for c in coefficients)
    return Cost(work, output, channel, call, round(worst, 3))
