"""Each rewrite on the smallest graph that shows it, and the errors of the list of passes."""

import numpy as np
import pytest

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain import passes
from toolchain.errors import InternalError
from toolchain.frontend.read import read
from toolchain.ir import Graph
from toolchain.passes.activations import fuse_activations, fuse_unary
from toolchain.passes.affine import fold_affine
from toolchain.passes.edit import fresh, inverse
from toolchain.passes.pads import fuse_pads
from toolchain.passes.transposes import sink_views
from toolchain.passes.views import simplify_views


def imported(*nodes, **options) -> Graph:
    return read(model(*nodes, **options), "m").graph


def test_a_pass_that_breaks_the_graph_is_named():
    def breaks(graph: Graph) -> Graph:
        return graph.with_ops(graph.ops[1:])

    graph = imported(node("Relu", "x", "a"), node("Tanh", "a"))
    with pytest.raises(InternalError, match="breaks"):
        passes.run(graph, [breaks])


@pytest.mark.parametrize("kind", [IndexError, TypeError, ZeroDivisionError, ValueError])
def test_a_pass_that_fails_is_named_whatever_its_error(kind):
    def fails(graph: Graph) -> Graph:
        raise kind("inside")

    with pytest.raises(InternalError, match=r"fails.*inside"):
        passes.run(imported(node("Relu", "x")), [fails])


def test_views_of_the_same_tensor_that_are_alike_are_computed_once():
    nodes = [
        node("Transpose", "x", "a", perm=[0, 2, 3, 1]), node("Sigmoid", "a", "s"),
        node("Transpose", "x", "b", perm=[0, 2, 3, 1]), node("Tanh", "b", "t"),
        node("Add", "s t"),
    ]  # fmt: skip
    assert kinds(simplify_views(imported(*nodes))).count("Transpose") == 1


def test_two_equal_views_that_are_both_outputs_stay_two():
    nodes = [node(f"{'Transpose'}", "x", y, perm=[0, 2, 3, 1]) for y in ("y", "z")]
    assert agree(model(*nodes, outputs="y z")).outputs == ("y", "z")


def test_a_transpose_of_size_one_dimensions_is_a_view():
    graph = imported(node("Transpose", "x", perm=[0, 2, 3, 1]), x=(1, 1, 4, 5))
    assert kinds(simplify_views(graph)) == ["Reshape"]


def test_opposite_transposes_cancel_and_a_chain_is_one():
    nodes = [
        node("Transpose", "x", "a", perm=[0, 2, 3, 1]),
        node("Transpose", "a", "b", perm=[0, 3, 1, 2]),
        node("Relu", "b", "c"),
        node("Transpose", "c", "d", perm=[0, 2, 1, 3]),
        node("Transpose", "d", perm=[0, 3, 1, 2]),
    ]
    assert kinds(simplify_views(imported(*nodes))) == ["Unary", "Transpose"]


def test_a_reshape_to_its_own_shape_goes_and_the_output_keeps_its_name():
    graph = simplify_views(imported(node("Relu", "x", "r"), node("Identity", "r")))
    assert kinds(graph) == ["Unary"]
    assert graph.outputs == ("y",)


def test_dead_operators_go():
    graph = imported(node("Relu", "x", "a"), node("Identity", "x", "b"), node("Tanh", "b"))
    assert kinds(simplify_views(graph)) == ["Unary"]


def test_r4_a_clip_is_not_fused_into_a_layer_with_two_readers():
    nodes = [node("MatMul", "x w", "m"), node("Relu", "m", "r"), node("Tanh", "m", "t")]
    graph = imported(*nodes, outputs="r t", x=(1, 4), w=normal(4, 3))
    assert kinds(fuse_activations(graph)) == ["FullyConnected", "Unary", "Unary"]


def test_r4_a_clip_is_not_fused_into_a_layer_that_is_an_output():
    nodes = [node("MatMul", "x w", "m"), node("Relu", "m", "r")]
    graph = imported(*nodes, outputs="m r", x=(1, 4), w=normal(4, 3))
    assert kinds(fuse_activations(graph)) == ["FullyConnected", "Unary"]


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul"])
def test_a_clip_fuses_into_arithmetic(op_type):
    nodes = [node(op_type, "a b", "s"), node("Relu", "s")]
    graph = imported(*nodes, inputs={"a": (1, 4), "b": (1, 4)})
    assert kinds(fuse_activations(graph)) == [op_type]


def test_r6_a_chain_of_functions_is_one_table_unless_read_in_between():
    nodes = [node("Tanh", "x", "a"), node("Mul", "a c", "b"), node("Sigmoid", "b")]
    constants = {"c": np.float32(0.5)}
    for outputs, left in (("y", ["Unary"]), ("b y", ["Unary", "Unary"])):
        graph = fuse_unary(imported(*nodes, outputs=outputs, **constants))
        assert kinds(simplify_views(graph)) == left


def test_r12_an_affine_function_folds_into_the_layer_before_it():
    nodes = [node("MatMul", "x w", "m"), node("Mul", "m c", "k"), node("Add", "k d")]
    constants = {"w": normal(4, 3), "c": normal(3), "d": np.float32(2)}
    graph = fold_affine(imported(*nodes, x=(1, 4), **constants))
    assert [k for k in kinds(graph) if k != "Reshape"] == ["FullyConnected"]


def test_r12_an_affine_function_of_an_output_stays():
    nodes = [node("MatMul", "x w", "m"), node("Mul", "m c", "k")]
    graph = fold_affine(imported(*nodes, outputs="m k", x=(1, 4), w=normal(4, 3), c=normal(3)))
    assert "DepthwiseConv2D" in kinds(graph)


def test_r12_a_scaling_without_addend_folds_forward_even_across_padding():
    nodes = [node("Mul", "x c", "s"), node("Conv", "s w", pads=[1, 1, 1, 1])]
    graph = agree(model(*nodes, c=normal(3, 1, 1), w=normal(4, 3, 3, 3)))
    assert kinds(graph) == ["Transpose", "Conv2D", "Transpose"]


def test_a_pad_moves_past_a_transpose_into_the_convolution():
    nodes = [node("Pad", "x p", "q"), node("Conv", "q w")]
    graph = imported(*nodes, p=np.array([0, 0, 1, 2, 0, 0, 3, 4]), w=normal(4, 3, 3, 3))
    graph = fuse_pads(graph)
    assert kinds(graph) == ["Transpose", "Conv2D", "Transpose"]
    assert graph.ops[1].window.pads == (1, 2, 3, 4)


def test_r19_a_transpose_sinks_below_an_operand_that_is_there_in_the_other_layout():
    """The skip of a residual block over the graph input is read channels last, too."""
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Add", "c x", "a"), node("Relu", "a"),
    ]  # fmt: skip
    graph = agree(model(*nodes, w=normal(3, 3, 3, 3)))
    assert kinds(graph) == ["Transpose", "Conv2D", "Add", "Transpose"]


def test_r19_a_transpose_with_other_readers_does_not_move_in_circles():
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Add", "c x", "a"),
        node("Conv", "x w", "d", pads=[1, 1, 1, 1]), node("Add", "d a"),
    ]  # fmt: skip
    agree(model(*nodes, outputs="c y", w=normal(3, 3, 3, 3)))


def test_sinking_is_finished_after_one_pass():
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "r"), node("Concat", "r c", axis=1)]
    once = sink_views(imported(*nodes, w=normal(4, 3, 3, 3)))
    assert kinds(sink_views(once)) == kinds(once)


def test_fresh_names_are_new_and_permutations_invert():
    graph = imported(node("Relu", "x"))
    assert fresh(graph, "x") == "x.1"
    assert fresh(graph, "q") == "q"
    assert inverse((0, 2, 3, 1)) == (0, 3, 1, 2)
