"""Which candidates are worth a thought, and which is taken: pure functions of figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from toolchain.check.compare import Comparison
from toolchain.solve.candidates import Candidate
from toolchain.solve.limits import FLASH, LATENCY, METRICS, RAM, Constraint, Costs, Limits, Metric

EQUAL = 0.01
"""Costs that differ by so little count as equal."""


@dataclass(frozen=True, slots=True)
class Point:
    """A candidate and what was found of it.

    Args:
        candidate: The candidate.
        accuracy: The integer model against the float model; None when not measured.
        costs: What its firmware needs; None when nothing was planned for it.
        missed: Bounds it does not keep.
        remark: Why it was looked at no further, if so.
    """

    candidate: Candidate
    accuracy: Comparison | None
    costs: Costs | None
    missed: tuple[Constraint, ...] = ()
    remark: str = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Gates that do not hold, a sentence each."""
        return () if self.accuracy is None else self.accuracy.reasons

    @property
    def accepted(self) -> bool:
        """The gates hold, and something was planned."""
        return self.costs is not None and not self.reasons

    @property
    def feasible(self) -> bool:
        """Every constraint holds, and the board holds it."""
        fits = self.costs is not None and not self.costs.unfit
        return fits and not self.missed and not self.reasons

    @property
    def figures(self) -> tuple[float, ...] | None:
        """What is to be small, in a fixed order; None where a figure is not known."""
        if self.costs is None or not self.costs.built:
            return None
        found = self.accuracy
        good = (None,) * 3 if found is None else _goodness(found)
        values = [metric.of(self.costs) for metric in METRICS]
        return (
            *(inf if g is None else -g for g in good),
            *(inf if v is None else v for v in values),
        )


def _goodness(found: Comparison) -> tuple[float | None, ...]:
    """What is to be large."""
    return found.sqnr_db, found.agreement, found.accuracy_int8


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether one is as good in everything and better in something; smaller is better."""
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def front(figures: Sequence[tuple[float, ...] | None]) -> list[int]:
    """Indices of what nothing dominates; of equals the first.

    Args:
        figures: What is to be small, for each candidate; None is on no front.
    """
    known = [(i, f) for i, f in enumerate(figures) if f is not None]
    return [
        i
        for i, own in known
        if not any(dominates(other, own) or (other == own and j < i) for j, other in known)
    ]


def cost_order(limits: Limits) -> tuple[Metric, ...]:
    """What is saved first: what has no limit, then what has; latency, RAM, flash within each.

    A limit says how much may be spent.
    """
    spendable = {
        LATENCY.field: limits.timed,
        RAM.field: limits.ram is not None,
        FLASH.field: limits.flash is not None,
    }
    return tuple(sorted((LATENCY, RAM, FLASH), key=lambda metric: spendable[metric.field]))


def cheapest(points: Sequence[Point], order: Sequence[Metric]) -> int | None:
    """Index of the cheapest feasible candidate; None when there is none.

    For each cost in turn, those within EQUAL of the least stay. Of what is left then, that with the
    least costs in the same order, exactly; of equals the first.

    Args:
        points: Candidates.
        order: Costs, the one to save first first; one that is not known of all is left out.
    """
    left = [i for i, point in enumerate(points) if point.feasible]
    costs = [m for m in order if all(m.of(points[i].costs) is not None for i in left)]

    def value(metric: Metric, i: int) -> float:
        return metric.of(points[i].costs) or 0.0

    for metric in costs:
        least = min((value(metric, i) for i in left), default=0.0)
        left = [i for i in left if value(metric, i) <= least * (1 + EQUAL)]
    return min(left, key=lambda i: (*(value(m, i) for m in costs), i), default=None)
