"""int8 against float over whole test sets, and against ONNX Runtime's quantiser."""

from pathlib import Path

import pytest

from tools.bench.nets import ZOO
from tools.bench.quality import ANCHORS, BEST, PLAIN, Quality, measure_quality

GOOD_DB = 40.0
AHEAD_DB = 3.0
AGREEMENT = {"ic": 0.96}  # crops of photographs, none of a class the net knows
DROP = {"vowels": 2 / 370}  # one sample is 0.27 points


def _holds(net: str, found: Quality) -> None:
    anchor = ANCHORS.get(net)
    if anchor is not None:
        assert found.sqnr_db >= min(GOOD_DB, anchor.sqnr_db + AHEAD_DB)
    if found.agreement is not None:
        assert found.agreement >= AGREEMENT.get(net, 0.99)
    if found.accuracy_float is not None:
        assert found.accuracy_int8 is not None
        assert found.accuracy_float - found.accuracy_int8 <= DROP.get(net, 0.003) + 1e-9


def test_a_small_net_keeps_its_quality(shared: Path) -> None:
    _holds("vowels", measure_quality("vowels", shared, BEST))


@pytest.mark.slow
@pytest.mark.parametrize("net", ZOO)
def test_auto_keeps_the_quality_of_every_net(net: str, shared: Path) -> None:
    best, plain = (measure_quality(net, shared, wanted) for wanted in (BEST, PLAIN))
    _holds(net, best)
    assert best.sqnr_db >= plain.sqnr_db - 1.0
