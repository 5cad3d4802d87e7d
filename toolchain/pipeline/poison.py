"""Firmware whose dead memory is overwritten before every layer must give the same bytes."""

from collections.abc import Sequence

from toolchain.check.trace import first_difference
from toolchain.errors import RunFailed
from toolchain.ir import Array, Graph
from toolchain.pipeline.engine_runs import run_engines
from toolchain.project import Project
from toolchain.run import Kind

_AGAIN = 2
"""Runs of the first sample that follow the last one; and of a sample that is looked at closely."""


def require_unpoisoned(
    project: Project,
    graph: Graph,
    samples: Sequence[dict[str, Array]],
    outputs: Sequence[bytes],
    emulator: Kind,
    timeout_s: float,
) -> None:
    """Run the samples with dead memory overwritten, then the first one twice again.

    Args:
        project: The project.
        graph: Its integer graph.
        samples: Input codes of every inference.
        outputs: What the plain firmware gave for them.
        emulator: Which engines.
        timeout_s: Wall time limit of each.

    Raises:
        RunFailed: Other bytes come out; it names the first layer that goes wrong.
    """
    again = range(min(_AGAIN * len(samples), _AGAIN))
    order = [*range(len(samples)), *(0 for _ in again)]
    sequence = [samples[i] for i in order]
    for run in run_engines(project, graph, sequence, emulator, timeout_s, poisoned=True):
        for i, found in zip(order, run.outputs, strict=True):
            if found != outputs[i]:
                raise _failed(project, graph, i, samples[i], emulator, timeout_s)


def _failed(
    project: Project,
    graph: Graph,
    sample: int,
    codes: dict[str, Array],
    emulator: Kind,
    timeout_s: float,
) -> RunFailed:
    """The error of a sample that depends on memory nobody wrote for it."""
    repeated = [codes] * _AGAIN
    (run, *_) = run_engines(project, graph, repeated, emulator, timeout_s, _AGAIN, poisoned=True)
    seen = (first_difference(graph, sample, codes, dump) for dump in run.dumps)
    found = next((difference for difference in seen if difference is not None), None)
    reason = f"sample {sample}: other outputs when dead memory is overwritten before every layer"
    if found is not None:
        reason += f"; first difference: {found}"
    hint = "a layer reads memory that nobody wrote for it: report it with the model"
    return RunFailed("emulate", "" if found is None else found.layer, reason, hint)
