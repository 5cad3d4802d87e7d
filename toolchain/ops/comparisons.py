"""Operators on truth values: there are none at run time, only constants that are computed early."""

from toolchain.ir import Builder, Node, Unsupported, imports


@imports(
    "Where", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Not", "Xor",
    "IsNaN", "IsInf",
)  # fmt: skip
def import_comparison(_node: Node, _b: Builder) -> None:
    """Only where all operands are constants; it is then computed by the converter."""
    raise Unsupported(
        "it compares or chooses values that are computed at run time",
        "express it with Relu, Clip, Min or Max, or keep it outside the model",
    )
