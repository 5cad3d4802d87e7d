"""Many samples at a time: the same values as in execute.py, in a fraction of the time.

Here an activation is an array [N, *shape] of N samples; constants are as they are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np

from toolchain.ir.graph import Graph
from toolchain.ir.op import Array, Op

_ELEMENTS = 1 << 18
"""Output elements computed at once: more would only wander out of the caches."""
_CODES = 1 << 22
_SAMPLES = 16

Sample = TypeVar("Sample")


def evaluate_op(graph: Graph, op: Op, values: Mapping[str, Array]) -> tuple[Array, ...]:
    """Float outputs of one operator for N samples.

    Args:
        graph: Float graph.
        op: One of its operators.
        values: Activations [N, *shape] and constants.
    """
    return _step(graph, op, values, op.evaluate)


def simulate_op(graph: Graph, op: Op, values: Mapping[str, Array]) -> tuple[Array, ...]:
    """Output codes of one operator for N samples, those of the integer model bit by bit.

    Args:
        graph: Quantised graph.
        op: One of its operators.
        values: Codes of activations [N, *shape] and constants.
    """
    return _step(graph, op, values, partial(op.simulate, graph.types))


def simulate_batch(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Every activation's codes [N, *shape] in the integer model, bit by bit.

    Args:
        graph: Quantised graph.
        inputs: int8 codes [N, *shape] of its inputs.
    """
    values: dict[str, Array] = {**graph.constants, **inputs}
    for op in graph.ops:
        values.update(zip(op.outputs, simulate_op(graph, op, values), strict=True))
    return {name: value for name, value in values.items() if name not in graph.constants}


def simulate_each(
    graph: Graph, samples: Iterable[Sample], codes: Callable[[Sample], Mapping[str, Array]]
) -> Iterator[tuple[Sample, dict[str, Array]]]:
    """Samples with the codes of every activation, as `simulate` gives them one by one.

    So many samples are simulated at once as fit in some megabytes.

    Args:
        graph: Quantised graph.
        samples: Whatever the codes come from.
        codes: int8 arrays of the inputs' shapes for a sample.
    """
    names = [*graph.inputs, *(y for op in graph.ops for y in op.outputs)]
    size = max(1, min(_SAMPLES, _CODES // sum(graph.types[n].elements for n in names)))
    stream = iter(samples)
    while chunk := list(islice(stream, size)):
        columns = [codes(sample) for sample in chunk]
        values = simulate_batch(graph, {x: np.stack([c[x] for c in columns]) for x in graph.inputs})
        for index, sample in enumerate(chunk):
            yield sample, {name: value[index] for name, value in values.items()}


def last_uses(graph: Graph) -> Iterator[tuple[Op, list[str]]]:
    """Every operator with the activations that nobody reads after it."""
    last = {n: i for i, op in enumerate(graph.ops) for n in (*op.inputs, *op.outputs)}
    for i, op in enumerate(graph.ops):
        names = dict.fromkeys((*op.inputs, *op.outputs))
        kept = {*graph.constants, *graph.outputs}
        yield op, [n for n in names if last[n] == i and n not in kept]


def _step(
    graph: Graph,
    op: Op,
    values: Mapping[str, Array],
    compute: Callable[..., tuple[Array, ...]],
) -> tuple[Array, ...]:
    read = graph.activations(op)
    count = len(values[read[0]])
    if op.is_view:
        return (values[op.x].reshape(count, *graph.types[op.y].shape),)
    kinds = [graph.types[n] for n in (*read, *op.outputs)]
    together = op.batches and all(
        k.shape[:1] == (1,) and len(k.shape) == len(kinds[-1].shape) for k in kinds
    )
    size = max(1, _ELEMENTS // max(k.elements for k in kinds)) if together else 1
    parts = []
    for start in range(0, count, size):
        chunk = slice(start, min(start + size, count))
        operands = [
            values[x] if x in graph.constants else _samples(values[x][chunk], graph.types[x].shape)
            for x in op.inputs
        ]
        parts.append(compute(*operands))
    return tuple(
        np.concatenate([part[i] for part in parts]).reshape(count, *graph.types[y].shape)
        for i, y in enumerate(op.outputs)
    )


def _samples(values: Array, shape: tuple[int, ...]) -> Array:
    """Samples [n, *shape] joined along axis 0 of `shape`, which is 1 when there are several."""
    return values.reshape(len(values) * shape[0], *shape[1:]) if shape else values.reshape(shape)
