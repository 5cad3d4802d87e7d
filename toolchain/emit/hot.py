"""Which constants are read most often per byte: a copy of those in RAM saves most."""

from collections.abc import Mapping, Sequence

from toolchain.emit.calls import Table
from toolchain.ir import Op, Types
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.select import Choice


def table_reads(
    tables: Sequence[Table], calls: Mapping[str, tuple[Op, Choice]], types: Types
) -> dict[str, int]:
    """Estimated number of times an inference reads an element, over all elements of every array.

    1. The largest array of a layer has a value for every product, if there are products.
    2. Kernels that pack their own data have all that belongs to a channel in one place, and read it
       when they begin with the channel: once, like the weights of a depthwise convolution, which
       they hold in registers.
    3. Else one element of an array is read for every element of the output.

    Args:
        tables: The arrays.
        calls: By the stem of the arrays: the operator they belong to, and what runs it.
        types: Types of its tensors.
    """
    largest = {t.stem: t for t in sorted(tables, key=lambda t: t.values.nbytes)}
    reads = {}
    for table in tables:
        op, choice = calls[table.stem]
        products = op.macs(types)
        once = choice.kernel.pack is not None and bool(products)
        if products and largest[table.stem] is table:
            once = once and isinstance(op, DepthwiseConv2D)
            reads[table.symbol] = table.length if once else products
        else:
            reads[table.symbol] = table.length if once else types[op.y].elements
    return reads


def hottest(tables: Sequence[Table], reads: Mapping[str, int], nbytes: int, grain: int) -> set[str]:
    """The arrays with the most reads per byte that fit into so many bytes.

    Args:
        tables: The arrays.
        reads: By symbol, what `table_reads` says.
        nbytes: Bytes for all of them.
        grain: Alignment of every array, bytes.
    """
    chosen, left = set(), nbytes

    def rank(table: Table) -> tuple[float, str]:
        return -reads[table.symbol] / max(table.values.nbytes, 1), table.symbol

    for table in sorted(tables, key=rank):
        size = -(-table.values.nbytes // grain) * grain
        if size <= left:
            chosen.add(table.symbol)
            left -= size
    return chosen
