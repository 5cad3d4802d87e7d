"""What is called dead may hold anything, everything else may not, and no byte is forgotten."""

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.plan.graphs import Net, execute, random_net, reference
from toolchain.ir import Graph
from toolchain.plan import Part, Plan, dead_spans, plan_memory

SEEDS = range(90)


def made(seed: int) -> tuple[Graph, dict, Plan]:
    rng = random.Random(seed)
    graph, choices = random_net(rng.randint, 12, 400, partial=bool(seed % 2))
    return graph, choices, plan_memory(graph, choices, (1, 4, 16)[seed % 3], seed % 5 == 0)


def covered(plan: Plan, spans: tuple[tuple[int, int], ...]) -> np.ndarray:
    mask = np.zeros(plan.arena_bytes, bool)
    for offset, n in spans:
        assert not mask[offset : offset + n].any()
        mask[offset : offset + n] = True
    return mask


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_in_dead_bytes_changes_nothing(seed: int) -> None:
    graph, choices, plan = made(seed)
    right = reference(graph, choices)
    for y, value in execute(graph, choices, plan, dead_spans(graph, plan)).items():
        assert value == right[y], y


@pytest.mark.parametrize("seed", SEEDS)
def test_all_that_no_later_step_reads_is_dead(seed: int) -> None:
    """Each byte that is kept belongs to a value that a step from there on, or the caller, reads."""
    graph, _, plan = made(seed)
    roots = {x: x for x in (*graph.inputs, *graph.constants)}
    for op in graph.ops:
        roots.update((y, roots[op.x] if op.is_view else y) for y in op.outputs)
    spans, end = dead_spans(graph, plan), len(graph.ops)
    assert len(spans) == end + 1
    for step in range(end + 1):
        later = [x for op in graph.ops[step:] if not op.is_view for x in op.inputs]
        written = {*graph.inputs, *(y for op in graph.ops[:step] for y in op.outputs)}
        needed = np.zeros(plan.arena_bytes, bool)
        kept = graph.inputs if step < end and seed % 5 == 0 else ()
        unread = graph.inputs if step == 0 < end else ()
        for name in (*later, *graph.outputs, *kept, *unread):
            root = roots[name]
            if root in written:
                start = plan.offsets[root]
                needed[start : start + graph.types[root].nbytes] = True
        assert np.array_equal(covered(plan, spans[step]), ~needed), step


def test_a_buffer_that_dies_a_step_too_early_is_found() -> None:
    net = Net.of(x=12).cell("x", a=16).cell("a", scratch=8, b=20).cell("b", c=24)
    net.cell("a c", y=8)
    graph, choices = net.graph("y"), net.choices
    plan = plan_memory(graph, choices, 4)
    right = reference(graph, choices)
    found = 0
    for b in plan.buffers:
        if b.is_scratch or b.name in graph.outputs:
            continue
        early = tuple(replace(o, last=o.last - 1) if o is b else o for o in plan.buffers)
        spans = dead_spans(graph, replace(plan, buffers=early))
        assert execute(graph, choices, plan, spans)["y"] != right["y"], b.name
        found += 1
    assert found == 4


def test_no_span_lies_in_two_parts() -> None:
    net = Net.of(x=16).cell("x", a=16)
    graph = net.graph("a")
    plan = plan_memory(graph, net.choices, 16)
    assert dead_spans(graph, plan)[0] == ((16, 16),)
    far = replace(
        plan,
        arena_bytes=96,
        parts=(Part("one", 0, 32), Part("two", 32, 64)),
    )
    assert dead_spans(graph, far)[0] == ((16, 16), (32, 64))
    assert [sum(n for _, n in spans) for spans in dead_spans(graph, far)] == [80, 80]


def test_a_graph_without_operators_keeps_what_it_returns() -> None:
    net = Net.of(x=12, unread=8)
    graph = net.graph("x")
    plan = plan_memory(graph, net.choices, 4)
    (end,) = dead_spans(graph, plan)
    assert covered(plan, end).sum() == plan.arena_bytes - 12
