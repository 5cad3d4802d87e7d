"""Executed instructions per layer and function, from counts of executed blocks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from toolchain.errors import RunFailed
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest
from toolchain.run.thumb import decode
from toolchain.run.unicorn import CALIBRATION, Session

MARK = "onnx2mcu_mark"

__all__ = ["CALIBRATION", "BlockCount", "count_blocks", "per_function", "require_same"]


class BlockCount(NamedTuple):
    """How often a run of instructions was executed.

    Args:
        address: Of the first one.
        instructions: Their number.
        phase: How many layer marks came before, or with, it.
        times: How often.
    """

    address: int
    instructions: int
    phase: int
    times: int


def per_function(elf: Elf, blocks: Iterable[BlockCount], request: RunRequest) -> list[Counter[str]]:
    """Instructions of every function, per layer; their sum is the layer's count.

    What the mark takes by itself is left out, and its call, as in the counts of layers.

    Args:
        elf: The program.
        blocks: What was executed in one boot with one sample.
        request: What was run.
    """
    names: dict[int, str] = {}
    phases = [Counter[str]() for _ in range(CALIBRATION + len(request.model.layers) + 2)]
    for block in blocks:
        code = decode(elf.read(block.address, 4 * block.instructions), block.address)
        for word in islice(code, block.instructions):
            if word.address not in names:
                found = elf.function_at(word.address)
                names[word.address] = found.name if found else f"0x{word.address:08x}"
            phases[block.phase][names[word.address]] += block.times
    call = phases[1].total() - phases[1][MARK]
    layers = phases[CALIBRATION + 1 : -1]
    for counts in layers:
        del counts[MARK]
        counts[request.model.entry] -= call
    return [+counts for counts in layers]


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


class _Blocks(Session):
    """A boot that keeps every block apart."""

    def __init__(self, elf: Elf, request: RunRequest) -> None:
        self.phase = 0
        self.found: Counter[tuple[int, int, int]] = Counter()
        self.mark_address = elf.address(MARK)
        super().__init__(elf, request)

    def _block(self, _cpu: object, address: int, size: int, _data: object) -> None:
        self.phase += address == self.mark_address
        self.found[address, size, self.phase] += 1


def count_blocks(request: RunRequest) -> list[BlockCount]:
    """Run one sample in Unicorn and count every block by phase.

    Raises:
        RunFailed: The firmware did not end well.
    """
    elf = Elf(request.elf)
    session = _Blocks(elf, request)
    session.execute()
    return [
        BlockCount(address, sum(1 for _ in decode(elf.read(address, size), address)), phase, times)
        for (address, size, phase), times in session.found.items()
    ]
