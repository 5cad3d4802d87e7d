"""DepthToSpace and SpaceToDepth: blocks of pixels from channels, and back, as one transpose."""

from toolchain.ir import Builder, Node, Origin, Unsupported, imports
from toolchain.ops.reshape import Reshape
from toolchain.ops.transpose import Transpose


@imports("DepthToSpace")
def import_depth_to_space(node: Node, b: Builder) -> None:
    """Four dimensions; modes DCR and CRD."""
    n, channels, height, width = _shape(node, b)
    size = _block(node)
    mode = node.attribute("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise Unsupported(f"DepthToSpace with mode {mode!r}", "DCR and CRD are supported")
    if channels % size**2:
        raise Unsupported(f"{channels} channels do not make blocks of {size} x {size}")
    depth = channels // size**2
    if mode == "DCR":
        split, perm = (n, size, size, depth, height, width), (0, 3, 4, 1, 5, 2)
    else:
        split, perm = (n, depth, size, size, height, width), (0, 1, 4, 2, 5, 3)
    _emit(node, b, split, perm, (n, depth, height * size, width * size))


@imports("SpaceToDepth")
def import_space_to_depth(node: Node, b: Builder) -> None:
    """Four dimensions, height and width multiples of the block size."""
    n, channels, height, width = _shape(node, b)
    size = _block(node)
    if height % size or width % size:
        raise Unsupported(f"{height} x {width} pixels do not make blocks of {size} x {size}")
    rows, columns = height // size, width // size
    split = (n, channels, rows, size, columns, size)
    _emit(node, b, split, (0, 3, 5, 1, 2, 4), (n, channels * size**2, rows, columns))


def _shape(node: Node, b: Builder) -> tuple[int, ...]:
    shape = b.shape(node.input(0))
    if len(shape) != 4:
        raise Unsupported(f"a tensor of {len(shape)} dimensions", "four are supported")
    return shape


def _block(node: Node) -> int:
    size = int(node.attribute("blocksize", 0))
    if size < 1:
        raise Unsupported(f"blocksize {size}")
    return size


def _emit(
    node: Node, b: Builder, split: tuple[int, ...], perm: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    """Reshape to `split`, transpose, reshape to `shape`."""
    x, y = b.activation(node.input(0)), node.outputs[0]
    blocks = b.emit(Reshape(node.name, (x,), (b.fresh(f"{x}.blocks"),), split), b.origins.get(x))
    turned = b.emit(Transpose(node.name, (blocks,), (b.fresh(f"{y}.blocks"),), perm), Origin(y))
    b.emit(Reshape(node.name, (turned,), (y,), shape))
