"""What an error of one kind does to the outputs of the model, added up sample by sample."""

from collections.abc import Mapping, Sequence

import numpy as np

from toolchain.check.metrics import ratio_db
from toolchain.ir import Array


class Impact:
    """Error of the outputs, and how often the class they name is another.

    Args:
        outputs: Names of the outputs.
    """

    def __init__(self, outputs: Sequence[str]) -> None:
        self._energies = {y: np.zeros(2) for y in outputs}
        self._named = dict.fromkeys(outputs, True)
        self._equal = dict.fromkeys(outputs, 0)
        self._right = dict.fromkeys(outputs, (0, 0))
        self._samples = 0

    def add(
        self, reference: Mapping[str, Array], values: Mapping[str, Array], label: int | None = None
    ) -> None:
        """Take one sample into account.

        Args:
            reference: Float outputs [1, ...].
            values: The outputs with the error.
            label: Class of the sample.
        """
        self._samples += 1
        for y, energies in self._energies.items():
            ref, value = (v[y].astype(np.float64).ravel() for v in (reference, values))
            energies += (ref @ ref, (value - ref) @ (value - ref))
            self._named[y] &= names_class(ref, reference[y].shape)
            if self._named[y]:
                before, after = class_of(ref), class_of(value)
                self._equal[y] += before == after
                right = self._right[y]
                self._right[y] = right[0] + (before == label), right[1] + (after == label)

    @property
    def relative_noise(self) -> float:
        """Noise of the outputs over their signal, summed over the outputs with a signal."""
        return float(sum(n / s for s, n in self._energies.values() if s))

    @property
    def sqnr_db(self) -> float:
        """SQNR of the worst output in dB."""
        return min(ratio_db(float(s), float(n)) for s, n in self._energies.values())

    def _classes(self) -> str | None:
        return next((y for y, named in self._named.items() if named and self._samples), None)

    @property
    def agreement(self) -> float | None:
        """Share of samples of the float model's class, of the first output that names one."""
        y = self._classes()
        return None if y is None else self._equal[y] / self._samples

    @property
    def accuracies(self) -> tuple[float, float] | None:
        """Share of samples classified as labelled: without the error, and with it."""
        y = self._classes()
        if y is None:
            return None
        before, after = self._right[y]
        return before / self._samples, after / self._samples


def names_class(flat: Array, shape: Sequence[int]) -> bool:
    """Whether an output [1, ...] names a class: a vector, or a single probability."""
    if flat.size == 1:
        return bool(0 <= flat[0] <= 1)
    return max(shape[1:], default=0) == flat.size


def class_of(flat: Array) -> int:
    """The class that an output names."""
    return int(flat[0] >= 0.5) if flat.size == 1 else int(np.argmax(flat))
