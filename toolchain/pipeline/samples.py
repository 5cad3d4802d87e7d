"""The data a model or a project is given."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolchain.errors import InputRefused
from toolchain.frontend.inputs import InputSpec, model_inputs
from toolchain.frontend.load import load_model
from toolchain.frontend.read import Imported
from toolchain.frontend.samples import Samples, load_samples
from toolchain.ir import Array, Graph
from toolchain.ir.execute import simulate
from toolchain.project import Project


def require_single_samples(imported: Imported) -> None:
    """Refuse models that take several samples at once.

    Raises:
        InputRefused: An input has a batch above 1.
    """
    for spec in imported.inputs:
        if len(spec.shape) > 1 and spec.shape[0] != 1:
            example = ",".join(map(str, (1, *spec.shape[1:])))
            raise InputRefused(
                "read",
                spec.name,
                f"a batch of {spec.shape[0]}: the firmware takes one sample at a time",
                f"export with a batch of 1, or give --shape {spec.name}={example}",
            )


def checked_sample(graph: Graph, codes: Mapping[str, Array]) -> tuple[bytes, bytes]:
    """Inputs and right outputs of a sample as bytes, all ports one after the other.

    Args:
        graph: The integer graph.
        codes: Input codes.
    """
    values = simulate(graph, dict(codes))
    return port_bytes(graph.inputs, values), port_bytes(graph.outputs, values)


def port_bytes(names: Sequence[str], values: Mapping[str, Array]) -> bytes:
    """Codes of inputs or outputs as the firmware holds them: one port after the other."""
    return b"".join(values[name].tobytes() for name in names)


def load_data(project: Project, data: Path, max_samples: int | None, stage: str) -> Samples:
    """Samples for a project, pixels scaled as when it was converted."""
    scale = project.manifest.pixel_scale
    return load_samples(data, input_specs(project), max_samples, stage, pixel_scale=scale)


def input_specs(project: Project) -> list[InputSpec]:
    """The inputs of a project's model, with the shapes it was converted with.

    Raises:
        InputRefused: The model is missing or damaged.
    """
    if not project.model_path.exists():
        raise InputRefused(
            "project",
            str(project.model_path),
            "the float model is not in this project",
            "one of a single layer has none, and runs without --data; else convert again",
        )
    specs, _ = model_inputs(load_model(project.model_path), project.manifest.shapes)
    return specs
