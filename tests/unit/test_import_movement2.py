"""Data movement against ONNX Runtime: slices, gathers, repetitions, shuffles, padding modes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import numpy_helper

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain.errors import InputRefused

FEW = settings(max_examples=60, deadline=None)
INT_MAX, INT_MIN = 2**63 - 1, -(2**63)
shapes = st.lists(st.integers(1, 6), min_size=0, max_size=3).map(lambda s: (1, *s))


def ints(*values):
    return np.array(values, np.int64)


@FEW
@given(shape=shapes, data=st.data())
def test_slice_of_any_range_and_step(shape, data):
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    starts, ends, steps = [], [], []
    for axis in axes:
        bound = st.one_of(st.integers(-8, 8), st.sampled_from([INT_MAX, INT_MIN + 1, 2**31 - 1]))
        start, end = data.draw(bound), data.draw(bound)
        step = data.draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        if not range(shape[axis])[start:end:step]:
            start, end = (0, INT_MAX) if step > 0 else (INT_MAX, INT_MIN + 1)
        starts, ends, steps = [*starts, start], [*ends, end], [*steps, step]
    signed = [a - len(shape) if data.draw(st.booleans()) else a for a in axes]
    constants = {"s": ints(*starts), "e": ints(*ends), "a": ints(*signed), "t": ints(*steps)}
    agree(model(node("Slice", "x s e a t"), x=shape, **constants))


@pytest.mark.parametrize("opset", [8, 9])
def test_slice_with_attributes_until_opset_9(opset):
    agree(model(node("Slice", "x", starts=[1, -3], ends=[3, INT_MAX], axes=[1, 3]), opset=opset))
    agree(model(node("Slice", "x", starts=[0, 1], ends=[1, 2]), opset=opset))


@pytest.mark.parametrize(
    "inputs", [["x", "s", "e"], ["x", "s", "e", "a"], ["x", "s", "e", "", "t"]]
)
def test_slice_with_inputs_left_out(inputs):
    given_ = {"s": ints(0, 1), "e": ints(1, 3), "a": ints(0, 2), "t": ints(1, 2)}
    agree(model(node("Slice", inputs), **{n: given_[n] for n in inputs if n in given_}))


def test_slice_that_leaves_nothing_or_steps_by_zero_is_refused():
    with pytest.raises(InputRefused, match="empty along axis 1"):
        agree(model(node("Slice", "x s e a"), s=ints(2), e=ints(2), a=ints(1)))
    with pytest.raises(InputRefused, match="step of 0"):
        agree(model(node("Slice", "x s e a t"), s=ints(0), e=ints(2), a=ints(1), t=ints(0)))


@FEW
@given(shape=shapes, data=st.data())
def test_split_by_sizes(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    cuts = data.draw(st.sets(st.integers(1, shape[axis] - 1))) if shape[axis] > 1 else set()
    edges = [0, *sorted(cuts), shape[axis]]
    sizes = [b - a for a, b in pairwise(edges)]
    names = [f"y{i}" for i in range(len(sizes))]
    if data.draw(st.booleans()):
        agree(model(node("Split", "x s", names, axis=axis), x=shape, outputs=names, s=ints(*sizes)))
    else:
        split = node("Split", "x", names, axis=axis, split=sizes)
        agree(model(split, x=shape, outputs=names, opset=11))


def test_split_into_equal_parts_and_num_outputs():
    agree(model(node("Split", "x", "a b", axis=3), outputs="a b", opset=13))
    agree(model(node("Split", "x", "a b", axis=-1), outputs="a b", opset=11))
    split = node("Split", "x", "a b c", axis=2, num_outputs=3)
    agree(model(split, outputs="a b c", opset=18))
    with pytest.raises(InputRefused, match="equal parts"):
        agree(model(node("Split", "x", "a b", axis=1), outputs="a b"))


@FEW
@given(shape=shapes, index_shape=st.lists(st.integers(1, 3), max_size=2), data=st.data())
def test_gather_of_any_constant_indices(shape, index_shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    count = int(np.prod(index_shape))
    index = st.integers(-shape[axis], shape[axis] - 1)
    flat = data.draw(st.lists(index, min_size=count, max_size=count))
    indices = np.array(flat, np.int64).reshape(index_shape)
    agree(model(node("Gather", "x i", axis=axis), x=shape, i=indices))


def test_gather_out_of_range_or_at_run_time_is_refused():
    with pytest.raises(InputRefused, match="outside axis 1"):
        agree(model(node("Gather", "x i", axis=1), i=ints(3)))


@FEW
@given(shape=shapes, data=st.data())
def test_tile(shape, data):
    repeats = [data.draw(st.integers(1, 3)) for _ in shape]
    agree(model(node("Tile", "x r"), x=shape, r=ints(*repeats)))


@FEW
@given(shape=shapes, lead=st.integers(0, 1), data=st.data())
def test_expand(shape, lead, data):
    shape = tuple(n if data.draw(st.booleans()) else 1 for n in shape)
    wanted = [data.draw(st.sampled_from([1, n] if n > 1 else [1, 3])) for n in shape]
    wanted = [1] * lead + wanted[data.draw(st.integers(0, 1)) * (1 - lead) :]
    agree(model(node("Expand", "x s"), x=shape, s=ints(*wanted)))


@FEW
@given(shape=shapes, data=st.data())
def test_concat_on_any_axis(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    inputs = {f"i{k}": (*shape[:axis], n, *shape[axis + 1 :]) for k, n in enumerate(sizes)}
    inputs = {n: s if axis else (1, *s[1:]) for n, s in inputs.items()}
    signed = axis - len(shape) if data.draw(st.booleans()) else axis
    agree(model(node("Concat", [*inputs, "c"], axis=signed), inputs=inputs,
                c=normal(*inputs["i0"])))  # fmt: skip


def test_split_and_concat_between_convolutions_stay_channels_last():
    nodes = [
        node("Conv", "x w", "c"), node("Split", "c", "a b", axis=1), node("Relu", "a", "r"),
        node("Concat", "b r", "k", axis=1), node("Conv", "k u"),
    ]  # fmt: skip
    graph = agree(model(*nodes, w=normal(6, 3, 3, 3), u=normal(2, 6, 1, 1)))
    assert kinds(graph).count("Transpose") == 2
    assert kinds(graph)[0] == kinds(graph)[-1] == "Transpose"


# ---- shuffles ------------------------------------------------------------------------------------
@pytest.mark.parametrize("op_type", ["DepthToSpace", "SpaceToDepth"])
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("block", [1, 2, 3])
def test_depth_to_space_and_back(op_type, mode, block):
    deep = op_type == "DepthToSpace"
    shape = (1, 2 * block**2, 3, 2) if deep else (1, 2, 3 * block, 2 * block)
    attributes = {"blocksize": block} | ({"mode": mode} if deep else {})
    graph = agree(model(node(op_type, "x", **attributes), x=shape))
    assert kinds(graph).count("Transpose") <= 1


@pytest.mark.parametrize("op_type", ["DepthToSpace", "SpaceToDepth"])
def test_depth_to_space_between_convolutions_is_one_copy(op_type):
    nodes = [node("Conv", "x w", "c"), node(op_type, "c", "d", blocksize=2), node("Conv", "d u")]
    deep = {"DepthToSpace": 2, "SpaceToDepth": 32}[op_type]
    graph = agree(model(*nodes, w=normal(8, 3, 3, 3), u=normal(4, deep, 1, 1)))
    assert kinds(graph).count("Transpose") == 3


def shuffle(x: str, y: str, shape, groups: int):
    n, c, *rest = shape
    nodes = [
        node("Reshape", [x, f"{y}s"], f"{y}a"),
        node("Transpose", f"{y}a", f"{y}b", perm=[0, 2, 1, *range(3, 3 + len(rest))]),
        node("Reshape", [f"{y}b", f"{y}t"], y),
    ]
    return nodes, {f"{y}s": ints(n, groups, c // groups, *rest), f"{y}t": ints(n, c, *rest)}


@pytest.mark.parametrize("rest", [(), (5,), (4, 5)])
@pytest.mark.parametrize("groups", [2, 3])
def test_r6_channel_shuffle_is_one_take(rest, groups):
    nodes, constants = shuffle("x", "y", (1, 6, *rest), groups)
    assert kinds(agree(model(*nodes, x=(1, 6, *rest), **constants))) == ["Take"]


def test_r6_channel_shuffle_and_split_between_convolutions_stay_channels_last():
    nodes, constants = shuffle("c", "s", (1, 8, 6, 6), 2)
    nodes = [
        node("Conv", "x w", "c"), *nodes, node("Split", "s", "a b", axis=1),
        node("Conv", "a u", "d"), node("Concat", "d b", "k", axis=1), node("Conv", "k v"),
    ]  # fmt: skip
    weights = {"w": normal(8, 3, 3, 3), "u": normal(4, 4, 1, 1), "v": normal(2, 8, 1, 1)}
    graph = agree(model(*nodes, **constants, **weights))
    assert kinds(graph).count("Transpose") == 2
    assert kinds(graph).count("Take") == 2
    takes = [op for op in graph.ops if type(op).__name__ == "Take"]
    assert [t.indices for t in takes] == [
        (None, None, None, (0, 4, 1, 5)), (None, None, None, (2, 6, 3, 7)),
    ]  # fmt: skip


@FEW
@given(data=st.data())
def test_transposes_through_any_reshape(data):
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=4))
    nodes, constants, shape, last = [], {}, [1, *sizes], "x"
    for step in range(data.draw(st.integers(2, 6))):
        out = f"t{step}"
        if data.draw(st.booleans()):
            perm = data.draw(st.permutations(range(len(shape))))
            nodes.append(node("Transpose", last, out, perm=perm))
            shape = [shape[p] for p in perm]
        else:
            shape = data.draw(st.sampled_from(_regroupings(shape)))
            constants[f"s{step}"] = ints(*shape)
            nodes.append(node("Reshape", [last, f"s{step}"], out))
        last = out
    extra = data.draw(st.lists(st.sampled_from([n.output[0] for n in nodes]), max_size=2))
    outputs = sorted({last, *extra})
    graph = agree(model(*nodes, x=(1, *sizes), outputs=outputs, **constants))
    copies = [k for k in kinds(graph) if k != "Reshape"]
    assert len(copies) <= sum(n.op_type == "Transpose" for n in nodes)


def _regroupings(shape):
    """Shapes of as many elements: merged, flattened, split, with a dimension of 1."""
    found = [[int(np.prod(shape))], [1, *shape]]
    for i, n in enumerate(shape):
        found += [[*shape[:i], d, n // d, *shape[i + 1 :]] for d in (2, 3) if n % d == 0]
        if i + 1 < len(shape):
            found.append([*shape[:i], n * shape[i + 1], *shape[i + 2 :]])
    return [s for s in found if len(s) <= 6]


# ---- padding -------------------------------------------------------------------------------------
@FEW
@given(shape=shapes, mode=st.sampled_from(["constant", "reflect", "edge", "wrap"]), data=st.data())
def test_pad_of_every_mode_with_negative_pads(shape, mode, data):
    pads = [[data.draw(st.integers(-2, 3)) for _ in shape] for _ in range(2)]
    for before, after, n in zip(*pads, shape, strict=True):
        kept = n + min(before, 0) + min(after, 0)
        assume(kept >= 1)
        if mode == "reflect":
            assume(max(before, after) < kept)
        if mode == "wrap":
            assume(max(before, after) <= kept)
    agree(model(node("Pad", "x p v", mode=mode), x=shape, opset=19, p=ints(*pads[0], *pads[1]),
                v=np.float32(0.5)))  # fmt: skip


def test_pad_with_axes_and_of_five_dimensions():
    agree(model(node("Pad", ["x", "p", "", "a"], mode="edge"), opset=18, p=ints(1, 0, 2, 1),
                a=ints(-1, 2)))  # fmt: skip
    agree(model(node("Pad", "x p"), x=(1, 2, 3, 2, 2), p=ints(0, 1, 0, 1, 0, 0, 0, 2, 0, 0)))


@pytest.mark.parametrize("mode", ["reflect", "edge"])
def test_pad_before_a_convolution_stays_channels_last(mode):
    nodes = [
        node("Conv", "x w", "c"), node("Pad", "c p", "d", mode=mode), node("Conv", "d u"),
    ]  # fmt: skip
    p = ints(0, 0, 1, 1, 0, 0, 1, 1)
    graph = agree(model(*nodes, p=p, w=normal(4, 3, 3, 3), u=normal(2, 4, 3, 3)))
    assert kinds(graph) == ["Transpose", "Conv2D", "Take", "Conv2D", "Transpose"]


def test_a_larger_reflection_than_there_are_cells_is_refused():
    with pytest.raises(InputRefused, match="reflection"):
        agree(model(node("Pad", "x p", mode="reflect"), x=(1, 3), p=ints(0, 3, 0, 0)))


# ---- shape arithmetic ----------------------------------------------------------------------------
def test_flatten_as_exporters_write_it_folds():
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s zero", "n", axis=0),
        node("Unsqueeze", "n axes", "u"), node("Concat", "u minus", "t", axis=0),
        node("Reshape", "x t"),
    ]  # fmt: skip
    constants = {"zero": np.int64(0), "axes": ints(0), "minus": ints(-1)}
    assert kinds(agree(model(*nodes, x=(1, 3, 4, 4), **constants))) == ["Reshape"]
    agree(model(*nodes, x=("batch", 3, 4, 4), **constants))


def test_pads_as_exporters_write_them_fold():
    """ConstantOfShape, Concat, Reshape, Slice backwards, Transpose: torch's F.pad at opset 11."""
    nodes = [
        node("Concat", "p zeros", "l", axis=0), node("Reshape", "l two", "m"),
        node("Slice", "m from to axis step", "r"), node("Transpose", "r", "t", perm=[1, 0]),
        node("Reshape", "t flat", "f"), node("Cast", "f", "g", to=7), node("Pad", "x g"),
        node("ConstantOfShape", "count", "zeros", value=numpy_helper.from_array(ints(0))),
    ]  # fmt: skip
    nodes = [nodes[-1], *nodes[:-1]]
    constants = {
        "p": ints(1, 2, 0, 1), "count": ints(4), "two": ints(-1, 2), "from": ints(-1),
        "to": ints(INT_MIN + 1), "axis": ints(0), "step": ints(-1), "flat": ints(-1),
    }  # fmt: skip
    graph = agree(model(*nodes, **constants))
    assert kinds(graph) == ["Pad"]
    assert (graph.ops[0].before, graph.ops[0].after) == ((0, 0, 0, 1), (0, 0, 1, 2))


def test_upsampling_to_the_size_of_another_tensor_folds():
    nodes = [
        node("Shape", "x", "s"), node("Slice", "s two four", "hw"), node("Mul", "hw twos", "big"),
        node("Shape", "x", "s2"), node("Slice", "s2 none two", "nc"),
        node("Concat", "nc big", "sizes", axis=0), node("Resize", ["x", "", "", "sizes"]),
        ]  # fmt: skip
    constants = {"two": ints(2), "four": ints(4), "twos": ints(2, 2), "none": ints(0)}
    assert kinds(agree(model(*nodes, x=("n", 3, 4, 4), **constants))) == ["Take"]


def test_range_and_expand_of_shapes_fold():
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s three", "w"), node("Range", "nil w one", "i"),
        node("Gather", "x i", axis=3),
    ]  # fmt: skip
    constants = {"three": np.int64(3), "nil": np.int64(0), "one": np.int64(1)}
    assert kinds(agree(model(*nodes, **constants))) in ([], ["Reshape"], ["Take"])
