"""The cheapest way to convert a model that keeps every constraint."""

from toolchain.solve.candidates import Candidate, Precision
from toolchain.solve.front import Point, cheapest, cost_order, dominates, front
from toolchain.solve.limits import (
    ENERGY,
    FLASH,
    LATENCY,
    METRICS,
    RAM,
    Constraint,
    Costs,
    Limits,
    Metric,
    constraints_of,
    missed,
)
from toolchain.solve.outcome import Infeasible, Outcome
from toolchain.solve.search import Bench, Search

__all__ = [
    "ENERGY",
    "FLASH",
    "LATENCY",
    "METRICS",
    "RAM",
    "Bench",
    "Candidate",
    "Constraint",
    "Costs",
    "Infeasible",
    "Limits",
    "Metric",
    "Outcome",
    "Point",
    "Precision",
    "Search",
    "cheapest",
    "constraints_of",
    "cost_order",
    "dominates",
    "front",
    "missed",
]
