"""Integers of a model in which chosen layers have other precisions than int8."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from toolchain.ir import Array, Graph, Rounding
from toolchain.quant.int4 import with_int4
from toolchain.quant.layers import Recipe, refine_layers
from toolchain.quant.mixed import mix
from toolchain.quant.quantize import Quantized, quantize
from toolchain.quant.ranges import Range
from toolchain.quant.trial import Samples, integer_outputs


@dataclass(frozen=True, slots=True)
class Mixture:
    """A float graph with what quantize() and mix() take, and its layers that are not plain int8.

    Args:
        graph: Float graph, every operator on int8 codes, with the weights it had.
        ranges: Ranges for quantize().
        seen: Extremes of the same tensors.
        rounding: How integers are requantised.
        refined: The same graph with weights refined for int8 codes; None: they were not.
        recipe: How they were; beside other precisions they are refined again in this way.
        fit: Samples to refine by; None: there are none.
        wide: Tensors that layers with int16 codes write.
        few: Tensors that layers with int4 weights write.
    """

    graph: Graph
    ranges: Mapping[str, Range]
    seen: Mapping[str, Range]
    rounding: Rounding
    refined: Graph | None = None
    recipe: Recipe | None = None
    fit: Samples | None = None
    wide: frozenset[str] = frozenset()
    few: frozenset[str] = frozenset()

    def also(self, wide: Collection[str] = (), few: Collection[str] = ()) -> "Mixture":
        """The same with more layers of another precision."""
        return replace(self, wide=self.wide.union(wide), few=self.few.union(few))

    @property
    def unrefined(self) -> "Mixture":
        """The same with the weights it had."""
        return replace(self, refined=None, recipe=None, fit=None)

    def quantized(self) -> Quantized:
        """The integer graph.

        1. Weights that were refined are refined again, for what other layers make of their codes
           has changed.
        2. int4 weights are chosen by the error of their layer's sums in any case.
        """
        plain = not self.wide and not self.few
        source = self.refined if plain and self.refined is not None else self.graph
        mixed = mix(with_int4(source, self.few), self.wide, self.ranges, self.seen)
        made = quantize(mixed.graph, mixed.ranges, self.rounding)
        if self.fit is not None and (self.few or (self.wide and self.recipe is not None)):
            again = refine_layers(mixed.graph, made.graph, self.fit, self.recipe)
            made = quantize(again, mixed.ranges, self.rounding)
        return replace(made, warnings=(*made.warnings, *mixed.notes))

    def outputs(self, samples: Samples) -> dict[str, Array]:
        """Real outputs [N, ...] of the integer graph."""
        return integer_outputs(self.quantized().graph, samples)
