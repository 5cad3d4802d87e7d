"""The picture of a profile: boxes as wide as their share; names that cannot break it."""

from xml.etree import ElementTree

from toolchain.report.flame import ROW, WIDTH, flame_boxes, flame_svg
from toolchain.results import FunctionProfile

SEEN = FunctionProfile(
    "net_run",
    ("qemu",),
    (
        ("one", {"glue_b": 10, "glue_a": 30, "net_run": 10}),
        ("a <&'\"> name\n" * 20, {"glue_a": 950}),
        ("none", {}),
        ("tiny", {"glue_c": 0}),
    ),
)


def test_boxes():
    root, one, a, b, two, other = flame_boxes(SEEN)
    assert (root.x, root.y, root.width, root.label) == (0, 0, WIDTH, "net_run")
    assert (one.x, one.y, one.width) == (0, ROW, WIDTH * 0.05)
    assert (a.x, a.y, a.width) == (0, 2 * ROW, WIDTH * 0.03)
    assert (b.x, b.width) == (WIDTH * 0.03, WIDTH * 0.01)
    assert (two.x, two.width) == (other.x, other.width) == (WIDTH * 0.05, WIDTH * 0.95)
    assert a.colour == other.colour != b.colour
    assert a.tip == "glue_a: 30 instructions, 3.0% of an inference"
    assert b.label == ""
    assert other.label == "glue_a"
    assert len(two.label) < len(two.tip)
    assert two.label.startswith("a <&")


def test_nothing_was_executed():
    assert flame_boxes(FunctionProfile("net_run", (), ())) == ()


def test_any_browser_reads_it():
    text = flame_svg(SEEN)
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}g"))) == 6
    assert text == flame_svg(SEEN)
