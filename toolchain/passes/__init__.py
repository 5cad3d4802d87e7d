"""Rewrites of the float graph: plain functions Graph -> Graph, in the order of PASSES."""

from collections.abc import Callable, Sequence

from toolchain.errors import InternalError
from toolchain.ir import Graph, verify
from toolchain.passes.activations import fuse_activations, fuse_unary
from toolchain.passes.affine import fold_affine
from toolchain.passes.groups import fuse_groups
from toolchain.passes.pads import fuse_pads
from toolchain.passes.pins import spread_pins
from toolchain.passes.products import fuse_products
from toolchain.passes.transposes import sink_views
from toolchain.passes.views import simplify_views

Pass = Callable[[Graph], Graph]

PASSES: tuple[Pass, ...] = (
    spread_pins,
    simplify_views,
    fuse_pads,
    fuse_groups,
    sink_views,
    fold_affine,
    fuse_activations,
    fuse_unary,
    sink_views,
    fold_affine,
    fuse_products,
    fuse_activations,
    simplify_views,
)

__all__ = ["PASSES", "Pass", "run"]


ROUNDS = 4
"""One round brings nearly every graph to rest; what one pass frees for another needs more."""


def run(graph: Graph, passes: Sequence[Pass] = PASSES) -> Graph:
    """Apply the passes in order, again while they find something, at most ROUNDS times.

    Raises:
        InternalError: A pass returned a graph that is not well formed; it is named.
    """
    for _ in range(ROUNDS):
        before = graph.ops
        for rewrite in passes:
            try:
                graph = verify(rewrite(graph))
            except Exception as error:  # whatever it is, the pass is at fault
                reason = f"broke the graph: {error}"
                raise InternalError("fuse", rewrite.__name__, reason) from error
        if graph.ops == before:
            break
    return graph
