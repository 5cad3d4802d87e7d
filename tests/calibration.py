"""Ranges by one method for all tensors, without a search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from toolchain.ir import Array, Graph, Origin
from toolchain.quant.calibrate import observe
from toolchain.quant.quantize import free_tensors
from toolchain.quant.ranges import Method, Range, choose_range


def calibrate(
    session: Any,
    samples: Iterable[Mapping[str, Array]],
    tensors: Sequence[str],
    method: Method = "minmax",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Range]:
    """Range of each ONNX tensor over the samples."""
    seen = observe(session, samples, {name: (Origin(name), None) for name in tensors}, progress)
    return {name: choose_range(profile.histogram, method) for name, profile in seen.items()}


def calibrated_tensors(graph: Graph) -> tuple[str, ...]:
    """ONNX tensors whose ranges quantize() needs."""
    return tuple(dict.fromkeys(graph.origins[name].tensor for name in free_tensors(graph)))
