"""Faults put into the generated C of a project, each by one change of its text."""

import re
from collections.abc import Callable
from pathlib import Path

from toolchain.project import Project

LAYER = 1
"""Layer in which everything happens."""

_FUNCTION = """__attribute__((noinline, noclone)) static int32_t injected(volatile uint32_t depth)
{{
    {body}
    return (int32_t)depth;
}}

int32_t {prefix}_run(void)
"""


def call(project: Project, body: str) -> None:
    """Have a function with this body called within the layer."""
    prefix = project.manifest.prefix
    path = project.directory / f"{prefix}.c"
    text = path.read_text()
    function = _FUNCTION.format(body=body.format(prefix=prefix), prefix=prefix)
    text, first = re.subn(rf"^int32_t {prefix}_run\(void\)\n", lambda _: function, text, flags=re.M)
    call = rf"(    status = layer_{LAYER:02d}_\w+\(\);)"
    text, second = re.subn(call, r"    (void)injected(1);\n\1", text)
    assert (first, second) == (1, 1)
    path.write_text(text)


def short_arena(project: Project) -> None:
    """The arena has one byte less than the plan; the assertion that says so is gone."""
    manifest = project.manifest
    upper, prefix, size = manifest.prefix.upper(), manifest.prefix, manifest.arena_bytes
    source, header = (project.directory / f"{prefix}.{suffix}" for suffix in "ch")
    text, count = re.subn(
        r"^_Static_assert\(\w+_ARENA_BYTES.*\n", "", source.read_text(), flags=re.M
    )
    assert count == 1
    source.write_text(text)
    old, new = (f"#define {upper}_ARENA_BYTES {n}\n" for n in (size, size - 1))
    assert old in header.read_text()
    header.write_text(header.read_text().replace(old, new))


def canary(project: Project) -> None:
    """A byte behind the arena is written."""
    size = project.manifest.arena_bytes
    body = "volatile uintptr_t arena = (uintptr_t){prefix}_arena;\n"
    call(project, body + f"    *(volatile uint8_t *)(arena + {size + 3}u) = 7;")


def write_flash(project: Project) -> None:
    """A constant is written."""
    call(project, f"*(volatile int8_t *)(uintptr_t){table(project)} = 1;")


def stack_overflow(project: Project) -> None:
    """A recursion that never ends, and that the compiler cannot turn into a loop."""
    call(project, "depth += depth == 0u ? 0u : (uint32_t)injected(depth + 1u);")


def endless_loop(project: Project) -> None:
    """A loop that never ends."""
    call(project, 'for (;;)\n    {{\n        __asm__ volatile("nop");\n    }}')


def undefined(project: Project) -> None:
    """An instruction that no core has."""
    call(project, '__asm__ volatile("udf #1");')


def supervisor_call(project: Project) -> None:
    """A call of an operating system that is not there."""
    call(project, '__asm__ volatile("svc #3");')


def breakpoint_left(project: Project) -> None:
    """A breakpoint without a debugger."""
    call(project, '__asm__ volatile("bkpt #5");')


def wrong_weight(project: Project, layer: int = LAYER) -> None:
    """The first value of a layer's first table is another."""
    path = project.directory / f"{project.manifest.prefix}_weights.c"
    pattern = rf"({re.escape(table(project, layer))}\[\d+\] = \{{\s*)(-?\d+)"
    text, count = re.subn(pattern, lambda m: f"{m[1]}{int(m[2]) ^ 64}", path.read_text())
    assert count == 1
    path.write_text(text)


def table(project: Project, layer: int = LAYER) -> str:
    """Symbol of a layer's first table."""
    prefix = project.manifest.prefix
    text = (project.directory / f"{prefix}_weights.c").read_text()
    found = re.search(rf"\b{prefix}_{layer:02d}_\w+", text)
    assert found
    return found[0]


FAULTS: dict[str, Callable[[Project], None]] = {
    function.__name__: function
    for function in (
        short_arena, canary, write_flash, stack_overflow, endless_loop, undefined, supervisor_call,
        breakpoint_left, wrong_weight,
    )
}  # fmt: skip


def inject(folder: Path, name: str) -> Project:
    """Put a fault into a project."""
    project = Project(folder)
    FAULTS[name](project)
    return project
