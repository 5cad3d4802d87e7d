"""The corridor: the only package that knows every room."""

from toolchain.pipeline.comparison import compare
from toolchain.pipeline.conversion import convert
from toolchain.pipeline.costs import require_limits
from toolchain.pipeline.diagnosing import diagnose, diagnose_project
from toolchain.pipeline.emulation import build, emulate, require_ready
from toolchain.pipeline.export import export_qdq
from toolchain.pipeline.inspection import inspect
from toolchain.pipeline.profiling import (
    functions_if_countable,
    one_sample,
    profile,
    profile_functions,
)
from toolchain.pipeline.samples import input_specs, require_test_data
from toolchain.pipeline.solving import Judged, convert_within
from toolchain.pipeline.writing import tool_version

__all__ = [
    "Judged",
    "build",
    "compare",
    "convert",
    "convert_within",
    "diagnose",
    "diagnose_project",
    "emulate",
    "export_qdq",
    "functions_if_countable",
    "input_specs",
    "inspect",
    "one_sample",
    "profile",
    "profile_functions",
    "require_limits",
    "require_ready",
    "require_test_data",
    "tool_version",
]
