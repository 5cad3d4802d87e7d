"""Graphs of operators that exist only here, and a way to run them in real memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from toolchain.ir import DType, Graph, Kernel, Op, TensorType
from toolchain.plan import Plan
from toolchain.select import Choice

Pick = Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Cell(Op):
    """Any number of tensors in and out; not registered."""

    def infer(self, types):
        return tuple(types[y].shape for y in self.outputs)

    def evaluate(self, *values):
        raise NotImplementedError

    def simulate(self, types, *codes):
        raise NotImplementedError

    @classmethod
    def example(cls, rng):
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class View(Cell):
    """Its output is its input."""

    is_view: ClassVar[bool] = True


@dataclass(slots=True)
class Net:
    """A graph in the making.

    sizes: bytes of every tensor; ops and choices as they are added.
    """

    sizes: dict[str, int]
    inputs: tuple[str, ...]
    constants: tuple[str, ...]
    ops: list[Op]
    choices: dict[str, Choice]

    @classmethod
    def of(cls, constants: Mapping[str, int] | None = None, **inputs: int) -> "Net":
        constants = constants or {}
        return cls({**constants, **inputs}, tuple(inputs), tuple(constants), [], {})

    def cell(
        self,
        inputs: str,
        scratch: int = 0,
        inplace: tuple[int, ...] = (),
        over: Mapping[int, int] | None = None,
        onto: tuple[int, ...] = (),
        **outputs: int,
    ):
        """Add an operator; inputs are separated by spaces, outputs given with their bytes.

        inplace: inputs at distance 0; over: distances of further inputs; onto: inputs at whose very
        place output 0 may lie.
        """
        names = tuple(outputs)
        self.ops.append(Cell(f"op_{names[0]}", tuple(inputs.split()), names))
        self.sizes.update(outputs)
        overlap = {**dict.fromkeys(inplace, 0), **(over or {})}
        self.choices[names[0]] = Choice(Kernel("k", "t", ()), scratch, overlap=overlap, onto=onto)
        return self

    def view(self, x: str, y: str) -> "Net":
        self.ops.append(View(f"view_{y}", (x,), (y,)))
        self.sizes[y] = self.sizes[x]
        return self

    def graph(self, *outputs: str) -> Graph:
        types = {name: TensorType((1, n), DType.INT8) for name, n in self.sizes.items()}
        constants = {c: np.full((1, self.sizes[c]), 7, np.int8) for c in self.constants}
        return Graph("net", tuple(self.ops), types, constants, self.inputs, outputs)


def random_net(
    pick: Pick, most_ops: int = 40, sizes: int = 4000, partial: bool = False
) -> tuple[Graph, dict]:
    """A graph with everything the planner must bear.

    Branches, skips, views, in-place operators, scratch memory, constants, inputs read twice,
    outputs nobody reads, outputs that are read too, and inputs returned as outputs. With `partial`,
    outputs may overlap inputs at any distance, or at their very place.
    """
    net = Net.of({"c": pick(1, 50)}, **{f"in{i}": pick(1, sizes) for i in range(pick(1, 3))})
    names = [*net.inputs, "c"]
    for n in range(pick(0, most_ops)):
        kind = pick(0, 9)
        near = names[-4:] if pick(0, 3) else names
        x = near[pick(0, len(near) - 1)]
        if kind == 0:
            net.view(x, f"t{n}")
            names.append(f"t{n}")
            continue
        xs = [x, *(names[pick(0, len(names) - 1)] for _ in range((0, 0, 1, 1, 2)[pick(0, 4)]))]
        same = kind < 5
        outputs = {f"t{n}": net.sizes[x] if same else pick(1, sizes)}
        outputs |= {f"t{n}_{i}": pick(1, sizes) for i in range(1, 1 + (kind == 9) * pick(1, 2))}
        over = dict.fromkeys([i for i in range(len(xs)) if kind < 6 and pick(0, 2)], 0)
        if partial:
            most = outputs[f"t{n}"]
            over = {i: pick(-most, most) if pick(0, 2) else 0 for i in range(len(xs)) if pick(0, 3)}
        scratch = pick(0, 1) * pick(0, 1) * pick(0, sizes)
        onto: tuple[int, ...] = ()
        if partial and not pick(0, 2):
            over, onto = {}, (0,)
            outputs[f"t{n}"] = pick(1, net.sizes[x])
        net.cell(" ".join(xs), scratch, over=over, onto=onto, **outputs)
        names += outputs
    outputs = dict.fromkeys([names[-1], *(names[pick(0, len(names) - 1)] for _ in range(2))])
    return net.graph(*outputs), net.choices


def execute(
    graph: Graph,
    choices: Mapping[str, Choice],
    plan: Plan,
    dead: Sequence[Sequence[tuple[int, int]]] | None = None,
) -> dict[str, bytes]:
    """Run the graph in the planned arena. Returns the outputs and the inputs that survive.

    Args:
        graph: The graph.
        choices: Its kernels.
        plan: Its plan.
        dead: Offset and bytes of what gets noise before each operator and at the end, where inputs
            then need not survive.
    """
    noise = np.random.default_rng(0)
    arena = np.full(plan.arena_bytes, 0xEE, np.uint8)

    def memory(name: str) -> np.ndarray:
        stored = plan.constants.get(name, name)
        if graph.is_constant(stored):
            return graph.constants[stored].view(np.uint8).reshape(-1)
        return arena[plan.offsets[name] : plan.offsets[name] + graph.types[name].nbytes]

    for x in graph.inputs:
        memory(x)[:] = content(x, graph.types[x].nbytes)

    def poison(step: int) -> None:
        for offset, n in dead[step] if dead else ():
            arena[offset : offset + n] = noise.integers(0, 256, n, np.uint8)

    for step, op in enumerate(graph.ops):
        poison(step)
        if op.is_view:
            continue
        choice = choices[op.y]
        if choice.scratch:
            start = plan.scratch_offsets[op.y]
            arena[start : start + choice.scratch] = 0xDD
        run(op, choice, [memory(x) for x in op.inputs], [memory(y) for y in op.outputs])
    poison(len(graph.ops))
    kept = [x for x in graph.inputs if plan.input_survives[x] and dead is None]
    return {name: memory(name).tobytes() for name in (*graph.outputs, *kept)}


def reference(graph: Graph, choices: Mapping[str, Choice]) -> dict[str, bytes]:
    """Every tensor's bytes when each has memory of its own."""
    values = {c: v.view(np.uint8).reshape(-1) for c, v in graph.constants.items()}
    values |= {x: content(x, graph.types[x].nbytes) for x in graph.inputs}
    for op in graph.ops:
        if op.is_view:
            values[op.y] = values[op.x]
            continue
        values |= {y: np.zeros(graph.types[y].nbytes, np.uint8) for y in op.outputs}
        run(op, choices[op.y], [values[x] for x in op.inputs], [values[y] for y in op.outputs])
    return {name: value.tobytes() for name, value in values.items()}


def run(op: Op, choice: Choice, sources: list[np.ndarray], targets: list[np.ndarray]) -> None:
    """Compute in the given memory, byte by byte, reading as late as the kernel's overlap allows.

    Before byte b of output 0 is written, an input at distance d is read from byte b - d on, and one
    without a distance as a whole. The other outputs are complete before that. Of an input at whose
    place the output may lie, byte b alone is read before byte b is written, in an order that is
    wrong at any other place.
    """
    for y, target in zip(op.outputs[1:], targets[1:], strict=True):
        target[:] = content(y, len(target)) + np.uint8(sum(digest(x) for x in sources) & 255)
    first, key = targets[0], content(op.y, len(targets[0]))
    step = 2 if choice.onto else 1
    for b in (b for start in range(step) for b in range(start, len(first), step)):
        total = int(key[b])
        for i, x in enumerate(sources):
            if i in choice.onto:
                total += int(x[b]) if b < len(x) else 0
            else:
                total += (2 * i + 1) * digest(x, max(b - choice.overlap.get(i, b), 0))
        first[b] = total & 255


def digest(values: np.ndarray, start: int = 0) -> int:
    """A number that any other byte from `start` on changes, whatever it is taken modulo."""
    return int(values[start:] @ _ODD[start : len(values)]) if start < len(values) else 0


def content(name: str, nbytes: int) -> np.ndarray:
    """Bytes that depend on a name."""
    return np.random.default_rng(list(name.encode())).integers(0, 256, nbytes, np.uint8)


_ODD = np.random.default_rng(0).integers(0, 64, 5000) * 2 + 1
