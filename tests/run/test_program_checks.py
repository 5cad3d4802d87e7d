"""Each check of the program finds what it is for, and passes what is right."""

import re
import shutil
import subprocess

import pytest

from tests.run import fake_model
from tests.run.conftest import CORES
from toolchain.board import load_board
from toolchain.errors import RunFailed
from toolchain.run import Elf, RunRequest, build, check_programs
from toolchain.run.callgraph import CallGraph
from toolchain.run.program_checks import features_of
from toolchain.run.thumb import Feature, branch_target, decode, feature, is_float_arithmetic

GCC = "arm-none-eabi-gcc"
pytestmark = [
    pytest.mark.emulator,
    pytest.mark.skipif(shutil.which(GCC) is None, reason="no cross compiler"),
]

ASSEMBLY = {
    Feature.BASE: "adds r0, r1, r2|bl 1f|1: dsb|mrs r0, msp|msr msp, r0|nop|udf.w #1|blx r3",
    Feature.MAIN: "add.w r8, r9, r10|mla r0, r1, r2, r3|sdiv r0, r1, r2|smull r0, r1, r2, r3|"
    "smlal r0, r1, r2, r3|umlal r0, r1, r2, r3|sxtb.w r8, r9|uxth.w r8, r9|clz r0, r1|"
    "rev.w r8, r9|rbit r0, r1|ssat r0, #8, r1|usat r0, #7, r1|ssat r0, #8, r1, asr #3|"
    "1: cbz r0, 2f|it eq|moveq.w r8, #1|2: beq.w 1b|b.w 1b|ubfx r0, r1, #2, #3|ldrd r0, r1, [r2]|"
    "tbb [pc, r0]|bfi r0, r1, #2, #3|orr.w r8, r9, r10|mvn.w r8, r9|ldr.w r8, [r9, #400]|"
    "lsl.w r8, r9, r10|mls r0, r1, r2, r3|pld [r0]",
    Feature.DSP: "smlad r0, r1, r2, r3|smuad r0, r1, r2|smlsd r0, r1, r2, r3|sxtb16 r0, r1|"
    "uxtb16 r0, r1, ror #8|sxtab16 r0, r1, r2|sxtab r0, r1, r2|uxtah r0, r1, r2|"
    "pkhbt r0, r1, r2|pkhtb r0, r1, r2, asr #16|qadd r0, r1, r2|qsub16 r0, r1, r2|"
    "sadd8 r0, r1, r2|sel r0, r1, r2|ssat16 r0, #8, r1|usat16 r0, #7, r1|smlabb r0, r1, r2, r3|"
    "smulwb r0, r1, r2|smmla r0, r1, r2, r3|smmul r0, r1, r2|smlald r0, r1, r2, r3|"
    "smlalbb r0, r1, r2, r3|smlsld r0, r1, r2, r3|umaal r0, r1, r2, r3|usada8 r0, r1, r2, r3",
    Feature.FLOAT: "vadd.f32 s0, s1, s2|vldr s0, [r0]|vpush {d8-d15}|vmov s0, r0|vmov.f32 s0, s1|"
    "vcvt.f32.s32 s0, s0|vmrs apsr_nzcv, fpscr|vmov r0, r1, d0|vstmia r0!, {s0-s3}",
    Feature.DOUBLE: "vadd.f64 d0, d1, d2|vcvt.f64.f32 d0, s0|vcvt.f32.f64 s0, d0|"
    "vmul.f64 d0, d1, d2",
    Feature.MVE: "vadd.i8 q0, q1, q2|vldrb.u8 q0, [r0]|vldrb.s16 q0, [r0]|"
    "vstrw.32 q0, [r0], #16|vmladava.s8 r0, q0, q1|vmlaldava.s16 r0, r1, q0, q1|"
    "vqrdmulh.s32 q0, q1, q2|vqrdmulh.s32 q0, q1, r2|vctp.8 r0|vmax.s8 q0, q1, q2|"
    "vldrb.u8 q0, [r0, q1]|1: nop.w|letp lr, 1b|2: nop.w|le lr, 2b|wlstp.8 lr, r0, 3f|"
    "nop.w|3: dls lr, r0|"
    "csel r0, r1, r2, eq|vmov q0[2], q0[0], r0, r1|vaddv.s32 r0, q0|vmvn q0, q1|"
    "vcmp.i8 eq, q0, q1|vpsel q0, q1, q2",
}
"""Instructions of every kind."""


def assemble(text, folder, cpu="cortex-m55", flags=("-mfloat-abi=hard",)):
    source, target = folder / "x.s", folder / "x.elf"
    body = "\n".join(f"    {line}" for line in text.split("|"))
    source.write_text(
        f".syntax unified\n.thumb\n.text\n.type f, %function\nf:\n{body}\n.size f, . - f\n"
    )
    options = [f"-mcpu={cpu}", "-mthumb", *flags, "-nostdlib", "-Wl,-Ttext=0x8000", "-Wl,-ef"]
    subprocess.run([GCC, *options, source, "-o", target], check=True, capture_output=True)
    (piece,) = [p for p in Elf(target).pieces(Elf(target).functions[0]) if p[2]]
    return list(decode(piece[1], piece[0]))


@pytest.mark.parametrize("kind", ASSEMBLY)
def test_features(kind, tmp_path):
    words = assemble(ASSEMBLY[kind], tmp_path)
    texts = [re.sub(r"^\d: ", "", line) for line in ASSEMBLY[kind].split("|")]
    assert len(words) == len(texts)
    found = {text: feature(word) for text, word in zip(texts, words, strict=True)}
    wrong = {t: f for t, f in found.items() if f is not kind and t != "nop.w"}
    assert not wrong


def test_float_arithmetic_is_not_a_move(tmp_path):
    words = assemble(ASSEMBLY[Feature.FLOAT] + "|vmov.f32 s0, #1.0|vsqrt.f32 s0, s1", tmp_path)
    assert [is_float_arithmetic(w) for w in words] == [i in (0, 5, 10) for i in range(len(words))]


@pytest.mark.parametrize("cpu", CORES)
def test_decoder_agrees_with_objdump(built, cpu):
    """Lengths and direct branches of every function that was compiled for a core."""
    _, result = built(CORES[cpu])
    options = ["-d", "-marmv8.1-m.main"] if cpu == "cortex-m55" else ["-d"]
    text = subprocess.run(
        ["arm-none-eabi-objdump", *options, result.emulation], capture_output=True, text=True
    ).stdout
    listed = re.findall(r"^ *([0-9a-f]+):\t([0-9a-f]{4})(?: ([0-9a-f]{4}))? +\t(.*)$", text, re.M)
    theirs = {int(at, 16): (one, two, what) for at, one, two, what in listed}
    seen = 0
    for node in CallGraph(Elf(result.emulation)).nodes.values():
        for word in node.code:
            one, two, what = theirs[word.address]
            assert (word.first, word.second) == (int(one, 16), int(two, 16) if two else -1)
            found = re.match(r"(b|bl|b\w\w)(?:\.[nw])?\t([0-9a-f]+) <", what)
            target = branch_target(word)
            assert (None if target is None else target[0]) == (int(found[2], 16) if found else None)
            assert target is None or target[1] == (found[1] == "bl")
            seen += 1
    assert seen > 300


@pytest.mark.parametrize("cpu", CORES)
def test_sound_program_passes(qemu, cpu, tmp_path):
    """And its bound on the stack is not below what a run takes."""
    board = load_board(CORES[cpu])
    result = build(project_with(tmp_path, board.name, "(void)0;"), board)
    facts = check_programs(result, board, fake_model.MODEL)
    assert facts.inference.path[0] == "kws_run"
    measured = 0
    if cpu != "cortex-m0":
        run = RunRequest(result.emulation, board, fake_model.MODEL, [bytes(16)])
        measured = qemu.run(run).stack_bytes
    assert measured <= facts.inference.bytes <= facts.program.bytes <= 1024


# What is added to a file, on which board; where and what the error says; what it advises.
BROKEN = {
    "dsp": (
        "mps2-an385",
        '__asm__ volatile(".inst.w 0xfb20f100");',  # smuad r1, r0, r0
        "glue_fake", "fb20 f100 needs: DSP extension, which cortex-m3 lacks", "-mcpu",
    ),
    "thumb2": (
        "raspberry-pi-pico",
        '__asm__ volatile(".inst.w 0xfb00f001");',  # mul.w
        "glue_fake", "needs: Armv7-M, which cortex-m0plus lacks", "-mcpu",
    ),
    "mve": (
        "nucleo-u575zi",
        '__asm__ volatile(".inst.w 0xef000840");',  # vadd.i8 q0, q0, q0
        "glue_fake", "needs: Armv8.1-M: MVE or low-overhead loops, which cortex-m33 lacks", "-mcpu",
    ),
    "float": (
        "nucleo-f446re",
        "volatile float f = (float)count; output[0] = (int8_t)(f * 3.0f);",
        "glue_fake", "floating point arithmetic in a function that kws_run comes to", "integer",
    ),
    "soft float": (
        "mps2-an385",
        "volatile float f = (float)count; output[0] = (int8_t)(f * 3.0f);",
        "__aeabi_", "a floating point helper that kws_run comes to call", "integer",
    ),
    "long division": (
        "nucleo-f446re",
        "volatile int64_t wide = count; output[0] = (int8_t)(wide / (int64_t)input[0]);",
        "__aeabi_ldivmod", "a 64-bit division that kws_run comes to call", "32-bit",
    ),
    "data": (
        "mps2-an385",
        "static volatile int32_t counter = 5; counter++;",
        "glue_fake.c", r"variable counter\S* takes 4 bytes of RAM and flash", "const",
    ),
    "state": (
        "mps2-an385",
        "static volatile int32_t counter; counter++;",
        "glue_fake.c", r"variable counter\S* takes 4 bytes of RAM", "const",
    ),
    "recursion": (
        "mps2-an385",
        "volatile int8_t keep = input[0]; "
        "if (count > 99) { "
        "count = glue_fake(input, weights, output, count - 1); return count * keep; }",
        "glue_fake", "glue_fake calls glue_fake: its stack has no bound", "loop",
    ),
    "deep": (
        "mps2-an385",
        "volatile int8_t big[2000]; big[count] = 1;",
        "firmware.elf", r"may take 2\d\d\d bytes, 1024 are reserved: .*> glue_fake", "--stack 2",
    ),
    "alloca": (
        "mps2-an385",
        "volatile int8_t big[count]; big[0] = 1;",
        "glue_fake", "its stack frame has no fixed size", "variable length",
    ),
}  # fmt: skip


def project_with(tmp_path, name, statement):
    project = fake_model.write_project(tmp_path / "p", name)
    path = project / "kernels" / "glue_fake.c"
    text = path.read_text()
    path.write_text(text.replace("int32_t count)\n{\n", f"int32_t count)\n{{\n    {statement}\n"))
    assert statement in path.read_text()
    source = project / "kws.c"  # without its recursion, which is there to overflow the stack
    calm = re.sub(r"(?<=\n    \{\n)        kws_overflow\(here\);\n", "", source.read_text())
    assert calm != source.read_text()
    source.write_text(calm)
    lists = project / "CMakeLists.txt"
    lists.write_text(lists.read_text().replace(" -Werror", ""))
    return project


def refuse(project, name):
    board = load_board(name)
    with pytest.raises(RunFailed) as caught:
        check_programs(build(project, board), board, fake_model.MODEL)
    assert caught.value.exit_code == 1
    assert caught.value.stage == "build"
    return caught.value


@pytest.mark.parametrize("what", BROKEN)
def test_broken_program_is_refused(what, tmp_path):
    name, statement, where, reason, hint = BROKEN[what]
    error = refuse(project_with(tmp_path, name, statement), name)
    assert error.where.startswith(where)
    assert re.search(reason, error.reason)
    assert hint in error.hint


def test_cycle_that_only_a_pointer_closes(tmp_path):
    """What a pointer may point to includes the start-up code, which is called by nobody here."""
    statement = (
        "extern int main(void); int (*volatile any)(void) = main; if (count > 99) { return any(); }"
    )
    board = load_board("mps2-an385")
    result = build(project_with(tmp_path, board.name, statement), board)
    assert check_programs(result, board, fake_model.MODEL).inference.bytes > 0


def test_symbol_without_the_prefix(tmp_path):
    project = project_with(tmp_path, "mps2-an385", "(void)0;")
    with (project / "kws.c").open("a") as stream:
        stream.write("void helper(void);\nvoid helper(void)\n{\n}\n")
    error = refuse(project, "mps2-an385")
    assert error.where == "kws.c"
    assert "external symbol helper does not begin with kws_" in error.reason
    assert "static" in error.hint


@pytest.mark.parametrize(
    ("name", "grain", "symbol", "file"),
    [("mps3-an547", 16, "kws_arena", "kws.c"), ("mps3-an547", 16, "kws_00_w", "kws_weights.c")],
)
def test_alignment(tmp_path, name, grain, symbol, file):
    project = project_with(tmp_path, name, "(void)0;")
    script = project / "firmware" / "board.ld"
    for path in (project / "kws.c", project / "kws_weights.c"):
        text = path.read_text().replace("kws_w[", "kws_00_w[").replace("kws_w,", "kws_00_w,")
        text = text.replace("&kws_w", "&kws_00_w")
        if path.name == file:
            text = text.replace("__attribute__((aligned(16)))", "")
        path.write_text(text)
    rule = "*(.bss .bss.*)" if symbol == "kws_arena" else "*(.rodata .rodata.*)"
    before = f"        {rule}\n        . = ALIGN(4)"
    assert before in script.read_text()
    script.write_text(script.read_text().replace(before, f"        . += 1;\n{before}"))
    error = refuse(project, name)
    assert error.where == symbol
    assert f"load {grain} bytes" in error.reason
    assert f"aligned({grain})" in error.hint


@pytest.mark.parametrize("cpu", CORES)
def test_features_of_boards(cpu):
    have = features_of(load_board(CORES[cpu]))
    assert (Feature.DSP in have) == (cpu in ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"))
    assert (Feature.MVE in have) == (cpu == "cortex-m55")
    assert (Feature.MAIN in have) == (cpu not in ("cortex-m0", "cortex-m0plus"))
