"""The data a model or a project is given."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolchain.check.compare import Gates, require_judgeable
from toolchain.emit import FirmwareModel
from toolchain.errors import InputRefused
from toolchain.frontend.inputs import InputSpec, model_inputs
from toolchain.frontend.load import load_model
from toolchain.frontend.read import Imported, read
from toolchain.frontend.samples import Samples, load_samples
from toolchain.ir import Array, Graph
from toolchain.ir.execute import simulate
from toolchain.options import ConvertOptions
from toolchain.project import Project
from toolchain.rows import head_of


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


def require_test_data(
    model_path: Path,
    data: Path,
    gates: Gates | None,
    options: ConvertOptions,
    max_samples: int | None = None,
) -> None:
    """Refuse now what comparing would refuse after a conversion.

    Args:
        model_path: ONNX file.
        data: Samples to compare with.
        gates: What to require.
        options: Choices of the conversion that concern data.
        max_samples: Use at most so many of `data`.

    Raises:
        InputRefused: The model or the data cannot be used, or a gate cannot be judged by them.
    """
    imported = read(load_model(model_path), model_path.stem, options.shapes, options.outputs)
    require_single_samples(imported)
    samples = load_samples(
        data, imported.inputs, max_samples, "compare", pixel_scale=options.pixel_scale
    )
    require_judgeable(gates, samples.labels, imported.graph.output_shapes)


def checked_sample(
    graph: Graph, model: FirmwareModel, codes: Mapping[str, Array]
) -> tuple[bytes, bytes]:
    """Inputs and right outputs of a sample as bytes, all ports one after the other.

    Args:
        graph: The integer graph.
        model: The firmware.
        codes: Input codes.
    """
    values = simulate(graph, dict(codes))
    return input_bytes(graph, model, values), _port_bytes(graph.outputs, values)


def input_bytes(graph: Graph, model: FirmwareModel, values: Mapping[str, Array]) -> bytes:
    """Codes of the inputs as the firmware takes them: one port, or one row, after the other.

    Args:
        graph: The integer graph.
        model: The firmware.
        values: Input codes, in the shapes of the model.
    """
    head = head_of(graph) if model.input_rows else None
    if head is not None:
        return head.pixels(graph.types, values[head.x]).tobytes()
    return _port_bytes(graph.inputs, values)


def _port_bytes(names: Sequence[str], values: Mapping[str, Array]) -> bytes:
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
