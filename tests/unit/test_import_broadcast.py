"""PRelu, operands that broadcast, any number of operands, and what is refused."""

import numpy as np
import pytest

from tests.unit.import_oracle import agree, kinds, model, node, normal
from tests.unit.test_import_elementwise import away_from_zero
from toolchain.errors import InputRefused
from toolchain.frontend.read import read

SHAPE = (1, 3, 4, 5)
CONV = {"w": normal(4, 3, 3, 3), "u": normal(2, 4, 1, 1)}


# ---- PRelu -------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(3, 1, 1), (1, 3, 1, 1), (3, 4, 5), (5,), (4, 1), (3, 1, 5)])
def test_prelu_with_slopes(shape):
    assert kinds(agree(model(node("PRelu", "x slope"), x=SHAPE, slope=normal(*shape)))) == ["PRelu"]


@pytest.mark.parametrize("shape", [(4, 1, 1), (4, 6, 6), (1, 6, 1)])
def test_prelu_between_layers_needs_no_transposes(shape):
    nodes = [node("Conv", "x w", "c"), node("PRelu", "c slope", "p"), node("Conv", "p u")]
    graph = agree(model(*nodes, slope=normal(*shape), **CONV))
    assert kinds(graph) == ["Transpose", "Conv2D", "PRelu", "Conv2D", "Transpose"]


def test_prelu_with_a_computed_slope():
    inputs = {"x": SHAPE, "slope": (3, 1, 1)}
    assert "PRelu" in kinds(agree(model(node("PRelu", "x slope"), inputs=inputs)))


def test_prelu_with_a_slope_as_old_opsets_wrote_it():
    proto = model(node("PRelu", "x slope"), x=SHAPE, slope=[0.1, 0.2, 0.3])
    graph = read(proto, "model").graph
    x = normal(*SHAPE)
    slopes = np.array([0.1, 0.2, 0.3], np.float32).reshape(3, 1, 1)
    (op,) = graph.ops
    (y,) = op.evaluate(x, graph.constants[op.inputs[1]])
    np.testing.assert_array_equal(y, np.where(x < 0, x * slopes, x))


def test_prelu_with_a_slope_that_would_widen_the_input_is_refused():
    for shape in ((2, 3, 4, 5), (1, 1, 3, 4, 5), (2, 1, 1)):
        with pytest.raises(InputRefused, match="PRelu"):
            read(model(node("PRelu", "x slope"), x=SHAPE, slope=normal(*shape)), "model")


# ---- broadcasting ------------------------------------------------------------------------------
PAIRS = [
    ((1, 3, 4, 5), (1, 3, 1, 1)), ((1, 3, 4, 5), (1, 1, 4, 5)), ((1, 3, 4, 5), (1, 1, 1, 1)),
    ((1, 3, 1, 5), (1, 1, 4, 1)), ((1, 4, 5), (1, 3, 4, 5)), ((3, 1, 1), (1, 3, 4, 5)),
    ((1,), (1, 3, 4, 5)), ((1, 2, 3, 1, 5), (2, 1, 4, 5)), ((1, 6), (1, 1)), ((1, 6), (6, 1)),
]  # fmt: skip


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Div", "Min", "Max", "Sum", "Mean"])
@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("swapped", [False, True])
def test_two_tensors_that_broadcast(op_type, first, second, swapped):
    shapes = {"a": second, "b": first} if swapped else {"a": first, "b": second}
    sample = {n: away_from_zero(s, i) for i, (n, s) in enumerate(shapes.items())}
    agree(model(node(op_type, "a b"), inputs=shapes), sample=sample)


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("shape", [(4, 5), (3, 1, 5), (1, 3, 4, 1), SHAPE])
def test_constants_along_several_axes_are_stored_once(op_type, shape):
    graph = agree(model(node(op_type, "x c"), x=SHAPE, c=away_from_zero(shape)))
    (op,) = graph.ops
    assert graph.constants[op.inputs[1]].size == np.prod(shape)


@pytest.mark.parametrize("op_type", ["Min", "Max", "Sum", "Mean"])
@pytest.mark.parametrize("inputs", ["a", "a b c", "a b k c", "k a b", "b a s"])
def test_any_number_of_operands(op_type, inputs):
    shapes = {"a": SHAPE, "b": (1, 3, 1, 1), "c": (5,)}
    constants = {"k": normal(3, 1, 1, seed=5), "s": np.float32(0.5)}
    used = inputs.split()
    agree(
        model(
            node(op_type, inputs),
            inputs={n: s for n, s in shapes.items() if n in used},
            **{n: c for n, c in constants.items() if n in used},
        )
    )


def test_shapes_that_do_not_broadcast_are_refused():
    for op_type in ("Add", "Div", "Max", "Sum"):
        proto = model(node(op_type, "a b c"[: 5 if op_type == "Sum" else 3]),
                      inputs={"a": (1, 3, 4, 5), "b": (1, 2, 4, 5), "c": SHAPE})  # fmt: skip
        with pytest.raises(InputRefused):
            read(proto, "model")


GATES = {
    "sigmoid": [node("Sigmoid", "e", "g")],
    "hard": [node("HardSigmoid", "e", "g", alpha=1 / 6, beta=0.5)],
}


@pytest.mark.parametrize("gate", GATES)
def test_squeeze_and_excitation_stays_in_one_layout(gate):
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("GlobalAveragePool", "c", "p"),
        node("Conv", "p down", "d"), node("Relu", "d", "r"), node("Conv", "r up", "e"),
        *GATES[gate], node("Mul", "c g", "m"), node("Conv", "m u"),
    ]  # fmt: skip
    graph = agree(model(*nodes, down=normal(2, 4, 1, 1), up=normal(4, 2, 1, 1), **CONV))
    assert kinds(graph).count("Transpose") == 2
    (mul,) = [op for op in graph.ops if type(op).__name__ == "Mul"]
    assert graph.types[mul.y].shape == (1, 8, 8, 4)


def test_squeeze_and_excitation_with_dense_layers_stays_in_one_layout():
    nodes = [
        node("Conv", "x w", "c"), node("GlobalAveragePool", "c", "p"), node("Flatten", "p", "f"),
        node("MatMul", "f k", "e"), node("Sigmoid", "e", "s"), node("Reshape", "s shape", "g"),
        node("Mul", "g c", "m"), node("Conv", "m u"),
    ]  # fmt: skip
    shape = np.array([1, 4, 1, 1], np.int64)
    graph = agree(model(*nodes, k=normal(4, 4), shape=shape, **CONV))
    assert kinds(graph).count("Transpose") == 2


def test_spatial_attention_stays_in_one_layout():
    nodes = [
        node("Conv", "x w", "c"), node("Conv", "c one", "e"), node("Sigmoid", "e", "g"),
        node("Mul", "c g", "m"), node("Conv", "m u"),
    ]  # fmt: skip
    graph = agree(model(*nodes, one=normal(1, 4, 1, 1), **CONV))
    assert kinds(graph).count("Transpose") == 2


def test_reshapes_are_not_moved_below_an_outer_sum():
    shapes = {"p": np.array([1, 6, 1], np.int64), "q": np.array([1, 1, 6], np.int64)}
    nodes = [node("Reshape", "x p", "a"), node("Reshape", "x q", "b"), node("Add", "a b")]
    agree(model(*nodes, x=(1, 6), **shapes))


# ---- numbers that disappear ----------------------------------------------------------------------
@pytest.mark.parametrize("op_type", ["Mul", "Div"])
def test_a_factor_joins_the_layer_before_it_or_after_it(op_type):
    before = [node(op_type, "x s", "p"), node("Conv", "p w")]
    after = [node("Conv", "x w", "p"), node(op_type, "p s")]
    for nodes in (before, after):
        graph = agree(model(*nodes, w=CONV["w"], s=np.float32(4)))
        assert kinds(graph) == ["Transpose", "Conv2D", "Transpose"]


def test_a_factor_joins_the_function_beside_it():
    nodes = [node("Mul", "x s", "p"), node("Exp", "p", "e"), node("Div", "e s")]
    assert kinds(agree(model(*nodes, x=SHAPE, s=np.float32(0.5)))) == ["Unary"]


# ---- refusals ------------------------------------------------------------------------------------
def test_choices_at_run_time_are_refused_by_name():
    nodes = [node("Greater", "x c", "g"), node("Where", "g x c")]
    with pytest.raises(InputRefused) as refusal:
        read(model(*nodes, x=SHAPE, c=np.float32(0)), "model")
    assert "Greater" in str(refusal.value)
    assert "Where" in str(refusal.value)


def test_choices_among_constants_are_computed():
    nodes = [node("Greater", "c d", "g"), node("Where", "g c d", "m"), node("Add", "x m")]
    constants = {"c": normal(4, 5), "d": normal(4, 5, seed=1)}
    assert kinds(agree(model(*nodes, x=SHAPE, **constants))) == ["Add"]
