"""Resize and Upsample: nearest neighbours as indices, linear as interpolation."""

from dataclasses import dataclass
from math import floor

import numpy as np

from toolchain.ir import Array, Builder, Node, Unsupported, imports
from toolchain.ops._axes import axis_of
from toolchain.ops._coordinates import COORDINATES, NEAREST, nearest, positions
from toolchain.ops.linear_resize import LinearResize, ResizedAxis
from toolchain.ops.take import emit_take


@dataclass(frozen=True, slots=True)
class _Axis:
    """Sizes before and after, and the scale the node computes positions with."""

    old: int
    new: int
    scale: float


@imports("Upsample")
def import_upsample(node: Node, b: Builder) -> None:
    """Modes nearest and linear (at most 2 axes) with constant scales."""
    scales = node.attribute("scales")
    if scales is None:
        scales = b.required(node, 1, "the scales")
    axes = _scaled(b.shape(node.input(0)), [float(s) for s in np.ravel(scales)])
    _emit(node, b, axes, "asymmetric", "simple")


@imports("Resize")
def import_resize(node: Node, b: Builder) -> None:
    """Modes nearest and linear (at most 2 axes); no cubic, antialias or tf_crop_and_resize."""
    shape = b.shape(node.input(0))
    if node.opset < 11:
        axes = _scaled(shape, [float(s) for s in np.ravel(b.required(node, 1, "the scales"))])
        _emit(node, b, axes, "asymmetric", "simple")
        return
    if node.attribute("antialias", 0):
        raise Unsupported("Resize with antialias", "resize before the model, or without antialias")
    coordinates = node.attribute("coordinate_transformation_mode", "half_pixel")
    if coordinates not in COORDINATES:
        raise Unsupported(
            f"Resize with coordinate_transformation_mode {coordinates!r}",
            f"{', '.join(sorted(COORDINATES))} are supported",
        )
    axes = _axes(node, b, shape)
    if coordinates == "align_corners" and any(abs(a.scale * a.old - a.new) > 1e-3 for a in axes):
        raise Unsupported(
            "align_corners with a scale that gives no whole number of cells",
            "give sizes: the specification and the run-times disagree on such scales",
        )
    _emit(node, b, axes, coordinates, node.attribute("nearest_mode", "round_prefer_floor"))


def _axes(node: Node, b: Builder, shape: tuple[int, ...]) -> list[_Axis]:
    """What becomes of every axis, by scales (input 2) or sizes (input 3), since opset 11."""
    scales = b.required(node, 2, "the scales") if node.input(2) else np.zeros(0)
    given = node.attribute("axes")
    chosen = list(range(len(shape))) if given is None else [axis_of(a, len(shape)) for a in given]
    by_sizes = scales.size == 0
    values = b.required(node, 3, "the sizes") if by_sizes else scales
    if values.size != len(chosen):
        raise Unsupported(f"{values.size} scales or sizes for {len(chosen)} axes")
    result = [_Axis(n, n, 1.0) for n in shape]
    if by_sizes:
        sizes = _kept_aspect(node, [shape[a] for a in chosen], [int(n) for n in values])
        for axis, (new, scale) in zip(chosen, sizes, strict=True):
            result[axis] = _Axis(shape[axis], new, scale)
    else:
        scaled = _scaled([shape[a] for a in chosen], [float(s) for s in values])
        for axis, new_axis in zip(chosen, scaled, strict=True):
            result[axis] = new_axis
    return result


def _kept_aspect(node: Node, old: list[int], new: list[int]) -> list[tuple[int, float]]:
    """(size, scale) of each axis under keep_aspect_ratio_policy."""
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    ratios = [n / o for n, o in zip(new, old, strict=True)]
    if policy == "stretch":
        return list(zip(new, ratios, strict=True))
    if policy not in ("not_larger", "not_smaller"):
        raise Unsupported(f"Resize with keep_aspect_ratio_policy {policy!r}")
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [(floor(ratio * o + 0.5), ratio) for o in old]


def _scaled(shape: tuple[int, ...] | list[int], scales: list[float]) -> list[_Axis]:
    """The axes when the node gives scales; sizes round down."""
    if len(scales) != len(shape) or min(scales, default=1.0) <= 0:
        raise Unsupported(f"scales {scales} of a tensor {tuple(shape)}")
    return [
        _Axis(n, int(np.float32(s) * np.float32(n)), s) for n, s in zip(shape, scales, strict=True)
    ]


def _emit(node: Node, b: Builder, axes: list[_Axis], coordinates: str, rounding: str) -> None:
    mode = node.attribute("mode", "nearest")
    if any(a.new < 1 for a in axes):
        raise Unsupported("a resize to nothing")
    changes = any(a.new != a.old for a in axes)  # else ONNX Runtime copies, whatever the scales
    where = {
        i: positions(coordinates, a.old, a.new, a.scale)
        for i, a in enumerate(axes)
        if changes and (a.new != a.old or a.scale != 1)
    }
    if mode == "nearest":
        chosen = {i: _nearest(rounding, where[i], axes[i]) for i in where}
        emit_take(b, node, node.input(0), node.outputs[0], chosen)
    elif mode in ("linear", "bilinear"):
        _emit_linear(node, b, axes, where)
    else:
        raise Unsupported(f"Resize with mode {mode!r}", "nearest and linear are supported")


def _nearest(rounding: str, where: Array, axis: _Axis) -> list[int]:
    if rounding == "simple":  # before opset 11
        rounding = "ceil" if axis.scale < 1 else "floor"
    if rounding not in NEAREST:
        raise Unsupported(
            f"Resize with nearest_mode {rounding!r}", f"{', '.join(sorted(NEAREST))} are supported"
        )
    return nearest(rounding, where, axis.old)


def _emit_linear(node: Node, b: Builder, axes: list[_Axis], where: dict[int, Array]) -> None:
    resized = []
    for i, raw in where.items():
        inside = np.clip(raw, 0, axes[i].old - 1)
        if not np.array_equal(inside, np.arange(axes[i].old)):
            resized.append(ResizedAxis(i, tuple(float(p) for p in inside)))
    if len(resized) > 2:
        raise Unsupported("a linear resize of more than two axes", "one and two are supported")
    if not resized:
        emit_take(b, node, node.input(0), node.outputs[0], {})
        return
    x = b.activation(node.input(0))
    b.emit(LinearResize(node.name, (x,), (node.outputs[0],), tuple(resized)))
