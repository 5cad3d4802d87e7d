"""Resize and Upsample against ONNX Runtime, in every mode triple that is supported."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain.errors import InputRefused
from toolchain.ops._coordinates import COORDINATES, NEAREST, positions

SINCE_19, UNTIL_12 = "half_pixel_symmetric", "tf_half_pixel_for_nn"

MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)
FACTORS = [0.25, 0.4, 0.5, 0.6, 1.0, 1.3, 1.5, 2.0, 2.5, 3.0, 3.7, 4.0]


def ints(*values):
    return np.array(values, np.int64)


def floats(*values):
    return np.array(values, np.float32)


def opsets(coordinates):
    """Versions that know a coordinate mode."""
    return {SINCE_19: [19], UNTIL_12: [11]}.get(coordinates, [11, 13, 18])


def clear_of_ties(coordinates, constants, shape):
    """Whether no position is so near a border that the order of float operations decides."""
    for axis, old in enumerate(shape):
        if "n" in constants:
            new, scale = int(constants["n"][axis]), constants["n"][axis] / old
        else:
            scale = constants["s"][axis]
            new = int(scale * np.float32(old))
        where = positions(coordinates, old, new, scale)
        if new != old and np.abs(2 * where % 1 - 0.5).max() > 0.499:
            return False
    return True


def whole(coordinates, constants, shape):
    """Whether the corners are where everybody has them: not with a scale that cuts a cell."""
    cells = constants.get("s", 1.0) * np.array(shape, np.float32)
    return coordinates != "align_corners" or np.abs(cells - np.floor(cells)).max() < 1e-4


def versioned(inputs, constants, opset):
    """Inputs with empty tensors for what is left out, where the version wants them."""
    if opset > 11:
        return inputs, constants
    return ["x", "roi", *(n or "none" for n in inputs[2:])], {
        "roi": floats(), "none": floats(), **constants,
    }  # fmt: skip


@st.composite
def targets(draw, shape, axes):
    """Scales or sizes for some axes, as (inputs, constants)."""
    if draw(st.booleans()):
        scales = [draw(st.sampled_from(FACTORS)) if i in axes else 1.0 for i in range(len(shape))]
        assume(all(int(np.float32(s) * np.float32(n)) for s, n in zip(scales, shape, strict=True)))
        return ["x", "", "s"], {"s": floats(*scales)}
    sizes = [draw(st.integers(1, 13)) if i in axes else n for i, n in enumerate(shape)]
    return ["x", "", "", "n"], {"n": ints(*sizes)}


@MANY
@given(
    coordinates=st.sampled_from(sorted(COORDINATES)),
    rounding=st.sampled_from(sorted(NEAREST)),
    shape=st.tuples(st.just(1), st.integers(1, 4), st.integers(1, 9), st.integers(1, 9)),
    data=st.data(),
)
def test_nearest(coordinates, rounding, shape, data):
    shape = shape[: data.draw(st.integers(2, 4))]
    inputs, constants = data.draw(targets(shape, range(1, len(shape))))
    assume(whole(coordinates, constants, shape))
    opset = data.draw(st.sampled_from(opsets(coordinates)))
    inputs, constants = versioned(inputs, constants, opset)
    if coordinates == SINCE_19 or rounding == "round_prefer_ceil":
        assume(clear_of_ties(coordinates, constants, shape))
    resize = node("Resize", inputs, mode="nearest", nearest_mode=rounding,
                  coordinate_transformation_mode=coordinates)  # fmt: skip
    agree(model(resize, x=shape, opset=opset, **constants))


@MANY
@given(
    coordinates=st.sampled_from(sorted(COORDINATES)),
    shape=st.tuples(st.just(1), st.integers(1, 3), st.integers(1, 9), st.integers(1, 9)),
    data=st.data(),
)
def test_linear(coordinates, shape, data):
    inputs, constants = data.draw(targets(shape, (2, 3)))
    assume(whole(coordinates, constants, shape))
    opset = data.draw(st.sampled_from(opsets(coordinates)))
    inputs, constants = versioned(inputs, constants, opset)
    resize = node("Resize", inputs, mode="linear", coordinate_transformation_mode=coordinates)
    agree(model(resize, x=shape, opset=opset, **constants))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("factor", [2.0, 1.5, 0.5, 0.6])
def test_before_opset_11(mode, factor):
    scales = floats(1, 1, factor, 2 * factor)
    agree(model(node("Resize", "x s", mode=mode), opset=10, s=scales))
    if factor >= 1:
        agree(model(node("Upsample", "x s", mode=mode), opset=9, s=scales))
        upsample = node("Upsample", "x", mode=mode, scales=[float(s) for s in scales])
        agree(model(upsample, opset=7))


def test_opset_11_has_empty_tensors_for_what_is_left_out():
    empty = {"roi": floats(), "none": floats()}
    agree(model(node("Resize", "x roi none n"), opset=11, n=ints(1, 3, 12, 5), **empty))
    agree(model(node("Resize", "x roi s", mode="linear"), opset=11, roi=floats(),
                s=floats(1, 1, 2, 0.7)))  # fmt: skip


@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
@pytest.mark.parametrize("sizes", [(7, 9), (3, 20), (16, 16), (5, 3)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_axes_and_aspect_policies(policy, sizes, mode):
    resize = node("Resize", ["x", "", "", "n"], mode=mode, axes=[2, 3],
                  keep_aspect_ratio_policy=policy)  # fmt: skip
    agree(model(resize, x=(1, 2, 6, 8), opset=18, n=ints(*sizes)))
    swapped = node("Resize", ["x", "", "", "n"], mode=mode, axes=[-1, 2])
    agree(model(swapped, x=(1, 2, 6, 8), opset=18, n=ints(*sizes)))


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"mode": "cubic"}, "'cubic'"),
        ({"mode": "linear", "antialias": 1}, "antialias"),
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, "tf_crop_and_resize"),
    ],
)
def test_what_is_refused_by_name(attributes, reason):
    resize = node("Resize", ["x", "", "", "n"], **attributes)
    with pytest.raises(InputRefused, match=reason):
        agree(model(resize, opset=18, n=ints(1, 3, 16, 16)))


def test_corners_of_a_cut_cell_are_refused():
    resize = node(
        "Resize", ["x", "", "s"], mode="linear", coordinate_transformation_mode="align_corners"
    )
    with pytest.raises(InputRefused, match="no whole number of cells"):
        agree(model(resize, x=(1, 1, 2, 4), opset=19, s=floats(1, 1, 0.6, 0.6)))


def test_linear_over_three_axes_is_refused():
    resize = node("Resize", ["x", "", "", "n"], mode="linear")
    with pytest.raises(InputRefused, match="more than two axes"):
        agree(model(resize, x=(1, 1, 4, 4, 4), opset=18, n=ints(1, 1, 8, 8, 8)))


@pytest.mark.parametrize(("mode", "kind"), [("nearest", "Take"), ("linear", "LinearResize")])
def test_between_convolutions_it_stays_channels_last(mode, kind):
    nodes = [node("Conv", "x w", "c"), node("Resize", ["c", "", "s"], "r", mode=mode),
             node("Conv", "r u")]  # fmt: skip
    weights = {"w": normal(4, 3, 3, 3), "u": normal(2, 4, 3, 3)}
    graph = agree(model(*nodes, s=floats(1, 1, 2, 2), **weights))
    assert kinds(graph) == ["Transpose", "Conv2D", kind, "Conv2D", "Transpose"]


def test_the_same_size_is_nothing():
    for mode in ("nearest", "linear"):
        resize = node("Resize", ["x", "", "", "n"], mode=mode)
        graph = agree(model(resize, node("Relu", "y", "z"), outputs="z", n=ints(1, 3, 8, 8)))
        assert kinds(graph) == ["Unary"]
