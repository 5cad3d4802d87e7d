"""Which candidates are worth a thought, which is taken, and which bound one misses."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.solve.points import costs, point, unbuilt
from toolchain.solve import (
    ENERGY,
    FLASH,
    LATENCY,
    RAM,
    Limits,
    cheapest,
    constraints_of,
    cost_order,
    dominates,
    front,
    missed,
)

FIGURES = st.lists(
    st.one_of(st.none(), st.tuples(*[st.integers(0, 3).map(float)] * 3)), max_size=12
)
POINTS = st.lists(
    st.builds(
        lambda flash, ram, latency, sqnr, limits, wrong: point(
            costs(flash, ram, latency), limits, sqnr, *wrong
        ),
        st.integers(1, 400),
        st.integers(1, 400),
        st.floats(0.1, 9),
        st.integers(10, 60).map(float),
        st.builds(Limits, ram=st.one_of(st.none(), st.integers(1, 400))),
        st.sampled_from([(), (), ("too bad",)]),
    ),
    max_size=10,
)
ORDERS = st.permutations([LATENCY, RAM, FLASH])


@given(FIGURES)
def test_nothing_on_the_front_is_dominated_and_everything_else_is(figures):
    found = front(figures)
    known = [f for f in figures if f is not None]
    for i, own in enumerate(figures):
        beaten = own is not None and any(dominates(other, own) for other in known)
        if i in found:
            assert own is not None
            assert not beaten
        elif own is not None:
            assert beaten or own in [figures[j] for j in found if j < i]


@given(POINTS, ORDERS)
def test_the_cheapest_is_feasible_and_no_feasible_one_is_cheaper_in_everything(points, order):
    taken = cheapest(points, order)
    feasible = [p for p in points if p.feasible]
    assert (taken is None) == (not feasible)
    if taken is None:
        return
    own = points[taken]
    assert own.feasible
    values = [[m.of(p.costs) for m in order] for p in (own, *feasible)]
    assert not any(dominates(other, values[0]) for other in values[1:])
    assert values[0][0] <= 1.01 * min(v[0] for v in values)


@given(POINTS, ORDERS)
def test_rejected_candidates_make_no_difference(points, order):
    taken = cheapest(points, order)
    kept = [p for p in points if p.feasible]
    again = cheapest(kept, order)
    assert (None if taken is None else points[taken]) is (None if again is None else kept[again])


def test_costs_within_a_hundredth_are_equal():
    points = [point(costs(500, 100, 1.009)), point(costs(400, 200, 1.0)), point(costs(1, 1, 1.02))]
    assert cheapest(points, (LATENCY, RAM, FLASH)) == 0
    assert cheapest(points, (LATENCY, FLASH, RAM)) == 1
    assert cheapest(points, (FLASH, RAM, LATENCY)) == 2


def test_of_equals_the_first():
    points = [point(costs()), point(costs(), sqnr=60.0)]
    assert cheapest(points, (LATENCY, RAM, FLASH)) == 0


def test_what_is_not_known_of_all_decides_nothing():
    points = [point(costs(500, 100, None)), point(costs(400, 100, 2.0))]
    assert cheapest(points, (LATENCY, RAM, FLASH)) == 1


def test_what_is_limited_is_saved_last():
    assert cost_order(Limits()) == (LATENCY, RAM, FLASH)
    assert cost_order(Limits(ram=1)) == (LATENCY, FLASH, RAM)
    assert cost_order(Limits(latency_ms=1.0)) == (RAM, FLASH, LATENCY)
    assert cost_order(Limits(energy_uj=1.0)) == (RAM, FLASH, LATENCY)
    assert cost_order(Limits(1, 1, 1.0, 1.0)) == (LATENCY, RAM, FLASH)


def test_what_is_not_built_is_on_no_front():
    assert point(costs()).figures is not None
    assert point(unbuilt(costs())).figures is None


def test_bounds_are_what_the_user_states():
    assert constraints_of(Limits()) == ()
    flash, energy = constraints_of(Limits(flash=5000, energy_uj=2.5))
    assert str(flash) == "--max-flash 5,000 bytes of flash"
    assert str(energy) == "--max-energy-uj 2.50 uJ"


def test_what_the_board_cannot_hold_is_not_taken():
    large = replace(costs(1, 1, 0.1), unfit="the program needs 9 bytes more RAM")
    assert cheapest([point(large), point(costs())], (LATENCY, RAM, FLASH)) == 1


def test_a_bound_is_kept_when_it_is_met_exactly():
    bounds = constraints_of(Limits(1000, 2000, 1.5))
    assert missed(bounds, costs(1000, 2000, 1.5)) == ()
    assert [c.metric for c in missed(bounds, costs(1001, 2001, 1.5001))] == [FLASH, RAM, LATENCY]


@pytest.mark.parametrize("value", [0.98765432, 1.0, 12.00001, 3.3e-5])
@pytest.mark.parametrize("metric", [LATENCY, ENERGY])
def test_a_proposed_limit_is_enough(metric, value):
    assert value <= float(metric.number(value)) < value + 2e-4
