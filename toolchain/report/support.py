"""The operator table, from the registry: what users read is what the importers declare."""

import re
from typing import Any

from toolchain.ir import IMPORTERS

_REFUSED = "Refused"
"""How the sentence of an importer begins that only explains why an operator is not there."""


def operator_records() -> list[dict[str, Any]]:
    """Every known ONNX operator with the sentence its importer states."""
    rows = sorted(IMPORTERS.items(), key=lambda item: item[0].lower())
    notes = [(name, _sentence(function.__doc__ or "")) for name, function in rows]
    return [
        {"operator": name, "supported": not note.startswith(_REFUSED), "notes": note}
        for name, note in notes
    ]


def _sentence(text: str) -> str:
    """A docstring on one line, without the numbers of requirements."""
    return re.sub(r" \(R\d+\)", "", " ".join(text.split()))


def operator_markdown() -> str:
    """The supported ones as a Markdown table; operators of one sentence share a row."""
    groups: dict[str, list[str]] = {}
    for row in operator_records():
        if row["supported"]:
            groups.setdefault(row["notes"], []).append(row["operator"])
    lines = ["| ONNX operator | what is converted |", "|---|---|"]
    for notes, names in groups.items():
        text = notes.replace("|", "\\|").replace("*", "\\*")
        lines.append(f"| {', '.join(names)} | {text} |")
    return "\n".join(lines) + "\n"
