"""Random taxonomies, axes, schemas, raw rows and tables, each together with what it should turn into.

Every case carries its own truth (the raw spellings of each code, the codes of each row), made while drawing and
without the program's help, so that a test can compare the two.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import polars as pl
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.schema import Axis, Schema

Tree = dict[str, Any] | list[str]
Row = tuple[int, ...]

LETTERS = "abcdXYZ01279 ,;{}\"()[]<>=-+.*\\/|'éß漢😀"
RESERVED = {"*", "(missing)", "(present)"}


def is_plain(label: str) -> bool:
    """Whether a label can name a value without a second reading."""
    wrapped = label.startswith("{") and label.endswith("}")
    return bool(label) and label == label.strip() and label not in RESERVED and not wrapped


def one_spelling(label: str) -> str:
    """Whole numbers are the same with and without an empty fraction."""
    head, _, tail = label.partition(".")
    return head if head.removeprefix("-").isdigit() and not tail.strip("0") else label


SIGNS = "".join(letter for letter in LETTERS if not letter.isalnum())
short_labels = st.text("abcdefgh", min_size=1, max_size=3)
odd_labels = st.text(LETTERS, min_size=1, max_size=6).filter(is_plain).map(one_spelling)
signs = st.text(SIGNS, max_size=2)
one_word = st.tuples(signs, st.text("abcdXYZ01279éß漢", min_size=1, max_size=3), signs).map("".join)
one_word_labels = one_word.filter(is_plain).map(one_spelling)
"""Labels without parts that could tell a quasi-identifier, which releases are refused for."""
any_labels = st.one_of(short_labels, odd_labels)
secret_labels = st.one_of(short_labels, one_word_labels)


def label_lists(least: int, most: int, labels: st.SearchStrategy[str] = any_labels) -> st.SearchStrategy[list[str]]:
    """Different labels, plain or full of punctuation."""
    return st.lists(labels, min_size=least, max_size=most, unique=True)


@st.composite
def trees_over(draw: st.DrawFn, leaves: list[str], inner: list[str]) -> Tree:
    """A ragged taxonomy whose leaves in tree order are `leaves`; inner labels are taken off `inner`."""
    if len(leaves) < 2 or len(inner) < 2 or draw(st.booleans()):
        return list(leaves)
    cuts = draw(st.sets(st.integers(1, len(leaves) - 1), min_size=1, max_size=3))
    ends = [0, *sorted(cuts), len(leaves)]
    tree: dict[str, Any] = {}
    for start, end in itertools.pairwise(ends):
        part = leaves[start:end]
        if not inner or (len(part) == 1 and draw(st.booleans())):
            tree.update({leaf: [] for leaf in part})
        else:
            label = inner.pop()
            tree[label] = draw(trees_over(part, inner))
    return tree


@st.composite
def taxonomies(
    draw: st.DrawFn, least: int = 1, most: int = 8, labels: st.SearchStrategy[str] = any_labels
) -> tuple[Tree, list[str]]:
    """A ragged taxonomy as a schema nests it, and its leaves in tree order."""
    leaves = draw(label_lists(least, most, labels))
    inner = [f"group {i}" if i % 2 else f"{leaves[0]}, and; so {{on}} {i}" for i in range(8)]
    return draw(trees_over(leaves, inner)), leaves


@dataclass(frozen=True)
class AxisCase:
    """A column of a schema, and for each code the raw texts that mean it."""

    name: str
    spec: dict[str, Any]
    raw: tuple[tuple[str, ...], ...]
    groups: Tree | None = None
    """The tree over codes and dates, which their spec does not say."""

    @property
    def size(self) -> int:
        return len(self.raw)

    @property
    def spaced(self) -> bool:
        """Whether values lie on a line."""
        return self.spec["kind"] in ("numeric", "date")

    @property
    def tree(self) -> Tree | None:
        """The nested groups of its values, if anything says how they are grouped."""
        flat = None if self.spaced else [texts[0] for texts in self.raw]
        return self.groups or self.spec.get("taxonomy", flat)

    @property
    def nullable(self) -> bool:
        return bool(self.spec.get("nullable", False))

    @property
    def positions(self) -> int:
        return self.size + self.nullable

    @property
    def codes(self) -> range:
        """All codes, the missing one (-1) first where there is one."""
        return range(-1 if self.nullable else 0, self.size)

    def axis(self) -> Axis:
        """The axis that the program makes of the declaration."""
        filler = {"kind": "categorical", "values": ["yes", "no"]}
        columns = {self.name: {"role": "quasi", **self.spec}, "other": {"role": "sensitive", **filler}}
        return Schema.parse({"columns": columns}).quasi[0]


def spelled(number: float) -> tuple[str, ...]:
    """The texts by which a data file may mean a number."""
    text = format(round(number, 9), ".12g")
    return (text, f" {text} ", f"{text}.0") if text.lstrip("-").isdigit() else (text, f"{text}00")


@st.composite
def grids(draw: st.DrawFn, most: int = 9, name: str = "x") -> AxisCase:
    """A numeric grid, with a taxonomy of its own or without."""
    size = draw(st.integers(1, most))
    step = draw(st.sampled_from([1, 1, 2, 5, 0.5, 0.25, 0.1, 10]))
    minimum = draw(st.sampled_from([0, 17, -3, 1990, 0.5, -0.1]))
    numbers = [round(minimum + step * i, 9) for i in range(size)]
    spec: dict[str, Any] = {"kind": "numeric", "min": minimum, "max": numbers[-1], "step": step}
    if draw(st.booleans()):
        inner = [f"band {i}" for i in range(8)]
        spec["taxonomy"] = draw(trees_over([spelled(number)[0] for number in numbers], inner))
    return AxisCase(name, spec, tuple(map(spelled, numbers)))


@st.composite
def bins(draw: st.DrawFn, most: int = 9, name: str = "x") -> AxisCase:
    """A numeric axis of bins; a raw value may lie anywhere inside its bin."""
    scale = draw(st.sampled_from([1, 10, 1000, 0.5]))
    marks = draw(st.lists(st.integers(-20, 60), min_size=2, max_size=most + 1, unique=True).map(sorted))
    edges = [mark * scale for mark in marks]
    raw = tuple((*spelled(low), *spelled(low + (high - low) / 4)[:1]) for low, high in itertools.pairwise(edges))
    return AxisCase(name, {"kind": "numeric", "edges": edges}, raw)


@st.composite
def categories(
    draw: st.DrawFn, least: int = 1, most: int = 8, name: str = "x", labels: st.SearchStrategy[str] = any_labels
) -> AxisCase:
    """A categorical axis: plain values, or a ragged taxonomy."""
    tree, leaves = draw(taxonomies(least, most, labels))
    flat = isinstance(tree, list)
    spec = {"kind": "categorical", ("values" if flat and draw(st.booleans()) else "taxonomy"): tree}
    return AxisCase(name, spec, tuple((leaf, f" {leaf}") for leaf in leaves))


@st.composite
def dates(draw: st.DrawFn, most: int = 9, name: str = "x") -> AxisCase:
    """Days around the end of a leap February, or months around the turn of a year."""
    size = draw(st.integers(1, most))
    if draw(st.booleans()):
        days = [date(2024, 2, 24) + timedelta(number) for number in range(size)]
        raw = tuple((day.isoformat(), f"{day.isoformat()} 12:30:00", f"{day:%d.%m.%Y}") for day in days)
        spec = {"kind": "date", "min": days[0].isoformat(), "max": days[-1].isoformat(), "format": "%d.%m.%Y"}
        months = {month: [day.isoformat() for day in days if day.month == month] for month in (2, 3)}
        quarter = {str(month): inside for month, inside in months.items() if inside}
        return AxisCase(name, spec, raw, {"2024": {"2024-Q1": quarter}})
    months = [f"{2023 + (9 + number) // 12}-{(9 + number) % 12 + 1:02d}" for number in range(size)]
    spec = {"kind": "date", "min": months[0], "max": months[-1], "unit": "month"}
    years = {"2023": {"2023-Q4": months[:3]}}
    if size > 3:
        years["2024"] = {f"2024-Q{n + 1}": months[3 + 3 * n : 6 + 3 * n] for n in range((size - 1) // 3)}
    return AxisCase(name, spec, tuple((month, f"{month}-17") for month in months), years)


def nested(codes: list[str], length: int, longest: int) -> Tree:
    """Codes by their beginnings of every length but the longest."""
    if length == longest:
        return codes
    groups = itertools.groupby(codes, key=lambda code: code[:length])
    return {beginning: nested(list(inside), length + 1, longest) for beginning, inside in groups}


@st.composite
def codes(draw: st.DrawFn, most: int = 9, name: str = "x") -> AxisCase:
    """A list of codes of different lengths, or all that a pattern spells; sorted texts are in natural order here."""
    if draw(st.booleans()):
        listed = sorted(draw(st.sets(st.text("AB", min_size=1, max_size=3), min_size=1, max_size=most)))
        raw = tuple((code, f" {code}") for code in listed)
        return AxisCase(name, {"kind": "code", "values": listed}, raw, nested(listed, 1, max(map(len, listed))))
    last = draw(st.integers(0, max(most // 2 - 1, 0)))
    spelled = tuple((f"{letter}{digit}",) for letter in "AB" for digit in range(last + 1))
    tree = nested([code for (code,) in spelled], 1, 2)
    return AxisCase(name, {"kind": "code", "pattern": f"[AB][0-{last}]"}, spelled, tree)


@st.composite
def open_ends(draw: st.DrawFn, name: str = "x") -> AxisCase:
    """A grid or bins whose ends stand for all beyond."""
    if draw(st.booleans()):
        return AxisCase(
            name, {"kind": "numeric", "bottom": 3, "top": 5}, (("3", "-7"), ("4", "4.0"), ("5", "5.5", "90"))
        )
    spec = {"kind": "numeric", "edges": [0, 10], "bottom": 0, "top": 20}
    return AxisCase(name, spec, (("-1", "-0.5"), ("0", "9.9"), ("10", "19"), ("20", "1000")))


truths = st.just(AxisCase("x", {"kind": "boolean"}, (("false", "no", "0"), ("true", "Yes", "1.0"))))


@st.composite
def axes(draw: st.DrawFn, most: int = 9, name: str = "x") -> AxisCase:
    """Any axis, nullable or not."""
    plain = st.one_of(grids(most, name), bins(most, name), categories(1, most, name))
    case = draw(plain | st.one_of(dates(most, name), codes(most, name), open_ends(name), truths))
    case = replace(case, name=name)
    nullable = {"nullable": True} if draw(st.booleans()) else {}
    return replace(case, spec={**case.spec, **nullable})


@st.composite
def sensitive_axes(draw: st.DrawFn, most: int = 5, name: str = "secret") -> AxisCase:
    """An axis with at least two positions."""
    kinds = st.one_of(
        categories(2, most, name, secret_labels),
        grids(most, name).filter(lambda case: case.size > 1),
        st.one_of(dates(most, name), codes(most, name)).filter(lambda case: case.size > 1),
    )
    case = draw(kinds)
    nullable = {"nullable": True} if draw(st.booleans()) else {}
    return replace(case, spec={**case.spec, **nullable})


@dataclass(frozen=True)
class SchemaCase:
    """A schema as a file spells it, with the truth about its axes."""

    quasi: tuple[AxisCase, ...]
    sensitive: AxisCase
    missing: tuple[str, ...] = ("", "n/a")
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def spec(self) -> dict[str, Any]:
        columns = {case.name: {"role": "quasi", **case.spec} for case in self.quasi}
        columns[self.sensitive.name] = {"role": "sensitive", **self.sensitive.spec}
        return {"name": "people", "missing": list(self.missing), "columns": columns | self.more}

    @property
    def axes(self) -> tuple[AxisCase, ...]:
        return (*self.quasi, self.sensitive)

    @cached_property
    def schema(self) -> Schema:
        return Schema.parse(self.spec)


@st.composite
def schemas(draw: st.DrawFn, most_quasi: int = 5, most: int = 9) -> SchemaCase:
    """One to five quasi-identifiers and a sensitive column."""
    count = draw(st.integers(1, most_quasi))
    quasi = tuple(draw(axes(most, f"q{i}")) for i in range(count))
    return SchemaCase(quasi, draw(sensitive_axes()))


@dataclass(frozen=True)
class TableCase:
    """Rows of codes (-1 where missing, the sensitive one last) and the raw texts that spell them."""

    case: SchemaCase
    rows: tuple[Row, ...]
    texts: tuple[tuple[str | None, ...], ...]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The raw rows as a data frame of text."""
        names = [axis.name for axis in self.case.axes]
        columns = {name: [row[i] for row in self.texts] for i, name in enumerate(names)}
        return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))

    @cached_property
    def table(self) -> Table:
        return read(self.frame, self.case.schema)

    @property
    def people(self) -> list[tuple[Row, int]]:
        """Each row as its point and its sensitive code; a missing sensitive value has the code after the last."""
        size = self.case.sensitive.size
        return [(row[:-1], row[-1] if row[-1] >= 0 else size) for row in self.rows]

    @property
    def positions(self) -> list[int]:
        return [axis.positions for axis in self.case.quasi]


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 24, most_quasi: int = 5, most: int = 9) -> TableCase:
    """A small table with repeated points, and at least two sensitive values."""
    case = draw(schemas(most_quasi, most))
    row = st.tuples(*(st.sampled_from(axis.codes) for axis in case.axes))
    pool = draw(st.lists(row, min_size=2, max_size=most_rows))
    repeated = draw(st.lists(st.sampled_from(pool), max_size=most_rows - len(pool)))
    rows = pool + repeated
    if len({entry[-1] for entry in rows}) < 2:
        other = next(code for code in case.sensitive.codes if code != rows[0][-1])
        rows[-1] = (*rows[-1][:-1], other)
    # Which of its spellings a value has is left to a seed: drawing each would take most of the time.
    chance = random.Random(draw(st.integers(0, 1_000)))
    absent = (None, *case.missing)

    def text(axis: AxisCase, code: int) -> str | None:
        return chance.choice(axis.raw[code] if code >= 0 else absent)

    texts = tuple(tuple(map(text, case.axes, entry)) for entry in rows)
    return TableCase(case, tuple(rows), texts)
