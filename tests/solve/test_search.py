"""The search on candidates whose figures are given."""

from dataclasses import replace

import pytest

from tests.solve.points import accuracy, costs, point
from toolchain.ir import Family
from toolchain.options import ConvertOptions
from toolchain.plan import Ram
from toolchain.select import Optimize
from toolchain.solve import Costs, Infeasible, Limits, Outcome, Search, constraints_of, cost_order

STACK = ConvertOptions().stack_bytes
REST = 16
"""Bytes of RAM that only the linked program shows."""


class Made:
    """Arenas from 1,000 to 4,000 bytes; less arena and less code take longer."""

    def __init__(self, sqnr=(30.0, 35.0, 40.0), gate=0.0, scale=1.0, prunes=False):
        self.sqnr, self.gate, self.scale, self.dead = sqnr, gate, scale, prunes
        self.built, self.judged, self.wide = [], [], (80.0,)

    def free(self):
        return True

    def codes(self, candidate):
        options = candidate.options
        return "int8" + "+int16" * bool(options.int16) + "+int4" * bool(options.int4)

    def accuracy(self, candidate):
        options = candidate.options
        self.judged.append(candidate)
        step = (options.method == "auto") + options.refine_weights
        if options.int16:
            return accuracy(*self.wide)
        value = self.sqnr[step]
        return accuracy(value, *([] if value >= self.gate else [f"SQNR {value} dB"]))

    def prunes(self, candidate):
        return self.dead and candidate.options.prune

    def arena(self, candidate):
        ram = candidate.options.ram
        base = {Ram.AUTO: 4000, Ram.MIN: 1000}.get(ram, ram)
        return base * (2 if candidate.options.int16 else 1)

    def least(self, candidate):
        return Costs(500, self.arena(candidate) + STACK)

    def costs(self, candidate):
        self.built.append(candidate)
        size = candidate.options.optimize is Optimize.SIZE
        arena = self.arena(candidate)
        latency = self.scale * 4000 / arena * (3 if size else 1)
        flash = (6000 if size else 9000) + (0 if candidate.options.prune else 300)
        flash -= 2000 if candidate.options.int4 else 0
        return Costs(flash, arena + STACK + REST, latency, None, built=True)


def search(bench, limits=None, options=None, *, judged=False, complete=False):
    options = options or ConvertOptions()
    made = Search(bench, options, limits or Limits(), judged=judged, complete=complete)
    return made.run()


def test_without_limits_the_fastest():
    taken = search(Made()).taken
    assert str(taken.candidate) == "int8 --calibration minmax --optimize speed --ram auto"


def test_the_plan_for_the_ram_there_is_takes_what_the_linker_adds_into_account():
    limit = 3000 + STACK + REST
    bench = Made()
    taken = search(bench, Limits(ram=limit)).taken
    assert taken.candidate.options.ram == 3000
    assert taken.costs.ram == limit


def test_what_certainly_misses_is_not_built():
    bench = Made()
    search(bench, Limits(ram=2000 + STACK))
    assert all(c.options.ram is not Ram.AUTO for c in bench.built)
    bench = Made()
    search(bench, Limits(ram=2000 + STACK), complete=True)
    assert any(c.options.ram is Ram.AUTO for c in bench.built)


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(ram=1500 + STACK),
        Limits(flash=8000),
        Limits(latency_ms=2.0),
        Limits(flash=8000, ram=3500 + STACK),
    ],
)
def test_looking_at_everything_takes_the_same(limits):
    quick = search(Made(gate=32.0), limits, judged=True)
    full = search(Made(gate=32.0), limits, judged=True, complete=True)
    assert quick.taken.candidate == full.taken.candidate
    assert len(full.points) > len(quick.points)


def test_the_first_quantisation_that_meets_the_gates():
    bench = Made(gate=32.0)
    outcome = search(bench, Limits(flash=10_000), judged=True)
    assert outcome.taken.candidate.quantisation == "int8 --calibration minmax --weights auto"
    assert outcome.points[0].reasons == ("SQNR 30.0 dB",)
    assert len(bench.judged) == 2


def test_accuracy_that_is_out_of_reach():
    with pytest.raises(Infeasible) as error:
        _ = search(Made(gate=50.0), options=ConvertOptions(pure_int8=True), judged=True).taken
    assert error.value.exit_code == 1
    for told in ("minmax: SQNR 30.0 dB", "auto: SQNR 35.0 dB", "auto --weights auto: SQNR 40.0 dB"):
        assert told in error.value.reason


def test_a_refusal_has_built_what_it_names():
    bench = Made()
    outcome = search(bench, Limits(ram=1000 + STACK))
    with pytest.raises(Infeasible) as error:
        _ = outcome.taken
    assert all(p.costs.built for p in outcome.points)
    least = 1000 + STACK + REST
    assert f"--max-ram 3,048 bytes of RAM binds: the least of all is {least:,} bytes" in (
        error.value.reason
    )
    assert error.value.hint.startswith(f"--max-ram {least} would do")
    assert search(Made(), Limits(ram=least)).taken.costs.ram == least


def test_limits_that_only_together_are_too_much():
    with pytest.raises(Infeasible) as error:
        _ = search(Made(), Limits(ram=1500 + STACK, latency_ms=1.6)).taken
    reason = error.value.reason
    need = 2520 + STACK + REST  # the larger of two arenas between 1,000 and 4,000 bytes
    assert (
        f"--max-ram 3,548 bytes of RAM binds: the least that meets all else is {need:,}" in reason
    )
    assert "--max-latency-ms 1.600 ms binds: the least that meets all else is " in reason
    assert "closest: int8" in reason


def test_the_hint_keeps_as_many_bounds_as_it_can():
    """Also where looser ones of several kinds would be nearer, all together."""
    limits = Limits(flash=100, latency_ms=1.0)
    both, one = point(costs(flash=150, latency=1.1), limits), point(costs(flash=190), limits)
    error = Infeasible(Outcome((both, one), None, constraints_of(limits), cost_order(limits)))
    assert "closest: int8" in error.reason
    assert error.reason.index("150 bytes of flash") < error.reason.rindex("190 bytes of flash")
    assert error.hint == "--max-flash 190 would do; nothing was written"


def names(outcome):
    return [p.candidate.precision.name for p in outcome.points]


def test_int16_codes_only_where_no_int8_model_meets_the_gates():
    assert set(names(search(Made(), judged=True))) == {"int8"}
    outcome = search(Made(gate=50.0), judged=True)
    assert outcome.taken.candidate.quantisation == (
        "int8+int16 --calibration auto --weights auto --int16 auto"
    )
    assert names(outcome)[:3] == ["int8"] * 3
    full = search(Made(gate=50.0), judged=True, complete=True)
    assert full.taken.candidate == outcome.taken.candidate


def test_int16_codes_are_no_remedy_for_costs():
    bench = Made()
    with pytest.raises(Infeasible) as error:
        _ = search(bench, Limits(ram=1000 + STACK), judged=True).taken
    assert set(names(error.value.outcome)) == {"int8"}
    full = search(Made(), judged=True, complete=True)
    assert full.taken.candidate.precision.name == "int8"
    (last,) = (p for p in full.points if p.candidate.precision.name == "int8+int16")
    assert last.remark == "not needed: int8 --calibration minmax meets the gates"
    assert last.costs is None
    assert not any(c.options.int16 for c in bench.judged)


def test_a_refusal_names_what_binds_with_int16_codes_and_why_int8_is_out():
    outcome = search(Made(gate=50.0), Limits(ram=1500 + STACK), judged=True)
    with pytest.raises(Infeasible) as error:
        _ = outcome.taken
    least = 2000 + STACK + REST
    reason = error.value.reason
    told = f"--max-ram 3,548 bytes of RAM binds: the least that meets the gates is {least:,} bytes"
    assert told in reason
    assert "(int8+int16 --calibration auto" in reason
    assert "int8 --calibration auto --weights auto: SQNR 40.0 dB" in reason
    assert search(Made(gate=50.0), Limits(ram=least), judged=True).taken.costs.ram == least


def test_gates_that_no_precision_reaches():
    bench = Made(gate=50.0)
    bench.wide = 45.0, "SQNR 45.0 dB"
    with pytest.raises(Infeasible) as error:
        _ = search(bench, judged=True).taken
    assert error.value.reason.count("SQNR 45.0 dB") == 1
    assert error.value.reason.count("\n") == 4


@pytest.mark.parametrize(
    "options", [ConvertOptions(pure_int8=True), ConvertOptions(int16=("dense",))]
)
def test_int16_codes_are_not_added_to_what_the_user_says_of_them(options):
    bench = Made(gate=50.0)
    bench.wide = 45.0, "SQNR 45.0 dB"
    with pytest.raises(Infeasible):
        _ = search(bench, options=options, judged=True).taken
    assert {c.options.int16 for c in bench.judged} == {options.int16}


def test_rows_are_named_by_their_codes():
    outcome = search(Made(), options=ConvertOptions(int16=("dense",)))
    assert set(names(outcome)) == {"int8+int16"}


def test_int4_weights_only_where_flash_is_short():
    assert set(names(search(Made(), Limits(flash=6000), judged=True))) == {"int8"}
    outcome = search(Made(), Limits(flash=5000), judged=True)
    assert outcome.taken.costs.flash == 4000
    assert outcome.taken.candidate.quantisation == (
        "int8+int4 --calibration auto --weights auto --int4 auto"
    )
    with pytest.raises(Infeasible) as error:
        _ = search(Made(), Limits(ram=1000 + STACK), judged=True).taken
    assert set(names(error.value.outcome)) == {"int8"}


def test_a_refusal_names_the_flash_of_int4_weights():
    with pytest.raises(Infeasible) as error:
        _ = search(Made(), Limits(flash=3000), judged=True).taken
    assert "--max-flash 3,000 bytes of flash binds: the least of all" in error.value.reason
    assert error.value.hint.startswith("--max-flash 4000 would do")


@pytest.mark.parametrize(
    "options",
    [ConvertOptions(pure_int8=True), ConvertOptions(kernels=Family.CMSIS_NN)],
)
def test_int4_weights_are_not_taken_where_they_cannot_be(options):
    with pytest.raises(Infeasible) as error:
        _ = search(Made(), Limits(flash=5000), options, judged=True).taken
    assert set(names(error.value.outcome)) == {"int8"}


def test_what_the_user_chose_stays():
    options = ConvertOptions(method="mse", optimize="size", ram=2500)
    bench = Made()
    outcome = search(bench, Limits(flash=9000), options, judged=True)
    assert [p.candidate.options for p in outcome.points] == [options]


def test_dead_channels_may_stay():
    bench = Made(prunes=True)
    outcome = search(bench, Limits(ram=6000), complete=True)
    kept = [p for p in outcome.points if not p.candidate.options.prune]
    assert {p.candidate.options.ram for p in kept} == {Ram.AUTO}
    assert len(kept) == 2
    assert outcome.taken.candidate.options.prune


def test_a_board_that_holds_nothing():
    class Large(Made):
        def least(self, candidate):
            return replace(super().least(candidate), unfit="it needs 9 bytes more")

    with pytest.raises(Infeasible) as error:
        _ = search(Large()).taken
    assert error.value.reason.count("it needs 9 bytes more") == len(error.value.outcome.points)
    assert "larger board" in error.value.hint


def test_a_board_that_holds_nothing_is_told_what_helps():
    class Large(Made):
        def least(self, candidate):
            ram = candidate.options.ram
            advice = "take rows" if ram is Ram.AUTO else ""
            return replace(super().least(candidate), unfit="9 bytes more", advice=advice)

    with pytest.raises(Infeasible) as error:
        _ = search(Large()).taken
    assert error.value.hint == "take rows; nothing was written"


def test_the_memory_is_free_where_the_input_comes_by_rows():
    outcome = search(Made(), Limits(ram=1500 + STACK), ConvertOptions(by_rows=True))
    assert outcome.taken.candidate.options.ram != Ram.AUTO
