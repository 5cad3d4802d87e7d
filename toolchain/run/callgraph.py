"""Who calls whom in a program, from its instructions; and how deep its stack becomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolchain.errors import RunFailed
from toolchain.run.elf import Elf, Function
from toolchain.run.thumb import (
    Instruction,
    branch_target,
    decode,
    is_pointer_call,
    stack_taken,
    wide_move,
)


@dataclass(frozen=True)
class Node:
    """One function.

    Attributes:
        function: Where it is.
        code: Its instructions.
        calls: Functions it calls, by start address.
        jumps: Functions it ends in: its own frame is gone by then.
        takes: Functions whose address it takes: for itself or others to call.
    """

    function: Function
    code: tuple[Instruction, ...]
    calls: frozenset[int]
    jumps: frozenset[int]
    takes: frozenset[int]

    @property
    def frame(self) -> int:
        """Bytes of stack its instructions take, each counted once."""
        return sum(stack_taken(word) for word in self.code)

    @property
    def calls_pointers(self) -> bool:
        """Whether it calls what a register points to."""
        return any(is_pointer_call(word) for word in self.code)


@dataclass(frozen=True)
class StackUse:
    """The deepest stack below a function.

    Attributes:
        bytes: Bytes.
        path: Functions on the way there, the first one included.
    """

    bytes: int
    path: tuple[str, ...]


@dataclass
class CallGraph:
    """The functions of a program.

    Args:
        elf: The program.
    """

    elf: Elf
    nodes: dict[int, Node] = field(default_factory=dict)

    def __post_init__(self) -> None:
        starts = {function.start: function for function in self.elf.functions}
        for function in starts.values():
            self.nodes[function.start] = self._node(function, starts)

    def node(self, name: str) -> Node:
        """The function of that name.

        Raises:
            RunFailed: There is none.
        """
        return self.nodes[self.elf.address(name)]

    def reachable(self, name: str) -> list[Node]:
        """A function and all it can come to call, by address."""
        seen: set[int] = set()
        todo = [self.elf.address(name)]
        while todo:
            start = todo.pop()
            if start not in seen:
                seen.add(start)
                node = self.nodes[start]
                todo += node.calls | node.jumps | node.takes
        return [self.nodes[start] for start in sorted(seen)]

    def stack(self, name: str, frames: Mapping[str, int]) -> StackUse:
        """The deepest stack of a call of a function.

        Args:
            name: The function.
            frames: Bytes of a function's frame, as the compiler says, by name; where it says
                nothing (assembly, libraries), the instructions do.

        Raises:
            RunFailed: A function comes to call itself: no bound is known.
        """
        known: dict[int, StackUse] = {}
        taken = frozenset[int]().union(*(node.takes for node in self.nodes.values()))

        def deepest(start: int, above: tuple[int, ...]) -> StackUse:
            if start in above:
                names = [self.nodes[s].function.name for s in above[above.index(start) :]]
                reason = f"{' calls '.join([*names, names[0]])}: its stack has no bound"
                raise RunFailed("build", names[0], reason, "replace the recursion by a loop")
            if start in known:
                return known[start]
            node = self.nodes[start]
            title = node.function.name
            own = frames.get(title.split(".")[0], node.frame)
            best = StackUse(own, (title,))
            # Any of them; but a cycle that only a pointer closes need not be a recursion. Assembly
            # has pointers to its own parts only.
            pointers: set[int] = set()
            if title.split(".")[0] in frames and node.calls_pointers:
                pointers = {p for p in taken if not self._called(p) & {start, *above}}
            for called in sorted(node.calls | node.jumps | pointers):
                below = deepest(called, (*above, start))
                left = 0 if called in node.jumps - node.calls else own
                if left + below.bytes > best.bytes:
                    best = StackUse(left + below.bytes, (title, *below.path))
            known[start] = best
            return best

        return deepest(self.elf.address(name), ())

    def _called(self, start: int) -> set[int]:
        """A function and all it comes to call without a pointer, by start address."""
        seen: set[int] = set()
        todo = [start]
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += self.nodes[one].calls | self.nodes[one].jumps
        return seen

    def _node(self, function: Function, starts: Mapping[int, Function]) -> Node:
        code: list[Instruction] = []
        calls: set[int] = set()
        jumps: set[int] = set()
        takes: set[int] = set()
        for start, data, is_code in self.elf.pieces(function):
            if is_code:
                code += decode(data, start)
            else:
                for i in range(-start % 4, len(data) - 3, 4):
                    takes |= self._taken(int.from_bytes(data[i : i + 4], "little"), starts)
        lower: dict[int, int] = {}
        for word in code:
            moved = wide_move(word)
            if moved and moved[0] == "w":
                lower[moved[1]] = moved[2]
            elif moved:
                takes |= self._taken(moved[2] << 16 | lower.get(moved[1], 0), starts)
            target = branch_target(word)
            if target is None:
                continue
            recursive = target == (function.start, True)
            if function.start <= target[0] < function.end and not recursive:
                continue
            found = self.elf.function_at(target[0])
            if found is not None:
                ends_in = not target[1] and found.start == target[0]
                (jumps if ends_in else calls).add(found.start)
        return Node(function, tuple(code), *map(frozenset, (calls, jumps, takes)))

    def _taken(self, value: int, starts: Mapping[int, Function]) -> set[int]:
        """Functions whose address a word is, or is held by the constant at it, or by one of its."""
        found: set[int] = set()
        seen: set[int] = set()
        todo = [value]
        while todo:
            word = todo.pop()
            if word & 1 and word - 1 in starts:
                found.add(word - 1)
            elif word not in seen:
                seen.add(word)
                held = self.elf.constant_at(word)
                spans = range(0, len(held) - 3, 4)
                todo += [int.from_bytes(held[i : i + 4], "little") for i in spans]
        return found
