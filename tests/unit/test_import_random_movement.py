"""Random networks with slices, resizes, shuffles and reflections among the other operators."""

import numpy as np
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from onnx import printer

from tests.unit.import_oracle import agree, kinds
from tests.unit.test_import_random_graphs import STEPS, Net, unary
from toolchain import passes
from toolchain.ir import verify


def integers(net: Net, values) -> str:
    name = f"s{len(net.constants)}"
    net.constants[name] = np.array(values, np.int64)
    return name


def cut(net: Net) -> None:
    x = net.pick()
    shape = list(net.shapes[x])
    axis, step = net.draw(st.integers(1, 3)), net.draw(st.sampled_from([1, 2, -1]))
    start, end = (shape[axis] - 1, -(2**31)) if step < 0 else (0, max(1, shape[axis] - 1))
    shape[axis] = len(range(shape[axis])[start:end:step])
    net.add("Slice", [x, *(integers(net, [v]) for v in (start, end, axis, step))], shape)


def enlarge(net: Net) -> None:
    x = net.pick()
    n, c, h, w = net.shapes[x]
    shape = (n, c, h + 1, w + 2)
    mode = net.draw(st.sampled_from(["nearest", "linear"]))
    net.add("Resize", [x, "", "", integers(net, shape)], shape, mode=mode)


def shuffle(net: Net) -> None:
    x = net.pick()
    n, c, h, w = net.shapes[x]
    groups = net.draw(st.sampled_from([d for d in range(1, c + 1) if c % d == 0]))
    split = (n, groups, c // groups, h, w)
    start = len(net.nodes)
    net.add("Reshape", [x, integers(net, split)], split)
    net.add("Transpose", [f"t{start}"], (n, c // groups, groups, h, w), perm=[0, 2, 1, 3, 4])
    net.add("Reshape", [f"t{start + 1}", integers(net, (n, c, h, w))], (n, c, h, w))
    del net.shapes[f"t{start}"], net.shapes[f"t{start + 1}"]


def blocks(net: Net) -> None:
    x = net.pick()
    n, c, h, w = net.shapes[x]
    if c % 4 == 0:
        mode = net.draw(st.sampled_from(["DCR", "CRD"]))
        net.add("DepthToSpace", [x], (n, c // 4, 2 * h, 2 * w), blocksize=2, mode=mode)
    elif h % 2 == 0 and w % 2 == 0:
        net.add("SpaceToDepth", [x], (n, c * 4, h // 2, w // 2), blocksize=2)


def mirror(net: Net) -> None:
    x = net.pick()
    n, c, h, w = net.shapes[x]
    top, right = min(1, h - 1), min(1, w - 1)
    mode = net.draw(st.sampled_from(["reflect", "edge"]))
    pads = integers(net, [0, 0, top, 0, 0, 0, 0, right])
    net.add("Pad", [x, pads], (n, c, h + top, w + right), mode=mode)


MOVES = (cut, enlarge, shuffle, blocks, mirror)


@st.composite
def networks(draw):
    net = Net(draw)
    for _ in range(draw(st.integers(2, 9))):
        if max(map(np.prod, net.shapes.values())) < 3000:
            draw(st.sampled_from(MOVES if draw(st.booleans()) else STEPS))(net)
    if not net.nodes:
        unary(net)
    return net.model()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_random_networks_compute_what_onnx_runtime_does(proto):
    note(printer.to_text(proto))
    graph = agree(proto)
    assert kinds(verify(passes.run(graph))) == kinds(graph)
