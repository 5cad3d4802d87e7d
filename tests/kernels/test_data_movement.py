"""Copies, padding and linear interpolation against numpy."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels import oracle
from tests.kernels.cases import codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, Dims, ResizeLinearParams, ints

shapes = st.integers(1, 6).flatmap(lambda r: st.lists(st.integers(1, 4), min_size=r, max_size=r))


def rows(shape):
    """Distance of neighbours along each axis."""
    return [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]


@fuzz(generator(), shapes, st.randoms(use_true_random=False))
def test_strided_copy_transposes(glue, rng, shape, random):
    permutation = random.sample(range(len(shape)), len(shape))
    x, steps = codes(rng, *shape), rows(shape)
    dims, moved = ints([shape[p] for p in permutation]), ints([steps[p] for p in permutation])
    got = glue.run("glue_strided_copy_s8", x, dims, moved, len(shape), 1, ..., size=x.size)
    np.testing.assert_array_equal(got, x.transpose(permutation).ravel())


@fuzz(generator(), shapes, st.integers(1, 9), st.data())
def test_strided_copy_slices_backwards_and_repeats(glue, rng, shape, block, data):
    x = codes(rng, *shape, block)
    window = [data.draw(st.sampled_from([1, 2, -1, -2, 0])) for _ in shape]
    counts = [-(-n // abs(w)) if w else data.draw(st.integers(1, 3)) for n, w in zip(
        shape, window, strict=True)]  # fmt: skip
    steps = [s * w * block for s, w in zip(rows(shape), window, strict=True)]
    start = [n - 1 if w < 0 else 0 for n, w in zip(shape, window, strict=True)]
    offset = int(np.dot(start, rows(shape))) * block
    grid = np.ix_(*(s + w * np.arange(c) for s, w, c in zip(start, window, counts, strict=True)))
    expected = x[grid].ravel()
    got = glue.run(
        "glue_strided_copy_s8", x.ravel()[offset:], ints(counts), ints(steps), len(shape), block,
        ..., size=expected.size,
    )  # fmt: skip
    np.testing.assert_array_equal(got, expected)


@fuzz(generator(), shapes, st.integers(1, 9))
def test_indexed_copy_is_numpys_open_mesh(glue, rng, shape, block):
    x = codes(rng, *shape, block)
    chosen = [rng.integers(0, n, rng.integers(1, 5)) for n in shape]
    offsets = np.concatenate([i * s * block for i, s in zip(chosen, rows(shape), strict=True)])
    expected = x[np.ix_(*chosen)].ravel()
    got = glue.run(
        "glue_indexed_copy_s8", x, ints([len(i) for i in chosen]), ints(offsets), len(shape), block,
        ..., size=expected.size,
    )  # fmt: skip
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("function", ["glue_strided_copy_s8", "glue_indexed_copy_s8"])
@pytest.mark.parametrize(
    ("dims", "block"), [([2, 0], 1), ([-1], 1), ([], 1), ([1] * 9, 1), ([2, 2], 0)]
)
def test_copies_refuse(glue, function, dims, block):
    x = np.zeros(8, np.int8)
    arguments = [x, ints(dims), ints([0] * 20), len(dims), block, x.copy()]
    assert glue.call(function, *arguments) == ARGUMENT_ERROR


def positions(rng, size):
    """Positions in 1/4096 cell, ascending or not, with whole ones and both ends among them."""
    found = rng.integers(0, 4096 * (size - 1) + 1, rng.integers(1, 7))
    whole = rng.integers(0, size, len(found)) * 4096
    return np.where(rng.integers(0, 3, len(found)) == 0, whole, found)


@fuzz(generator(), st.lists(st.integers(1, 5), min_size=5, max_size=5))
def test_linear_resize_is_the_exact_mean_of_four_cells(glue, rng, shape):
    x = codes(rng, *shape)
    ys, xs = positions(rng, shape[1]), positions(rng, shape[3])
    parameters = ResizeLinearParams(*shape, len(ys), len(xs), ints(ys), ints(xs))
    expected = oracle.resize_linear(x, ys, xs).ravel()
    got = glue.run("glue_resize_linear_s8", parameters, x, ..., size=expected.size)
    np.testing.assert_array_equal(got, expected)


def test_linear_resize_rounds_halves_up_and_reaches_the_extremes(glue):
    x = np.array([-128, -127, 127, 126], np.int8)
    where = ints([0, 2048, 4096, 2 * 4096, 2 * 4096 + 2048, 3 * 4096])
    parameters = ResizeLinearParams(1, 1, 1, 4, 1, 1, 6, ints([0]), where)
    got = glue.run("glue_resize_linear_s8", parameters, x, ..., size=6)
    np.testing.assert_array_equal(got, [-128, -127, -127, 127, 127, 126])


@pytest.mark.parametrize("field", ["outer", "height", "middle", "width", "inner"])
def test_linear_resize_refuses_empty_tensors(glue, field):
    parameters = ResizeLinearParams(1, 1, 1, 1, 1, 1, 1, ints([0]), ints([0]))
    setattr(parameters, field, 0)
    x = np.zeros(1, np.int8)
    assert glue.call("glue_resize_linear_s8", parameters, x, x.copy()) == ARGUMENT_ERROR


@pytest.mark.parametrize("where", [-1, 2 * 4096])
def test_linear_resize_refuses_positions_outside(glue, where):
    x = np.zeros(4, np.int8)
    for ys, xs in (([where], [0]), ([0], [where])):
        parameters = ResizeLinearParams(1, 2, 1, 2, 1, 1, 1, ints(ys), ints(xs))
        assert glue.call("glue_resize_linear_s8", parameters, x, x.copy()) == ARGUMENT_ERROR


quads = st.lists(st.integers(0, 3), min_size=4, max_size=4)


@fuzz(generator(), quads, quads, quads, st.integers(-128, 127))
def test_pad_is_numpys(glue, rng, shape, begin, end, value):
    x = codes(rng, *(n + 1 for n in shape))
    expected = np.pad(x, list(zip(begin, end, strict=True)), constant_values=value)
    got = glue.run(
        "glue_pad_s8", x, Dims(*x.shape), Dims(*begin), Dims(*end), value, ..., size=expected.size
    )
    np.testing.assert_array_equal(got, expected.ravel())


def test_pad_refuses_negative_pads(glue):
    x, none = np.zeros(1, np.int8), Dims(0, 0, 0, 0)
    one = Dims(1, 1, 1, 1)
    for begin, end in ((Dims(0, -1, 0, 0), none), (none, Dims(0, 0, 0, -1))):
        assert glue.call("glue_pad_s8", x, one, begin, end, 0, x.copy()) == ARGUMENT_ERROR


@fuzz(generator(), shapes, st.lists(st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_block_copies_make_concat_and_split(glue, rng, shape, parts, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    tensors = [codes(rng, *shape[:axis], n, *shape[axis + 1 :]) for n in parts]
    joined = np.concatenate(tensors, axis)
    blocks, inner = int(np.prod(shape[:axis])), int(np.prod(shape[axis + 1 :]))
    whole, offset = sum(parts) * inner, 0
    target = np.zeros_like(joined)
    for tensor, n in zip(tensors, parts, strict=True):
        block = n * inner
        view = target.reshape(-1)[offset:]
        assert glue.call("glue_copy_blocks_s8", tensor, block, view, whole, block, blocks) == 0
        source = joined.reshape(-1)[offset:]
        got = glue.run(
            "glue_copy_blocks_s8", source, whole, ..., block, block, blocks, size=tensor.size
        )
        np.testing.assert_array_equal(got, tensor.ravel())
        offset += block
    np.testing.assert_array_equal(target, joined)


@pytest.mark.parametrize("place", [1, 3, 4, 5])
def test_block_copy_refuses_negative_numbers(glue, place):
    x = np.zeros(4, np.int8)
    arguments = [x, 1, x.copy(), 1, 1, 1]
    arguments[place] = -1
    assert glue.call("glue_copy_blocks_s8", *arguments) == ARGUMENT_ERROR
