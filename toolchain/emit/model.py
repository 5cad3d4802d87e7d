"""The planned int8 graph as C: one header, one source, one file of constants."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolchain.emit.arena import ArenaPart, arena_parts, refer
from toolchain.emit.calls import Table, Writer, address
from toolchain.emit.hot import hottest, table_reads
from toolchain.emit.literals import file_prefix, identifier, unique_identifiers
from toolchain.emit.render import render
from toolchain.emit.rows import RowsCode, rows_code
from toolchain.ir import DType, Graph, Op, Rounding, Target
from toolchain.ir.fixedpoint import INT8_MAX, INT8_MIN, quantize_bound
from toolchain.plan import Memories, Plan, dead_spans
from toolchain.rows import RowChoice, Streamed, flattened
from toolchain.select import Choice


@dataclass(frozen=True, slots=True)
class Layer:
    """One kernel call: a static function of the generated source."""

    index: int
    function: str
    op: Op
    choice: Choice
    body: str
    outputs: tuple[tuple[int, int], ...]

    @property
    def indices(self) -> tuple[int, ...]:
        """The layers that it runs."""
        return (self.index,)


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the model as C sees it."""

    name: str
    ident: str
    shape: tuple[int, ...]
    nbytes: int
    scale: float
    zero_point: int
    place: str
    dtype: DType = DType.INT8

    @property
    def elements(self) -> int:
        """Number of codes."""
        return self.nbytes // self.dtype.nbytes

    @property
    def low(self) -> int:
        """Smallest code."""
        return self.dtype.limits[0]

    @property
    def high(self) -> int:
        """Largest code."""
        return self.dtype.limits[1]

    @property
    def bound(self) -> int:
        """Steps from zero beyond which every value has the outermost code."""
        return quantize_bound(self.dtype)

    def address(self, qualifier: str = "") -> str:
        """The port as a pointer to its codes, which `qualifier` may make "const "."""
        return address(self.place, self.dtype, qualifier)


@dataclass(frozen=True, slots=True)
class FedPort:
    """An input of the model that the caller hands over row by row.

    Args:
        name: Its name.
        ident: The same as part of C identifiers.
        shape: In the model.
        nbytes: Of all rows.
        scale: Of its codes.
        zero_point: Of its codes.
        image: Rows, pixels of a row, channels of a pixel.
        strides: Codes of the model's input from a row, a pixel, a channel to the next.
        dtype: Of its codes.
        low: Smallest code.
        high: Largest code.
        bound: Steps from zero beyond which every value has the outermost code.
    """

    name: str
    ident: str
    shape: tuple[int, ...]
    nbytes: int
    scale: float
    zero_point: int
    image: tuple[int, int, int]
    strides: tuple[int, int, int]
    dtype: DType = DType.INT8
    low: int = INT8_MIN
    high: int = INT8_MAX
    bound: int = quantize_bound(DType.INT8)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.image[0]

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.nbytes // self.rows

    @property
    def in_order(self) -> bool:
        """One row after the other is the input as the model has it."""
        _, width, channels = self.image
        sizes = zip(self.image, self.strides, (width * channels, channels, 1), strict=True)
        return all(n == 1 or stride == step for n, stride, step in sizes)

    @property
    def row(self) -> str:
        """What a row is, for people."""
        _, pixels, channels = self.image
        if pixels == 1:
            return f"{channels} codes"
        if channels == 1:
            return f"{pixels} codes from left to right"
        return f"{pixels} pixels from left to right, the {channels} codes of each together"

    @property
    def order(self) -> str:
        """Where the codes of a row are in the model's input, for people."""
        if self.in_order:
            return "All rows, one after the other, are the model's input."
        terms = zip(self.image, self.strides, ("row", "pixel", "channel"), strict=True)
        place = [f"{step} * {what}" if step > 1 else what for n, step, what in terms if n > 1]
        return f"The model's input has the code of a channel at {' + '.join(place)}."


@dataclass(frozen=True, slots=True)
class ModelCode:
    """Everything the templates of the model files print.

    Args:
        prefix: Prefix of files and symbols.
        graph: The graph, every layer by itself.
        steps: Name of every step of the plan, and the layers it runs row by row, if it does.
        plan: The arena.
        layers: Kernel calls; those of a segment that runs row by row as if each ran by itself.
        units: What runs one after the other: layers and segments.
        inputs: Inputs that are whole.
        fed: The input that comes row by row.
        outputs: Outputs.
        tables: Arrays in flash.
        sources: Files of cmsis_glue/src.
        alignment: Of the arena and of the arrays.
        arenas: The arrays of the arena.
        weights_memory: Flash of the arrays; "" where all constants go.
        hot_memory: RAM of the arrays that are copied there at start; "": there are none.
        hot: Symbols of those.
        reads: By symbol, how often an inference reads an element of it, as estimated.
        dead: Offset and bytes of what nobody reads later, before every layer (of a segment, before
            the first of its layers) and after the last.
    """

    prefix: str
    graph: Graph
    steps: tuple[tuple[str, int], ...]
    plan: Plan
    layers: tuple[Layer, ...]
    units: tuple[Layer | RowsCode, ...]
    inputs: tuple[Port, ...]
    fed: FedPort | None
    outputs: tuple[Port, ...]
    tables: tuple[Table, ...]
    sources: tuple[str, ...]
    alignment: int
    arenas: tuple[ArenaPart, ...]
    weights_memory: str
    hot_memory: str
    hot: frozenset[str]
    reads: Mapping[str, int]
    dead: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def single_rounding(self) -> int:
        """GLUE_SINGLE_ROUNDING, with which the model and its kernels are compiled."""
        return int(self.graph.rounding is Rounding.SINGLE)

    @property
    def ports(self) -> tuple[Port | FedPort, ...]:
        """All inputs, in the order of the graph."""
        return self.inputs if self.fed is None else (self.fed,)

    @property
    def mixed(self) -> bool:
        """Some layers compute with int16 codes."""
        return any(layer.op.writes is DType.INT16 for layer in self.layers)

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """First layer, and the one behind the last, of each segment that runs row by row."""
        return tuple(unit.layers for unit in self.units if isinstance(unit, RowsCode))

    @property
    def by_rows(self) -> bool:
        """Some layers run row by row."""
        return bool(self.segments)

    @property
    def constant_bytes(self) -> int:
        """Bytes of weights, biases and tables in flash."""
        return sum(int(t.values.nbytes) for t in self.tables)

    @property
    def hot_bytes(self) -> int:
        """Bytes of those that are copied to RAM."""
        return sum(int(t.values.nbytes) for t in self.tables if t.symbol in self.hot)


def _layer(writer: Writer, index: int, op: Op, choice: Choice, ident: str) -> Layer:
    plan, types = writer.plan, writer.graph.types
    return Layer(
        index,
        f"layer_{index:02d}_{ident}",
        op,
        choice,
        writer.call(op, choice, f"{writer.prefix}_{index:02d}", writer.whole(op)),
        tuple((plan.offsets[y], types[y].nbytes) for y in op.outputs),
    )


def _parts(writer: Writer, rows: RowsCode, op: Streamed, choice: RowChoice) -> Iterator[Layer]:
    """The layers of a segment, each with the kernel of most rows; the last one has the output."""
    plan, types = writer.plan, writer.graph.types
    feed, *_ = choice.layout.stages
    for i, part in enumerate(op.layers):
        first = next((s for s in choice.layout.stages if s.op is part), feed)
        spans = ((plan.offsets[op.y], types[op.y].nbytes),) if part.y == op.y else ()
        calls = Counter(call.form for call in first.calls)
        main = first.forms[calls.most_common(1)[0][0]].choice
        main = replace(main, predicted=choice.costs.get(part.y))
        yield Layer(rows.layers[0] + i, rows.function, part, main, "", spans)


def _ports(writer: Writer, names: tuple[str, ...]) -> tuple[Port, ...]:
    types, offsets = writer.graph.types, writer.plan.offsets
    return tuple(
        Port(
            name,
            ident,
            types[name].shape,
            types[name].nbytes,
            types[name].q.scale,
            types[name].q.zero_point,
            refer(writer.arenas, offsets[name]),
            types[name].dtype,
        )
        for name, ident in zip(names, unique_identifiers(names), strict=True)
    )


def _fed_port(writer: Writer) -> FedPort | None:
    """The input that the first operator takes row by row."""
    first = writer.graph.ops[0] if writer.graph.ops else None
    if not isinstance(first, Streamed) or first.head is None:
        return None
    head, types = first.head, writer.graph.types
    kind, strides = types[head.x], head.strides(types)
    _, rows, pixels, channels = types[head.image].shape
    (ident,) = unique_identifiers((head.x,))
    assert strides is not None
    return FedPort(
        head.x,
        ident,
        kind.shape,
        kind.nbytes,
        kind.q.scale,
        kind.q.zero_point,
        (rows, pixels, channels),
        strides,
    )


def write_code(
    graph: Graph,
    choices: Mapping[str, Choice],
    plan: Plan,
    target: Target,
    prefix: str,
    memories: Memories | None = None,
) -> ModelCode:
    """C text of every layer, and the constants they need.

    Args:
        graph: Quantised, scheduled graph.
        choices: Kernel of every operator that computes.
        plan: Offsets in the arena.
        target: Instruction set and library.
        prefix: Prefix of all external symbols and of the files; one that other files have already
            gets a leading "n_".
        memories: Where constants go.
    """
    prefix, memories = file_prefix(prefix), memories or Memories()
    parts = [(part.memory, part.nbytes) for part in plan.parts] or [("", plan.arena_bytes)]
    writer = Writer(graph, plan, target, prefix, arena_parts(prefix, parts))
    layers: list[Layer] = []
    units: list[Layer | RowsCode] = []
    spans = dead_spans(graph, plan)
    dead: list[tuple[tuple[int, int], ...]] = []
    for op, before in zip(graph.ops, spans, strict=False):
        if op.is_view:
            continue
        dead += [()] * (len(layers) - len(dead)) + [before]
        choice = choices[op.y]
        if isinstance(op, Streamed) and isinstance(choice, RowChoice):
            idents = [_ident(part) for part in op.layers]
            rows = rows_code(writer, len(layers), op, choice, idents)
            layers += _parts(writer, rows, op, choice)
            units.append(rows)
        else:
            layers.append(_layer(writer, len(layers), op, choice, _ident(op)))
            units.append(layers[-1])
    called = (choices[op.y] for op in graph.ops if op.y in choices)
    sources = sorted({s for choice in called for s in choice.kernel.sources})
    alignment, room = max(16, target.alignment), memories.hot
    calls = {f"{prefix}_{layer.index:02d}": (layer.op, layer.choice) for layer in layers}
    reads = table_reads(writer.tables, calls, flattened(graph).types)
    hot = hottest(writer.tables, reads, room.nbytes, alignment) if room else set()
    return ModelCode(
        prefix,
        flattened(graph),
        tuple((op.name, len(op.layers) if isinstance(op, Streamed) else 0) for op in graph.ops),
        plan,
        tuple(layers),
        tuple(units),
        _ports(writer, graph.inputs),
        _fed_port(writer),
        _ports(writer, graph.outputs),
        tuple(writer.tables),
        tuple(sources),
        alignment,
        writer.arenas,
        memories.weights,
        room.memory if room and hot else "",
        frozenset(hot),
        reads,
        (*dead, *[()] * (len(layers) - len(dead)), spans[-1]),
    )


def _ident(op: Op) -> str:
    return identifier(op.name)[:40].rstrip("_")


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
