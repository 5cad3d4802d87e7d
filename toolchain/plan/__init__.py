"""The order of the operators, and where every tensor lies in the arena."""

from toolchain.plan.arena import Part, Plan, plan_memory
from toolchain.plan.check import check_plan
from toolchain.plan.dead import dead_spans
from toolchain.plan.divide import divide_plan, divided
from toolchain.plan.economy import Arranged, arrange
from toolchain.plan.fit import Shortage, require_fit, shortages
from toolchain.plan.lifetimes import Buffer, lifetimes
from toolchain.plan.memories import Memories, Room, memories_of
from toolchain.plan.ram import Plans, check_planned, plan_for, rows_notes
from toolchain.plan.schedule import schedule
from toolchain.plan.wish import Ram, Wish

__all__ = [
    "Arranged",
    "Buffer",
    "Memories",
    "Part",
    "Plan",
    "Plans",
    "Ram",
    "Room",
    "Shortage",
    "Wish",
    "arrange",
    "check_plan",
    "check_planned",
    "dead_spans",
    "divide_plan",
    "divided",
    "lifetimes",
    "memories_of",
    "plan_for",
    "plan_memory",
    "require_fit",
    "rows_notes",
    "schedule",
    "shortages",
]
