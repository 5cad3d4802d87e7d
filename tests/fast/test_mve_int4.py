"""Layers with int4 weights and MVE: C forms on the host, both in the emulator."""

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.fast import test_mve_conv as wide
from tests.fast.mve import TARGET, run_layers
from tests.fast.oracle import Maker, check_on_host, instances
from tests.fast.test_int4 import few
from toolchain.ir import Example, Site
from toolchain.ops.fast.mve_conv import Form, form_of
from toolchain.ops.int4 import mve

pytestmark = pytest.mark.usefixtures("in_order_of_preference")

LAYERS = {
    "pointwise": (
        wide._pointwise,
        {"glue_pointwise_s4_mve": wide.ALL, "glue_pointwise_32_s4_mve": {"rectified"}},
    ),
    "many_rows": (wide._many_rows, {"glue_pointwise_32_s4_mve": {"rectified"}}),
    "columns": (
        wide._columns,
        {"glue_conv_3x3_s4_mve": {"long", "signed"}, "glue_conv_s4_mve": {"left"}},
    ),
    "windows": (
        wide._windows,
        {"glue_conv_s4_mve": wide.ALL, "glue_conv_32_s4_mve": {"rectified"}},
    ),
    "first_layer": (
        wide._first_layer,
        {
            "glue_conv_s4_mve": wide.ALL - {"long"},
            "glue_conv_32_s4_mve": {"rectified"},
        },
    ),
    "odd_row": (wide._odd_row, {"glue_pointwise_s4_mve": wide.ALL}),
    "dense": (
        wide._dense,
        {"glue_dense_s4_mve": wide.ALL, "glue_pointwise_s4_mve": {"signed", "left"}},
    ),
}
"""Makers with int8 weights, and ways through the kernels that their layers take."""


def _made(name: str) -> Maker:
    return partial(_with_few_bits, LAYERS[name][0])


def _with_few_bits(make: Maker, rng: np.random.Generator) -> Example:
    return few(make(rng))


MAKERS: tuple[Maker, ...] = tuple(map(_made, LAYERS))


@pytest.mark.emulator
@pytest.mark.parametrize("name", LAYERS)
def test_layers_equal_their_oracles(name: str, form: str, tmp_path: Path) -> None:
    taken = run_layers(_made(name), range(40), tmp_path / "project")
    seen = Counter((choice.kernel.name, wide._branch(site)) for site, choice in taken)
    for kernel, branches in LAYERS[name][1].items():
        assert branches <= {branch for one, branch in seen if one == kernel}, seen


@pytest.mark.parametrize("name", LAYERS)
def test_c_forms_equal_their_oracles_on_the_host(name: str, tmp_path: Path) -> None:
    check_on_host(_made(name), range(100, 140), TARGET, tmp_path, extreme_weights=True)


def _site(name: str, seed: int) -> Site:
    (graph,), _ = instances(_made(name), [seed])
    return Site(graph.ops[0], graph.types, graph.constants, TARGET)


@pytest.mark.parametrize("name", ["dense", "windows"])
@pytest.mark.parametrize(("bias", "serves"), [((1 << 27) - 1, True), (1 << 27, False)])
def test_sums_whose_sixteenfold_is_an_int32(name: str, bias: int, serves: bool) -> None:
    site = _site(name, 3)
    _, w, b = site.op.inputs
    constants = {w: np.zeros_like(site.constants[w]), b: np.full_like(site.constants[b], bias)}
    changed = replace(site, constants={**site.constants, **constants})
    assert mve.one_row(changed) == (serves and mve.one_row(site))
    assert mve.windows(changed) == serves
    assert mve.windows(site)


def test_two_weights_in_a_byte() -> None:
    """The first one in the lower bits, both as one signed number."""
    weights = np.array([[7, -7, 0, -1, 3], [7, -7, -7, 0, -1]], np.int8)
    assert mve.paired(weights).tolist() == [119, -119, -112, -1, -13]


def test_weights_take_half_the_bytes() -> None:
    site = _site("dense", 7)
    channels, depth = site.shape(site.op.inputs[1])
    groups, steps = -(-channels // 8), -(-depth // 16)
    stream = mve.pack_dense(site)["stream"]
    tables = 3 + (form_of(site) is Form.GENERAL)
    assert stream.nbytes == groups * 8 * (steps * 16 // 2 + 4 * tables)
