"""Layers whose weights have 4 bits, packed two to a byte; activations are int8, biases int32.

Each is the form of an operator with int8 weights; quantisation puts it in that one's place.
"""

from toolchain.ops.int4.layers import Int4Layer, int4_form

__all__ = ["Int4Layer", "int4_form"]
