"""Nodes refused for one and the same reason share a line of the message (R21)."""

import numpy as np
import pytest

from tests.unit.import_oracle import model, node
from toolchain.errors import InputRefused
from toolchain.frontend.read import read
from toolchain.frontend.refusal import refusal
from toolchain.ir import Node, Unsupported


def made(count: int, reason: str, hint: str = "") -> list[tuple[Node, Unsupported]]:
    return [(Node("Odd", f"n{i}", (), (), {}, 13), Unsupported(reason, hint)) for i in range(count)]


def test_one_node():
    error = refusal(made(1, "it is odd", "make it even"))
    assert (error.where, error.reason, error.hint) == ("n0", "Odd 'n0': it is odd", "make it even")


def test_all_nodes_of_one_reason_are_named():
    error = refusal(made(50, "it is odd", "make it even"))
    names = ", ".join(f"Odd 'n{i}'" for i in range(50))
    assert error.reason == f"50 nodes cannot be converted: it is odd: {names}"
    assert error.hint == "make it even"


def test_each_reason_has_a_line_with_its_hint():
    error = refusal([*made(2, "it is odd", "make it even"), *made(1, "it is old")])
    assert error.reason.splitlines() == [
        "3 nodes cannot be converted:",
        "  it is odd (make it even): Odd 'n0', Odd 'n1'",
        "  Odd 'n0': it is old",
    ]
    assert "onnx2mcu ops" in error.hint


@pytest.mark.parametrize("bits", [np.int16, np.uint16])
def test_wide_activations_are_named_once(bits):
    nodes = []
    for i, x in enumerate(["x", "r1"]):
        nodes.append(node("QuantizeLinear", [x, "s", "z"], f"q{i}"))
        nodes.append(node("DequantizeLinear", [f"q{i}", "s", "z"], f"d{i}"))
        nodes.append(node("Relu", f"d{i}", f"r{i + 1}" if i < 1 else "y"))
    with pytest.raises(InputRefused) as caught:
        read(model(*nodes, opset=21, s=np.float32(0.1), z=bits(1)), "wide")
    reason = caught.value.reason
    assert reason.startswith("4 nodes cannot be converted: ")
    assert reason.count(np.dtype(bits).name) == 1
    assert all(f"'n_{kind}{i}'" in reason for kind in "qd" for i in range(2))
    assert "quantise 16-bit activations symmetrically" in caught.value.hint
