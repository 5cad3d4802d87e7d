"""int8 against float over whole test sets, and against ONNX Runtime's quantiser."""

from pathlib import Path

import pytest

from tools.bench import quality
from tools.bench.nets import ZOO
from tools.bench.quality import BEST, PLAIN, Kept, Net, Quality, measure_quality
from tools.bench.quality_page import ANCHORS, PAGE, markdown

GOOD_DB = 40.0
AHEAD_DB = 3.0
AGREEMENT = {"ic": 0.96}  # crops of photographs, none of a class the net knows
DROP = 0.003


def _holds(net: str, found: Quality) -> None:
    """The demands on every net; what the codes of the output lose no int8 model can keep."""
    assert found.sqnr_db >= min(GOOD_DB, ANCHORS[net].sqnr_db + AHEAD_DB)
    if found.agreement is not None:
        assert found.agreement >= AGREEMENT.get(net, 0.99)
    if found.accuracy_float is not None:
        assert found.accuracy_int8 is not None
        assert found.accuracy_coded is not None
        least = min(found.accuracy_float - DROP, found.accuracy_coded)
        assert found.accuracy_int8 >= least - 1e-4


def test_a_small_net_keeps_its_quality(shared: Path) -> None:
    _holds("vowels", measure_quality("vowels", shared, BEST))


@pytest.mark.slow
@pytest.mark.parametrize("net", ZOO)
def test_auto_keeps_the_quality_of_every_net(net: str, shared: Path) -> None:
    best, plain = (measure_quality(net, shared, wanted) for wanted in (BEST, PLAIN))
    _holds(net, best)
    assert best.sqnr_db >= plain.sqnr_db - 1.0


@pytest.mark.parametrize("net", ZOO)
def test_committed_figures_hold(net: str) -> None:
    _holds(net, quality.load()[net].auto)


def test_committed_results_are_complete_and_the_page_shows_them(update_golden, tmp_path) -> None:
    results = quality.load()
    assert list(results) == list(ZOO)
    quality.save(results, tmp_path / "quality.json")
    assert (tmp_path / "quality.json").read_text() == quality.RESULTS.read_text()
    if update_golden:
        PAGE.write_text(markdown(results), encoding="utf-8")
    assert PAGE.read_text() == markdown(results), "run `make golden`"


def test_results_are_kept_as_they_are(tmp_path) -> None:
    one = Quality(20, 31.5, 0.95, 0.9, 0.85, 0.88, 3, (Kept("bias correction", 1.2),))
    none = Quality(5, 50.0, None, None, None, None, 0, ())
    results = {"a": Net(one, one), "b": Net(one, none)}
    quality.save(results, tmp_path / "quality.json")
    assert quality.load(tmp_path / "quality.json") == results
    page = markdown(results)
    assert "| a | 20 | 0.9000 | 0.8800 |  | 31.5 / 0.950 / 0.8500 | 31.5 / 0.950 / 0.8500 |" in page
    assert "| b | nothing | 0 |" in page
