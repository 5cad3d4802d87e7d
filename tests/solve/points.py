"""Candidates with figures, for the tests of the search."""

from dataclasses import replace

from toolchain.check.compare import Comparison
from toolchain.options import ConvertOptions
from toolchain.solve import Candidate, Costs, Limits, Point, Precision, constraints_of, missed

INT8 = Precision("int8")


def accuracy(sqnr=40.0, *reasons):
    return Comparison(None, 0.0, sqnr, 1.0, None, None, None, None, (), not reasons, reasons)


def costs(flash=1000, ram=1000, latency=1.0):
    return Costs(flash, ram, latency, None, built=True)


def point(found, limits=None, sqnr=40.0, *reasons):
    bounds = constraints_of(limits or Limits())
    candidate = Candidate(INT8, ConvertOptions())
    return Point(candidate, accuracy(sqnr, *reasons), found, missed(bounds, found))


def unbuilt(found):
    return replace(found, latency_ms=None, built=False)
