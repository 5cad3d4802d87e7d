"""Sum and mean of any number of tensors of one shape."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from toolchain.ir import (
    Array,
    Builder,
    Constants,
    Example,
    Kernel,
    Lowered,
    Node,
    Op,
    Types,
    Writer,
    imports,
    in_place,
    register,
)
from toolchain.ir.fixedpoint import activation_codes, clip
from toolchain.ops._binary import lower_operands
from toolchain.ops._examples import clip_bounds, size
from toolchain.ops._many import joined_constants, of_one_shape
from toolchain.ops._sum import LEFT_SHIFT, simulate_sum, sum_output_floor, sum_parameters
from toolchain.ops.add import import_add
from toolchain.ops.reshape import Reshape


@register
@dataclass(frozen=True, slots=True)
class Sum(Op):
    """gain * (sum of the inputs), clipped to [low, high]; all of one shape."""

    kernels: ClassVar[tuple[Kernel, ...]] = (
        Kernel("glue_sum_s8", "ops/sum.c.j2", ("glue_sum_s8.c",), overlap=in_place(0, 1)),
    )
    batches: ClassVar[bool] = True
    has_activation: ClassVar[bool] = True
    is_elementwise: ClassVar[bool] = True

    gain: float = 1.0
    low: float | None = None
    high: float | None = None

    def infer(self, types: Types) -> tuple[tuple[int, ...], ...]:
        """As the inputs."""
        if len({types[x].shape for x in self.inputs}) > 1:
            raise ValueError("operands of different shapes")
        return (types[self.x].shape,)

    def evaluate(self, *values: Array) -> tuple[Array, ...]:
        """The sum, scaled and clipped."""
        total = self.gain * np.sum([v.astype(np.float64) for v in values], axis=0)
        return (clip(np.asarray(total), self.low, self.high).astype(np.float32),)

    def simulate(self, types: Types, *codes: Array) -> tuple[Array, ...]:
        """All terms at one scale, added, requantised, clamped."""
        clamp = activation_codes(types[self.y].q, self.low, self.high)
        return (simulate_sum(self, types, codes, (1,) * len(codes), clamp, self.gain),)

    def output_floor(self, types: Types, constants: Constants) -> float:
        """Smallest output scale whose arithmetic stays in int32."""
        return sum_output_floor(self, types, constants, self.gain)

    def lower(self, types: Types, constants: Constants) -> Lowered:
        """Constant operands as int8 codes."""
        return lower_operands(self, types, constants)

    def arguments(self, types: Types) -> Mapping[str, Any]:
        """Requantisation and clamp."""
        p = sum_parameters(self, types, self.gain)
        return {
            "offsets": [-types[x].q.zero_point for x in self.inputs],
            "multipliers": [m for m, _ in p.terms],
            "shifts": [s for _, s in p.terms],
            "result": p.result,
            "left_shift": LEFT_SHIFT,
            "clamp": activation_codes(types[self.y].q, self.low, self.high),
        }

    def write(self, w: Writer) -> None:
        """Mean or Sum; any other gain as a product."""
        operands, perm = w.operands(self)
        mean = self.gain == 1 / len(operands) and len(operands) > 1
        y = w.node("Mean" if mean else "Sum", operands, self.y, self.name)
        if self.gain != 1 and not mean:
            y = w.node("Mul", [y, w.scalar(self.gain)], self.y)
        w.finish(self.y, y, perm, self.low, self.high)

    @classmethod
    def example(cls, rng: np.random.Generator) -> Example:
        """One to five maps."""
        shape = (1, size(rng), size(rng, 1, 20))
        names = tuple("abcde"[: size(rng, 1, 5)])
        low, high = clip_bounds(rng)
        gain = 1.0 if rng.random() < 0.5 else 1 / len(names)
        return Example(cls("sum", names, ("y",), gain, low, high), dict.fromkeys(names, shape))


@imports("Sum")
def import_sum(node: Node, b: Builder) -> None:
    """Any number of tensors that broadcast; constants are added up first."""
    activations, constant = joined_constants(node, b, np.add)
    if len(activations) == 1 and constant is not None:
        name = b.fresh(f"{node.outputs[0]}.constant")
        b.known[name] = constant
        import_add(replace(node, inputs=(activations[0], name)), b)
    elif len(activations) == 2 and constant is None:
        import_add(replace(node, inputs=tuple(activations)), b)
    else:
        _emit(node, b, of_one_shape(node, b, activations, constant), 1.0)


@imports("Mean")
def import_mean(node: Node, b: Builder) -> None:
    """Any number of tensors that broadcast."""
    activations, constant = joined_constants(node, b, np.add)
    count = len([name for name in node.inputs if name])
    _emit(node, b, of_one_shape(node, b, activations, constant), 1 / count)


def _emit(node: Node, b: Builder, operands: tuple[str, ...], gain: float) -> None:
    if len(operands) == 1:
        (x,) = operands
        b.emit(Reshape(node.name, (x,), (node.outputs[0],), b.shape(x)))
    else:
        b.emit(Sum(node.name, operands, (node.outputs[0],), gain))
