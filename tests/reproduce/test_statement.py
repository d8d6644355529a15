"""What rows say of a statement: holds, fails, or open where an interval allows both."""

from __future__ import annotations

import pytest

from sfumato.report.reproduction.document import Row
from sfumato.reproduce.results import NOT_MEASURED, judge
from sfumato.reproduce.rows import Measured, NotMeasuredError, Rows
from sfumato.reproduce.statement import (
    Finding,
    Statement,
    about,
    any_reading,
    at_least,
    at_most,
    falls,
    found,
    near,
    prints,
    rises,
    share_below,
)


def row(series: str, x: float, y: float, *, spread: float = 0.0, **setting: float | str) -> Row:
    intervals = {"y": (y - spread, y + spread)} if spread else {}
    return Row(series=series, setting={"x": x, **setting}, values={"y": y}, intervals=intervals)


def number(value: float, half: float = 0.0) -> Measured:
    return Measured(value, value - half, value + half)


@pytest.mark.parametrize(
    ("value", "half", "expected"), [(2, 0.5, "holds"), (0, 0.5, "fails"), (1.1, 0.5, "open"), (0.9, 0.5, "open")]
)
def test_a_bound_inside_the_interval_decides_nothing(value: float, half: float, expected: str) -> None:
    assert at_least(number(value, half), 1).verdict == expected
    assert at_most(number(-value, half), -1).verdict == expected


def test_exact_numbers_are_always_decided() -> None:
    assert at_least(number(1), 1).verdict == at_most(number(1), 1).verdict == "holds"
    assert at_least(number(1), 1.01).verdict == at_most(number(1), 0.99).verdict == "fails"


def test_a_printed_number_is_met_up_to_its_tolerance_and_interval() -> None:
    assert near(number(0.69), 0.692, 0.002).verdict == "holds"
    assert near(number(0.69), 0.692, 0.001).verdict == "fails"
    assert near(number(0.69, 0.001), 0.692, 0.001).verdict == "holds"


def test_a_curve_falls_if_no_step_rises_beyond_its_intervals_and_the_ends_differ() -> None:
    assert falls([number(3), number(2), number(1)]).verdict == "holds"
    assert falls([number(3), number(4), number(1)]).verdict == "fails"
    assert falls([number(3, 1), number(3.5, 1), number(1, 0.1)]).verdict == "holds"
    assert falls([number(3, 1), number(2.5, 1)]).verdict == "open"
    assert falls([number(3), number(3)]).verdict == "fails"
    assert rises([number(1), number(2)]).verdict == "holds"
    assert rises([number(2), number(1)]).verdict == "fails"


def test_one_reading_that_holds_is_enough_and_is_told_first() -> None:
    judged = any_reading({"one": Finding("5", "fails"), "other": Finding("1", "holds"), "third": Finding("?", "open")})
    assert judged == Finding("other: 1; third: ?; one: 5", "holds")
    assert any_reading({"one": Finding("5", "fails")}).verdict == "fails"


def test_a_curve_is_compared_where_both_reach() -> None:
    low = Rows([row("low", x, 0.5) for x in (0, 1, 2)])
    high = Rows([row("high", x, x) for x in (1, 3)])
    assert share_below(low, high, "x", "y") == 1.0
    assert share_below(high, low, "x", "y") == 0.0
    half = Rows([row("cross", 0, 0), row("cross", 2, 1)])
    assert share_below(half, low, "x", "y") == pytest.approx(0.5, abs=0.01)
    with pytest.raises(NotMeasuredError):
        share_below(low, Rows([row("far", 7, 1), row("far", 8, 1)]), "x", "y")


def test_rows_are_chosen_by_series_and_setting() -> None:
    rows = Rows([row("a", 1, 10, spread=1, cut="median"), row("a", 2, 20, cut="ncp"), row("b", 1, 30, cut="median")])
    assert rows.of("y", "a", x=1) == Measured(10, 9, 11)
    assert rows.of("y", x=2).value == 20
    assert rows.where(cut="median").series() == ["a", "b"]
    assert rows.sorted("y").numbers("y") == [10, 20, 30]
    for missing in ({"x": 3}, {"cut": "other"}):
        with pytest.raises(NotMeasuredError):
            rows.of("y", **missing)


def test_what_a_quick_run_left_out_is_open() -> None:
    (stated,) = about("figure-1", ("here", "y is 10", "10", prints(10, 0, "y", "a", x=1)))
    assert judge(stated, Rows([row("a", 1, 10)])) == Finding("10", "holds")
    assert judge(stated, Rows([row("a", 1, 11)])) == Finding("11", "fails")
    assert judge(stated, Rows([row("a", 2, 10)])) == Finding(NOT_MEASURED, "open")


def test_without_a_judge_nothing_is_judged() -> None:
    assert judge(Statement(place="here", says="so", why="no data"), Rows([])).verdict == "open"
    assert found("x", True).verdict == "holds"


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (number(0.5), "0.5"),
        (number(0.5, 0.1), "0.5 (0.4 to 0.6)"),
        (number(45_222), "45,222"),
        (number(0.0004123), "0.0004123"),
        (number(912.66), "912.7"),
    ],
)
def test_numbers_are_short_and_tell_their_interval(measured: Measured, text: str) -> None:
    assert str(measured) == text
    assert number(0.134).text(percent=True) == "13.4%"


def test_the_difference_of_independent_numbers_is_surer_than_both_ends() -> None:
    difference = number(5, 3) - number(1, 4)
    assert (difference.value, difference.low, difference.high) == (4, -1, 9)
