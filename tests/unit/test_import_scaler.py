"""Scaler of ai.onnx.ml against ONNX Runtime (R12)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain.errors import InputRefused
from toolchain.frontend.read import read


def scaler(x: str = "x", y: str = "y", **attributes):
    return helper.make_node("Scaler", [x], [y], name=f"n_{y}", domain="ai.onnx.ml", **attributes)


def scaled(*nodes, **arguments):
    proto = model(*nodes, **arguments)
    proto.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    return proto


@settings(max_examples=40, deadline=None)
@given(
    features=st.integers(1, 12),
    single=st.booleans(),
    rank=st.sampled_from([1, 2, 3, 4]),
    seed=st.integers(0, 99),
)
def test_scaler_of_any_width(features, single, rank, seed):
    shape = {1: (features,), 2: (1, features), 3: (1, features, 3), 4: (1, features, 2, 3)}[rank]
    count = 1 if single or rank > 2 else features
    values = normal(2, count, seed=seed).astype(np.float64)
    agree(scaled(scaler(offset=values[0], scale=values[1]), x=shape), seed)


def test_scaler_before_a_dense_layer_joins_it():
    nodes = [
        scaler(y="s", offset=normal(6, seed=1), scale=normal(6, seed=2)),
        node("MatMul", "s w", "m"),
        node("Add", "m b"),
    ]
    graph = agree(scaled(*nodes, x=(1, 6), w=normal(6, 5), b=normal(5, seed=3)))
    assert [k for k in kinds(graph) if k != "Reshape"] == ["FullyConnected"]


@pytest.mark.parametrize(
    ("shape", "attributes", "reason"),
    [
        ((1, 6), {"offset": [0.0] * 6}, "without scale"),
        ((1, 6), {"scale": [1.0] * 6}, "without offset"),
        ((1, 6), {"offset": [0.0] * 5, "scale": [1.0] * 5}, "5 values"),
        ((1, 6), {"offset": [0.0] * 5, "scale": [1.0] * 6}, "values"),
        ((1, 6, 6), {"offset": [0.0] * 6, "scale": [1.0] * 6}, "rank 3"),
    ],
)
def test_scalers_that_make_no_sense(shape, attributes, reason):
    with pytest.raises(InputRefused, match=reason) as caught:
        read(scaled(scaler(**attributes), x=shape), "m")
    assert caught.value.where == "n_y"


@pytest.mark.parametrize(("scale", "count"), [([1.0, 15.0, -2.0], 0), ([0.001, 1.0, 0.0], 1)])
def test_a_table_of_columns_of_different_size_brings_a_note(scale, count):
    proto = scaled(scaler(offset=[0.0] * 3, scale=scale), x=(1, 3))
    notes = [n for n in read(proto, "m").notes if "share one int8 scale" in n]
    assert len(notes) == count
    assert all("input x" in n and "factor of 1000" in n for n in notes)


def test_a_scaler_further_inside_brings_no_note():
    nodes = [node("Relu", "x", "r"), scaler("r", offset=[0.0] * 2, scale=[0.001, 1.0])]
    assert read(scaled(*nodes, x=(1, 2)), "m").notes == ()
