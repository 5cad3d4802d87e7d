"""Float outputs of the original model, and how far each layer is from them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from toolchain.check.metrics import are_labels, ratio_db
from toolchain.frontend.session import FloatSession

Array = NDArray[np.generic]


def float_outputs(
    session: FloatSession, samples: Iterable[Mapping[str, Array]], names: Sequence[str]
) -> Iterator[dict[str, Array]]:
    """Values [1, ...] of the named tensors, sample after sample."""
    for sample in samples:
        values = session.run(sample)
        yield {name: values[name] for name in names}


def stack(outputs: Iterable[Mapping[str, Array]]) -> dict[str, Array]:
    """Per-sample values [1, ...] as one array [N, ...] for each name."""
    columns: dict[str, list[Array]] = {}
    for output in outputs:
        for name, value in output.items():
            columns.setdefault(name, []).append(value)
    return {name: np.concatenate(values) for name, values in columns.items()}


class LayerErrors:
    """Signal and noise energy of each layer, added up sample by sample."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, float]] = {}

    def update(self, name: str, reference: Array, value: Array) -> None:
        """Take one sample of a layer into account; labels have no errors, for they are no values.

        Args:
            name: Layer.
            reference: Float values, or labels.
            value: Dequantised values of as many elements, in the same order.
        """
        if are_labels(reference):
            return
        ref = reference.astype(np.float64).ravel()
        noise = ref - value.astype(np.float64).ravel()
        before = self._sums.get(name, (0.0, 0.0))
        self._sums[name] = (before[0] + float(ref @ ref), before[1] + float(noise @ noise))

    def sqnr_db(self, name: str) -> float | None:
        """Signal to noise of one layer over all samples so far, in dB; None of labels."""
        return ratio_db(*self._sums[name]) if name in self._sums else None

    def worst(self, n: int = 3) -> list[tuple[str, float]]:
        """The n layers of lowest SQNR with it, the worst first; equal ones in order of arrival."""
        found = ((name, ratio_db(*sums)) for name, sums in self._sums.items())
        return sorted(found, key=lambda pair: pair[1])[:n]
