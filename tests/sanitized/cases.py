"""Random layers for every registered kernel, whichever kernel would be preferred for them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count

import numpy as np

import toolchain.ops  # noqa: F401 - registers the operators
from tests.fast import (
    oracle,
    test_dsp_depthwise,
    test_elementwise,
    test_mve_conv,
    test_mve_depthwise,
    test_mve_elementwise,
    test_mve_int4,
    test_s16,
    test_scalar_conv,
    test_scalar_depthwise,
)
from tests.fast.test_int4 import few
from tests.firmware.test_operators import _joined, _prefixed
from tests.firmware.test_overlap import Case
from toolchain.board import Isa
from toolchain.ir import Array, Example, Family, Graph, Kernel, Op, Rounding, Site, Target
from toolchain.ops._examples import size
from toolchain.ops._layer import LayerOp
from toolchain.ops._windows import Window
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.fully_connected import FullyConnected
from toolchain.select import Choice, select_kernels


def _whole_image(rng: np.random.Generator) -> Example:
    """A window of the size of the image: one row of a fully connected layer."""
    shape = (size(rng, 1, 5), size(rng, 1, 5), size(rng, 1, 9))
    return Example(
        Conv2D("conv", ("x", "w", "b"), ("y",), Window(shape[:2]), *oracle.clip(rng)),
        {"x": (1, *shape)},
        {
            "w": oracle.normal(rng, channels := size(rng, 1, 20), *shape),
            "b": oracle.normal(rng, channels),
        },
    )


def _short_rows(rng: np.random.Generator) -> Example:
    """Many rows of few inputs, before a ReLU."""
    depth, channels = size(rng, 1, 32), size(rng, 1, 17)
    return Example(
        FullyConnected("dense", ("x", "w", "b"), ("y",), 0.0, None),
        {"x": (1, size(rng, 4, 12), depth)},
        {"w": oracle.normal(rng, channels, depth), "b": oracle.normal(rng, channels)},
    )


def _short_int4_rows(rng: np.random.Generator) -> Example:
    """The same with int4 weights."""
    return few(_short_rows(rng))


MAKERS: tuple[oracle.Maker, ...] = (
    *test_scalar_conv.MAKERS.values(),
    *test_scalar_depthwise.MAKERS.values(),
    *test_dsp_depthwise.MAKERS.values(),
    *test_elementwise.MAKERS.values(),
    *test_mve_conv.LAYERS,
    *test_mve_depthwise.MAKERS,
    *test_mve_elementwise.MAKERS,
    *test_mve_int4.MAKERS,
    *test_s16.MAKERS,
    _whole_image,
    _short_rows,
    _short_int4_rows,
)
"""Beside Op.example: what kernels with narrow conditions are for."""
DRAWS_PER_LAYER, FEWEST_DRAWS = 60, 400
"""How long a kernel may look for a layer it serves."""


TARGETS = {
    "portable": Target(Isa.SCALAR, Family.PORTABLE),
    "cmsis-nn": Target(Isa.MVE, Family.CMSIS_NN),
    **{str(isa): Target(isa) for isa in Isa},
}
"""Calls of Arm's functions are linked with the ones of cmsis_glue, which do the same."""


@dataclass(frozen=True)
class Way:
    """One kernel of one operator for one target.

    Args:
        operator: Name in the registry.
        kernel: One of its kernels.
        target: What it is compiled for.
        rounding: How its layers are requantised.
    """

    operator: str
    kernel: Kernel
    target: Target
    rounding: Rounding = Rounding.DOUBLE

    def __str__(self) -> str:
        return f"{self.operator}-{self.kernel.name}-{self.target.isa}-{self.target.family}"


def ways(target: Target, rounding: Rounding = Rounding.DOUBLE) -> list[Way]:
    """Every kernel of the target's family, whether or not it serves anything there."""
    return [
        Way(name, kernel, target, rounding)
        for name in sorted(Op.registry)
        for kernel in Op.registry[name].kernels
        if _belongs(kernel, target)
    ]


def _belongs(kernel: Kernel, target: Target) -> bool:
    if target.family is Family.FAST:
        return kernel.isas is not None and target.isa in kernel.isas
    arm = kernel.name.startswith("arm_")
    return kernel.isas is None and (arm or target.family is Family.PORTABLE)


@cache
def _makers() -> dict[str, list[oracle.Maker]]:
    makers: dict[str, list[oracle.Maker]] = defaultdict(list)
    for name, operator in Op.registry.items():
        makers[name].append(operator.example)
    for maker in MAKERS:
        made = {type(maker(np.random.default_rng(seed)).op).__name__ for seed in range(3)}
        assert len(made) == 1, made
        makers[made.pop()].append(maker)
    return makers


@dataclass(frozen=True)
class Layer:
    """A quantised graph around one operator of a kind, and float samples of its inputs."""

    graph: Graph
    floats: list[dict[str, Array]]


@cache
def _drawn(operator: str, seed: int) -> Layer:
    """The layer of a seed; the makers of the operator take turns."""
    makers = _makers()[operator]
    maker = makers[seed % len(makers)]
    weighted = issubclass(Op.registry[operator], LayerOp)
    (graph,), (floats,) = oracle.instances(maker, [seed], extreme_weights=weighted)
    if operator == "AveragePool" and seed % 4 == 0:
        graph = _with_equal_scales(graph)
    return Layer(graph, floats)


def _with_equal_scales(graph: Graph) -> Graph:
    """Output codes that mean what the same input codes do."""
    y = graph.ops[0].y
    kind = replace(graph.types[y], quant=graph.types[graph.ops[0].x].quant)
    return replace(graph, types={**graph.types, y: kind})


@cache
def _rounded(operator: str, seed: int, rounding: Rounding) -> Layer:
    """The same layer in one of the roundings."""
    layer = _drawn(operator, seed)
    ops = tuple(replace(op, rounding=rounding) for op in layer.graph.ops)
    return replace(layer, graph=replace(layer.graph, ops=ops))


def layers(way: Way, number: int, first: int = 0) -> list[Layer]:
    """Different layers that the kernel serves; none where it serves nothing on this target.

    Args:
        way: The kernel.
        number: How many.
        first: Seed from which they are looked for.
    """
    found: list[Layer] = []
    limit = max(DRAWS_PER_LAYER * number, FEWEST_DRAWS)
    for seed in range(first, first + limit):
        layer = _rounded(way.operator, seed, way.rounding)
        if len(found) == number:
            break
        if _serves(way, layer.graph):
            found.append(layer)
    assert len(found) in {0, number}, (
        f"{way}: serves {len(found)} of {limit} random layers; add what it is for to MAKERS"
    )
    return found


def _sites(way: Way, graph: Graph) -> Iterator[Site]:
    for op in graph.ops:
        if type(op).__name__ == way.operator and not op.is_view:
            yield Site(op, graph.types, graph.constants, way.target)


def _serves(way: Way, graph: Graph) -> bool:
    sites = list(_sites(way, graph))
    return bool(sites) and all(way.kernel.serves(site) for site in sites)


@dataclass(frozen=True)
class Batch:
    """Layers side by side in one graph, each with the kernel that is tested on it."""

    graph: Graph
    choices: dict[str, Choice]
    layers: list[Layer]


def batch(taken: Sequence[Way], number: int, first: int = 0) -> Batch:
    """Layers for several kernels of one instruction set.

    Args:
        taken: The kernels.
        number: Layers of each.
        first: Seed from which layers are looked for.
    """
    parts: list[Layer] = []
    choices: dict[str, Choice] = {}
    index = count()
    for way in taken:
        for layer in layers(way, number, first):
            stem = f"{way.kernel.name}_{next(index)}_"
            graph = _prefixed(layer.graph, stem)
            floats = [{f"{stem}{x}": v for x, v in s.items()} for s in layer.floats]
            parts.append(Layer(graph, floats))
            choices |= select_kernels(graph, way.target)
            for site in _sites(way, graph):
                choices[site.op.y] = Choice(way.kernel, way.kernel.scratch(site))
    return Batch(_joined([part.graph for part in parts]), choices, parts)


def over_inputs(taken: Sequence[Way], number: int, first: int = 0) -> list[Case]:
    """Layers whose kernels let the output lie over an input, each as close as they let it.

    Args:
        taken: The kernels.
        number: Layers of each; those without such an input are left out.
        first: Seed from which layers are looked for.

    Returns:
        The layers with their kernels.
    """
    cases: list[Case] = []
    for way in taken:
        for layer in layers(way, number, first):
            if len(layer.graph.ops) > 1:  # quantisation rescales an input first
                continue
            for site in _sites(way, layer.graph):
                for index, distance in _places(way.kernel, site):
                    stem = f"{way.kernel.name}_{len(cases)}_"
                    graph = _prefixed(layer.graph, stem)
                    floats = [{f"{stem}{x}": v for x, v in s.items()} for s in layer.floats]
                    choice = Choice(way.kernel, way.kernel.scratch(site))
                    cases.append(Case(graph, choice, index, distance, floats))
    return cases


def _places(kernel: Kernel, site: Site) -> list[tuple[int, int]]:
    """Inputs, each with a distance of the output before it that the kernel allows."""
    op, types = site.op, site.types
    if len(op.inputs) != len(set(op.inputs)):
        return []
    smaller = [i for i in kernel.onto(site) if types[op.y].nbytes <= types[op.inputs[i]].nbytes]
    places = [*kernel.overlap(site).items(), *((i, 0) for i in smaller)]
    return [(i, distance) for i, distance in places if op.inputs[i] not in site.constants]
