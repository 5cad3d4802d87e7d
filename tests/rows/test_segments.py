"""Random chains run row by row, executed at their addresses; and broken ones that are found."""

from dataclasses import replace

import numpy as np
import pytest

from tests.rows.chains import random_chain, tall_chain
from toolchain.board import Isa
from toolchain.errors import InternalError
from toolchain.ir import Family, Graph, Target
from toolchain.plan import Arranged, check_planned, plan_memory
from toolchain.rows import Head, Segment, Segments, with_segments
from toolchain.rows.layout import Place, Shift
from toolchain.select import select_kernels

CHAINS = 24
TARGETS = [
    Target(Isa.DSP),
    Target(Isa.MVE),
    Target(Isa.SCALAR),
    Target(Isa.SCALAR, Family.PORTABLE),
]


def check(graph: Graph, segment: Segment, target: Target) -> None:
    run, choices = with_segments(graph, select_kernels(graph, target), [segment])
    check_planned(Arranged(run, choices, plan_memory(run, choices, target.alignment)), target)


@pytest.mark.parametrize(("by_rows", "band"), [(False, 1), (True, 1), (True, 2), (False, 4)])
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.isa}-{t.family}")
@pytest.mark.parametrize("part", range(4))
def test_random_segments_give_the_bytes_of_whole_tensors(
    part: int, target: Target, by_rows: bool, band: int
) -> None:
    tried = 0
    for seed in range(part, CHAINS, 4):
        rng = np.random.default_rng(seed)
        graph = random_chain(rng, int(rng.integers(1, 9)))
        segments = Segments(graph, target, head=Head("x") if by_rows else None)
        ends = [(0, len(graph.ops) - 1)]
        ends += [tuple(sorted(rng.integers(0, len(graph.ops), 2).tolist())) for _ in range(2)]
        for first, last in dict.fromkeys(ends):
            segment = segments.segment(first, last, band)
            if segment is not None:
                tried += 1
                check(graph, segment, target)
    assert tried > 3


@pytest.mark.parametrize("band", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_many_windows_that_move(seed: int, band: int) -> None:
    """Where two windows move at one step, none may move over what the other one still holds."""
    graph = tall_chain(np.random.default_rng(seed))
    segment = Segments(graph, TARGETS[0], head=Head("x")).segment(0, len(graph.ops) - 1, band)
    assert segment is not None
    check(graph, segment, TARGETS[0])


def sound() -> tuple[Graph, Segment, Target]:
    """A chain with a window that moves and a row that lies in it."""
    target = Target(Isa.DSP)
    for seed in range(100):
        graph = random_chain(np.random.default_rng(seed), 6)
        segment = Segments(graph, target).segment(0, len(graph.ops) - 1)
        if segment is not None and sum(1 for a in segment.choice.layout.actions if a.shifts) > 4:
            return graph, segment, target
    raise AssertionError("no chain has a window that moves")


def broken(segment: Segment, step: int, **changes: object) -> Segment:
    layout = segment.choice.layout
    actions = list(layout.actions)
    actions[step] = replace(actions[step], **changes)
    changed = replace(segment.choice, layout=replace(layout, actions=tuple(actions)))
    return replace(segment, choice=changed)


def test_every_move_matters() -> None:
    graph, segment, target = sound()
    check(graph, segment, target)
    moves = [i for i, a in enumerate(segment.choice.layout.actions) if a.shifts]
    for step in moves:
        with pytest.raises(InternalError):
            check(graph, broken(segment, step, shifts=()), target)


def test_a_row_at_another_place_is_found() -> None:
    graph, segment, target = sound()
    actions = segment.choice.layout.actions
    inner = [i for i, a in enumerate(actions) if a.y.tensor is None]
    for step in inner[:: max(len(inner) // 8, 1)]:
        y = actions[step].y
        moved = Place(None, y.offset + 4 if y.offset < 4 else y.offset - 4)
        with pytest.raises(InternalError):
            check(graph, broken(segment, step, y=moved), target)


def test_a_move_out_of_the_memory_is_found() -> None:
    graph, segment, target = sound()
    step = next(i for i, a in enumerate(segment.choice.layout.actions) if a.shifts)
    wild = Shift(0, segment.choice.scratch, 8)
    with pytest.raises(InternalError, match="a move of 8 bytes"):
        check(graph, broken(segment, step, shifts=(wild,)), target)


def test_the_same_graph_gives_the_same_segment() -> None:
    for seed in (1, 2, 3):
        graph = random_chain(np.random.default_rng(seed), 6)
        last = len(graph.ops) - 1
        one, other = (Segments(graph, TARGETS[0]).segment(0, last) for _ in range(2))
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.choice.layout.actions == other.choice.layout.actions
