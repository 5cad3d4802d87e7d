"""Values as C text: numbers, arrays, identifiers, and names that are safe in comments."""

import re
from collections.abc import Iterable

import numpy as np

from toolchain.ir import Array

_LINE = 110
_LONGEST_NAME = 60
# fmt: off
_KEYWORDS = frozenset(
    (
        "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char",
        "class", "const", "continue", "default", "delete", "do", "double", "else", "enum",
        "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
        "int", "long", "mutable", "namespace", "new", "not", "nullptr", "operator", "or", "private",
        "protected", "public", "register", "return", "short", "signed", "sizeof", "static",
        "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid",
        "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor",
    )
)
_TAKEN_FILES = frozenset(
    (
        # of the C library
        "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits",
        "locale", "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool",
        "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "tgmath", "threads",
        "time", "uchar", "wchar", "wctype",
        # of the generated project
        "arm_nn_types", "arm_nnfunctions", "glue", "glue_internal", "harness", "harness_hooks",
        "machine", "main", "onnx2mcu", "runtime", "semihosting", "stack", "startup",
    )
)
# fmt: on


def braces(values: Iterable[int]) -> str:
    """A short initialiser on one line."""
    return "{" + ", ".join(map(str, values)) + "}"


def array_body(values: Array) -> str:
    """The numbers of an array, row-major, wrapped into indented lines."""
    suffix = "U" if values.dtype.kind == "u" else ""
    texts = [f"{v}{suffix}" for v in values.reshape(-1).tolist()]
    if values.dtype == np.int32:  # -2147483648 is not an int literal in C
        texts = ["INT32_MIN" if t == "-2147483648" else t for t in texts]
    width = max(map(len, texts), default=1) + 2
    step = max(1, _LINE // width)
    lines = [", ".join(texts[i : i + step]) for i in range(0, len(texts), step)]
    return ",\n".join(f"    {line}" for line in lines)


def number_lines(values: Iterable[int]) -> str:
    """Numbers in wrapped and indented lines."""
    return array_body(np.asarray(list(values), np.int64))


def c_type(values: Array) -> str:
    """The C element type of an integer array."""
    return f"{values.dtype.name}_t"


def float_literal(value: float) -> str:
    """A float literal that reads back as the same float32."""
    text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
    return f"{text}f"


def identifier(text: str) -> str:
    """A C and C++ identifier made from any text: letters, digits and single underscores.

    A text without any usable character, a leading digit and a keyword get a leading "n_"; what is
    longer than 60 characters is cut.
    """
    cleaned = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()
    cleaned = cleaned[:_LONGEST_NAME].rstrip("_")
    if not cleaned or cleaned[0].isdigit() or cleaned in _KEYWORDS:
        cleaned = f"n_{cleaned}".rstrip("_")
    return cleaned


def file_prefix(text: str) -> str:
    """An identifier whose .h and .c are no file of the project and no header of the C library."""
    name = identifier(text)
    return f"n_{name}" if name in _TAKEN_FILES else name


def unique_identifiers(texts: Iterable[str]) -> list[str]:
    """identifier() of every text, numbered where two would be the same (R29)."""
    taken: set[str] = set()
    result = []
    for text in texts:
        base = name = identifier(text)
        n = 1
        while name in taken:
            n += 1
            name = f"{base}_{n}"
        taken.add(name)
        result.append(name)
    return result


def comment(text: str) -> str:
    """Any text on one line that cannot end a comment, splice lines or form a trigraph."""
    plain = "".join(c if c.isascii() and c.isprintable() else "?" for c in text)
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", plain.replace("\\", "/"))
