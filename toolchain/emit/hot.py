"""Which constants are read most often per byte: a copy of those in RAM saves most."""

from collections.abc import Mapping, Sequence

from toolchain.emit.calls import Table
from toolchain.ir import Op, Types


def table_reads(tables: Sequence[Table], ops: Mapping[str, Op], types: Types) -> dict[str, int]:
    """Estimated number of times an inference reads an element, over all elements of every array.

    The largest array of a layer has a value for every product, if there are products; of the others
    one element is read for every element of the output.

    Args:
        tables: The arrays.
        ops: By the stem of the arrays: the operator they belong to.
        types: Types of its tensors.
    """
    largest = {t.stem: t for t in sorted(tables, key=lambda t: t.values.nbytes)}
    reads = {}
    for table in tables:
        op = ops[table.stem]
        products = op.macs(types) if largest[table.stem] is table else 0
        reads[table.symbol] = products or types[op.y].elements
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
