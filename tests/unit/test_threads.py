"""Linear algebra runs on one thread, so that results do not depend on the number of cores."""

from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from toolchain import pipeline
from toolchain.options import ConvertOptions
from toolchain.threads import one_thread

DIGITS = Path(__file__).parents[2] / "examples" / "digits"


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_number_of_threads_is_one_inside_and_restored() -> None:
    @one_thread
    def failing(reason: str) -> None:
        assert threads() == {1}
        raise ValueError(reason)

    with threadpool_limits(limits=2, user_api="blas"):
        with pytest.raises(ValueError, match="wanted"):
            failing("wanted")
        assert threads() == {2}


def test_models_are_converted_and_diagnosed_on_one_thread(tmp_path: Path) -> None:
    model, data = DIGITS / "model.onnx", DIGITS / "calibration.npz"
    seen: dict[str, set[int]] = {}

    def told(stage: str, *_: int) -> None:
        seen.setdefault(stage, set()).update(threads())

    with threadpool_limits(limits=2, user_api="blas"):
        options = ConvertOptions(max_samples=8)
        pipeline.convert(model, data, "nucleo-f446re", tmp_path / "project", options, told)
        pipeline.diagnose(model, data, data, options, 2, progress=told)
    assert seen
    assert set().union(*seen.values()) == {1}
