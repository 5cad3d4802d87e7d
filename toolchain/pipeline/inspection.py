"""What can be said of a model without data."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from toolchain import passes
from toolchain.board import load_board
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.ir import DType, Graph
from toolchain.options import ConvertOptions
from toolchain.pipeline.samples import require_single_samples
from toolchain.plan import Shortage, plan_memory, schedule, shortages
from toolchain.project import layer_names
from toolchain.results import InspectedLayer, Inspection


def inspect(
    model_path: Path,
    board_name: str | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Inspection:
    """What can be said of a model without data: layers, MACs, bytes, whether it fits.

    Raises:
        InputRefused: The model cannot be converted; every obstacle is listed.
    """
    board = load_board(board_name) if board_name else None
    imported = read(load_model(model_path), model_path.stem, shapes)
    require_single_samples(imported)
    graph = schedule(_as_bytes(passes.run(imported.graph)))
    plan = plan_memory(graph, {}, board.alignment if board else 4)
    names = layer_names(graph.ops)
    layers = tuple(
        InspectedLayer(
            names[op.y],
            type(op).__name__,
            graph.types[op.y].shape,
            op.macs(graph.types),
            sum(_integer_bytes(graph, x) for x in op.inputs if x in graph.constants),
        )
        for op in graph.ops
        if not op.is_view
    )
    weights = sum(layer.weights_bytes for layer in layers)
    short: tuple[Shortage, ...] = ()
    if board is not None:
        short = shortages(board, plan.arena_bytes, weights, ConvertOptions().stack_bytes)
    return Inspection(graph, layers, plan.arena_bytes, plan.peak_step, board, short, imported.notes)


def _as_bytes(graph: Graph) -> Graph:
    """The float graph with activations counted as one byte per element."""
    return replace(graph, types={n: replace(t, dtype=DType.INT8) for n, t in graph.types.items()})


def _integer_bytes(graph: Graph, name: str) -> int:
    """Bytes of a constant once quantised: int32 for vectors (biases), else int8."""
    kind = graph.types[name]
    return kind.elements * (4 if len(kind.shape) == 1 else 1)
