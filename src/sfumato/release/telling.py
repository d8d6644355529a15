"""Sensitive labels that tell quasi-identifiers: `flu|34|Male` takes a class of forty people apart.

A label is cut into fields, at signs that part fields, and into words. A field that is a value or a group of a
quasi-identifier tells it. A word may be there by chance, as in `stage 2` or `cancer, female`, so words count only if
they tell in the labels of most rows. Numbers, dates and codes are in labels for reasons of their own, as in `20-30` or
`<=50`, so in words one counts only beside the name of its column or beside a value of another one. What is told must be
true of most rows with the label, and finer than the class of some.

In a wide class anything can be true, so labels must also be put together as a code is: whoever adds quasi-identifiers
to diseases has flu with this and that, and a cold with this and that. `private insurance` and `public insurance` are
no code, nor are `1|agree` and `2|disagree`. A secret code in a label is beyond what anybody can find.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.release.content import Content
from sfumato.schema import Axis, CategoricalAxis, CodeAxis, DateAxis, NumericAxis, Span

FIELDS = re.compile(r"[|;\x00-\x1f]")
"""What parts fields, and hardly ever words."""
WORDS = re.compile(r"[\W_]+")
MAX_WORDS = 4
"""Words in a row that are taken for one value."""
MOST = 0.5
"""The share of rows of which a label must be true, and in which words must tell."""


class Told(NamedTuple):
    """A part of a sensitive label that is a value or a group of a quasi-identifier."""

    part: str
    axis: int
    span: Span


def telling_labels(release: Content) -> list[str]:
    """A description of each published sensitive label that tells quasi-identifiers."""
    sensitive, rows = release.schema.sensitive, release.histograms.sum(axis=0)
    if sensitive.spaced:
        return []
    spans_of = [_spans(axis) for axis in release.schema.quasi]
    surely, maybe = {}, {}
    for value in np.flatnonzero(rows[: sensitive.size] > 0).tolist():
        if fields := _true(release, value, _find(_cut(sensitive.labels[value], FIELDS), release, spans_of)):
            surely[value] = fields
        elif words := _in_words(release, value, spans_of):
            maybe[value] = words
    told = surely | (maybe if rows[list(maybe)].sum() > MOST * rows.sum() else {})
    if not _is_code({sensitive.labels[value]: parts for value, parts in told.items()}):
        return []
    return [
        _describe(release, value, parts)
        for value, parts in told.items()
        if any(_finer(release, value, part) for part in parts)
    ]


def _is_code(told: dict[str, list[Told]]) -> bool:
    """Whether at least two rests of labels, numbers aside, stand beside different things that are told."""
    beside: dict[str, set[str]] = {}
    for label, parts in told.items():
        known = {word for one in parts for word in _spell(one.part).split()}
        rest = " ".join(word for word in _spell(label).split() if word not in known and not word.isdigit())
        if rest:
            beside.setdefault(rest, set()).add(" ".join(sorted(known)))
    return sum(len(things) > 1 for things in beside.values()) > 1


def _in_words(release: Content, value: int, spans_of: list[dict[str, Span]]) -> list[Told]:
    """What the words of a label tell, but for numbers that stand alone."""
    words = _cut(release.schema.sensitive.labels[value], WORDS)
    told, quasi = _true(release, value, _find(_runs(words), release, spans_of)), release.schema.quasi
    named = {_spell(quasi[part.axis].name) for part in told} & set(map(_spell, words))
    alone = not any(isinstance(quasi[part.axis], CategoricalAxis) for part in told) and not named
    return [] if alone else told


def _describe(release: Content, value: int, told: list[Told]) -> str:
    parts = " and ".join(f"{part!r} of {release.schema.quasi[axis].name!r}" for part, axis, _ in told)
    return f"{release.schema.sensitive.labels[value]!r} with {parts}"


def _cut(label: str, sign: re.Pattern[str]) -> list[str]:
    """The parts of a label that has several."""
    parts = [part.strip(" []()") for part in sign.split(label)]
    parts = [part for part in parts if part]
    return parts if len(parts) > 1 else []


def _runs(words: list[str]) -> Iterator[str]:
    """One or more words in a row, the longest first, but never all of them."""
    for length in range(min(MAX_WORDS, len(words) - 1), 0, -1):
        yield from (" ".join(words[start : start + length]) for start in range(len(words) - length + 1))


def _spell(text: str) -> str:
    """A label without case and punctuation."""
    return " ".join(WORDS.split(text)).strip().casefold()


def _spans(axis: Axis) -> dict[str, Span]:
    """The values and groups of a categorical axis by their spelling."""
    if not isinstance(axis, CategoricalAxis):
        return {}
    spans = {_spell(node.label): Span(node.lo, node.hi, False) for node in axis.tree.walk()}
    return {spelled: span for spelled, span in spans.items() if spelled and span != axis.everything}


def _find(parts: Iterable[str], release: Content, spans_of: list[dict[str, Span]]) -> list[Told]:
    """The first part that is a value or a group of each axis, if there is one."""
    known, found = list(parts), []
    for number, (axis, spans) in enumerate(zip(release.schema.quasi, spans_of, strict=True)):
        values = ((part, spans.get(_spell(part)) or _number(part, axis)) for part in known)
        found += [Told(part, number, span) for part, span in values if span][:1]
    return found


def _number(part: str, axis: Axis) -> Span | None:
    if isinstance(axis, DateAxis | CodeAxis):
        with suppress(DataError):
            return span if (span := axis.parse(part)) != axis.everything else None
    if not isinstance(axis, NumericAxis) or not re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", part):
        return None
    code = int(axis.encode([float(part)])[0])
    return Span(code, code, False) if code >= 0 else None


def _true(release: Content, value: int, told: list[Told]) -> list[Told]:
    """What is told and can be true of most rows with the value."""
    rows = release.histograms[:, value]
    return [one for one in told if rows[_meets(release, one)].sum() > MOST * rows.sum()]


def _finer(release: Content, value: int, told: Told) -> bool:
    """Whether what is told is finer than the class of some rows with the value."""
    lo, hi = release.boxes.lo[:, told.axis], release.boxes.hi[:, told.axis]
    beyond = (lo < told.span.lo) | (hi > told.span.hi) | release.boxes.missing[:, told.axis]
    return bool(release.histograms[_meets(release, told) & _any_box(release, beyond), value].sum() > 0)


def _meets(release: Content, told: Told) -> NDArray[np.bool_]:
    """The groups in which what is told can be true."""
    lo, hi = release.boxes.lo[:, told.axis], release.boxes.hi[:, told.axis]
    return _any_box(release, (lo <= told.span.hi) & (hi >= told.span.lo))


def _any_box(release: Content, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which groups have one of the chosen boxes."""
    return np.asarray(np.bincount(release.group_of, chosen, len(release.histograms)) > 0)
