"""Kernels for every core that lean on tables: the oracle's bytes on the host and emulated."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import toolchain.ops  # noqa: F401 - registers the operators
from tests.fast.oracle import check_in_emulator, check_on_host
from toolchain.board import Isa
from toolchain.ir import Example, Op, Target
from toolchain.ops._windows import Window
from toolchain.ops.fast.elementwise import CODES, SUM_SHIFT, sum_form

BOARDS = {"M0+": "raspberry-pi-pico", "M3": "mps2-an385", "M4": "mps2-an386"}
CLIPS = [(None, None), (0.0, None), (0.0, 0.8), (-0.5, 0.7), (0.3, 0.4)]
Maker = Callable[[np.random.Generator], Example]


def _clip(rng: np.random.Generator) -> tuple[float | None, float | None]:
    return CLIPS[int(rng.integers(len(CLIPS)))]


def _binary(kind: str) -> Maker:
    def make(rng: np.random.Generator) -> Example:
        shape = (1, int(rng.integers(1, 9)), int(rng.integers(1, 9)), int(rng.integers(1, 20)))
        op = Op.registry[kind](kind.lower(), ("a", "b"), ("y",), *_clip(rng))  # type: ignore[call-arg]
        return Example(op, {"a": shape, "b": shape})

    return make


def _pool(kind: str, channels: tuple[int, int], whole: float) -> Maker:
    def make(rng: np.random.Generator) -> Example:
        height, width = int(rng.integers(1, 12)), int(rng.integers(1, 12))
        kernel = (int(rng.integers(1, height + 1)), int(rng.integers(1, width + 1)))
        pads = tuple(int(rng.integers(0, kernel[i % 2])) for i in range(4))
        stride = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        window = Window(kernel, stride, (pads[0], pads[1], pads[2], pads[3]))
        if rng.random() < whole:
            window = Window((height, width))
        counted = (bool(rng.random() < 0.3),) if kind == "AveragePool" else ()
        op = Op.registry[kind]("pool", ("x",), ("y",), window, *counted, *_clip(rng))  # type: ignore[call-arg]
        return Example(op, {"x": (1, height, width, int(rng.integers(*channels)))})

    return make


def _long_pool(rng: np.random.Generator) -> Example:
    """More cells than fit in the halfwords of one run."""
    window = Window((int(rng.integers(2, 4)), 300), (1, 1))
    op = Op.registry["AveragePool"]("pool", ("x",), ("y",), window)  # type: ignore[call-arg]
    return Example(op, {"x": (1, 4, int(rng.integers(300, 303)), int(rng.integers(3, 6)))})


MAKERS = {
    "add": _binary("Add"),
    "mul": _binary("Mul"),
    "average": _pool("AveragePool", (1, 21), 0.3),
    "average_of_words": _pool("AveragePool", (4, 5), 0.5),
    "long_average": _long_pool,
    "max": _pool("MaxPool", (1, 21), 0.2),
}
NAMES = {"glue_add_table_s8", "glue_mul_short_s8", "glue_avgpool_words_s8"}


@pytest.mark.parametrize("isa", [Isa.BASELINE, Isa.DSP])
@pytest.mark.parametrize("what", MAKERS)
def test_bytes_on_the_host(what: str, isa: Isa, tmp_path: Path) -> None:
    check_on_host(MAKERS[what], range(24), Target(isa), tmp_path)


def _any_of(names: Sequence[str]) -> Maker:
    def make(rng: np.random.Generator) -> Example:
        return MAKERS[names[int(rng.integers(len(names)))]](rng)

    return make


@pytest.mark.emulator
@pytest.mark.parametrize("core", BOARDS)
def test_bytes_in_the_emulator(core: str, tmp_path: Path) -> None:
    small = [name for name in MAKERS if name != "long_average"]
    taken = check_in_emulator(_any_of(small), range(40), BOARDS[core], tmp_path / "p")
    assert taken >= NAMES | ({"glue_max_pool_words_s8"} if core == "M4" else set())


@pytest.mark.parametrize(
    "ratios", [(0.5, 0.3141), (0.75, -0.75), (1.2971, 0.0213), (0.0117, 0.9003)]
)
def test_sum_form_gives_every_pair(ratios: tuple[float, float]) -> None:
    exact = ratios[0] * (CODES[:, None] + 3) + ratios[1] * (CODES[None, :] - 20) - 5
    results = np.clip(np.floor(exact + 0.5), -100, 90).astype(np.int64)
    form = sum_form(results, ratios, (-100, 90))
    assert form is not None
    table = results if form.linear == 0 else results.T
    sums = CODES[:, None].astype(np.int64) * form.factor + form.sums[None, :]
    assert np.abs(sums).max() < 2**31
    np.testing.assert_array_equal(np.clip(sums >> SUM_SHIFT, -100, 90), table)


def test_sum_form_keeps_values_that_are_not_clamped() -> None:
    """The smallest result is bounded from below when the clamp does not do it."""
    results = np.clip((CODES[:, None] + CODES[None, :]) // 4, -128, 127).astype(np.int64)
    assert results.min() > -128
    form = sum_form(results, (0.25, 0.25), (-128, 127))
    assert form is not None
    sums = CODES[:, None].astype(np.int64) * form.factor + form.sums[None, :]
    np.testing.assert_array_equal(sums >> SUM_SHIFT, results)


def test_sum_form_refuses_what_no_table_gives() -> None:
    results = np.where((CODES[:, None] + CODES[None, :]) % 2 == 0, 5, -5).astype(np.int64)
    assert sum_form(results, (1.0, 1.0), (-128, 127)) is None
