"""Candidates side by side: table, JSON, and a picture for the page."""

from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType

from toolchain.report.records import finite
from toolchain.report.table import decibel, lines_below, percent, table
from toolchain.solve import FLASH, LATENCY, METRICS, RAM, Metric, Outcome, Point

WIDTH = 960
HEIGHT = 320
_MARGIN = 40
_HEADROOM = 1.1


def tradeoff_record(outcome: Outcome) -> dict[str, Any]:
    """The candidates for scripts."""
    on_front = set(outcome.front)
    return {
        "constraints": [{"metric": c.metric.field, "most": c.most} for c in outcome.constraints],
        "order": [metric.field for metric in outcome.order],
        "candidates": [
            _record(point, front=i in on_front, taken=i == outcome.chosen)
            for i, point in enumerate(outcome.points)
        ],
    }


def _record(point: Point, *, front: bool, taken: bool) -> dict[str, Any]:
    accuracy, costs = point.accuracy, point.costs
    return {
        "precision": point.candidate.precision.name,
        "options": str(point.candidate).removeprefix(f"{point.candidate.precision.name} "),
        "sqnr_db": None if accuracy is None else finite(accuracy.sqnr_db),
        "agreement": None if accuracy is None else accuracy.agreement,
        "accuracy": None if accuracy is None else accuracy.accuracy_int8,
        "flash_bytes": None if costs is None else costs.flash,
        "ram_bytes": None if costs is None else costs.ram,
        "latency_ms": None if costs is None else costs.latency_ms,
        "energy_uj": None if costs is None else costs.energy_uj,
        "built": costs is not None and costs.built,
        "basis": "" if costs is None else costs.basis,
        "missed": [c.metric.field for c in point.missed],
        "unfit": "" if costs is None else costs.unfit,
        "reasons": list(point.reasons),
        "front": front,
        "taken": taken,
    }


def verdict(outcome: Outcome, index: int) -> str:
    """What became of a candidate."""
    point = outcome.points[index]
    if index == outcome.chosen:
        return "TAKEN"
    if point.reasons:
        return "rejected: " + "; ".join(point.reasons)
    if point.costs is not None and point.costs.unfit:
        return f"rejected: {point.costs.unfit}"
    if point.missed:
        return "rejected: " + ", ".join(c.metric.option for c in point.missed)
    if point.remark:
        return point.remark
    return "on the front" if index in outcome.front else "dominated"


COLUMNS = (
    "precision",
    "calibration",
    "weights",
    "optimize",
    "--ram",
    "SQNR",
    "agreement",
    "accuracy",
    "flash",
    "RAM",
    "ms",
    "uJ",
    "",
)


def rows(outcome: Outcome) -> list[tuple[object, ...]]:
    """A row per candidate, as COLUMNS says; the last one is the verdict."""
    return [
        (*_choices(point), *_accuracy(point), *_costs(point), verdict(outcome, i))
        for i, point in enumerate(outcome.points)
    ]


def _choices(point: Point) -> tuple[object, ...]:
    """What was chosen, one option after the other."""
    options = point.candidate.options
    name = point.candidate.precision.name
    weights = "auto" if options.refine_weights else "nearest"
    if point.costs is None:
        return name, options.method, weights, None, None
    kept = "" if options.prune else " --no-prune"
    return name, options.method, weights, f"{options.optimize}{kept}", options.ram


def _accuracy(point: Point) -> tuple[object, ...]:
    found = point.accuracy
    if found is None:
        return None, None, None
    return decibel(found.sqnr_db), percent(found.agreement), percent(found.accuracy_int8)


def _costs(point: Point) -> tuple[object, ...]:
    """Bounds that are not of a built program carry a sign."""
    costs = point.costs
    if costs is None:
        return None, None, None, None
    sign = "" if costs.built else "> "
    flash = None if costs.flash is None else f"{sign}{costs.flash:,}"
    latency = None if costs.latency_ms is None else f"{costs.latency_ms:,.3f}"
    energy = None if costs.energy_uj is None else f"{costs.energy_uj:,.2f}"
    ram = None if costs.ram is None else f"{sign}{costs.ram:,}"
    return flash, ram, latency, energy


def remarks(outcome: Outcome) -> list[str]:
    """What the figures are, and how one is taken."""
    bases = {p.costs.basis for p in outcome.points if p.costs is not None and p.costs.basis}
    saved = ", ".join(metric.title for metric in outcome.order)
    return [
        "limits: " + (", ".join(map(str, outcome.constraints)) or "the board's memory"),
        *(f"latency: {basis}, at the board's clock" for basis in sorted(bases)),
        f"saved first to last: {saved}; costs within 1 % count as equal",
    ]


def tradeoff_table(outcome: Outcome) -> RenderableType:
    """The candidates on the terminal."""
    return Group(
        table("trade-off", COLUMNS, rows(outcome)),
        lines_below(remarks(outcome)),
    )


@dataclass(frozen=True, slots=True)
class Dot:
    """A candidate in the picture.

    Args:
        x: To the right: RAM.
        y: Downwards: less latency, or less flash where no latency is known.
        tip: Everything about it.
        kind: "taken", "front", "dominated" or "rejected".
    """

    x: float
    y: float
    tip: str
    kind: str


@dataclass(frozen=True, slots=True)
class TradeoffPicture:
    """Candidates over RAM and latency.

    Args:
        dots: Those with known costs.
        across: What is to the right.
        up: What is upwards.
        x_limit: Where the limit of RAM is; None outside.
        y_limit: The other limit.
        x_most: Value at the right edge.
        y_most: Value at the upper edge.
    """

    dots: tuple[Dot, ...]
    across: str
    up: str
    x_limit: float | None
    y_limit: float | None
    x_most: str
    y_most: str


def tradeoff_picture(outcome: Outcome) -> TradeoffPicture | None:
    """The picture; None where fewer than two candidates were built."""
    known = [i for i, p in enumerate(outcome.points) if p.costs is not None and p.costs.built]
    if len(known) < 2:
        return None
    up = LATENCY
    if any(LATENCY.of(outcome.points[i].costs) is None for i in known):
        up = FLASH
    across = RAM
    most = {
        m.field: _HEADROOM * max(m.of(outcome.points[i].costs) or 0.0 for i in known)
        for m in (across, up)
    }

    def place(metric: Metric, value: float) -> float:
        share = value / (most[metric.field] or 1.0)
        if metric is across:
            return round(_MARGIN + share * (WIDTH - 2 * _MARGIN), 1)
        return round(HEIGHT - share * HEIGHT, 1)

    def limit(metric: Metric) -> float | None:
        inside = (c.most for c in outcome.constraints if c.metric is metric)
        return next((place(metric, n) for n in inside if n <= most[metric.field]), None)

    dots = []
    for i in known:
        point = outcome.points[i]
        values = [m.of(point.costs) or 0.0 for m in (across, up)]
        told = [m.text(v) for m in METRICS if (v := m.of(point.costs)) is not None]
        tip = f"{point.candidate}: {', '.join(told)}; {verdict(outcome, i)}"
        dots.append(Dot(place(across, values[0]), place(up, values[1]), tip, _kind(outcome, i)))
    return TradeoffPicture(
        tuple(dots),
        across.title,
        up.title,
        limit(across),
        limit(up),
        across.text(most[across.field]),
        up.text(most[up.field]),
    )


def _kind(outcome: Outcome, index: int) -> str:
    point = outcome.points[index]
    if index == outcome.chosen:
        return "taken"
    if not point.feasible:
        return "rejected"
    return "front" if index in outcome.front else "dominated"


def tradeoff_section(outcome: Outcome) -> dict[str, Any]:
    """What the page says of the candidates."""
    return {
        "columns": COLUMNS,
        "rows": rows(outcome),
        "remarks": remarks(outcome),
        "picture": tradeoff_picture(outcome),
    }
