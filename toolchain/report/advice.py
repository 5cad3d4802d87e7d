"""What limits the arena, and what would lower it, in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from toolchain.plan import Buffer
from toolchain.plan.lifetimes import live_bytes
from toolchain.project import Manifest
from toolchain.report.picture import peak_step

WAYS = 3
_WORTH = 0.02
"""Changes that save less than this share of the peak are not mentioned."""
_SAME_RESULTS, _ONE_LAYER, _ALL_LAYERS = range(3)


@dataclass(frozen=True, slots=True)
class Advice:
    """Sentences for the reader of a report.

    Args:
        limit: What lies in the arena at the step with the most bytes.
        ways: At most WAYS changes that lower it, the cheapest first: those that keep the results,
            those to one layer, those to all; of equal ones those that save most.
    """

    limit: str
    ways: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    text: str
    saved: int
    cost: int
    unless: str = ""


def advise(manifest: Manifest) -> Advice:
    """Read the arena of a converted model.

    Args:
        manifest: Its buffers and steps.
    """
    if not manifest.steps:
        return Advice("the model has no operators", ())
    peak = peak_step(manifest)
    buffers = tuple(
        Buffer(b.name, b.nbytes, b.first, b.last, b.tensors, b.over) for b in manifest.buffers
    )
    alive = sorted(
        (b for b in buffers if b.first <= peak <= b.last), key=lambda b: (-b.nbytes, b.name)
    )
    parts = [_part(b, peak, manifest) for b in alive]
    need, exact = manifest.steps[peak].nbytes, live_bytes(buffers, len(manifest.steps), 1)[peak]
    if need > exact:
        parts.append(f"{need - exact:,} of alignment")
    shared = sum(b.nbytes for b in alive) - exact
    limit = f"{need:,} bytes at {manifest.steps[peak].name}: {_enumerated(parts)}"
    if shared:
        limit += f"; {shared:,} bytes serve twice, for an input and the output over it"
    found = _ways(manifest, buffers, alive, sharing=shared > 0)
    ways = [way for way in found if way.saved > _WORTH * need]
    ways.sort(key=lambda way: (way.cost, -way.saved))
    return Advice(
        limit,
        tuple(f"{w.text}: about {w.saved:,} bytes less{w.unless}" for w in ways[:WAYS]),
    )


def _part(buffer: Buffer, peak: int, manifest: Manifest) -> str:
    """What a buffer is to the peak step."""
    if buffer.is_scratch:
        rows = manifest.steps[buffer.first].rows
        what = f"rows of {rows} layers" if rows else "scratch memory"
        return f"{buffer.nbytes:,} of {what}"
    if buffer.first == peak and buffer.name not in _ports(manifest):
        role = "output"
    elif buffer.last == peak:
        role = "last read here:"
    else:
        role = f"kept until {manifest.steps[buffer.last].name}:"
    return f"{buffer.nbytes:,} {role} {buffer.name}"


def _ports(manifest: Manifest) -> set[str]:
    return {port.name for port in manifest.firmware.inputs}


def _enumerated(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _ways(
    manifest: Manifest, buffers: tuple[Buffer, ...], alive: Sequence[Buffer], *, sharing: bool
) -> Iterator[_Way]:
    """Changes, each with what it saves while all else stays.

    Portable kernels let an output share less with its input than others: they are no advice where
    the peak is as low as it is by `sharing`.
    """
    inputs = _ports(manifest)
    kernels = {b: 0 for b in buffers if b.is_scratch and not manifest.steps[b.first].rows}
    if kernels.keys() & set(alive) and not sharing:
        text = "kernels without scratch memory in all layers (--kernels portable)"
        saved = _saved(manifest, buffers, kernels)
        yield _Way(text, saved, _SAME_RESULTS, ", unless outputs share less with inputs")
    for b in alive:
        if not b.is_scratch and b.name not in inputs:
            text = f"a quarter fewer channels in {manifest.steps[b.first].name}"
            yield _Way(text, _saved(manifest, buffers, {b: _less(b)}), _ONE_LAYER)
    layers = {b: _less(b) for b in buffers if not b.is_scratch and b.name not in inputs}
    text = "a quarter fewer channels in all layers"
    yield _Way(text, _saved(manifest, buffers, layers), _ALL_LAYERS)
    tensors = {b: _less(b) for b in buffers if not b.is_scratch}
    text = "an input with a quarter fewer pixels or time steps, and all that follows from it"
    yield _Way(text, _saved(manifest, buffers, tensors), _ALL_LAYERS)


def _distance(y: Buffer, x: Buffer, distance: int, sizes: Mapping[Buffer, int]) -> int:
    """About what the distance of an output to an input becomes when they have other sizes.

    An output that is larger than its input must begin before it by what it grows; else the
    distance is some rows of the output.
    """
    new_y, new_x = sizes.get(y, y.nbytes), sizes.get(x, x.nbytes)
    if y.nbytes > x.nbytes:
        return max(distance + (new_y - y.nbytes) - (new_x - x.nbytes), 0)
    return distance * new_y // y.nbytes


def _less(buffer: Buffer) -> int:
    return buffer.nbytes - buffer.nbytes // 4


def _saved(manifest: Manifest, buffers: tuple[Buffer, ...], sizes: Mapping[Buffer, int]) -> int:
    """Bytes by which the most that a step needs falls when buffers have other sizes."""
    steps = len(manifest.steps)
    tensors = {b.name: b for b in buffers if not b.is_scratch}
    changed = tuple(
        replace(
            b,
            nbytes=sizes.get(b, b.nbytes),
            over=tuple((x, _distance(b, tensors[x], d, sizes)) for x, d in b.over),
        )
        for b in buffers
    )
    before, after = live_bytes(buffers, steps, 1), live_bytes(changed, steps, 1)
    least = max(
        step.nbytes - (old - new)
        for step, old, new in zip(manifest.steps, before, after, strict=True)
    )
    return max(step.nbytes for step in manifest.steps) - least
