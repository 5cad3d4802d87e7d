"""Operators on int16 codes: symmetric ones, zero point 0, as CMSIS-NN's s16 functions take.

Each is the twin of an operator on int8 codes; quantisation puts it in that one's place.
"""

from toolchain.ops.wide import copies, elementwise, layers, pools, requantize, softmax, table
from toolchain.ops.wide.requantize import Requantize
from toolchain.ops.wide.twins import Wide, moves_codes, twin

__all__ = [
    "Requantize",
    "Wide",
    "copies",
    "elementwise",
    "layers",
    "moves_codes",
    "pools",
    "requantize",
    "softmax",
    "table",
    "twin",
]
