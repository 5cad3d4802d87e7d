"""The ONNX backend suite: every case converts and is close, or is refused by name."""

from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.cases import Case, cases
from tests.conformance.judge import Result, Verdict, judge

TABLE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
HEAD = """# ONNX conformance

Every float32 single-operator case of the ONNX backend test suite for the operators this tool is
about: converted and within tolerance of the specification (1 step of the output scale for
layout operators and pools, 3 for linear ones, 2 for others, for inputs that are exactly
representable), or refused with a reason. Written by `pytest tests/conformance --update-golden`.

| operator | cases | pass | refused | why refused |
|---|---:|---:|---:|---|
"""


@cache
def results() -> dict[str, Result]:
    return {case.name: judge(case) for case in cases()}


def test_there_are_cases() -> None:
    assert len(cases()) > 400


def test_no_case_crashes_or_is_wrong() -> None:
    bad = {
        name: result.detail
        for name, result in results().items()
        if result.verdict in (Verdict.CRASHED, Verdict.WRONG)
    }
    assert not bad, "\n".join(f"{name}: {detail}" for name, detail in bad.items())


def _row(operator: str, members: list[Case]) -> str:
    found = [results()[case.name] for case in members]
    counts = Counter(result.verdict for result in found)
    reasons = Counter(
        _short(result.detail) for result in found if result.verdict is Verdict.REFUSED
    )
    why = "; ".join(f"{reason} ({n})" for reason, n in sorted(reasons.items()))
    passed, refused = counts[Verdict.PASS], counts[Verdict.REFUSED]
    return f"| {operator} | {len(members)} | {passed} | {refused} | {why} |"


def _short(reason: str) -> str:
    """The reason without the node it names."""
    text = reason.split("': ", 1)[-1].split("\n")[0]
    return text.replace("|", "\\|")


def test_the_table_is_current(update_golden: bool) -> None:
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases():
        groups[case.operator].append(case)
    text = HEAD + "\n".join(_row(op, groups[op]) for op in sorted(groups)) + "\n"
    if update_golden:
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(text)
    if not TABLE.is_file():
        pytest.fail("docs/conformance.md is missing: run with --update-golden")
    assert TABLE.read_text() == text, "docs/conformance.md is stale: run with --update-golden"
