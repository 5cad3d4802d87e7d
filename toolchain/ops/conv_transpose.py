"""Transposed 2-D convolution with per-channel int8 filters, groups included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    FIRST,
    Array,
    Builder,
    Example,
    Kernel,
    Node,
    Quant,
    Types,
    Unsupported,
    Writer,
    imports,
    register,
)
from toolchain.ir.fixedpoint import activation_codes
from toolchain.ops._examples import clip_bounds, normal, size
from toolchain.ops._layer import LayerOp
from toolchain.ops._layout import from_nhwc, nhwc_output, to_nhwc
from toolchain.ops._windows import Pair, Window, positive


@register
@dataclass(frozen=True, slots=True)
class ConvTranspose2D(LayerOp):
    """Inputs x [N, H, W, I], filter [O, KH, KW, I / G], bias [O]; output [N, OH, OW, O].

    Input cell i meets output i * stride + tap * dilation - pad. The pads of the window are cut off
    the result; a negative one appends rows or columns that hold the bias. The result is clipped to
    [low, high].
    """

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_transpose_conv_s8", "ops/conv_transpose.c.j2", ("glue_transpose_conv_s8.c",)),
    )

    window: Window
    low: float | None = None
    high: float | None = None

    def _extent(self, axis: int, n: int) -> int:
        """Output size along an axis before pads."""
        w = self.window
        return w.stride[axis] * (n - 1) + w.dilation[axis] * (w.kernel[axis] - 1) + 1

    def _size(self, height: int, width: int) -> Pair:
        pads = self.window.pads
        return (
            self._extent(0, height) - pads[0] - pads[2],
            self._extent(1, width) - pads[1] - pads[3],
        )

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """[N, OH, OW, O]."""
        n, height, width, channels = types[self.x].shape
        o, kh, kw, depth = types[self.inputs[1]].shape
        if (kh, kw) != self.window.kernel or channels % depth or o % (channels // depth):
            raise ValueError(
                f"filter {(o, kh, kw, depth)} does not fit input {types[self.x].shape}"
            )
        return ((n, *self._size(height, width), o),)

    def sums(self, x: Array, w: Array) -> Array:
        """Every input cell spread over the output, then the pads cut off."""
        n, height, width, channels = x.shape
        o, kh, kw, depth = w.shape
        groups = channels // depth
        cells = x.reshape(n, height, width, groups, depth).astype(np.float64)
        filters = w.reshape(groups, o // groups, kh, kw, depth).astype(np.float64)
        (sh, sw), (dh, dw), pads = self.window.stride, self.window.dilation, self.window.pads
        oh, ow = self._size(height, width)
        tall, wide = self._extent(0, height), self._extent(1, width)
        full = np.zeros((n, max(tall, oh + pads[0]), max(wide, ow + pads[1]), o))
        for ky in range(kh):
            for kx in range(kw):
                part = np.einsum("nhwgi,goi->nhwgo", cells, filters[:, :, ky, kx])
                rows = slice(ky * dh, ky * dh + sh * (height - 1) + 1, sh)
                columns = slice(kx * dw, kx * dw + sw * (width - 1) + 1, sw)
                full[:, rows, columns] += part.reshape(n, height, width, o)
        return full[:, pads[0] : pads[0] + oh, pads[1] : pads[1] + ow]

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Geometry and clamp."""
        return {
            "window": self.window,
            "clamp": activation_codes(types[self.y].q, self.low, self.high),
        }

    def macs(self, types: Types) -> int:
        """One per filter weight and input position."""
        _, height, width, _ = types[self.x].shape
        return height * width * types[self.inputs[1]].elements

    def write(self, w: Writer) -> None:
        """ConvTranspose; the filter as [I, O / G, KH, KW].

        ONNX has no scales that differ from group to group: such a filter is stored output channel
        first, made real, and then brought into its layout.
        """
        kind = w.graph.types[self.inputs[1]]
        o, kh, kw, depth = kind.shape
        groups = w.graph.types[self.x].shape[3] // depth
        split = groups, o // groups, kh, kw, depth
        final = groups * depth, o // groups, kh, kw
        scales = np.resize(kind.q.scales, o).reshape(groups, -1)
        codes = w.graph.constants[self.inputs[1]]
        if (scales == scales[0]).all():
            turned = codes.reshape(split).transpose(0, 4, 1, 2, 3).reshape(final)
            steps = kind.q.scales if len(kind.q.scales) == 1 else tuple(scales[0].tolist())
            given = w.filter_and_bias(self, turned, 1, steps)
        else:
            given = w.filter_and_bias(self, codes, 0)
            real = w.node("Reshape", [given[0], w.number(np.array(split, np.int64))], self.y)
            real = w.node("Transpose", [real], self.y, perm=(0, 4, 1, 2, 3))
            given[0] = w.node("Reshape", [real, w.number(np.array(final, np.int64))], self.y)
        weights, bias = given
        top, left, bottom, right = self.window.pads
        appended = max(-bottom, 0), max(-right, 0)
        attributes = {
            **self.window.attributes,
            "group": groups,
            "pads": (top, left, max(bottom, 0), max(right, 0)),
        }
        x = w.real(self.x, FIRST)
        reach = zip(appended, self.window.stride, self.window.dilation, strict=True)
        if all(n < max(s, d) for n, s, d in reach):
            attributes["output_padding"] = appended
            y = w.node("ConvTranspose", [x, weights, bias], self.y, self.name, **attributes)
        else:  # more rows than ONNX can append
            y = w.node("ConvTranspose", [x, weights], self.y, self.name, **attributes)
            y = w.node("Pad", [y, w.number(np.array((0,) * 6 + appended, np.int64))], self.y)
            column = w.number(np.array((-1, 1, 1), np.int64), "shape")
            y = w.node("Add", [y, w.node("Reshape", [bias, column], self.y)], self.y)
        w.finish(self.y, y, FIRST, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """Random geometry, groups, channels, output padding and activation."""
        kernel, stride = (size(rng, 1, 4), size(rng, 1, 4)), (size(rng, 1, 3), size(rng, 1, 3))
        dilation = (size(rng, 1, 3), size(rng, 1, 3)) if rng.random() < 0.3 else (1, 1)
        begin = [int(rng.integers(0, dilation[i] * (kernel[i] - 1) + 1)) for i in (0, 1)]
        end = [int(rng.integers(-2, 1)) for _ in (0, 1)]
        window = Window(kernel, stride, (begin[0], begin[1], end[0], end[1]), dilation)
        groups, depth, per_group = size(rng, 1, 3), size(rng, 1, 9), size(rng, 1, 4)
        low, high = clip_bounds(rng)
        return Example(
            cls("conv_transpose", ("x", "w", "b"), ("y",), window, low, high),
            {"x": (1, size(rng, 1, 6), size(rng, 1, 6), groups * depth)},
            {
                "w": normal(rng, groups * per_group, *kernel, depth),
                "b": normal(rng, groups * per_group),
            },
        )


@imports("ConvTranspose")
def import_conv_transpose(node: Node, b: Builder) -> None:
    """1-D and 2-D with constant weights; all strides, pads, dilations, groups and output sizes."""
    weights = b.required(node, 1, "the filter")
    shape, groups = b.shape(node.input(0)), int(node.attribute("group", 1))
    rank = len(shape)
    if rank not in (3, 4):
        raise Unsupported(f"{rank - 2}-D transposed convolution", "1-D and 2-D are supported")
    if weights.ndim != rank or weights.shape[0] != shape[1] or shape[1] % groups:
        raise Unsupported(f"filter {weights.shape} in {groups} groups does not fit input {shape}")
    outputs = groups * weights.shape[1]
    bias = b.required(node, 2, "the bias") if node.input(2) else np.zeros(outputs, np.float32)
    if bias.shape != (outputs,):
        raise Unsupported(f"a bias of shape {bias.shape} for {outputs} output channels")
    window = _window(node, shape[2:], weights.shape[2:])
    if rank == 3:
        weights = weights[:, :, None, :]
    # [I, O / G, KH, KW] to [O, KH, KW, I / G]: the channel axis is 1, per group (R1)
    split = weights.reshape(groups, shape[1] // groups, *weights.shape[1:])
    filters = split.transpose(0, 2, 3, 4, 1).reshape(outputs, *window.kernel, shape[1] // groups)
    y = node.outputs[0]
    x = to_nhwc(b, node, node.input(0))
    name, origin = nhwc_output(b, y, rank)
    w = b.constant(f"{y}.filter", filters, _pin(b, node, groups))
    c = b.constant(f"{y}.bias", bias, b.pin(node.input(2), 0))
    op = ConvTranspose2D(node.name, (x, w, c), (name,), window)
    if min(op.infer(b.types)[0]) < 1:
        raise Unsupported("its pads cut off the whole result")
    b.emit(op, origin)
    from_nhwc(b, node, name, y, rank)


def _pin(b: Builder, node: Node, groups: int) -> Quant | None:
    """Stated scales of the filter; those along ONNX's axis 1 repeat in every group."""
    pin = b.pin(node.input(1), ConvTranspose2D.channel_axis)
    if pin is None or pin.axis is None:
        return pin
    return replace(pin, scales=pin.scales * groups)


def _window(node: Node, size: tuple[int, ...], kernel: tuple[int, ...]) -> Window:
    """Kernel, stride, dilation and what is cut off, by the specification (R17)."""
    rank = len(size)
    ones, zeros = (1,) * rank, (0,) * rank
    stride = positive("strides", node.attribute("strides", ones), rank)
    dilation = positive("dilations", node.attribute("dilations", ones), rank)
    extra = tuple(node.attribute("output_padding", zeros)) or zeros
    if len(extra) != rank or min(extra) < 0:
        raise Unsupported(f"output_padding {extra} over {rank} spatial dimensions")
    natural = [
        s * (n - 1) + d * (k - 1) + 1
        for s, n, d, k in zip(stride, size, dilation, kernel, strict=True)
    ]
    begin, end = _cuts(node, size, stride, natural, extra)
    if rank == 1:  # a signal is an image of height 1
        kernel, stride, dilation = (1, *kernel), (1, *stride), (1, *dilation)
        begin, end = [0, *begin], [0, *end]
    return Window(
        (kernel[0], kernel[1]),
        (stride[0], stride[1]),
        (begin[0], begin[1], end[0], end[1]),
        (dilation[0], dilation[1]),
    )


def _cuts(
    node: Node,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    natural: Sequence[int],
    extra: Sequence[int],
) -> tuple[list[int], list[int]]:
    """Rows cut off before and after, per axis; negative after: rows appended."""
    rank, mode = len(size), node.attribute("auto_pad", "NOTSET")
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise Unsupported(f"auto_pad {mode!r}")
    wanted = [int(n) for n in node.attribute("output_shape", ())][-rank:]
    pads = [int(p) for p in node.attribute("pads", (0,) * (2 * rank))]
    if len(pads) != 2 * rank or (wanted and len(wanted) != rank):
        raise Unsupported(f"pads {pads} and output_shape {wanted} over {rank} spatial dimensions")
    same = mode in ("SAME_UPPER", "SAME_LOWER")
    if not wanted and not same:
        begin, end = (pads[:rank], pads[rank:]) if mode == "NOTSET" else ([0] * rank, [0] * rank)
        return begin, [e - o for e, o in zip(end, extra, strict=True)]
    goal = wanted or [n * s for n, s in zip(size, stride, strict=True)]
    total = [max(n + o - g, 0) for n, o, g in zip(natural, extra, goal, strict=True)]
    begin = [t // 2 if mode == "SAME_UPPER" else t - t // 2 for t in total]
    if wanted:
        return begin, [n - b - g for n, b, g in zip(natural, begin, goal, strict=True)]
    return begin, [t - b - o for t, b, o in zip(total, begin, extra, strict=True)]
