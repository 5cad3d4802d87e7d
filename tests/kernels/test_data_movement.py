"""Transpose, pad and block copy against numpy."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels.cases import codes, fuzz, generator
from tests.kernels.native import ARGUMENT_ERROR, Dims, ints

shapes = st.integers(1, 6).flatmap(lambda r: st.lists(st.integers(1, 4), min_size=r, max_size=r))


@fuzz(generator(), shapes, st.randoms(use_true_random=False))
def test_transpose_is_numpys(glue, rng, shape, random):
    permutation = random.sample(range(len(shape)), len(shape))
    x = codes(rng, *shape)
    got = glue.run(
        "glue_transpose_s8", x, ints(shape), ints(permutation), len(shape), ..., size=x.size
    )
    np.testing.assert_array_equal(got, x.transpose(permutation).ravel())


@pytest.mark.parametrize(
    ("dims", "permutation"),
    [
        ([2, 2], [0, 0]),
        ([2, 2], [0, 2]),
        ([2, 2], [-1, 0]),
        ([2, 0], [0, 1]),
        ([], []),
        ([1] * 7, range(7)),
    ],
)
def test_transpose_refuses(glue, dims, permutation):
    x = np.zeros(8, np.int8)
    status = glue.call("glue_transpose_s8", x, ints(dims), ints(permutation), len(dims), x.copy())
    assert status == ARGUMENT_ERROR


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
