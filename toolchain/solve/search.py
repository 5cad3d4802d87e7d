"""The search for the cheapest candidate that keeps every constraint."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from toolchain.check.compare import Comparison
from toolchain.options import ConvertOptions
from toolchain.plan import Ram
from toolchain.solve.candidates import (
    Candidate,
    Precision,
    kernels,
    levels,
    precisions,
    quantisations,
    varies_memory,
)
from toolchain.solve.front import Point, cheapest, cost_order
from toolchain.solve.limits import RAM, Constraint, Costs, Limits, constraints_of, missed
from toolchain.solve.outcome import Outcome


class Bench(Protocol):
    """What measures candidates; the same question is answered once."""

    def free(self) -> bool:
        """Whether there are data by which ranges and weights of a model can be chosen."""

    def codes(self, candidate: Candidate) -> str:
        """Types of codes that the integer model has, and int4 weights, joined by +."""

    def accuracy(self, candidate: Candidate) -> Comparison:
        """The integer model over the data, with the gates; the plan makes no difference."""

    def prunes(self, candidate: Candidate) -> bool:
        """Whether the integer model has dead channels."""

    def arena(self, candidate: Candidate) -> int:
        """Bytes of the planned arena, in one piece."""

    def least(self, candidate: Candidate) -> Costs:
        """What is known of the costs without a compiler: lower bounds, or that it does not fit."""

    def costs(self, candidate: Candidate) -> Costs:
        """The costs, as exactly as they can be known here."""


class Search:
    """Looks for the cheapest candidate; a certain miss is not built.

    Args:
        bench: What measures.
        options: The user's choices; those at their defaults are free.
        limits: Bounds the user states.
        judged: Accuracy matters: there are gates, or it is to be shown.
        complete: Look at every candidate, also at those that cannot be taken.
    """

    def __init__(
        self,
        bench: Bench,
        options: ConvertOptions,
        limits: Limits,
        *,
        judged: bool,
        complete: bool,
    ) -> None:
        self.bench, self.options, self.limits = bench, options, limits
        self.constraints = constraints_of(limits)
        self.judged, self.complete = judged, complete
        self._free = bench.free()
        self._precisions = precisions(options, limits, free=self._free)

    def run(self) -> Outcome:
        """Candidates of every precision, until one is feasible.

        Where none is, all that can be linked are built: the numbers of a refusal are true.
        """
        order = cost_order(self.limits)
        points: list[Point] = []
        chosen: int | None = None
        for precision in self._precisions:
            found = self._of(precision, points, built=self.complete)
            best = cheapest(found, order) if chosen is None else None
            chosen = len(points) + best if best is not None else chosen
            points += found
            if chosen is not None and not self.complete:
                break
        if chosen is None and not self.complete:
            points = []
            for precision in self._precisions:
                points += self._of(precision, points, built=True)
        return Outcome(tuple(points), chosen, self.constraints, order)

    def _of(self, precision: Precision, before: Sequence[Point], *, built: bool) -> list[Point]:
        """The quantisations of a precision, and every plan of the first that meets the gates."""
        points: list[Point] = []
        ways = quantisations(precision, self.options, free=self._free)
        taken = next((p for p in before if p.accepted), None) if precision.for_accuracy else None
        if taken is not None:
            return [_needless(ways[0], None, taken)] if self.complete else []
        for plain in ways:
            if taken is not None and not self.complete:
                break
            way = plain.named(self.bench.codes(plain))
            if taken is not None:
                points.append(_needless(way, self._accuracy(way), taken))
                continue
            point = Point(way, self._accuracy(way), None)
            if point.reasons:
                points.append(point)
            else:
                taken = point
        return points if taken is None else [*points, *self._evaluated(taken, built=built)]

    def _accuracy(self, candidate: Candidate) -> Comparison | None:
        return self.bench.accuracy(candidate) if self.judged else None

    def _planned(self, base: Candidate) -> Iterator[Candidate]:
        """All plans of a quantisation."""
        for plain in kernels(base, prunes=self.bench.prunes(base)):
            yield plain
            if not varies_memory(base.options) or plain.options.prune != base.options.prune:
                continue
            smallest = plain.planned(ram=Ram.MIN)
            sizes = {self.bench.arena(smallest), self.bench.arena(plain)}
            room = None
            if self.limits.ram is not None:
                room = self.limits.ram - base.options.stack_bytes
            for level in levels(min(sizes), max(sizes), room):
                between = plain.planned(ram=level)
                if self.bench.arena(between) not in sizes:
                    sizes.add(self.bench.arena(between))
                    yield between
            if len(sizes) > 1:
                yield smallest

    def _evaluated(self, base: Point, *, built: bool) -> list[Point]:
        """Every plan of a quantisation with its costs; built also when it certainly misses."""
        points = []
        for candidate in self._planned(base.candidate):
            found = None if built else self._outside(candidate)
            found = found or self._point(candidate)
            points.append(replace(found, accuracy=base.accuracy))
            points += self._again(points[-1])
        return points

    def _again(self, point: Point) -> Iterator[Point]:
        """One more for less, where the plan for the RAM there is takes a few bytes too many."""
        ram, costs = point.candidate.options.ram, point.costs
        if not isinstance(ram, int) or not varies_memory(self.options) or costs is None:
            return
        over = [c.most for c in point.missed if c.metric is RAM]
        if not over or not costs.built or costs.ram is None:
            return
        arena = self.bench.arena(point.candidate) - (costs.ram - int(over[0]))
        if arena > self.bench.arena(point.candidate.planned(ram=Ram.MIN)):
            again = self._point(point.candidate.planned(ram=arena))
            yield replace(again, accuracy=point.accuracy)

    def _outside(self, candidate: Candidate) -> Point | None:
        """A candidate that already its least costs rule out."""
        costs = self.bench.least(candidate)
        broken = self._missed(costs)
        return Point(candidate, None, costs, broken) if broken or costs.unfit else None

    def _point(self, candidate: Candidate) -> Point:
        """A candidate with its costs; what does not fit the board cannot be linked."""
        costs = self.bench.least(candidate)
        if not costs.unfit:
            costs = self.bench.costs(candidate)
        return Point(candidate, None, costs, self._missed(costs))

    def _missed(self, costs: Costs) -> tuple[Constraint, ...]:
        return missed(self.constraints, costs)


def _needless(way: Candidate, accuracy: Comparison | None, taken: Point) -> Point:
    """A quantisation for which nothing is planned."""
    remark = f"not needed: {taken.candidate.quantisation} meets the gates"
    return Point(way, accuracy, None, remark=remark)
