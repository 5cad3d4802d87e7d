"""The integer model of the reference int8 models: golden bytes, and every constant by itself.

Golden outputs hardly notice multipliers computed in float32, so the tables are tested against a
computation of their own from the file's initialisers.
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.quantized.models import constants, integers, load
from toolchain.board import Isa
from toolchain.ir import Array, Target
from toolchain.ir.execute import simulate

NAMES = ["kws", "ic", "vww", "ad"]


@pytest.mark.parametrize("pruned", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_the_bytes_are_the_golden_ones(name: str, pruned: bool, shared: Path) -> None:
    with np.load(shared / "data" / "golden_cmsis_nn.npz") as golden:
        inputs, expected = golden[f"{name}_x"], golden[f"{name}_y"]
    graph = integers(load(shared, f"mlperf_{name}_int8_qdq"), pruned=pruned).graph
    (x,), (y,) = graph.inputs, graph.outputs
    for row, codes in zip(inputs, expected, strict=True):
        np.testing.assert_array_equal(simulate(graph, {x: row[None]})[y].ravel(), codes)


def _multiplier(real: Fraction) -> tuple[int, int]:
    """Q31 mantissa and shift of an exact real number, halves rounded up; (0, 0) below 2^-32."""
    shift = 0
    while real >= 1:
        real, shift = real / 2, shift + 1
    while real < Fraction(1, 2):
        real, shift = real * 2, shift - 1
    mantissa = (real * 2**32 + 1) // 2
    if mantissa == 2**31:
        mantissa, shift = mantissa // 2, shift + 1
    return (0, 0) if shift < -31 else (int(mantissa), shift)


def _producers(model) -> dict[str, object]:
    return {y: node for node in model.graph.node for y in node.output}


def _layers(model) -> list[tuple[Array, Array, list[tuple[int, int]]]]:
    """(weight codes, bias codes, multipliers) of every Conv and MatMul, from the file alone."""
    values, makers = constants(model), _producers(model)
    readers: dict[str, list] = {}
    for node in model.graph.node:
        for x in node.input:
            readers.setdefault(x, []).append(node)
    found = []
    for node in model.graph.node:
        if node.op_type not in ("Conv", "MatMul"):
            continue
        data, weights = makers[node.input[0]], makers[node.input[1]]
        end = node
        bias = makers[node.input[2]].input[0] if len(node.input) > 2 else None
        while end.op_type != "QuantizeLinear":
            (end,) = readers[end.output[0]]
            if end.op_type == "Add":
                bias = makers[end.input[1]].input[0]
        s_in, s_out = float(values[data.input[1]]), float(values[end.input[1]])
        scales = np.atleast_1d(values[weights.input[1]]).astype(np.float64)
        # double arithmetic in this order: that is what the reference converters do
        real = [Fraction(s_in * float(s) / s_out) for s in scales]
        assert bias is not None
        found.append((values[weights.input[0]], values[bias], [_multiplier(r) for r in real]))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_multipliers_weights_and_biases_are_those_of_the_file(name: str, shared: Path) -> None:
    model = load(shared, f"mlperf_{name}_int8_qdq")
    graph = integers(model, pruned=False).graph
    ops = [op for op in graph.ops if len(op.inputs) == 3]
    layers = _layers(model)
    assert len(ops) == len(layers) > 0
    for op, (weights, bias, pairs) in zip(ops, layers, strict=True):
        own = graph.constants[op.inputs[1]]
        axes = {"Conv2D": (0, 2, 3, 1), "DepthwiseConv2D": (1, 2, 3, 0), "FullyConnected": (1, 0)}
        np.testing.assert_array_equal(own, weights.transpose(axes[type(op).__name__]))
        np.testing.assert_array_equal(graph.constants[op.inputs[2]], bias)
        assert graph.constants[op.inputs[2]].dtype == np.int32
        tables = op.tables(graph.types, Target(Isa.DSP))
        if tables:
            assert list(zip(tables["multiplier"], tables["shift"], strict=True)) == pairs
        else:
            assert [op.arguments(graph.types)["multiplier"]] == pairs


def test_biases_do_not_pass_through_float32(shared: Path) -> None:
    """Real values in float32 would not give this model's codes back; they go to 2^30."""
    model = load(shared, "mlperf_vww_int8_qdq")
    graph, values = integers(model, pruned=False).graph, constants(model)
    given = [
        (values[n.input[0]].astype(np.int64), values[n.input[1]])
        for n in model.graph.node
        if n.op_type == "DequantizeLinear" and values.get(n.input[0], np.zeros(0)).dtype == np.int32
    ]
    lost = [np.rint((c * s).astype(np.float32).astype(np.float64) / s) != c for c, s in given]
    assert np.concatenate([np.ravel(changed) for changed in lost]).any()
    own = sorted(int(b) for c in graph.constants.values() if c.dtype == np.int32 for b in c)
    assert own == sorted(int(b) for codes, _ in given for b in np.ravel(codes))
    assert own[-1] == 1_073_741_952
