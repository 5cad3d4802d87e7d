"""The planned int8 graph as C: one header, one source, one file of constants."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolchain.emit.literals import braces, file_prefix, identifier, unique_identifiers
from toolchain.emit.render import render
from toolchain.ir import Array, Graph, Op, Quant, Rounding, Site, Target
from toolchain.plan import Plan
from toolchain.select import Choice


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor as a template sees it: a C expression and the facts of its type."""

    ref: str
    shape: tuple[int, ...]
    elements: int
    quant: Quant | None

    @property
    def dims(self) -> str:
        """The shape as a cmsis_nn_dims initialiser."""
        return braces((1,) * (4 - len(self.shape)) + self.shape)

    @property
    def zero_point(self) -> int:
        """Zero point of an activation."""
        assert self.quant is not None
        return self.quant.zero_point


@dataclass(frozen=True, slots=True)
class Table:
    """A constant array in flash; prints as its symbol."""

    symbol: str
    values: Array

    @property
    def length(self) -> int:
        """Number of elements."""
        return int(self.values.size)

    def __str__(self) -> str:
        return self.symbol


@dataclass(frozen=True, slots=True)
class Layer:
    """One kernel call: a static function of the generated source."""

    index: int
    function: str
    op: Op
    choice: Choice
    body: str
    outputs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the model as C sees it."""

    name: str
    ident: str
    shape: tuple[int, ...]
    nbytes: int
    scale: float
    zero_point: int
    offset: int


@dataclass(frozen=True, slots=True)
class ModelCode:
    """Everything the templates of the model files print."""

    prefix: str
    graph: Graph
    plan: Plan
    layers: tuple[Layer, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    tables: tuple[Table, ...]
    sources: tuple[str, ...]
    alignment: int

    @property
    def single_rounding(self) -> int:
        """GLUE_SINGLE_ROUNDING, with which the model and its kernels are compiled."""
        return int(self.graph.rounding is Rounding.SINGLE)

    @property
    def constant_bytes(self) -> int:
        """Bytes of weights, biases and tables in flash."""
        return sum(int(t.values.nbytes) for t in self.tables)


@dataclass(slots=True)
class _Writer:
    graph: Graph
    choices: Mapping[str, Choice]
    plan: Plan
    target: Target
    prefix: str
    tables: list[Table] = field(default_factory=list)

    def layer(self, index: int, op: Op, ident: str) -> Layer:
        choice = self.choices[op.y]
        stem = f"{self.prefix}_{index:02d}"
        kernel, site = choice.kernel, self._site(op)
        arrays = op.tables(site.types, self.target) if kernel.pack is None else kernel.pack(site)
        tables = {role: self._table(f"{stem}_{role}", a) for role, a in arrays.items()}
        packed = kernel.pack is not None
        inputs = [self._operand(x, stem, packed=packed) for x in op.inputs]
        outputs = [self._operand(y, stem) for y in op.outputs]
        offset = self.plan.scratch_offsets.get(op.y)
        context: dict[str, Any] = {
            **op.arguments(self.graph.types),
            **kernel.facts(site),
            "kernel": kernel.name,
            "inputs": inputs,
            "outputs": outputs,
            "x": inputs[0],
            "y": outputs[0],
            "tables": tables,
            "scratch": "NULL" if offset is None else f"{self.prefix}_arena + {offset}",
            "scratch_bytes": choice.scratch,
        }
        return Layer(
            index,
            f"layer_{index:02d}_{ident}",
            op,
            choice,
            render(kernel.template, **context).rstrip("\n"),
            tuple((self.plan.offsets[y], self.graph.types[y].nbytes) for y in op.outputs),
        )

    def _table(self, symbol: str, values: Array) -> Table:
        table = Table(symbol, values)
        self.tables.append(table)
        return table

    def _site(self, op: Op) -> Site:
        return Site(op, self.graph.types, self.graph.constants, self.target)

    def _operand(self, name: str, stem: str, *, packed: bool = False) -> Operand:
        kind = self.graph.types[name]
        stored = self.plan.constants.get(name, name)
        if self.graph.is_constant(stored) and packed:
            ref = ""  # the kernel reads its own arrays instead
        elif self.graph.is_constant(stored):
            role = identifier(stored.rsplit(".", 1)[-1])
            ref = self._table(f"{stem}_{role}", self.graph.constants[stored]).symbol
        else:
            ref = f"(int8_t *)({self.prefix}_arena + {self.plan.offsets[name]})"
        return Operand(ref, kind.shape, kind.elements, kind.quant)

    def ports(self, names: tuple[str, ...]) -> tuple[Port, ...]:
        idents = unique_identifiers(names)
        return tuple(
            Port(
                name,
                ident,
                self.graph.types[name].shape,
                self.graph.types[name].nbytes,
                self.graph.types[name].q.scale,
                self.graph.types[name].q.zero_point,
                self.plan.offsets[name],
            )
            for name, ident in zip(names, idents, strict=True)
        )


def write_code(
    graph: Graph, choices: Mapping[str, Choice], plan: Plan, target: Target, prefix: str
) -> ModelCode:
    """C text of every layer, and the constants they need.

    Args:
        graph: Quantised, scheduled graph.
        choices: Kernel of every operator that computes.
        plan: Offsets in the arena.
        target: Instruction set and library.
        prefix: Prefix of all external symbols and of the files; one that other files have already
            gets a leading "n_".
    """
    prefix = file_prefix(prefix)
    writer = _Writer(graph, choices, plan, target, prefix)
    ops = [op for op in graph.ops if not op.is_view]
    idents = [identifier(op.name)[:40].rstrip("_") for op in ops]
    layers = tuple(
        writer.layer(i, op, ident) for i, (op, ident) in enumerate(zip(ops, idents, strict=True))
    )
    sources = sorted({s for choice in choices.values() for s in choice.kernel.sources})
    return ModelCode(
        prefix,
        graph,
        plan,
        layers,
        writer.ports(graph.inputs),
        writer.ports(graph.outputs),
        tuple(writer.tables),
        tuple(sources),
        max(16, target.alignment),
    )


def write_model(directory: Path, code: ModelCode, facts: Mapping[str, str]) -> None:
    """Write PREFIX.h, PREFIX.c, PREFIX_weights.h and PREFIX_weights.c.

    Args:
        directory: Existing folder.
        code: The model.
        facts: Lines for the head of the files (model hash, tool version, board).
    """
    for template, name in (
        ("model.h.j2", "{}.h"),
        ("model.c.j2", "{}.c"),
        ("model_weights.h.j2", "{}_weights.h"),
        ("model_weights.c.j2", "{}_weights.c"),
    ):
        text = render(
            template, code=code, facts=facts, prefix=code.prefix, upper=code.prefix.upper()
        )
        path = directory / name.format(code.prefix)
        path.write_text(text, encoding="utf-8", newline="\n")
