"""The checker finds every broken plan, and names the operator and the tensor."""

import random
from dataclasses import replace

import pytest

from tests.plan.graphs import Net, execute, random_net, reference
from toolchain.errors import InternalError
from toolchain.plan import Plan, check_plan, plan_memory


def example() -> Net:
    """x -> a (scratch) -> b over a, view v -> y reads v and x; z is never read."""
    net = Net.of(x=12).cell("x", scratch=8, a=16).cell("a", inplace=(0,), b=16).view("b", "v")
    return net.cell("v x", y=8, z=4)


GRAPH, CHOICES = example().graph("y"), example().choices


def sound() -> Plan:
    """x 0..12, a/b/v 16..32, scratch 32..40, y 32..40, z 40..44."""
    return replace(
        plan_memory(GRAPH, CHOICES, 4),
        offsets={"x": 0, "a": 16, "b": 16, "v": 16, "y": 32, "z": 40},
        scratch_offsets={"a": 32},
        arena_bytes=44,
        input_survives={"x": True},
    )


def moved(**offsets: int) -> Plan:
    plan = sound()
    return replace(plan, offsets={**plan.offsets, **offsets})


def refuse(plan: Plan, *words: str, alignment: int = 4) -> None:
    with pytest.raises(InternalError) as refusal:
        check_plan(GRAPH, CHOICES, plan, alignment)
    for word in words:
        assert word in str(refusal.value)


def test_the_sound_plan_passes():
    check_plan(GRAPH, CHOICES, sound(), 4)


def test_alignment():
    refuse(moved(z=41), "op_y", "'z'", "not aligned to 4")
    refuse(sound(), "multiple of 16", alignment=16)
    refuse(replace(sound(), arena_bytes=48), "not aligned to 16", alignment=16)


def test_outside_the_arena():
    refuse(replace(sound(), arena_bytes=40), "op_y", "'z'", "outside 40 bytes")
    refuse(moved(x=-4), "'x'", "outside")


def test_a_missing_offset():
    plan = sound()
    refuse(replace(plan, offsets={k: v for k, v in plan.offsets.items() if k != "z"}), "'z'")
    refuse(replace(plan, scratch_offsets={}), "op_a", "no offset")


def test_an_output_over_a_value_that_is_read_later():
    refuse(moved(a=8, b=8, v=8), "op_a", "'a'", "'x'")
    refuse(moved(b=0, v=0), "op_y", "'x'", "op_b")


def test_an_output_over_an_input_of_the_same_operator():
    refuse(moved(y=24), "op_y", "'y'", "'v'")
    refuse(moved(y=8), "op_y", "'y'", "'x'")


def test_two_outputs_of_one_operator():
    refuse(moved(z=36), "op_y", "'z'", "'y'")


def test_scratch_over_an_input_an_output_or_a_value_read_later():
    refuse(replace(sound(), scratch_offsets={"a": 8}), "op_a", "scratch", "'x'")
    refuse(replace(sound(), scratch_offsets={"a": 24}), "op_a", "scratch", "'a'")
    net = Net.of(x=4).cell("x", a=4).cell("a", scratch=4, b=4).cell("a b", inplace=(1,), y=4)
    graph = net.graph("y")
    offsets = {"x": 0, "a": 4, "b": 8, "y": 8}
    plan = replace(
        plan_memory(graph, net.choices, 4), offsets=offsets, arena_bytes=12, input_survives={}
    )
    check_plan(graph, net.choices, replace(plan, scratch_offsets={"b": 0}), 4)
    with pytest.raises(InternalError, match="op_b: scratch memory overlaps its input 'a'"):
        check_plan(graph, net.choices, replace(plan, scratch_offsets={"b": 4}), 4)
    longer = Net.of(x=4).cell("x", a=4).cell("x", scratch=4, b=4).cell("a b", y=4)
    plan = replace(plan, offsets={**offsets, "y": 0}, scratch_offsets={"b": 4})
    with pytest.raises(InternalError, match="op_y: 'a' was overwritten by the scratch memory"):
        check_plan(longer.graph("y"), longer.choices, plan, 4)


def overlapping(offset_x: int, offset_y: int, over: dict[int, int], x: str = "x") -> None:
    """Check a net that writes 8 bytes y over 6 bytes x."""
    net = Net.of(x=6).cell(x, over=over, y=8)
    offsets = {"x": offset_x, "y": offset_y}
    plan = replace(sound(), offsets=offsets, scratch_offsets={}, arena_bytes=20, input_survives={})
    check_plan(net.graph("y"), net.choices, plan, 1)


@pytest.mark.parametrize("distance", [-6, -5, -1, 0, 1, 3, 7, 8])
def test_an_output_over_an_input_only_at_the_distance_of_the_kernel(distance):
    for offset in range(13):
        for over, least in (({0: distance}, distance), ({}, 8), ({1: distance}, 8)):
            if 6 - offset >= least or offset >= 12:
                overlapping(6, offset, over)
            else:
                with pytest.raises(InternalError, match="op_y: output 'y' overlaps its input 'x'"):
                    overlapping(6, offset, over)


def test_every_index_that_reads_an_input_counts():
    overlapping(3, 0, {0: 1, 1: 3}, "x x")
    for over in ({0: 1}, {1: 1}, {0: 1, 1: 4}, {0: 4, 1: 1}):
        with pytest.raises(InternalError, match="op_y: output 'y' overlaps its input 'x'"):
            overlapping(3, 0, over, "x x")


def test_only_the_first_output_may_overlap_an_input():
    net = Net.of(x=8).cell("x", over={0: 0}, y=8, z=8)
    plan = replace(sound(), scratch_offsets={}, arena_bytes=16, input_survives={})
    check_plan(net.graph("y"), net.choices, replace(plan, offsets={"x": 8, "y": 8, "z": 0}), 4)
    with pytest.raises(InternalError, match="op_y: output 'z' overlaps its input 'x'"):
        check_plan(net.graph("y"), net.choices, replace(plan, offsets={"x": 8, "y": 0, "z": 8}), 4)


def test_an_input_that_is_read_later_is_not_overlapped():
    net = Net.of(x=8).cell("x", over={0: 0}, y=8).cell("x y", z=8)
    plan = replace(sound(), scratch_offsets={}, arena_bytes=16, input_survives={})
    with pytest.raises(InternalError, match="op_z: 'x' was overwritten by op_y"):
        check_plan(net.graph("z"), net.choices, replace(plan, offsets={"x": 0, "y": 0, "z": 8}), 4)


def test_a_view_elsewhere():
    refuse(moved(v=0), "view_v", "'v'", "'b'")


def test_two_inputs_on_one_place():
    net = Net.of(p=4, q=4).cell("p q", y=4)
    plan = plan_memory(net.graph("y"), net.choices, 4)
    broken = replace(plan, offsets={**plan.offsets, "q": plan.offsets["p"]})
    with pytest.raises(InternalError, match="the caller: input 'q' overlaps another input"):
        check_plan(net.graph("y"), net.choices, broken, 4)


def test_an_output_that_does_not_last():
    net = Net.of(x=4).cell("x", y=4).cell("x", z=4)
    plan = plan_memory(net.graph("y", "z"), net.choices, 4)
    broken = replace(plan, offsets={**plan.offsets, "z": plan.offsets["y"]})
    with pytest.raises(InternalError, match="at the end,: 'y' was overwritten by op_z"):
        check_plan(net.graph("y", "z"), net.choices, broken, 4)


def test_a_promise_that_an_input_survives():
    net = Net.of(x=4).cell("x", inplace=(0,), y=4)
    plan = plan_memory(net.graph("y"), net.choices, 4)
    check_plan(net.graph("y"), net.choices, plan, 4)
    with pytest.raises(InternalError, match="promised"):
        check_plan(net.graph("y"), net.choices, replace(plan, input_survives={"x": True}), 4)


def test_one_byte_less_is_refused_for_every_plan():
    for seed in range(60):
        graph, choices = random_net(random.Random(seed).randint, 12, 200)
        plan = plan_memory(graph, choices, 4)
        with pytest.raises(InternalError):
            check_plan(graph, choices, replace(plan, arena_bytes=plan.arena_bytes - 4), 4)


def test_what_passes_after_a_random_change_still_computes_the_same():
    """Whatever the checker lets through must be right in real memory."""
    passed = refused = 0
    for seed in range(1500):
        rng = random.Random(seed)
        graph, choices = random_net(rng.randint, 8, 60, partial=seed % 2 == 1)
        plan = plan_memory(graph, choices, 4)
        offsets = {**plan.offsets}
        owner = rng.choice(plan.buffers)
        for name in owner.tensors or rng.choice(plan.buffers).tensors:
            offsets[name] = 4 * rng.randint(0, plan.arena_bytes // 4)
            if rng.random() < 0.5:
                break
        broken = replace(plan, offsets=offsets)
        try:
            check_plan(graph, choices, broken, 4)
        except InternalError:
            refused += 1
            continue
        passed += 1
        expected = reference(graph, choices)
        assert all(expected[n] == data for n, data in execute(graph, choices, broken).items())
    assert passed > 100
    assert refused > 500
