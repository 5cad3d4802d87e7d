"""Choose a C kernel for every operator: by measured cost, or for the least code."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from toolchain.errors import InternalError
from toolchain.ir import Graph, Kernel, Op, Site, Target
from toolchain.select.costs import Costs, Optimize, load_costs

SPARED = 1e-3
"""At speed, this share of the instructions of a model may be spent on linking less code."""

_WORTH = 1.03
"""Instructions for which forms of one operator get kernels, and arrays in flash, of their own."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The kernel taken for one operator.

    Args:
        kernel: The kernel.
        scratch: Bytes of scratch memory it needs on the target.
        rejected: Kernels that were passed over, each with the reason.
        overlap: Inputs that output 0 may be written over, by index: the least number of bytes by
            which it must begin before them (Kernel.overlap).
        beneath: Inputs that scratch memory may be written over, by index: the least number of bytes
            by which it must begin before them.
        onto: Inputs at whose very place output 0 may lie, by index.
        predicted: Instructions the cost table expects; None without data.
        reason: Why this kernel, one line.
    """

    kernel: Kernel
    scratch: int
    rejected: tuple[str, ...] = ()
    overlap: Mapping[int, int] = field(default_factory=dict)
    onto: tuple[int, ...] = ()
    beneath: Mapping[int, int] = field(default_factory=dict, kw_only=True)
    predicted: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another choice for an operator.

    Args:
        choice: The choice.
        dearer: Instructions above those of the kernel that was taken.
    """

    choice: Choice
    dearer: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A kernel that serves, the instructions it should take, and how far off that may be."""

    kernel: Kernel
    predicted: int | None
    doubt: float = 0.0

    @property
    def sources(self) -> frozenset[str]:
        """Files it needs."""
        return frozenset(self.kernel.sources)


_SMALL = {Optimize.SPEED: "less code at nearly the same speed", Optimize.SIZE: "the least code"}


@dataclass(frozen=True, slots=True)
class _Place:
    """One operator with the kernels that may run it, the preferred one first."""

    site: Site
    optimize: Optimize
    candidates: tuple[_Candidate, ...]
    refused: tuple[str, ...]

    def candidate(self, kernel: Kernel) -> _Candidate:
        """The candidate with a certain kernel."""
        return next(c for c in self.candidates if c.kernel is kernel)

    def choice(self, taken: _Candidate) -> Choice:
        """What is to be said of a candidate."""
        others = [c for c in self.candidates if c is not taken and c.predicted is not None]
        small = "" if taken is self.best else _SMALL[self.optimize]
        return self._choice(
            taken,
            (*self.refused, *(f"{_told(c)} instructions" for c in others)),
            small or _reason(taken, others),
        )

    def _choice(self, taken: _Candidate, rejected: tuple[str, ...], reason: str) -> Choice:
        return Choice(
            taken.kernel,
            taken.kernel.scratch(self.site),
            rejected,
            dict(taken.kernel.overlap(self.site)),
            taken.kernel.onto(self.site),
            taken.predicted,
            reason,
        )

    def alternatives(self, taken: Choice, *, same_code: bool) -> Iterator[Alternative]:
        """Other kernels with a known cost, and frugal forms.

        Args:
            taken: The kernel that was taken.
            same_code: Frugal forms of that one only.
        """
        own = self.candidate(taken.kernel)
        for c in self.candidates:
            base = 0
            if c is not own:
                if c.predicted is None or own.predicted is None or same_code:
                    continue
                base = _at_most_dearer(c, own)
                yield Alternative(self._choice(c, taken.rejected, _reason(c, ())), base)
            for form in c.kernel.frugal:
                if form.when(self.site):
                    more = form.dearer(self.site)
                    predicted = None if c.predicted is None else c.predicted + more
                    reason = condition(form)
                    choice = self._choice(_Candidate(form, predicted), taken.rejected, reason)
                    yield Alternative(choice, base + more)

    @property
    def best(self) -> _Candidate:
        """The fastest of all."""
        return _fastest(self.candidates)

    def spent(self, taken: _Candidate) -> float:
        """Instructions a candidate may take more than the best, by the errors of both fits.

        Infinite where one was not measured.
        """
        if taken is self.best:
            return 0.0
        if taken.predicted is None or self.best.predicted is None:
            return inf
        return taken.predicted * (1 + taken.doubt) - self.best.predicted * (1 - self.best.doubt)


def condition(kernel: Kernel) -> str:
    """The sentence that says when a kernel applies."""
    return (kernel.when.__doc__ or "").strip().split("\n")[0]


def choose(op: Op, graph: Graph, target: Target, optimize: Optimize = Optimize.SPEED) -> Choice:
    """The kernel of one operator by itself, as `select_kernels` would take it for speed."""
    place = _place(op, graph, target, optimize, load_costs())
    return place.choice(place.best)


def choose_together(
    sites: Sequence[Site], counts: Sequence[int], optimize: Optimize = Optimize.SPEED
) -> list[Choice]:
    """Kernels for several forms of one operator: one for all where that costs little.

    The forms share the arrays in flash then.

    Args:
        sites: Calls of the forms.
        counts: How often each is called.
        optimize: Speed or size.
    """
    costs = load_costs()
    places = [_place_of(site, optimize, costs) for site in sites]
    apart = [place.best for place in places]
    shared = [
        [next((c for c in p.candidates if c.kernel is candidate.kernel), None) for p in places]
        for candidate in places[0].candidates
    ]
    every = [[c for c in found if c is not None] for found in shared if None not in found]
    if not every:
        return [place.choice(place.best) for place in places]
    one = _fastest([_weighed(found, counts) for found in every])
    best = _weighed(apart, counts).predicted
    if one.predicted is not None and best is not None and one.predicted > _WORTH * best:
        return [place.choice(place.best) for place in places]
    return [place.choice(place.candidate(one.kernel)) for place in places]


def _weighed(found: Sequence[_Candidate], counts: Sequence[int]) -> _Candidate:
    """All calls of one kernel's candidates as one."""
    known = [c.predicted for c in found if c.predicted is not None]
    total = None
    if len(known) == len(found):
        total = sum(n * each for n, each in zip(counts, known, strict=True))
    return _Candidate(found[0].kernel, total, max(c.doubt for c in found))


def select_kernels(
    graph: Graph, target: Target, optimize: Optimize = Optimize.SPEED
) -> dict[str, Choice]:
    """The choice for every operator that computes, by its first output; views need none.

    For speed, each operator takes the kernel with the fewest predicted instructions, unless that
    one brings code for work that does not count: SPARED of all instructions go into less code. For
    size, the model as a whole takes few source files: code that several layers share counts once.

    Args:
        graph: Quantised graph.
        target: Instruction set and family.
        optimize: Speed or size.
    """
    costs = load_costs()
    places = [_place(op, graph, target, optimize, costs) for op in graph.ops if not op.is_view]
    small = _least_code if optimize is Optimize.SIZE else _less_code
    taken = small(places, target, costs)
    return {p.site.op.y: p.choice(t) for p, t in zip(places, taken, strict=True)}


def alternatives(
    graph: Graph,
    target: Target,
    choices: Mapping[str, Choice],
    optimize: Optimize = Optimize.SPEED,
) -> dict[str, tuple[Alternative, ...]]:
    """Other kernels, and other forms of the same, for every operator, by its first output.

    For size, only forms of the kernels taken: they need no more code.

    Args:
        graph: Quantised graph.
        target: Instruction set and family.
        choices: As `select_kernels` gives them.
        optimize: Speed or size.
    """
    costs, same = load_costs(), optimize is Optimize.SIZE
    places = [_place(op, graph, target, optimize, costs) for op in graph.ops if not op.is_view]
    return {
        place.site.op.y: tuple(place.alternatives(choices[place.site.op.y], same_code=same))
        for place in places
    }


def _place(op: Op, graph: Graph, target: Target, optimize: Optimize, costs: Costs) -> _Place:
    return _place_of(Site(op, graph.types, graph.constants, target), optimize, costs)


def _place_of(site: Site, optimize: Optimize, costs: Costs) -> _Place:
    op, target = site.op, site.target
    candidates: list[_Candidate] = []
    refused: list[str] = []
    for kernel in op.kernels:
        if not kernel.written_for(target):
            continue  # for other cores or of another family: no alternative worth a word
        if kernel.when(site):
            candidates.append(_candidate(kernel, site, optimize, costs))
        elif not candidates:
            refused.append(f"{kernel.name}: {condition(kernel)}")
    if not candidates:
        reason = f"no kernel of {type(op).__name__} applies: {refused}"
        raise InternalError("select", op.name, reason)
    return _Place(site, optimize, tuple(candidates), tuple(refused))


def _candidate(kernel: Kernel, site: Site, optimize: Optimize, costs: Costs) -> _Candidate:
    """The kernel with what the table says of it; the table knows our own kernels only."""
    if site.target.arm_library:
        return _Candidate(kernel, None)
    cost = costs.cost(site.op, kernel, site.target.isa, optimize)
    if cost is None:
        return _Candidate(kernel, None)
    return _Candidate(kernel, cost.predict(site.op, site.types), cost.worst)


def _fastest(candidates: Sequence[_Candidate]) -> _Candidate:
    """The fewest predicted instructions; the preferred kernel when its cost is not known."""
    if candidates[0].predicted is None:
        return candidates[0]
    best, fewest = candidates[0], candidates[0].predicted
    for candidate in candidates[1:]:
        if candidate.predicted is None:
            continue
        # Only a gain that the errors of both fits cannot explain outweighs the preference.
        if candidate.predicted * (1 + candidate.doubt) < fewest * (1 - best.doubt):
            best, fewest = candidate, candidate.predicted
    return best


def _at_most_dearer(candidate: _Candidate, other: _Candidate) -> int:
    """Instructions that one takes above the other, as far as the errors of both fits allow."""
    most = (candidate.predicted or 0) * (1 + candidate.doubt)
    return round(most - (other.predicted or 0) * (1 - other.doubt))


def _told(candidate: _Candidate) -> str:
    return f"{candidate.kernel.name}: {_short(candidate.predicted or 0)}"


def _short(number: int) -> str:
    return f"{number / 1e6:.2f} M" if number >= 10**6 else f"{number:,}"


def _reason(taken: _Candidate, others: Sequence[_Candidate]) -> str:
    if taken.predicted is None:
        return "the preferred one; it was not measured"
    return "; ".join([f"predicted {_short(taken.predicted)} instructions", *map(_told, others)])


# --- code ----------------------------------------------------------------------------------------


def _less_code(places: Sequence[_Place], target: Target, costs: Costs) -> list[_Candidate]:
    """The fastest of every place, but no code for work that others can do at next to no cost."""
    taken = [place.best for place in places]
    budget = SPARED * sum(best.predicted or 0 for best in taken)
    while (found := _without_one(places, taken, budget, target, costs)) != taken:
        taken = found
    return taken


def _without_one(
    places: Sequence[_Place], taken: list[_Candidate], budget: float, target: Target, costs: Costs
) -> list[_Candidate]:
    """The same without one kernel, that which saves the most code; as it is when none may go."""

    def size(files: frozenset[str]) -> int:
        return costs.bytes_of(files, target.isa) or 0

    def measured(sources: frozenset[str]) -> bool:
        return costs.bytes_of(sources, target.isa) is not None

    best, least = taken, size(_files(taken, measured))
    for leaving in sorted({c.sources for c in taken if measured(c.sources)}, key=sorted):
        linked = _files((c for c in taken if c.sources != leaving), measured)
        option = list(taken)
        for i, place in enumerate(places):
            others = [c for c in place.candidates if c.sources != leaving and measured(c.sources)]
            if taken[i].sources == leaving and others:
                # a file that is linked already costs nothing
                option[i] = min(others, key=lambda c: (size(linked | c.sources), place.spent(c)))
        spent = sum(place.spent(c) for place, c in zip(places, option, strict=True))
        less = size(_files(option, measured))
        if spent <= budget and less < least:
            best, least = option, less
    return best


def _files(
    taken: Iterable[_Candidate], measured: Callable[[frozenset[str]], bool]
) -> frozenset[str]:
    return frozenset(file for c in taken if measured(c.sources) for file in c.sources)


def _least_code(places: Sequence[_Place], target: Target, costs: Costs) -> list[_Candidate]:
    """Candidates with the least code in all; the fastest where the size of one is not known."""
    # What a place without a choice links is free for the others.
    single = [place.best.sources for place in places if len(place.candidates) == 1]
    needs = {frozenset(c.sources for c in p.candidates) for p in places if len(p.candidates) > 1}
    files = frozenset(file for need in needs for sources in need for file in sources)
    if costs.bytes_of(files, target.isa) is None:
        return [place.best for place in places]
    free = files & frozenset().union(*single)
    ordered = sorted(needs, key=lambda need: (len(need), sorted(map(sorted, need))))

    def size(linked: frozenset[str]) -> int:
        return costs.bytes_of(linked, target.isa) or 0

    def calls(linked: frozenset[str]) -> int:
        return sum(
            min(c.kernel.call_bytes for c in place.candidates if c.sources <= linked)
            for place in places
            if len(place.candidates) > 1
        )

    best, least = files, size(files) + calls(files)

    def search(index: int, linked: frozenset[str]) -> None:
        nonlocal best, least
        if size(linked) >= least:
            return
        if index == len(ordered):
            if (total := size(linked) + calls(linked)) < least:
                best, least = linked, total
            return
        options = {linked | sources for sources in ordered[index]}
        for option in sorted(options, key=lambda files: (size(files), sorted(files))):
            search(index + 1, option)

    search(0, free)
    return [_fastest(_smallest_calls(place, best)) for place in places]


def _smallest_calls(place: _Place, linked: frozenset[str]) -> list[_Candidate]:
    """The candidates among the linked files that are called in the least code."""
    found = [c for c in place.candidates if c.sources <= linked] or list(place.candidates)
    least = min(c.kernel.call_bytes for c in found)
    return [c for c in found if c.kernel.call_bytes == least]
