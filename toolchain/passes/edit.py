"""Small edits of a graph that rewrites are made of; every one returns a new Graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolchain.ir import Array, Graph, Op, Origin, TensorType

Rewrite = Callable[[Graph, Op], "Edit | None"]


@dataclass(frozen=True, slots=True)
class Edit:
    """What a rewrite found: operators to remove, operators to put in place of the last of them.

    Args:
        remove: Operators that go.
        insert: Operators that come, at the position of the last one removed.
        types: Types of new tensors.
        constants: Values of new constants.
        origins: Origins of new tensors.
        rename: Tensors that are read under another name from now on.
    """

    remove: Sequence[Op]
    insert: Sequence[Op] = ()
    types: Mapping[str, TensorType] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)


def apply(graph: Graph, edit: Edit) -> Graph:
    """The edited graph."""
    gone = {id(op) for op in edit.remove}
    last = max(i for i, op in enumerate(graph.ops) if id(op) in gone)
    ops: list[Op] = []
    for index, op in enumerate(graph.ops):
        if id(op) not in gone:
            ops.append(op.renamed(edit.rename) if edit.rename else op)
        if index == last:
            ops.extend(edit.insert)
    return graph.with_ops(ops, edit.types, edit.constants, edit.origins)


def everywhere(rewrite: Rewrite, graph: Graph) -> Graph:
    """Apply a rewrite, operator by operator in order, until it finds nothing more."""
    found = True
    while found:
        found = False
        for op in graph.ops:
            edit = rewrite(graph, op)
            if edit is not None:
                graph, found = apply(graph, edit), True
                break
    return graph


def bypass(graph: Graph, op: Op) -> Edit | None:
    """Remove an operator whose output equals its input; None when both names must survive."""
    if op.y not in graph.outputs:
        return Edit([op], rename={op.y: op.x})
    producer = graph.producers().get(op.x)
    if producer is None or graph.uses()[op.x] > 1:
        return None
    return Edit([producer, op], [producer.renamed({op.x: op.y})])


def fresh(graph: Graph, base: str) -> str:
    """A tensor name the graph does not use yet."""
    name, n = base, 1
    while name in graph.types:
        name, n = f"{base}.{n}", n + 1
    return name


def inverse(perm: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `perm`."""
    return tuple(list(perm).index(i) for i in range(len(perm)))


def moved(graph: Graph, name: str, perm: Sequence[int], to: str) -> dict[str, Origin]:
    """Origin of `to` = transpose(name, perm), as a table; empty when there is no such origin.

    A value that was transposed, reshaped and transposed again has none.
    """
    origin, shape = graph.origins.get(name), graph.types[name].shape
    if origin is None:
        return {}
    if origin.perm is None:
        return {to: replace(origin, perm=tuple(perm), kept=shape)}
    arranged = None if origin.kept is None else tuple(origin.kept[p] for p in origin.perm)
    if len(perm) != len(origin.perm) or arranged not in (None, shape):
        return {}
    return {to: replace(origin, perm=tuple(origin.perm[p] for p in perm))}


def same_origin(graph: Graph, name: str, to: str) -> dict[str, Origin]:
    """Origin of `to`, the same elements as `name` in the same order, as a table."""
    return {to: graph.origins[name]} if name in graph.origins else {}
