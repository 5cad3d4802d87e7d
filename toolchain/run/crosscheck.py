"""Several engines ran the same firmware: they must agree in every byte and every count."""

from collections.abc import Sequence

import numpy as np

from toolchain.errors import RunFailed
from toolchain.run.emulator import RunResult

HINT = "one of the emulators is wrong: compare `onnx2mcu emulate --emulator` one by one"


def require_agreement(results: Sequence[RunResult], layers: Sequence[str]) -> None:
    """Compare the runs of one program on the same samples.

    Args:
        results: One result per engine; a single one agrees with itself.
        layers: Names of the layers, for messages.

    Raises:
        RunFailed: Two engines differ; names sample, byte and both values, or layer and both counts.
    """
    first = results[0]
    for other in results[1:]:
        pair = f"{first.emulator} and {other.emulator}"
        _require_bytes(pair, first, other)
        differ = np.argwhere(first.instructions != other.instructions)
        if len(differ):
            sample, layer = differ[0]
            counts = first.instructions[sample, layer], other.instructions[sample, layer]
            reason = f"{pair} count {counts[0]:,} and {counts[1]:,} instructions in sample {sample}"
            raise RunFailed("emulate", layers[layer], reason, HINT)


def _require_bytes(pair: str, first: RunResult, other: RunResult) -> None:
    for sample, (a, b) in enumerate(zip(first.outputs, other.outputs, strict=True)):
        if a == b:
            continue
        ours, theirs = (np.frombuffer(raw, np.int8) for raw in (a, b))
        at = int(np.argmax(ours != theirs))
        reason = f"{pair} give {ours[at]} and {theirs[at]} in byte {at} of the outputs"
        raise RunFailed("emulate", f"sample {sample}", reason, HINT)
