"""Outputs over their inputs in the emulator, at the very distance or place that the kernels state.

Every kernel that allows an overlap, frugal forms included, runs on random shapes with its output as
far up as alignment lets it go: one step further and bytes would be lost before they are read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.fast import (
    test_dsp_depthwise,
    test_elementwise,
    test_mve_conv,
    test_mve_depthwise,
    test_scalar_conv,
    test_scalar_depthwise,
)
from tests.fast.oracle import Maker
from tests.firmware.emulation import run_in_emulator
from tests.firmware.test_operators import BOARDS as FAST_BOARDS
from tests.firmware.test_operators import _instance, _joined, _prefixed, _samples
from toolchain.board import load_board
from toolchain.emit import write_code, write_firmware, write_model
from toolchain.ir import Array, Family, Graph, Kernel, Op, Site, Target
from toolchain.ir.execute import simulate
from toolchain.plan import Plan
from toolchain.plan.lifetimes import aligned
from toolchain.project import firmware_of
from toolchain.select import Choice

pytestmark = [pytest.mark.emulator]

PART_OF_RAM = 0.6
"""For tensors and scratch; guards and alignment come on top."""
BOARDS = {"M0+": "raspberry-pi-pico", **FAST_BOARDS}
CI_SEEDS, ALL_SEEDS = range(500, 504), range(600, 640)
PRODUCERS = {"Conv2D", "DepthwiseConv2D", "GroupedConv2D", "AveragePool", "MaxPool"}
MAKERS: tuple[Maker, ...] = (
    *test_scalar_conv.MAKERS.values(),
    *test_scalar_depthwise.MAKERS.values(),
    *test_dsp_depthwise.MAKERS.values(),
    *test_elementwise.MAKERS.values(),
    test_mve_conv._pointwise,
    test_mve_conv._columns,
    test_mve_conv._columns_in_place,
    test_mve_conv._many_rows,
    test_mve_conv._windows,
    test_mve_conv._first_layer,
    test_mve_depthwise._in_place,
    test_mve_depthwise._on_strips,
    test_mve_depthwise._on_long_strips,
    test_mve_depthwise._on_narrow_strips,
)
"""Layers that the fast kernels are for, besides the examples of all operators."""


@dataclass(frozen=True)
class Case:
    """A graph of one operator and the choice that runs it.

    Args:
        index: The input it is written over.
        distance: Bytes by which the output begins before it; None: at its very place.
    """

    graph: Graph
    choice: Choice
    index: int
    distance: int | None
    floats: list[dict[str, Array]]

    @property
    def nbytes(self) -> int:
        """Bytes of what stands in RAM: inputs, output, scratch."""
        op, types = self.graph.ops[-1], self.graph.types
        data = {*self.graph.inputs, op.y}
        return sum(types[x].nbytes for x in data) + self.choice.scratch


def _projects(cases: Sequence[Case], board: str) -> list[list[Case]]:
    """The cases in their order, by what the board holds."""
    projects: list[list[Case]] = [[]]
    room, held = PART_OF_RAM * load_board(board).ram.bytes, 0
    for case in cases:
        held += case.nbytes
        if held > room:
            projects.append([])
            held = case.nbytes
        projects[-1].append(case)
    return projects


def _cases(seeds: Sequence[int], target: Target) -> list[Case]:
    """Every operator, seed, kernel and input that it may be written over.

    In the fast family only its own kernels: the others are those of the portable one.
    """
    cases: list[Case] = []
    for name in _makers():
        for seed in seeds:
            plain, samples = _layer(name, seed)
            op = plain.ops[-1]
            if op.is_view or len(plain.ops) > 1:  # quantisation rescales an input first
                continue
            site = Site(op, plain.types, plain.constants, target)
            for kernel in _kernels(site):
                for index, distance in _places(kernel, site):
                    stem = f"{name}_{seed}_{len(cases)}_".lower()
                    graph = _prefixed(plain, stem)
                    floats = [{f"{stem}{x}": v for x, v in s.items()} for s in samples]
                    choice = Choice(kernel, kernel.scratch(site), onto=kernel.onto(site))
                    cases.append(Case(graph, choice, index, distance, floats))
    return cases


def _makers() -> dict[str, Maker]:
    makers: dict[str, Maker] = {name: Op.registry[name].example for name in sorted(Op.registry)}
    return makers | {f"m{i}": make for i, make in enumerate(MAKERS)}


@cache
def _layer(name: str, seed: int) -> tuple[Graph, list[dict[str, Array]]]:
    """A quantised layer and float samples; they are the same for every core."""
    rng = np.random.default_rng(seed)
    return _instance(_makers()[name](rng), rng, "")


def _kernels(site: Site) -> list[Kernel]:
    fast = site.target.family is Family.FAST
    served = [k for k in site.op.kernels if k.serves(site) and (k.isas is not None) is fast]
    return served + [form for k in served for form in k.frugal if form.when(site)]


def _places(kernel: Kernel, site: Site) -> list[tuple[int, int | None]]:
    """Inputs and distances; alignment must leave a distance less than the whole output."""
    size = site.types[site.op.y].nbytes
    inputs = [i for i, x in enumerate(site.op.inputs) if x not in site.constants]
    found: list[tuple[int, int | None]] = [
        (i, d) for i, d in kernel.overlap(site).items() if i in inputs and d < size
    ]
    return found + [
        (i, None)
        for i in kernel.onto(site)
        if i in inputs and size <= site.types[site.op.inputs[i]].nbytes
    ]


def _overlapping_plan(
    graph: Graph, cases: Mapping[str, Case], alignment: int, missing: int
) -> Plan:
    """Each output over an input at the kernel's distance less `missing` bytes; all else apart."""
    offsets: dict[str, int] = {}
    scratch: dict[str, int] = {}
    end = 0

    def block(nbytes: int) -> int:
        nonlocal end
        start, end = end, aligned(end + nbytes + alignment, 16)
        return start

    for op in graph.ops:
        case = cases[op.y]
        covered, size = op.inputs[case.index], graph.types[op.y].nbytes
        below = 0
        if case.distance is not None:
            below = aligned(case.distance, alignment) - missing
        start = block(max(below, 0) + max(size - min(below, 0), graph.types[covered].nbytes))
        offsets[op.y], offsets[covered] = start - min(below, 0), start + max(below, 0)
        for x in op.inputs:
            if x in graph.inputs and x != covered:
                offsets[x] = block(graph.types[x].nbytes)
        if case.choice.scratch:
            scratch[op.y] = block(case.choice.scratch)
    survives = dict.fromkeys(graph.inputs, False)
    return Plan(offsets, scratch, end, end, False, "", (), (), survives, {})


def _wrong(
    cases: Sequence[Case], target: Target, board: str, folder: Path, missing: int = 0
) -> set[str]:
    """Names of the outputs that differ from their oracles."""
    graph = _joined([case.graph for case in cases])
    by_output = {case.graph.ops[-1].y: case for case in cases}
    choices = {y: case.choice for y, case in by_output.items()}
    plan = _overlapping_plan(graph, by_output, target.alignment, missing)
    code = write_code(graph, choices, plan, target, "overlaps")
    folder.mkdir(parents=True)
    write_model(folder, code, {"test": "overlaps"})
    firmware, description = firmware_of(code), load_board(board)
    write_firmware(folder, firmware, description, None)
    samples = _samples([case.graph for case in cases], [case.floats for case in cases])
    inputs = [b"".join(s[x].tobytes() for x in graph.inputs) for s in samples]
    result = run_in_emulator(folder, description, firmware, inputs)
    wrong = set()
    for sample, output in zip(samples, result.outputs, strict=True):
        expected, start = simulate(graph, sample), 0
        for y in graph.outputs:
            stop = start + graph.types[y].nbytes
            if output[start:stop] != expected[y].tobytes():
                wrong.add(y)
            start = stop
    return wrong


def _check(seeds: Sequence[int], core: str, family: Family, folder: Path) -> None:
    target = Target(load_board(BOARDS[core]).isa, family)
    cases = _cases(seeds, target)
    if family is Family.PORTABLE:
        assert {type(case.graph.ops[-1]).__name__ for case in cases} >= PRODUCERS
    for i, chunk in enumerate(_projects(cases, BOARDS[core])):
        assert not _wrong(chunk, target, BOARDS[core], folder / f"project{i}")


@pytest.mark.parametrize(
    ("core", "family"),
    [
        *((core, Family.FAST) for core in BOARDS),
        ("M4", Family.PORTABLE),
        *(
            pytest.param(core, Family.PORTABLE, marks=pytest.mark.slow)
            for core in ("M0+", "M3", "M55")
        ),
    ],
    ids=str,
)
def test_outputs_over_inputs_equal_their_oracles(core: str, family: Family, tmp_path: Path) -> None:
    _check(CI_SEEDS, core, family, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("core", BOARDS)
def test_outputs_over_inputs_equal_their_oracles_on_many_shapes(core: str, tmp_path: Path) -> None:
    _check(ALL_SEEDS, core, Family.FAST, tmp_path)


@pytest.mark.parametrize(
    ("core", "family"),
    [
        ("M4", Family.FAST),
        ("M55", Family.FAST),
        pytest.param("M4", Family.PORTABLE, marks=pytest.mark.slow),
        *(pytest.param(core, Family.FAST, marks=pytest.mark.slow) for core in ("M0+", "M3")),
    ],
    ids=str,
)
def test_less_than_the_distance_is_wrong(core: str, family: Family, tmp_path: Path) -> None:
    """Else the test above could not fail. Outputs that cannot spoil anything are left out."""
    target = Target(load_board(BOARDS[core]).isa, family)
    cases = [case for case in _cases(CI_SEEDS, target) if _is_tight(case)]
    wrong: set[str] = set()
    for i, chunk in enumerate(_projects(cases, BOARDS[core])):
        folder = tmp_path / f"project{i}"
        wrong |= _wrong(chunk, target, BOARDS[core], folder, 2 * target.alignment)
    assert len(wrong) > len(cases) / 2
    tight = Counter(case.choice.kernel.name for case in cases)
    spoilt = {c.choice.kernel.name for c in cases if c.graph.ops[-1].y in wrong}
    assert {name for name, n in tight.items() if n > 3} <= spoilt


def _is_tight(case: Case) -> bool:
    op, types = case.graph.ops[-1], case.graph.types
    return (
        case.distance is not None
        and -types[op.inputs[case.index]].nbytes + 8 < case.distance
        and types[op.y].nbytes > 8
    )
