"""The picture of the arena, and names in the page."""

import itertools

import numpy as np

from tests.cli import nets
from toolchain.board import load_board
from toolchain.check.compare import judge
from toolchain.check.evaluate import Evaluation
from toolchain.project import Project
from toolchain.report import html
from toolchain.report.picture import HEIGHT, WIDTH, arena_picture
from toolchain.report.table import printable
from toolchain.results import Built, Emulation
from toolchain.run import Sizes
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
    assert not any(overlap(a, b) for a, b in itertools.combinations(picture.blocks, 2))
    for block in picture.blocks:
        assert block.x >= 0
        assert block.y >= -0.1
        assert block.x + block.width <= WIDTH + 0.1
        assert block.y + block.height <= HEIGHT + 0.1
    marked = [b for b in picture.blocks if b.peak]
    bound = HEIGHT * manifest.arena_lower_bound / manifest.arena_bytes
    assert bound - 8 <= sum(b.height for b in marked) <= bound + 0.1
    for block in marked:
        assert block.x <= picture.peak_x + 0.1
        assert block.x + block.width >= picture.peak_x + picture.peak_width - 0.1


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
        ),
        Evaluation(found, ()),
        Emulation("none", "none", 1, 1, 1, counts, program, {}),
    ).read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_printable():
    assert printable("a\nb\x1b[2J\u2028c \u00fc") == "a\\nb\\x1b[2J\\u2028c \u00fc"
