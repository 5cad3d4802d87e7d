"""Kernels, order and arena together: a little more work where it lowers the arena.

Kernels are chosen for speed first. While the steps that need the most bytes have kernels that need
fewer, and all that is spent stays within a share of the model's instructions, those are taken.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from toolchain.ir import Graph, Target
from toolchain.plan.arena import Plan, plan_memory
from toolchain.plan.lifetimes import bytes_in_use
from toolchain.plan.schedule import schedule
from toolchain.select import Alternative, Choice, Optimize, alternatives, select_kernels

SHARE = 0.02
"""Of the instructions of the model: what a smaller arena may cost at most."""

ROUNDS = 50

_SLACK = 16
"""Bytes: what ends so close to the end of the arena is at its top."""


@dataclass(frozen=True, slots=True)
class Arranged:
    """A graph in its order, with the kernel of every operator and its arena.

    Args:
        graph: Operators in the order they run.
        choices: Kernel of every operator that computes, by its first output.
        plan: The arena.
    """

    graph: Graph
    choices: Mapping[str, Choice]
    plan: Plan


def arrange(
    graph: Graph,
    target: Target,
    optimize: Optimize = Optimize.SPEED,
    keep_inputs: bool = False,
) -> Arranged:
    """Select kernels, order the operators and plan the arena; the same graph, the same result.

    Args:
        graph: Quantised graph.
        target: Instruction set and family.
        optimize: Speed or size.
        keep_inputs: Inputs survive a run.
    """
    choices = select_kernels(graph, target, optimize)
    budget = int(SHARE * sum(choice.predicted or 0 for choice in choices.values()))
    others = {
        y: tuple(other for other in found if other.dearer <= budget)
        for y, found in alternatives(graph, target, choices, optimize).items()
    }
    return _Economy(graph, target.alignment, keep_inputs, choices, others, budget).run()


Changes = dict[str, Alternative]
"""What is called instead, by the operator's first output."""

_Found = tuple[int, int, int]
"""Bytes of the step, instructions more, number of the alternative."""

_PREFERENCES: tuple[Callable[[_Found], tuple[int, ...]], ...] = (
    lambda found: found,
    lambda found: (found[1], found[0], found[2]),
)
"""The fewest bytes, then the fewest instructions."""


@dataclass(frozen=True, slots=True)
class _Economy:
    graph: Graph
    alignment: int
    keep_inputs: bool
    fastest: Mapping[str, Choice]
    others: Mapping[str, tuple[Alternative, ...]]
    budget: int

    def run(self) -> Arranged:
        """Change kernels while the arena falls and the budget lasts."""
        made: Changes = {}
        first = best = self._planned(made)
        tried: list[Changes] = []
        for _ in range(ROUNDS):
            for more in self._ways(best):
                changes = {**made, **more}
                dearer = sum(change.dearer for change in changes.values())
                if dearer > self.budget or changes == made or changes in tried:
                    continue
                tried.append(changes)
                found = self._below(changes, best.plan.arena_bytes)
                if found is not None:
                    made, best = self._without_needless(changes, found)
                    break
            else:
                break
        saved = first.plan.arena_bytes - best.plan.arena_bytes
        told = {y: _told(self.fastest[y], change, saved) for y, change in made.items()}
        return replace(best, choices={**best.choices, **told})

    def _planned(self, changes: Changes) -> Arranged:
        ordered, choices = self._ordered(changes)
        plan = plan_memory(ordered, choices, self.alignment, self.keep_inputs)
        return Arranged(ordered, choices, plan)

    def _ordered(self, changes: Changes) -> tuple[Graph, Mapping[str, Choice]]:
        choices = {**self.fastest, **{y: change.choice for y, change in changes.items()}}
        return schedule(self.graph, choices, self.alignment, self.keep_inputs), choices

    def _below(self, changes: Changes, end: int) -> Arranged | None:
        """The plan with these changes, if its arena ends below."""
        if max(self._step_bytes(*self._ordered(changes))) >= end:
            return None
        found = self._planned(changes)
        return found if found.plan.arena_bytes < end else None

    def _without_needless(self, changes: Changes, found: Arranged) -> tuple[Changes, Arranged]:
        """Take back what the arena does not need, the dearest first."""
        for y in sorted(changes, key=lambda y: (-changes[y].dearer, y)):
            fewer = {name: change for name, change in changes.items() if name != y}
            tried = self._below(fewer, found.plan.arena_bytes + 1)
            if tried is not None:
                changes, found = fewer, tried
        return changes, found

    def _ways(self, best: Arranged) -> Iterator[Changes]:
        """Changes to try.

        Of the operators at the peak, if all have some, and of those at the top of the arena; of
        those at the peak alone; of all that need much, which may let the order change.
        """
        need, end = best.plan.step_bytes, best.plan.arena_bytes
        peak = {step for step, n in enumerate(need) if n == max(need)}
        top = {b.first for b in best.plan.buffers if b.offset + b.nbytes > end - _SLACK}
        much = {step for step, n in enumerate(need) if n > max(need) // 2}
        for prefer in _PREFERENCES:
            changes = self._changes(best, peak | top, prefer)
            if {best.graph.ops[step].y for step in peak} <= changes.keys():
                yield changes
                yield self._changes(best, peak, prefer)
        for prefer in _PREFERENCES:
            yield self._changes(best, much, prefer, anywhere=True)

    def _changes(
        self,
        best: Arranged,
        steps: set[int],
        prefer: Callable[[_Found], tuple[int, ...]],
        *,
        anywhere: bool = False,
    ) -> Changes:
        """For each step the alternative that needs fewer bytes there, if there is one.

        Args:
            best: What is to be improved.
            steps: The steps.
            prefer: Which alternative, if there are several.
            anywhere: Fewer in another order, where inputs that are kept now may be overwritten.
        """
        changes: Changes = {}
        for step in sorted(steps):
            y = best.graph.ops[step].y

            def need(choice: Choice, step: int = step, y: str = y) -> int:
                if anywhere:
                    return _own_bytes(choice, self.graph.types[y].nbytes)
                return self._step_bytes(best.graph, {**best.choices, y: choice})[step]

            others = self.others.get(y, ())
            found = [(need(other.choice), other.dearer, i) for i, other in enumerate(others)]
            found = [one for one in found if one[0] < need(best.choices[y])] if found else []
            if found:
                changes[y] = others[min(found, key=prefer)[2]]
        return changes

    def _step_bytes(self, graph: Graph, choices: Mapping[str, Choice]) -> list[int]:
        return bytes_in_use(graph, choices, self.alignment, self.keep_inputs)


def _own_bytes(choice: Choice, nbytes: int) -> int:
    """Bytes that an operator needs besides its input 0, when nothing else reads that."""
    beside = 0 if 0 in choice.onto else min(max(choice.overlap.get(0, nbytes), 0), nbytes)
    return choice.scratch + beside


def _told(before: Choice, change: Alternative, saved: int) -> Choice:
    """The choice with the reason that the report shows."""
    reason = (
        f"for an arena {saved:,} bytes smaller, {change.dearer:,} instructions more than "
        f"{before.kernel.name}: {change.choice.reason}"
    )
    return replace(change.choice, reason=reason)
