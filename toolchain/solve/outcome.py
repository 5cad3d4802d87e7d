"""What a search found, and what is said where nothing keeps every constraint."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from toolchain.errors import GateFailed
from toolchain.solve.front import Point, front
from toolchain.solve.limits import METRICS, Constraint, Metric

_CLOSEST = 3
_LAST_RESORT = "use a smaller model or a larger board"


@dataclass(frozen=True)
class Outcome:
    """The candidates that were looked at.

    Args:
        points: In the order of their effort.
        chosen: Index of the one that is taken; None when none is feasible.
        constraints: The bounds on costs.
        order: Costs, the one that is saved first first.
    """

    points: tuple[Point, ...]
    chosen: int | None
    constraints: tuple[Constraint, ...]
    order: tuple[Metric, ...]

    @cached_property
    def front(self) -> list[int]:
        """Indices of the candidates that none dominates."""
        return front([point.figures for point in self.points])

    @property
    def taken(self) -> Point:
        """The one that is taken.

        Raises:
            Infeasible: There is none.
        """
        if self.chosen is None:
            raise Infeasible(self)
        return self.points[self.chosen]

    @property
    def note(self) -> str:
        """A sentence on what was taken and why."""
        saved = ", ".join(metric.title for metric in self.order)
        return (
            f"taken of {len(self.points)} candidates: {self.taken.candidate}; "
            f"the cheapest that meets the constraints, by {saved}"
        )


class Infeasible(GateFailed):
    """No candidate keeps every constraint (exit code 1).

    Args:
        outcome: The candidates.
    """

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__("solve", "", _reason(outcome), _hint(outcome))


def binding(outcome: Outcome) -> Iterator[tuple[Constraint, Point, bool]]:
    """Every bound that stands in the way, the candidate nearest to it, and whether all miss it.

    A bound that all candidates miss is unreachable whatever the others are; one that some miss, and
    nothing else, would let those pass if it were that much looser.
    """
    planned = _planned(outcome)
    for constraint in outcome.constraints:
        unreachable = bool(planned) and all(constraint in p.missed for p in planned)
        near = planned if unreachable else [p for p in planned if p.missed == (constraint,)]
        if near:
            nearest = min(near, key=lambda p: constraint.metric.of(p.costs) or 0.0)
            yield constraint, nearest, unreachable


def nearest(outcome: Outcome) -> list[Point]:
    """Candidates that fit the board with the right accuracy, those first that exceed least."""
    planned = _planned(outcome)
    return sorted(planned, key=lambda p: sum(c.excess(p.costs) for c in p.missed if p.costs))


def _enough(outcome: Outcome) -> Point | None:
    """The candidate that would pass if the fewest bounds were looser; of those the nearest."""
    return min(nearest(outcome), key=lambda p: len(p.missed), default=None)


def _planned(outcome: Outcome) -> list[Point]:
    return [p for p in outcome.points if p.costs and not p.costs.unfit and not p.reasons]


def costs_text(point: Point) -> str:
    """The known costs in words."""
    if point.costs is None:
        return "not planned"
    least = "" if point.costs.built else "at least "
    values = ((metric, metric.of(point.costs)) for metric in METRICS)
    return least + ", ".join(metric.text(v) for metric, v in values if v is not None)


def _reason(outcome: Outcome) -> str:
    points = outcome.points
    head = f"none of {len(points)} candidates meets every constraint"
    inaccurate = [f"{_name(p)}: {_trouble(p)}" for p in points if p.reasons]
    if not _planned(outcome):
        return "\n".join([head, *(f"{_name(p)}: {_trouble(p)}" for p in points)])
    least = "the least that meets the gates" if inaccurate else "the least of all"
    lines = []
    for constraint, point, unreachable in binding(outcome):
        what = least if unreachable else "the least that meets all else"
        value = constraint.metric.text(constraint.metric.of(point.costs) or 0.0)
        lines.append(f"{constraint} binds: {what} is {value} ({point.candidate})")
    for point in nearest(outcome)[:_CLOSEST]:
        wrong = " and ".join(map(str, point.missed))
        lines.append(f"closest: {point.candidate}: {costs_text(point)}; misses {wrong}")
    return "\n".join([head, *lines, *inaccurate])


def _name(point: Point) -> str:
    """A candidate as far as it matters: without costs its plan does not."""
    return point.candidate.quantisation if point.costs is None else str(point.candidate)


def _trouble(point: Point) -> str:
    """Gates that do not hold, or why the board cannot hold it."""
    unfit = "" if point.costs is None else point.costs.unfit
    return "; ".join([*point.reasons, *([unfit] if unfit else [])])


def _hint(outcome: Outcome) -> str:
    enough = _enough(outcome)
    if enough is None:
        if any(p.reasons for p in outcome.points):
            return "loosen a gate, or see what diagnose says of the model; nothing was written"
        advice = [p.costs.advice for p in outcome.points if p.costs and p.costs.advice]
        return f"{next(iter(advice), _LAST_RESORT)}; nothing was written"
    ways = (
        f"{c.metric.option} {c.metric.number(c.metric.of(enough.costs) or 0.0)}"
        for c in enough.missed
    )
    return f"{' '.join(ways)} would do; nothing was written"
