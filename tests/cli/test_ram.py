"""--ram and --input-rows on the command line."""

import json

import pytest


def test_the_smallest_arena_is_told(onnx2mcu, arguments, tmp_path):
    made = onnx2mcu(*arguments(), "--json")
    small = onnx2mcu(*arguments(output=tmp_path / "small"), "--ram", "min", "--json")
    assert (made.code, small.code) == (0, 0), small
    assert json.loads(small.out)["arena_bytes"] < json.loads(made.out)["arena_bytes"]
    assert [x["name"] for x in json.loads(small.out)["layers"]] == [
        x["name"] for x in json.loads(made.out)["layers"]
    ]


@pytest.mark.parametrize("text", ["lots", "-5", "0", "1.5", "minimum", "Min", "20k", "1e4", ""])
def test_other_words_are_refused(onnx2mcu, arguments, text):
    onnx2mcu(*arguments(), f"--ram={text}").refused(
        f"--ram: {text!r} is neither auto, min nor a number of bytes", "such as --ram 20000"
    )


def test_too_few_bytes_are_refused(onnx2mcu, arguments):
    onnx2mcu(*arguments(), "--ram", "16").refused("no plan of 16 bytes", "the smallest arena takes")
