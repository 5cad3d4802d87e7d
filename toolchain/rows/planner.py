"""Plans the memory of a segment: windows, single rows and scratch memory of its calls."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from toolchain.rows.conflicts import Conflicts, Interval, Placement, place
from toolchain.rows.layout import Action, Layout, Place, Shift, row_bytes
from toolchain.rows.schedule import Row, Step, call_of, rows_of
from toolchain.rows.stages import Call, Form, Stage
from toolchain.rows.windows import Span, Window, window_of

CLASSES = 6
"""Places of the rows of one tensor without a window, at most."""

DELAYS = (2, 1)
"""Steps after which rows may move: when the row computed last is read already, or at once."""
DELAYED = 8
"""Windows of a segment whose rows may move early, at most."""
STATE_BYTES = 4
"""Of the number of the next step."""


class Held(NamedTuple):
    """Bytes of a block that are in use at a step.

    Attributes:
        block: The block.
        live: All of them.
        dying: Those of rows that nothing needs after the step.
    """

    block: int
    live: Interval
    dying: Interval


def layout_of(
    stages: Sequence[Stage], steps: Sequence[Step], alignment: int, *, search: bool
) -> Layout:
    """Plan the memory of a segment; its inputs and its output are whole and lie elsewhere.

    Args:
        stages: Its stages.
        steps: Their calls in order.
        alignment: Of blocks, bytes.
        search: Look longer for a small placement; without it the layout is an estimate.
    """
    planner = _Planner(stages, steps, alignment, {})
    placement = place(planner.conflicts, planner.bound, search=search)
    if search and placement.nbytes > planner.bound:
        moving = _Planner(stages, steps, alignment, _delays(planner, alignment))
        moved = place(moving.conflicts, moving.bound, search=True)
        if moved.nbytes < placement.nbytes:
            planner, placement = moving, moved
    return planner.layout(placement, steps=search)


def _delays(first: "_Planner", alignment: int) -> dict[str, int]:
    """Windows whose rows had better move early: tried one after the other, the largest first."""
    best = place(first.conflicts, first.bound, search=False).nbytes
    chosen: dict[str, int] = {}
    windows = [y for y, window in first.windows.items() if window.rows > 1]
    largest = sorted(windows, key=lambda y: -first.size[y] * first.windows[y].rows)
    for y in largest[:DELAYED]:
        for delay in DELAYS:
            tried = {**chosen, y: delay}
            planner = _Planner(first.stages, first.steps, alignment, tried)
            found = place(planner.conflicts, planner.bound, search=False).nbytes
            if found < best:
                best, chosen = found, tried
    return chosen


class _Leave(NamedTuple):
    """How a row that is written may lie over the rows that are read and die.

    Attributes:
        read: Where these begin in their block, bytes.
        distance: Bytes by which the row must begin before them; None: it may not.
        onto: It may begin where they do.
    """

    read: int
    distance: int | None
    onto: bool


class _Planner:
    """Blocks for everything that is in use at the steps, and what keeps them apart."""

    def __init__(
        self,
        stages: Sequence[Stage],
        steps: Sequence[Step],
        alignment: int,
        delays: Mapping[str, int],
    ) -> None:
        self.stages, self.steps = tuple(stages), tuple(steps)
        self.rows = rows_of(stages, steps)
        self.size = {s.y: row_bytes(s.kind) for s in stages[:-1]}
        self.windows = {y: window_of(self.rows[y], delays.get(y)) for y in self.size}
        self.moved: dict[int, list[str]] = {}
        for y, window in self.windows.items():
            for t in window.moves:
                self.moved.setdefault(t, []).append(y)
        self.conflicts = Conflicts([], alignment)
        self.blocks: dict[tuple[str, int], int] = {}
        self.scratch: dict[tuple[int, int], int] = {}
        self.held: list[list[Held]] = [[] for _ in steps]
        self.needs: list[int] = []
        for y, window in self.windows.items():
            if window.rows > 1:
                self._add_window(y, window)
        for y, window in self.windows.items():
            if window.rows == 1:
                self._add_rows(y)
        self._add_scratch()
        self.state = self._add_state()
        self._relate()

    @property
    def bound(self) -> int:
        """Bytes that one step needs, at least."""
        return max(self.needs)

    def layout(self, placement: Placement, *, steps: bool) -> Layout:
        """What happens at every step, with offsets."""
        at = placement.offsets
        count = len(self.steps) if steps else 0
        return Layout(
            self.stages,
            tuple(self._action(t, at) for t in range(count)),
            self.rows,
            {key: at[block] for key, block in self.scratch.items()},
            None if self.state is None else at[self.state],
            placement.nbytes,
            self.bound,
            tuple(max((at[h.block] + h.live[1] for h in held), default=0) for held in self.held),
            tuple(self.needs),
        )

    def _action(self, t: int, at: Sequence[int]) -> Action:
        step = self.steps[t]
        stage, call = self.stages[step.stage], self._call(t)
        row = call.writes[0]
        shifts = tuple(self._shift(y, t, at) for y in self.moved.get(t, ()))
        y = Place(stage.y, row * row_bytes(stage.kind))
        if stage.y in self.size:
            y = Place(None, at[self.blocks[stage.y, row]] + self._offset(stage.y, row, t))
        form = stage.forms[call.form]
        return Action(
            step.stage, call.form, shifts, y, tuple(self._read(r, form, t, at) for r in call.reads)
        )

    def _shift(self, y: str, t: int, at: Sequence[int]) -> Shift:
        move, size = self.windows[y].moves[t], self.size[y]
        base = at[self.blocks[y, 0]]
        return Shift(base, base + move.slot * size, move.rows * size)

    def _read(self, read: tuple[str, int, int], form: Form, t: int, at: Sequence[int]) -> Place:
        x, first, count = read
        if x in self.size:
            return Place(None, at[self.blocks[x, first]] + self._offset(x, first, t))
        return Place(x, first * (form.types[x].nbytes // count))

    def _call(self, t: int) -> Call:
        return call_of(self.stages, self.steps[t])

    def _form(self, t: int) -> Form:
        return self.stages[self.steps[t].stage].forms[self._call(t).form]

    def _offset(self, y: str, row: int, t: int) -> int:
        """Where a row lies in its block at a step, bytes."""
        window = self.windows[y]
        return (row - window.at(t).first) * self.size[y] if window.rows > 1 else 0

    # --- blocks ----------------------------------------------------------------------------------

    def _block(self, nbytes: int) -> int:
        self.conflicts.sizes.append(nbytes)
        return len(self.conflicts.sizes) - 1

    def _add_window(self, y: str, window: Window) -> None:
        rows = self.rows[y]
        block = self._block(self.size[y] * window.rows)
        self.blocks.update(((y, i), block) for i in range(len(rows)))
        ends = [span.step for span in window.spans[1:]] + [len(self.steps)]
        for span, end in zip(window.spans, ends, strict=True):
            steps = range(span.step, min(end, rows[span.last].last + 1))
            for t, held in zip(steps, self._held(block, y, span, steps), strict=True):
                self.held[t].append(held)

    def _held(self, block: int, y: str, span: Span, steps: range) -> Iterator[Held]:
        """The rows of a window that are needed at each step, and those for the last time."""
        rows, size = self.rows[y], self.size[y]
        low = high = span.first
        held: Held | None = None
        for t in steps:
            before = low, high
            while rows[low].last < t:
                low += 1
            high = max(high, low)
            while high <= span.last and rows[high].last <= t:
                high += 1
            if held is None or before != (low, high):
                first, dead, stop = ((n - span.first) * size for n in (low, high, span.last + 1))
                held = Held(block, (first, stop), (first, dead))
            yield held

    def _add_rows(self, y: str) -> None:
        """Blocks for rows of one tensor: one for all that find the same around them."""
        size, rows = self.size[y], self.rows[y]
        signs = [self._surroundings(row) for row in rows]
        common = [sign for sign, _ in Counter(signs).most_common(CLASSES)]
        made: dict[object, int] = {}
        for i, (row, sign) in enumerate(zip(rows, signs, strict=True)):
            key = sign if sign in common else None
            if key not in made:
                made[key] = self._block(size)
            self.blocks[y, i] = made[key]
            for t in range(row.born, row.last + 1):
                dying = (0, size if t == row.last else 0)
                self.held[t].append(Held(made[key], (0, size), dying))

    def _surroundings(self, row: Row) -> tuple[object, ...]:
        """What windows hold that are read or written with a row."""
        seen: list[object] = []
        for t in (row.born, row.last):
            step = self.steps[t]
            near = {x for x, _, _ in self._call(t).reads} | {self.stages[step.stage].y}
            blocks = {self.blocks.get((x, 0)) for x in near}
            seen.append((step.stage, *(h for h in self.held[t] if h.block in blocks)))
        return tuple(seen)

    def _add_scratch(self) -> None:
        for t, step in enumerate(self.steps):
            nbytes = self._form(t).choice.scratch
            if nbytes:
                key = step.stage, self._call(t).form
                if key not in self.scratch:
                    self.scratch[key] = self._block(nbytes)
                self.held[t].append(Held(self.scratch[key], (0, nbytes), (0, nbytes)))

    def _add_state(self) -> int | None:
        """A segment that waits for rows knows all the time which step is next."""
        if all(stage.calls[0].reads for stage in self.stages):
            return None
        block = self._block(STATE_BYTES)
        for held in self.held:
            held.append(Held(block, (0, STATE_BYTES), (0, 0)))
        return block

    # --- what keeps them apart -------------------------------------------------------------------

    def _relate(self) -> None:
        """Forbid what would put two things that are in use at one step over each other."""
        settled: set[Held] = set()
        apart: set[tuple[Held, Held]] = set()
        over: set[tuple[Held, Interval, Held, _Leave]] = set()
        for t in range(len(self.steps)):
            self._keep_movers_apart(t)
            held, leaves, written = self.held[t], self._leaves(t), self._written(t)
            writer = written[0] if written and leaves else None
            # What was there at the step before is apart already.
            for one in held:
                if one in settled and one.block != writer:
                    continue
                for other in held:
                    if one.block == writer and written and other.block in leaves:
                        key = one, written[1], other, leaves[other.block]
                        if key not in over:
                            over.add(key)
                            self._over(*key)
                    elif (
                        other is not one
                        and not (other.block == writer and one.block in leaves)
                        and (one, other) not in apart
                    ):
                        apart.update(((one, other), (other, one)))
                        self.conflicts.separate(one.block, one.live, other.block, other.live)
            settled = {h for h in held if h.block != writer}
            spared = sum(h.dying[1] - h.dying[0] for h in held if h.block in leaves)
            self.needs.append(sum(h.live[1] - h.live[0] for h in held) - spared)

    def _keep_movers_apart(self, t: int) -> None:
        """Where two windows move at one step, neither moves to where the other one still lies."""
        movers = {self.blocks[y, 0] for y in self.moved.get(t, ())}
        if len(movers) < 2:
            return
        for before in self.held[t - 1]:
            for after in self.held[t]:
                if {before.block, after.block} <= movers and before.block != after.block:
                    self.conflicts.separate(before.block, before.live, after.block, after.live)

    def _written(self, t: int) -> tuple[int, Interval] | None:
        """The block and the bytes of it that a step writes; None for the whole output."""
        y = self.stages[self.steps[t].stage].y
        if y not in self.size:
            return None
        row, count = self._call(t).writes
        start = self._offset(y, row, t)
        return self.blocks[y, row], (start, start + count * self.size[y])

    def _leaves(self, t: int) -> dict[int, _Leave]:
        """By block that a step reads: how the row that it writes may lie over it."""
        form, found = self._form(t), {}
        index = {x: i for i, x in enumerate(form.op.inputs)}
        for x, first, _ in self._call(t).reads:
            distance = form.choice.overlap.get(index[x])
            onto = index[x] in form.choice.onto
            if x in self.size and (distance is not None or onto):
                leave = _Leave(self._offset(x, first, t), distance, onto)
                found[self.blocks[x, first]] = leave
        return found

    def _over(self, y: Held, row: Interval, x: Held, leave: _Leave) -> None:
        """A row that is written: apart from rows that stay, and as the kernel allows from others.

        Args:
            y: Block of the row.
            row: The bytes of that block that are written.
            x: Block that is read.
            leave: What the kernel allows.
        """
        separate = self.conflicts.separate
        if y.live[0] < row[0]:
            separate(y.block, (y.live[0], row[0]), x.block, x.live)
        if x.dying[1] < x.live[1]:
            separate(y.block, row, x.block, (x.dying[1], x.live[1]))
        # Offset of y less that of x: from the first that touches a dying byte to the last one.
        low, high = x.dying[0] - row[1] + 1, x.dying[1] - row[0]
        start = leave.read - row[0]
        if leave.distance is not None:
            low = max(low, start - leave.distance + 1)
        for a, b in (
            ((low, min(start, high)), (max(start + 1, low), high)) if leave.onto else ((low, high),)
        ):
            self.conflicts.forbid(x.block, y.block, a, b)
