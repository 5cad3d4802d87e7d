"""onnx2mcu: ONNX models as verified int8 firmware for Arm Cortex-M, one stage per package."""

from typing import Any

_PIPELINE = (
    "build",
    "compare",
    "Judged",
    "convert",
    "convert_within",
    "diagnose",
    "diagnose_project",
    "emulate",
    "export_qdq",
    "inspect",
)


def __getattr__(name: str) -> Any:
    """The functions of the pipeline, imported when first asked for."""
    if name == "ConvertOptions":
        from toolchain.options import ConvertOptions

        return ConvertOptions
    if name == "Limits":
        from toolchain.solve import Limits

        return Limits
    if name not in _PIPELINE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toolchain import pipeline

    return getattr(pipeline, name)
