"""Tables of answers: one for every combination of groups of some columns.

A group is a value of its column; `column:N` groups numbers into ranges N wide, which begin at multiples of N, and
categories as they are N levels up their taxonomy; `column:^N` goes up the taxonomy of numbers. The missing value, where
there can be one, is a group of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from sfumato.errors import QueryError, quote
from sfumato.release.answer import Answer
from sfumato.release.labels import unused_names
from sfumato.release.query import Query
from sfumato.schema import Axis, Schema, Span
from sfumato.schema.alternatives import Alternatives
from sfumato.schema.codes import Codes
from sfumato.schema.numeric import NumericAxis
from sfumato.schema.taxonomy import Node

MAX_GROUPS = 10_000
FIGURES = ("estimate", "low", "high")


@dataclass(frozen=True)
class Grouping:
    """A column and its groups, which part its values."""

    axis: Axis
    spans: tuple[Span, ...]

    @property
    def labels(self) -> list[str]:
        """How each group is published."""
        return [self.axis.label(span) for span in self.spans]

    def rows(self, number: int) -> Alternatives:
        """Everybody in a group."""
        return Alternatives.of(self.axis, Codes.of([self.spans[number]]))


def parse_grouping(text: str, schema: Schema) -> Grouping:
    """The column and the groups that a text such as `age:10` names."""
    known = {axis.name: axis for axis in schema.axes}
    name, colon, size = (text, "", "") if text in known else text.rpartition(":")
    if name not in known:
        raise QueryError(f"there is no column {text!r} to group by; expected one of {', '.join(map(repr, known))}")
    axis = known[name]
    bounds = _values(axis) if not colon else _bounds(axis, text, size.strip())
    spans = [Span(lo, hi, False) for lo, hi in bounds]
    return Grouping(axis, (*spans, Span(0, -1, True)) if axis.nullable else tuple(spans))


def _values(axis: Axis) -> list[tuple[int, int]]:
    if axis.size > MAX_GROUPS:
        hint = f"give a width, such as {axis.name}:10" if isinstance(axis, NumericAxis) else "group by another column"
        raise QueryError(f"{axis.name!r} has {axis.size:,} values, more than {MAX_GROUPS:,} groups; {hint}")
    return [(code, code) for code in range(axis.size)]


def _bounds(axis: Axis, text: str, size: str) -> list[tuple[int, int]]:
    if isinstance(axis, NumericAxis) and not size.startswith("^"):
        return _ranges(axis, text, size)
    height = size.removeprefix("^")
    if not height.isascii() or not height.isdigit() or not 0 < int(height) < max(axis.taxonomy.height, 1):
        most = axis.taxonomy.height - 1
        expected = f"{axis.name}:1 to {axis.name}:{most}" if most > 0 else f"{axis.name}, whose taxonomy has no levels"
        raise QueryError(f"{text!r} goes up the taxonomy by no such number of levels; expected {expected}")
    if isinstance(axis, NumericAxis) and axis.tree is None:
        raise QueryError(f"{text!r}: {axis.name!r} has no taxonomy; expected a width, such as {axis.name}:10")
    return [(node.lo, node.hi) for node in _nodes(axis.taxonomy, int(height))]


def _nodes(node: Node, height: int) -> list[Node]:
    """The nodes at most so many levels above the leaves, the highest ones."""
    return [node] if node.height <= height else [one for child in node.children for one in _nodes(child, height)]


def _ranges(axis: NumericAxis, text: str, size: str) -> list[tuple[int, int]]:
    """Ranges of a width that begin at its multiples; a bin belongs where its lower edge does."""
    try:
        width = float(size)
    except ValueError:
        width = math.nan
    if not (
        math.isfinite(width)
        and width > 0
        and math.isfinite(max(map(abs, axis.worths(np.array([0, axis.size - 1]))[1])) / width)
    ):
        raise QueryError(f"{text!r} has no width; expected a number above 0, such as {axis.name}:10")
    first, last = math.floor(axis.value(0) / width), math.floor(axis.value(axis.size - 1) / width)
    if last - first >= MAX_GROUPS:
        raise QueryError(f"{text!r} makes {last - first + 1:,} groups; expected at most {MAX_GROUPS:,}")
    starts = [axis.codes_below(number * width, inclusive=False) for number in range(first, last + 2)]
    bounds = zip(starts, [*starts[1:-1], axis.size], strict=False)
    return [(lo, end - 1) for lo, end in bounds if lo < end]


def table_of(by: Sequence[str], schema: Schema, where: Query, ask: Callable[[Query], Answer]) -> Marginal:
    """An answer for every combination of groups."""
    if not by:
        raise QueryError("there is no column to group by")
    groupings = [parse_grouping(text, schema) for text in by]
    names = [grouping.axis.name for grouping in groupings]
    if len(set(names)) < len(names):
        raise QueryError(f"a column to group by is given twice: {', '.join(names)}")
    groups = math.prod(len(grouping.spans) for grouping in groupings)
    if groups > MAX_GROUPS:
        raise QueryError(
            f"{', '.join(by)} make {groups:,} groups; expected at most {MAX_GROUPS:,}: group by fewer columns, or by "
            "wider ranges (age:10) or higher levels (education:1)"
        )
    cells = list(product(*(range(len(grouping.spans)) for grouping in groupings)))
    answers = []
    for cell in cells:
        rows = where.rows
        for grouping, number in zip(groupings, cell, strict=True):
            rows = rows & grouping.rows(number)
        answers.append(ask(Query(rows=rows)))
    return Marginal(tuple(groupings), np.array(cells), tuple(answers))


@dataclass(frozen=True, eq=False)
class Marginal:
    """Answers by groups: of which group of each column each is about, (answers, columns)."""

    groupings: tuple[Grouping, ...]
    cells: np.ndarray
    answers: tuple[Answer, ...]

    @property
    def labels(self) -> dict[str, list[str]]:
        """The label of each answer's group, by column."""
        found = {}
        for grouping, numbers in zip(self.groupings, self.cells.T, strict=True):
            labels = grouping.labels
            found[grouping.axis.name] = [labels[number] for number in numbers]
        return found

    def frame(self) -> pl.DataFrame:
        """A line for every combination of groups: an estimate and, where they hold the truth, its bounds.

        Estimates of one table add up as far as they are sums, so they have more digits than mean something.
        """
        names = unused_names(FIGURES, [grouping.axis for grouping in self.groupings])
        figures = [
            (_digits(one.estimate), *((_digits(one.low), _digits(one.high)) if one.hold else (None, None)))
            for one in self.answers
        ]
        columns = {name: list(column) for name, column in zip(names, zip(*figures, strict=True), strict=True)}
        kinds = dict.fromkeys(self.labels, pl.String) | dict.fromkeys(names, pl.Float64)
        return pl.DataFrame({**self.labels, **columns}, schema=kinds)


def _digits(number: float) -> float | None:
    return None if not math.isfinite(number) else float(f"{number:.9g}")


def parse_by(text: str) -> list[str]:
    """The parts of a list such as `sex,age:10`."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise QueryError(f"{quote(text)} names no column between two commas; expected such as sex,age:10")
    return parts
