"""Every registered kernel on random layers under sanitizers, to the byte as its operator says.

The registry says what there is to test: a kernel that is added to it is tested here without another
word, and refused while no random layer is one that it serves.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.ops.host import any_codes, codes_of
from tests.ops.test_single_rounding import REQUANTISING
from tests.sanitized.cases import TARGETS, Batch, Way, batch, layers, ways
from tests.sanitized.program import MVE, Objects, build_program
from toolchain.board import Isa
from toolchain.ir import Array, Op, Rounding
from toolchain.ir.execute import simulate

CI_LAYERS, PER_PROGRAM = 8, 20
ONCE = 2
"""Layers of each kernel in the other rounding."""
GROUPS = sorted({(name, way.operator) for name, target in TARGETS.items() for way in ways(target)})


def _samples(made: Batch) -> list[dict[str, Array]]:
    """Calibrated codes, random ones, the ends of the range, the lowest."""
    rng = np.random.default_rng(1)
    samples: list[dict[str, Array]] = [{}, {}, {}, {}]
    for layer in made.layers:
        samples[0] |= codes_of(layer.graph, layer.floats[0])
        for x in layer.graph.inputs:
            kind = layer.graph.types[x]
            ends = np.array(kind.dtype.limits, kind.dtype.value)
            samples[1][x] = any_codes(layer.graph, x, rng)
            samples[2][x] = rng.choice(ends, kind.shape)
            samples[3][x] = np.full(kind.shape, ends[0])
    return samples


def _check(
    taken: Sequence[Way],
    number: int,
    objects: Objects,
    folder: Path,
    flags: Sequence[str],
    first: int = 0,
) -> None:
    made = batch(taken, number, first)
    if not made.layers:
        return
    program = build_program(made.graph, made.choices, taken[0].target, objects, folder, flags)
    samples = _samples(made)
    for sample, got in zip(samples, program.outputs(samples), strict=True):
        expected = simulate(made.graph, sample)
        for y in made.graph.outputs:
            np.testing.assert_array_equal(got[y], expected[y], err_msg=y)


def _of_group(target: str, operator: str) -> list[Way]:
    return [way for way in ways(TARGETS[target]) if way.operator == operator]


@pytest.mark.parametrize(("target", "operator"), GROUPS)
def test_kernels_equal_their_operators(
    target: str, operator: str, objects: Objects, tmp_path: Path
) -> None:
    flags = MVE if target == Isa.MVE else []
    _check(_of_group(target, operator), CI_LAYERS, objects, tmp_path, flags)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "operator"), GROUPS)
@pytest.mark.parametrize("first", range(10))
def test_kernels_equal_their_operators_on_many_layers(
    target: str, operator: str, first: int, objects: Objects, tmp_path: Path
) -> None:
    flags = MVE if target == Isa.MVE else []
    seed = 10**6 * (first + 1)
    _check(_of_group(target, operator), PER_PROGRAM, objects, tmp_path, flags, seed)


@pytest.mark.parametrize(
    "target",
    [
        # The emulator runs all of them every time.
        pytest.param(t, marks=[pytest.mark.slow] if t in (Isa.DSP, Isa.MVE) else [])
        for t in TARGETS
    ],
)
def test_kernels_that_round_once(target: str, objects: Objects, tmp_path: Path) -> None:
    flags = MVE if target == Isa.MVE else []
    every = ways(TARGETS[target], Rounding.SINGLE)
    taken = [way for way in every if way.operator in REQUANTISING]
    _check(taken, ONCE, objects, tmp_path, flags, first=7000)


def test_plain_forms_of_mve_kernels(objects: Objects, tmp_path: Path) -> None:
    """Some of these kernels need no intrinsics."""
    plain = [
        way
        for way in ways(TARGETS[Isa.MVE])
        if way.kernel.isas == {Isa.MVE} and _builds(way, objects)
    ]
    assert plain
    _check(plain, CI_LAYERS, objects, tmp_path, [], first=3000)


def _builds(way: Way, objects: Objects) -> bool:
    try:
        objects.build(way.kernel.sources, [])
    except AssertionError as error:
        if "arm_mve.h: No such file" not in str(error):
            raise
        return False
    return True


def test_every_kernel_serves_somewhere() -> None:
    """Groups leave out kernels that serve nothing on their target."""
    served, registered = set(), set()
    for target in TARGETS.values():
        for way in ways(target):
            isa = None if way.kernel.isas is None else target.isa
            registered.add((way.operator, way.kernel.name, isa))
            if layers(way, CI_LAYERS):
                served.add((way.operator, way.kernel.name, isa))
    assert served == registered
    every = {(name, k.name) for name, op in Op.registry.items() for k in op.kernels}
    assert {key[:2] for key in registered} == every
