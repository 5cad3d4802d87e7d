"""Whose code a program is made of, from the linker's map."""

import re
from collections import Counter
from pathlib import Path

_OUTPUT = re.compile(r"^(\.[\w.]+)", re.MULTILINE)
_INPUT = re.compile(r"^ (\.[\w.]+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S.*)$", re.MULTILINE)
_CODE = {".vectors", ".text"}


def code_bytes(linker_map: Path) -> Counter[str]:
    """Bytes by owner: "kernels", "generated", "descriptors", "start-up", "library".

    Descriptors are the constants of the generated source, above all what each layer hands to its
    kernel; the constants of all others count with their code.

    Args:
        linker_map: What -Wl,-Map wrote for the program.
    """
    text = linker_map.read_text(encoding="utf-8")
    text = text.partition("Linker script and memory map")[2]
    sums: Counter[str] = Counter()
    starts = [*_OUTPUT.finditer(text)]
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends, strict=True):
        if start[1] in _CODE:
            for section, size, file in _INPUT.findall(text[start.start() : end]):
                sums[_owner(section, file)] += int(size, 16)
    return sums


def _owner(section: str, file: str) -> str:
    if file.startswith(("libkernels.a", "libcmsis_nn.a")):
        return "kernels"
    if file.startswith("libmodel.a"):
        return "descriptors" if section.startswith(".rodata") else "generated"
    return "start-up" if file.startswith("CMakeFiles/") else "library"
