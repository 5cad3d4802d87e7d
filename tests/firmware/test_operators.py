"""Every operator on random shapes in the emulator, with canaries after outputs and scratch (R36).

Many single-operator graphs run side by side in one firmware. Their memory is laid out without any
reuse and with a guard after every buffer, so that a kernel that writes too far is caught.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.firmware.emulation import run_in_emulator
from tests.ops.host import any_codes, codes_of, example_graph, quantized, random_inputs
from toolchain.board import load_board
from toolchain.emit import LayerInfo, write_code, write_firmware, write_model
from toolchain.ir import Array, Example, Family, Graph, Op, Target
from toolchain.ir.execute import simulate
from toolchain.plan import Plan
from toolchain.project import firmware_of
from toolchain.select import Choice, select_kernels

pytestmark = [pytest.mark.emulator]

GUARD = 32
PER_PROJECT = 10
BOARDS = {"M3": "mps2-an385", "M4": "mps2-an386", "M55": "mps3-an547"}
CI_SEEDS, ALL_SEEDS = range(100, 120), range(200, 400)


def _prefixed(graph: Graph, stem: str) -> Graph:
    """The graph with every tensor under a name of its own."""
    names = {n: f"{stem}{n}" for n in graph.types}
    return Graph(
        graph.name,
        tuple(replace(op.renamed(names), name=stem.strip("_")) for op in graph.ops),
        {names[n]: t for n, t in graph.types.items()},
        {names[n]: c for n, c in graph.constants.items()},
        tuple(names[x] for x in graph.inputs),
        tuple(names[y] for y in graph.outputs),
    )


def _joined(graphs: Sequence[Graph]) -> Graph:
    return Graph(
        "operators",
        tuple(op for g in graphs for op in g.ops),
        {n: t for g in graphs for n, t in g.types.items()},
        {n: c for g in graphs for n, c in g.constants.items()},
        tuple(x for g in graphs for x in g.inputs),
        tuple(y for g in graphs for y in g.outputs),
    )


def _guarded_plan(graph: Graph, choices: Mapping[str, Choice]) -> Plan:
    """Every buffer at an address of its own, a guard after each."""
    return plan_apart(graph, choices, 0, lambda end, n: (end, -(-(end + n + GUARD) // 16) * 16))


def plan_apart(
    graph: Graph,
    choices: Mapping[str, Choice],
    end: int,
    block: Callable[[int, int], tuple[int, int]],
) -> Plan:
    """Every buffer at an address of its own; views share their source's.

    Args:
        graph: Quantised graph.
        choices: Kernel of every operator that computes.
        end: Where the first block may begin.
        block: (end of the blocks before, bytes) to (offset of a block, end with it).
    """
    offsets: dict[str, int] = {}
    scratch: dict[str, int] = {}

    def put(where: dict[str, int], name: str, nbytes: int) -> None:
        nonlocal end
        where[name], end = block(end, nbytes)

    for x in graph.inputs:
        put(offsets, x, graph.types[x].nbytes)
    for op in graph.ops:
        for y in op.outputs:
            if op.is_view:
                offsets[y] = offsets[op.x]
            else:
                put(offsets, y, graph.types[y].nbytes)
        if not op.is_view and choices[op.y].scratch:
            put(scratch, op.y, choices[op.y].scratch)
    survives = dict.fromkeys(graph.inputs, True)
    return Plan(offsets, scratch, end, end, False, "", (), (), survives, {})


def _samples(graphs: Sequence[Graph], floats: Sequence[list[dict[str, Array]]]) -> list[dict]:
    """Calibrated samples first, then codes over their whole range."""
    rng = np.random.default_rng(0)
    rows = []
    for index in range(len(floats[0])):
        rows.append({})
        for graph, samples in zip(graphs, floats, strict=True):
            rows[-1].update(codes_of(graph, samples[index]))
    rows.append({x: any_codes(g, x, rng) for g in graphs for x in g.inputs})
    return rows


def _run(
    seeds: Sequence[int],
    board_name: str,
    folder: Path,
    arm: Path | None = None,
) -> None:
    graphs, floats = [], []
    for name in _with_arm_kernels() if arm else sorted(Op.registry):
        for seed in seeds:
            rng = np.random.default_rng(seed)
            graph, samples = _instance(Op.registry[name].example(rng), rng, f"{name}_{seed}_")
            graphs.append(graph)
            floats.append(samples)
    _compare(graphs, floats, board_name, folder, arm)


def _with_arm_kernels() -> list[str]:
    """Operators that may call a function of Arm's; the others are the same with either library."""
    return sorted(
        name
        for name, op in Op.registry.items()
        if any(kernel.name.startswith("arm_") for kernel in op.kernels)
    )


def _instance(
    example: Example, rng: np.random.Generator, stem: str
) -> tuple[Graph, list[dict[str, Array]]]:
    """The quantised graph of an example, tensors named after `stem`, and two float samples."""
    plain, stem = example_graph(example), stem.lower()
    samples = [random_inputs(plain, rng) for _ in range(2)]
    renamed = [{f"{stem}{x}": v for x, v in s.items()} for s in samples]
    return _prefixed(quantized(plain, samples), stem), renamed


def _compare(
    graphs: Sequence[Graph],
    floats: Sequence[list[dict[str, Array]]],
    board_name: str,
    folder: Path,
    arm: Path | None = None,
    family: Family = Family.FAST,
    choices: dict[str, Choice] | None = None,
) -> dict[str, Choice]:
    """Run all graphs in one firmware against their oracles; returns the kernels taken.

    They are those of `choices`, else the ones that are preferred.
    """
    board = load_board(board_name)
    graph = _joined(graphs)
    target = Target(board.isa, family if arm is None else Family.CMSIS_NN)
    choices = select_kernels(graph, target) if choices is None else choices
    plan = _guarded_plan(graph, choices)
    code = write_code(graph, choices, plan, target, "operators")
    folder.mkdir(parents=True)
    write_model(folder, code, {"test": "operators"})
    firmware = firmware_of(code)
    guarded = tuple(
        LayerInfo(info.name, (*((o, n + GUARD) for o, n in info.outputs), *_scratch(layer, plan)))
        for info, layer in zip(firmware.layers, code.layers, strict=True)
    )
    firmware = replace(firmware, layers=guarded)
    write_firmware(folder, firmware, board, arm)
    samples = _samples(graphs, floats)
    inputs = [b"".join(s[x].tobytes() for x in graph.inputs) for s in samples]
    result = run_in_emulator(folder, board, firmware, inputs, dump_samples=1)
    for sample, output in zip(samples, result.outputs, strict=True):
        _check_outputs(graph, simulate(graph, sample), output)
    for layer, dump in zip(code.layers, result.dumps[0], strict=True):
        _check_guards(layer.op, [n for _, n in layer.outputs], dump)
    return choices


def _scratch(layer, plan: Plan) -> tuple[tuple[int, int], ...]:
    """The guard after a layer's scratch memory."""
    if layer.op.y not in plan.scratch_offsets:
        return ()
    return ((plan.scratch_offsets[layer.op.y] + layer.choice.scratch, GUARD),)


def _check_outputs(graph: Graph, expected: dict[str, Array], output: bytes) -> None:
    start = 0
    for y in graph.outputs:
        size = graph.types[y].nbytes
        kind = graph.types[y]
        got = np.frombuffer(output[start : start + size], kind.dtype.value).reshape(kind.shape)
        np.testing.assert_array_equal(got, expected[y], err_msg=y)
        start += size


def _check_guards(op: Op, sizes: list[int], dump: bytes) -> None:
    start = 0
    for size in sizes:
        guard = dump[start + size : start + size + GUARD]
        assert not any(guard), f"{op.name} writes past the end of its output"
        start += size + GUARD
    assert not any(dump[start:]), f"{op.name} writes past the end of its scratch memory"


def _chunks(seeds: range) -> list[range]:
    return [seeds[i : i + PER_PROJECT] for i in range(0, len(seeds), PER_PROJECT)]


@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("seeds", _chunks(CI_SEEDS), ids=str)
def test_operators_equal_their_oracles(core: str, seeds: range, tmp_path: Path) -> None:
    _run(seeds, BOARDS[core], tmp_path / "project")


@pytest.mark.slow
@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("seeds", _chunks(ALL_SEEDS), ids=str)
def test_operators_equal_their_oracles_on_many_shapes(
    core: str, seeds: range, tmp_path: Path
) -> None:
    _run(seeds, BOARDS[core], tmp_path / "project")
