"""A graph on disk: everything comes back, the bytes repeat, damage is refused."""

import numpy as np
import pytest

from tests.unit.import_oracle import model, node, normal, sample_of
from tests.unit.quantize_oracle import codes_of, float_graph, integer
from toolchain.errors import InputRefused
from toolchain.ir import Graph
from toolchain.ir.execute import evaluate, simulate
from toolchain.ir.serialize import load_graph, save_graph
from toolchain.ir.text import graph_text


@pytest.fixture(scope="module")
def proto():
    nodes = [
        node("Conv", "x w b", "c", pads=[1, 0, 1, 0]), node("Clip", "c lo hi", "r"),
        node("Sigmoid", "r", "s"), node("Mul", "s r", "m"), node("Concat", "m k", "n", axis=1),
        node("AveragePool", "n", "p", kernel_shape=[2, 2]), node("Flatten", "p", "f"),
        node("Gemm", "f u"), node("Softmax", "y", "z"),
    ]  # fmt: skip
    return model(
        *nodes, outputs="y z", w=normal(4, 3, 3, 3), b=normal(4), k=normal(1, 1, 8, 6),
        lo=np.float32(0), hi=np.float32(6), u=normal(175, 5),
    )  # fmt: skip


def equal(one: Graph, two: Graph) -> None:
    for field in ("name", "ops", "inputs", "outputs"):
        assert getattr(one, field) == getattr(two, field)
    assert dict(one.types) == dict(two.types)
    assert dict(one.origins) == dict(two.origins)
    assert set(one.constants) == set(two.constants)
    for name, value in one.constants.items():
        assert value.dtype == two.constants[name].dtype
        np.testing.assert_array_equal(value, two.constants[name])


def test_float_and_integer_graphs_come_back_as_they_were(proto, tmp_path):
    for graph in (float_graph(proto), integer(proto).graph):
        save_graph(graph, tmp_path)
        equal(load_graph(tmp_path), graph)


def test_a_loaded_graph_computes_the_same(proto, tmp_path):
    graph, done = float_graph(proto), integer(proto).graph
    sample = sample_of(graph)
    for stored, run, values in (
        (graph, evaluate, sample),
        (done, simulate, codes_of(done, sample)),
    ):
        save_graph(stored, tmp_path)
        expected, got = run(stored, values), run(load_graph(tmp_path), values)
        for y in stored.outputs:
            np.testing.assert_array_equal(got[y], expected[y])


def test_the_bytes_repeat(proto, tmp_path):
    written = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        save_graph(integer(proto).graph, folder)
        written.append({p.name: p.read_bytes() for p in folder.iterdir()})
    assert written[0] == written[1]


def test_a_graph_has_a_text_with_every_operator_and_output(proto):
    for graph in (float_graph(proto), integer(proto).graph):
        text = graph_text(graph)
        for op in graph.ops:
            assert type(op).__name__ in text
        for y in graph.outputs:
            assert f"output {y}" in text


def damage(folder, kind):
    graph, constants = folder / "graph.json", folder / "constants.npz"
    if kind == "no graph":
        graph.unlink()
    elif kind == "no constants":
        constants.unlink()
    elif kind == "empty graph":
        graph.write_bytes(b"")
    elif kind == "another version":
        graph.write_bytes(graph.read_bytes().replace(b'"Conv2D"', b'"Conv9D"'))
    elif kind == "a missing field":
        graph.write_bytes(graph.read_bytes().replace(b'"window"', b'"windou"'))
    elif kind == "a list":
        graph.write_bytes(b"[1, 2]")
    elif kind == "truncated constants":
        constants.write_bytes(constants.read_bytes()[:100])
    else:
        constants.write_bytes(b"PK\x03\x04 nothing")


@pytest.mark.parametrize(
    "kind",
    [
        "no graph", "no constants", "empty graph", "another version", "a missing field", "a list",
        "truncated constants", "no archive",
    ],
)  # fmt: skip
def test_damaged_files_are_refused(kind, proto, tmp_path):
    save_graph(integer(proto).graph, tmp_path)
    damage(tmp_path, kind)
    with pytest.raises(InputRefused, match="not a project") as caught:
        load_graph(tmp_path)
    assert caught.value.hint == "convert the model again"
