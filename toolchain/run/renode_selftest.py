"""`doctor --emulator renode`: the assumptions about Renode, checked one by one where it is."""

import tempfile

from toolchain.run.doctor import Check
from toolchain.run.renode import INSTALL, Renode, run_module
from toolchain.run.renode_assumptions import ASSUMPTIONS

_TIMEOUT_S = 180.0


def check_renode() -> tuple[Check, ...]:
    """Whether Renode is here, and a line for every assumption about it.

    Everything is needed: who asks for Renode alone wants to know whether it can be relied on.
    """
    engine = Renode()
    reason = engine.missing("cortex-m4")
    if reason is not None:
        detail, _, hint = reason.partition(": ")
        return (Check("renode", False, detail, hint or INSTALL, needed=True),)
    seen, trouble = _seen()
    checks = [Check("renode", not trouble, trouble or "loaded through pyrenode3", needed=True)]
    for assumption in ASSUMPTIONS:
        found = seen.get(assumption.number, "not checked")
        detail = f"{assumption.text}: {found}" if found else assumption.text
        checks.append(Check(f"renode {assumption.number}", not found, detail, needed=True))
    return tuple(checks)


def _seen() -> tuple[dict[int, str], str]:
    """What was seen instead by assumption, and what went wrong on the way."""
    with tempfile.TemporaryDirectory(prefix="onnx2mcu-") as folder:
        done = run_module("toolchain.run.renode_assumptions", folder, timeout_s=_TIMEOUT_S)
    if done is None:
        return {}, f"the checks did not end within {_TIMEOUT_S:g} s"
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    seen = {int(number): text for number, _, text in lines if number.isdigit()}
    told = (done.stderr or done.stdout).strip().splitlines()
    trouble = f"the checks ended early: {told[-1] if told else done.returncode}"
    return seen, "" if done.returncode == 0 else trouble
