"""Choices of a conversion, as scripts give them."""

import pytest

from toolchain.errors import InputRefused
from toolchain.ir import Family, Rounding
from toolchain.options import ConvertOptions
from toolchain.plan import Ram
from toolchain.select import Optimize


def test_names_are_choices():
    options = ConvertOptions(optimize="size", rounding="single", kernels="portable", ram="min")
    assert options.ram is Ram.MIN
    assert options.optimize is Optimize.SIZE
    assert options.rounding is Rounding.SINGLE
    assert options.family is Family.PORTABLE


@pytest.mark.parametrize("name", ["optimize", "rounding", "kernels", "ram"])
def test_other_names_are_refused(name):
    with pytest.raises(InputRefused, match="'nope' is no choice"):
        ConvertOptions(**{name: "nope"})
