"""Kernel calls as C: operands, constant arrays in flash, and the text of a call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolchain.emit.arena import ArenaPart, refer
from toolchain.emit.literals import braces, identifier
from toolchain.emit.render import render
from toolchain.ir import Array, DType, Graph, Op, Quant, Site, Target, Types
from toolchain.plan import Plan
from toolchain.select import Choice


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor as a template sees it: a C expression and the facts of its type."""

    ref: str
    shape: tuple[int, ...]
    elements: int
    quant: Quant | None
    dtype: DType
    constant: bool = False

    @property
    def bytes(self) -> str:
        """The same address of int8_t."""
        if self.dtype is DType.INT8:
            return self.ref
        return f"({'const ' if self.constant else ''}int8_t *){self.ref}"

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
    """A constant array in flash; prints as its symbol.

    Args:
        symbol: Its name in C.
        values: Its contents.
        stem: Begin of its name: prefix and number of the layer.
    """

    symbol: str
    values: Array
    stem: str = ""

    @property
    def length(self) -> int:
        """Number of elements."""
        return int(self.values.size)

    def __str__(self) -> str:
        return self.symbol


@dataclass(frozen=True, slots=True)
class Where:
    """Where a call finds its memory.

    Args:
        types: Types of its tensors.
        refs: C expression of every activation.
        scratch: C expression of the scratch memory.
        known: Arrays that calls of the same operator share, by their contents.
    """

    types: Types
    refs: Mapping[str, str]
    scratch: str
    known: dict[tuple[str, bytes], Table] | None = None


@dataclass(slots=True)
class Writer:
    """Prints calls and collects the arrays they need.

    Args:
        graph: The planned graph.
        plan: Offsets in the arena.
        target: Instruction set and library.
        prefix: Prefix of all external symbols.
        arenas: The arrays of the arena.
        tables: The arrays so far.
    """

    graph: Graph
    plan: Plan
    target: Target
    prefix: str
    arenas: tuple[ArenaPart, ...]
    tables: list[Table] = field(default_factory=list)

    def call(self, op: Op, choice: Choice, stem: str, where: Where) -> str:
        """The body of a function that calls the kernel of an operator.

        Args:
            op: The operator.
            choice: Its kernel.
            stem: Begin of the names of its arrays.
            where: Types and addresses.
        """
        kernel = choice.kernel
        site = Site(op, where.types, self.graph.constants, self.target)
        arrays = op.tables(site.types, self.target) if kernel.pack is None else kernel.pack(site)
        tables = {role: self._table(stem, role, a, where) for role, a in arrays.items()}
        packed = kernel.pack is not None
        inputs = [self._operand(x, stem, where, packed=packed) for x in op.inputs]
        outputs = [self._operand(y, stem, where) for y in op.outputs]
        context: dict[str, Any] = {
            **op.arguments(site.types),
            **kernel.facts(site),
            "kernel": kernel.name,
            "inputs": inputs,
            "outputs": outputs,
            "x": inputs[0],
            "y": outputs[0],
            "tables": tables,
            "scratch": where.scratch,
            "scratch_bytes": choice.scratch,
        }
        return render(kernel.template, **context).rstrip("\n")

    def whole(self, op: Op) -> Where:
        """The memory of an operator whose tensors lie in the arena."""
        offset = self.plan.scratch_offsets.get(op.y)
        names = [n for n in (*op.inputs, *op.outputs) if n in self.plan.offsets]
        return Where(
            self.graph.types,
            {
                n: address(refer(self.arenas, self.plan.offsets[n]), self.graph.types[n].dtype)
                for n in names
            },
            self.scratch(offset),
        )

    def scratch(self, offset: int | None) -> str:
        """Scratch memory at an offset in the arena."""
        return "NULL" if offset is None else refer(self.arenas, offset)

    def _table(self, stem: str, role: str, values: Array, where: Where) -> Table:
        symbol = f"{stem}_{role}"
        table = Table(symbol, values, stem)
        if where.known is not None:
            key = f"{values.dtype}{values.shape}", values.tobytes()
            if key in where.known:
                return where.known[key]
            taken = {known.symbol for known in where.known.values()}
            if symbol in taken:
                table = Table(f"{symbol}_{len(taken)}", values, stem)
            where.known[key] = table
        self.tables.append(table)
        return table

    def _operand(self, name: str, stem: str, where: Where, *, packed: bool = False) -> Operand:
        kind = where.types[name]
        stored = self.plan.constants.get(name, name)
        if self.graph.is_constant(stored) and packed:
            ref = ""  # the kernel reads its own arrays instead
        elif self.graph.is_constant(stored):
            role = identifier(stored.rsplit(".", 1)[-1])
            ref = self._table(stem, role, self.graph.constants[stored], where).symbol
        else:
            ref = where.refs[name]
        constant = self.graph.is_constant(stored)
        return Operand(ref, kind.shape, kind.elements, kind.quant, kind.dtype, constant)


def address(place: str, dtype: DType, qualifier: str = "") -> str:
    """Memory of the arena as a pointer to codes.

    Args:
        place: Where it is, a pointer to bytes, aligned as the codes are.
        dtype: Type of the codes.
        qualifier: "const " or nothing.
    """
    wide = "" if dtype.nbytes == 1 else f"({qualifier}void *)"
    return f"({qualifier}{dtype}_t *){wide}({place})"
