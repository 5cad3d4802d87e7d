import dataclasses

import numpy as np
import pytest

from toolchain.check.compare import Gates, judge, require_judgeable
from toolchain.errors import InputRefused

N = 200
RNG = np.random.default_rng(0)
FLOAT = RNG.normal(size=(N, 4))
LABELS = np.argmax(FLOAT, axis=1)  # the float model is right everywhere
CODES = RNG.integers(-128, 128, (N, 4), dtype=np.int8)
LAYERS = [("conv3", 7.25), ("fc", 19.0)]


def wrong(samples):
    """The float outputs with the class of the first samples changed."""
    value = FLOAT.copy()
    value[:samples] = np.roll(value[:samples], 1, axis=1)
    return value


def run(value, **options):
    return judge({"y": FLOAT, "unused": FLOAT[:, :1]}, {"y": value}, **options)


def test_perfect_and_unknown():
    result = run(FLOAT)
    assert result.passed
    assert result.reasons == ()
    assert (result.sqnr_db, result.max_abs_error, result.agreement) == (np.inf, 0.0, 1.0)
    assert result.cosine == pytest.approx(1.0)
    assert (result.bit_exact, result.accuracy_float, result.accuracy_int8) == (None, None, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.passed = False


@pytest.mark.parametrize(("samples", "passed"), [(2, True), (3, False)])
def test_default_gate_with_labels_is_one_point(samples, passed):
    result = run(wrong(samples), labels=LABELS, worst_layers=LAYERS)
    assert result.passed is passed
    assert result.accuracy_float == 1.0
    assert result.accuracy_int8 == pytest.approx(1 - samples / N)
    assert result.worst_layers == tuple(LAYERS)
    if not passed:
        (reason,) = result.reasons
        assert "from 100.00% to 98.50% (1.50 points, 1.00 allowed)" in reason
        assert "worst layers: conv3 (7.2 dB), fc (19.0 dB)" in reason


@pytest.mark.parametrize(("samples", "lost"), [(2, False), (3, True)])
def test_what_the_codes_of_the_output_lose_is_told(samples, lost):
    result = run(wrong(4), labels=LABELS, coded={"y": wrong(samples)})
    assert result.accuracy_coded == pytest.approx(1 - samples / N)
    (reason,) = result.reasons
    told = "rounded to the codes of the output, reach 98.50%: it needs finer ones (--int16"
    assert (told in reason) is lost
    assert run(FLOAT, coded={"y": FLOAT}).accuracy_coded is None


def test_an_improvement_passes():
    assert judge({"y": wrong(9)}, {"y": FLOAT}, labels=LABELS).passed


def test_default_gate_without_labels_is_the_cosine():
    noise = RNG.normal(size=FLOAT.shape)
    assert run(FLOAT + 0.1 * noise).passed
    result = run(FLOAT + 0.5 * noise)
    assert not result.passed
    assert "cosine 0." in result.reasons[0]


def test_where_the_outputs_are_labels_the_default_gate_is_the_share_of_equal_ones():
    label = np.arange(N).reshape(N, 1)
    other = label + (label % 4 == 0)
    result = judge({"y": label}, {"y": other.astype(np.float32)})
    assert result.reasons == ("share of equal labels 75.00% is below 98.00%",)
    assert judge({"y": label}, {"y": label.astype(np.float32)}).passed
    scores = judge({"y": label, "s": FLOAT}, {"y": label, "s": -FLOAT})
    assert "cosine -1.0000 is below 0.98" in scores.reasons[0]


def test_labels_without_classes_fall_back_to_the_cosine():
    image = RNG.normal(size=(N, 3, 3))
    result = judge({"y": image}, {"y": -image}, labels=LABELS)
    assert (result.agreement, result.accuracy_float, result.accuracy_int8) == (None, None, None)
    assert "cosine" in result.reasons[0]


@pytest.mark.parametrize(
    ("gates", "text"),
    [
        (Gates(min_agreement=0.99), "agreement 98.50% is below 99.00%"),
        (Gates(min_sqnr=90.0), "dB is below 90.0 dB"),
        (Gates(max_drop=0.014), "1.50 points, 1.40 allowed"),
    ],
)
def test_gates_that_fail(gates, text):
    result = run(wrong(3), labels=LABELS, gates=gates)
    assert not result.passed
    assert len(result.reasons) == 1
    assert text in result.reasons[0]


@pytest.mark.parametrize(
    "gates", [Gates(min_agreement=0.985), Gates(min_sqnr=1.0), Gates(max_drop=0.015)]
)
def test_gates_that_hold_replace_the_defaults(gates):
    assert run(wrong(3), labels=LABELS, gates=gates).passed


def test_all_failed_gates_are_named():
    result = run(wrong(50), labels=LABELS, gates=Gates(1.0, 90.0, 0.0))
    assert len(result.reasons) == 3


IMAGE = RNG.normal(size=(N, 3, 3))


@pytest.mark.parametrize(
    ("value", "labels", "gates", "parts"),
    [
        (FLOAT, None, Gates(max_drop=0.5), ["--max-drop: the data have no labels", "`labels`"]),
        (IMAGE, LABELS, Gates(max_drop=0.5), ["--max-drop: no output names a class", "--min-sqnr"]),
        (IMAGE, None, Gates(max_drop=0.5), ["--max-drop: no output names a class"]),
        (IMAGE, None, Gates(min_agreement=0.5), ["--min-agreement: no output names a class"]),
    ],
)
def test_gates_that_cannot_be_judged_are_faults_of_the_input(value, labels, gates, parts):
    """Early by the shapes alone, late by the values; never with the layers that are worst."""
    shape = (1, *value.shape[1:])
    for judged in (
        lambda: require_judgeable(gates, labels, [shape]),
        lambda: judge({"y": value}, {"y": value}, labels=labels, gates=gates, worst_layers=LAYERS),
    ):
        with pytest.raises(InputRefused) as refused:
            judged()
        told = f"{refused.value}; {refused.value.hint}"
        assert all(part in told for part in parts)
        assert "conv3" not in told


def test_one_value_names_a_class_only_as_a_probability():
    gates, value = Gates(min_agreement=0.5), 3.0 * FLOAT[:, :1]
    require_judgeable(gates, None, [(1, 3, 3), (1, 1)])  # not known by the shape
    assert judge({"y": value > 0}, {"y": value > 0}, gates=gates).passed
    with pytest.raises(InputRefused, match="no output names a class"):
        judge({"y": value}, {"y": value}, gates=gates)


@pytest.mark.parametrize("gates", [None, Gates(min_sqnr=10.0)])
def test_not_a_number_never_passes(gates):
    value = FLOAT.copy()
    value[0, 0] = np.nan
    assert not run(value, gates=gates).passed


def changed():
    other = CODES.copy()
    other[3, 1] ^= 1
    return other


@pytest.mark.parametrize(
    ("firmware", "text"),
    [
        ({"y": changed()}, "1 of 800 values of output y"),
        ({"y": CODES[:9]}, "output y is 800 int8, found 36 int8"),
        ({"y": CODES.view(np.uint8)}, "found 800 uint8"),
        ({}, "output y is missing"),
    ],
)
def test_firmware_must_give_the_same_bytes(firmware, text):
    result = run(FLOAT, codes={"y": CODES}, firmware=firmware, worst_layers=LAYERS)
    assert result.bit_exact is False
    assert not result.passed
    assert text in result.reasons[0]
    assert "conv3" not in result.reasons[0]


def test_equal_bytes_in_any_shape():
    result = run(FLOAT, codes={"y": CODES}, firmware={"y": CODES.reshape(-1)})
    assert result.bit_exact is True
    assert result.passed


def test_the_worst_of_several_outputs_counts():
    box = RNG.normal(size=(N, 2, 2))
    result = judge({"y": FLOAT, "box": box}, {"box": -box, "y": FLOAT})
    assert result.cosine == pytest.approx(-1.0)
    assert result.agreement == 1.0
    assert not result.passed
