"""Queries in words mean what a look at every row says they mean."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.errors import QueryError
from sfumato.methods.partition.endpoints import Original
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.release import Query, parse_query
from sfumato.schema import NumericAxis, Schema, Span
from strategies import TableCase, tables

SCHEMA = Schema.parse(
    {
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "kind": "numeric", "min": 20, "max": 69, "nullable": True},
            "income": {"role": "quasi", "kind": "numeric", "edges": [0, 10, 20, 50, 100]},
            "marital-status": {
                "role": "quasi",
                "kind": "categorical",
                "taxonomy": {"alone": ["never married", "widowed"], "together": ["married", 'it\'s "complicated"']},
            },
            "the `odd` one": {"role": "quasi", "kind": "numeric", "min": -1, "max": 1, "step": 0.5},
            "disease": {"role": "sensitive", "kind": "categorical", "values": ["flu", "cold", "hiv"], "nullable": True},
        }
    }
)
ROWS = [
    ("20", "0", "never married", "-1", "flu"),
    ("30", "5", "widowed", "-0.5", "cold"),
    ("40", "10", "married", "0", "hiv"),
    ("50", "25", 'it\'s "complicated"', "0.5", None),
    ("60", "50", "married", "1", "flu"),
    (None, "99", "widowed", "0", "flu"),
]
PEOPLE = pl.DataFrame(ROWS, schema=[axis.name for axis in SCHEMA.axes], orient="row").with_row_index("name")
AND = " and "


@pytest.fixture(scope="module")
def table() -> Table:
    return read(PEOPLE, SCHEMA)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age = 20", [0]),
        ("age == 20.0", [0]),
        ("age=20", [0]),
        ("age != 20", [1, 2, 3, 4]),
        ("age <> 20", [1, 2, 3, 4]),
        ("age < 40", [0, 1]),
        ("age <= 40", [0, 1, 2]),
        ("age > 40", [3, 4]),
        ("age >= 40", [2, 3, 4]),
        ("age > 39.5", [2, 3, 4]),
        ("age >= 39.5", [2, 3, 4]),
        ("age < 39.5", [0, 1]),
        ("age <= -1e3", []),
        ("age > -inf", [0, 1, 2, 3, 4]),
        ("age >= 1e300", []),
        ("age between 30 and 50", [1, 2, 3]),
        ("age BETWEEN 29.5 AND 50.5 AND disease = cold", [1]),
        ("age between 50 and 30", []),
        ("age in (20, 30,60)", [0, 1, 4]),
        ("age not in (20, '30')", [2, 3, 4]),
        ("age in (20, 40, '(missing)')", [0, 2, 5]),
        ("age is missing", [5]),
        ("age IS NOT Missing", [0, 1, 2, 3, 4]),
        ("income is missing", []),
        ("age = '[30, 50)'", [1, 2]),
        ("age = '*'", [0, 1, 2, 3, 4, 5]),
        ("age = '(missing)'", [5]),
        ("age != '(missing)'", [0, 1, 2, 3, 4]),
        ("age > 20 and age < 50 and age != 30", [2]),
        ("age < 30 and age > 40", []),
        ("age is missing and age > 0", []),
        ("income = 7", [0, 1]),
        ("income < 10", [0, 1]),
        ("income < 15", [0, 1, 2]),
        ("income >= 15", [3, 4, 5]),
        ("income >= 20", [3, 4, 5]),
        ("income > 20", [4, 5]),
        ("income <= 20", [0, 1, 2, 3]),
        ("income between 10 and 49", [2, 3]),
        ("marital-status = married", [2, 4]),
        ("marital-status = alone", [0, 1, 5]),
        ("marital-status in (widowed, 'never married')", [0, 1, 5]),
        ("marital-status != 'together'", [0, 1, 5]),
        ("\"marital-status\" = 'it''s \"complicated\"'", [3]),
        ('`marital-status`="it\'s ""complicated"""', [3]),
        ("`the ``odd`` one` > -0.5", [2, 3, 4, 5]),
        ('"the `odd` one" <= .25', [0, 1, 2, 5]),
        ("disease = flu", [0, 4, 5]),
        ("disease is missing", [3]),
        ("disease != flu", [1, 2]),
        ("disease not in (flu, cold) and age >= 40", [2]),
        ("disease in (flu, hiv)\n\tand age >= 40", [2, 4]),
        ("disease in (hiv, '(missing)')", [2, 3]),
    ],
)
def test_a_query_counts_these_rows(text: str, rows: list[int], table: Table) -> None:
    asked = parse_query(text, SCHEMA)
    assert asked.matches(table) == len(rows)
    for row in range(len(ROWS)):
        alone = Table(
            schema=table.schema,
            points=table.points,
            cell_point=table.cell_point,
            cell_value=table.cell_value,
            cell_weight=(table.cell_point == point_of(table, row)).astype(np.int64),
        )
        assert asked.matches(alone) == (row in rows)
    assert asked.estimate(Original().publish(table)) == pytest.approx(len(rows), abs=1e-9)


def point_of(table: Table, row: int) -> int:
    """Which point of the table a row of the example is; all its points differ."""
    alone = read(PEOPLE[row], SCHEMA).points
    return int(np.flatnonzero((table.points == alone).all(axis=1))[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["the end of the query", "'age', 'income', 'marital-status'", "'disease'"]),
        ("agee > 3", ["'agee'", "where a column was expected: 'age'"]),
        ("name = 3", ["'name'", "where a column was expected"]),
        ("'age' > 3", ["\"'age'\"", "where a column was expected"]),
        ("age", ["found the end of the query after the column 'age'", "expected one of = != < <= > >=, in"]),
        ("age like 3", ["'like'", "expected one of = !="]),
        ("age >", ["found the end of the query", "a whole number from 20 to 69"]),
        ("age > and income > 3", ["'and'", "where a value of 'age' was expected"]),
        ("age > forty", ["'forty'", "after 'age' >", "expected a number"]),
        ("age > nan", ["'nan'", "expected a number"]),
        ("age = 200", ["'200' is not a value of 'age'", "a whole number from 20 to 69"]),
        ("age = 20.5", ["'20.5' is not a value of 'age'"]),
        ("disease = flue", ["'flue' is not a value of 'disease'", "one of 'flu', 'cold', 'hiv'"]),
        ("disease > flu", ["'>' compares numbers", "'disease' is categorical"]),
        ("disease between a and b", ["'between' compares numbers"]),
        ("age between 20 30", ["'30'", "after the first bound of 'between'", "expected 'and'"]),
        ("age in 20", ["'20'", "after 'in'", "expected '('"]),
        ("age in (20 30)", ["'30'", "expected ',' or ')'"]),
        ("age in (20", ["the end of the query", "expected ',' or ')'"]),
        ("age in ()", ["')'", "where a value of 'age' was expected"]),
        ("age not 20", ["'20'", "after 'not'", "expected 'in'"]),
        ("age is 20", ["'20'", "after 'is'", "expected 'missing' or 'not missing'"]),
        ("age is not 20", ["'20'", "after 'is not'", "expected 'missing'"]),
        ("marital-status = never married", ["'never'", "is not a value"]),
        ("disease = flu cold", ["'cold'", "values with spaces need quotes"]),
        ("age > 20 and", ["the end of the query", "where a column was expected"]),
        ("disease = 'flu", ['"\'flu" has no closing quote']),
        ("age ! 20", ["'! 20' has no meaning here"]),
        ("age > 20)", ["')'", "expected 'and'"]),
        ("disease = `flu`", ["'`flu`'", "where a value of 'disease' was expected"]),
    ],
)
def test_refusals_show_the_word_and_what_was_expected(text: str, words: list[str]) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text, SCHEMA)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_far_apart_are_one_query(table: Table) -> None:
    every_other = ", ".join(map(str, range(20, 70, 2)))
    asked = parse_query(f"age in ({every_other}) and income in (5, 30) and disease in (flu, hiv)", SCHEMA)
    assert asked.estimate(Original().publish(table)) == asked.matches(table)


def test_a_query_belongs_to_its_schema(table: Table) -> None:
    age = {"role": "quasi", "kind": "numeric", "min": 0, "max": 9}
    other = Schema.parse({"columns": {**SCHEMA.spec()["columns"], "age": age}})
    with pytest.raises(QueryError, match="the query was made for another column 'age' than this table has"):
        parse_query("age = 5", other).matches(table)
    assert parse_query("disease = flu", other).matches(table) == 3


def test_a_release_answers_by_itself(table: Table) -> None:
    release = Mondrian(k=6).publish(table)
    assert release.query("disease = flu") == pytest.approx(3)
    # Of six ages one is the lowest, one the highest and one missing; the other three are spread evenly.
    assert release.query("age between 20 and 60 and disease = flu") == pytest.approx(3 * (2 / 6 + 3 / 6 * 41 / 42))
    assert release.query("age is missing") == pytest.approx(1 + 3 / 42)


@dataclass(frozen=True)
class Condition:
    """A condition in words, and which codes of which axis (the sensitive one last) satisfy it."""

    axis: int
    text: str
    holds: Callable[[int], bool]


def quoted(label: str) -> str:
    return "'" + label.replace("'", "''") + "'"


@st.composite
def conditions(draw: st.DrawFn, schema: Schema) -> Condition:
    """Any condition on any column; bins are taken at their lower edge."""
    number = draw(st.integers(0, len(schema.axes) - 1))
    axis = schema.axes[number]
    name = draw(st.sampled_from([axis.name, f"`{axis.name}`", f'"{axis.name}"']))
    code, other = draw(st.integers(0, axis.size - 1)), draw(st.integers(0, axis.size - 1))
    low, high = min(code, other), max(code, other)
    label, group = (quoted(axis.label(Span(lo, hi, False))) for lo, hi in ((code, code), (low, high)))
    simple = [
        (f"{name} = {label}", lambda c: c == code),
        (f"{name} != {label}", lambda c: 0 <= c != code),
        (f"{name} = {group}", lambda c: low <= c <= high or (c == -1 and group == "'*'")),
        (f"{name} not in ({group})", lambda c: c >= 0 and not low <= c <= high),
        (f"{name} in ({label}, {quoted(axis.label(Span(other, other, False)))})", lambda c: c in (code, other)),
        (f"{name} is missing", lambda c: c < 0),
        (f"{name} is not missing", lambda c: c >= 0),
    ]
    if isinstance(axis, NumericAxis):
        shift = draw(st.sampled_from([0.0, 0.01, -0.01]))
        bound = axis.value(code) + shift
        upper = axis.value(high)
        simple += [
            (f"{name} < {bound!r}", lambda c: c >= 0 and c < code + (shift > 0)),
            (f"{name} <= {bound!r}", lambda c: c >= 0 and c < code + (shift >= 0)),
            (f"{name} > {bound!r}", lambda c: c >= 0 and c >= code + (shift >= 0)),
            (f"{name} >= {bound!r}", lambda c: c >= 0 and c >= code + (shift > 0)),
            (f"{name} between {axis.value(low)!r} and {upper!r}", lambda c: low <= c <= high),
        ]
    text, holds = draw(st.sampled_from(simple))
    return Condition(number, text, holds)


@st.composite
def asked(draw: st.DrawFn) -> tuple[TableCase, list[Condition]]:
    drawn = draw(tables(most_rows=16, most_quasi=3, most=6))
    return drawn, draw(st.lists(conditions(drawn.case.schema), min_size=1, max_size=4))


def satisfied(codes: tuple[int, ...], wanted: list[Condition]) -> bool:
    return all(condition.holds(codes[condition.axis]) for condition in wanted)


@given(asked(), st.integers(1, 4), st.sampled_from(["generalize", "bucketize"]))
def test_queries_agree_with_a_look_at_every_row(
    drawn: tuple[TableCase, list[Condition]], k: int, recoding: Any
) -> None:
    case, wanted = drawn
    sentence = AND.join(condition.text for condition in wanted)
    found: Query = parse_query(sentence, case.case.schema)
    count = sum(satisfied(row, wanted) for row in case.rows)
    assert found.matches(case.table) == count
    assert found.estimate(Original().publish(case.table)) == pytest.approx(count, abs=1e-9)
    answer = Mondrian(k=min(k, len(case.rows)), recoding=recoding).publish(case.table).answer(sentence)
    assert answer.certain
    assert answer.low <= count <= answer.high
    assert answer.low <= answer.estimate <= answer.high
