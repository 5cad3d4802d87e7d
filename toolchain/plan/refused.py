"""Why an input cannot come row by row."""

from toolchain.errors import InputRefused
from toolchain.ir import HEIGHT, DType, Graph, Op, is_map
from toolchain.rows import Segments, head_of, layouts_of

_WHOLE = "convert without --input-rows"


def require_image(graph: Graph) -> None:
    """Refuse rows of anything but a single image.

    Args:
        graph: A graph of whole tensors.

    Raises:
        InputRefused: There are several inputs, or nothing makes an image of the only one.
    """
    if len(graph.inputs) != 1:
        raise InputRefused(
            "plan",
            graph.name,
            f"it has {len(graph.inputs)} inputs ({', '.join(graph.inputs)}): only a single input "
            "can come row by row",
            _WHOLE,
        )
    if head_of(graph) is None:
        raise _no_image(graph)


def _no_image(graph: Graph) -> InputRefused:
    seen = layouts_of(graph, graph.inputs[0])
    kind, x = graph.types[seen.image], graph.types[seen.x]
    readers = graph.consumers().get(seen.image, [])
    if is_map(kind) and kind.shape[HEIGHT] == 1 and readers:
        _, _, steps, channels = kind.shape
        shape = [1, channels, steps, 1] if x.shape != kind.shape else [1, steps, 1, channels]
        return InputRefused(
            "plan",
            readers[0].name,
            f"it reads input {seen.x} {list(x.shape)} as one row of {steps} steps: there are no "
            "rows that could come one by one",
            f"make the layers 2-D with a width of 1, the input {shape}; or {_WHOLE}",
        )
    what = _kind(readers[0]) if readers else "the caller"
    where = readers[0].name if readers else seen.x
    reads = f"{what} reads input {seen.x} as {list(kind.shape)}"
    if is_map(kind):
        reason = f"{reads} whose rows, pixels and channels are mixed: no code has a fixed place"
        return InputRefused("plan", where, reason, _WHOLE)
    return InputRefused(
        "plan",
        where,
        f"{reads}, which is no image: rows are those of [1, C, H, W] or [1, H, W, C] that "
        "convolutions, pools or element-wise layers read",
        _WHOLE,
    )


def rows_refused(segments: Segments) -> InputRefused:
    """The refusal of the rows of an image: it names the first layer that needs more than rows.

    That is one of the shortest run that takes the image and gives one tensor.

    Args:
        segments: Of the graph that takes the image, whose first layers are no segment.
    """
    graph = segments.graph
    (image,) = graph.inputs
    for last, end in enumerate(graph.ops):
        if segments.node(0, last) is not None:
            first = next((op for op in graph.ops[: last + 1] if segments.stages(op) is None), end)
            return InputRefused("plan", first.name, _needs(first, image), _hint(first))
    names = ", ".join(op.name for op in graph.consumers().get(image, ()))
    return InputRefused(
        "plan",
        graph.name,
        f"the layers that read the input ({names}) go on to several outputs: layers that take "
        "rows end in one tensor",
        _WHOLE,
    )


def _needs(op: Op, image: str) -> str:
    if not _int8(op):
        return f"{_kind(op)} has int16 codes: rows that come one by one have int8 codes"
    if image in op.inputs:
        return f"{_kind(op)} reads the input and needs all rows of it at once"
    return f"{_kind(op)} needs all rows at once, and the layers from the input on end only there"


def _int8(op: Op) -> bool:
    return {op.reads, op.writes} == {DType.INT8}


def _hint(op: Op) -> str:
    return _WHOLE if _int8(op) else f"leave {op.name} out of --int16, or {_WHOLE}"


def _kind(op: Op) -> str:
    return f"this {type(op).__name__}"
