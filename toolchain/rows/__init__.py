"""Streaming by rows: chains of layers whose tensors never exist whole."""

from toolchain.rows.check import check_rows
from toolchain.rows.feed import Feed
from toolchain.rows.head import Head, head_of, layouts_of, without_head
from toolchain.rows.layout import Layout
from toolchain.rows.program import Address, program_of
from toolchain.rows.segment import RowChoice, Segment, Segments, with_segments
from toolchain.rows.streamed import Streamed, flattened

__all__ = [
    "Address",
    "Feed",
    "Head",
    "Layout",
    "RowChoice",
    "Segment",
    "Segments",
    "Streamed",
    "check_rows",
    "flattened",
    "head_of",
    "layouts_of",
    "program_of",
    "with_segments",
    "without_head",
]
