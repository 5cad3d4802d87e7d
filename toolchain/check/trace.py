"""Where firmware and integer model part: the first layer, the first index, both values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from toolchain.ir import Array, Graph
from toolchain.ir.execute import simulate


@dataclass(frozen=True, slots=True)
class Difference:
    """The first value that differs.

    Args:
        sample: Index of the sample.
        layer: Name of the layer.
        tensor: Tensor it writes.
        index: Position in the tensor.
        firmware: What the firmware stored there.
        expected: What the integer model says.
        count: How many values of the tensor differ.
    """

    sample: int
    layer: str
    tensor: str
    index: tuple[int, ...]
    firmware: int
    expected: int
    count: int

    def __str__(self) -> str:
        return (
            f"sample {self.sample}, layer {self.layer}, {self.tensor}{list(self.index)}: firmware "
            f"{self.firmware}, integer model {self.expected}; {self.count} wrong in that layer"
        )


def first_sample(expected: Mapping[str, Array], firmware: Mapping[str, Array]) -> int:
    """The first sample of which an output differs; there must be one.

    Args:
        expected: Output codes [N, ...] of the integer model.
        firmware: Those of the firmware.
    """
    return min(
        int(wrong[0])
        for y, codes in expected.items()
        if len(wrong := np.flatnonzero((codes != firmware[y]).reshape(len(codes), -1).any(axis=1)))
    )


def first_difference(
    graph: Graph, sample: int, codes: Mapping[str, Array], layers: Sequence[bytes]
) -> Difference | None:
    """The first layer whose output is not the integer model's, and where.

    Args:
        graph: The integer graph, in the order the layers run.
        sample: Index of the sample, for the message.
        codes: Input codes of the sample.
        layers: Output bytes of every layer that computes, as dumped by the firmware.
    """
    values = simulate(graph, dict(codes))
    ops = [op for op in graph.ops if not op.is_view]
    for op, dump in zip(ops, layers, strict=True):
        if not dump:
            continue  # it runs row by row: its output never exists whole
        start = 0
        for y in op.outputs:
            kind = graph.types[y]
            got = np.frombuffer(dump[start : start + kind.nbytes], kind.dtype.value).reshape(
                kind.shape
            )
            start += kind.nbytes
            where = np.argwhere(got != values[y])
            if len(where):
                at = tuple(int(i) for i in where[0])
                found = int(got[at]), int(values[y][at])
                return Difference(sample, op.name, y, at, *found, len(where))
    return None
