"""Random networks: imported and rewritten graphs compute what ONNX Runtime does (R4, R12, R19)."""

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from onnx import printer

from tests.unit.import_oracle import agree, kinds, model, node, normal
from toolchain import passes
from toolchain.frontend.read import read
from toolchain.ir import verify

UNARY = ("Relu", "Sigmoid", "Tanh", "Identity", "Dropout")
PERMS = ([0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2])


class Net:
    """A random network under construction; every tensor has rank 4 and batch 1."""

    def __init__(self, draw) -> None:
        self.draw = draw
        self.shapes = {"x": (1, *(draw(st.integers(2, 5)) for _ in range(3)))}
        self.nodes, self.constants = [], {}

    def pick(self, *shape: int) -> str:
        """A tensor, of a given shape if one is named; late ones are likelier."""
        names = [n for n, s in self.shapes.items() if not shape or s == shape]
        recent = names[-3:]
        return self.draw(st.sampled_from(recent if self.draw(st.booleans()) else names))

    def constant(self, *shape: int) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = normal(*shape, seed=len(self.constants)) * 0.7 + 0.1
        return name

    def add(self, op_type: str, inputs: list[str], shape, **attributes) -> None:
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(op_type, inputs, name, **attributes))
        self.shapes[name] = tuple(shape)

    def grow(self) -> None:
        kind = self.draw(st.sampled_from(STEPS))
        kind(self)

    def model(self):
        last = f"t{len(self.nodes) - 1}"
        outputs = {last, *self.draw(st.lists(st.sampled_from(list(self.shapes)), max_size=2))}
        outputs.discard("x")
        return model(*self.nodes, x=self.shapes["x"], outputs=sorted(outputs), **self.constants)


def unary(net: Net) -> None:
    x = net.pick()
    net.add(net.draw(st.sampled_from(UNARY)), [x], net.shapes[x])


def binary(net: Net) -> None:
    x = net.pick()
    net.add(net.draw(st.sampled_from(["Add", "Sub", "Mul"])), [x, net.pick(*net.shapes[x])],
            net.shapes[x])  # fmt: skip


def with_constant(net: Net) -> None:
    x = net.pick()
    shape = net.shapes[x]
    keep = [net.draw(st.booleans()) for _ in shape]
    c = net.constant(*(n if k else 1 for n, k in zip(shape, keep, strict=True)))
    op_type = net.draw(st.sampled_from(["Add", "Sub", "Mul"]))
    net.add(op_type, net.draw(st.permutations([x, c])), shape)


def convolution(net: Net) -> None:
    x = net.pick()
    n, c, h, w = net.shapes[x]
    pads = [net.draw(st.integers(0, 1)) for _ in range(4)]
    kernel = [net.draw(st.integers(1, min(2, size))) for size in (h, w)]
    group = net.draw(st.sampled_from([1, c]))
    out = c if group > 1 else net.draw(st.integers(1, 4))
    filters = net.constant(out, c // group, *kernel)
    size = (h + pads[0] + pads[2] - kernel[0] + 1, w + pads[1] + pads[3] - kernel[1] + 1)
    net.add("Conv", [x, filters, net.constant(out)], (n, out, *size), pads=pads, group=group)


def batch_norm(net: Net) -> None:
    x = net.pick()
    parts = [net.constant(net.shapes[x][1]) for _ in range(4)]
    net.constants[parts[3]] = np.abs(net.constants[parts[3]]) + 0.2
    net.add("BatchNormalization", [x, *parts], net.shapes[x])


def pool(net: Net) -> None:
    x = net.pick()
    n, c, h, w = net.shapes[x]
    op_type = net.draw(st.sampled_from(["MaxPool", "AveragePool"]))
    kernel = [min(2, h), min(2, w)]
    net.add(op_type, [x], (n, c, h - kernel[0] + 1, w - kernel[1] + 1), kernel_shape=kernel)


def transpose(net: Net) -> None:
    x, perm = net.pick(), net.draw(st.sampled_from(PERMS))
    net.add("Transpose", [x], (net.shapes[x][p] for p in perm), perm=perm)


def reshape(net: Net) -> None:
    x = net.pick()
    n, a, b, c = net.shapes[x]
    target = net.draw(st.sampled_from([(n, a, c, b), (n, a * b, c, 1), (n, 1, a, b * c)]))
    name = f"s{len(net.constants)}"
    net.constants[name] = np.array(target, np.int64)
    net.add("Reshape", [x, name], target)


def concat(net: Net) -> None:
    x = net.pick()
    axis = net.draw(st.integers(1, 3))
    shape = list(net.shapes[x])
    other = net.draw(st.sampled_from([x, net.pick(*shape), net.constant(*shape)]))
    shape[axis] *= 2
    net.add("Concat", net.draw(st.permutations([x, other])), shape, axis=axis)


def pad(net: Net) -> None:
    x = net.pick()
    before, after = ([0, *(net.draw(st.integers(0, 1)) for _ in range(3))] for _ in range(2))
    name = f"s{len(net.constants)}"
    net.constants[name] = np.array(before + after, np.int64)
    net.add("Pad", [x, name], map(sum, zip(before, net.shapes[x], after, strict=True)))


def mean(net: Net) -> None:
    x = net.pick()
    axes = net.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True))
    shape = [1 if i in axes else n for i, n in enumerate(net.shapes[x])]
    net.add("ReduceMean", [x], shape, axes=sorted(axes))


def softmax(net: Net) -> None:
    x = net.pick()
    net.add("Softmax", [x], net.shapes[x], axis=net.draw(st.integers(1, 3)))


def dense(net: Net) -> None:
    x = net.pick()
    *rest, depth = net.shapes[x]
    net.add("MatMul", [x, net.constant(depth, 3)], (*rest, 3))


def flat_dense(net: Net) -> None:
    """Flatten, Gemm, and back to rank 4: the weights take over a permutation."""
    x = net.pick()
    size = int(np.prod(net.shapes[x]))
    net.add("Flatten", [x], (1, size))
    flat = f"t{len(net.nodes) - 1}"
    del net.shapes[flat]
    net.add("Gemm", [flat, net.constant(4, size)], (1, 4), transB=1)
    del net.shapes[f"t{len(net.nodes) - 1}"]
    name = f"s{len(net.constants)}"
    net.constants[name] = np.array((1, 2, 2, 1), np.int64)
    net.add("Reshape", [f"t{len(net.nodes) - 1}", name], (1, 2, 2, 1))


STEPS = (
    unary, unary, binary, binary, with_constant, with_constant, convolution, convolution,
    convolution, batch_norm, pool, transpose, transpose, reshape, concat, pad, mean, softmax, dense,
    flat_dense,
)  # fmt: skip


@st.composite
def networks(draw):
    net = Net(draw)
    for _ in range(draw(st.integers(2, 10))):
        if max(map(np.prod, net.shapes.values())) < 2000:
            net.grow()
    if not net.nodes:
        unary(net)
    return net.model()


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_random_networks_compute_what_onnx_runtime_does(proto):
    note(printer.to_text(proto))
    graph = agree(proto)
    assert graph.outputs == tuple(o.name for o in proto.graph.output)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_the_passes_end_in_a_graph_they_leave_alone(proto):
    imported = read(proto, "m").graph
    once = passes.run(imported)
    twice = passes.run(once)
    assert kinds(verify(twice)) == kinds(once)
    assert once.inputs == imported.inputs
