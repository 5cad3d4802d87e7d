"""The order in which the rows of a segment are computed, and how long each is needed.

A row is computed when a later one needs it, so few rows exist at a time. Every call runs once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolchain.rows.stages import Call, Stage


@dataclass(frozen=True, slots=True)
class Step:
    """One call: stage and call by index."""

    stage: int
    call: int


@dataclass(frozen=True, slots=True)
class Row:
    """When a row exists.

    Args:
        born: First step that writes it.
        last: Last step that reads it, or adds to it.
    """

    born: int
    last: int


def order_of(stages: Sequence[Stage], *, late: bool = False) -> tuple[Step, ...]:
    """The steps that give all rows of the last stage.

    Args:
        stages: In the order of the graph.
        late: Where an operator has two inputs, rows of the second one are computed first.
    """
    makers = {stage.y: i for i, stage in enumerate(stages)}
    done = [0] * len(stages)
    steps: list[Step] = []

    def made(i: int, stop: int) -> bool:
        calls = stages[i].calls
        if stages[i].adds:
            return done[i] == len(calls)
        return done[i] > 0 and sum(calls[done[i] - 1].writes) >= stop

    def run(i: int) -> None:
        call = stages[i].calls[done[i]]
        for x, first, count in call.reads[::-1] if late else call.reads:
            maker = makers.get(x)
            if maker is None or maker == i:
                continue
            while not made(maker, first + count):
                run(maker)
        steps.append(Step(i, done[i]))
        done[i] += 1

    for _ in stages[-1].calls:
        run(len(stages) - 1)
    # What is left of rows that others hand over is taken and not used.
    steps += [
        Step(i, call)
        for i, stage in enumerate(stages)
        if not stage.calls[0].reads
        for call in range(done[i], len(stage.calls))
    ]
    return tuple(steps)


def call_of(stages: Sequence[Stage], step: Step) -> Call:
    """The call of a step."""
    return stages[step.stage].calls[step.call]


def rows_of(stages: Sequence[Stage], steps: Sequence[Step]) -> dict[str, list[Row]]:
    """When the rows of every tensor exist, boundary tensors included, in order.

    A row is never needed for longer than the next one. Rows of inputs exist from the start.
    """
    born: dict[str, dict[int, int]] = {}
    last: dict[str, dict[int, int]] = {}
    for t, step in enumerate(steps):
        y, call = stages[step.stage].y, call_of(stages, step)
        for row in range(call.writes[0], sum(call.writes)):
            born.setdefault(y, {}).setdefault(row, t)
            last.setdefault(y, {})[row] = t
        for x, first, count in call.reads:
            known = last.setdefault(x, {})
            known.update((i, max(t, known.get(i, 0))) for i in range(first, first + count))
    return {name: _rows(born.get(name, {}), found) for name, found in last.items()}


def _rows(born: Mapping[int, int], last: Mapping[int, int]) -> list[Row]:
    rows: list[Row] = []
    for i in range(max(last) + 1):
        before = rows[-1].last if rows else -1
        start = born.get(i, -1)
        rows.append(Row(start, max(before, start, last.get(i, -1))))
    return rows
