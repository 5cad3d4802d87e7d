"""The operator table, from the registry: what users read is what the importers declare."""

from typing import Any

from toolchain.ir import IMPORTERS


def operator_records() -> list[dict[str, Any]]:
    """Every supported ONNX operator with the sentence its importer states."""
    return [
        {"operator": name, "notes": " ".join((function.__doc__ or "").split())}
        for name, function in sorted(IMPORTERS.items(), key=lambda item: item[0].lower())
    ]


def operator_markdown() -> str:
    """The same as a Markdown table."""
    lines = ["| ONNX operator | what is converted |", "|---|---|"]
    for row in operator_records():
        notes = row["notes"].replace("|", "\\|").replace("*", "\\*")
        lines.append(f"| {row['operator']} | {notes} |")
    return "\n".join(lines) + "\n"
