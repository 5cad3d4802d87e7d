"""Names of a model as people read them: on one line, and short enough for a table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolchain.project import Manifest

NAME = 44
"""Letters that are shown of a name of a layer or a tensor."""
_GAP = "\u2026"


class Names:
    """Short forms of the names that one view shows: the same form in all of its tables and lines.

    Args:
        names: All of them; each keeps a form of its own.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._shown = short_names(names)
        changed = (name for name, form in self._shown.items() if form != name)
        self._long = sorted(changed, key=len, reverse=True)

    def of(self, name: str) -> str:
        """The form of a name; one that is not known stays whole."""
        return self._shown.get(name, printable(name))

    def within(self, text: str) -> str:
        """A line of text with the long names in it in their short forms."""
        for name in self._long:
            text = text.replace(name, self._shown[name])
        return printable(text)

    def lines(self, lines: Iterable[str]) -> str:
        """Lines below a table, after an empty one."""
        return "\n" + "\n".join(map(self.within, lines))


def manifest_names(manifest: Manifest) -> Names:
    """Short forms of everything that a project names: layers, steps of its plan, tensors."""
    buffers = (name for b in manifest.buffers for name in (b.name, *b.tensors))
    layers = (layer.name for layer in manifest.layers)
    return Names((*layers, *(step.name for step in manifest.steps), *buffers))


def short_names(names: Iterable[str]) -> dict[str, str]:
    """A form of at most NAME letters for each name, no two alike.

    Converters make names of whole paths: most differ at their ends, so two thirds of what is kept
    are the end. Those that would be alike show more of the beginning, then the place where they
    begin to differ; the last resort is a number.
    """
    whole = {name: printable(name) for name in names}
    shown = {name: text for name, text in whole.items() if len(text) <= NAME}
    left = {name: text for name, text in whole.items() if name not in shown}
    for cut in (_ends, _beginnings, _differences):
        forms = cut(left)
        count = Counter(forms.values()) + Counter(set(shown.values()))
        shown |= {name: form for name, form in forms.items() if count[form] == 1}
        left = {name: text for name, text in left.items() if name not in shown}
    taken = set(shown.values())
    for name, text in left.items():
        shown[name] = next(form for form in _numbered(text) if form not in taken)
        taken.add(shown[name])
    return {name: shown[name] for name in whole}


def middle(name: str, letters: int, head: int | None = None) -> str:
    """A name of at most so many letters: the middle of a longer one is left out.

    Args:
        name: The name.
        letters: How many, at least 2.
        head: How many of them from the beginning; None: a third.
    """
    if len(name) <= letters:
        return name
    kept = letters - len(_GAP)
    head = kept // 3 if head is None else head
    return f"{name[:head]}{_GAP}{name[len(name) - (kept - head) :]}"


def printable(text: str) -> str:
    """A name of a model on one line, without anything that would steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _ends(names: Mapping[str, str]) -> dict[str, str]:
    return {name: middle(text, NAME) for name, text in names.items()}


def _beginnings(names: Mapping[str, str]) -> dict[str, str]:
    return {name: middle(text, NAME, 2 * NAME // 3) for name, text in names.items()}


def _differences(names: Mapping[str, str]) -> dict[str, str]:
    """The beginning, and from the letter on in which names of one beginning and end part."""
    groups: dict[str, list[str]] = {}
    for text in names.values():
        groups.setdefault(middle(text, NAME), []).append(text)
    forms = {}
    for name, text in names.items():
        start = _shared(groups[middle(text, NAME)])
        head = NAME // 3
        tail = text[start : start + NAME - head - 2 * len(_GAP)]
        forms[name] = f"{text[:head]}{_GAP}{tail}{_GAP}"
    return forms


def _shared(texts: Sequence[str]) -> int:
    """With how many equal letters all begin."""
    columns = zip(*texts, strict=False)
    return next((i for i, column in enumerate(columns) if len(set(column)) > 1), len(texts[0]))


def _numbered(text: str) -> Iterator[str]:
    number = 1
    while True:
        mark = f" #{number}"
        yield middle(text, NAME - len(mark)) + mark
        number += 1
