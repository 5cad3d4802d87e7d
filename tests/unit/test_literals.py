"""Values as C text: numbers read back as they were, names are legal and distinct (R29)."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain.emit.literals import (
    array_body,
    braces,
    c_type,
    comment,
    float_literal,
    identifier,
    unique_identifiers,
)

KEYWORDS = ("int", "class", "register", "default", "new", "and", "export", "bool", "NULLPTR")


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_literals_read_back_as_the_same_float32(value):
    text = float_literal(value)
    assert re.fullmatch(r"-?\d+\.\d+e[+-]\d+f", text)
    assert np.float32(text[:-1]) == np.float32(value)


@given(st.text())
def test_r29_any_text_becomes_an_identifier(text):
    name = identifier(text)
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name), name


@pytest.mark.parametrize("word", KEYWORDS)
def test_r29_keywords_of_c_and_c_plus_plus_are_not_used_as_they_are(word):
    assert identifier(word) == f"n_{word.lower()}"


@given(st.lists(st.sampled_from(["a", "A", "a.b", "a_b", "a b", "a_2", "", "1", "a_b_2"])))
def test_r29_names_that_clean_to_the_same_are_numbered(texts):
    names = unique_identifiers(texts)
    assert len(set(names)) == len(names) == len(texts)


def test_r29_distinct_names_keep_their_spelling():
    assert unique_identifiers(["conv1", "conv2"]) == ["conv1", "conv2"]


@given(st.text())
def test_comments_cannot_end_early_or_hold_anything_but_plain_characters(text):
    plain = comment(text)
    assert plain.isascii()
    assert "\n" not in plain
    for forbidden in ("*/", "/*", "??", "\\"):
        assert forbidden not in plain


@pytest.mark.parametrize(
    "text", ["**//", "*\n/", "a*//*b", "/**/", "a\\\nb", "/\\*", "????", "*\\/"]
)
def test_comments_stay_safe_where_sequences_meet(text):
    for forbidden in ("*/", "/*", "??", "\\"):
        assert forbidden not in comment(text)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int16"])
def test_array_bodies_hold_every_value_and_short_lines(dtype):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max, 0, *range(100)], dtype)
    body = array_body(values)
    assert max(map(len, body.splitlines())) <= 120
    numbers = [t.strip().rstrip("U") for t in body.replace("\n", " ").split(",")]
    numbers = [str(-(2**31)) if t == "INT32_MIN" else t for t in numbers]
    assert [int(t) for t in numbers] == values.tolist()
    assert c_type(values) == f"{dtype}_t"


def test_a_compiler_reads_back_the_extreme_values(tmp_path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    values = np.array([-(2**31), 2**31 - 1, -1], np.int32)
    floats = [np.float32(1e-45), np.float32(3.4028235e38), np.float32(1 / 3)]
    literals = ", ".join(float_literal(f) for f in floats)
    (tmp_path / "a.c").write_text(
        "#include <stdint.h>\n#include <stdio.h>\n"
        f"static const int32_t v[] = {{\n{array_body(values)}}};\n"
        f"static const float f[] = {{{literals}}};\n"
        'int main(void)\n{\n    printf("%ld %ld %ld %a %a %a", (long)v[0], (long)v[1], (long)v[2],'
        " (double)f[0], (double)f[1], (double)f[2]);\n    return 0;\n}\n"
    )
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wconversion"]
    subprocess.run([*command, "a.c", "-o", "a"], cwd=tmp_path, check=True)
    words = subprocess.run(["./a"], cwd=tmp_path, check=True, capture_output=True, text=True)
    *integers, one, two, three = words.stdout.split()
    assert [int(i) for i in integers] == values.tolist()
    assert [float.fromhex(t) for t in (one, two, three)] == [float(f) for f in floats]


def test_braces_are_an_initialiser():
    assert braces([1, -2, 3]) == "{1, -2, 3}"
