"""Dead-channel elimination changes no byte, whatever the network looks like."""

from pathlib import Path

import numpy as np
import pytest

from tests.quantized.models import integers, load
from tests.quantized.nets import Net
from toolchain.ir import DType, Graph, Stage, verify
from toolchain.ir.execute import simulate
from toolchain.ops._windows import Window
from toolchain.ops.average_pool import AveragePool
from toolchain.quant.prune import Pruned, prune


def _macs(graph: Graph) -> int:
    return sum(op.macs(graph.types) for op in graph.ops)


def _weight_bytes(graph: Graph) -> int:
    return sum(graph.types[n].nbytes for n in graph.constants if graph.types[n].dtype is DType.INT8)


def _pruned(graph: Graph, samples: int = 6) -> Pruned:
    """Prune, having checked that outputs stay equal and that nothing is left to prune."""
    done = prune(graph)
    verify(done.graph, Stage.QUANTIZED)
    assert done.graph.inputs == graph.inputs
    assert done.graph.outputs == graph.outputs
    rng = np.random.default_rng(0)
    for _ in range(samples):
        codes = {
            x: rng.integers(-128, 128, graph.types[x].shape).astype(np.int8) for x in graph.inputs
        }
        before, after = simulate(graph, codes), simulate(done.graph, codes)
        for y in graph.outputs:
            np.testing.assert_array_equal(after[y], before[y], err_msg=y)
    again = prune(done.graph)
    assert again.dropped == ()
    assert {n: t.shape for n, t in again.graph.types.items()} == {
        n: t.shape for n, t in done.graph.types.items()
    }
    assert all(min(t.shape, default=1) >= 1 for t in done.graph.types.values())
    assert _macs(done.graph) <= _macs(graph)
    return done


def _random_net(rng: np.random.Generator) -> Graph:
    """Up to nine operators on maps that stay of one size, several readers allowed, then a head."""
    net = Net(rng, rng.choice([0.2, 0.5, 0.9]))
    maps = [net.input(1, 4, 4, int(rng.integers(1, 5)))]
    for _ in range(int(rng.integers(2, 10))):
        x = maps[-1] if rng.random() < 0.7 else maps[int(rng.integers(len(maps)))]
        same = [m for m in maps if net.types[m].shape == net.types[x].shape]
        other = same[int(rng.integers(len(same)))]
        channels = int(rng.integers(1, 8))
        kind = int(rng.integers(7))
        if kind < 2:
            y = net.conv(x, channels, 3 if kind else 1, pads=True)
        elif kind == 2:
            y = net.depthwise(x, int(rng.integers(1, 3)))
        elif kind == 3:
            y = _same_size(net, x)
        elif kind == 4 and rng.random() < 0.7:
            y = net.add(x, other)
        elif kind == 5:
            y = net.concat(x, net.conv(other, channels))
        else:
            y = net.conv(x, channels)
        maps.append(y)
    outputs = [maps[-1]]
    if rng.random() < 0.6:
        outputs = [net.dense(net.flat(maps[-1]), 3)]
    if rng.random() < 0.3 and maps[-2] != "x":
        outputs.append(maps[-2])
    return net.graph(*outputs)


def _same_size(net: Net, x: str) -> str:
    return net.pool(x, size=1) if net.rng.random() < 0.5 else net.average(net.conv(x, 3, 2))


@pytest.mark.parametrize("seed", range(150))
def test_random_nets_give_the_same_bytes(seed: int) -> None:
    _pruned(_random_net(np.random.default_rng(seed)))


def test_the_random_nets_lose_channels() -> None:
    lost = [
        sum(n for _, n in prune(_random_net(np.random.default_rng(seed))).dropped)
        for seed in range(150)
    ]
    assert np.mean(np.array(lost) > 0) > 0.4


@pytest.mark.parametrize("bias", [0, 20_000])
@pytest.mark.parametrize("pads", [True, False])
def test_padding_keeps_a_constant_that_is_not_the_zero_point(bias: int, pads: bool) -> None:
    """Padded cells hold the zero point, not the constant: the sums differ at the edge."""
    net = Net(np.random.default_rng(1), dead=0)
    x = net.conv(net.input(1, 5, 5, 2), 4, bias=np.full(4, bias), zero=-5, bounds=(None, None))
    net.constants["w0"][1] = 0
    y = net.conv(x, 3, 3, pads=pads)
    done = _pruned(net.graph(y))
    kept = done.graph.types[x].shape[3]
    assert kept == (4 if pads and bias else 3)


def test_a_constant_travels_through_pool_depthwise_and_reshape() -> None:
    net = Net(np.random.default_rng(2), dead=0)
    x = net.conv(net.input(1, 4, 4, 2), 5, bias=np.full(5, 20_000), bounds=(None, None))
    net.constants["w0"][2] = 0
    y = net.depthwise(net.pool(x), 2, pads=False)
    mean = net.emit(AveragePool, (y,), net.quant(), Window((2, 2)), False)
    done = _pruned(net.graph(net.dense(net.flat(mean), 3)))
    assert done.graph.types[x].shape[3] == 4
    assert done.graph.types[y].shape[3] == 8
    assert done.dropped == (("t0", 1), ("t2", 2))


def test_a_channel_that_nobody_weighs_goes() -> None:
    net = Net(np.random.default_rng(3), dead=0)
    x = net.conv(net.input(1, 3, 3, 2), 6)
    y = net.conv(x, 4, 3)
    net.constants["w1"][..., [0, 5]] = 0
    done = _pruned(net.graph(y))
    assert done.dropped == (("t0", 2),)
    assert done.graph.constants["w1"].shape == (4, 3, 3, 4)


@pytest.mark.parametrize("reader", ["add", "concat", "output", "two convolutions"])
def test_what_others_read_stays(reader: str) -> None:
    net = Net(np.random.default_rng(4), dead=0)
    x = net.conv(net.input(1, 3, 3, 2), 6)
    y = net.conv(x, 6)
    net.constants["w1"][..., [0, 5]] = 0
    outputs = [y]
    if reader == "add":
        outputs.append(net.add(x, y))
    elif reader == "concat":
        outputs.append(net.concat(x, net.pool(y, size=1)))
    elif reader == "output":
        outputs.append(x)
    else:
        outputs.append(net.conv(x, 2))
    assert _pruned(net.graph(*outputs)).dropped == ()


def test_at_least_one_channel_stays() -> None:
    net = Net(np.random.default_rng(5), dead=0)
    x = net.conv(net.input(1, 4, 4, 2), 6)
    y = net.depthwise(x)
    z = net.conv(y, 4)
    net.constants["w2"][:] = 0
    done = _pruned(net.graph(z))
    assert done.graph.types[x].shape == done.graph.types[y].shape == (1, 4, 4, 1)


def test_a_bias_that_would_leave_int32_is_not_folded() -> None:
    net = Net(np.random.default_rng(6), dead=0)
    x = net.conv(net.input(1, 4, 4, 2), 3, zero=-128, bounds=(None, None), bias=np.full(3, 2**20))
    net.constants["w0"][1] = 0
    y = net.conv(x, 3, bias=np.full(3, 2**31 - 100))
    net.constants["w1"][:] = np.abs(net.constants["w1"])
    _pruned(net.graph(y))


def test_person_detection_loses_half_of_its_macs(shared: Path) -> None:
    """What hand-made channel elimination reaches on this model."""
    model = load(shared, "mlperf_vww_int8_qdq")
    before, after = integers(model, pruned=False).graph, integers(model)
    assert (_macs(before), _weight_bytes(before)) == (7_489_664, 208_112)
    assert _macs(after.graph) <= 3_733_531
    assert _weight_bytes(after.graph) <= 29_744
    assert after.dropped == 1716


@pytest.mark.parametrize("name", ["kws", "ic", "ad"])
def test_the_other_references_have_no_dead_channel(name: str, shared: Path) -> None:
    assert integers(load(shared, f"mlperf_{name}_int8_qdq")).dropped == 0
