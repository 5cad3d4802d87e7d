"""Choose a C kernel for every operator: the first of its list whose condition holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolchain.errors import InternalError
from toolchain.ir import Graph, Kernel, Op, Site, Target


@dataclass(frozen=True, slots=True)
class Choice:
    """The kernel taken for one operator.

    Args:
        kernel: The kernel.
        scratch: Bytes of scratch memory it needs on the target.
        rejected: Better kernels that were passed over, each with the condition that failed.
        overlap: Inputs that output 0 may be written over, by index: the least number of bytes by
            which it must begin before them (Kernel.overlap).
    """

    kernel: Kernel
    scratch: int
    rejected: tuple[str, ...] = ()
    overlap: Mapping[int, int] = field(default_factory=dict)


def condition(kernel: Kernel) -> str:
    """The sentence that says when a kernel applies."""
    return (kernel.when.__doc__ or "").strip().split("\n")[0]


def choose(op: Op, graph: Graph, target: Target) -> Choice:
    """The first kernel of the operator's list whose condition holds on this target."""
    site = Site(op, graph.types, graph.constants, target)
    rejected: list[str] = []
    for kernel in op.kernels:
        if kernel.serves(site):
            return Choice(kernel, kernel.scratch(site), tuple(rejected), dict(kernel.overlap(site)))
        rejected.append(f"{kernel.name}: {condition(kernel)}")
    raise InternalError("select", op.name, f"no kernel of {type(op).__name__} applies: {rejected}")


def select_kernels(graph: Graph, target: Target) -> dict[str, Choice]:
    """The choice for every operator that computes, by its first output; views need none."""
    return {op.y: choose(op, graph, target) for op in graph.ops if not op.is_view}
