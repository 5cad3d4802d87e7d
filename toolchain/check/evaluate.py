"""The integer model over a data set, layer by layer against the float model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from onnx import ModelProto

from toolchain.check.compare import Comparison, Gates, judge
from toolchain.check.reference import LayerErrors
from toolchain.errors import InputRefused
from toolchain.frontend.samples import Samples
from toolchain.frontend.session import FloatSession
from toolchain.ir import Array, DType, Graph, Quant, TensorType
from toolchain.ir.batch import simulate_each
from toolchain.ir.fixedpoint import dequantize, quantize_as
from toolchain.project import layer_names


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The integer model over a data set.

    Args:
        comparison: Against the float model (and the firmware, when its codes were given).
        layers: SQNR in dB of every layer, in order of execution; None where it gives labels.
        codes: Output codes [N, ...] of the integer model, by output.
        notes: What looks doubtful about the data.
    """

    comparison: Comparison
    layers: tuple[tuple[str, float | None], ...]
    codes: Mapping[str, Array] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def evaluate(
    model: ModelProto,
    graph: Graph,
    samples: Samples,
    *,
    firmware: Mapping[str, Array] | None = None,
    gates: Gates | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Compare the integer model with the float model, and with the firmware's codes.

    Args:
        model: The original model.
        graph: The integer graph.
        samples: Inputs, real values or codes.
        firmware: Codes the firmware gave, [N, ...] by output.
        gates: Constraints.
        progress: Told after each sample.
    """
    computed = [y for op in graph.ops if not op.is_view for y in op.outputs]
    layers = {y: graph.origins[y] for y in computed if y in graph.origins}
    wanted = [graph.origins[y].tensor for y in graph.outputs]
    session = FloatSession(model, [*(o.tensor for o in layers.values()), *wanted])
    errors = LayerErrors()
    names = layer_names(graph.ops)
    columns: dict[str, tuple[list[Array], list[Array]]] = {y: ([], []) for y in graph.outputs}
    for index, (sample, values) in enumerate(
        simulate_each(graph, samples, partial(input_codes, graph))
    ):
        reference = session.run(as_the_model_takes(graph, session, sample, values))
        for y, origin in layers.items():
            kind = graph.types[y]
            expected = origin.view(real_values(reference[origin.tensor], kind.q), kind.shape)
            errors.update(names[y], expected, dequantize(values[y], kind.q))
        for y, (floats, integers) in columns.items():
            value = reference[graph.origins[y].tensor].reshape(graph.types[y].shape)
            floats.append(real_values(value, graph.types[y].q))
            integers.append(values[y])
        if progress is not None:
            progress(index + 1, len(samples))
    outputs_float = {y: np.concatenate(f) for y, (f, _) in columns.items()}
    outputs_codes = {y: np.concatenate(c) for y, (_, c) in columns.items()}
    comparison = judge(
        outputs_float,
        {y: dequantize(c, graph.types[y].q) for y, c in outputs_codes.items()},
        codes=outputs_codes,
        coded={y: _rounded(value, graph.types[y]) for y, value in outputs_float.items()},
        firmware=firmware,
        labels=samples.labels,
        gates=gates,
        worst_layers=errors.worst(3),
    )
    ordered = dict.fromkeys(names[y] for y in layers)
    return Evaluation(
        comparison,
        tuple((n, errors.sqnr_db(n)) for n in ordered),
        outputs_codes,
        samples.remarks,
    )


def _rounded(value: Array, kind: TensorType) -> Array:
    """Real values as the codes of an output give them; labels as they are."""
    real = np.issubdtype(value.dtype, np.floating)
    return dequantize(quantize_as(value, kind), kind.q) if real else value


def as_the_model_takes(
    graph: Graph, session: FloatSession, sample: Mapping[str, Array], codes: Mapping[str, Array]
) -> dict[str, Array]:
    """The sample in the element types of the original model's inputs."""
    values = {}
    for x in graph.inputs:
        kind = session.input_type(x)
        if kind == "int8":
            values[x] = codes[x]
        elif kind == "uint8":
            values[x] = (codes[x].astype(np.int16) + 128).astype(np.uint8)
        else:
            real = sample[x].dtype != np.int8
            values[x] = sample[x] if real else dequantize(codes[x], graph.types[x].q)
    return values


def real_values(value: Array, quant: Quant) -> Array:
    """Codes that a quantised model gives as real values; real values as they are."""
    if value.dtype == np.uint8:
        return dequantize(value.astype(np.int16) - 128, quant)
    return dequantize(value, quant) if value.dtype == np.int8 else value


def input_codes(graph: Graph, sample: Mapping[str, Array]) -> dict[str, Array]:
    """The codes of one sample; int8 codes pass through, uint8 codes are shifted by 128.

    Raises:
        InputRefused: 8-bit codes for an input of 16 bits.
    """
    codes = {}
    for x in graph.inputs:
        value = sample[x]
        if value.dtype not in (np.uint8, np.int8):
            codes[x] = quantize_as(value, graph.types[x])
        elif graph.types[x].dtype is not DType.INT8:
            reason = f"the data are {value.dtype} codes, the input has int16 codes"
            raise InputRefused("read", x, reason, "give real values")
        elif value.dtype == np.uint8:
            codes[x] = (value.astype(np.int16) - 128).astype(np.int8)
        else:
            codes[x] = value
    return codes
