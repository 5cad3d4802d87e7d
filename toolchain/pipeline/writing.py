"""A planned model becomes the files of a project."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from toolchain.check.evaluate import input_codes
from toolchain.emit import (
    ModelCode,
    identifier,
    write_code,
    write_firmware,
    write_model,
    write_renode,
)
from toolchain.frontend.samples import Samples
from toolchain.ir import Array, Family, Graph
from toolchain.ir.fixedpoint import random_codes
from toolchain.options import ConvertOptions
from toolchain.pipeline.job import Job
from toolchain.pipeline.samples import checked_sample
from toolchain.plan import Arranged, Memories
from toolchain.project import Source, firmware_of, manifest_of, write_records
from toolchain.quant.refine import Refined

STORED_SAMPLES = 16
CHECKED_SAMPLES = 2
"""Samples of the check for Renode, whose right outputs are computed at conversion."""


@dataclass(frozen=True, slots=True)
class Integers:
    """A quantised graph with its kernels and its memory."""

    arranged: Arranged
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    chosen: Refined


def write_project(
    aside: Path,
    job: Job,
    planned: Integers,
    options: ConvertOptions,
    notes: Sequence[str] = (),
) -> None:
    """Write all files of a project.

    Args:
        aside: Its folder.
        job: What is converted.
        planned: The integer graph with kernels and memory.
        options: The user's choices.
        notes: More sentences for the manifest.
    """
    board, samples, arranged = job.board, job.samples, planned.arranged
    target, prefix = job.target(options), identifier(options.prefix or job.path.stem)
    memories = job.memories.beside(arranged.plan, board.ram.name)
    code = write_code(arranged.graph, arranged.choices, arranged.plan, target, prefix, memories)
    source = Source(
        job.path.name,
        sha256(job.path.read_bytes()).hexdigest(),
        tool_version(),
        board,
        options.family,
        options.method,
        0 if samples is None else len(samples),
        options.stack_bytes,
        options.shapes,
        options.pixel_scale,
        (
            *job.imported.notes,
            *_notes_on(options, code.prefix),
            *job.chosen.notes,
            *(samples.notes if samples else ()),
            *planned.notes,
            *_notes_on_memories(code, memories),
            *notes,
        ),
        (*(samples.warnings if samples else ()), *planned.warnings),
        job.rounding,
        planned.chosen.methods,
        planned.chosen.gains,
    )
    write_model(aside, code, source.facts())
    firmware = firmware_of(code)
    write_firmware(
        aside,
        firmware,
        board,
        options.cmsis_nn_dir,
        options.stack_bytes,
        optimize=options.optimize,
    )
    first = _first_codes(code.graph, samples)
    checked = [checked_sample(code.graph, firmware, sample) for sample in first[:CHECKED_SAMPLES]]
    write_renode(aside, code.prefix, board, checked)
    write_records(aside, job.model, code.graph, manifest_of(code, source), first)


def _notes_on(options: ConvertOptions, prefix: str) -> Iterator[str]:
    """What became of choices that could not be taken as they are."""
    if options.family is Family.CMSIS_NN and options.cmsis_nn_dir is None:
        yield "no copy of CMSIS-NN was named: its functions are linked in their portable form"
    if options.prefix and options.prefix != prefix:
        yield f"the prefix of files and symbols is {prefix}"


def _notes_on_memories(code: ModelCode, memories: Memories) -> Iterator[str]:
    """Where arena and weights are, when the user chose."""
    if code.plan.parts:
        parts = (f"{part.nbytes:,} bytes in {part.memory}" for part in code.plan.parts)
        yield f"arena: {', '.join(parts)}"
    if code.weights_memory:
        yield f"weights: {code.constant_bytes - code.hot_bytes:,} bytes in {code.weights_memory}"
    if memories.hot is not None and not code.hot:
        yield f"no weights are copied: none fit into {memories.hot.nbytes:,} bytes"
    if code.hot:
        share = sum(code.reads[name] for name in code.hot) / max(sum(code.reads.values()), 1)
        yield (
            f"copied to {code.hot_memory} at start: {code.hot_bytes:,} bytes of weights, "
            f"about {share:.0%} of their reads"
        )


def _first_codes(graph: Graph, samples: Samples | None) -> list[dict[str, Array]]:
    """Codes of the first samples; random ones, always the same, when there are none."""
    if samples is not None:
        return [input_codes(graph, s) for _, s in zip(range(STORED_SAMPLES), samples, strict=False)]
    rng = np.random.default_rng(0)
    return [
        {x: random_codes(graph.types[x], rng) for x in graph.inputs} for _ in range(STORED_SAMPLES)
    ]


def tool_version() -> str:
    """Version of the installed tool."""
    try:
        return version("onnx2mcu")
    except PackageNotFoundError:
        return "unknown"
