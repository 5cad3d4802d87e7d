"""What is searched for, and when nothing is."""

import pytest

from tests.conftest import REPO
from toolchain import passes
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read
from toolchain.frontend.samples import load_samples
from toolchain.options import silent
from toolchain.quant import choose as chooser
from toolchain.quant.refine import Wanted

DIGITS = REPO / "examples" / "digits"


@pytest.mark.parametrize(
    ("wanted", "searched"),
    [
        (Wanted("minmax", weights=False), False),
        (Wanted("auto", weights=False), True),
        (Wanted("minmax", weights=True), True),
    ],
)
def test_a_search_only_where_there_is_a_choice(wanted, searched, monkeypatch):
    calls = []
    found = chooser.refine
    monkeypatch.setattr(chooser, "refine", lambda *a, **k: calls.append(1) or found(*a, **k))
    model = load_model(DIGITS / "model.onnx")
    imported = read(model, "digits")
    samples = load_samples(DIGITS / "calibration.npz", imported.inputs, 24)
    graph = passes.run(imported.graph)
    chosen = chooser.choose(graph, model, samples, wanted, silent)
    assert bool(calls) is searched
    assert set(chosen.ranges) == set(chosen.methods)
