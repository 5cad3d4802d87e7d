"""What a model that does not fit a board is told."""

import pytest

from tests.plan.graphs import Net
from toolchain.board import load_board
from toolchain.errors import InputRefused
from toolchain.plan import Arranged, Ram, Wish, plan_memory, require_fit, shortages

BOARD = load_board("microbit-v1")
STACK = 1024
FREE = BOARD.ram.bytes - STACK


def hint(wish: Wish | None, whole: int, fed: int | None) -> str:
    """For a model whose smallest arenas have so many bytes."""
    net = Net.of(x=FREE).cell("x", y=4)
    graph = net.graph("y")
    planned = Arranged(graph, net.choices, plan_memory(graph, net.choices, 4))
    with pytest.raises(InputRefused) as refused:
        require_fit(
            planned, BOARD, STACK, wish=wish, least=lambda by_rows: fed if by_rows else whole
        )
    return refused.value.hint


@pytest.mark.parametrize(
    ("wish", "whole", "fed", "told"),
    [
        (Wish(), FREE, 100, f"run layers row by row with --ram min: an arena of {FREE:,} bytes"),
        (Wish(), FREE + 4, FREE, "with --input-rows --ram min: an arena of"),
        (Wish(Ram.MIN), FREE, FREE, "with --input-rows --ram min: an arena of"),
        (Wish(FREE + 4), FREE + 4, None, "use a smaller input"),
        (Wish(), FREE + 4, FREE + 4, "use a smaller input"),
        (Wish(by_rows=True), 0, FREE, "run layers row by row with --ram min: an arena of"),
        (Wish(by_rows=True), 0, FREE + 4, "use a smaller input"),
        (Wish(Ram.MIN, by_rows=True), 0, 0, "use a smaller input"),
        (None, 0, 0, "use a smaller input"),
    ],
)
def test_the_next_step_is_one_that_helps(
    wish: Wish | None, whole: int, fed: int | None, told: str
) -> None:
    text = hint(wish, whole, fed)
    assert told in text
    assert ("--input-rows" in text) == ("--input-rows" in told)
    assert ("which fits" in text) == ("an arena of" in told)


def test_without_a_plan_every_memory_that_is_too_small_is_named() -> None:
    flash = BOARD.flash.bytes
    assert shortages(BOARD, FREE, flash, STACK) == ()
    (ram,) = shortages(BOARD, FREE + 1, flash, STACK)
    assert (ram.memory, ram.needed, ram.there) == ("ram", BOARD.ram.bytes + 1, BOARD.ram.bytes)
    assert ["--input-rows" in way for way in ram.ways] == [False, True]
    assert all("--ram min" in way for way in ram.ways)
    both = shortages(BOARD, FREE + 1, flash + 1, STACK)
    assert [short.memory for short in both] == ["ram", "flash"]
    assert (both[1].needed, both[1].there) == (flash + 1, flash)


def test_other_memories_are_named_only_where_they_are_enough() -> None:
    board = load_board("nucleo-h743zi")
    inside = sum(m.free for m in board.memory if m.kind == "ram" and not m.external and m.origin)
    for needed, named in ((inside - STACK, True), (inside - STACK + 1, False)):
        (ram,) = shortages(board, needed, 0, STACK)
        assert ("--arena-in auto" in ram.ways[0]) is named
