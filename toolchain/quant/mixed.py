"""Mixed precision: chosen layers on int16 codes, with requantisation where they meet int8 ones."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from toolchain.ir import DType, Graph, Op, Origin, TensorType
from toolchain.ir.fixedpoint import dequantize
from toolchain.ops.unary import Unary
from toolchain.ops.wide import Requantize, moves_codes, twin
from toolchain.quant.ranges import Range

_ROOM = 16.0
"""How many times the range of int8 codes that of int16 codes may be, to hold outliers."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A float graph whose operators say which codes they compute with.

    Args:
        graph: The graph, with borders.
        ranges: Those given, and one for every border; int16 tensors have more of what was seen.
        notes: Sentences for the user.
    """

    graph: Graph
    ranges: Mapping[str, Range]
    notes: tuple[str, ...] = ()


def mix(
    graph: Graph,
    wide: Collection[str],
    ranges: Mapping[str, Range],
    seen: Mapping[str, Range],
) -> Mixed:
    """Put the int16 twins of some operators in their place, and borders between the two kinds.

    1. A chosen operator reads and writes int16 codes. One that has no such form stays int8.
    2. An operator that moves or picks codes, a view included, takes int16 codes where one of its
       inputs has them.
    3. What a quantised model states as int16 counts as chosen, and so does what reads it without a
       stated output. Where the type of a tensor is not
       the one it states, the tensor keeps the range.
    4. An input of the graph whose readers are all chosen has int16 codes, and so has an output
       that such an operator writes.
    5. A tensor read in the other type goes through one Requantize, which all such readers share.

    Args:
        graph: Float graph, every operator on int8 codes.
        wide: Tensors that the chosen operators write.
        ranges: Ranges for quantize().
        seen: Smallest and largest value of each of these tensors, for int16 ones.
    """
    stated = {y for y, kind in graph.types.items() if _stated(kind) is DType.INT16}
    if not (wide or stated):
        return Mixed(graph, ranges)
    return _Mixer(graph, {*wide, *stated}, ranges, seen, follows=bool(stated)).run()


def _stated(kind: TensorType) -> DType | None:
    """The type of codes that the model gives a tensor."""
    return None if kind.quant is None else kind.quant.dtype


def _room(given: Range, seen: Range) -> Range:
    """The range of int16 codes: what was seen, as far as that is not much more than was chosen.

    Steps stay `256 / _ROOM` times finer than those of int8 codes.
    """
    return Range(max(seen.low, _ROOM * given.low), min(seen.high, _ROOM * given.high))


class _Mixer:
    def __init__(
        self,
        graph: Graph,
        wide: Collection[str],
        ranges: Mapping[str, Range],
        seen: Mapping[str, Range],
        *,
        follows: bool,
    ) -> None:
        self.graph, self.wide, self.seen = graph, set(wide), seen
        self.given, self.ranges = ranges, dict(ranges)
        self.follows = follows
        self.codes: dict[str, DType] = {}
        self.borders: dict[str, str] = {}
        self.types: dict[str, TensorType] = {}
        self.origins: dict[str, Origin] = {}
        self.ops: list[Op] = []
        self.notes: list[str] = []

    def run(self) -> Mixed:
        for x in self.graph.inputs:
            wide = x in self.wide or self._only_wide(x)
            self._declare(x, DType.INT16 if wide else DType.INT8)
        for op in self.graph.ops:
            self._place(op)
        graph = self.graph.with_ops(self.ops, self.types, origins=self.origins)
        return Mixed(graph, self.ranges, tuple(dict.fromkeys(self.notes)))

    def _only_wide(self, x: str) -> bool:
        """Whether everything that reads a tensor reads int16 codes."""
        readers = self.graph.consumers().get(x, [])
        return (
            bool(readers)
            and x not in self.graph.outputs
            and all(
                (op.y in self.wide and twin(op) is not None)
                or (moves_codes(op) and all(self._only_wide(y) for y in op.outputs))
                for op in readers
            )
        )

    def _declare(self, name: str, codes: DType) -> None:
        self.codes[name] = codes
        kind = self.graph.types[name]
        if kind.quant is not None and kind.quant.dtype is not codes:
            low, high = dequantize(kind.quant.dtype.limits, kind.quant)
            self.types[name] = replace(kind, quant=None)
            self.ranges[name] = Range(float(low), float(high))
        elif codes is DType.INT16 and name in self.seen:
            self.ranges[name] = _room(self.given.get(name, self.seen[name]), self.seen[name])

    def _place(self, op: Op) -> None:
        read = self.graph.activations(op)
        any_wide = any(self.codes[x] is DType.INT16 for x in read)
        if op.is_view:
            self.ops.append(op)
            self._declare(op.y, self.codes[op.x])
            return
        new = op
        wanted = _stated(self.graph.types[op.y]) or DType.INT16
        rescaled = isinstance(op, Unary) and op.expression == ("x",)
        if rescaled and DType.INT16 in (wanted if op.y in self.wide else None, self.codes[op.x]):
            self.ops.append(Requantize(op.name, op.inputs, op.outputs, self.codes[op.x], wanted))
            self._declare(op.y, wanted)
            return
        follows = self.follows and self.graph.types[op.y].quant is None and twin(op) is not None
        if op.y in self.wide or (any_wide and (moves_codes(op) or follows)):
            new = twin(op) or op
            if new is op:
                self.notes.append(
                    f"{op.name}: {type(op).__name__} has no int16 form and stays int8"
                )
        names = {x: self._as(x, new.reads) for x in read if self.codes[x] is not new.reads}
        self.ops.append(new.renamed(names) if names else new)
        for y in op.outputs:
            self._declare(y, new.writes)

    def _as(self, x: str, wanted: DType) -> str:
        """The tensor with codes of the other type."""
        if x not in self.borders:
            name = self._fresh(f"{x}.{wanted}")
            producer = self.graph.producers().get(x)
            source = x if producer is None else producer.name
            self.ops.append(
                Requantize(f"{source} as {wanted}", (x,), (name,), self.codes[x], wanted)
            )
            self.types[name] = replace(self.graph.types[x], quant=None)
            if x in self.graph.origins:
                self.origins[name] = self.graph.origins[x]
            if x in self.given:
                self.ranges[name] = self.given[x]
            self.borders[x] = name
        return self.borders[x]

    def _fresh(self, base: str) -> str:
        name = base
        while name in self.graph.types or name in self.types:
            name += "_"
        return name
