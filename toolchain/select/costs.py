"""Measured cost of every kernel: what `make bench-kernels` found, committed as costs.json.

The table is data of the package. A kernel it does not know is no error: kernels are then taken in
the order of their operator's list.
"""

from enum import StrEnum
from functools import cache

import msgspec

from toolchain import resources
from toolchain.board import Isa
from toolchain.ir import Kernel, Op, Types


class Optimize(StrEnum):
    """What kernels are chosen and compiled for."""

    SPEED = "speed"
    """The fewest instructions; compiled with -O2."""
    SIZE = "size"
    """The least code; compiled with -Os."""


class Cost(msgspec.Struct, frozen=True):
    """Instructions of one kernel, fitted to a few measured shapes.

    Attributes:
        per_work: Instructions per unit of work, see `features`.
        per_output: Instructions per element of output 0.
        per_channel: Instructions per channel: last dimension of output 0.
        per_call: Instructions of every call.
        worst: Largest relative error of the fit over the measured shapes.
    """

    per_work: float
    per_output: float
    per_channel: float
    per_call: float
    worst: float

    def predict(self, op: Op, types: Types) -> int:
        """Instructions of one call."""
        each = (self.per_work, self.per_output, self.per_channel, self.per_call)
        return round(sum(a * b for a, b in zip(each, features(op, types), strict=True)))


def features(op: Op, types: Types) -> tuple[int, int, int, int]:
    """What the instructions of a call are a sum of: work, outputs, channels, the call itself.

    Work is multiply-accumulates; for an operator without any, elements of input 0.
    """
    output = types[op.y]
    return op.macs(types) or types[op.x].elements, output.elements, output.shape[-1], 1


class Costs(msgspec.Struct, frozen=True):
    """The table.

    Attributes:
        compiler: Version it was measured with.
        instructions: By what is optimised, instruction set, operator and kernel.
        code_bytes: By instruction set and file of cmsis_glue/src: bytes at -Os, constants included.
    """

    compiler: str
    instructions: dict[Optimize, dict[Isa, dict[str, dict[str, Cost]]]]
    code_bytes: dict[Isa, dict[str, int]]

    def cost(self, op: Op, kernel: Kernel, isa: Isa, optimize: Optimize) -> Cost | None:
        """Cost of a kernel for an operator; None when it was not measured."""
        kernels = self.instructions.get(optimize, {}).get(isa, {}).get(type(op).__name__, {})
        return kernels.get(kernel.name)

    def bytes_of(self, sources: frozenset[str], isa: Isa) -> int | None:
        """Code of some source files together; None when one was not measured."""
        known = self.code_bytes.get(isa, {})
        if not sources <= known.keys():
            return None
        return sum(known[name] for name in sources)


def save_costs(costs: Costs) -> None:
    """Write the table, in an order that does not depend on that of the measurements."""
    text = msgspec.json.format(msgspec.json.encode(costs, order="sorted"), indent=1)
    resources.COSTS.write_bytes(text + b"\n")
    load_costs.cache_clear()


@cache
def load_costs() -> Costs:
    """The committed table; an empty one before the first measurement."""
    if not resources.COSTS.exists():
        return Costs("", {}, {})
    return msgspec.json.decode(resources.COSTS.read_bytes(), type=Costs)
