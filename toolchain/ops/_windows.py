"""Sliding windows: geometry by the ONNX specification, and exact sums over the taps."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from toolchain.ir import HEIGHT, Array, Constants, Node, Op, RowCall, Types, Unsupported, is_map

Pair = tuple[int, int]
Pads = tuple[int, int, int, int]
"""(top, left, bottom, right)"""


@dataclass(frozen=True, slots=True)
class Window:
    """A 2-D window over [N, H, W, C].

    Args:
        kernel: (height, width).
        stride: Step (down, right).
        pads: Rows and columns added (top, left, bottom, right).
        dilation: Distance of taps (down, right).
    """

    kernel: Pair
    stride: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    dilation: Pair = (1, 1)

    @property
    def geometry(self) -> tuple[Pair, Pair, Pair]:
        """(stride, padding before, dilation), as CMSIS-NN is told."""
        return self.stride, self.pads[:2], self.dilation

    @property
    def attributes(self) -> Mapping[str, Any]:
        """As the attributes of an ONNX node."""
        return {
            "kernel_shape": self.kernel,
            "strides": self.stride,
            "pads": self.pads,
            "dilations": self.dilation,
        }

    def output(self, size: Pair) -> Pair:
        """Output (height, width) for an input of `size`."""
        height, width = (
            (
                size[i]
                + self.pads[i]
                + self.pads[i + 2]
                - self.dilation[i] * (self.kernel[i] - 1)
                - 1
            )
            // self.stride[i]
            + 1
            for i in (0, 1)
        )
        return height, width

    def rows(self, row: int, height: int, count: int = 1) -> tuple[int, int, "Window"]:
        """What an output row, or several from it on, read of an input of so many rows.

        Returns:
            The first row inside the input, the number of rows inside, and the window over just
            these: it has the padding that is left above and below.
        """
        top, left, _, right = self.pads
        start = row * self.stride[0] - top
        extent = (count - 1) * self.stride[0] + self.dilation[0] * (self.kernel[0] - 1) + 1
        first, stop = max(start, 0), min(start + extent, height)
        pads = (first - start, left, start + extent - stop, right)
        return first, stop - first, replace(self, pads=pads)

    def taps(self, x: Array, fill: float) -> Iterator[tuple[int, int, Array]]:
        """(row, column, values [N, OH, OW, C]) of every tap; outside the image reads `fill`."""
        top, left, bottom, right = self.pads
        padded = np.pad(
            x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=x.dtype.type(fill)
        )
        (oh, ow), (sh, sw), (dh, dw) = self.output(x.shape[1:3]), self.stride, self.dilation
        for ky in range(self.kernel[0]):
            for kx in range(self.kernel[1]):
                y0, x0 = ky * dh, kx * dw
                rows = slice(y0, y0 + sh * (oh - 1) + 1, sh)
                columns = slice(x0, x0 + sw * (ow - 1) + 1, sw)
                yield ky, kx, padded[:, rows, columns]

    def counts(self, size: Pair) -> Array:
        """How many taps of each output position lie inside the image, int64 [OH, OW]."""
        inside = np.ones((1, *size, 1), np.int64)
        total = sum(values for _, _, values in self.taps(inside, 0))
        return np.asarray(total)[0, :, :, 0]


class Windowed(Op):
    """An operator with a window over input 0; mixed into what it computes."""

    __slots__ = ()

    window: Window

    def row(
        self,
        types: Types,
        constants: Constants,  # noqa: ARG002
        row: int,
        count: int = 1,
    ) -> RowCall | None:
        """From the rows under the window; None where there is nothing but padding."""
        if not is_map(types[self.x]):
            return None
        height = types[self.x].shape[HEIGHT]
        if any(self.window.rows(i, height)[1] < 1 for i in (row, row + count - 1)):
            return None
        first, read, window = self.window.rows(row, height, count)
        whole: Any = self
        return RowCall(replace(whole, window=window), {self.x: (first, read)}, (row, count))


def import_window(node: Node, size: tuple[int, ...], kernel: tuple[int, ...]) -> Window:
    """The window of a Conv or pool node over a 1-D or 2-D input (R17: every auto_pad form).

    Args:
        node: Its strides, dilations, pads, auto_pad and ceil_mode are read.
        size: Spatial input size, (L,) or (H, W).
        kernel: Kernel size of the same rank.
    """
    rank = len(size)
    kernel = positive("kernel", kernel, rank)
    stride = positive("strides", node.attribute("strides", (1,) * rank), rank)
    dilation = positive("dilations", node.attribute("dilations", (1,) * rank), rank)
    extent = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    begin, end = _pads(node, size, stride, extent)
    if node.attribute("ceil_mode", 0):
        end = _ceil_pads(size, stride, extent, begin, end)
    if min((*begin, *end)) < 0:
        raise Unsupported("negative pads", "use Slice to crop")
    if rank == 1:
        stride, dilation, kernel = (1, *stride), (1, *dilation), (1, *kernel)
        begin, end = [0, *begin], [0, *end]
    window = Window(
        _pair(kernel), _pair(stride), (begin[0], begin[1], end[0], end[1]), _pair(dilation)
    )
    if min(window.output((size[0], size[1]) if rank == 2 else (1, size[0]))) < 1:
        raise Unsupported("the kernel is larger than its padded input")
    return window


def positive(what: str, values: Iterable[int], rank: int) -> tuple[int, ...]:
    """One integer >= 1 per spatial dimension.

    Raises:
        Unsupported: There are more or fewer, or one is below 1.
    """
    checked = tuple(int(v) for v in values)
    if len(checked) != rank or min(checked, default=1) < 1:
        raise Unsupported(f"{what} {checked} over {rank} spatial dimensions")
    return checked


def refuse_windows_of_padding(window: Window) -> None:
    """Refuse a pool that may average, or take the maximum of, nothing but padding.

    Raises:
        Unsupported: A declared pad is as large as the kernel.
    """
    if any(p >= k for p, k in zip(window.pads, window.kernel * 2, strict=True)):
        raise Unsupported(
            f"pads {window.pads} as large as the kernel {window.kernel}",
            "a pad must be smaller than the kernel",
        )


def _pair(values: tuple[int, ...]) -> Pair:
    first, second = values
    return int(first), int(second)


def _pads(
    node: Node, size: tuple[int, ...], stride: tuple[int, ...], extent: list[int]
) -> tuple[list[int], list[int]]:
    rank = len(size)
    mode = node.attribute("auto_pad", "NOTSET")
    if mode == "VALID":
        return [0] * rank, [0] * rank
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        total = [
            max((-(-n // s) - 1) * s + e - n, 0)
            for n, s, e in zip(size, stride, extent, strict=True)
        ]
        small, large = [t // 2 for t in total], [t - t // 2 for t in total]
        return (small, large) if mode == "SAME_UPPER" else (large, small)
    if mode != "NOTSET":
        raise Unsupported(f"auto_pad {mode!r}")
    pads = [int(p) for p in node.attribute("pads", (0,) * (2 * rank))]
    if len(pads) != 2 * rank:
        raise Unsupported(f"pads {tuple(pads)} over {rank} spatial dimensions")
    return pads[:rank], pads[rank:]


def _ceil_pads(
    size: tuple[int, ...],
    stride: tuple[int, ...],
    extent: list[int],
    begin: list[int],
    end: list[int],
) -> list[int]:
    """End pads that make floor division give what ceil_mode asks for.

    A window that would start in the end padding is dropped, as the specification says since
    opset 22 and all run-times do.
    """
    grown = []
    for n, s, e, b, t in zip(size, stride, extent, begin, end, strict=True):
        steps = -(-(n + b + t - e) // s)
        if steps * s >= n + b:
            steps -= 1
        grown.append(max(t, steps * s + e - n - b))
    return grown
