"""The firmware beside the integer model and the float model."""

from dataclasses import replace
from pathlib import Path

from toolchain.check.compare import Gates
from toolchain.check.evaluate import Evaluation, evaluate, input_codes
from toolchain.check.trace import first_difference, first_sample
from toolchain.frontend.load import load_model
from toolchain.ir import Array, Graph
from toolchain.options import Progress, silent
from toolchain.pipeline.emulation import run_codes, run_engines
from toolchain.pipeline.samples import load_data
from toolchain.project import Project
from toolchain.results import Emulation
from toolchain.run import Kind


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
    """Run a sample that differs once more and dump every layer."""
    (result, *_) = run_engines(project, graph, [codes], emulator, timeout_s, dump_samples=1)
    found = first_difference(graph, sample, codes, result.dumps[0])
    return f"first difference: {found}" if found else "no layer differs when run once more"
