"""Sensitive labels that tell quasi-identifiers: `flu|34|Male` takes a class of forty people apart.

A label is cut into fields, at signs that part fields, and into words. It tells a quasi-identifier if a field is one of
its values or groups, or if its words hold values of two of them, or a value beside the name of its column; one value
alone may be there by chance, as in `stage 2`. Only what is finer than the class counts, and only if it is true of most
rows with the label. A secret code in a label is beyond what anybody can find.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.release.content import Content
from sfumato.schema import Axis, CategoricalAxis, NumericAxis, Span

FIELDS = re.compile(r"[|;=\x00-\x1f]|(?<!\d)[,:/]|[,:/](?!\d)")
"""What parts fields. A comma, colon or slash between digits belongs to a number, a time or a share."""
WORDS = re.compile(r"[\W_]+")
MAX_WORDS = 4
"""Words in a row that are taken for one value."""
MOST = 0.5
"""The share of rows of which a label must be true."""


class Told(NamedTuple):
    """A part of a sensitive label that is a value or a group of a quasi-identifier."""

    part: str
    axis: int
    span: Span


def telling_labels(release: Content) -> list[str]:
    """A description of each published sensitive label that tells quasi-identifiers."""
    sensitive = release.schema.sensitive
    if not isinstance(sensitive, CategoricalAxis):
        return []
    axes, spans_of = release.schema.quasi, [_spans(axis) for axis in release.schema.quasi]
    found = []
    for value in np.flatnonzero(release.histograms.sum(axis=0)[: sensitive.size] > 0):
        label = sensitive.labels[value]
        fields, words = _cut(label, FIELDS), _cut(label, WORDS)
        told = [told for told in _find(fields, axes, spans_of) if _narrows(release, int(value), told)]
        if not told:
            told = [told for told in _find(_runs(words), axes, spans_of) if _narrows(release, int(value), told)]
            named = {_spell(axis.name) for axis in axes} & set(map(_spell, words))
            told = told if len(told) > 1 or named & {_spell(axes[one.axis].name) for one in told} else []
        if told:
            parts = " and ".join(f"{part!r} of {axes[axis].name!r}" for part, axis, _ in told)
            found.append(f"{label!r} with {parts}")
    return found


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


def _find(parts: Iterable[str], axes: tuple[Axis, ...], spans_of: list[dict[str, Span]]) -> list[Told]:
    """The first part that is a value or a group of each axis, if there is one."""
    known, found = list(parts), []
    for number, (axis, spans) in enumerate(zip(axes, spans_of, strict=True)):
        values = ((part, spans.get(_spell(part)) or _number(part, axis)) for part in known)
        found += [Told(part, number, span) for part, span in values if span][:1]
    return found


def _number(part: str, axis: Axis) -> Span | None:
    if not isinstance(axis, NumericAxis) or not re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", part):
        return None
    code = int(axis.encode([float(part)])[0])
    return Span(code, code, False) if code >= 0 else None


def _narrows(release: Content, value: int, told: Told) -> bool:
    """Whether what is told is true of most rows with the value, and finer than the class of some of them."""
    lo, hi = release.boxes.lo[:, told.axis], release.boxes.hi[:, told.axis]
    meets = _any_box(release, (lo <= told.span.hi) & (hi >= told.span.lo))
    beyond = (lo < told.span.lo) | (hi > told.span.hi) | release.boxes.missing[:, told.axis]
    rows = release.histograms[:, value]
    return bool(rows[meets].sum() > MOST * rows.sum() and rows[meets & _any_box(release, beyond)].sum() > 0)


def _any_box(release: Content, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which groups have one of the chosen boxes."""
    return np.asarray(np.bincount(release.group_of, chosen, len(release.histograms)) > 0)
