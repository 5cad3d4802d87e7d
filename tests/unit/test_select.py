"""Selection: fewest predicted instructions, the operator's order without data, least code."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from toolchain import pipeline
from toolchain.board import Isa
from toolchain.errors import InternalError
from toolchain.ir import DType, Family, Graph, Kernel, Op, Quant, Target, TensorType, Types
from toolchain.ops.softmax import Softmax
from toolchain.options import ConvertOptions
from toolchain.select import (
    Choice,
    Cost,
    Costs,
    Optimize,
    choose,
    features,
    load_costs,
    select,
    select_kernels,
)

DSP = Target(Isa.DSP)
REPO = Path(__file__).parents[2]


def never(_site):
    """On Sundays."""
    return False


def kernel(name: str, *sources: str, **facts) -> Kernel:
    return Kernel(name, "t", sources or (f"{name}.c",), **facts)


@dataclass(frozen=True, slots=True)
class Stub(Op):
    kernels: ClassVar[tuple[Kernel, ...]] = ()

    def infer(self, types: Types):
        return (types[self.x].shape,)

    def evaluate(self, *values):
        return values

    def simulate(self, _types, *codes):
        return codes

    @classmethod
    def example(cls, rng):
        raise NotImplementedError


class One(Stub):
    __slots__ = ()


class Two(Stub):
    __slots__ = ()


def graph(*kinds: type[Stub]) -> Graph:
    names = [f"t{i}" for i in range(len(kinds) + 1)]
    kind = TensorType((1, 10), DType.INT8, Quant((1.0,), 0))
    ops = tuple(op(f"op{i}", (names[i],), (names[i + 1],)) for i, op in enumerate(kinds))
    return Graph("g", ops, dict.fromkeys(names, kind), {}, (names[0],), (names[-1],))


@pytest.fixture
def given(monkeypatch):
    """Function: give the kernels of One and Two, their instructions per call, and code bytes."""

    def give(kernels, instructions=(), code=(), worst=0.0):
        for operator, theirs in kernels.items():
            monkeypatch.setattr(operator, "kernels", tuple(theirs))
        known = {
            operator.__name__: {
                k.name: Cost(0.0, 0.0, 0.0, float(dict(instructions)[k.name]), worst)
                for k in theirs
                if k.name in dict(instructions)
            }
            for operator, theirs in kernels.items()
        }
        table = {o: {Isa.DSP: known} for o in Optimize}
        costs = Costs("", table, {Isa.DSP: dict(code)})
        monkeypatch.setattr(select, "load_costs", lambda: costs)

    return give


def taken(kinds, target=DSP, optimize=Optimize.SPEED) -> list[Choice]:
    return list(select_kernels(graph(*kinds), target, optimize).values())


def test_fewest_instructions_win_and_the_reason_is_told(given):
    given({One: [kernel("a"), kernel("b"), kernel("c")]}, {"a": 3_100_000, "b": 630_000, "c": 9})
    (choice,) = taken([One])
    assert choice.kernel.name == "c"
    assert choice.predicted == 9
    assert choice.reason == "predicted 9 instructions; a: 3.10 M; b: 630,000"
    assert choice.rejected == ("a: 3.10 M instructions", "b: 630,000 instructions")


def test_a_gain_within_the_errors_of_the_fits_overtakes_no_preferred_kernel(given):
    given({One: [kernel("a"), kernel("b")]}, {"a": 1000, "b": 819}, worst=0.1)
    assert taken([One])[0].kernel.name == "a"
    given({One: [kernel("a"), kernel("b")]}, {"a": 1000, "b": 818}, worst=0.1)
    assert taken([One])[0].kernel.name == "b"


def test_a_kernel_that_does_not_serve_is_not_taken(given):
    given({One: [kernel("a", when=never), kernel("b"), kernel("c", when=never)]}, {"a": 1, "b": 2})
    (choice,) = taken([One])
    assert choice.kernel.name == "b"
    assert choice.rejected == ("a: On Sundays.",)


def test_the_order_decides_without_data(given):
    given({One: [kernel("a"), kernel("b")]}, {"b": 1})
    (choice,) = taken([One])
    assert choice.kernel.name == "a"
    assert choice.predicted is None
    assert "not measured" in choice.reason
    given({One: [kernel("a"), kernel("b")]}, {"a": 10})
    assert taken([One])[0].kernel.name == "a"


ONE_AND_TWO = {
    One: [kernel("a"), kernel("shared", "wrapper.c", "core.c")],
    Two: [kernel("core", "core.c"), kernel("other")],
}
CODE = {"a.c": 300, "wrapper.c": 20, "core.c": 500, "other.c": 400}


def test_no_code_for_work_that_linked_code_does_nearly_as_fast(given):
    given(ONE_AND_TWO, {"a": 1000, "shared": 1100, "core": 99_000, "other": 150_000}, CODE)
    first, second = taken([One, Two])
    assert (first.kernel.name, second.kernel.name) == ("shared", "core")
    assert first.reason.startswith("less code")
    assert first.rejected == ("a: 1,000 instructions",)


def test_a_thousandth_of_the_instructions_and_no_more_is_spent_on_less_code(given):
    given(ONE_AND_TWO, {"a": 1000, "shared": 1101, "core": 99_000, "other": 150_000}, CODE)
    assert [c.kernel.name for c in taken([One, Two])] == ["a", "core"]
    # each of the two layers alone could be afforded
    given(ONE_AND_TWO, {"a": 1000, "shared": 1060, "core": 99_000, "other": 150_000}, CODE)
    assert [c.kernel.name for c in taken([One, One, Two])] == ["a", "a", "core"]


def test_the_errors_of_the_fits_are_spent_too(given):
    costs = {"a": 1000, "shared": 1000, "core": 99_000, "other": 150_000}
    given(ONE_AND_TWO, costs, CODE, worst=0.06)
    assert [c.kernel.name for c in taken([One, Two])] == ["a", "core"]
    given(ONE_AND_TWO, costs, CODE, worst=0.04)
    assert [c.kernel.name for c in taken([One, Two])] == ["shared", "core"]


def test_code_that_is_not_measured_or_not_less_is_no_reason(given):
    costs = {"a": 1000, "shared": 1000, "core": 99_000, "other": 150_000}
    given(ONE_AND_TWO, costs, {k: v for k, v in CODE.items() if k != "a.c"})
    assert [c.kernel.name for c in taken([One, Two])] == ["a", "core"]
    given(ONE_AND_TWO, costs, CODE | {"wrapper.c": 300})
    assert [c.kernel.name for c in taken([One, Two])] == ["a", "core"]


def test_costs_are_those_of_our_kernels(given):
    given({One: [kernel("a"), kernel("b")]}, {"a": 2, "b": 1})
    (choice,) = taken([One], Target(Isa.DSP, Family.CMSIS_NN))
    assert (choice.kernel.name, choice.predicted) == ("a", None)


def test_kernels_of_other_cores_are_not_mentioned(given):
    mve = kernel("m", isas=frozenset({Isa.MVE}))
    given({One: [mve, kernel("a")]}, {"m": 1, "a": 2})
    (choice,) = taken([One])
    assert (choice.kernel.name, choice.rejected) == ("a", ())
    assert choose(graph(One).ops[0], graph(One), DSP) == choice


def test_no_kernel_is_an_error_of_the_tool(given):
    given({One: [kernel("a", when=never)]})
    with pytest.raises(InternalError, match="On Sundays"):
        taken([One])


def test_size_shares_code_between_layers(given):
    shared = kernel("shared", "s.c")
    kernels = {One: [kernel("a"), shared], Two: [kernel("b"), shared]}
    code = {"a.c": 60, "b.c": 70, "s.c": 100}
    given(kernels, {"a": 1, "b": 1, "shared": 50}, code)
    assert [c.kernel.name for c in taken([One, Two])] == ["a", "b"]
    small = taken([One, Two], optimize=Optimize.SIZE)
    assert [c.kernel.name for c in small] == ["shared", "shared"]
    assert {c.reason for c in small} == {"the least code"}
    assert [c.kernel.name for c in taken([One], optimize=Optimize.SIZE)] == ["a"]


def test_size_takes_the_fastest_of_what_is_linked_anyway(given):
    both = kernel("b", "b.c", "a.c")
    given(
        {One: [kernel("a")], Two: [kernel("a"), both]},
        {"a": 9, "b": 1},
        {"a.c": 10, "b.c": 0},
    )
    assert [c.kernel.name for c in taken([One, Two], optimize=Optimize.SIZE)] == ["a", "b"]


def test_size_needs_no_data_where_there_is_no_choice(given):
    kernels = {One: [kernel("a"), kernel("b")], Two: [kernel("c")]}
    given(kernels, {"a": 1, "b": 9}, {"a.c": 60, "b.c": 50})
    assert [c.kernel.name for c in taken([One, Two], optimize=Optimize.SIZE)] == ["b", "c"]


def test_size_without_data_is_speed(given):
    given({One: [kernel("a"), kernel("b")]}, {"a": 5, "b": 1}, {"a.c": 1})
    assert taken([One], optimize=Optimize.SIZE)[0].kernel.name == "b"


def test_prediction_is_linear():
    op = Softmax("s", ("t0",), ("t1",))
    kind = TensorType((1, 3, 7), DType.INT8, Quant((1.0,), 0))
    types = {"t0": kind, "t1": kind}
    assert features(op, types) == (21, 21, 7, 1)
    assert Cost(2.0, 10.0, 3.0, 5.7, 0.0).predict(op, types) == 42 + 210 + 21 + 6


def test_committed_costs_are_those_of_the_kernels_there_are():
    costs = load_costs()
    assert costs.code_bytes.keys() == set(Isa)
    for by_isa in costs.instructions.values():
        assert by_isa.keys() == set(Isa)
        for isa, operators in by_isa.items():
            for name, kernels in operators.items():
                known = {
                    k.name: k for k in Op.registry[name].kernels if not k.isas or isa in k.isas
                }
                assert kernels.keys() <= known.keys(), f"{name}, {isa}: run `make bench-kernels`"
                for found, cost in kernels.items():
                    assert set(known[found].sources) <= costs.code_bytes[isa].keys()
                    assert min(cost.per_work, cost.per_output, cost.per_channel, cost.per_call) >= 0
                    assert np.isfinite(cost.worst)
            for name in ("Conv2D", "DepthwiseConv2D", "FullyConnected"):
                fast = {k.name for k in Op.registry[name].kernels if k.isas and isa in k.isas}
                assert fast & operators[name].keys(), f"no fast {name} on {isa} was measured"


@pytest.mark.parametrize(("optimize", "option"), [("speed", "-O2"), ("size", "-Os")])
def test_projects_are_compiled_for_it(optimize, option, tmp_path):
    digits = REPO / "examples" / "digits"
    project = pipeline.convert(
        digits / "model.onnx",
        digits / "calibration.npz",
        "nucleo-f446re",
        tmp_path / "out",
        ConvertOptions(optimize=Optimize(optimize)),
    )
    text = (project.directory / "CMakeLists.txt").read_text()
    assert f"set(OPTIMISE {option} " in text
    for layer in project.manifest.layers:
        assert layer.reason
