"""Which operator on int16 codes stands for which on int8 codes."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar, TypeVar

from toolchain.ir import DType, Op

_Twin = TypeVar("_Twin", bound=type[Op])
_TWINS: dict[type[Op], type["Wide"]] = {}


class Wide(Op):
    """An operator that reads and writes int16 codes; mixed into the one it is the twin of."""

    __slots__ = ()

    moves: ClassVar[bool] = False
    """It only moves or picks codes."""

    @property
    def reads(self) -> DType:
        """int16 codes."""
        return DType.INT16

    @property
    def writes(self) -> DType:
        """int16 codes."""
        return DType.INT16

    @classmethod
    def stands_for(cls, op: Op) -> bool:  # noqa: ARG003
        """Whether this instance of the int8 operator has a twin."""
        return True


def twin_of(kind: type[Op]) -> Callable[[_Twin], _Twin]:
    """Class decorator: the twin of an operator on int8 codes."""

    def declare(wide: _Twin) -> _Twin:
        assert issubclass(wide, Wide)
        _TWINS[kind] = wide
        return wide

    return declare


def twin(op: Op) -> Op | None:
    """The same operator on int16 codes; None where there is no such."""
    kind = _TWINS.get(type(op))
    if kind is None or not kind.stands_for(op):
        return None
    return kind(**attributes(op))


def attributes(op: Op) -> dict[str, Any]:
    """Everything an operator is made from."""
    return {f.name: getattr(op, f.name) for f in fields(op)}


def moves_codes(op: Op) -> bool:
    """Whether an operator only moves or picks codes, so that it takes those that come."""
    kind = _TWINS.get(type(op))
    return op.is_view or (kind is not None and kind.moves and kind.stands_for(op))
