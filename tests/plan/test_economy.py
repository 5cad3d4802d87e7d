"""A little more work for a smaller arena: when it is taken, and when it is not."""

import pytest

from tests.unit.test_select import DSP, One, Two, given, graph, kernel
from toolchain.ir import in_place
from toolchain.plan import arrange, check_plan
from toolchain.select import Optimize

__all__ = ["given"]


def needs(nbytes: int):
    return lambda _site: nbytes


def arranged(*kinds, **options):
    found = arrange(graph(*kinds), DSP, **options)
    check_plan(found.graph, found.choices, found.plan, 4)
    return [choice.kernel for choice in found.choices.values()], found


@pytest.mark.parametrize(("dearer", "taken"), [(20, "b"), (21, "a")])
def test_another_kernel_may_cost_two_percent_of_the_model(given, dearer, taken):
    a, b = kernel("a", scratch=needs(100)), kernel("b")
    given({One: [a, b], Two: [kernel("c")]}, {"a": 600, "b": 600 + dearer, "c": 400})
    (first, _), found = arranged(One, Two)
    assert first.name == taken
    assert found.plan.arena_bytes == (24 if taken == "b" else 124)
    reason = found.choices["t1"].reason
    assert ("100 bytes smaller, 20 instructions more than a" in reason) == (taken == "b")


def test_the_errors_of_the_fits_count_as_instructions(given):
    given({One: [kernel("a", scratch=needs(100)), kernel("b")]}, {"a": 1000, "b": 1000}, worst=0.02)
    assert arranged(One)[0][0].name == "a"


def small(_site):
    """By halves."""
    return True


def with_form(name: str, dearer: int, **facts):
    form = kernel(name, when=small, dearer=needs(dearer), **facts)
    return kernel(name, scratch=needs(40), frugal=(form,))


def test_a_frugal_form_is_taken_and_its_sentence_is_the_reason(given):
    given({One: [with_form("a", 20)]}, {"a": 1000})
    (taken,), found = arranged(One)
    assert taken.scratch(None) == 0
    assert found.plan.arena_bytes == 24
    assert found.choices["t1"].reason.endswith("20 instructions more than a: By halves.")
    assert found.choices["t1"].predicted == 1020


def test_a_frugal_form_needs_no_measured_cost(given):
    given({One: [with_form("a", 0)]})
    assert arranged(One)[1].plan.arena_bytes == 24


def test_for_size_only_forms_of_the_same_code(given):
    a, b = kernel("a", scratch=needs(100)), kernel("b")
    given({One: [a, b]}, {"a": 1000, "b": 1001}, {"a.c": 1, "b.c": 2})
    assert arranged(One, optimize=Optimize.SIZE)[0][0].name == "a"
    given({One: [with_form("a", 9)]}, {"a": 1000}, {"a.c": 1})
    assert arranged(One, optimize=Optimize.SIZE)[1].plan.arena_bytes == 24


def test_all_operators_at_the_peak_change_together(given):
    given({One: [with_form("a", 5)]}, {"a": 1000})
    _, found = arranged(One, One, One)
    assert found.plan.arena_bytes == 24
    assert [c.scratch for c in found.choices.values()] == [0, 0, 0]


def test_no_change_where_one_operator_at_the_peak_has_none(given):
    given({One: [with_form("a", 1)], Two: [kernel("b", scratch=needs(40))]}, {"a": 99, "b": 99})
    _, found = arranged(One, Two)
    assert [c.scratch for c in found.choices.values()] == [40, 40]


def test_what_the_arena_does_not_need_is_not_changed(given):
    below = kernel("b", scratch=needs(15), frugal=(kernel("b", when=small, dearer=needs(3)),))
    first = with_form("a", 1, scratch=needs(32), overlap=in_place(0))
    given({One: [first], Two: [below]}, {"a": 1000, "b": 1000})
    _, found = arranged(One, Two)
    assert [c.scratch for c in found.choices.values()] == [32, 15]
    assert found.plan.arena_bytes == 44
