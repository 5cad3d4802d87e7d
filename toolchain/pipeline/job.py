"""What is converted: a model, its data, its board."""

from dataclasses import dataclass
from pathlib import Path

from onnx import ModelProto

from toolchain import passes
from toolchain.board import Board
from toolchain.errors import InputRefused
from toolchain.frontend.load import load_model
from toolchain.frontend.read import Imported, read
from toolchain.frontend.rounding import Chosen, rounding_for
from toolchain.frontend.samples import Samples, load_samples
from toolchain.ir import Graph, Rounding, Target
from toolchain.options import ConvertOptions
from toolchain.pipeline.samples import require_single_samples
from toolchain.plan import Memories, memories_of


@dataclass(frozen=True, slots=True)
class Job:
    """What is converted, and what for.

    Args:
        path: ONNX file.
        model: Its contents.
        imported: The same as a graph, with its inputs.
        graph: The float graph after the passes.
        samples: Calibration data, if there are any.
        board: The board.
        memories: Where things go, as far as the user says.
        chosen: How integers are requantised, and why.
    """

    path: Path
    model: ModelProto
    imported: Imported
    graph: Graph
    samples: Samples | None
    board: Board
    memories: Memories
    chosen: Chosen

    @property
    def rounding(self) -> Rounding:
        """How integers are requantised."""
        return self.chosen.rounding

    def target(self, options: ConvertOptions) -> Target:
        """What kernels are chosen for."""
        return Target(self.board.isa, options.family)


def memories_for(board: Board, options: ConvertOptions) -> Memories:
    """Where things go, as far as the user says.

    Raises:
        InputRefused: The board has no such memory, or it is smaller.
    """
    where = options.arena_in, options.weights_in, options.hot_weights
    return memories_of(board, *where, options.stack_bytes)


def opened(
    model_path: Path,
    calib: Path | None,
    board: Board,
    memories: Memories,
    options: ConvertOptions,
) -> Job:
    """Read a model and its calibration data.

    Raises:
        InputRefused: They cannot be used.
    """
    model = load_model(model_path)
    imported = read(model, model_path.stem, options.shapes, options.outputs)
    require_single_samples(imported)
    graph = passes.run(imported.graph)
    samples = None
    if calib is not None:
        samples = load_samples(
            calib, imported.inputs, options.max_samples, pixel_scale=options.pixel_scale
        )
    chosen = rounding_for(model, options.rounding)
    return Job(model_path, model, imported, graph, samples, board, memories, chosen)


def require_data(samples: Samples | None, what: str) -> Samples:
    """The calibration data; refuse to go on without.

    Raises:
        InputRefused: There are none.
    """
    if samples is None:
        raise InputRefused("convert", "", f"{what} calibration data", "give --calib")
    return samples
