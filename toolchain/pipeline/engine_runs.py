"""A project's firmware on every engine that was asked for."""

from collections.abc import Sequence

from toolchain.ir import Array, Graph
from toolchain.pipeline.samples import input_bytes
from toolchain.project import Project
from toolchain.run import Kind, RunRequest, RunResult, build, choose


def run_engines(
    project: Project,
    graph: Graph,
    samples: Sequence[dict[str, Array]],
    emulator: Kind,
    timeout_s: float,
    dump_samples: int = 0,
    *,
    poisoned: bool = False,
) -> list[RunResult]:
    """Build the project and run it.

    Args:
        project: The project.
        graph: Its integer graph.
        samples: Input codes of every inference.
        emulator: Which engines.
        timeout_s: Wall time limit of each.
        dump_samples: Of how many samples every layer is kept.
        poisoned: Dead bytes of the arena are overwritten before every layer.
    """
    board, model = project.manifest.board, project.manifest.firmware
    engines = choose(emulator, board)
    built = build(project.directory, board, poisoned=poisoned)
    inputs = [input_bytes(graph, model, sample) for sample in samples]
    return [
        engine.run(RunRequest(engine.elf(built), board, model, inputs, dump_samples, timeout_s))
        for engine in engines
    ]
