"""Executed instructions per layer and function, from counts of executed blocks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from toolchain.errors import RunFailed
from toolchain.run.elf import Elf
from toolchain.run.emulator import MARK, RunRequest
from toolchain.run.owners import owners, phase_of
from toolchain.run.thumb import branch_target, decode
from toolchain.run.unicorn import Session

__all__ = ["BlockCount", "count_blocks", "per_function", "phase_number", "require_same"]


class BlockCount(NamedTuple):
    """How often a run of instructions was executed.

    Args:
        address: Of the first one.
        instructions: Their number.
        phase: How many layer marks came before, or with, it; for a row of a layer, how many there
            are before that layer (`toolchain.run.owners`).
        times: How often.
        before: Address and number of instructions of the block executed before it.
    """

    address: int
    instructions: int
    phase: int
    times: int
    before: tuple[int, int]


def phase_number(request: RunRequest) -> int:
    """How many phases a boot with one sample has."""
    return phase_of(len(request.model.layers)) + 1


def per_function(elf: Elf, blocks: Iterable[BlockCount], request: RunRequest) -> list[Counter[str]]:
    """Instructions of every function, per layer; their sum is the layer's count.

    What the mark takes by itself is left out, and its call, as in the counts of layers.

    Args:
        elf: The program.
        blocks: What was executed in one boot with one sample.
        request: What was run.
    """
    names: dict[int, str] = {}
    mark = elf.address(MARK)
    phases = [Counter[str]() for _ in range(phase_number(request))]
    callers = [request.model.entry] * len(phases)
    for block in blocks:
        code = decode(elf.read(block.address, 4 * block.instructions), block.address)
        for word in islice(code, block.instructions):
            if word.address not in names:
                found = elf.function_at(word.address)
                names[word.address] = found.name if found else f"0x{word.address:08x}"
            phases[block.phase][names[word.address]] += block.times
            target = branch_target(word)
            if target is not None and target[0] == mark:
                callers[block.phase] = names[word.address]
    call = phases[1].total() - phases[1][MARK]
    first = phase_of(0)
    for counts, caller in zip(phases[first:-1], callers[first:-1], strict=True):
        del counts[MARK]
        counts[caller] -= call
    return [+counts for counts in phases[first:-1]]


def require_same(one: Sequence[Counter[str]], other: Sequence[Counter[str]]) -> None:
    """Refuse counts of two engines that differ.

    Raises:
        RunFailed: The first layer and function that differ, with both counts.
    """
    for layer, (a, b) in enumerate(zip(one, other, strict=True)):
        for name in sorted(a.keys() | b.keys()):
            if a[name] != b[name]:
                reason = f"qemu and unicorn count {a[name]:,} and {b[name]:,} instructions"
                where = f"{name}, layer {layer}"
                raise RunFailed("profile", where, reason, "one of the emulators is wrong")


_KEEP, _MARK, _BACK = 0, -1, -2
"""What the execution of a block does to the phase; a positive number is the phase it begins."""


class _Blocks(Session):
    """A boot that keeps every block apart."""

    def __init__(self, elf: Elf, request: RunRequest) -> None:
        self.phase = self.marked = 0
        self.last = (0, 0)
        self.found: Counter[tuple[tuple[int, int], tuple[int, int], int]] = Counter()
        self.owners = owners(elf, request.model)
        self.actions = {owner.start: owner.phase for owner in self.owners if owner.phase}
        self.actions[elf.address(MARK)] = _MARK
        super().__init__(elf, request)

    def _action(self, address: int) -> int:
        if any(o.phase == 0 and o.start <= address < o.end for o in self.owners):
            return _BACK
        return _KEEP

    def _block(self, _cpu: object, address: int, size: int, _data: object) -> None:
        action = self.actions.get(address)
        if action is None:
            action = self.actions[address] = self._action(address)
        if action:
            self.marked += action == _MARK
            self.phase = action if action > 0 else self.marked
        block = address, size
        self.found[block, self.last, self.phase] += 1
        self.last = block


def count_blocks(request: RunRequest) -> list[BlockCount]:
    """Run one sample in Unicorn and count every block by phase.

    Raises:
        RunFailed: The firmware did not end well.
    """
    elf = Elf(request.elf)
    session = _Blocks(elf, request)
    session.execute()
    lengths = {
        (address, size): sum(1 for _ in decode(elf.read(address, size), address))
        for (address, size), _, _ in session.found
    }
    lengths[0, 0] = 0
    return [
        BlockCount(block[0], lengths[block], phase, times, (before[0], lengths[before]))
        for (block, before, phase), times in session.found.items()
    ]
