"""The arena in several memories: which are named, what goes where, and that it is right."""

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.plan.graphs import Net, content, random_net, reference, run
from toolchain.board import load_board
from toolchain.errors import InputRefused, InternalError
from toolchain.plan import Part, Room, check_plan, divide_plan, memories_of, plan_memory
from toolchain.plan.accesses import accesses

H743 = load_board("nucleo-h743zi")
STACK = 2048


def rooms(text: str, hot: str = "", board=H743) -> tuple[Room, ...]:
    return memories_of(board, text, "", hot, STACK).arena


# ---- what the user says -------------------------------------------------------------------------
def test_rooms_are_what_memories_have():
    assert rooms("dtcm,axi_sram:1000") == (Room("dtcm", 131_072), Room("axi_sram", 1000))
    assert rooms("axi_sram") == (Room("axi_sram", 524_288 - STACK),)  # the stack is there
    assert rooms("") == ()


def test_copied_weights_leave_less_for_the_arena():
    assert rooms("dtcm", "dtcm:31072") == (Room("dtcm", 100_000),)
    assert rooms("axi_sram", "dtcm:31072") == (Room("axi_sram", 524_288 - STACK),)
    assert rooms("dtcm", "dtcm") == (Room("dtcm", 131_072),)  # the arena first, they get the rest


def test_auto_is_all_ram_inside_the_part_the_fastest_first():
    assert [room.memory for room in rooms("auto")] == ["dtcm", "axi_sram", "d2_sram", "d3_sram"]
    disco = load_board("stm32f746g-disco")
    assert [room.memory for room in rooms("auto", board=disco)] == ["sram"]


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        (
            "dtcn",
            "nucleo-h743zi has no ram of that name",
            "axi_sram (524,288 bytes), dtcm (131,072",
        ),
        ("flash", "flash is no ram", "its ram: axi_sram"),
        ("itcm", "itcm begins at address 0", "its ram: axi_sram"),
        ("dtcm,dtcm:100", "dtcm is named twice", "each once"),
        ("dtcm:131073", "dtcm of nucleo-h743zi has 131,072 bytes", "give dtcm:131072 or less"),
        ("axi_sram:524288", "has 522,240 bytes besides stack", "give axi_sram:522240 or less"),
        ("dtcm:0", "'0' is no number of bytes", "NAME:BYTES"),
        ("dtcm:12K", "'12K' is no number of bytes", "NAME:BYTES"),
        ("dtcm,", "one of the names is empty", "NAME or NAME:BYTES"),
    ],
)
def test_rooms_that_are_not_there(text, told, hint):
    with pytest.raises(InputRefused) as refusal:
        rooms(text)
    assert refusal.value.where.startswith("--arena-in")
    assert told in refusal.value.reason
    assert hint in (refusal.value.hint or "")


def test_weights_go_to_flash_alone():
    disco = load_board("stm32f746g-disco")
    assert memories_of(disco, "", "qspi", "", STACK).weights == "qspi"
    assert memories_of(disco, "", "flash", "", STACK).weights == ""  # where they are anyway
    with pytest.raises(InputRefused, match="sdram is no flash"):
        memories_of(disco, "", "sdram", "", STACK)
    with pytest.raises(InputRefused, match=r"--hot-weights qspi.*no ram"):
        memories_of(disco, "", "", "qspi", STACK)


# ---- what goes where ----------------------------------------------------------------------------
def example() -> tuple:
    """x -> a -> b (scratch) -> c -> y reads a, too; all of 100 bytes but for scratch and y."""
    net = Net.of(x=100).cell("x", a=100).cell("a", scratch=40, b=100).cell("b", c=100)
    net.cell("a c", y=12)
    return net.graph("y"), net.choices


def test_accesses_of_views_are_those_of_their_tensor():
    net = Net.of({"k": 8}, x=8).view("x", "v").cell("v k", scratch=4, y=8).cell("y v", z=4)
    found = accesses(net.graph("z"), net.choices)
    assert found == {
        ("x", False): 16, ("k", False): 8, ("y", False): 16, ("y", True): 4, ("z", False): 4,
    }  # fmt: skip


def test_what_fits_into_the_first_memory_stays_whole():
    graph, choices = example()
    plan = plan_memory(graph, choices, 4)
    found = divide_plan(graph, choices, plan, (Room("fast", 300), Room("slow", 9)), 4)
    assert found == replace(plan, parts=(Part("fast", 0, plan.arena_bytes),))


def test_most_accesses_per_byte_go_to_the_fastest():
    net = Net.of(x=100).cell("x", a=100).cell("a x", b=100).cell("a b", c=100).cell("a c", y=100)
    graph, choices = net.graph("y"), net.choices
    plan = plan_memory(graph, choices, 4)
    found = divide_plan(graph, choices, plan, (Room("fast", 100), Room("slow", 400)), 4)
    assert [part.memory for part in found.parts] == ["fast", "slow"]
    assert [n for n in "xabcy" if found.offsets[n] < found.parts[0].nbytes] == ["a"]
    check_plan(graph, choices, found, 4, (Room("fast", 100), Room("slow", 400)))


def test_a_memory_that_takes_nothing_is_no_part():
    graph, choices = example()
    plan = plan_memory(graph, choices, 4)
    found = divide_plan(graph, choices, plan, (Room("tiny", 8), Room("slow", 400)), 4)
    assert [part.memory for part in found.parts] == ["slow"]


def test_what_fits_nowhere_is_refused_with_the_sizes():
    graph, choices = example()
    plan = plan_memory(graph, choices, 4)
    with pytest.raises(InputRefused) as refusal:
        divide_plan(graph, choices, plan, (Room("one", 99), Room("two", 120)), 4)
    for words in ("300 bytes", "one (99 bytes)", "two (120 bytes)", "op_c"):
        assert words in str(refusal.value)


# ---- right on any graph -------------------------------------------------------------------------
def execute_in_parts(graph, choices, plan) -> dict[str, bytes]:
    """Run the graph with an array of its own for every part."""
    arrays = {part: np.full(part.nbytes, 0xEE, np.uint8) for part in plan.parts}

    def span(offset: int, nbytes: int) -> np.ndarray:
        part = next(p for p in plan.parts if p.start <= offset < max(p.end, p.start + 1))
        found = arrays[part][offset - part.start : offset - part.start + nbytes]
        assert len(found) == nbytes
        return found

    def memory(name: str) -> np.ndarray:
        stored = plan.constants.get(name, name)
        if graph.is_constant(stored):
            return graph.constants[stored].view(np.uint8).reshape(-1)
        return span(plan.offsets[name], graph.types[name].nbytes)

    for x in graph.inputs:
        memory(x)[:] = content(x, graph.types[x].nbytes)
    for op in graph.ops:
        if op.is_view:
            continue
        choice = choices[op.y]
        if choice.scratch:
            span(plan.scratch_offsets[op.y], choice.scratch)[:] = 0xDD
        run(op, choice, [memory(x) for x in op.inputs], [memory(y) for y in op.outputs])
    kept = [x for x in graph.inputs if plan.input_survives[x]]
    return {name: memory(name).tobytes() for name in (*graph.outputs, *kept)}


def check_seeds(seeds: range) -> None:
    whole = refused = several = 0
    for seed in seeds:
        rng = random.Random(seed)
        graph, choices = random_net(rng.randint, 14, 200, partial=seed % 2 == 1)
        alignment = rng.choice((1, 4, 16))
        keep = rng.random() < 0.2
        plan = plan_memory(graph, choices, alignment, keep)
        sizes = [int(plan.arena_bytes * rng.uniform(0.1, 0.9)) for _ in range(rng.randint(1, 4))]
        places = tuple(Room(f"m{i}", size) for i, size in enumerate(sizes))
        try:
            found = divide_plan(graph, choices, plan, places, alignment, keep)
        except InputRefused:
            refused += 1
            continue
        check_plan(graph, choices, found, alignment, places)
        free = {room.memory: room.nbytes for room in places}
        assert all(part.nbytes <= free[part.memory] for part in found.parts)
        for b in found.buffers:
            inside = [
                p for p in found.parts if p.start <= b.offset and b.offset + b.nbytes <= p.end
            ]
            assert len(inside) == 1, (seed, b)
        assert not keep or all(found.input_survives.values())
        expected = reference(graph, choices)
        got = execute_in_parts(graph, choices, found)
        assert all(expected[n] == data for n, data in got.items()), seed
        assert found == divide_plan(graph, choices, plan, places, alignment, keep)
        whole += len(found.parts) == 1
        several += len(found.parts) > 1
    assert several > len(seeds) // 4
    assert refused < len(seeds) * 3 // 4


def test_random_graphs_run_in_the_parts_of_their_arena():
    check_seeds(range(200))


@pytest.mark.slow
def test_2000_random_graphs_run_in_the_parts_of_their_arena():
    check_seeds(range(1000, 3000))


# ---- the check ----------------------------------------------------------------------------------
def sound() -> tuple:
    graph, choices = example()
    places = (Room("fast", 140), Room("slow", 400))
    plan = divide_plan(graph, choices, plan_memory(graph, choices, 4), places, 4)
    check_plan(graph, choices, plan, 4, places)
    assert len(plan.parts) == 2
    return graph, choices, plan, places


def broken(plan, number: int, **changes: object):
    parts = list(plan.parts)
    parts[number] = replace(parts[number], **changes)
    return replace(plan, parts=tuple(parts))


def refuse(plan, places, *words: str) -> None:
    graph, choices, _, _ = sound()
    with pytest.raises(InternalError) as refusal:
        check_plan(graph, choices, plan, 4, places)
    for word in words:
        assert word in str(refusal.value)


def test_a_part_that_is_larger_than_its_room():
    _, _, plan, places = sound()
    nbytes = plan.parts[0].nbytes
    refuse(plan, (Room("fast", nbytes - 1), places[1]), "fast", f"{nbytes} bytes")


def test_a_part_in_a_memory_nobody_named_or_in_one_twice():
    _, _, plan, places = sound()
    refuse(broken(plan, 1, memory="other"), places, "other")
    refuse(broken(plan, 1, memory="fast"), places, "fast")


def test_parts_that_do_not_follow_one_another_or_are_not_all():
    _, _, plan, places = sound()
    first, second = plan.parts
    refuse(broken(plan, 1, start=second.start + 4), places, "slow", "begins at")
    refuse(broken(plan, 1, nbytes=second.nbytes - 4), places, "the parts end at")
    refuse(replace(plan, parts=(first,)), places, "the parts end at")
    refuse(replace(plan, parts=()), places, "none of the memories")


def test_a_tensor_in_two_parts():
    _, _, plan, _ = sound()
    first, second = plan.parts
    moved = (
        replace(first, nbytes=first.nbytes + 4),
        replace(second, start=second.start + 4, nbytes=second.nbytes - 4),
    )
    refuse(replace(plan, parts=moved), (), "in two parts of the arena")
