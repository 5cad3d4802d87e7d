"""The arrays of the arena: one, or one per memory."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ArenaPart:
    """One array.

    Attributes:
        symbol: Its name in C.
        memory: Memory of the board it lies in; "" in the RAM where all zeroed data go.
        start: Offset in the whole arena at which it begins.
        nbytes: Its bytes.
    """

    symbol: str
    memory: str
    start: int
    nbytes: int

    @property
    def macro(self) -> str:
        """Begin of its macros: PREFIX_ARENA, PREFIX_ARENA_2."""
        return self.symbol.upper()

    @property
    def section(self) -> str:
        """The section it is put in; "" with none of its own.

        Linker scripts that do not know the memory take it for zeroed data, which is right.
        """
        return f".bss.{self.memory}" if self.memory else ""


def arena_parts(prefix: str, parts: Sequence[tuple[str, int]]) -> tuple[ArenaPart, ...]:
    """The arrays of a prefix.

    Args:
        prefix: Prefix of all symbols.
        parts: Memory and bytes of every part.
    """
    made: list[ArenaPart] = []
    for number, (memory, nbytes) in enumerate(parts, 1):
        symbol = f"{prefix}_arena" if number == 1 else f"{prefix}_arena_{number}"
        made.append(ArenaPart(symbol, memory, sum(p.nbytes for p in made), nbytes))
    return tuple(made)


def part_at(parts: Sequence[ArenaPart], offset: int) -> ArenaPart:
    """The array that holds an offset of the whole arena."""
    return next((p for p in reversed(parts) if p.start <= offset), parts[0])


def refer(parts: Sequence[ArenaPart], offset: int) -> str:
    """An offset of the whole arena as a C expression."""
    part = part_at(parts, offset)
    return f"{part.symbol} + {offset - part.start}"
