"""Functions of one variable however they are spelt out, and where they are not defined."""

import math

import numpy as np
import pytest

from tests.unit.import_oracle import agree, kinds, model, node, normal
from tests.unit.test_import_elementwise import away_from_zero
from toolchain.errors import InputRefused
from toolchain.frontend.read import read
from toolchain.ir import Node, Quant, TensorType
from toolchain.ir.builder import IMPORTERS, Builder
from toolchain.ops.unary import Unary, evaluate_expression

SHAPE = (1, 3, 4, 5)
CONV = {"w": normal(4, 3, 3, 3), "u": normal(2, 4, 1, 1)}


def positive(shape=SHAPE, seed=1):
    return {"x": np.abs(normal(*shape, seed=seed)) + 0.2}


def one_table(*nodes, opset=18, sample=None, **constants):
    """The nodes, alone and between two convolutions, are one table each time."""
    alone = agree(model(*nodes, x=SHAPE, opset=opset, **constants), sample=sample)
    assert kinds(alone) == ["Unary"]
    if sample is not None:
        return
    renamed = []
    for proto in nodes:
        copy = type(proto)()
        copy.CopyFrom(proto)
        copy.input[:] = ["conv" if x == "x" else x for x in copy.input]
        copy.output[:] = ["after" if y == "y" else y for y in copy.output]
        copy.name = f"n_{copy.output[0]}"
        renamed.append(copy)
    chain = [node("Conv", "x w", "conv"), *renamed, node("Conv", "after u")]
    inside = agree(model(*chain, opset=opset, **constants, **CONV))
    assert kinds(inside) == ["Transpose", "Conv2D", "Unary", "Conv2D", "Transpose"]


SINGLE = [
    ("LeakyRelu", {}), ("LeakyRelu", {"alpha": 0.3}), ("LeakyRelu", {"alpha": 1.5}), ("Elu", {}),
    ("Elu", {"alpha": 0.5}), ("Selu", {}), ("Selu", {"alpha": 2.0, "gamma": 0.5}), ("Celu", {}),
    ("Celu", {"alpha": 2.0}), ("ThresholdedRelu", {}), ("ThresholdedRelu", {"alpha": 0.25}),
    ("Shrink", {}), ("Shrink", {"lambd": 1.0, "bias": 0.5}), ("HardSigmoid", {}),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("HardSwish", {}), ("Mish", {}), ("Erf", {}),
    ("Softplus", {}), ("Softsign", {}), ("Abs", {}), ("Neg", {}), ("Sign", {}), ("Floor", {}),
    ("Ceil", {}), ("Round", {}), ("Exp", {}), ("Sin", {}), ("Cos", {}), ("Tan", {}), ("Atan", {}),
    ("Sinh", {}), ("Cosh", {}), ("Asinh", {}),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "attributes"), SINGLE)
def test_a_function_is_one_table(op_type, attributes):
    graph = agree(model(node(op_type, "x", **attributes), x=SHAPE, opset=18))
    assert kinds(graph) == ["Unary"]


@pytest.mark.parametrize("op_type", ["Log", "Sqrt", "Reciprocal"])
def test_a_function_of_positive_numbers(op_type):
    one_table(node(op_type, "x"), sample=positive())


@pytest.mark.parametrize("op_type", ["Asin", "Acos", "Atanh"])
def test_a_function_of_numbers_below_one(op_type):
    one_table(node(op_type, "x"), sample={"x": np.tanh(normal(*SHAPE)) * np.float32(0.9)})


def test_acosh_of_numbers_above_one():
    one_table(node("Acosh", "x"), sample={"x": positive()["x"] + 1})


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_of_opset_20(approximate):
    one_table(node("Gelu", "x", approximate=approximate), opset=20)


def test_gelu_of_another_form_is_refused():
    with pytest.raises(InputRefused, match="approximation 'sigmoid'"):
        read(model(node("Gelu", "x", approximate="sigmoid"), opset=20), "model")


def imported(op_type, inputs=("x",), opset=1, **attributes):
    """The expression an importer makes of a node ONNX Runtime's oracle cannot run here."""
    b = Builder({"bias": np.ones(5, np.float32)})
    b.input("x", SHAPE)
    IMPORTERS[op_type](Node(op_type, "n", inputs, ("y",), attributes, opset), b)
    (op,) = b.ops
    assert isinstance(op, Unary)
    return op.expression


X = np.linspace(-6, 6, 101)
ERF_GELU = 0.5 * X * (1 + np.vectorize(math.erf)(X / math.sqrt(2)))
TANH_GELU = 0.5 * X * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)))


@pytest.mark.parametrize(
    ("op_type", "attributes", "expected"),
    [
        ("Swish", {}, X / (1 + np.exp(-X))),
        ("Swish", {"alpha": 2.0}, X / (1 + np.exp(-2 * X))),
        ("com.microsoft.QuickGelu", {}, X / (1 + np.exp(-1.702 * X))),
        ("com.microsoft.QuickGelu", {"alpha": 1.0}, X / (1 + np.exp(-X))),
        ("com.microsoft.Gelu", {}, ERF_GELU),
        ("com.microsoft.FastGelu", {}, TANH_GELU),
    ],
)
def test_functions_outside_the_oracle(op_type, attributes, expected):
    expression = imported(op_type, **attributes)
    np.testing.assert_allclose(evaluate_expression(expression, X), expected, atol=1e-12)


def test_fast_gelu_with_a_bias_is_refused():
    from toolchain.ir import Unsupported

    with pytest.raises(Unsupported, match="a bias inside"):
        imported("com.microsoft.FastGelu", ("x", "bias"))


# ---- spellings ---------------------------------------------------------------------------------
HALF, ONE, TWO = np.float32(0.5), np.float32(1), np.float32(2)
ROOT = np.float32(math.sqrt(2))


@pytest.mark.parametrize("first", ["Div", "Mul"])
@pytest.mark.parametrize("halved", ["input", "gate", "product"])
@pytest.mark.parametrize("commuted", [False, True])
def test_gelu_by_erf(first, halved, commuted):
    factor = {"input": ("x", "h"), "gate": ("g", "h"), "product": ("m", "h")}[halved]
    nodes = [
        node(first, "x s", "q"), node("Erf", "q", "e"),
        node("Add", "one e" if commuted else "e one", "g"),
    ]  # fmt: skip
    if halved == "product":
        nodes += [node("Mul", "g x" if commuted else "x g", "m"), node("Mul", "m h")]
    else:
        rest = "g" if halved == "input" else "x"
        nodes += [node("Mul", list(factor), "p")]
        nodes += [node("Mul", [rest, "p"] if commuted else ["p", rest])]
    scale = ROOT if first == "Div" else 1 / ROOT
    one_table(*nodes, s=scale, one=ONE, h=HALF)


@pytest.mark.parametrize("cube", ["Pow", "Mul"])
def test_gelu_by_tanh(cube):
    nodes = (
        [node("Pow", "x three", "q")]
        if cube == "Pow"
        else [node("Mul", "x x", "xx"), node("Mul", "x xx", "q")]
    )
    nodes += [
        node("Mul", "k q", "r"), node("Add", "x r", "s"), node("Mul", "s t", "u1"),
        node("Tanh", "u1", "v"), node("Add", "v one", "g"), node("Mul", "x h", "xh"),
        node("Mul", "xh g"),
    ]  # fmt: skip
    three = {"three": np.float32(3)} if cube == "Pow" else {}
    constants = {"k": np.float32(0.044715), "t": np.float32(math.sqrt(2 / math.pi))}
    one_table(*nodes, **three, **constants, one=ONE, h=HALF)


SIX, THREE = np.float32(6), np.float32(3)
HARD_SWISH = {
    "clip": [
        node("Add", "x three", "a"), node("Clip", "a zero six", "c"), node("Mul", "x c", "m"),
        node("Div", "m six"),
    ],
    "divided first": [
        node("Add", "x three", "a"), node("Clip", "a zero six", "c"), node("Div", "c six", "g"),
        node("Mul", "x g"),
    ],
    "times a sixth": [
        node("Add", "x three", "a"), node("Relu", "a", "b"), node("Min", "b six", "c"),
        node("Mul", "c sixth", "g"), node("Mul", "g x"),
    ],
    "hard sigmoid": [
        node("HardSigmoid", "x", "g", alpha=1 / 6, beta=0.5), node("Mul", "x g"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("spelling", HARD_SWISH)
def test_hard_swish(spelling):
    used = {x for n in HARD_SWISH[spelling] for x in n.input}
    constants = {"three": THREE, "six": SIX, "zero": np.float32(0), "sixth": np.float32(1 / 6)}
    one_table(*HARD_SWISH[spelling], **{n: c for n, c in constants.items() if n in used})


SILU = {
    "sigmoid": [node("Sigmoid", "x", "s"), node("Mul", "x s")],
    "commuted": [node("Sigmoid", "x", "s"), node("Mul", "s x")],
    "divided": [
        node("Neg", "x", "n"), node("Exp", "n", "e"), node("Add", "e one", "d"), node("Div", "x d"),
    ],
    "reciprocal": [
        node("Neg", "x", "n"), node("Exp", "n", "e"), node("Add", "one e", "d"),
        node("Reciprocal", "d", "r"), node("Mul", "x r"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("spelling", SILU)
def test_silu(spelling):
    one = {"one": ONE} if spelling in ("divided", "reciprocal") else {}
    one_table(*SILU[spelling], **one)


@pytest.mark.parametrize("softplus", ["node", "log"])
def test_mish(softplus):
    if softplus == "node":
        nodes, constants = [node("Softplus", "x", "p")], {}
    else:
        nodes = [node("Exp", "x", "e"), node("Add", "e one", "f"), node("Log", "f", "p")]
        constants = {"one": ONE}
    one_table(*nodes, node("Tanh", "p", "t"), node("Mul", "x t"), **constants)


@pytest.mark.parametrize("shape", [(1,), (1, 1, 1)])
def test_prelu_with_one_slope(shape):
    one_table(node("PRelu", "x slope"), slope=np.full(shape, 0.25, np.float32))


def test_prelu_with_equal_slopes():
    graph = agree(model(node("PRelu", "x slope"), slope=np.full((3, 1, 1), 0.25)))
    assert kinds(graph) == ["Unary"]


def test_leaky_relu_from_two_rectifiers():
    nodes = [
        node("Relu", "x", "p"), node("Neg", "x", "n"), node("Relu", "n", "q"),
        node("Mul", "q slope", "r"), node("Sub", "p r"),
    ]  # fmt: skip
    one_table(*nodes, slope=np.float32(0.1))


def test_maximum_of_a_tensor_and_its_multiple_is_one_table():
    one_table(node("Mul", "x s", "m"), node("Max", "x m"), s=np.float32(0.1))


def test_a_function_of_a_function_that_others_read_starts_behind_it():
    nodes = [
        node("Tanh", "x", "t"), node("Sigmoid", "t", "s"), node("Mul", "t s", "y"),
        node("Exp", "t", "z"),
    ]  # fmt: skip
    graph = agree(model(*nodes, outputs="y z", x=SHAPE))
    assert kinds(graph) == ["Unary", "Unary", "Unary"]


@pytest.mark.parametrize("opset", [7, 12, 13, 15])
@pytest.mark.parametrize("exponent", [2.0, 3.0, 0.5, -1.0])
def test_pow_by_a_constant(opset, exponent):
    proto = model(node("Pow", "x e"), x=SHAPE, opset=opset, e=np.float32(exponent))
    assert kinds(agree(proto, sample=positive())) == ["Unary"]


def test_constant_to_the_power_of_a_tensor():
    one_table(node("Pow", "two x"), two=TWO)


@pytest.mark.parametrize("op_type", ["Pow", "Mod"])
def test_pow_and_mod_of_two_tensors_are_refused(op_type):
    attributes = {"fmod": 1} if op_type == "Mod" else {}
    proto = model(node(op_type, "a b", **attributes), inputs={"a": SHAPE, "b": SHAPE})
    with pytest.raises(InputRefused, match="computed at run time"):
        read(proto, "model")
    proto = model(node(op_type, "x c", **attributes), x=SHAPE, c=away_from_zero((3, 1, 1)))
    with pytest.raises(InputRefused, match="different values"):
        read(proto, "model")


def test_mod_by_a_constant():
    one_table(node("Mod", "x c", fmod=1), c=np.float32(1.5))


@pytest.mark.parametrize("op_type", ["Min", "Max"])
@pytest.mark.parametrize("inputs", ["x c", "c x", "x c e", "c e x"])
def test_extremum_with_numbers_is_one_table(op_type, inputs):
    constants = {"c": np.float32(0.5), "e": np.full((1, 1), 0.25)}
    used = {n: c for n, c in constants.items() if n in inputs.split()}
    assert kinds(agree(model(node(op_type, inputs), x=SHAPE, **used))) == ["Unary"]


def test_extremum_with_a_number_after_a_layer_is_its_activation():
    nodes = [node("Conv", "x w", "c"), node("Max", "c low", "m"), node("Min", "m high")]
    graph = agree(model(*nodes, w=CONV["w"], low=np.float32(0), high=np.float32(6)))
    conv = next(op for op in graph.ops if type(op).__name__ == "Conv2D")
    assert (conv.low, conv.high) == (0.0, 6.0)
    assert "Unary" not in kinds(graph)


# ---- domains -----------------------------------------------------------------------------------
def table(expression, x, y):
    types = {"x": TensorType((1,), quant=x), "y": TensorType((1,), quant=y)}
    return Unary("n", ("x",), ("y",), expression).table(types).tolist()


def test_logarithm_is_the_lowest_code_at_zero_and_below():
    codes = table(("log", ("x",)), Quant((0.1,), 0), Quant((0.05,), 10))
    assert codes[: 128 + 1] == [-128] * 129
    assert codes[128 + 10] == 10


def test_root_of_negative_numbers_is_that_of_zero():
    codes = table(("sqrt", ("x",)), Quant((0.1,), -100), Quant((0.05,), -128))
    assert codes[: -100 + 129] == [-128] * 29
    assert codes[-100 + 128 + 10] == -108


def test_reciprocal_of_zero_has_the_sign_of_the_codes():
    for zero, expected in ((-128, 127), (127, -128), (0, 127)):
        codes = table(("reciprocal", ("x",)), Quant((0.1,), zero), Quant((0.1,), 0))
        assert codes[zero + 128] == expected


def test_a_function_that_is_nowhere_defined_is_zero():
    codes = table(
        ("log", ("sub", ("neg", ("abs", ("x",))), ("const", 1.0))), *[Quant((1.0,), 3)] * 2
    )
    assert codes == [3] * 256


@pytest.mark.parametrize("name", ["log", "reciprocal", "sqrt", "acosh"])
def test_ranges_that_follow_from_codes_are_finite(name):
    types = {"x": TensorType((1,), quant=Quant((0.1,), 0))}
    span = Unary("n", ("x",), ("y",), (name, ("x",))).derived_range(types)
    assert np.isfinite(span).all()
    assert span[0] < span[1]
