"""Names of a model and of the user never break out of the files that carry them."""

import re
import subprocess
from itertools import pairwise

import numpy as np
import pytest
from onnx import helper

from tests.cli import nets
from tests.cli.programs import HOST, LANGUAGE, WARNINGS, run_models
from toolchain.emit.literals import file_prefix, identifier, unique_identifiers

NAMES = {
    "end of comment": "a */ int x; /*",
    "backslash": "line\\",
    "newline": "two\nlines",
    "return": "a\r#error",
    "quotes": "\"; system('x'); \"",
    "trigraph": "what??/",
    "keyword": "int",
    "c++ keyword": "class",
    "macro": "NULL",
    "unicode": "gr\u00fc\u00df \u2211 \U0001f600",
    "path": "../../etc/passwd",
    "digit": "3d",
    "template": "{{ prefix }} {% for %}",
    "format": "%s%n$(rm -rf)`x`",
    "nothing usable": "***",
    "long": "x" * 300,
}


@pytest.mark.parametrize("kind", NAMES)
def test_names_in_the_model(onnx2mcu, arguments, tmp_path, kind):
    name = NAMES[kind]
    path = nets.classifier(tmp_path / "odd.onnx", name, f"{name} out", f"{name} ", f"{name} node")
    assert onnx2mcu(*arguments(model=path, calib=calibration(tmp_path, name))).code == 0
    check_folder(tmp_path / "out", "odd")


@pytest.mark.parametrize("kind", NAMES)
def test_names_of_the_user(onnx2mcu, arguments, tmp_path, kind):
    done = onnx2mcu(*arguments(prefix=NAMES[kind]))
    assert done.code == 0, done.err
    check_folder(tmp_path / "out", identifier(NAMES[kind]))
    assert {p.name for p in tmp_path.iterdir()} == {"out"}


@pytest.mark.parametrize("prefix", ["glue", "stdint", "main", "arm_nn_types", "string", "stack"])
def test_prefix_that_another_file_has(onnx2mcu, arguments, tmp_path, prefix):
    done = onnx2mcu(*arguments(prefix=prefix))
    assert done.code == 0
    assert f"note: the prefix of files and symbols is n_{prefix}" in done.out
    check_folder(tmp_path / "out", f"n_{prefix}")


def test_file_name_of_the_model(onnx2mcu, arguments, tmp_path):
    path = nets.classifier(tmp_path / 'a*b" ?? \\ \n \u00fc.onnx')
    assert onnx2mcu(*arguments(model=path)).code == 0
    check_folder(tmp_path / "out", "a_b")


def test_ports_that_are_the_same_once_cleaned(onnx2mcu, arguments, tmp_path):
    nodes = [
        helper.make_node("Add", ["a.b", "a/b"], ["y.1"], "add"),
        helper.make_node("Sub", ["a.b", "a_b_2"], ["y:1"], "sub"),
    ]
    inputs = dict.fromkeys(("a.b", "a/b", "a_b_2"), (1, 4))
    path = nets.save(tmp_path / "twins.onnx", nodes, inputs, {"y.1": (1, 4), "y:1": (1, 4)}, {})
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "c.npz", **{n: rng.standard_normal((8, 4), np.float32) for n in inputs})
    assert onnx2mcu(*arguments(model=path, calib=tmp_path / "c.npz")).code == 0
    check_folder(tmp_path / "out", "twins")


def calibration(folder, name):
    """A folder of arrays would put the name into the file system: .npy needs none."""
    np.save(folder / "calib.npy", nets.images())
    return folder / "calib.npy"


def check_folder(out, prefix):
    """Nothing but our own text in the generated files, which compile and compute."""
    for suffix in (".h", ".c", "_weights.h", "_weights.c"):
        text = (out / f"{prefix}{suffix}").read_text(encoding="ascii")
        assert "??" not in text
        assert "\r" not in text
        assert all(line.isprintable() and not line.endswith("\\") for line in text.split("\n"))
        depth = [m[0] for m in re.finditer(r"/\*|\*/", text)]
        assert depth == ["/*", "*/"] * (len(depth) // 2)
    assert len(list(out.glob("*.c"))) == 2
    run_models([out])


def test_identifiers():
    for name in NAMES.values():
        cleaned = identifier(name)
        assert re.fullmatch(r"[a-z](_?[a-z0-9]+)*", cleaned), (name, cleaned)
        assert identifier(cleaned) == cleaned
        assert file_prefix(file_prefix(cleaned)) == file_prefix(cleaned)
        assert len(cleaned) <= 60
    assert unique_identifiers(["a", "A", "a_2", "a"]) == ["a", "a_2", "a_2_2", "a_3"]
    names = unique_identifiers(["x" * 70, "x" * 80, "x" * 90])
    assert all(one != two for one, two in pairwise(sorted(names)))


def test_identifiers_compile(tmp_path):
    text = "".join(f"int {identifier(name)};\n" for name in set(NAMES.values()) - {"NULL"})
    (tmp_path / "names.c").write_text(text)
    done = subprocess.run(
        [HOST[0], *LANGUAGE, *WARNINGS, "-fsyntax-only", tmp_path / "names.c"], check=False
    )
    assert done.returncode == 0
