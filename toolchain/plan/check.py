"""An independent check of a plan: replay the program and watch every byte of the arena.

Shares nothing with the planner but the graph and the plan. Each byte remembers which tensor's value
was stored there last; every read must find all bytes of the value it wants.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from toolchain.errors import InternalError
from toolchain.ir import Graph, Op
from toolchain.plan.arena import Plan
from toolchain.plan.memories import Room
from toolchain.select import Choice

_NOTHING = 0


def check_plan(
    graph: Graph,
    choices: Mapping[str, Choice],
    plan: Plan,
    alignment: int,
    rooms: Sequence[Room] = (),
) -> None:
    """Return when the program runs correctly in the planned arena.

    1. Every offset is aligned and its bytes are inside the arena.
    2. The inputs do not overlap, nor do the outputs and the scratch memory of one operator.
    3. An operator's scratch memory and outputs do not overlap its inputs, except the first output
       or scratch memory and an input that the kernel lets it overlap, when it begins far enough
       before that or, an output, lies at the very place, as the kernel says.
    4. A view lies where the tensor it shows lies.
    5. Every operator finds its inputs intact, and the caller finds the outputs intact, and the
       inputs that the plan promises.
    6. The parts of the arena, if there are any, follow one another and are all of it; each is in
       another room and no larger than that, and no tensor and no scratch memory lies in two.

    Args:
        graph: Operators in the order they run.
        choices: Kernel of every operator that computes, by its first output.
        plan: The plan.
        alignment: Alignment of every buffer, bytes.
        rooms: What the arena may take of which memory; empty: nothing is said.

    Raises:
        InternalError: The plan is wrong; names the operator and the tensor.
    """
    if plan.arena_bytes % alignment:
        raise _wrong("", f"arena of {plan.arena_bytes} bytes is no multiple of {alignment}")
    _check_parts(plan, alignment, rooms)
    replay = _Replay(graph, plan, alignment)
    replay.fill_inputs()
    for op in graph.ops:
        if op.is_view:
            replay.view(op)
        else:
            replay.run(op, choices.get(op.y))
    replay.finish()


def _check_parts(plan: Plan, alignment: int, rooms: Sequence[Room]) -> None:
    """The sixth rule, but for what lies in the parts."""
    end, free = 0, {room.memory: room.nbytes for room in rooms}
    for part in plan.parts:
        if part.start != end or part.nbytes % alignment:
            raise _wrong(part.memory, f"the part of the arena begins at {part.start}, not at {end}")
        end = part.end
        room = free.pop(part.memory, -1) if rooms else part.nbytes
        if part.nbytes > room:
            raise _wrong(part.memory, f"{part.nbytes} bytes of the arena, of {max(room, 0)} there")
    if plan.parts and end != plan.arena_bytes:
        raise _wrong("", f"the parts end at {end}, the arena at {plan.arena_bytes}")
    if rooms and not plan.parts and plan.arena_bytes:
        raise _wrong("", "the arena is in none of the memories")


def _wrong(where: str, reason: str) -> InternalError:
    return InternalError("plan", where, reason)


class _Replay:
    def __init__(self, graph: Graph, plan: Plan, alignment: int) -> None:
        self.graph, self.plan, self.alignment = graph, plan, alignment
        self.bytes = np.full(plan.arena_bytes, _NOTHING, np.int32)
        self.writers = ["nothing"]
        self.values: dict[str, int | None] = dict.fromkeys(graph.constants)

    def fill_inputs(self) -> None:
        for x in self.graph.inputs:
            span = self.span(x, "the caller", self.plan.offsets)
            if np.any(self.bytes[span] != _NOTHING):
                raise _wrong("the caller", f"input {x!r} overlaps another input")
            self.write(x, span, "the caller")

    def view(self, op: Op) -> None:
        for y in op.outputs:
            self.values[y] = self.values[op.x]
            if self.values[y] is None:
                continue
            span, shown = (self.span(t, op.name, self.plan.offsets) for t in (y, op.x))
            if span != shown:
                raise _wrong(op.name, f"view {y!r} does not lie where {op.x!r} lies")

    def run(self, op: Op, choice: Choice | None) -> None:
        sources = [self.read(x, op.name) for x in op.inputs]
        outputs = [self.span(y, op.name, self.plan.offsets) for y in op.outputs]
        taken = [(f"output {y!r}", span) for y, span in zip(op.outputs, outputs, strict=True)]
        if choice is not None and choice.scratch > 0:
            span = self.span(op.y, op.name, self.plan.scratch_offsets, choice.scratch)
            taken.append(("scratch memory", span))
        for (one, span), (other, rival) in combinations(taken, 2):
            if _overlap(span, rival):
                raise _wrong(op.name, f"{one} overlaps {other} of the same operator")
        distances = choice.overlap if choice is not None else {}
        beneath = choice.beneath if choice is not None else {}
        places = choice.onto if choice is not None else ()
        for n, (what, span) in enumerate(taken):
            for i, source in enumerate(sources):
                if source is None or not _overlap(span, source):
                    continue
                allowed = {0: distances, len(outputs): beneath}.get(n, {})
                far = i in allowed and source.start - span.start >= allowed[i]
                same = i in places and span.start == source.start and span.stop <= source.stop
                if not (far or (n == 0 and same)):
                    raise _wrong(op.name, f"{what} overlaps its input {op.inputs[i]!r}")
        for _, span in taken[len(outputs) :]:
            self.write(None, span, f"the scratch memory of {op.name}")
        for y, span in zip(op.outputs, outputs, strict=True):
            self.write(y, span, op.name)

    def finish(self) -> None:
        for y in self.graph.outputs:
            self.read(y, "the caller, at the end,")
        for x in self.graph.inputs:
            if self.plan.input_survives.get(x, False):
                self.read(x, "the caller, who was promised it survives,")

    def span(
        self, name: str, where: str, offsets: Mapping[str, int], nbytes: int | None = None
    ) -> slice:
        """The bytes of a tensor, or of scratch memory of the given size."""
        start = offsets.get(name)
        if start is None:
            raise _wrong(where, f"{name!r} has no offset")
        stop = start + (self.graph.types[name].nbytes if nbytes is None else nbytes)
        if start % self.alignment:
            raise _wrong(where, f"{name!r} at {start} is not aligned to {self.alignment}")
        if start < 0 or stop > self.plan.arena_bytes:
            raise _wrong(
                where, f"{name!r} at {start}..{stop} is outside {self.plan.arena_bytes} bytes"
            )
        if any(start < part.end < stop for part in self.plan.parts):
            raise _wrong(where, f"{name!r} at {start}..{stop} lies in two parts of the arena")
        return slice(start, stop)

    def write(self, name: str | None, span: slice, writer: str) -> None:
        self.writers.append(writer)
        value = len(self.writers) - 1
        self.bytes[span] = value
        if name is not None:
            self.values[name] = value

    def read(self, name: str, reader: str) -> slice | None:
        """The bytes of a value that must be intact; None when it is constant."""
        value = self.values[name]
        if value is None:
            return None
        span = self.span(name, reader, self.plan.offsets)
        found = self.bytes[span]
        if np.any(found != value):
            culprit = self.writers[int(found[found != value][0])]
            raise _wrong(reader, f"{name!r} was overwritten by {culprit} before it is read")
        return span


def _overlap(a: slice, b: slice) -> bool:
    return bool(a.start < b.stop and b.start < a.stop)
