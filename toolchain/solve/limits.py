"""What a firmware may cost, and what one does cost."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """What the firmware of a candidate needs; None is unknown.

    Args:
        flash: Bytes of flash, all of them together: code, weights and tables.
        ram: Bytes of RAM, all of it together: arena, other variables, reserved stack.
        latency_ms: Milliseconds of an inference at the board's clock.
        energy_uj: Microjoules of an inference at the board's power.
        built: Flash and RAM are those of the linked program; else they are its arena, stack and
            constants, which it exceeds.
        basis: What the latency is made of.
        unfit: Why the board cannot hold it; "" when it can.
        advice: What helps then.
    """

    flash: int | None
    ram: int | None
    latency_ms: float | None = None
    energy_uj: float | None = None
    built: bool = False
    basis: str = ""
    unfit: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A kind of cost.

    Args:
        field: Its name in Costs and Limits.
        title: Its name for people.
        text: A value in words.
        number: A value as an option takes it, rounded up.
    """

    field: str
    title: str
    text: Callable[[float], str]
    number: Callable[[float], str]

    @property
    def option(self) -> str:
        """The option that limits it."""
        return f"--max-{self.field.replace('_', '-')}"

    def of(self, costs: Costs | None) -> float | None:
        """The value of a candidate."""
        value: float | None = None if costs is None else getattr(costs, self.field)
        return value


def _up(value: float) -> str:
    """Four decimals, not less than the value."""
    return f"{-(-value * 1e4 // 1) / 1e4:g}"


FLASH = Metric("flash", "flash", lambda v: f"{v:,.0f} bytes of flash", lambda v: f"{v:.0f}")
RAM = Metric("ram", "RAM", lambda v: f"{v:,.0f} bytes of RAM", lambda v: f"{v:.0f}")
LATENCY = Metric("latency_ms", "latency", lambda v: f"{v:,.3f} ms", _up)
ENERGY = Metric("energy_uj", "energy", lambda v: f"{v:,.2f} uJ", _up)
METRICS = (FLASH, RAM, LATENCY, ENERGY)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a firmware may cost at most; None is no limit.

    Args:
        flash: Bytes of flash, as `build` counts them.
        ram: Bytes of RAM, stack included, as `build` counts them.
        latency_ms: Milliseconds of an inference.
        energy_uj: Microjoules of an inference.
    """

    flash: int | None = None
    ram: int | None = None
    latency_ms: float | None = None
    energy_uj: float | None = None

    @property
    def timed(self) -> bool:
        """Latency or energy is limited."""
        return self.latency_ms is not None or self.energy_uj is not None


@dataclass(frozen=True, slots=True)
class Constraint:
    """An upper bound that a candidate has to keep.

    Args:
        metric: Of what.
        most: The bound.
    """

    metric: Metric
    most: float

    def __str__(self) -> str:
        return f"{self.metric.option} {self.metric.text(self.most)}"

    def excess(self, costs: Costs) -> float:
        """How far a value is above the bound, as a share of the bound; 0 when it keeps it."""
        value = self.metric.of(costs)
        return 0.0 if value is None else max(value / self.most - 1, 0.0)


def constraints_of(limits: Limits) -> tuple[Constraint, ...]:
    """The bounds that the user states."""
    asked = ((metric, getattr(limits, metric.field)) for metric in METRICS)
    return tuple(Constraint(metric, most) for metric, most in asked if most is not None)


def missed(constraints: tuple[Constraint, ...], costs: Costs) -> tuple[Constraint, ...]:
    """The bounds that a candidate does not keep."""
    return tuple(c for c in constraints if c.excess(costs) > 0)
