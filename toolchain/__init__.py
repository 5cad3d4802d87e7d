"""onnx2mcu: ONNX models as verified int8 firmware for Arm Cortex-M, one stage per package."""

from typing import Any

_PIPELINE = ("ConvertOptions", "build", "compare", "convert", "emulate", "inspect")


def __getattr__(name: str) -> Any:
    """The functions of the pipeline, imported when first asked for."""
    if name not in _PIPELINE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toolchain import pipeline  # noqa: PLC0415 - keeps `import toolchain.ir` light

    return getattr(pipeline, name)
