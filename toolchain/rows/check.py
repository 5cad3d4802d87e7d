"""An independent check of segments: execute their steps in numpy, in an arena full of noise.

Shares nothing with the planner but the steps: the numbers that the firmware gets. Every call reads
what lies at its addresses then, whatever it is.
"""

from collections.abc import Mapping

import numpy as np

from toolchain.errors import InternalError
from toolchain.ir import Array, Graph, Target
from toolchain.rows.feed import Feed
from toolchain.rows.program import Address, program_of
from toolchain.rows.segment import RowChoice
from toolchain.rows.stages import Form
from toolchain.rows.streamed import Streamed

_ROUNDS = 2


def check_rows(
    graph: Graph,
    op: Streamed,
    choice: RowChoice,
    offsets: Mapping[str, int],
    base: int,
    arena_bytes: int,
    target: Target,
) -> None:
    """Return when a segment gives what its operators give one after the other.

    1. Every address is in the segment's memory or in the tensor that is meant.
    2. No call's scratch memory overlaps what it reads or writes, and the row that it writes
       overlaps what it reads only as the kernel allows.
    3. The output is right, byte for byte, for random inputs.
    4. Nothing is written but the segment's memory and the output.

    Args:
        graph: The planned graph.
        op: The segment.
        choice: What runs it.
        offsets: Of whole tensors in the arena.
        base: Of the segment's memory.
        arena_bytes: Size of the arena.
        target: Instruction set and family.

    Raises:
        InternalError: It does not; names the layer.
    """
    replay = _Replay(graph, op, choice, offsets, base, arena_bytes, target)
    rng = np.random.default_rng(0)
    for _ in range(_ROUNDS):
        replay.run(rng)


class _Replay:
    def __init__(
        self,
        graph: Graph,
        op: Streamed,
        choice: RowChoice,
        offsets: Mapping[str, int],
        base: int,
        arena_bytes: int,
        target: Target,
    ) -> None:
        self.graph, self.op, self.choice, self.target = graph, op, choice, target
        self.program = program_of(choice.layout, offsets, base)
        self.size = arena_bytes
        self.own = range(base, base + choice.scratch)
        self.whole = {
            x: range(offsets[x], offsets[x] + graph.types[x].nbytes)
            for x in (*op.inputs, *op.outputs)
            if x in offsets
        }
        self.forms: list[tuple[str, Form, int | None]] = []
        for s, stage in enumerate(choice.layout.stages):
            for f, form in enumerate(stage.forms):
                scratch = choice.layout.scratch.get((s, f))
                start = None if scratch is None else base + scratch
                self.forms.append((stage.y, form, start))
        self.arena = np.zeros(0, np.uint8)
        self.given: Mapping[str, Array] = {}
        self.pushed = 0

    def run(self, rng: np.random.Generator) -> None:
        """Once, with new inputs and new noise."""
        self.arena = rng.integers(0, 256, self.size, np.uint8)
        codes = []
        for x in self.op.inputs:
            if x not in self.whole:
                codes.append(self.graph.constants[x])
                continue
            kind, span = self.graph.types[x], self.whole[x]
            codes.append(rng.integers(-128, 128, kind.shape, np.int8))
            self.arena[span.start : span.stop] = codes[-1].view(np.uint8).reshape(-1)
        given = dict(zip(self.op.inputs, codes, strict=True))
        if self.op.fed is not None:
            shape = self.graph.types[self.op.fed].shape
            given[self.op.fed] = rng.integers(-128, 128, shape, np.int8)
        before, self.given, self.pushed = self.arena.copy(), given, 0
        for step in self.program:
            if step[0] == 0:
                self._move(step)
            else:
                self._call(step, rng)
        expected = self.op.results(self.graph.types, given)
        for y, right in zip(self.op.outputs, expected, strict=True):
            span = self.whole[y]
            found = self.arena[span.start : span.stop].view(np.int8).reshape(right.shape)
            if not np.array_equal(found, right):
                count = int((found != right).sum())
                raise self._wrong(self.op.name, f"{count} bytes of {y!r} are wrong")
        untouched = np.ones(self.size, np.bool_)
        for span in (self.own, *(self.whole[y] for y in self.op.outputs)):
            untouched[span.start : span.stop] = False
        if not np.array_equal(before[untouched], self.arena[untouched]):
            raise self._wrong(self.op.name, "bytes of others are overwritten")

    def _move(self, step: Address) -> None:
        _, to, start, nbytes = step
        moved = range(to, start + nbytes)
        if not (to < start and nbytes > 0 and _inside(moved, self.own)):
            raise self._wrong(self.op.name, f"a move of {nbytes} bytes from {start} to {to}")
        self.arena[to : to + nbytes] = self.arena[start : start + nbytes].copy()

    def _call(self, step: Address, rng: np.random.Generator) -> None:
        name, form, scratch = self.forms[step[0] - 1]
        op = form.op
        read = [x for x in op.inputs if not self.graph.is_constant(x)]
        spans = {
            x: self._span(x, start, form, op.name) for x, start in zip(read, step[2:], strict=False)
        }
        written = self._span(name, step[1], form, op.name)
        if scratch is not None:
            taken = range(scratch, scratch + form.choice.scratch)
            apart = [written, *spans.values()]
            if not _inside(taken, self.own) or any(_overlap(taken, span) for span in apart):
                raise self._wrong(op.name, "its scratch memory is not its own")
            self.arena[taken.start : taken.stop] = rng.integers(0, 256, len(taken), np.uint8)
        site = form.site(self.graph, self.target)
        distances = form.choice.kernel.overlap(site)
        places = form.choice.kernel.onto(site)
        for i, x in enumerate(op.inputs):
            if x not in spans or not _overlap(written, spans[x]) or x == name:
                continue
            before = spans[x].start - written.start
            if not (before >= distances.get(i, len(written)) or (before == 0 and i in places)):
                raise self._wrong(op.name, f"row {name!r} overlaps {x!r}")
        values = [
            self._read(x, spans[x], form) if x in spans else self.graph.constants[x]
            for x in op.inputs
        ]
        (result,) = self._push() if isinstance(op, Feed) else op.simulate(form.types, *values)
        if result.shape != form.types[name].shape:
            raise self._wrong(op.name, f"a row of shape {result.shape}")
        self.arena[written.start : written.stop] = (
            np.ascontiguousarray(result).view(np.uint8).reshape(-1)
        )

    def _push(self) -> tuple[Array, ...]:
        """The next row that the caller hands over."""
        assert self.op.fed is not None
        row = self.given[self.op.fed][:, self.pushed : self.pushed + 1]
        self.pushed += 1
        return (row,)

    def _span(self, name: str, start: int, form: Form, where: str) -> range:
        span = range(start, start + form.types[name].nbytes)
        if not _inside(span, self.whole.get(name, self.own)):
            raise self._wrong(where, f"{name!r} at {span.start}..{span.stop} is outside")
        return span

    def _read(self, name: str, span: range, form: Form) -> Array:
        kind = form.types[name]
        code = np.dtype(kind.dtype.value)
        return self.arena[span.start : span.stop].copy().view(code).reshape(kind.shape)

    def _wrong(self, where: str, reason: str) -> InternalError:
        return InternalError("plan", where, reason)


def _inside(span: range, outer: range) -> bool:
    return outer.start <= span.start and span.stop <= outer.stop


def _overlap(a: range, b: range) -> bool:
    return a.start < b.stop and b.start < a.stop
