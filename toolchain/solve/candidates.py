"""What there is to choose from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolchain.ir import Family
from toolchain.options import ConvertOptions
from toolchain.plan import Ram
from toolchain.select import Optimize
from toolchain.solve.limits import Limits

_DEFAULT = ConvertOptions()


@dataclass(frozen=True, slots=True)
class Precision:
    """In how many bits a model computes.

    Args:
        name: For people; what was quantised has that of its codes.
        changes: Options of the conversion that bring it about.
        for_accuracy: It serves accuracy, not costs: of no use where one before it meets the gates.
        for_flash: It serves flash, not the rest: of no use where flash has no limit.
        best_only: What it costs depends on how well it is calibrated, so there is one way.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    for_accuracy: bool = False
    for_flash: bool = False
    best_only: bool = False


PRECISIONS = (
    Precision("int8"),
    Precision("int8+int4", {"int4": ("auto",)}, for_flash=True, best_only=True),
    Precision("int8+int16", {"int16": ("auto",)}, for_accuracy=True, best_only=True),
)
"""Cheapest first: one is tried only when no candidate of those before it keeps every constraint."""


def precisions(options: ConvertOptions, limits: Limits, *, free: bool) -> list[Precision]:
    """Those that are left to choose from, the first always.

    Args:
        options: The user's choices: what differs from the defaults stays.
        limits: Bounds the user states.
        free: There are data to choose layers by.
    """
    first, *others = PRECISIONS

    def is_open(precision: Precision) -> bool:
        if precision.for_flash and (limits.flash is None or options.family is Family.CMSIS_NN):
            return False
        return all(getattr(options, n) == getattr(_DEFAULT, n) for n in precision.changes)

    return [first, *filter(is_open, others if free and not options.pure_int8 else ())]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to convert a model.

    Args:
        precision: In how many bits it computes.
        options: All choices of the conversion.
    """

    precision: Precision
    options: ConvertOptions

    @property
    def quantisation(self) -> str:
        """How the integers are chosen, as on the command line."""
        weights = " --weights auto" if self.options.refine_weights else ""
        wide = "".join(f" --int16 {pattern}" for pattern in self.options.int16)
        few = "".join(f" --int4 {pattern}" for pattern in self.options.int4)
        return f"{self.precision.name} --calibration {self.options.method}{weights}{wide}{few}"

    @property
    def plan(self) -> str:
        """Kernels and memory, as on the command line."""
        kept = "" if self.options.prune else " --no-prune"
        return f"--optimize {self.options.optimize} --ram {self.options.ram}{kept}"

    def __str__(self) -> str:
        return f"{self.quantisation} {self.plan}"

    def planned(self, **changes: Any) -> "Candidate":
        """The same with other options."""
        return Candidate(self.precision, replace(self.options, **changes))

    def named(self, precision: str) -> "Candidate":
        """The same under the name of the codes that it has."""
        return Candidate(replace(self.precision, name=precision), self.options)


def quantisations(precision: Precision, options: ConvertOptions, *, free: bool) -> list[Candidate]:
    """Ways to quantise, from the least effort to the most, or the best alone.

    Args:
        precision: In how many bits.
        options: The user's choices: what differs from the defaults stays.
        free: There are data by which ranges and weights can be chosen.
    """
    first = Candidate(precision, replace(options, **precision.changes))
    plain = (options.method, options.refine_weights) == (_DEFAULT.method, _DEFAULT.refine_weights)
    if not free or not plain:
        return [first]
    found = [
        first,
        first.planned(refine_weights=True),
        first.planned(method="auto", refine_weights=True),
    ]
    return found[-1:] if precision.best_only else found


def kernels(first: Candidate, *, prunes: bool) -> Iterator[Candidate]:
    """What kernels may be chosen for; the user's choice stays where it is not the default.

    Args:
        first: A candidate with the user's choices.
        prunes: There are dead channels to remove.
    """
    options = first.options
    wishes = (options.optimize,) if options.optimize is not _DEFAULT.optimize else tuple(Optimize)
    for wish in wishes:
        yield first.planned(optimize=wish)
    if prunes and options.prune:
        for wish in wishes:
            yield first.planned(optimize=wish, prune=False)


def varies_memory(options: ConvertOptions) -> bool:
    """The plan of the memory is free: the user asked for none."""
    return options.ram is Ram.AUTO


def levels(smallest: int, largest: int, room: int | None) -> list[int]:
    """Sizes of arenas to aim at, largest first: two between two, and what there is room for.

    Args:
        smallest: Bytes of the smallest arena.
        largest: Bytes of the arena with layers one after the other.
        room: Bytes that may be used; None for any number.
    """
    ratio = largest / max(smallest, 1)
    between = {round(smallest * ratio ** (i / 3)) for i in (1, 2)}
    if room is not None:
        between.add(room)
    return sorted((b for b in between if smallest < b < largest), reverse=True)
