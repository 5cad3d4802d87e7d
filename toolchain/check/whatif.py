"""The integer model with some layers computed in real numbers: what their precision would gain."""

from collections.abc import Callable, Collection, Mapping

from onnx import ModelProto

from toolchain.check.evaluate import as_the_model_takes, input_codes, real_values
from toolchain.check.impact import Impact
from toolchain.frontend.samples import Samples
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, Graph
from toolchain.ir.fixedpoint import dequantize, quantize_as
from toolchain.project import layer_names


def measure_without(
    model: ModelProto,
    floats: Graph,
    integers: Graph,
    exact: Collection[str],
    samples: Samples,
    progress: Callable[[int, int], None] | None = None,
) -> Impact:
    """Error of the outputs when some layers make none of their own.

    Such a layer takes the real values of its inputs' codes, has float weights, and hands its result
    to layers of its kind unrounded, to the others as codes.

    Args:
        model: The original model.
        floats: The float graph.
        integers: The integer graph made from it, all channels in it.
        exact: Names of the layers.
        samples: Inputs, real values or codes.
        progress: Told after each sample.
    """
    tensors = {y: integers.origins[y].tensor for y in integers.outputs}
    session, mixed = FloatSession(model, list(tensors.values())), _Mixed(floats, integers, exact)
    impact = Impact(integers.outputs)
    for index, sample in enumerate(samples):
        codes = input_codes(integers, sample)
        reference = session.run(as_the_model_takes(integers, session, sample, codes))
        expected = {
            y: real_values(reference[t], integers.types[y].q).reshape(integers.types[y].shape)
            for y, t in tensors.items()
        }
        label = None if samples.labels is None else int(samples.labels[index])
        impact.add(expected, mixed.outputs(codes), label)
        if progress is not None:
            progress(index + 1, len(samples))
    return impact


class _Mixed:
    def __init__(self, floats: Graph, integers: Graph, exact: Collection[str]) -> None:
        names = layer_names(integers.ops)
        self.floats, self.integers = floats, integers
        self.exact = {op.y for op in integers.ops if names.get(op.y) in exact}
        self.origin = {op.y: op for op in floats.ops}

    def outputs(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Real outputs for input codes."""
        graph = self.integers
        codes: dict[str, Array] = {**graph.constants, **inputs}
        reals: dict[str, Array] = {}

        def real(x: str) -> Array:
            return reals[x] if x in reals else dequantize(codes[x], graph.types[x].q)

        for op in graph.ops:
            if op.y in self.exact or (op.is_view and op.x in reals):
                float_op = self.origin.get(op.y, op)
                given = (
                    self.floats.constants[own] if own in self.floats.constants else real(x)
                    for x, own in zip(op.inputs, float_op.inputs, strict=True)
                )
                for y, value in zip(op.outputs, float_op.evaluate(*given), strict=True):
                    reals[y], codes[y] = value, quantize_as(value, graph.types[y])
            else:
                results = op.simulate(graph.types, *(codes[x] for x in op.inputs))
                codes.update(zip(op.outputs, results, strict=True))
        return {y: real(y) for y in graph.outputs}
