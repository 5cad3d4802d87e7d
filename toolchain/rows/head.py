"""What stands between an input of the model and the image whose rows the caller hands over."""

from dataclasses import dataclass, replace

import numpy as np

from toolchain.ir import HEIGHT, Array, Graph, Op, Types, is_map
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose


@dataclass(frozen=True, slots=True)
class Head:
    """The operators that make an image [1, H, W, C] of an input; the caller's rows are of that.

    Firmware that takes rows does without them: whoever hands over a row has its pixels.

    Args:
        x: The input of the model.
        ops: Views and transposes, in order: none where the input is the image.
    """

    x: str
    ops: tuple[Op, ...] = ()

    @property
    def image(self) -> str:
        """The tensor whose rows are handed over."""
        return self.ops[-1].y if self.ops else self.x

    def pixels(self, types: Types, codes: Array) -> Array:
        """The image of an input: its rows are what the firmware takes, one after the other.

        Args:
            types: Types of the tensors.
            codes: Codes of the input, in its own shape.
        """
        for op in self.ops:
            (codes,) = op.simulate(types, codes)
        return codes

    def strides(self, types: Types) -> tuple[int, int, int] | None:
        """Codes of the input from a row, a pixel, a channel to the next; None if that varies.

        Args:
            types: Types of the tensors.
        """
        kind = types[self.x]
        places = self.pixels(types, np.arange(kind.elements).reshape(kind.shape))[0]
        steps = [int(np.diff(places, axis=axis).max(initial=0)) for axis in range(3)]
        right = sum(n * i for n, i in zip(steps, np.indices(places.shape), strict=True))
        return (steps[0], steps[1], steps[2]) if np.array_equal(places, right) else None


def head_of(graph: Graph) -> Head | None:
    """The way from the only input of a graph to an image; None if there are others, or no image.

    Args:
        graph: A quantised graph of whole tensors.
    """
    if len(graph.inputs) != 1:
        return None
    head = layouts_of(graph, graph.inputs[0])
    kind = graph.types[head.image]
    rows = is_map(kind) and kind.shape[HEIGHT] > 1
    return head if rows and head.strides(graph.types) is not None else None


def layouts_of(graph: Graph, x: str) -> Head:
    """The views and transposes that an input goes through, as far as nobody reads it before.

    Args:
        graph: A quantised graph of whole tensors.
        x: The input.
    """
    head, readers = Head(x), graph.consumers()
    while head.image not in graph.outputs and len(found := readers.get(head.image, [])) == 1:
        (op,) = found
        if not isinstance(op, Reshape | Transpose):
            break
        head = Head(x, (*head.ops, op))
    return head


def without_head(graph: Graph, head: Head) -> Graph:
    """The graph that takes the image itself; all types stay.

    Args:
        graph: Operators in the order they run.
        head: What the caller does.
    """
    ops = tuple(op for op in graph.ops if op not in head.ops)
    return replace(graph, ops=ops, inputs=(head.image,))
