"""In which memories of a board arena and weights go, as the user says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolchain.board import Board, Memory
from toolchain.errors import InputRefused
from toolchain.plan.arena import Part, Plan

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes of a memory that something may take.

    Args:
        memory: Name of the memory.
        nbytes: How many, at most.
    """

    memory: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Memories:
    """Where things go.

    Args:
        arena: Rooms for the parts of the arena, the preferred one first; empty: the board's RAM.
        weights: Flash of the weights; "": the board's flash.
        hot: RAM for a copy of the weights that are read most.
        hot_is_rest: The copy takes what the arena leaves of its memory.
    """

    arena: tuple[Room, ...] = ()
    weights: str = ""
    hot: Room | None = None
    hot_is_rest: bool = False

    def reserved(self, memory: str) -> int:
        """Bytes of a memory that the arena must leave to the copied weights."""
        taken = self.hot is not None and self.hot.memory == memory and not self.hot_is_rest
        return self.hot.nbytes if self.hot is not None and taken else 0

    def beside(self, plan: Plan, ram: str) -> "Memories":
        """The same with what the arena of a plan leaves to the copied weights.

        Args:
            plan: The plan.
            ram: Name of the board's RAM.
        """
        if self.hot is None or not self.hot_is_rest:
            return self
        parts = plan.parts or (Part(ram, 0, plan.arena_bytes),)
        used = sum(part.nbytes for part in parts if part.memory == self.hot.memory)
        return replace(self, hot=Room(self.hot.memory, max(self.hot.nbytes - used, 0)))


def memories_of(
    board: Board, arena_in: str, weights_in: str, hot_weights: str, stack_bytes: int
) -> Memories:
    """Read what the user says of the memories of a board.

    Args:
        board: The board.
        arena_in: NAME[:BYTES] separated by commas, the preferred memory first; "auto" takes all RAM
            inside the part, the fastest first; "" the board's RAM.
        weights_in: Name of a flash; "" the board's flash.
        hot_weights: NAME[:BYTES] of a RAM, or "" for none.
        stack_bytes: Stack, in the board's RAM.

    Raises:
        InputRefused: No such memory, or it is smaller than that.
    """
    reader = _Reader(board, stack_bytes)
    hot = reader.room("--hot-weights", hot_weights) if hot_weights else None
    hot_is_rest = hot is not None and ":" not in hot_weights
    memories = Memories((), "", hot, hot_is_rest)
    texts = arena_in.split(",") if arena_in else []
    if arena_in == AUTO:
        texts = [memory.name for memory in reader.inside(memories)]
    for text in texts:
        name = text.partition(":")[0].strip()
        if not name:
            hint = "write NAME or NAME:BYTES, separated by commas"
            raise InputRefused("plan", f"--arena-in {arena_in}", "one of the names is empty", hint)
        if name == AUTO and len(texts) > 1:
            reason = "auto is all RAM inside the part, the fastest first: it stands alone"
            raise InputRefused(
                "plan", f"--arena-in {arena_in}", reason, "give auto, or names of memories"
            )
    rooms = tuple(
        reader.room("--arena-in", text, memories.reserved(text.partition(":")[0].strip()))
        for text in texts
    )
    names = [room.memory for room in rooms]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputRefused("plan", "--arena-in", f"{twice} is named twice", "name each once")
    weights = reader.memory("--weights-in", weights_in, "flash").name if weights_in else ""
    return replace(memories, arena=rooms, weights="" if weights == board.flash.name else weights)


@dataclass(frozen=True, slots=True)
class _Reader:
    board: Board
    stack_bytes: int

    def inside(self, memories: Memories) -> Sequence[Memory]:
        """RAM inside the part in which bytes are left, the fastest first."""
        found = (m for m in self.board.memory if m.kind == "ram" and not m.external and m.origin)
        left = (m for m in found if self.free(m, memories.reserved(m.name)))
        return sorted(left, key=lambda m: (m.speed_rank, -m.free))

    def free(self, memory: Memory, reserved: int) -> int:
        """Bytes of a memory besides the stack and what is reserved."""
        stack = self.stack_bytes if memory.name == self.board.ram.name else 0
        return max(memory.free - stack - reserved, 0)

    def room(self, option: str, text: str, reserved: int = 0) -> Room:
        """The room that NAME or NAME:BYTES stands for."""
        name, colon, number = text.strip().partition(":")
        memory = self.memory(option, name, "ram")
        free = self.free(memory, reserved)
        if not colon:
            number = str(free)
        if not number.isdecimal() or not int(number):
            what = f"{number!r} is no number of bytes" if colon else f"no bytes of {name} are left"
            raise InputRefused("plan", f"{option} {text}", what, "write NAME or NAME:BYTES")
        if int(number) > free:
            others = " besides stack and copied weights" if free < memory.free else ""
            raise InputRefused(
                "plan",
                f"{option} {text}",
                f"{name} of {self.board.name} has {free:,} bytes{others}",
                f"give {name}:{free} or less" if free > 0 else "name another memory",
            )
        return Room(name, int(number))

    def memory(self, option: str, name: str, kind: str) -> Memory:
        """A memory of the board."""
        fitting = [m for m in self.board.memory if m.kind == kind and (m.origin or kind == "flash")]
        for memory in fitting:
            if memory.name == name:
                return memory
        known = ", ".join(f"{m.name} ({m.free:,} bytes)" for m in fitting)
        reason = f"{self.board.name} has no {kind} of that name"
        if any(m.name == name and m.kind == kind for m in self.board.memory):
            reason = f"{name} begins at address 0, where kernels expect no data"
        elif any(m.name == name for m in self.board.memory):
            reason = f"{name} is no {kind}"
        raise InputRefused("plan", f"{option} {name}", reason, f"its {kind}: {known}")
