"""Two judgements: is the code right (bytes), and is the quantisation good (gates)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolchain.check.metrics import (
    accuracy,
    agreement,
    are_labels,
    classes,
    comparable,
    cosine,
    is_probability,
    max_abs_error,
    sqnr_db,
)
from toolchain.errors import InputRefused

Array = NDArray[np.generic]
Outputs = Mapping[str, Array]

DEFAULT_MAX_DROP = 0.01
DEFAULT_MIN_COSINE = 0.98
_ROUNDING = 1e-9  # of accuracies, so that a drop of exactly what is allowed passes


@dataclass(frozen=True, slots=True)
class Gates:
    """What the integer model has to reach; with none set, defaults apply.

    Defaults: with labels an accuracy at most 0.01 (one point) below the float model's, without
    them, or where the output names no class, a cosine of at least 0.98.

    Args:
        min_agreement: Share of samples, 0..1, with the float model's class.
        min_sqnr: SQNR of the outputs in dB.
        max_drop: Accuracy the integer model may lose, as a share: 0.01 is one point.
    """

    min_agreement: float | None = None
    min_sqnr: float | None = None
    max_drop: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was measured; None is unknown.

    Args:
        bit_exact: Firmware and integer model gave the same bytes.
        max_abs_error: Largest distance of an output value from the float model's.
        sqnr_db: SQNR of the worst output, in dB; infinite when there is no error.
        cosine: Cosine of the worst output.
        agreement: Share of samples with the float model's class.
        accuracy_float: Share of samples the float model classifies as labelled.
        accuracy_int8: The same of the integer model.
        accuracy_coded: The same of the float model's outputs, rounded to the codes of the integer
            model's.
        worst_layers: (layer, SQNR in dB), the worst first.
        passed: Bytes and gates hold.
        reasons: What does not, a sentence each.
    """

    bit_exact: bool | None
    max_abs_error: float
    sqnr_db: float
    cosine: float
    agreement: float | None
    accuracy_float: float | None
    accuracy_int8: float | None
    accuracy_coded: float | None
    worst_layers: tuple[tuple[str, float], ...]
    passed: bool
    reasons: tuple[str, ...]

    def explained(self, cause: str) -> "Comparison":
        """The same with one more sentence to the first reason."""
        first, *rest = self.reasons
        return replace(self, reasons=(f"{first}; {cause}", *rest))


def judge(
    reference: Outputs,
    outputs: Outputs,
    *,
    codes: Outputs | None = None,
    coded: Outputs | None = None,
    firmware: Outputs | None = None,
    labels: NDArray[np.int64] | None = None,
    gates: Gates | None = None,
    worst_layers: Sequence[tuple[str, float]] = (),
) -> Comparison:
    """Compare the three: float model, integer model, firmware.

    Classes are taken from the first output that names one.

    Args:
        reference: Float outputs [N, ...] by name, at least those of `outputs`; integers are labels.
        outputs: The integer model's outputs, dequantised, in the same layout.
        codes: The integer model's outputs as int8 codes.
        coded: The float outputs rounded to such codes, and dequantised.
        firmware: The firmware's outputs as int8 codes; None if it was not run.
        labels: Class of each sample [N].
        gates: What to require.
        worst_layers: (layer, SQNR in dB) to name when a gate fails, the worst first.

    Returns:
        The figures and the verdict.

    Raises:
        InputRefused: A label is none of the classes, or a gate is about classes or labels that
            there are not.
    """
    gates = gates or Gates()
    pairs = [comparable(reference[name], value) for name, value in outputs.items()]
    agreements = zip(outputs, (agreement(*pair) for pair in pairs), strict=True)
    naming, reached = next((found for found in agreements if found[1] is not None), ("", None))
    _require_known(gates, labels, classes_known=reached is not None)
    rounded = None if coded is None or reached is None else coded[naming]
    accuracies = (
        _NO_LABELS
        if reached is None or labels is None
        else _accuracies(reference[naming], outputs[naming], rounded, labels)
    )
    differing = None if firmware is None or codes is None else _differing(codes, firmware)
    sqnr = min(sqnr_db(*pair) for pair in pairs)
    alike, least = min((cosine(*pair), name) for name, pair in zip(outputs, pairs, strict=True))
    unlike = _unlike(alike, labels=are_labels(reference[least]))
    failed = _failed(gates, sqnr, unlike, reached, accuracies)
    if failed and worst_layers:
        named = ", ".join(f"{layer} ({db:.1f} dB)" for layer, db in worst_layers)
        failed = [f"{reason}; worst layers: {named}" for reason in failed]
    if differing:
        failed = [f"the firmware differs from the integer model: {differing}", *failed]
    return Comparison(
        bit_exact=None if differing is None else not differing,
        max_abs_error=max(max_abs_error(*pair) for pair in pairs),
        sqnr_db=sqnr,
        cosine=alike,
        agreement=reached,
        accuracy_float=accuracies.exact,
        accuracy_int8=accuracies.integer,
        accuracy_coded=accuracies.coded,
        worst_layers=tuple(worst_layers),
        passed=not failed,
        reasons=tuple(failed),
    )


class _Accuracies(NamedTuple):
    """Of the float model, of the integer model, and of the float outputs in its codes."""

    exact: float | None
    integer: float | None
    coded: float | None


_NO_LABELS = _Accuracies(None, None, None)


def _accuracies(
    reference: Array, value: Array, coded: Array | None, labels: NDArray[np.int64]
) -> _Accuracies:
    if are_labels(reference):
        before, after = (np.rint(v.astype(np.float64)).ravel() for v in (reference, value))
        if before.shape != labels.shape:
            return _NO_LABELS
        return _Accuracies(float(np.mean(before == labels)), float(np.mean(after == labels)), None)
    probability = is_probability(reference)
    if classes(reference, probability) is None:
        return _NO_LABELS
    _require_classes(labels, max(2, reference[0].size))
    return _Accuracies(
        accuracy(reference, labels, probability),
        accuracy(value, labels, probability),
        None if coded is None else accuracy(coded, labels, probability),
    )


def require_judgeable(
    gates: Gates | None, labels: NDArray[np.int64] | None, shapes: Sequence[tuple[int, ...]]
) -> None:
    """Refuse labels and gates that the outputs cannot be judged by, before anything is computed.

    Args:
        gates: What to require.
        labels: Class of each sample [N], if there are any.
        shapes: Shapes [1, ...] of the outputs; of the first one a vector of scores says how many
            classes there are.

    Raises:
        InputRefused: A label is none of them, or a gate is about classes or labels that there are
            not.
    """
    vectors = [prod(shape[1:]) == max(shape[1:], default=1) for shape in shapes]
    _require_known(gates or Gates(), labels, classes_known=any(vectors))
    scores = max(shapes[0][1:], default=0)
    if labels is not None and scores > 1 and prod(shapes[0]) == scores:
        _require_classes(labels, scores)


def _require_known(gates: Gates, labels: NDArray[np.int64] | None, *, classes_known: bool) -> None:
    """Refuse gates about classes that no output names, or about labels that are not given."""
    if gates.max_drop is None and gates.min_agreement is None:
        return
    asked = "--min-agreement" if gates.max_drop is None else "--max-drop"
    if not classes_known:
        raise InputRefused(
            "compare",
            asked,
            "no output names a class: none is a vector of scores, a label or one probability",
            "judge the values of the outputs with --min-sqnr",
        )
    if gates.max_drop is not None and labels is None:
        raise InputRefused(
            "compare",
            asked,
            "the data have no labels, so no accuracy is known",
            "add an array `labels` to the .npz, the class number of each sample; "
            "--min-agreement needs none",
        )


def _require_classes(labels: NDArray[np.int64], count: int) -> None:
    """Refuse labels that are none of `count` classes: no accuracy would mean anything."""
    outside = np.flatnonzero((labels < 0) | (labels >= count))
    if outside.size:
        raise InputRefused(
            "compare",
            "",
            f"label {labels[outside[0]]} of sample {outside[0]} is none of the model's {count} "
            f"classes, 0 to {count - 1}",
            "number the classes as the model's outputs are, from 0",
        )


def _differing(codes: Outputs, firmware: Outputs) -> str:
    """Where the firmware's bytes are not the integer model's; empty when they are equal."""
    found = []
    for name, code in codes.items():
        ours, theirs = code.ravel(), firmware[name].ravel() if name in firmware else None
        if theirs is None:
            found.append(f"output {name} is missing")
        elif ours.dtype != theirs.dtype or ours.size != theirs.size:
            found.append(
                f"output {name} is {ours.size} {ours.dtype}, found {theirs.size} {theirs.dtype}"
            )
        elif count := int(np.count_nonzero(ours != theirs)):
            found.append(f"{count} of {ours.size} values of output {name}")
    return ", ".join(found)


def _unlike(alike: float, *, labels: bool) -> str:
    """The sentence of the default gate; empty where it holds. Of labels the cosine is a share."""
    if alike >= DEFAULT_MIN_COSINE:
        return ""
    if labels:
        return f"share of equal labels {alike:.2%} is below {DEFAULT_MIN_COSINE:.2%}"
    return f"cosine {alike:.4f} is below {DEFAULT_MIN_COSINE}"


def _failed(
    gates: Gates,
    sqnr: float,
    unlike: str,
    reached: float | None,
    accuracies: _Accuracies,
) -> list[str]:
    """A sentence for each gate that does not hold; comparisons are such that NaN fails."""
    max_drop = gates.max_drop
    failed = []
    if gates == Gates():
        if accuracies.exact is not None:
            max_drop = DEFAULT_MAX_DROP
        elif unlike:
            failed.append(unlike)
    if max_drop is not None:
        failed += _drop(max_drop, accuracies)
    if gates.min_agreement is not None:
        assert reached is not None
        if not reached >= gates.min_agreement - _ROUNDING:
            failed.append(f"agreement {reached:.2%} is below {gates.min_agreement:.2%}")
    if gates.min_sqnr is not None and not sqnr >= gates.min_sqnr:
        failed.append(f"SQNR {sqnr:.1f} dB is below {gates.min_sqnr:.1f} dB")
    return failed


def _drop(allowed: float, accuracies: _Accuracies) -> list[str]:
    """The gate on accuracy."""
    before, after, coded = accuracies
    assert before is not None
    assert after is not None
    if before - after <= allowed + _ROUNDING:
        return []
    lost = f"{100 * (before - after):.2f} points, {100 * allowed:.2f} allowed"
    reason = f"accuracy falls from {before:.2%} to {after:.2%} ({lost})"
    if coded is not None and before - coded > allowed + _ROUNDING:
        reason += (
            f"; the float model's own outputs, rounded to the codes of the output, reach "
            f"{coded:.2%}: it needs finer ones (--int16 with the last layer)"
        )
    return [reason]
