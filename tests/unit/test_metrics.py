import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from toolchain.check import metrics
from toolchain.check.reference import LayerErrors, float_outputs, stack

ZERO, ONES = np.zeros((2, 3)), np.ones((2, 3))


def test_sqnr_by_its_definition():
    reference = np.array([[3.0, 4.0], [0.0, 0.0]])
    value = reference + np.array([[0.5, 0.0], [0.0, 0.0]])
    assert metrics.sqnr_db(reference, value) == pytest.approx(20.0)
    assert metrics.sqnr_db(reference, reference) == np.inf
    assert metrics.sqnr_db(ZERO, ZERO) == np.inf
    assert metrics.sqnr_db(ZERO, ONES) == -np.inf


def test_integer_arrays_do_not_wrap():
    a, b = np.array([[127, -128]], np.int8), np.array([[-128, 127]], np.int8)
    assert metrics.max_abs_error(a, b) == 255.0
    assert metrics.cosine(a, b) == pytest.approx(-1.0, abs=1e-4)
    assert metrics.sqnr_db(a, b) == pytest.approx(10 * np.log10((127**2 + 128**2) / (2 * 255**2)))


def test_cosine_and_error_by_their_definitions():
    assert metrics.cosine(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])) == pytest.approx(0.5**0.5)
    assert metrics.cosine(ZERO, ZERO) == 1.0
    assert metrics.cosine(ZERO, ONES) == 0.0
    assert metrics.max_abs_error(ONES, ZERO) == 1.0
    assert metrics.max_abs_error(ONES[:0], ZERO[:0]) == 0.0


@given(
    arrays(
        np.float32, array_shapes(min_dims=2, max_dims=4), elements=st.floats(-1e6, 1e6, width=32)
    )
)
def test_equal_outputs_are_perfect(values):
    assert metrics.sqnr_db(values, values) == np.inf
    assert metrics.cosine(values, values) == pytest.approx(1.0)
    assert metrics.max_abs_error(values, values) == 0.0
    assert metrics.agreement(values, values) in (1.0, None)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 1, 1), (2, 1, 1, 3)])
def test_agreement_of_vectors(shape):
    reference = np.array([[0, 2, 1], [5, 4, 3]], np.float32).reshape(shape)
    value = np.array([[0, 2, 1], [4, 5, 3]], np.float32).reshape(shape)
    assert metrics.agreement(reference, value) == 0.5
    assert metrics.accuracy(value, np.array([1, 1])) == 1.0
    assert metrics.accuracy(reference, np.array([1, 1])) == 0.5


def test_maps_and_single_values_name_no_class():
    assert metrics.agreement(np.ones((2, 3, 4)), np.ones((2, 3, 4))) is None
    assert metrics.agreement(np.array([[2.0], [0.1]]), np.array([[2.0], [0.1]])) is None
    assert metrics.accuracy(np.ones((2, 3, 4)), np.array([0, 1])) is None


def test_a_single_probability_has_two_classes():
    reference, value = np.array([[0.9], [0.4], [0.5]]), np.array([[1.0], [0.6], [0.5]])
    assert metrics.agreement(reference, value) == pytest.approx(2 / 3)
    assert metrics.accuracy(value, np.array([1, 0, 1]), probability=True) == pytest.approx(2 / 3)


def test_layer_errors_add_up_like_all_samples_at_once():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(7, 5, 4)).astype(np.float32)
    errors = LayerErrors()
    noise = {"good": 0.001, "bad": 0.5, "exact": 0.0}
    values = {
        k: reference + (n * rng.normal(size=reference.shape)).astype(np.float32)
        for k, n in noise.items()
    }
    for i in range(7):
        for name, value in values.items():
            errors.update(name, reference[i], value[i].reshape(4, 5))
    for name, value in values.items():
        assert errors.sqnr_db(name) == pytest.approx(metrics.sqnr_db(reference, value))
    assert [name for name, _ in errors.worst()] == ["bad", "good", "exact"]
    assert errors.worst(1) == [("bad", errors.sqnr_db("bad"))]


def test_float_outputs_are_read_one_at_a_time():
    class Double:
        def run(self, sample):
            return {"y": 2 * sample["x"], "other": sample["x"]}

    taken = []

    def samples():
        for i in range(3):
            taken.append(i)
            yield {"x": np.full((1, 2), i, np.float32)}

    outputs = float_outputs(Double(), samples(), ["y"])
    assert list(next(outputs)) == ["y"]
    assert taken == [0]
    np.testing.assert_array_equal(stack(outputs)["y"], [[2, 2], [4, 4]])
