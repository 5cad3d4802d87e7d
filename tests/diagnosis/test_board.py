"""Codes of a board beside the integer model: dumped by the generated C through its layer hook."""

import subprocess

import numpy as np
import pytest

from tests.cli import nets
from tests.cli.programs import HOST, includes, sources
from toolchain import pipeline
from toolchain.check.board import BoardOutputs, compare_board
from toolchain.errors import InputRefused
from toolchain.ir import Family
from toolchain.ir.execute import simulate
from toolchain.options import ConvertOptions
from toolchain.project import layer_names

HOOK = """
void dump_layer(int layer);
#define NET_LAYER_HOOK(layer) dump_layer(layer)
"""
MAIN = """
#include "net.h"
#include <stdio.h>
#include <string.h>
void dump_layer(int layer)
{
    (void)layer;
    fwrite(net_arena, 1, NET_ARENA_BYTES, stdout);
}
int main(void)
{
    static int8_t sample[%(nbytes)d];
    while (fread(sample, 1, sizeof sample, stdin) == sizeof sample)
    {
        memcpy(net_input_%(input)s(), sample, sizeof sample);
        if (net_run() != 0)
        {
            return 1;
        }
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    model = nets.classifier(folder / "net.onnx")
    np.savez(folder / "calib.npz", image=nets.images())
    options = ConvertOptions(prefix="net", kernels=Family.PORTABLE)
    return pipeline.convert(model, folder / "calib.npz", "nucleo-f446re", folder / "net", options)


@pytest.fixture(scope="module")
def snapshots(project, tmp_path_factory):
    """The arena at every call of the hook, [N, layers + 1, bytes], as a board would send it."""
    if not HOST:
        pytest.skip("no compiler for this machine")
    folder, root = tmp_path_factory.mktemp("program"), project.directory
    (folder / "hook.h").write_text(HOOK)
    model = project.manifest.firmware
    facts = {"nbytes": model.inputs[0].nbytes, "input": model.inputs[0].ident}
    (folder / "main.c").write_text(MAIN % facts)
    kernels = sorted((root / "kernels").glob("*.c"))
    program = folder / "program"
    options = ["-std=c11", "-O1", "-include", folder / "hook.h", *includes([root])]
    files = [folder / "main.c", *sources(root), *kernels]
    subprocess.run([HOST[0], *options, *files, "-o", program], check=True)
    given = b"".join(s[x].tobytes() for s in project.samples() for x in project.graph().inputs)
    done = subprocess.run([program], input=given, capture_output=True, check=True)
    shape = (len(project.samples()), len(project.manifest.layers) + 1, -1)
    return np.frombuffer(done.stdout, np.uint8).reshape(shape)


def _compared(project, tmp_path, **arrays):
    np.savez(tmp_path / "board.npz", **arrays)
    board = BoardOutputs(tmp_path / "board.npz", project.graph(), project.manifest.firmware)
    return compare_board(board, project.samples())


def test_snapshots_of_the_arena_hold_every_layer(project, snapshots, tmp_path):
    found = _compared(project, tmp_path, arena=snapshots)
    assert found.first is None
    assert [layer.name for layer in found.layers] == [x.name for x in project.manifest.layers]
    assert all(layer.values and not layer.differing for layer in found.layers)


def test_the_first_layer_that_differs_is_named(project, snapshots, tmp_path):
    wrong = snapshots.copy()
    layer = 2
    offset, _ = project.manifest.firmware.layers[layer].outputs[0]
    wrong[3, layer + 1, offset + 1] ^= 0x11
    found = _compared(project, tmp_path, arena=wrong)
    assert found.first is not None
    assert found.first.sample == 3
    assert found.first.layer == project.manifest.layers[layer].name
    assert found.first.index[-1] == 1
    assert found.first.firmware != found.first.expected
    assert [x.differing for x in found.layers].count(1) == 1
    assert sum(x.differing for x in found.layers) == 1


def _codes(project):
    graph = project.graph()
    runs = [simulate(graph, sample) for sample in project.samples()]
    return graph, {
        y: np.concatenate([run[y] for run in runs]) for op in graph.ops for y in op.outputs
    }


def test_layers_and_outputs_by_name(project, tmp_path):
    graph, codes = _codes(project)
    (y,) = graph.outputs
    assert _compared(project, tmp_path, **{y: codes[y]}).first is None
    names = layer_names(graph.ops)
    first = next(op for op in graph.ops if not op.is_view)
    flat = codes[first.y].reshape(len(codes[first.y]), -1)
    wrong = codes[y].copy()
    wrong.flat[-1] ^= 1
    found = _compared(project, tmp_path, **{names[first.y]: flat, y: wrong})
    assert found.first is not None
    assert found.first.sample == len(wrong) - 1
    assert [layer.differing for layer in found.layers] == [0, 1]


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"nobody": np.zeros((2, 4), np.int8)}, "neither a layer nor an output"),
        ({"arena": np.zeros((2, 4), np.uint8)}, "not uint8"),
        ({}, "holds no arrays"),
    ],
)
def test_other_files_are_refused(project, tmp_path, arrays, reason):
    with pytest.raises(InputRefused, match=reason):
        _compared(project, tmp_path, **arrays)


def test_wrong_arrays_are_refused(project, snapshots, tmp_path):
    graph, codes = _codes(project)
    (y,) = graph.outputs
    with pytest.raises(InputRefused, match="not int8 codes"):
        _compared(project, tmp_path, **{y: codes[y].astype(np.float32)})
    with pytest.raises(InputRefused, match="not int8 codes"):
        _compared(project, tmp_path, **{y: codes[y][:, :-1]})
    with pytest.raises(InputRefused, match="bytes of the arena"):
        _compared(project, tmp_path, arena=snapshots[:, :, :8])
    with pytest.raises(InputRefused, match="holds 17 samples, the data 16"):
        _compared(project, tmp_path, **{y: np.concatenate([codes[y], codes[y][:1]])})
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(InputRefused, match="cannot be read"):
        BoardOutputs(tmp_path / "text.npz", graph, project.manifest.firmware)
