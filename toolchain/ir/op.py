"""What an operator file fills in: the Op contract, its kernels, and the registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolchain.board import Isa
from toolchain.ir.fixedpoint import Rounding
from toolchain.ir.node import Unsupported
from toolchain.ir.rows import HEIGHT, RowCall, is_map
from toolchain.ir.tensor import DType, Quant, TensorType

if TYPE_CHECKING:
    from toolchain.ir.writer import Writer

Types = Mapping[str, TensorType]
Array = NDArray[Any]
Constants = Mapping[str, Array]


class Family(StrEnum):
    """Whose kernels a model calls."""

    FAST = "fast"
    """cmsis_glue's kernels for one instruction set; portable ones where there is none."""
    PORTABLE = "portable"
    """cmsis_glue in plain C, the same on every core."""
    CMSIS_NN = "cmsis-nn"
    """Arm's CMSIS-NN; portable ones where it has no function."""


@dataclass(frozen=True, slots=True)
class Target:
    """What kernel selection may depend on.

    Args:
        isa: Instruction set the kernels are compiled for.
        family: Whose kernels are called.
    """

    isa: Isa
    family: Family = Family.FAST

    @property
    def arm_library(self) -> bool:
        """Arm's CMSIS-NN is linked."""
        return self.family is Family.CMSIS_NN

    @property
    def alignment(self) -> int:
        """Alignment of every buffer in the arena, bytes."""
        return 16 if self.isa is Isa.MVE else 4


@dataclass(frozen=True, slots=True)
class Site:
    """One call of a kernel: all that its selection and its data in flash may depend on.

    Args:
        op: The operator.
        types: Types of all tensors of the graph.
        constants: Integer constants of the graph.
        target: Core and family.
    """

    op: Any
    types: Types
    constants: Constants
    target: Target

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor."""
        return self.types[name].shape

    def quant(self, name: str) -> Quant:
        """Quantisation of a tensor that must have one."""
        return self.types[name].q


def always(_site: Site) -> bool:
    """Any shape."""
    return True


def no_scratch(_site: Site) -> int:
    """Needs no scratch memory."""
    return 0


def no_more(_site: Site) -> int:
    """Takes no more instructions."""
    return 0


def no_overlap(_site: Site) -> Mapping[int, int]:
    """The output lies apart from every input."""
    return {}


def in_place(*indices: int) -> Callable[[Site], Mapping[int, int]]:
    """Overlap of a kernel that writes each element after the last read of its place.

    Such a kernel goes through inputs and output in the order of their bytes, so output 0 may lie on
    an input or begin anywhere before it. Inputs of another size than the output, which are
    broadcast, are left out.

    Args:
        indices: Inputs it goes through so.
    """

    def overlap(site: Site) -> Mapping[int, int]:
        nbytes = [site.types[name].nbytes for name in site.op.inputs]
        size = site.types[site.op.y].nbytes
        return {i: 0 for i in indices if i < len(nbytes) and nbytes[i] == size}

    return overlap


def no_place(_site: Site) -> tuple[int, ...]:
    """Output 0 lies at the place of no input."""
    return ()


def no_facts(_site: Site) -> Mapping[str, Any]:
    """Prints nothing but what the operator states."""
    return {}


@dataclass(frozen=True, slots=True)
class Kernel:
    """One way to run an operator in C.

    Args:
        name: The C function.
        template: Template under templates/ that prints the call.
        sources: Files of cmsis_glue/src that implement it.
        when: Condition; its docstring is shown to the user.
        scratch: Bytes of scratch memory.
        overlap: For inputs that output 0 may be written over while they are read, by index: the
            least number of bytes by which the output must begin before the input. With 0 it may
            lie on the input or anywhere before it; a negative number lets it begin behind the
            start of the input. Behind the end of an input it may always begin.
        onto: Inputs at whose very place output 0 may lie, by index, and nowhere else over them.
        isas: Instruction sets it is written for; it belongs to the fast family then. None: plain C
            for all of them.
        pack: Arrays in flash by role, read instead of the operator's own tables and constant
            inputs: packed weights, folded biases, requantisation parameters.
        facts: What the template prints besides the operator's arguments.
        call_bytes: Flash of one call, its descriptor included, roughly: what many layers of a model
            weigh against the kernel's own code.
        frugal: The same function with its work cut in another way, which takes less memory: less
            scratch, or an output over an input. Taken where the arena falls.
        dearer: Instructions of a frugal form above those the cost table has under its name.
    """

    name: str
    template: str
    sources: tuple[str, ...]
    when: Callable[[Site], bool] = always
    scratch: Callable[[Site], int] = no_scratch
    overlap: Callable[[Site], Mapping[int, int]] = no_overlap
    onto: Callable[[Site], tuple[int, ...]] = no_place
    isas: frozenset[Isa] | None = None
    pack: Callable[[Site], Mapping[str, Array]] | None = None
    facts: Callable[[Site], Mapping[str, Any]] = no_facts
    call_bytes: int = 70
    frugal: tuple[Kernel, ...] = ()
    dearer: Callable[[Site], int] = no_more

    def written_for(self, target: Target) -> bool:
        """It is portable, or the family is the fast one and the core one of its own."""
        return self.isas is None or (target.family is Family.FAST and target.isa in self.isas)

    def serves(self, site: Site) -> bool:
        """The kernel may be called there."""
        return self.written_for(site.target) and self.when(site)


@dataclass(frozen=True, slots=True)
class SameAs:
    """The output has the scale and zero point of input `index`."""

    index: int = 0


@dataclass(frozen=True, slots=True)
class Fixed:
    """The output has a scale and zero point that the operator dictates.

    Args:
        quant: The parameters.
        strict: The kernel knows no others, whatever a quantised model states.
    """

    quant: Quant
    strict: bool = False


class Free:
    """The output has its own scale and zero point, from calibration."""


FREE = Free()
QuantRule = SameAs | Fixed | Free


@dataclass(frozen=True, slots=True)
class Lowered:
    """An operator after its constants became integers, and those new constants.

    Args:
        op: The operator, reading the new constants by name.
        constants: New constants: integer array and type by name.
        warnings: Sentences for the user.
    """

    op: Op
    constants: Mapping[str, tuple[Array, TensorType]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A random float instance of an operator, for the tests that run over the registry.

    Args:
        op: The operator.
        shapes: Shape of every activation input.
        constants: Float constants it reads.
    """

    op: Op
    shapes: Mapping[str, tuple[int, ...]]
    constants: Constants = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Op(ABC):
    """One node: the names of its tensors, and its attributes as fields of the subclass.

    Args:
        name: Name of the ONNX node it comes from, for messages and reports.
        inputs: Tensors read.
        outputs: Tensors written.
        rounding: How its integer form requantises; the same for all operators of a graph.
    """

    registry: ClassVar[dict[str, type[Op]]] = {}
    kernels: ClassVar[tuple[Kernel, ...]] = ()
    is_view: ClassVar[bool] = False
    has_activation: ClassVar[bool] = False
    is_elementwise: ClassVar[bool] = False
    needs_equal_scales: ClassVar[bool] = False
    batches: ClassVar[bool] = False
    """evaluate and simulate take several samples along axis 0 where every tensor has 1 there."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rounding: Rounding = field(default=Rounding.DOUBLE, kw_only=True)

    @property
    def reads(self) -> DType:
        """Codes of its activations; a view takes any."""
        return DType.INT8

    @property
    def writes(self) -> DType:
        """Codes of its outputs; those of a view are its input's."""
        return DType.INT8

    @property
    def x(self) -> str:
        """First input."""
        return self.inputs[0]

    @property
    def y(self) -> str:
        """First output."""
        return self.outputs[0]

    def renamed(self, names: Mapping[str, str]) -> Op:
        """The same operator with tensors renamed."""
        return replace(
            self,
            inputs=tuple(names.get(n, n) for n in self.inputs),
            outputs=tuple(names.get(n, n) for n in self.outputs),
        )

    @abstractmethod
    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """Shapes of the outputs."""

    @abstractmethod
    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """Float result of one sample, inputs in order (constants included)."""

    @abstractmethod
    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """Bit-exact integer result of one sample: the oracle of the C kernels."""

    def quant_rule(self, _types: Types) -> QuantRule:
        """How the outputs get their scale and zero point."""
        return FREE

    def derived_range(self, _types: Types) -> tuple[float, float] | None:
        """(low, high) of output 0 as it follows from the input codes; None when it does not.

        Serves where neither the model nor calibration data give a scale.
        """
        return None

    def output_floor(self, _types: Types, _constants: Constants) -> float:
        """Smallest output scale for which the integer arithmetic cannot overflow."""
        return 0.0

    def permuted(self, _perm: tuple[int, ...]) -> Op | None:
        """P with self(transpose(x, perm)..) = transpose(P(x..), perm), or None."""
        return self if self.is_elementwise else None

    def lower(self, _types: Types, _constants: Constants) -> Lowered:
        """Turn float constants into integers; types hold the final activation parameters."""
        return Lowered(self)

    def arguments(self, types: Types) -> Mapping[str, Any]:  # noqa: ARG002 - part of the contract
        """What the template prints, besides tensors, tables and scratch."""
        return {}

    def tables(self, types: Types, target: Target) -> Mapping[str, Array]:  # noqa: ARG002
        """Constant arrays for flash that follow from the types (multipliers, look-up tables)."""
        return {}

    def write(self, w: Writer) -> None:  # noqa: ARG002
        """Write the operator into an ONNX file, its outputs rounded to their codes.

        Raises:
            Unsupported: ONNX has no form of it.
        """
        raise Unsupported(f"{type(self).__name__} has no form in ONNX")

    def row(self, types: Types, constants: Constants, row: int, count: int = 1) -> RowCall | None:
        """How a row of output 0, or several from it on, are computed by themselves.

        None when they cannot be. All rows together are what `simulate` gives, bit by bit.
        """
        return self._same_row(types, constants, row, count) if self.is_elementwise else None

    def _same_row(self, types: Types, constants: Constants, row: int, count: int) -> RowCall | None:
        """Row i from row i of every input, and from inputs and constants that have a single one."""
        height = types[self.y].shape[HEIGHT] if is_map(types[self.y]) else 0
        reads = {}
        for name in self.inputs:
            kind = types[name]
            if name in constants:
                if len(kind.shape) == 4 and kind.shape[HEIGHT] > 1:
                    return None
            elif is_map(kind) and kind.shape[HEIGHT] in (1, height):
                reads[name] = (row, count) if kind.shape[HEIGHT] == height else (0, 1)
            else:
                return None
        return RowCall(self, reads, (row, count)) if height > 0 else None

    def macs(self, types: Types) -> int:  # noqa: ARG002
        """Multiply-accumulate operations per inference."""
        return 0

    def stored_bytes(self, constant: str, types: Types) -> int:
        """Bytes of flash that a constant input takes, as kernels pack it; without padding."""
        return types[constant].nbytes

    @classmethod
    @abstractmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """A random small instance."""


OpClass = TypeVar("OpClass", bound=type[Op])


def register(op: OpClass) -> OpClass:
    """Class decorator that makes an operator known; names are unique."""
    if op.__name__ in Op.registry:
        raise ValueError(f"two operators named {op.__name__}")
    Op.registry[op.__name__] = op
    return op
