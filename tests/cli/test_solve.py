"""Limits and --explain on the command line: what is taken is true, and so is what is refused."""

import json
import re

import pytest

from tests.cli.test_commands import BUILD, COMPARE, CONVERT, EMULATE

LIMITS = ("max-flash", "max-ram", "max-latency-ms", "max-energy-uj")


def only(done, code=0):
    assert done.code == code, done
    return json.loads(done.out)


def taken(record):
    (found,) = [c for c in record["tradeoff"]["candidates"] if c["taken"]]
    return found


@pytest.mark.parametrize("option", LIMITS)
@pytest.mark.parametrize("value", ["0", "-3", "nan", "much"])
def test_other_values_are_refused(onnx2mcu, arguments, option, value, untouched):
    onnx2mcu(*arguments(), f"--{option}={value}").refused(f"--{option}")


def test_energy_needs_a_power_figure(onnx2mcu, arguments, untouched):
    done = onnx2mcu(*arguments(max_energy_uj=5))
    done.refused("nucleo-f446re", "its power is not known", "[power]")


def test_without_limits_nothing_is_searched(onnx2mcu, arguments):
    assert "tradeoff" not in only(onnx2mcu(*arguments(), "--json"))


def test_flash_needs_a_compiler(onnx2mcu, arguments, untouched, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    onnx2mcu(*arguments(max_flash=9000)).refused("arm-none-eabi-gcc", "not installed")


def test_without_a_compiler_ram_is_told_as_a_bound_and_latency_as_predicted(
    onnx2mcu, arguments, monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = taken(only(onnx2mcu(*arguments(max_ram=3000, max_latency_ms=9), "--json")))
    assert not found["built"]
    assert found["ram_bytes"] <= 3000
    assert found["basis"] == "predicted instructions, one per cycle"


@pytest.mark.emulator
def test_gates_out_of_reach(onnx2mcu, arguments, untouched):
    done = onnx2mcu(*arguments(min_sqnr=99), "--explain", "--json")
    record = only(done, code=1)
    found = record["tradeoff"]["candidates"]
    assert [(c["precision"], c["reasons"] == []) for c in found] == [
        *[("int8", False)] * 3,
        ("int16", False),
    ]
    assert done.err.startswith("error: solve: none of 4 candidates meets every constraint")
    assert done.err.count("is below 99.0 dB") == 4
    pure = onnx2mcu(*arguments(min_sqnr=99), "--explain", "--pure-int8")
    assert pure.err.startswith("error: solve: none of 3 candidates meets every constraint")


@pytest.mark.emulator
def test_the_ram_of_a_plan_is_what_build_counts_and_a_refusal_names_the_least(
    onnx2mcu, arguments, tmp_path
):
    """Follow the hints of refusals: each is enough, and one byte less is not."""
    small = {"optimize": "size"}
    done = onnx2mcu(*arguments(max_ram=16, **small))
    done.refused("--max-ram 16 bytes of RAM binds: the least of all is", code=1)
    assert not (tmp_path / "out").exists()
    least = int(re.search(r"--max-ram (\d+) would do", done.err)[1])
    done = onnx2mcu(*arguments(max_ram=least - 1, **small))
    done.refused(f"the least of all is {least:,}", code=1)
    found = taken(only(onnx2mcu(*arguments(max_ram=least, **small), "--json")))
    built = only(onnx2mcu("build", tmp_path / "out", "--json"))
    assert found["ram_bytes"] == least
    assert built["bss_bytes"] + built["data_bytes"] + built["stack_reserved_bytes"] == least
    assert built["flash_bytes"] == found["flash_bytes"]


@pytest.mark.slow
@pytest.mark.emulator
def test_flash_and_latency_pull_apart(onnx2mcu, arguments, tmp_path):
    record = only(onnx2mcu(*arguments(), "--explain", "--json"))
    candidates = [c for c in record["tradeoff"]["candidates"] if c["built"]]
    smallest = min(c["flash_bytes"] for c in candidates)
    quickest = min(c["latency_ms"] for c in candidates)
    assert taken(record)["latency_ms"] <= 1.01 * quickest
    assert any(c["front"] for c in candidates)
    limited = only(onnx2mcu(*arguments(max_flash=smallest), "--force", "--json"))
    assert taken(limited)["flash_bytes"] == smallest
    built = only(onnx2mcu("build", tmp_path / "out", "--json"))
    assert built["flash_bytes"] == smallest


@pytest.mark.emulator
def test_run_within_limits(onnx2mcu, arguments, labelled, tmp_path):
    options = arguments("run", data=labelled, max_drop=50, max_ram=100_000)
    done = onnx2mcu(*options, "--samples", 3, "--explain", "--json")
    record = only(done)
    assert set(record) >= CONVERT | BUILD | EMULATE | COMPARE | {"report", "tradeoff"}
    assert taken(record)["flash_bytes"] == record["flash_bytes"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3  # arena, trade-off, flame
    built = [c for c in record["tradeoff"]["candidates"] if c["built"]]
    assert page.count("<circle") == len(built)
    assert "TAKEN" in page
    assert "the cheapest that meets the constraints" in page


@pytest.mark.emulator
def test_run_aims_int16_auto_at_its_gates(onnx2mcu, arguments, calib, tmp_path):
    options = arguments("run", data=calib, int16="auto", min_sqnr=50)
    done = onnx2mcu(*options, "--samples", 2)
    assert "int16 auto: layer" in done.out
    assert done.err.startswith("error: compare: SQNR ") == (done.code == 1)
    easy = arguments("run", data=calib, int16="auto", min_sqnr=20, output=tmp_path / "easy")
    assert "int16 auto: no layer needs it" in onnx2mcu(*easy, "--samples", 2).out
