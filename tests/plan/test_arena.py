"""Plans: right on any graph, never above a greedy one, nearly always at the bound."""

import random
import time
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plan.graphs import Net, execute, random_net, reference
from toolchain.plan import check_plan, exact, lifetimes, plan_memory, schedule
from toolchain.plan.arena import blocks_of
from toolchain.plan.lifetimes import live_bytes
from toolchain.plan.placement import Blocks, greedy_orders, greedy_placements, improve, place, top

alignments = st.sampled_from([1, 4, 16])


def seeded(seed: int):
    return random_net(random.Random(seed).randint)


def dense(seed: int):
    """Outputs may overlap inputs at any distance."""
    return random_net(random.Random(seed).randint, 12, 200, partial=True)


@st.composite
def nets(draw, most_ops: int = 12):
    return random_net(
        lambda low, high: draw(st.integers(low, high)), most_ops, 200, draw(st.booleans())
    )


block_lists = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 6), st.integers(0, 4)).map(
        lambda t: (t[0], t[1], t[1] + t[2])
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=150)
@given(nets(), alignments, st.booleans())
def test_any_graph_runs_in_its_arena(net, alignment, keep_inputs):
    graph, choices = net
    plan = plan_memory(graph, choices, alignment, keep_inputs)
    check_plan(graph, choices, plan, alignment)
    assert runs_right(graph, choices, plan)
    assert not keep_inputs or all(plan.input_survives.values())


def runs_right(graph, choices, plan) -> bool:
    """Whether the outputs, and the inputs that are said to survive, have the right bytes."""
    expected = reference(graph, choices)
    return all(expected[n] == data for n, data in execute(graph, choices, plan).items())


def test_random_graphs_with_partial_overlaps_run_in_their_arenas():
    check_seeds(range(100))


@pytest.mark.slow
def test_2000_random_graphs_with_partial_overlaps_run_in_their_arenas():
    check_seeds(range(1000, 3000))


def check_seeds(seeds: range) -> None:
    overlapping = saved = 0
    for seed in seeds:
        graph, choices = dense(seed)
        graph = schedule(graph, choices)
        plan = plan_memory(graph, choices, 4)
        check_plan(graph, choices, plan, 4)
        assert runs_right(graph, choices, plan), seed
        apart = {y: replace(choice, overlap={}) for y, choice in choices.items()}
        saved += plan.arena_bytes < plan_memory(graph, apart, 4).lower_bound
        places = {b.name: b for b in plan.buffers if not b.is_scratch}
        overlapping += any(
            0 < places[x].offset - b.offset < b.nbytes for b in plan.buffers for x, _ in b.over
        )
    assert overlapping > len(seeds) / 4
    assert saved > len(seeds) / 4


@settings(deadline=None, max_examples=60)
@given(nets(), alignments)
def test_the_arena_is_exact_and_between_the_bound_and_every_greedy_plan(net, alignment):
    graph, choices = net
    plan = plan_memory(graph, choices, alignment)
    blocks = blocks_of(plan.buffers, alignment)
    end = max(b.offset + b.nbytes for b in plan.buffers)
    assert plan.arena_bytes == -(-end // alignment) * alignment
    assert plan.lower_bound <= plan.arena_bytes
    assert plan.optimal or plan.arena_bytes > plan.lower_bound
    for offsets in greedy_placements(blocks):
        assert plan.arena_bytes <= top(blocks, offsets)


def test_300_random_graphs_meet_the_bound_quickly():
    met, seconds = 0, 0.0
    for seed in range(300):
        graph, choices = seeded(seed)
        start = time.process_time()
        plan = plan_memory(graph, choices, 4)
        seconds += time.process_time() - start
        check_plan(graph, choices, plan, 4)
        met += plan.arena_bytes == plan.lower_bound
    assert met >= 297
    assert seconds / 300 < 0.05


def test_the_bound_is_not_met_by_greedy_orders_alone():
    """Else the test above says nothing about the searches."""
    missed = 0
    for seed in range(30):
        graph, choices = seeded(seed)
        buffers = lifetimes(graph, choices)
        blocks = blocks_of(buffers, 4)
        bound = max(live_bytes(buffers, max(len(graph.ops), 1), 4))
        missed += min(top(blocks, offsets) for offsets in greedy_placements(blocks)) > bound
    assert missed > 2


def test_the_same_graph_gives_the_same_plan():
    for seed in range(20):
        assert plan_memory(*seeded(seed), 4) == plan_memory(*seeded(seed), 4)


def interfering(blocks: Blocks, offsets) -> bool:
    return any(
        offsets[j] < offsets[i] + below and offsets[i] < offsets[j] + above
        for i, rivals in enumerate(blocks.rivals)
        for j, below, above in rivals
    )


@settings(deadline=None, max_examples=100)
@given(block_lists)
def test_the_exact_search_finds_what_every_order_finds_and_proves_it(triples):
    blocks = Blocks.of(triples)
    smallest = min(top(blocks, place(blocks, order)) for order in permutations(range(len(triples))))
    prove(blocks, smallest)


def prove(blocks: Blocks, smallest: int) -> None:
    for order in greedy_orders(blocks):
        offsets, final = exact.place_within(blocks, smallest, order, 10**6)
        assert final
        assert offsets is not None
        assert top(blocks, offsets) == smallest
        assert not interfering(blocks, offsets)
        assert exact.place_within(blocks, smallest - 1, order, 10**6) == (None, True)


@st.composite
def overlapping_blocks(draw) -> Blocks:
    """Up to 5 blocks; some may overlap one that dies where they are born."""
    triples = draw(
        st.lists(
            st.tuples(st.integers(1, 6), st.integers(0, 3), st.integers(0, 2)).map(
                lambda t: (t[0], t[1], t[1] + t[2])
            ),
            min_size=2,
            max_size=5,
        )
    )
    triples.sort(key=lambda t: t[1])
    overlaps = []
    for step in {first for _, first, _ in triples}:
        born = [i for i, t in enumerate(triples) if t[1] == step]
        dying = [i for i, t in enumerate(triples) if t[2] == step and i < born[-1]]
        if draw(st.booleans()):
            overlaps += [
                (born[-1], i, draw(st.integers(0, triples[born[-1]][0] - 1))) for i in dying
            ]
    return Blocks.of(triples, overlaps)


@settings(deadline=None, max_examples=200)
@given(overlapping_blocks())
def test_the_exact_search_is_right_about_blocks_that_may_overlap(blocks):
    """Against every placement there is."""
    smallest = next(h for h in range(sum(blocks.sizes) + 1) if fits(blocks, h, ()))
    prove(blocks, smallest)


def fits(blocks: Blocks, height: int, offsets: tuple[int, ...]) -> bool:
    """Whether the first blocks at these offsets can be followed by the others, at any offsets."""
    i = len(offsets)
    if i == len(blocks.sizes):
        return True
    return any(
        all(
            offsets[j] >= offset + below or offset >= offsets[j] + above
            for j, below, above in blocks.rivals[i]
            if j < i
        )
        and fits(blocks, height, (*offsets, offset))
        for offset in range(height - blocks.sizes[i] + 1)
    )


def test_the_exact_search_claims_nothing_when_it_is_cut_short():
    blocks = Blocks.of([(n % 7 + 1, n % 5, n % 5 + n % 3) for n in range(20)])
    assert exact.place_within(blocks, 1, range(20), 1000) == (None, True)
    assert exact.place_within(blocks, top(blocks, place(blocks, range(20))), range(20), 3) == (
        None,
        False,
    )
    assert exact.place_within(Blocks.of([(1, n, n) for n in range(301)]), 9, range(301), 99) == (
        None,
        False,
    )


@pytest.mark.parametrize("seed", range(8))
def test_local_search_never_loses_and_never_breaks_a_placement(seed):
    rng = random.Random(seed)
    lives = [sorted((rng.randint(0, 20), rng.randint(0, 20))) for _ in range(25)]
    blocks = Blocks.of([(rng.randint(1, 99), *life) for life in lives])
    start = place(blocks, range(25))
    found = improve(blocks, start, 0)
    assert not interfering(blocks, found)
    assert top(blocks, found) < top(blocks, start)


def test_an_arena_above_the_bound_is_called_optimal_only_with_proof(monkeypatch):
    """The smallest case known where no plan meets the bound; here all 8! orders say so too."""
    net = Net.of({"c": 1}).cell("c", a=13, b=3).cell("c", d=7, e=4).cell("b", f=4)
    net.cell("c", g=1).cell("e", h=8).cell("f", y=12)
    plan = plan_memory(net.graph("y"), net.choices, 1)
    blocks = blocks_of(plan.buffers, 1)
    smallest = min(top(blocks, place(blocks, order)) for order in permutations(range(8)))
    assert (plan.lower_bound, plan.arena_bytes, plan.optimal) == (16, smallest, True)
    assert smallest > 16
    monkeypatch.setattr("toolchain.plan.arena.NODES", 1)
    assert not plan_memory(net.graph("y"), net.choices, 1).optimal


def test_the_plan_tells_what_a_report_needs():
    net = Net.of({"c": 6}, x=10).view("c", "v").cell("x v", scratch=6, a=21).cell("a", y=4)
    plan = plan_memory(net.graph("y"), net.choices, 4)
    assert (plan.arena_bytes, plan.lower_bound, plan.optimal) == (44, 44, True)
    assert plan.peak_step == "op_a"
    assert plan.offsets.keys() == {"x", "a", "y"}
    assert plan.scratch_offsets.keys() == {"a"}
    assert plan.constants == {"v": "c"}
    assert [(b.name, b.tensors, b.nbytes, b.first, b.last) for b in plan.buffers] == [
        ("x", ("x",), 10, 0, 1),
        ("a", ("a",), 21, 1, 2),
        ("a", (), 6, 1, 1),
        ("y", ("y",), 4, 2, 2),
    ]


def test_an_input_survives_when_nothing_is_written_over_it():
    net = Net.of(x=10).cell("x", a=21).cell("a", y=40)
    assert plan_memory(net.graph("y"), net.choices, 4).input_survives == {"x": False}
    assert plan_memory(net.graph("y"), net.choices, 4, keep_inputs=True).input_survives["x"]
    assert plan_memory(net.graph("y", "x"), net.choices, 4).input_survives["x"]
    inplace = Net.of(x=10).cell("x", inplace=(0,), y=10)
    assert plan_memory(inplace.graph("y"), inplace.choices, 4).input_survives == {"x": False}
    alone = Net.of(x=10).cell("x", y=10)
    assert plan_memory(alone.graph("y"), alone.choices, 4).input_survives == {"x": True}


def test_a_graph_without_operators():
    net = Net.of(x=10)
    plan = plan_memory(net.graph("x"), net.choices, 4)
    check_plan(net.graph("x"), net.choices, plan, 4)
    assert (plan.arena_bytes, plan.peak_step, plan.input_survives) == (12, "", {"x": True})
