"""Concat, and graphs whose tensors are read in more than one place (R5, R24)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.import_oracle import kinds, model, node, normal
from tests.unit.quantize_oracle import errors, float_graph, integer, quantize
from toolchain.ir import Graph, Op
from toolchain.ops.concat import Concat
from toolchain.quant.ranges import Range

X = {"a": (1, 6), "b": (1, 6)}
W = {"w": normal(6, 4), "v": normal(6, 3, seed=1)}


def alike(graph: Graph) -> list[Op]:
    """The concats, after checking that all their operands have the output's parameters."""
    concats = [op for op in graph.ops if isinstance(op, Concat)]
    for op in concats:
        assert {graph.types[x].quant for x in op.inputs} == {graph.types[op.y].quant}
    return concats


def dense(*after, outputs="y", **constants):
    nodes = [node("MatMul", "a w", "p"), node("MatMul", "b v", "q")]
    return model(*nodes, *after, inputs=X, outputs=outputs, **W, **constants)


def test_r5_layers_that_only_feed_a_concat_write_at_its_scale():
    proto = dense(node("Concat", "p q", axis=1))
    done = integer(proto).graph
    assert alike(done)
    assert kinds(done) == ["FullyConnected", "FullyConnected", "Concat"]
    assert errors(proto, done)["y"] < 2


def test_r5_the_tie_reaches_a_layer_through_pools_and_reshapes():
    nodes = [
        node("Conv", "x w", "c"), node("MaxPool", "c", "m", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "x v", "d", strides=[2, 2]), node("Concat", "m d", "k", axis=1),
        node("Flatten", "k"),
    ]  # fmt: skip
    proto = model(*nodes, w=normal(4, 3, 3, 3), v=normal(2, 3, 3, 3), x=(1, 3, 8, 8))
    done = integer(proto).graph
    assert alike(done)
    assert "Unary" not in kinds(done)


def test_r5_an_operand_with_a_fixed_scale_is_requantised_by_a_table():
    proto = dense(node("Sigmoid", "q", "s"), node("Concat", "p s", axis=1))
    done = integer(proto).graph
    (concat,) = alike(done)
    table = done.producers()[concat.inputs[1]]
    assert type(table).__name__ == "Unary"
    assert table.expression == ("x",)
    assert errors(proto, done)["y"] < 2


def test_r5_graph_inputs_are_requantised_by_tables():
    proto = model(node("Concat", "a b", axis=1), inputs=X)
    done = integer(proto).graph
    assert alike(done)
    assert kinds(done) == ["Unary", "Unary", "Concat"]
    assert errors(proto, done)["y"] < 2


def test_r5_an_operand_that_is_read_elsewhere_keeps_its_scale():
    proto = dense(
        node("Concat", "p q", axis=1), node("Tanh", "p", "z"), node("Relu", "p", "u"),
        outputs="y z u",
    )  # fmt: skip
    done = integer(proto).graph
    assert alike(done)
    assert kinds(done).count("Unary") == 3
    assert max(errors(proto, done).values()) < 3


def test_r5_an_operand_that_is_an_output_keeps_its_scale():
    proto = dense(node("Concat", "p q", axis=1), outputs="y p")
    done = integer(proto).graph
    assert alike(done)
    assert done.types["p"].q != done.types["y"].q


def test_r5_the_same_tensor_twice_in_a_concat():
    proto = dense(node("Concat", "p q p p", axis=1))
    done = integer(proto).graph
    (concat,) = alike(done)
    assert len(set(concat.inputs)) == 2
    assert errors(proto, done)["y"] < 2


def test_r5_a_constant_in_a_concat_is_at_its_scale():
    proto = dense(node("Concat", "p k q", axis=1), k=normal(1, 2))
    done = integer(proto).graph
    (concat,) = alike(done)
    assert done.constants[concat.inputs[1]].dtype == np.int8
    assert errors(proto, done)["y"] < 2


def test_r5_a_constant_twice_in_two_concats():
    nodes = [
        node("Concat", "p k", "c", axis=1), node("Concat", "k q k", "d", axis=1),
        node("Concat", "c d", axis=1),
    ]  # fmt: skip
    proto = dense(*nodes, k=normal(1, 2))
    done = integer(proto).graph
    assert len(alike(done)) == 3
    assert errors(proto, done)["y"] < 3


def test_r5_concat_of_concat():
    nodes = [node("Concat", "p q", "c", axis=1), node("Concat", "c p", axis=1)]
    proto = dense(*nodes)
    done = integer(proto).graph
    assert len(alike(done)) == 2
    assert errors(proto, done)["y"] < 3


def test_r5_one_tensor_in_two_concats():
    nodes = [node("Concat", "p q", axis=1), node("Concat", "q p", "z", axis=1)]
    proto = dense(*nodes, outputs="y z")
    done = integer(proto).graph
    assert len(alike(done)) == 2
    assert max(errors(proto, done).values()) < 3


def test_r5_a_concat_that_is_an_output_and_is_read():
    nodes = [node("Concat", "p q", axis=1), node("MatMul", "y u", "z")]
    proto = dense(*nodes, outputs="y z", u=normal(7, 2))
    done = integer(proto).graph
    assert alike(done)
    assert max(errors(proto, done).values()) < 4


@pytest.mark.parametrize(("factor", "warned"), [(1, False), (4, False), (1000, True)])
def test_r5_ranges_that_differ_by_more_than_16_times_are_warned_about(factor, warned):
    proto = model(node("MatMul", "a w", "p"), node("MatMul", "b v", "q"),
                  node("Concat", "p q", axis=1),
                  inputs=X, w=normal(6, 4) * factor, v=normal(6, 4))  # fmt: skip
    warnings = integer(proto).warnings
    assert bool(warnings) is warned
    if warned:
        assert "n_y" in warnings[0]
        assert "q" in warnings[0]
        assert "eparate outputs" in warnings[0]


def test_r33_a_scale_that_arithmetic_raises_is_raised_for_the_whole_concat():
    proto = dense(node("Concat", "p q", axis=1))
    ranges = {n: Range(-1000.0, 1000.0) for n in "ab"} | {n: Range(-1e-9, 1e-9) for n in "pqy"}
    assert alike(quantize(float_graph(proto), ranges).graph)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_r5_any_network_of_concats_has_equal_scales_at_each(data):
    names, nodes = ["a", "b", "k"], []
    widths = {"a": 6, "b": 6, "k": 2}
    for index in range(data.draw(st.integers(1, 5))):
        out = f"t{index}"
        kind = data.draw(st.sampled_from(["Concat", "Concat", "Relu", "Sigmoid", "Identity"]))
        if kind == "Concat":
            picked = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
            nodes.append(node("Concat", picked, out, axis=1))
        else:
            picked = [data.draw(st.sampled_from([n for n in names if n != "k"]))]
            nodes.append(node(kind, picked, out))
        widths[out] = sum(widths[n] for n in picked)
        names.append(out)
    nodes.append(node("Concat", ["a", "b", *(f"t{i}" for i in range(len(nodes)))], "y", axis=1))
    outputs = ["y", *data.draw(st.lists(st.sampled_from(names[3:]), unique=True, max_size=2))]
    proto = model(*nodes, inputs=X, outputs=outputs, k=normal(1, 2))
    constant = {"k"}
    for n in proto.graph.node:
        constant |= set(n.output) if set(n.input) <= constant else set()
    if constant & set(outputs):
        return
    done = integer(proto, 2).graph
    alike(done)
    assert max(errors(proto, done).values()) < 6
