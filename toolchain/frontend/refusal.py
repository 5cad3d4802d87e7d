"""One message for all nodes that cannot be converted (R21)."""

from collections.abc import Sequence

from toolchain.errors import InputRefused
from toolchain.ir import Node, Unsupported


def refusal(problems: Sequence[tuple[Node, Unsupported]]) -> InputRefused:
    """The error that lists every node with its reason and hint; equal reasons share a line."""
    groups: dict[tuple[str, str], list[Node]] = {}
    for node, problem in problems:
        groups.setdefault((problem.reason, problem.hint), []).append(node)
    count = len(problems)
    hint = "onnx2mcu ops lists what is supported"
    if len(groups) == 1:
        ((reason, own_hint), nodes), *_ = groups.items()
        text = _line(nodes, reason, "")
        where = nodes[0].name if count == 1 else ""
        start = "" if count == 1 else f"{count} nodes cannot be converted: "
        return InputRefused("read", where, start + text, own_hint or hint)
    lines = [_line(nodes, *why) for why, nodes in groups.items()]
    text = f"{count} nodes cannot be converted:\n  " + "\n  ".join(lines)
    return InputRefused("read", "", text, hint)


def _line(nodes: Sequence[Node], reason: str, hint: str) -> str:
    why = reason + (f" ({hint})" if hint else "")
    named = ", ".join(f"{node.op_type} {node.name!r}" for node in nodes)
    return f"{named}: {why}" if len(nodes) == 1 else f"{why}: {named}"
