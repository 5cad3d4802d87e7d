"""`profile`: the counts of `emulate`, bytes of the graph, and a comparison of two projects."""

import json
import re
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.emulator
SVG = "{http://www.w3.org/2000/svg}"


def test_profile_adds_up(onnx2mcu, runnable):
    seen = json.loads(onnx2mcu("profile", runnable, "--json").out)
    run = json.loads(onnx2mcu("emulate", runnable, "--samples", 1, "--json").out)
    assert [layer["instructions"] for layer in seen["layers"]] == [
        layer["instructions"] for layer in run["layers"]
    ]
    assert seen["instructions"] == run["instructions"]
    assert seen["instructions_before"] is None
    assert sum(layer["share"] for layer in seen["layers"]) == pytest.approx(1)
    for layer in seen["layers"]:
        moved = layer["weight_bytes"] + layer["activation_bytes"]
        assert layer["macs_per_byte"] == pytest.approx(layer["macs"] / moved)
        compute, memory = layer["macs"] / 2, moved / 4  # Cortex-M4: SMLAD, load-multiple
        assert layer["bound"] == ("compute" if compute >= memory else "memory")
        assert layer["least_cycles"] == max(compute, memory) < layer["cycles_estimate"]
    assert seen["cycles_estimate"] == sum(layer["cycles_estimate"] for layer in seen["layers"])


def test_cycles_are_called_an_estimate(onnx2mcu, runnable):
    done = onnx2mcu("profile", runnable)
    assert "cycles (estimate)" in done.out
    assert re.search(r"[\d,]+ cycles per inference, an estimate", done.out)


def test_against_another_project(onnx2mcu, runnable):
    done = onnx2mcu("profile", runnable, "--against", runnable)
    assert done.code == 0
    assert "+0.0%" in done.out
    assert "at half its instructions" in done.out


def test_against_nothing_is_refused(onnx2mcu, runnable, tmp_path):
    done = onnx2mcu("profile", runnable, "--against", tmp_path)
    assert done.code == 2
    assert str(tmp_path) in done.err


def test_functions_add_up_to_the_layers(onnx2mcu, runnable, tmp_path):
    stacks = tmp_path / "stacks.txt"
    done = onnx2mcu("profile", runnable, "--functions", "--stacks", stacks, "--json")
    seen = json.loads(done.out)
    totals = {layer["name"]: 0 for layer in seen["layers"]}
    for function in seen["functions"]:
        assert function["instructions"] == sum(function["layers"].values())
        for layer, count in function["layers"].items():
            totals[layer] += count
    assert totals == {layer["name"]: layer["instructions"] for layer in seen["layers"]}
    lines = stacks.read_text().splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == seen["instructions"]
    assert all(line.startswith("net_run;") for line in lines)
    table = onnx2mcu("profile", runnable, "--functions").out
    assert seen["functions"][0]["name"] in table


def test_flame_shows_what_was_counted(onnx2mcu, runnable, tmp_path):
    picture = tmp_path / "flame.svg"
    seen = json.loads(onnx2mcu("profile", runnable, "--flame", picture, "--json").out)
    root = ElementTree.parse(picture).getroot()
    tips = [g.findtext(f"{SVG}title") for g in root.iter(f"{SVG}g")]
    assert tips[0] == f"net_run: {seen['instructions']:,} instructions, 100.0% of an inference"
    for layer in seen["layers"]:
        assert any(t.startswith(f"{layer['name']}: {layer['instructions']:,} i") for t in tips)
    (first, *_) = seen["functions"][0]["layers"].values()
    assert any(t.startswith(f"{seen['functions'][0]['name']}: {first:,} i") for t in tips)
