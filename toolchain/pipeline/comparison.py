"""The firmware beside the integer model and the float model."""

from dataclasses import replace
from pathlib import Path

from toolchain.check.compare import Gates, require_judgeable
from toolchain.check.evaluate import Evaluation, evaluate, input_codes
from toolchain.check.trace import Difference, first_difference, first_sample
from toolchain.errors import InputRefused, RunFailed
from toolchain.frontend.load import load_model
from toolchain.ir import Array, Graph
from toolchain.options import Progress, silent
from toolchain.pipeline.emulation import emulate, run_codes
from toolchain.pipeline.engine_runs import run_engines
from toolchain.pipeline.reproducer import write_reproducer
from toolchain.pipeline.samples import load_data
from toolchain.project import Project
from toolchain.results import Emulation
from toolchain.run import Elf, Kind, build, choose
from toolchain.threads import one_thread


@one_thread
def compare(
    directory: Path,
    data: Path,
    gates: Gates | None = None,
    emulator: Kind = "auto",
    max_samples: int | None = None,
    timeout_s: float = 600.0,
    progress: Progress = silent,
) -> tuple[Evaluation, Emulation]:
    """Run the firmware, the integer model and the float model on the same samples.

    Returns:
        The two judgements (firmware against integer model, integer model against float), and
        the run.
    """
    project = Project(directory)
    graph = project.graph()
    samples = load_data(project, data, max_samples, "compare")
    require_judgeable(gates, samples.labels, graph.output_shapes)
    codes = [input_codes(graph, sample) for sample in samples]
    run = run_codes(project, graph, codes, emulator, timeout_s)
    evaluation = evaluate(
        load_model(project.model_path),
        graph,
        samples,
        firmware=run.codes,
        gates=gates,
        progress=lambda done, total: progress("compare", done, total),
    )
    if evaluation.comparison.bit_exact is False:
        sample = first_sample(evaluation.codes, run.codes)
        found = _trace(project, graph, sample, codes[sample], emulator, timeout_s)
        evaluation = replace(evaluation, comparison=evaluation.comparison.explained(found))
    return evaluation, run


def _trace(
    project: Project,
    graph: Graph,
    sample: int,
    codes: dict[str, Array],
    emulator: Kind,
    timeout_s: float,
) -> str:
    """Run a sample that differs once more, dump every layer, and set the first wrong one apart."""
    (result, *_) = run_engines(project, graph, [codes], emulator, timeout_s, dump_samples=1)
    found = first_difference(graph, sample, codes, result.dumps[0])
    if found is None:
        return "no layer differs when run once more"
    return f"first difference: {found}; {_apart(project, graph, found, codes, emulator, timeout_s)}"


def _apart(
    project: Project,
    graph: Graph,
    found: Difference,
    codes: dict[str, Array],
    emulator: Kind,
    timeout_s: float,
) -> str:
    """Write the project of the wrong layer alone, run it, and say whether it goes wrong there."""
    (engine, *_) = choose(emulator, project.manifest.board)
    elf = Elf(engine.elf(build(project.directory)))
    try:
        folder = write_reproducer(project, graph, found.tensor, codes, elf)
    except InputRefused as error:
        return f"the layer was not set apart: {error.reason}"
    try:
        emulate(folder, None, emulator, None, timeout_s)
    except RunFailed:
        return f"{folder} holds that layer alone and reproduces it: onnx2mcu emulate {folder}"
    return (
        f"{folder} holds that layer alone, where it is right: what differs is the code around it, "
        "or another layer overwrites its data"
    )
