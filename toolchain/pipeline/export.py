"""A project's integer model as an ONNX file that other tools read."""

from pathlib import Path

from toolchain.check.exported import check_export
from toolchain.emit import qdq_model
from toolchain.errors import GateFailed
from toolchain.pipeline.writing import tool_version
from toolchain.project import Project, require_free, write_file
from toolchain.results import QdqExport

LARGEST_DIFFERENCE = 1
"""Steps by which a layer in ONNX Runtime may differ: it rounds halves to even, and only once."""


def export_qdq(directory: Path, output: Path, *, force: bool = False) -> QdqExport:
    """Write the integer model of a project as a QDQ model.

    The file is run in ONNX Runtime, without optimisation, on the samples that `convert` stored
    before it takes its name.

    Args:
        directory: The project.
        output: The file to write.
        force: Replace a file of that name.

    Raises:
        InputRefused: There is no project, an operator has no form in ONNX, or the file is there
            already or cannot be written.
        GateFailed: A layer differs from the integer model by more than one step; nothing is
            written.
    """
    require_free(output, "export", force=force)
    project = Project(directory)
    graph = project.graph()
    exported = qdq_model(graph, tool_version())
    samples = project.samples()
    check = check_export(exported, graph, samples)
    wrong = [layer for layer in check.layers if layer.largest > LARGEST_DIFFERENCE]
    if wrong:
        named = ", ".join(f"{layer.name} ({layer.largest} steps)" for layer in wrong)
        raise GateFailed(
            "export",
            "",
            f"ONNX Runtime differs from the integer model by more than one step in {named}",
            "this is a bug: please report it with the model",
        )
    write_file(output, exported.model.SerializeToString(deterministic=True), "export")
    return QdqExport(output, exported.model.opset_import[0].version, len(samples), check)
