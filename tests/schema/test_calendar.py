"""Periods against the standard library's calendar: leap years, week 53, the turn of the year."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.schema.calendar import UNITS, Period, parse_period, period_at

days = st.dates(date(1, 1, 8), date(9999, 12, 24))


@given(days, st.integers(0, 23), st.sampled_from(UNITS))
def test_a_period_reads_back_and_holds_its_moment(day: date, hour: int, unit: str) -> None:
    period = period_at(unit, datetime(day.year, day.month, day.day, hour))
    assert parse_period(str(period)) == period
    assert period.first_day <= day.toordinal() <= period.last_day
    after, before = Period(unit, period.number + 1), Period(unit, period.number - 1)
    if unit != "hour":
        assert after.first_day == period.last_day + 1
        assert before.last_day == period.first_day - 1


@given(days, st.sampled_from(UNITS), st.sampled_from(UNITS))
def test_finer_periods_lie_in_coarser_ones(day: date, one: str, other: str) -> None:
    """What `within` says upwards and downwards agrees, weeks by their Thursday."""
    fine, coarse = sorted((one, other), key=UNITS.index)
    period = period_at(fine, datetime(day.year, day.month, day.day, 13))
    above = Period(coarse, period.within(coarse)[0])
    first, last = above.within(fine)
    assert first <= period.number <= last
    for number, inside in ((first, True), (last, True), (first - 1, False), (last + 1, False)):
        assert (Period(fine, number).within(coarse)[0] == above.number) is inside


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2023-02", "2023-02-01", "2023-02-28"),
        ("1900-02", "1900-02-01", "1900-02-28"),
        ("2024-Q1", "2024-01-01", "2024-03-31"),
        ("2020-W53", "2020-12-28", "2021-01-03"),
        ("2021-W01", "2021-01-04", "2021-01-10"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("9999", "9999-01-01", "9999-12-31"),
        ("2024-W09-4", "2024-02-29", "2024-02-29"),
        ("2024-02-29T23:59", "2024-02-29", "2024-02-29"),
        ("2024-02-29 08:00:00.250+0100", "2024-02-29", "2024-02-29"),
    ],
)
def test_known_periods(text: str, first: str, last: str) -> None:
    period = parse_period(text)
    assert period is not None
    found = [date.fromordinal(ordinal).isoformat() for ordinal in (period.first_day, period.last_day)]
    assert found == [first, last]


@pytest.mark.parametrize(
    "text",
    ["2023-02-29", "2021-W53", "2024-3-1", "2024-W00", "2024-13", "2024-00", "2024-03-00", "2024-Q5", "0000",
     "24-03-01", "2024-03-01T24", "2024-03-01T12:61", "2024-03-01x", "٢٠٢٤", "", "2024-W1"],
)  # fmt: skip
def test_what_is_no_period(text: str) -> None:
    assert parse_period(text) is None


def test_years_of_weeks_have_52_or_53() -> None:
    for year in range(1990, 2040):
        first, last = Period("year", year).within("week")
        assert last - first + 1 == date(year, 12, 28).isocalendar().week
        assert str(Period("week", last)) == f"{year}-W{last - first + 1}"
    monday = date(2020, 12, 28)
    assert {str(period_at("week", datetime.combine(monday + timedelta(n), datetime.min.time()))) for n in range(7)} == {
        "2020-W53"
    }
