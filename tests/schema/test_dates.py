"""Axes of dates: what is read, how groups are published and parsed, comparisons, and the tree of the calendar."""

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import read
from sfumato.errors import DataError, QueryError, SchemaError
from sfumato.release.query import parse_query
from sfumato.schema import DateAxis, Node, Schema, Span
from sfumato.schema.calendar import UNITS, Period

ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}


def schema(**spec: Any) -> Schema:
    return Schema.parse({"columns": {"visit": {"role": "quasi", "kind": "date", **spec}, "ill": ILL}})


def axis(**spec: Any) -> DateAxis:
    found = schema(**spec).quasi[0]
    assert isinstance(found, DateAxis)
    return found


YEARS = {"min": "2020-01-01", "max": "2024-12-31"}


@pytest.mark.parametrize(
    ("unit", "first", "last", "label"),
    [
        ("day", "2024-03-01", "2024-03-01", "2024-03-01"),
        ("day", "2024-02-01", "2024-02-29", "2024-02"),
        ("day", "2023-02-01", "2023-02-28", "2023-02"),
        ("day", "2024-01-01", "2024-03-31", "2024-Q1"),
        ("day", "2023-01-01", "2023-12-31", "2023"),
        ("day", "2020-12-28", "2021-01-03", "2020-W53"),
        ("day", "2024-02-26", "2024-03-03", "2024-W09"),
        ("day", "2024-02-26", "2024-03-04", "[2024-02-26, 2024-03-04]"),
        ("month", "2024-01", "2024-03", "2024-Q1"),
        ("month", "2024-01", "2024-02", "[2024-01, 2024-02]"),
        ("week", "2020-W01", "2020-W53", "2020"),
        ("hour", "2024-03-01T00", "2024-03-01T23", "2024-03-01"),
        ("hour", "2024-03-01T05", "2024-03-01T23", "[2024-03-01T05, 2024-03-01T23]"),
        ("year", "2021", "2022", "[2021, 2022]"),
    ],
)
def test_groups_are_published_as_parts_of_the_calendar(unit: str, first: str, last: str, label: str) -> None:
    days = axis(**YEARS, unit=unit)
    span = Span(days.parse(first).lo, days.parse(last).hi, False)
    assert days.label(span) == label
    assert days.parse(label) == span


@given(st.data(), st.sampled_from(UNITS))
def test_labels_read_back_and_nodes_part_their_leaves(data: st.DataObject, unit: str) -> None:
    start = data.draw(st.dates(date(2018, 1, 1), date(2025, 1, 1)))
    days = axis(min=start.isoformat(), max=(start + timedelta(data.draw(st.integers(0, 600)))).isoformat(), unit=unit)
    lo = data.draw(st.integers(0, days.size - 1))
    span = Span(lo, data.draw(st.integers(lo, days.size - 1)), False)
    assert days.parse(days.label(span)) == span
    assert Schema.parse(schema(**days.spec()).spec()).quasi[0] == days

    def check(node: Node) -> None:
        if node.children:
            assert [child.lo for child in node.children] == [node.lo, *(child.hi + 1 for child in node.children[:-1])]
            assert node.children[-1].hi == node.hi
            if unit != "year":
                assert {child.height for child in node.children} == {node.height - 1}
            for child in node.children[:: max(len(node.children) - 1, 1)]:
                check(child)
        else:
            assert node.lo == node.hi

    check(days.taxonomy)


@pytest.mark.parametrize(
    ("unit", "values", "codes"),
    [
        ("day", ["2024-02-29", "2024-02-29 23:59:59.9", " 2024-02-29T00:00Z", "29.02.2024", "2024-02", "2025-01-01"],
         [1520, 1520, 1520, -2, -2, -2]),
        ("month", ["2024-02-29", "2024-02", "2024-Q1", "x"], [49, 49, -2, -2]),
        ("quarter", ["2024-02-29", "2024-Q1", "2024"], [16, 16, -2]),
        ("year", ["2024", "2024-12-31"], [4, 4]),
        ("hour", ["2020-01-01T03", "2020-01-01 03:59:00", "2020-01-01"], [3, 3, -2]),
        ("week", ["2020-W53", "2021-01-03", "2021-01-04"], [52, 52, 53]),
    ],
)  # fmt: skip
def test_what_a_file_may_hold(unit: str, values: list[str], codes: list[int]) -> None:
    assert axis(**YEARS, unit=unit).encode([value.strip() for value in values]).tolist() == codes


def test_other_spellings_are_declared() -> None:
    german = axis(**YEARS, format="%d.%m.%Y")
    assert german.encode(["29.02.2024", "2024-02-29", "30.02.2024", "02/29/2024"]).tolist() == [1520, 1520, -2, -2]
    assert german.parse("[01.02.2024, 29.02.2024]") == german.parse("2024-02")
    swapped = axis(**YEARS, format="%Y-%d-%m")
    assert swapped.encode(["2024-29-02", "2024-02-29"]).tolist() == [1520, -2], "not read in two ways"


@pytest.mark.parametrize("frame", [
    pl.DataFrame({"visit": [date(2024, 2, 29), date(2020, 1, 1), None]}),
    pl.DataFrame({"visit": ["2024-02-29 13:00:00", "2020-01-01 00:00:00", None]}).with_columns(
        pl.col("visit").str.to_datetime()
    ),
    pl.DataFrame({"visit": ["2024-02-29 13:00:00", "2020-01-01", ""]}),
])  # fmt: skip
def test_columns_of_any_type(frame: pl.DataFrame) -> None:
    found = read(frame.with_columns(ill=pl.Series(["no", "yes", "no"])), schema(**YEARS, nullable=True))
    assert sorted(found.points[:, 0].tolist()) == [-1, 0, 1520]
    pandas = frame.with_columns(ill=pl.Series(["no", "yes", "no"])).to_pandas()
    assert read(pandas, schema(**YEARS, nullable=True)).digest == found.digest


@pytest.mark.parametrize(
    ("unit", "condition", "truth"),
    [
        ("day", "visit >= 2024-03-15", lambda day: day >= date(2024, 3, 15)),
        ("day", "visit > 2024-03", lambda day: day > date(2024, 3, 31)),
        ("day", "visit <= 2024-03", lambda day: day <= date(2024, 3, 31)),
        ("day", "visit < 2024", lambda day: day < date(2024, 1, 1)),
        ("day", "visit in (2024-02, 2023-Q4)", lambda day: (day.year, day.month) in
         {(2024, 2), (2023, 10), (2023, 11), (2023, 12)}),
        ("day", "visit between 2024-01-30 and 2024-02", lambda day: date(2024, 1, 30) <= day <= date(2024, 2, 29)),
        ("day", "visit not in (2023)", lambda day: day.year != 2023),
        ("day", "visit = '[2024-01-30, 2024-02-02]'", lambda day: date(2024, 1, 30) <= day <= date(2024, 2, 2)),
        ("day", "visit >= 2030", lambda day: False),
        ("month", "visit >= 2024-03-15", lambda day: day >= date(2024, 4, 1)),
        ("month", "visit >= 2024-03-01", lambda day: day >= date(2024, 3, 1)),
        ("month", "visit <= 2024-03-15", lambda day: day <= date(2024, 3, 31)),
        ("month", "visit > 2024-03-15", lambda day: day >= date(2024, 4, 1)),
        ("month", "visit < 2024-03-15", lambda day: day <= date(2024, 3, 31)),
        ("week", "visit >= 2024-W09", lambda day: day >= date(2024, 2, 26)),
        ("quarter", "visit in (2024)", lambda day: day.year == 2024),
    ],
)  # fmt: skip
def test_queries_count_days(unit: str, condition: str, truth: Any) -> None:
    days = [date(2023, 9, 1) + timedelta(number) for number in range(300)]
    frame = pl.DataFrame({"visit": days, "ill": ["no", "yes"] * 150})
    table = read(frame, schema(min="2023-09-01", max="2024-12-31", unit=unit))
    assert parse_query(condition, table.schema).matches(table) == sum(map(truth, days))


@pytest.mark.parametrize(
    ("label", "first", "last"),
    [
        ("2024-03-01/2024-03-31", "2024-03-01", "2024-03-31"),
        ("2024-01 - 2024-03", "2024-01-01", "2024-03-31"),
        ("2024-01..2024-02", "2024-01-01", "2024-02-29"),
        ("[2024-01-05; 2024-W03]", "2024-01-05", "2024-01-21"),
        (">=2024-12-30", "2024-12-30", "2024-12-31"),
        ("< 2020-01-03", "2020-01-01", "2020-01-02"),
    ],
)
def test_labels_of_other_tools(label: str, first: str, last: str) -> None:
    days = axis(**YEARS)
    assert days.parse(label) == Span(days.parse(first).lo, days.parse(last).hi, False)


@pytest.mark.parametrize("label", ["2025", "[2024-03, 2024-02]", "March", "> 2025", "2024-03-01 to", ""])
def test_what_is_no_label(label: str) -> None:
    with pytest.raises(DataError, match="neither a date from 2020-01-01 to 2024-12-31 nor a group of such"):
        axis(**YEARS).parse(label)


def test_what_cannot_be_compared() -> None:
    with pytest.raises(
        QueryError, match="found 'soon' after 'visit' >=; expected a date from 2020-01-01 to 2024-12-31"
    ):
        parse_query("visit >= soon", schema(**YEARS))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"min": "2024"}, "max is 'nothing'; expected a date such as 2024-03-01"),
        ({"min": "01.03.2024", "max": "2024"}, "min is '01.03.2024'; expected a date"),
        ({**YEARS, "unit": "decade"}, "unit is 'decade'; expected one of hour, day"),
        ({**YEARS, "format": "%d.%m."}, "format is '%d.%m.'; expected how a day is spelled"),
        ({**YEARS, "format": 7}, "format is 7; expected how a day is spelled"),
        ({"min": "2024", "max": "2023"}, "max 2023-12-31 lies before min 2024-01-01"),
        ({**YEARS, "off_schema": "2024"}, "off_schema is '2024'; expected refuse, clip or missing"),
        ({**YEARS, "step": 2}, "'step' has no meaning here"),
    ],
)
def test_declarations_without_a_meaning(spec: dict[str, Any], expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema(**spec)
    assert expected in str(caught.value)


def test_dates_can_be_impossible() -> None:
    declared = schema(min="2020", max="2024", unit="month").spec()
    found = Schema.parse(declared | {"impossible": ["visit < 2021-03 and ill = yes"]})
    assert found.cannot_be(np.array([[13, 1], [14, 1], [13, 0]])).tolist() == [True, False, False]


def test_ends_may_be_dates_of_toml() -> None:
    assert axis(min=date(2020, 1, 1), max=date(2024, 12, 31)) == axis(**YEARS) == axis(min="2020", max="2024")


def test_off_the_schema() -> None:
    frame = pl.DataFrame({"visit": ["2019-05-05", "2030-01-01", "soon", ""], "ill": ["no", "yes"] * 2})
    clipped = read(frame, schema(**YEARS, off_schema="clip", nullable=True))
    assert clipped.points[:, 0].tolist() == [-1, 0, 1826]
    assert read(frame, schema(**YEARS, off_schema="clip")).points[:, 0].tolist() == [0, 1826]
    assert read(frame, schema(**YEARS, off_schema="missing", nullable=True)).points[:, 0].tolist() == [-1]
    with pytest.raises(DataError, match="row 1, column 'visit': '2019-05-05' is not a date from 2020-01-01"):
        read(frame, schema(**YEARS))


@pytest.mark.parametrize("unit", UNITS)
def test_coarsened_as_the_rows_would_be_read(unit: str) -> None:
    days = axis(min="2019-12-20", max="2021-02-10", unit=unit)
    for levels in range(1, days.levels_above + 1):
        coarser = days.coarsened(levels)
        spelled = [str(Period(unit, days.first + code)) for code in range(days.size)]
        assert days.codes_in(coarser).tolist() == coarser.encode(spelled).tolist()
    with pytest.raises(SchemaError):
        days.coarsened(days.levels_above + 1)


def test_millions_of_hours_cost_nothing() -> None:
    hours = axis(min="1000", max="9999", unit="hour")
    assert hours.size > 70_000_000
    assert [child.label for child in hours.taxonomy.children[1024].children] == [f"2024-Q{n}" for n in range(1, 5)]
