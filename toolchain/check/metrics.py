"""How close two sets of outputs are; arrays are [N, ...], the first axis counting samples."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]


def sqnr_db(reference: Array, value: Array) -> float:
    """Signal to quantisation noise over all samples and elements, in dB.

    10 log10(sum ref^2 / sum (ref - x)^2): infinite when there is no noise, minus infinite when
    there is noise and no signal.
    """
    ref = reference.astype(np.float64)
    return ratio_db(float(np.sum(ref**2)), float(np.sum((ref - value.astype(np.float64)) ** 2)))


def ratio_db(signal: float, noise: float) -> float:
    """10 log10(signal / noise), with the limits where one of them is zero; 0 / 0 is no noise."""
    if noise == 0.0:
        return float("inf")
    if signal == 0.0:
        return float("-inf")
    return float(10.0 * (np.log10(signal) - np.log10(noise)))


def cosine(reference: Array, value: Array) -> float:
    """sum(ref x) / sqrt(sum ref^2 sum x^2) over all samples and elements.

    Two zero arrays are alike, 1.0; one zero array is unlike anything else, 0.0.
    """
    ref, other = (a.astype(np.float64).ravel() for a in (reference, value))
    a, b = float(np.linalg.norm(ref)), float(np.linalg.norm(other))
    if a == 0.0 or b == 0.0:
        return float(a == b)
    return float(np.clip((ref / a) @ (other / b), -1.0, 1.0))


def max_abs_error(reference: Array, value: Array) -> float:
    """Largest |ref - x| over all samples and elements; 0.0 without any."""
    error = np.abs(reference.astype(np.float64) - value.astype(np.float64))
    return float(error.max(initial=0.0))


def comparable(reference: Array, value: Array) -> tuple[Array, Array]:
    """A pair that the figures of this file are about; real values as they are.

    Integers are labels, between which there is no distance: each becomes two scores, 1 and 0 in
    the reference and where the label is the same, 0 and 1 where it is another.
    """
    if not are_labels(reference):
        return reference, value
    equal = (np.rint(value.astype(np.float64)) == reference).reshape(reference.shape)
    same = np.ones_like(equal)
    return np.stack([same, ~same], axis=-1), np.stack([equal, ~equal], axis=-1)


def are_labels(reference: Array) -> bool:
    """Whether the float model's output holds indices of classes instead of real values."""
    return bool(np.issubdtype(reference.dtype, np.integer))


def classes(output: Array, probability: bool = False) -> NDArray[np.int64] | None:
    """Class of each sample, or None where the output does not name one.

    A vector, one axis beside the samples' longer than 1: the index of the largest element, the
    first of equal ones. A single element: whether it is at least 0.5, if it is a `probability`.
    """
    flat = output.astype(np.float64).reshape(output.shape[0], -1)
    if flat.shape[1] == 1:
        return (flat[:, 0] >= 0.5).astype(np.int64) if probability else None
    if max(output.shape[1:], default=0) != flat.shape[1]:
        return None
    best: NDArray[np.int64] = np.argmax(flat, axis=1)
    return best


def is_probability(reference: Array) -> bool:
    """Whether all values are in 0..1, as the sigmoid of a two-class model gives them."""
    values = reference.astype(np.float64)
    return bool(np.all((values >= 0) & (values <= 1)))


def agreement(reference: Array, value: Array) -> float | None:
    """Share of samples (0..1) with the same class; None when the output names no class."""
    probability = is_probability(reference)
    a, b = classes(reference, probability), classes(value, probability)
    return None if a is None or b is None or not a.size else float(np.mean(a == b))


def accuracy(output: Array, labels: NDArray[np.int64], probability: bool = False) -> float | None:
    """Share of samples (0..1) whose class is the label; None when the output names no class."""
    found = classes(output, probability)
    return None if found is None or not found.size else float(np.mean(found == labels))
