"""Layers with int4 weights: the bytes of the oracle, portable and DSP kernel."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.fast.oracle import Maker, check_in_emulator, check_on_host, instances
from tests.fast.test_dsp_conv import SHAPES, _conv, _dense
from toolchain.board import Isa
from toolchain.ir import Example, Op, Site, Target
from toolchain.ops.int4 import dsp, int4_form, portable
from toolchain.ops.int4.portable import grouped, halfwords

BOARDS = {
    "M0+": "raspberry-pi-pico",
    "M3": "mps2-an385",
    "M4": "mps2-an386",
}
OPERATORS = ("Int4Conv2D", "Int4FullyConnected")
BOUNDS = [(None, None), (0.0, None), (-7.0, 5.0)]


def few(example: Example) -> Example:
    """The same layer with int4 weights."""
    op = int4_form(example.op)
    assert op is not None
    return replace(example, op=op)


def _shaped(rng: np.random.Generator) -> Example:
    """One of the shapes that are hard for kernels which take pairs of pixels."""
    shape = list(SHAPES.values())[int(rng.integers(len(SHAPES)))]
    return few(_conv(int(rng.integers(1000)), shape, BOUNDS[int(rng.integers(3))]))


def _deep(rng: np.random.Generator) -> Example:
    """More taps than the portable kernel sums up at a time, and than one pair can balance."""
    rows, depth, channels = int(rng.integers(1, 3)), int(rng.integers(500, 1100)), 5
    return few(_dense(int(rng.integers(1000)), rows, depth, channels))


MAKERS: dict[str, Maker] = {name: Op.registry[name].example for name in OPERATORS} | {
    "shaped": _shaped,
    "deep": _deep,
}


@pytest.mark.parametrize("isa", [Isa.SCALAR, Isa.DSP])
@pytest.mark.parametrize("name", MAKERS)
def test_bytes_on_the_host(name: str, isa: Isa, tmp_path: Path) -> None:
    check_on_host(MAKERS[name], range(15), Target(isa), tmp_path, extreme_weights=True)


def _any(rng: np.random.Generator) -> Example:
    return list(MAKERS.values())[int(rng.integers(len(MAKERS)))](rng)


@pytest.mark.emulator
@pytest.mark.parametrize("core", ["M0+", "M3"])
def test_portable_bytes_in_the_emulator(core: str, tmp_path: Path) -> None:
    taken = check_in_emulator(_any, range(24), BOARDS[core], tmp_path / "p", extreme_weights=True)
    assert "glue_conv_s4" in taken


@pytest.mark.emulator
def test_dsp_bytes_in_the_emulator(form: str, tmp_path: Path) -> None:
    taken = check_in_emulator(_any, range(40), BOARDS["M4"], tmp_path / "p", extreme_weights=True)
    assert "glue_conv_s4_dsp" in taken


@pytest.mark.emulator
def test_every_shape_in_assembly(tmp_path: Path) -> None:
    shapes = iter(SHAPES.values())

    def in_turn(rng: np.random.Generator) -> Example:
        return few(_conv(int(rng.integers(1000)), next(shapes), (None, None)))

    taken = check_in_emulator(in_turn, range(len(SHAPES)), BOARDS["M4"], tmp_path / "p")
    assert taken == {"glue_conv_s4_dsp"}


def _site(example: Example, weight: int | None = None) -> Site:
    (graph,), _ = instances(lambda _: example, [1])
    (op,) = graph.ops
    constants = dict(graph.constants)
    if weight is not None:
        constants[op.inputs[1]] = np.full_like(constants[op.inputs[1]], weight)
    return Site(op, graph.types, constants, Target(Isa.DSP))


@pytest.mark.parametrize(("depth", "serves"), [(500, True), (1000, False)])
def test_sums_that_the_dsp_kernel_can_tell_apart(depth: int, serves: bool) -> None:
    """128 * 7 * depth passes 2^19 between the two; the portable kernel takes any sums."""
    site = _site(few(_dense(4, 1, depth, 4)), 7)
    assert dsp.LAYER[0].serves(site) == serves
    assert portable.LAYER[0].serves(site)


def test_weights_take_half_a_byte() -> None:
    site = _site(few(_conv(3, SHAPES["3x3"], (None, None))))
    weights = site.constants[site.op.inputs[1]]
    assert np.abs(weights).max() == 7
    packed = portable.LAYER[0].pack(site)["weights"]
    assert 2 * packed.nbytes == weights.size


def test_the_order_of_four_weights() -> None:
    """The first channel lowest; 8 more in the first three, two's complement in the fourth."""
    rows = np.array([[1], [-7], [0], [-1], [7]])
    words = halfwords(grouped(rows)).reshape(-1)
    assert [int(w) for w in words] == [0xF819, 0x088F]
