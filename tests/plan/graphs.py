"""Graphs of operators that exist only here, and a way to run them in real memory."""

import hashlib
from collections.abc import Callable, Mapping
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

    def cell(self, inputs: str, scratch: int = 0, inplace: tuple[int, ...] = (), **outputs: int):
        """Add an operator; inputs are separated by spaces, outputs given with their bytes."""
        names = tuple(outputs)
        self.ops.append(Cell(f"op_{names[0]}", tuple(inputs.split()), names))
        self.sizes.update(outputs)
        self.choices[names[0]] = Choice(Kernel("k", "t", (), inplace=inplace), scratch, ())
        return self

    def view(self, x: str, y: str) -> "Net":
        self.ops.append(View(f"view_{y}", (x,), (y,)))
        self.sizes[y] = self.sizes[x]
        return self

    def graph(self, *outputs: str) -> Graph:
        types = {name: TensorType((1, n), DType.INT8) for name, n in self.sizes.items()}
        constants = {c: np.full((1, self.sizes[c]), 7, np.int8) for c in self.constants}
        return Graph("net", tuple(self.ops), types, constants, self.inputs, outputs)


def random_net(pick: Pick, most_ops: int = 40, sizes: int = 4000) -> tuple[Graph, dict]:
    """A graph with everything the planner must bear.

    Branches, skips, views, in-place operators, scratch memory, constants, inputs read twice,
    outputs nobody reads, outputs that are read too, and inputs returned as outputs.
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
        inplace = tuple(i for i in range(len(xs)) if pick(0, 2)) if kind < 6 else ()
        net.cell(" ".join(xs), pick(0, 1) * pick(0, 1) * pick(0, sizes), inplace, **outputs)
        names += outputs
    outputs = dict.fromkeys([names[-1], *(names[pick(0, len(names) - 1)] for _ in range(2))])
    return net.graph(*outputs), net.choices


def execute(graph: Graph, choices: Mapping[str, Choice], plan: Plan) -> dict[str, bytes]:
    """Run the graph in the planned arena; an operator hashes its inputs. Returns the outputs."""
    arena = bytearray(b"\xee" * plan.arena_bytes)

    def load(name: str) -> bytes:
        if graph.is_constant(plan.constants.get(name, name)):
            return graph.constants[plan.constants.get(name, name)].tobytes()
        return bytes(arena[plan.offsets[name] : plan.offsets[name] + graph.types[name].nbytes])

    def store(offset: int, data: bytes) -> None:
        arena[offset : offset + len(data)] = data

    for x in graph.inputs:
        store(plan.offsets[x], content(x, (), graph.types[x].nbytes))
    for op in graph.ops:
        if not op.is_view:
            values = tuple(load(x) for x in op.inputs)
            if choices[op.y].scratch:
                store(plan.scratch_offsets[op.y], b"\xdd" * choices[op.y].scratch)
            for y in op.outputs:
                store(plan.offsets[y], content(y, values, graph.types[y].nbytes))
    kept = [x for x in graph.inputs if plan.input_survives[x]]
    return {name: load(name) for name in (*graph.outputs, *kept)}


def reference(graph: Graph) -> dict[str, bytes]:
    """Every tensor's bytes when each has memory of its own."""
    values = {c: v.tobytes() for c, v in graph.constants.items()}
    values |= {x: content(x, (), graph.types[x].nbytes) for x in graph.inputs}
    for op in graph.ops:
        read = tuple(values[x] for x in op.inputs)
        for y in op.outputs:
            values[y] = read[0] if op.is_view else content(y, read, graph.types[y].nbytes)
    return values


def content(name: str, values: tuple[bytes, ...], nbytes: int) -> bytes:
    """Bytes that depend on a name and on every byte of the values."""
    return hashlib.shake_128(b"\0".join((name.encode(), *values))).digest(nbytes)
