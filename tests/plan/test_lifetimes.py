"""Which tensors share a buffer, and how long it lives."""

import random

import pytest

from tests.plan.graphs import Net
from toolchain.plan import Buffer, lifetimes
from toolchain.plan.lifetimes import live_bytes


def lives(net: Net, *outputs: str, keep_inputs: bool = False) -> dict[str, tuple]:
    """First tensor -> (tensors, bytes, first step, last step); scratch memory as "scratch NAME"."""
    buffers = lifetimes(net.graph(*outputs), net.choices, keep_inputs)
    return {
        f"scratch {b.name}" if b.is_scratch else b.name: (b.tensors, b.nbytes, b.first, b.last)
        for b in buffers
    }


def test_a_chain():
    net = Net.of(x=10).cell("x", a=20).cell("a", b=30, scratch=5).cell("b", y=4)
    assert lives(net, "y") == {
        "x": (("x",), 10, 0, 0),
        "a": (("a",), 20, 0, 1),
        "b": (("b",), 30, 1, 2),
        "scratch b": ((), 5, 1, 1),
        "y": (("y",), 4, 2, 2),
    }


def test_the_input_lives_from_the_start_and_survives_on_request():
    net = Net.of(x=10, late=7).cell("x", a=20).cell("a late", b=30).cell("b", y=4)
    assert lives(net, "y")["late"] == (("late",), 7, 0, 1)
    assert lives(net, "y", keep_inputs=True)["x"] == (("x",), 10, 0, 2)


def test_a_view_shares_the_storage_and_extends_its_life():
    net = Net.of(x=10).cell("x", a=20).view("a", "v").view("v", "w").cell("x", b=1)
    net.cell("w b", y=4)
    assert lives(net, "y")["a"] == (("a", "v", "w"), 20, 0, 4)


def test_a_view_that_nobody_reads_extends_nothing():
    net = Net.of(x=10).cell("x", a=20).cell("a", b=1).cell("b", c=2).view("a", "v").cell("c", y=4)
    assert lives(net, "y")["a"] == (("a", "v"), 20, 0, 1)


def test_a_view_of_a_constant_needs_no_buffer():
    net = Net.of({"c": 8}, x=8).view("c", "v").cell("x v", y=8)
    assert lives(net, "y", "v").keys() == {"x", "y"}


def over(net: Net, *outputs: str, keep_inputs: bool = False) -> dict[str, tuple]:
    """Output -> the buffers it may overlap, with distances."""
    buffers = lifetimes(net.graph(*outputs), net.choices, keep_inputs)
    return {b.name: b.over for b in buffers if b.over}


def test_an_output_may_overlap_every_input_that_dies():
    net = Net.of(x=9).cell("x", a=9).cell("x", b=9).cell("a b", over={0: 0, 1: 3}, c=9)
    assert over(net, "c") == {"c": (("a", 0), ("b", 3))}
    assert over(net, "c", "a") == {"c": (("b", 3),)}
    assert over(net, "c", "a", "b") == {}


def test_a_chain_of_in_place_operators():
    net = Net.of(x=9).cell("x", inplace=(0,), a=9).view("a", "v").cell("v", inplace=(0,), y=9)
    assert over(net, "y") == {"a": (("x", 0),), "y": (("a", 0),)}
    assert over(net, "y", keep_inputs=True) == {"y": (("a", 0),)}


def test_no_overlap_when_an_alias_is_read_later():
    net = Net.of(x=3).cell("x", a=9).view("a", "v").cell("a", inplace=(0,), b=9)
    assert over(net.cell("v b", y=1), "y") == {}


def test_a_larger_output_may_overlap_too():
    assert over(Net.of(x=9).cell("x", inplace=(0,), y=10), "y") == {"y": (("x", 0),)}


def test_a_distance_of_the_whole_output_is_no_overlap():
    assert over(Net.of(x=9).cell("x", over={0: 9}, y=10), "y") == {"y": (("x", 9),)}
    assert over(Net.of(x=9).cell("x", over={0: 10}, y=10), "y") == {}


def test_an_input_read_twice_is_overlapped_only_if_the_kernel_allows_both():
    assert over(Net.of(x=9).cell("x x", over={0: 2, 1: 5}, y=9), "y") == {"y": (("x", 5),)}
    assert over(Net.of(x=9).cell("x x", over={0: 5, 1: -2}, y=9), "y") == {"y": (("x", 5),)}
    assert over(Net.of(x=9).cell("x x", inplace=(0,), y=9), "y") == {}


def test_an_alias_as_second_input_counts_as_the_same_input():
    net = Net.of(x=9).view("x", "v").cell("x v", inplace=(0,), y=9)
    assert over(net, "y") == {}


def test_a_constant_is_never_overlapped():
    net = Net.of({"c": 8}, x=8).view("c", "v").cell("x v c", over={1: 0, 2: 0}, y=8)
    assert over(net, "y") == {}


def test_live_bytes_count_what_an_output_can_share():
    for distance, least in ((-9, 12), (0, 12), (1, 12), (5, 15), (11, 21)):
        buffers = lifetimes(*step({0: distance}))
        assert live_bytes(buffers, 1, 1) == [least]
    assert live_bytes(lifetimes(*step({0: 3})), 1, 4) == [12 + 4]
    assert live_bytes(lifetimes(*step({})), 1, 1) == [22]
    two = Net.of(x=10, z=5).cell("x z", over={0: 2, 1: 4}, scratch=3, y=12)
    assert live_bytes(lifetimes(two.graph("y"), two.choices), 1, 1) == [10 + 5 + 3 + 12 - 12]


def step(distances: dict[int, int]):
    net = Net.of(x=10).cell("x", over=distances, y=12)
    return net.graph("y"), net.choices


def test_an_input_returned_as_output_lives_to_the_end():
    net = Net.of(x=9).cell("x", inplace=(0,), a=9).cell("a", y=2)
    assert lives(net, "y", "x")["x"] == (("x",), 9, 0, 1)
    assert lives(Net.of(x=9), "x") == {"x": (("x",), 9, 0, 0)}


def test_outputs_nobody_reads_live_one_step_and_unread_inputs_at_the_start():
    net = Net.of(x=9, unread=4).cell("x", a=9, b=5).cell("a", c=1).cell("c", y=2)
    found = lives(net, "y")
    assert found["b"] == (("b",), 5, 0, 0)
    assert found["unread"] == (("unread",), 4, 0, 0)


def test_an_output_that_is_also_read_lives_to_the_end():
    net = Net.of(x=9).cell("x", a=9).cell("a", b=5).cell("b", y=2)
    assert lives(net, "a", "y")["a"] == (("a",), 9, 0, 2)


def test_a_buffer_without_tensors_is_scratch():
    assert Buffer("a", 4, 0, 0).is_scratch
    assert not Buffer("a", 4, 0, 0, ("a",)).is_scratch


@pytest.mark.parametrize("seed", range(40))
def test_what_two_blocks_can_share_with_a_third_one(seed: int) -> None:
    """An output and scratch memory over one dying input: the most, among all places."""
    rng = random.Random(seed)
    x, y, s = rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 9)
    over_y, over_s = rng.randint(-x, y), rng.randint(-x, s)
    buffers = (
        Buffer("x", x, 0, 0, ("x",)),
        Buffer("y", y, 0, 0, ("y",), (("x", over_y),)),
        Buffer("y", s, 0, 0, over=(("x", over_s),)),
    )
    shared = [
        common(at_y, y, x) + common(at_s, s, x)
        for at_y in range(-30, 30)
        for at_s in range(-30, 30)
        if not common(at_y - at_s, y, s)
        and (not common(at_y, y, x) or -at_y >= over_y)
        and (not common(at_s, s, x) or -at_s >= over_s)
    ]
    assert live_bytes(buffers, 1, 1) == [x + y + s - max(shared)]


def common(start: int, nbytes: int, other: int) -> int:
    """Bytes that a block has in common with another one that begins at 0."""
    return max(min(start + nbytes, other) - max(start, 0), 0)
