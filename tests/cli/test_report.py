"""The picture of the arena, and names in the page."""

import itertools
import json

import msgspec
import numpy as np

from tests.cli import nets
from toolchain.board import load_board
from toolchain.check.compare import judge
from toolchain.check.evaluate import Evaluation
from toolchain.emit import FirmwareModel, Port
from toolchain.plan import Buffer
from toolchain.plan.lifetimes import live_bytes
from toolchain.project import Manifest, Project
from toolchain.project.manifest import BufferFacts, StepFacts
from toolchain.report import html
from toolchain.report.advice import advise
from toolchain.report.names import NAME, Names, middle, printable, short_names
from toolchain.report.picture import HEIGHT, WIDTH, arena_picture, arena_text, peak_step
from toolchain.report.table import table
from toolchain.results import Built, Emulation
from toolchain.run import ProgramFacts, Sizes, StackUse
from toolchain.run.build import BuildResult


def overlap(one, two):
    return (
        one.x + 0.1 < two.x + two.width
        and two.x + 0.1 < one.x + one.width
        and one.y + 0.1 < two.y + two.height
        and two.y + 0.1 < one.y + one.height
    )


def test_picture_is_the_plan(project):
    manifest = Project(project).manifest
    picture = arena_picture(manifest)
    assert len(picture.blocks) == len(manifest.buffers)
    allowed = {(b.name, x) for b in manifest.buffers for x, _ in b.over}
    named = list(zip(manifest.buffers, picture.blocks, strict=True))
    for (one, a), (other, b) in itertools.combinations(named, 2):
        pair = {(one.name, other.name), (other.name, one.name)}
        assert not overlap(a, b) or pair & allowed
    for block in picture.blocks:
        assert block.x >= 0
        assert block.y >= -0.1
        assert block.x + block.width <= WIDTH + 0.1
        assert block.y + block.height <= HEIGHT + 0.1
    marked = [b for b in picture.blocks if b.peak]
    covered = {
        y
        for b, block in zip(manifest.buffers, picture.blocks, strict=True)
        if block.peak
        for y in range(b.offset, b.offset + b.nbytes)
    }
    bound = manifest.arena_lower_bound
    assert bound - 8 <= len(covered) <= manifest.arena_bytes
    assert manifest.steps[peak_step(manifest)].nbytes == bound
    for block in marked:
        assert block.x <= picture.peak_x + 0.1
        assert block.x + block.width >= picture.peak_x + picture.peak_width - 0.1


def test_the_picture_in_characters(project):
    manifest = Project(project).manifest
    *lines, marks = arena_text(manifest, 60, 10)
    assert len(lines) in (9, 10)
    assert all(len(line) == len(lines[0]) <= 70 for line in lines)
    width = len(lines[0]) - 10
    peak, steps = peak_step(manifest), len(manifest.steps)
    assert marks.split() == ["peak", "^" * (width // steps)]
    assert marks.index("^") == 10 + peak * width // steps
    for line in lines:
        start = int(line[:9].replace(",", ""))
        for step in range(steps):
            shown = line[10 + step * width // steps]
            assert (shown == ".") == (
                not any(
                    b.first <= step <= b.last and b.offset <= start < b.offset + b.nbytes
                    for b in manifest.buffers
                )
            )


def made(nbytes, over=(), scratch=0, library="fast"):
    """A manifest of three layers in a row, input first; layer 1 has scratch memory."""
    lives = [(0, 0), (0, 1), (1, 2), (2, 2)]
    buffers = [
        BufferFacts(
            name=name,
            tensors=(name,),
            offset=0,
            nbytes=n,
            first=a,
            last=z,
            over=dict(over).get(name, ()),
        )
        for name, n, (a, z) in zip("xabc", nbytes, lives, strict=True)
    ]
    if scratch:
        buffers.append(BufferFacts(name="b", tensors=(), offset=0, nbytes=scratch, first=1, last=1))
    blocks = tuple(Buffer(b.name, b.nbytes, b.first, b.last, b.tensors, b.over) for b in buffers)
    steps = zip(("first", "second", "third"), live_bytes(blocks, 3, 1), strict=True)
    return Manifest(
        tool="", prefix="m", source="m", model_sha256="", board=load_board("nucleo-f446re"),
        library=library, calibration="", calibration_samples=0,
        arena_bytes=999, arena_lower_bound=999, arena_optimal=True,
        peak_layer="", weights_bytes=0, stack_bytes=0, macs=0, layers=(), buffers=tuple(buffers),
        steps=tuple(StepFacts(name=name, nbytes=n) for name, n in steps),
        firmware=FirmwareModel("m", (Port("x", "x", nbytes[0]),), (), (), 999, ()),
    )  # fmt: skip


def test_what_limits_the_peak_and_what_lowers_it():
    found = advise(made((100, 400, 800, 4), scratch=200))
    assert found.limit == (
        "1,400 bytes at second: 800 output b, 400 last read here: a and 200 of scratch memory"
    )
    assert found.ways == (
        "kernels without scratch memory in all layers (--kernels portable): about 200 bytes less, "
        "unless outputs share less with inputs",
        "a quarter fewer channels in second: about 200 bytes less",
        "a quarter fewer channels in first: about 100 bytes less",
    )


def test_what_is_shared_at_the_peak():
    found = advise(made((100, 400, 800, 4), over={"b": (("a", 410),)}))
    assert found.limit == (
        "810 bytes at second: 800 output b and 400 last read here: a; "
        "390 bytes serve twice, for an input and the output over it"
    )
    assert found.ways[0] == "a quarter fewer channels in second: about 200 bytes less"


def test_kernels_are_no_advice_where_the_peak_is_low_by_sharing():
    """Others let an output share less: the arena might even grow."""
    found = advise(made((100, 400, 800, 4), over={"b": (("a", 410),)}, scratch=200))
    assert "200 of scratch memory" in found.limit
    assert not any("--kernels" in way for way in found.ways)


def test_an_option_for_all_layers_is_judged_with_all_of_them():
    """What the layer of the peak gives up another one may still need."""
    manifest = made((100, 400, 800, 4), scratch=200)
    third = BufferFacts(name="c", tensors=(), offset=0, nbytes=500, first=2, last=2)
    blocks = [
        Buffer(b.name, b.nbytes, b.first, b.last, b.tensors, b.over)
        for b in (*manifest.buffers, third)
    ]
    steps = zip(manifest.steps, live_bytes(tuple(blocks), 3, 1), strict=True)
    manifest = msgspec.structs.replace(
        manifest,
        buffers=(*manifest.buffers, third),
        steps=tuple(StepFacts(name=step.name, nbytes=n) for step, n in steps),
    )
    text = "kernels without scratch memory in all layers (--kernels portable): about 200 bytes less"
    assert advise(manifest).ways[0].startswith(text)


def test_the_parts_of_the_peak_are_all_of_it():
    manifest = made((100, 402, 803, 4))
    blocks = tuple(
        Buffer(b.name, b.nbytes, b.first, b.last, b.tensors, b.over) for b in manifest.buffers
    )
    aligned = zip(manifest.steps, live_bytes(blocks, 3, 8), strict=True)
    steps = tuple(StepFacts(name=step.name, nbytes=n) for step, n in aligned)
    found = advise(msgspec.structs.replace(manifest, steps=steps))
    assert found.limit == (
        "1,216 bytes at second: 803 output b, 402 last read here: a and 11 of alignment"
    )


def test_an_input_at_the_peak():
    found = advise(made((800, 400, 40, 4)))
    assert found.limit == "1,200 bytes at first: 800 last read here: x and 400 output a"
    assert found.ways == (
        "a quarter fewer channels in first: about 100 bytes less",
        "an input with a quarter fewer pixels or time steps, and all that follows from it: "
        "about 300 bytes less",
        "a quarter fewer channels in all layers: about 100 bytes less",
    )


def test_big_buffers_carry_their_size_and_no_label_is_wider_than_its_buffer(project):
    blocks = arena_picture(Project(project).manifest).blocks
    largest = max(blocks, key=lambda b: b.width * b.height)
    assert largest.lines[-1].endswith(" B")
    for block in blocks:
        assert all(len(line) * 6.2 <= block.width for line in block.lines)
        assert 13 * len(block.lines) <= block.height


def test_names_in_the_page_are_text(onnx2mcu, arguments, tmp_path):
    path = nets.classifier(tmp_path / "page.onnx", node="<script>alert(1)</script>")
    assert onnx2mcu(*arguments(model=path)).code == 0
    project = Project(tmp_path / "out")
    manifest = project.manifest
    zeros = {"scores": np.zeros((1, 3), np.float32)}
    found = judge(zeros, zeros)
    program = tmp_path / "x.elf"
    counts = tuple((layer.name, 1) for layer in manifest.layers)
    page = html.write_report(
        project.directory,
        manifest,
        Built(
            BuildResult(tmp_path, program, program, program, ""),
            Sizes(1, 2, 0, 3, 4),
            load_board("nucleo-f446re"),
            ProgramFacts(StackUse(8, ("f",)), StackUse(8, ("f",))),
        ),
        Evaluation(found, ()),
        Emulation("none", "none", 1, 1, 1, counts, program, {}),
    ).read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<h2>Functions" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_printable():
    assert printable("a\nb\x1b[2J\u2028c \u00fc") == "a\\nb\\x1b[2J\\u2028c \u00fc"


def test_long_names_lose_their_middles():
    path = "StatefulPartitionedCall/functional_1/block_13_expand_relu/Relu6/Conv2D__{}"
    names = ["short", path.format(1), path.format(22)]
    short = short_names(names)
    assert short["short"] == "short"
    assert [len(short[name]) for name in names[1:]] == [NAME, NAME]
    assert short[names[1]].startswith("StatefulPart")
    assert short[names[1]].endswith("block_13_expand_relu/Relu6/Conv2D__1"[-29:])
    assert len(set(short.values())) == 3


def test_names_that_are_alike_at_the_end_show_where_they_differ():
    """No two are alike, and none is longer than the others may be."""
    early = [f"net/activation_{i}/Relu;{'norm/' * 20}resource1" for i in range(3)]
    inside = [f"{'a' * 60}{part}{'z' * 60}" for part in ("one", "two")]
    late = [f"{'b' * 60}{part}{'c' * 60}" for part in ("1", "2", "3")]
    pairs = (("1", "a"), ("2", "a"), ("2", "b"))
    alike = [f"{'d' * 60}{one}{'e' * 60}{two}{'d' * 60}" for one, two in pairs]
    names = [*early, *inside, *late, *alike, "f" * 90]
    short = short_names(names)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert max(map(len, short.values())) == NAME
    assert short["f" * 90] == "f" * 14 + "\u2026" + "f" * 29
    assert [f"activation_{i}" in short[name] for i, name in enumerate(early)] == [True] * 3
    assert "one" in short[inside[0]]
    assert "\u20261eee" in short[alike[0]]
    assert [short[name][-3:] for name in alike[1:]] == [" #1", " #2"]
    rows = table("t", ("layer", "n"), [(name, 1) for name in names])
    assert [str(cell) for cell in rows.columns[0].cells] == list(short.values())


def test_a_short_form_is_no_other_name():
    long = "g" * 90
    taken = middle(long, NAME)
    short = short_names([taken, long])
    assert short[taken] == taken
    assert short[long] != taken


def test_lines_show_names_as_tables_do():
    names = [f"{'h' * 60}{i}" for i in range(12)]
    shown = Names(names)
    text = shown.within(f"from {names[1]} to {names[11]}\x1b")
    assert text == f"from {shown.of(names[1])} to {shown.of(names[11])}\\x1b"


def test_long_names_are_shortened_everywhere_but_in_json(onnx2mcu, arguments, tmp_path):
    long = "model/activation/Relu;" + "model/batch_normalization/FusedBatchNormV3;" * 5
    path = nets.classifier(tmp_path / "long.onnx", node=long, between=f"{long}t")
    for line in (arguments(model=path), ["inspect", path, "--board", "microbit-v1"]):
        done = onnx2mcu(*line)
        assert (done.code, done.err) == (0, "")
        assert max(map(len, done.out.splitlines())) <= 150
        assert "FusedBatchNormV3;model/batch_normalization/FusedBatchNormV3" not in done.out
        record = json.loads(onnx2mcu(*line, "--json", *(["--force"] * (line[0] != "inspect"))).out)
        assert all(layer["name"].startswith(long) for layer in record["layers"])
