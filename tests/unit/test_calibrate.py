import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.calibration import calibrate
from toolchain.errors import InputRefused
from toolchain.frontend.session import FloatSession
from toolchain.quant.calibrate import check_method
from toolchain.quant.histogram import Histogram
from toolchain.quant.ranges import Range, entropy_range, percentile_range

METHODS = ("minmax", "percentile", "entropy", "mse")
FLOATS = st.floats(-(2.0**100), 2.0**100, width=32)  # tiny ones, denormals and both zeros included
BATCHES = st.lists(arrays(np.float32, st.integers(1, 40), elements=FLOATS), min_size=1, max_size=6)


class Fake:
    """A session whose model hands on what it is given."""

    def run(self, sample):
        return dict(sample)


def direct(values: np.ndarray, histogram: Histogram) -> np.ndarray:
    """Counts in the histogram's own bins, from all values at once and in exact arithmetic."""
    counts = np.zeros(histogram.counts.size, np.int64)
    for value in values[values != 0]:
        counts[int(np.floor(float(value) / histogram.width)) - histogram.first] += 1
    return counts


@settings(max_examples=100, deadline=None)
@given(BATCHES, st.permutations(range(6)))
def test_widening_equals_counting_at_once(batches, order):
    histogram, whole = Histogram(bins=64), Histogram(bins=64)
    for i in order:
        if i < len(batches):
            histogram.add(batches[i])
    values = np.concatenate(batches)
    whole.add(values)
    for seen in (histogram, whole):
        np.testing.assert_array_equal(seen.counts, direct(values, seen))
        assert seen.zeros == np.count_nonzero(values == 0)
        assert seen.total == values.size
        assert seen.counts.size <= 64
    assert (histogram.width, histogram.first) == (whole.width, whole.first)


@settings(max_examples=100, deadline=None)
@given(BATCHES, BATCHES)
def test_merging_equals_counting_at_once(left, right):
    a, b, whole = Histogram(bins=64), Histogram(bins=64), Histogram(bins=64)
    for histogram, batches in ((a, left), (b, right), (whole, left + right)):
        for batch in batches:
            histogram.add(batch)
    a.merge(b)
    np.testing.assert_array_equal(a.counts, whole.counts)
    assert (a.low, a.high, a.zeros, a.width, a.first) == (
        whole.low,
        whole.high,
        whole.zeros,
        whole.width,
        whole.first,
    )


def test_range_fills_more_than_half_the_bins():
    for span in (1.0, 1.01, 3.0, 1e-3, 1e6):
        histogram = Histogram(bins=1024)
        histogram.add(np.array([-0.3 * span, 0.7 * span]))
        assert 512 <= histogram.counts.size <= 1024


@settings(max_examples=100, deadline=None)
@given(
    arrays(np.float32, st.integers(1, 500), elements=st.floats(-100, 100, width=32)),
    st.sampled_from([60.0, 90.0, 99.0, 99.99, 100.0]),
)
def test_percentile_is_numpys_within_one_bin(values, percentile):
    histogram = Histogram()
    histogram.add(values)
    found = percentile_range(histogram, percentile)
    ordered = np.sort(values[values != 0]) if values.any() else np.zeros(1)
    cut = int(ordered.size * (100.0 - percentile) / 200.0)
    low, high = min(0.0, float(ordered[cut])), max(0.0, float(ordered[-1 - cut]))
    assert low - histogram.width <= found.low <= low
    assert high <= found.high <= high + histogram.width
    assert histogram.low <= found.low
    assert found.high <= histogram.high


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["normal", "laplace", "relu", "uniform", "negative", "spiky", "sparse"]),
    st.floats(1e-6, 1e6),
)
def test_entropy_never_widens_and_keeps_zero(seed, shape, scale):
    rng = np.random.default_rng(seed)
    values = {
        "normal": lambda: rng.normal(size=6000),
        "laplace": lambda: rng.laplace(size=6000) + 1,
        "relu": lambda: np.maximum(rng.normal(size=12000), 0),
        "uniform": lambda: rng.uniform(-1, 3, size=6000),
        "negative": lambda: -rng.exponential(size=6000),
        "spiky": lambda: np.append(np.full(6000, 0.5), 100.0),
        "sparse": lambda: rng.normal(size=5),
    }[shape]()
    histogram = Histogram()
    histogram.add((values * scale).astype(np.float32))
    found = entropy_range(histogram)
    assert histogram.low <= found.low <= 0.0 <= found.high <= histogram.high
    assert found.low < found.high


def test_entropy_cuts_outliers_and_only_those():
    rng = np.random.default_rng(0)
    outliers, flat = Histogram(), Histogram()
    outliers.add(np.append(rng.normal(size=200_000), 80.0))
    found = entropy_range(outliers)
    assert 3.5 < found.high < 8.0
    assert -6.0 < found.low < -3.5
    flat.add(rng.uniform(-1, 1, size=200_000))
    assert entropy_range(flat) == Range(flat.low, flat.high)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [0.0, 1e-42, -1e-42])
def test_silent_tensors_get_an_ordinary_range(method, value):
    samples = [{"t": np.full((1, 500), value, np.float32)}] * 20
    assert calibrate(Fake(), samples, ["t"], method) == {"t": Range(0.0, 1.0)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [3.0, -3.0])
def test_constant_tensors_keep_their_value_and_zero(method, value):
    samples = [{"t": np.full((1, 500), value, np.float32)}] * 20
    expected = Range(min(value, 0.0), max(value, 0.0))
    assert calibrate(Fake(), samples, ["t"], method) == {"t": expected}


@pytest.mark.parametrize("method", METHODS)
def test_rare_values_among_zeros_survive(method):
    sample = np.zeros((1, 1000), np.float32)
    samples = [{"t": sample}] * 30 + [{"t": sample + (np.arange(1000) == 3)}]
    assert calibrate(Fake(), samples, ["t"], method) == {"t": Range(0.0, 1.0)}


def test_progress_and_empty_tensors():
    calls = []
    samples = [{"t": np.zeros((1, 0), np.float32)}, {"t": np.array([[-2.0]])}]
    found = calibrate(Fake(), samples, ["t"], progress=lambda *call: calls.append(call))
    assert found == {"t": Range(-2.0, 0.0)}
    assert calls == [(1, 2), (2, 2)]


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("method", METHODS)
def test_refuses_values_that_are_not_finite(method, value):
    samples = [{"t": np.ones((1, 4))}, {"t": np.array([[0.0, value]])}]
    with pytest.raises(InputRefused, match=r"t: .*NaN or infinity here for sample 1"):
        calibrate(Fake(), samples, ["t"], method)


def test_refuses_useless_requests():
    with pytest.raises(InputRefused, match="no samples"):
        calibrate(Fake(), iter([]), ["t"])
    with pytest.raises(InputRefused, match="percentile"):
        check_method("percentile", 40.0)
    with pytest.raises(InputRefused, match="unknown method"):
        check_method("guess", 99.9)


@pytest.mark.parametrize("method", METHODS)
def test_every_tensor_of_a_real_model(shared, method):
    model = onnx.load(shared / "models" / "t_digits_resnet__legacy_op13.onnx")
    names = [output for node in model.graph.node for output in node.output]
    session = FloatSession(model, names)
    images = np.load(shared / "data" / "digits.npz")["x_train"][:40]
    samples = [{model.graph.input[0].name: image[None]} for image in images]
    runs = [session.run(sample) for sample in samples]
    for name, found in calibrate(session, samples, names, method).items():
        low = min(0.0, *(float(run[name].min()) for run in runs))
        high = max(0.0, *(float(run[name].max()) for run in runs))
        assert low <= found.low <= 0.0 <= found.high <= high
        assert found.high - found.low > 0.5 * (high - low)
        if method == "minmax":
            assert found == Range(low, high)
