"""Where the error of a quantised model arises, and what a board computed instead."""

from collections.abc import Callable, Sequence
from pathlib import Path

from toolchain import passes
from toolchain.check.advice import advise_on
from toolchain.check.board import BoardFindings, BoardOutputs, compare_board
from toolchain.check.diagnosis import diagnose as measure
from toolchain.check.evaluate import input_codes
from toolchain.check.whatif import measure_without
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.rounding import rounding_for
from toolchain.frontend.samples import load_samples
from toolchain.options import ConvertOptions, Progress, silent
from toolchain.pipeline.conversion import quantise
from toolchain.pipeline.samples import load_data, require_single_samples
from toolchain.project import Project, matching
from toolchain.quant.prune import prune
from toolchain.results import Diagnosed, Without
from toolchain.threads import one_thread


@one_thread
def diagnose(
    model_path: Path,
    data: Path,
    calib: Path | None = None,
    options: ConvertOptions | None = None,
    max_samples: int | None = None,
    exclude: Sequence[str] = (),
    progress: Progress = silent,
) -> Diagnosed:
    """Say of every layer of a model what its int8 form costs.

    Args:
        model_path: ONNX file.
        data: Samples to measure with.
        calib: Calibration data; None for a quantised model.
        options: Choices of the conversion that concern data and ranges.
        max_samples: Use at most so many of `data`.
        exclude: Names of layers, or patterns, that are to be exact in a second measurement.
        progress: Told about long work.

    Raises:
        InputRefused: The model or the data cannot be used, or a pattern names no layer.
    """
    options = options or ConvertOptions()
    model = load_model(model_path)
    imported = read(model, model_path.stem, options.shapes, options.outputs)
    require_single_samples(imported)
    graph = passes.run(imported.graph)
    scale, specs = options.pixel_scale, imported.inputs
    calibration = None
    if calib is not None:
        calibration = load_samples(calib, specs, options.max_samples, pixel_scale=scale)
    samples = load_samples(data, specs, max_samples, "diagnose", pixel_scale=scale)
    rounding = rounding_for(model, options.rounding).rounding
    chosen, quantized = quantise(graph, model, calibration, rounding, options, progress)
    exact = matching(quantized.graph, exclude, "diagnose")
    removed = dict(prune(quantized.graph).dropped)
    found = measure(model, quantized.graph, samples, _told(progress, "diagnose"), removed)
    without = None
    if exact:
        told = _told(progress, "exclude")
        impact = measure_without(model, chosen.graph, quantized.graph, exact, samples, told)
        accuracies = None if samples.labels is None else impact.accuracies
        without = Without(exact, impact.sqnr_db, impact.agreement, accuracies and accuracies[1])
    return Diagnosed(found, advise_on(found), samples.remarks, without, None)


@one_thread
def diagnose_project(
    directory: Path,
    data: Path,
    max_samples: int | None = None,
    board_outputs: Path | None = None,
    progress: Progress = silent,
) -> Diagnosed:
    """The same for the integer model of a project, and for what its firmware gave on a board.

    Args:
        directory: The project.
        data: Samples to measure with; for `board_outputs` those the board was given.
        max_samples: Use at most so many.
        board_outputs: An .npz file, see BoardOutputs.
        progress: Told about long work.

    Raises:
        InputRefused: There is no project, or the data or the file cannot be used.
    """
    project = Project(directory)
    graph = project.graph()
    samples = load_data(project, data, max_samples, "diagnose")
    board: BoardFindings | None = None
    if board_outputs is not None:
        given = BoardOutputs(board_outputs, graph, project.manifest.firmware)
        codes = [input_codes(graph, s) for _, s in zip(range(given.samples), samples, strict=False)]
        board = compare_board(given, codes)
    model = load_model(project.model_path)
    found = measure(model, graph, samples, _told(progress, "diagnose"))
    return Diagnosed(found, advise_on(found), samples.remarks, None, board)


def _told(progress: Progress, stage: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(stage, done, total)
