"""Firmware whose dead memory is overwritten before every layer must give the same bytes."""

from collections.abc import Sequence

from toolchain.check.trace import Difference, first_difference
from toolchain.errors import RunFailed
from toolchain.ir import Array, Graph
from toolchain.pipeline.engine_runs import run_engines
from toolchain.project import Project
from toolchain.run import Kind

_AGAIN = 2
"""Runs of the first sample that follow the last one; and of a sample that is looked at closely."""


def check_dead_memory(
    project: Project,
    graph: Graph,
    samples: Sequence[dict[str, Array]],
    outputs: Sequence[bytes],
    emulator: Kind,
    timeout_s: float,
) -> None:
    """Run the samples with dead memory overwritten, then the first one twice again.

    The outputs must be those of the plain firmware, and those of every layer, for the first sample,
    the integer model's.

    Args:
        project: The project.
        graph: Its integer graph.
        samples: Input codes of every inference.
        outputs: What the plain firmware gave for them.
        emulator: Which engines.
        timeout_s: Wall time limit of each.

    Raises:
        RunFailed: They are not; it names the first layer that goes wrong.
    """
    order = [*range(len(samples)), *[0] * _AGAIN]
    sequence = [samples[i] for i in order]
    for run in run_engines(project, graph, sequence, emulator, timeout_s, 1, poisoned=True):
        for i, found in zip(order, run.outputs, strict=True):
            if found != outputs[i]:
                closer = [samples[i]] * _AGAIN
                (again, *_) = run_engines(
                    project, graph, closer, emulator, timeout_s, _AGAIN, poisoned=True
                )
                raise _failed(i, _first(graph, i, samples[i], again.dumps))
        difference = _first(graph, 0, samples[0], run.dumps)
        if difference is not None:
            raise _failed(0, difference)


def _first(
    graph: Graph, sample: int, codes: dict[str, Array], dumps: Sequence[Sequence[bytes]]
) -> Difference | None:
    """The first difference in any of the runs of one sample."""
    seen = (first_difference(graph, sample, codes, layers) for layers in dumps)
    return next((difference for difference in seen if difference is not None), None)


def _failed(sample: int, found: Difference | None) -> RunFailed:
    """The error of a sample that depends on memory nobody wrote for it."""
    reason = f"sample {sample} goes wrong when dead memory is overwritten before every layer"
    if found is not None:
        reason += f"; first difference: {found}"
    hint = (
        "where `onnx2mcu compare` passes, a layer reads memory that nobody wrote for it: "
        "report it with the model"
    )
    return RunFailed("emulate", "" if found is None else found.layer, reason, hint)
