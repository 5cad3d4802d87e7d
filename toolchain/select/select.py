"""Choose a C kernel for every operator: by measured cost, or for the least code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolchain.errors import InternalError
from toolchain.ir import Graph, Kernel, Op, Site, Target
from toolchain.select.costs import Costs, Optimize, load_costs


@dataclass(frozen=True, slots=True)
class Choice:
    """The kernel taken for one operator.

    Args:
        kernel: The kernel.
        scratch: Bytes of scratch memory it needs on the target.
        rejected: Kernels that were passed over, each with the reason.
        overlap: Inputs that output 0 may be written over, by index: the least number of bytes by
            which it must begin before them (Kernel.overlap).
        onto: Inputs at whose very place output 0 may lie, by index.
        predicted: Instructions the cost table expects; None without data.
        reason: Why this kernel, one line.
    """

    kernel: Kernel
    scratch: int
    rejected: tuple[str, ...] = ()
    overlap: Mapping[int, int] = field(default_factory=dict)
    onto: tuple[int, ...] = ()
    predicted: int | None = None
    reason: str = ""


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


@dataclass(frozen=True, slots=True)
class _Place:
    """One operator with the kernels that may run it, the preferred one first."""

    site: Site
    candidates: tuple[_Candidate, ...]
    refused: tuple[str, ...]

    def choice(self, allowed: frozenset[str] | None = None) -> Choice:
        """The best candidate; `allowed` names the source files that may be linked."""
        found = [c for c in self.candidates if allowed is None or c.sources <= allowed]
        taken = _fastest(found)
        others = [c for c in self.candidates if c is not taken and c.predicted is not None]
        small = "the least code" if allowed is not None and taken is not self.best else ""
        return Choice(
            taken.kernel,
            taken.kernel.scratch(self.site),
            (*self.refused, *(f"{_told(c)} instructions" for c in others)),
            dict(taken.kernel.overlap(self.site)),
            taken.kernel.onto(self.site),
            taken.predicted,
            small or _reason(taken, others),
        )

    @property
    def best(self) -> _Candidate:
        """The fastest of all."""
        return _fastest(self.candidates)


def condition(kernel: Kernel) -> str:
    """The sentence that says when a kernel applies."""
    return (kernel.when.__doc__ or "").strip().split("\n")[0]


def choose(op: Op, graph: Graph, target: Target, optimize: Optimize = Optimize.SPEED) -> Choice:
    """The kernel of one operator by itself, as `select_kernels` would take it for speed."""
    return _place(op, graph, target, optimize, load_costs()).choice()


def select_kernels(
    graph: Graph, target: Target, optimize: Optimize = Optimize.SPEED
) -> dict[str, Choice]:
    """The choice for every operator that computes, by its first output; views need none.

    For speed, each operator takes the kernel with the fewest predicted instructions. For size, the
    model as a whole takes few source files: code that several layers share counts once.

    Args:
        graph: Quantised graph.
        target: Instruction set and family.
        optimize: Speed or size.
    """
    costs = load_costs()
    places = [_place(op, graph, target, optimize, costs) for op in graph.ops if not op.is_view]
    allowed = _small(places, target, costs) if optimize is Optimize.SIZE else None
    return {place.site.op.y: place.choice(allowed) for place in places}


def _place(op: Op, graph: Graph, target: Target, optimize: Optimize, costs: Costs) -> _Place:
    site = Site(op, graph.types, graph.constants, target)
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
    return _Place(site, tuple(candidates), tuple(refused))


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


def _told(candidate: _Candidate) -> str:
    return f"{candidate.kernel.name}: {_short(candidate.predicted or 0)}"


def _short(number: int) -> str:
    return f"{number / 1e6:.2f} M" if number >= 10**6 else f"{number:,}"


def _reason(taken: _Candidate, others: Sequence[_Candidate]) -> str:
    if taken.predicted is None:
        return "the preferred one; it was not measured"
    return "; ".join([f"predicted {_short(taken.predicted)} instructions", *map(_told, others)])


# --- the least code ------------------------------------------------------------------------------


def _small(places: Sequence[_Place], target: Target, costs: Costs) -> frozenset[str] | None:
    """Source files that can run every place, with the least code in all.

    None, when the size of a candidate is not known: any kernel may be taken then.
    """
    needs = {frozenset(c.sources for c in place.candidates) for place in places}
    files = frozenset(file for need in needs for sources in need for file in sources)
    if costs.bytes_of(files, target.isa) is None:
        return None
    # Places without a choice first: what they link is free for the others.
    ordered = sorted(needs, key=lambda need: (len(need), sorted(map(sorted, need))))

    def size(linked: frozenset[str]) -> int:
        return costs.bytes_of(linked, target.isa) or 0

    best = files

    def search(index: int, linked: frozenset[str]) -> None:
        nonlocal best
        if size(linked) >= size(best) and linked != best:
            return
        if index == len(ordered):
            best = linked
            return
        options = {linked | sources for sources in ordered[index]}
        for option in sorted(options, key=lambda files: (size(files), sorted(files))):
            search(index + 1, option)

    search(0, frozenset())
    return best
