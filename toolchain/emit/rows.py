"""A segment that runs row by row as C: its calls with addresses as parameters, and their order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolchain.emit.arena import refer
from toolchain.emit.calls import Table, Where, Writer
from toolchain.ir import Op
from toolchain.rows import Address, Feed, Layout, RowChoice, Streamed, program_of

_POINTERS = ("x0", "x1")


@dataclass(frozen=True, slots=True)
class RowForm:
    """A function that computes a row."""

    function: str
    op: Op
    body: str

    @property
    def unused(self) -> tuple[str, ...]:
        """Parameters it does not need."""
        return tuple(name for name in _POINTERS if not re.search(rf"\b{name}\b", self.body))


@dataclass(frozen=True, slots=True)
class FedInput:
    """An input that comes row by row.

    Args:
        step: First number of the steps that take a row.
        state: Where in the arena the number of the next step is, uint32: a C expression.
        nbytes: Bytes of a row.
    """

    step: int
    state: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class RowsCode:
    """What the template prints of a segment.

    Args:
        function: The function that runs it.
        layers: Index of its first layer, and of the one after the last.
        stem: Begin of the names of its tables.
        forms: Its functions.
        steps: Distinct steps: (0, to, from, bytes) moves, (1 + form, y, x0, x1) calls.
        order: Indices of steps.
        bits: Of the numbers in steps and in order.
        fed: How rows of the input come in, where the caller hands them over.
    """

    function: str
    layers: tuple[int, int]
    stem: str
    forms: tuple[RowForm, ...]
    steps: tuple[Address, ...]
    order: tuple[int, ...]
    bits: tuple[int, int]
    fed: FedInput | None

    @property
    def indices(self) -> range:
        """The layers that it runs."""
        return range(*self.layers)


def rows_code(
    writer: Writer, index: int, op: Streamed, choice: RowChoice, idents: list[str]
) -> RowsCode:
    """Print a segment.

    Args:
        writer: Prints its calls.
        index: Number of its first layer.
        op: The segment.
        choice: What runs it.
        idents: Names of its layers as parts of identifiers.
    """
    base = writer.plan.scratch_offsets.get(op.y, 0)
    program = program_of(choice.layout, writer.plan.offsets, base)
    names = {layer.y: i for i, layer in enumerate(op.layers)}
    forms = tuple(_forms(writer, index, choice, base, names, idents))
    steps = tuple(dict.fromkeys(program))
    number = {step: i for i, step in enumerate(steps)}
    largest = max(max(step) for step in steps)
    return RowsCode(
        f"rows_{index:02d}_{idents[-1]}",
        (index, index + len(op.layers)),
        f"rows_{index:02d}",
        forms,
        steps,
        tuple(number[step] for step in program),
        (16 if largest < 1 << 16 else 32, 8 if len(steps) <= 1 << 8 else 16),
        _fed(writer, choice.layout, base),
    )


def _fed(writer: Writer, layout: Layout, base: int) -> FedInput | None:
    """The stage that waits for rows comes first, if there is one."""
    if layout.state is None:
        return None
    (form,) = layout.stages[0].forms
    place = refer(writer.arenas, base + layout.state)
    return FedInput(1, place, form.types[form.op.y].nbytes)


def _forms(
    writer: Writer,
    index: int,
    choice: RowChoice,
    base: int,
    names: dict[str, int],
    idents: list[str],
) -> Iterator[RowForm]:
    known: dict[str, dict[tuple[str, bytes], Table]] = {}
    for s, stage in enumerate(choice.layout.stages):
        if isinstance(stage.op, Feed):
            continue
        layer = names[stage.op.y]
        stem = f"{writer.prefix}_{index + layer:02d}"
        for f, form in enumerate(stage.forms):
            read = [x for x in form.op.inputs if not writer.graph.is_constant(x)]
            offset = choice.layout.scratch.get((s, f))
            where = Where(
                form.types,
                {**dict(zip(read, _POINTERS, strict=False)), stage.y: "y"},
                writer.scratch(None if offset is None else base + offset),
                known.setdefault(stem, {}),
            )
            yield RowForm(
                f"row_{index + layer:02d}_{idents[layer]}_{s}_{f}",
                stage.op,
                writer.call(form.op, form.choice, stem, where),
            )
