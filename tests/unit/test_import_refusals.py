"""What cannot be converted is refused with the node and the reason, never with another error."""

import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from tests.unit.import_oracle import model, node, normal
from toolchain import passes
from toolchain.errors import InputRefused
from toolchain.frontend.inputs import model_inputs
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read


def refusal(proto) -> InputRefused:
    with pytest.raises(InputRefused) as caught:
        read(proto, "m")
    assert caught.value.exit_code == 2
    return caught.value


W = normal(4, 3, 3, 3)
CASES = {
    "an unknown operator": (node("NonZero", "x"), {}, "this operator is not supported"),
    "another domain": (
        helper.make_node("Frobnicate", ["x"], ["y"], name="n_y", domain="nowhere"),
        {}, "this operator is not supported",
    ),
    "a filter computed at run time": (node("Conv", "x x"), {}, "filter .* computed at run time"),
    "grouped convolution": (
        node("Conv", "x w", group=2), {"w": normal(4, 2, 3, 3)}, "filter|grouped",
    ),
    "a filter that does not fit": (node("Conv", "x w"), {"w": normal(4, 5, 3, 3)}, "does not fit"),
    "a bias of another length": (node("Conv", "x w b"), {"w": W, "b": normal(3)}, "a bias of"),
    "a kernel larger than the input": (
        node("Conv", "x w"), {"w": normal(4, 3, 9, 9)}, "larger than its padded input",
    ),
    "stride 0": (node("Conv", "x w", strides=[0, 1]), {"w": W}, "strides"),
    "negative dilation": (node("Conv", "x w", dilations=[-1, 1]), {"w": W}, "dilations"),
    "pads of another rank": (node("Conv", "x w", pads=[1, 1]), {"w": W}, "pads"),
    "negative pads": (node("Conv", "x w", pads=[-1, 0, 0, 0]), {"w": W}, "negative pads"),
    "an unknown auto_pad": (node("Conv", "x w", auto_pad="MAGIC"), {"w": W}, "MAGIC"),
    "a dilated pool": (
        node("MaxPool", "x", kernel_shape=[2, 2], dilations=[2, 2]), {}, "dilations",
    ),
    "a pool of nothing but padding": (
        node("MaxPool", "x", kernel_shape=[2, 2], pads=[2, 0, 0, 0]), {}, "smaller than the kernel",
    ),
    "batch normalisation in training mode": (
        node("BatchNormalization", "x s s s s", training_mode=1),
        {"s": np.ones(3)}, "training mode",
    ),
    "batch normalisation of another width": (
        node("BatchNormalization", "x s s s s"), {"s": np.ones(6)}, "6 values",
    ),
    "dropout in training mode": (
        node("Dropout", "x r t"), {"r": np.float32(0.5), "t": np.array(True)}, "training mode",
    ),
    "an unknown kind of padding": (
        node("Pad", "x p", mode="magic"), {"p": np.ones(8, np.int64)}, "magic",
    ),
    "an axis there is not": (node("Concat", "x x", axis=4), {}, "axis 4"),
    "a softmax axis there is not": (node("Softmax", "x", axis=-5), {}, "axis -5"),
    "a permutation that is none": (node("Transpose", "x", perm=[0, 1, 1, 2]), {}, "perm"),
    "a reshape that does not fit": (
        node("Reshape", "x s"), {"s": np.array([7, 5])}, "cannot become",
    ),
    "a reshape to negative sizes": (
        node("Reshape", "x s"), {"s": np.array([-2, -96])}, "cannot become",
    ),
    "a squeeze of a larger axis": (
        node("Squeeze", "x a"), {"a": np.array([1])}, "size is not 1",
    ),
    "a cast to integers": (node("Cast", "x", to=7), {}, "cast to integers"),
    "matrices that do not fit": (node("MatMul", "x w"), {"w": normal(5, 4)}, "not fit"),
    "weights that are not numbers": (
        node("Conv", "x w"), {"w": np.full((4, 3, 3, 3), np.nan)}, "NaN or infinity",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_r21_refused_with_the_node_and_the_reason(case):
    bad, constants, reason = CASES[case]
    nodes = [node("GlobalAveragePool", "x", "g"), bad] if "g" in bad.input else [bad]
    error = refusal(model(*nodes, opset=17, **constants))
    assert error.where == "n_y"
    assert f"{bad.op_type} 'n_y'" in error.reason
    assert re.search(reason, f"{error.reason} {error.hint}"), error.reason


def test_r21_all_unsupported_nodes_are_in_one_message():
    nodes = [
        node("Bernoulli", "x", "a"), node("Conv", "a w", "b"), node("Hardmax", "b", "c"),
        node("Relu", "c", "d"), node("Pad", "d p", "e", mode="magic"),
        node("RandomNormalLike", "e"),
    ]  # fmt: skip
    error = refusal(model(*nodes, opset=17, w=W, p=np.ones(8, np.int64)))
    for name in ("Bernoulli 'n_a'", "Hardmax 'n_c'", "Pad 'n_e'", "RandomNormalLike 'n_y'"):
        assert name in error.reason
    assert "n_b" not in error.reason
    assert error.reason.startswith("4 nodes")


def test_r24_optional_outputs_that_nobody_reads_are_left_out():
    proto = model(node("MaxPool", "x", "y i", kernel_shape=[2, 2]))
    assert [type(op).__name__ for op in read(proto, "pool").graph.ops].count("MaxPool") == 1


def test_r24_indices_that_somebody_reads_are_refused():
    nodes = [node("MaxPool", "x", "a i", kernel_shape=[2, 2]), node("MaxUnpool", "a i")]
    error = refusal(model(*nodes))
    assert "Indices output" in error.reason
    assert "MaxUnpool" in error.reason


def test_r21_a_refused_node_brings_no_refusals_of_what_follows_it():
    nodes = [
        node("NonZero", "x", "a"), node("Reshape", "a s", "b"), node("Gemm", "b w", "c"),
        node("Add", "c c"),
    ]  # fmt: skip
    error = refusal(model(*nodes, s=np.array([1, 12]), w=normal(12, 3)))
    assert error.where == "n_a"


@pytest.mark.parametrize(
    "content", [b"", b"hello, this is text\n" * 50, bytes(range(256)) * 20, b"\x08", b"\n" * 100]
)
def test_files_that_are_no_models_are_refused(content, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(InputRefused, match="model"):
        load_model(path)


@pytest.mark.parametrize("suffix", [".json", ".txt", ".onnxtxt", ".textproto", ".onnx", ""])
def test_the_name_of_a_file_does_not_matter(suffix, tmp_path):
    good, bad = tmp_path / f"good{suffix}", tmp_path / f"bad{suffix}"
    good.write_bytes(model(node("Relu", "x")).SerializeToString())
    bad.write_text("{}")
    assert len(load_model(good).graph.node) == 1
    with pytest.raises(InputRefused):
        load_model(bad)


def test_truncated_files_are_refused_at_every_length(tmp_path):
    path = tmp_path / "model.onnx"
    proto = model(node("Conv", "x w", "c"), node("Relu", "c"), w=W)
    whole = proto.SerializeToString()
    for length in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(InputRefused):
            read(load_model(path), "m")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path, told in ((tmp_path / "absent.onnx", "no such file"), (tmp_path, "is a folder")):
        with pytest.raises(InputRefused, match=told):
            load_model(path)


@settings(max_examples=100, deadline=None)
@given(position=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_a_damaged_byte_never_ends_in_another_error(position, byte, tmp_path_factory):
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"),
        node("MaxPool", "r", "p", kernel_shape=[2, 2]), node("Reshape", "p s", "f"),
        node("Gemm", "f u"),
    ]  # fmt: skip
    constants = {"w": normal(1, 3, 1, 1), "s": np.array([1, -1]), "u": normal(49, 2)}
    data = bytearray(model(*nodes, **constants).SerializeToString())
    data[position % len(data)] = byte
    path = tmp_path_factory.mktemp("damaged") / "model.onnx"
    path.write_bytes(data)
    with suppress(InputRefused):
        passes.run(read(load_model(path), "m").graph)


def test_r15_a_symbolic_batch_is_taken_as_one_and_said_once():
    proto = model(node("Relu", "x"), x=("N", 3, 8, 8))
    imported = read(proto, "m")
    assert imported.inputs[0].shape == (1, 3, 8, 8)
    assert len(imported.notes) == 1
    assert "batch" in imported.notes[0]


def test_r15_other_symbolic_dimensions_are_refused_with_the_option_that_helps():
    proto = model(node("Relu", "x"), x=("N", 3, "h", "w"))
    error = refusal(proto)
    assert error.where == "x"
    assert "h" in error.reason
    assert error.hint == "give the shape: --shape x=1,3,N,N"
    assert read(proto, "m", {"x": (1, 3, 5, 6)}).graph.types["y"].shape == (1, 3, 5, 6)


@pytest.mark.parametrize("given_shape", [(1, 4, 8, 8), (1, 3, 8), (1, 3, 0, 8), (1, 3, -1, 8)])
def test_r15_a_given_shape_that_contradicts_the_model_is_refused(given_shape):
    with pytest.raises(InputRefused, match="contradicts"):
        read(model(node("Relu", "x"), x=("N", 3, "h", 8)), "m", {"x": given_shape})


def test_a_shape_for_something_that_is_not_an_input_is_refused():
    with pytest.raises(InputRefused, match="not an input"):
        model_inputs(model(node("Relu", "x")), {"q": (1,)})


def test_an_input_without_a_shape_needs_one():
    proto = model(node("Relu", "x"))
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    assert "--shape x=" in refusal(proto).hint
    assert read(proto, "m", {"x": (1, 4)}).inputs[0].shape == (1, 4)


@pytest.mark.parametrize("kind", ["FLOAT16", "INT16", "INT64", "DOUBLE", "STRING", "BFLOAT16"])
def test_inputs_of_other_types_are_refused_by_name(kind):
    proto = model(node("Relu", "x"))
    proto.graph.input[0].type.tensor_type.elem_type = getattr(TensorProto, kind)
    error = refusal(proto)
    assert error.where == "x"
    assert kind.lower() in error.reason


def test_an_input_that_is_a_sequence_is_refused():
    proto = model(node("Relu", "x"))
    proto.graph.input[0].CopyFrom(helper.make_tensor_sequence_value_info("x", 1, [1]))
    assert "not a tensor" in refusal(proto).reason


def test_sparse_initialisers_are_refused_by_name():
    proto = model(node("MatMul", "x w"), x=(1, 4))
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [3])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4, 4]))
    assert refusal(proto).where == "w"


def test_a_damaged_initialiser_is_refused_by_name():
    proto = model(node("MatMul", "x w"), x=(1, 4), w=normal(4, 4))
    proto.graph.initializer[0].raw_data = b"123"
    assert refusal(proto).where == "w"


NONSENSE = st.one_of(
    st.integers(-9, 9),
    st.sampled_from([2**62, -(2**62)]),
    st.floats(allow_nan=True),
    st.sampled_from(["", "SAME_UPPER", "reflect", "é"]),
    st.lists(st.integers(-3, 9), max_size=5),
    st.lists(st.floats(-2, 2), min_size=1, max_size=3),
)
ATTRIBUTES = (
    "axis",
    "axes",
    "kernel_shape",
    "pads",
    "strides",
    "dilations",
    "group",
    "auto_pad",
    "ceil_mode",
    "perm",
    "keepdims",
    "alpha",
    "beta",
    "transA",
    "transB",
    "min",
    "max",
    "mode",
    "value",
    "epsilon",
    "to",
    "allowzero",
    "training_mode",
    "count_include_pad",
)
OPERATORS = (
    "Conv",
    "Gemm",
    "MatMul",
    "BatchNormalization",
    "Relu",
    "Clip",
    "Sigmoid",
    "Tanh",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "MaxPool",
    "AveragePool",
    "GlobalAveragePool",
    "ReduceMean",
    "Flatten",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Pad",
    "Concat",
    "Softmax",
    "LogSoftmax",
    "Identity",
    "Dropout",
    "Constant",
    "Cast",
    "Shape",
    "Gather",
    "Slice",
    "Erf",
    "Loop",
)


@st.composite
def nonsense_graphs(draw):
    """Random nodes of known operators over random inputs with random attributes."""
    shape = (1, *draw(st.lists(st.integers(1, 5), max_size=3)))
    constants = {
        "w": normal(*draw(st.lists(st.integers(1, 5), max_size=4))),
        "v": normal(*draw(st.lists(st.integers(0, 3), max_size=2))),
        "i": np.array(draw(st.lists(st.integers(-3, 5), max_size=6)), np.int64),
        "j": np.array(draw(st.integers(-3, 5)), np.int64),
    }
    names, nodes = ["x", *constants, ""], []
    for index in range(draw(st.integers(1, 4))):
        inputs = draw(st.lists(st.sampled_from(names), max_size=5))
        if draw(st.booleans()):
            inputs = [names[-2] if nodes else "x", *inputs]
        attributes = draw(st.dictionaries(st.sampled_from(ATTRIBUTES), NONSENSE, max_size=4))
        outputs = [f"t{index}"] + [f"u{index}"] * draw(st.integers(0, 1))
        made = node(draw(st.sampled_from(OPERATORS)), inputs, outputs)
        for key, number in attributes.items():
            if number != []:
                made.attribute.append(helper.make_attribute(key, number))
        nodes.append(made)
        names.insert(-1, outputs[0])
    opset = draw(st.integers(7, 23))
    return model(*nodes, x=shape, outputs=outputs[0], opset=opset, **constants)


@settings(max_examples=250, deadline=None)
@given(nonsense_graphs())
def test_r21_nonsense_ends_in_a_refusal_or_a_graph_that_verifies(proto):
    with suppress(InputRefused):
        passes.run(read(proto, "m").graph)


def test_what_is_never_supported_is_named_behind_unknown_shapes():
    """Nobody knows the shape of `a`; what comes behind stands in the way all the same."""
    nodes = [
        helper.make_node("Foo", ["x"], ["a"], "unknown", domain="com.example"),
        helper.make_node("Hardmax", ["a"], ["y"], "behind"),
    ]
    error = refusal(model(*nodes, x=(1, 4)))
    assert "unknown" in error.reason
    assert "behind" in error.reason
