"""Float outputs of the original model, and how far each layer is from them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from toolchain.check.metrics import comparable, ratio_db
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
        """Take one sample of a layer into account.

        Args:
            name: Layer.
            reference: Float values, or labels.
            value: Dequantised values of as many elements, in the same order.
        """
        reference, value = comparable(reference, value)
        ref = reference.astype(np.float64).ravel()
        noise = ref - value.astype(np.float64).ravel()
        before = self._sums.get(name, (0.0, 0.0))
        self._sums[name] = (before[0] + float(ref @ ref), before[1] + float(noise @ noise))

    def sqnr_db(self, name: str) -> float:
        """Signal to noise of one layer over all samples so far, in dB."""
        return ratio_db(*self._sums[name])

    def worst(self, n: int = 3) -> list[tuple[str, float]]:
        """The n layers of lowest SQNR with it, the worst first; equal ones in order of arrival."""
        return sorted(((k, self.sqnr_db(k)) for k in self._sums), key=lambda pair: pair[1])[:n]
