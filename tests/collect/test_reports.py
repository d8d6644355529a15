"""Reports in files: exact counts from every kind of file, and the place of the first value that is no report."""

from __future__ import annotations

import gzip
import time
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from sfumato.collect.reports import count_reports, read_answers, write_reports
from sfumato.collect.survey import Survey
from sfumato.errors import DataError, ParameterError, ReleaseError

if TYPE_CHECKING:
    from pathlib import Path

SURVEY = Survey(name="age", question="How old are you?", min=-2, max=3, epsilon=0.5)
STEPS = Survey(name="income", question="How much?", min=1000, max=5000, step=500, epsilon=0.5)
FAR = Survey(name="far", question="How far?", min=2**53 - 5, max=2**53 - 1, epsilon=0.5)
EXPECTED = "a whole number from -2 to 3"
MANY = 10_000_000
SECONDS = 10.0


def parquet(folder: Path, values: Any, dtype: Any = None) -> Path:
    path = folder / "reports.parquet"
    pl.DataFrame({"report": pl.Series(values, dtype=dtype)}).write_parquet(path)
    return path


def csv(folder: Path, text: str) -> Path:
    path = folder / "reports.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["r.csv", "r.CSV.GZ", "r.csv.gz", "r.parquet", "r.pq"])
def test_what_is_written_is_counted(tmp_path: Path, name: str) -> None:
    values = np.array([3, -2, -2, 0, 3, 3])
    path = write_reports(tmp_path / name, "report", values)
    if not name.endswith("GZ"):
        assert count_reports(path, SURVEY).tolist() == [2, 0, 1, 0, 0, 3]
        assert count_reports(str(path), SURVEY, "report").dtype == np.int64
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_text_files_hold_plain_numbers(tmp_path: Path) -> None:
    write_reports(tmp_path / "r.csv", "report", np.array([5, -7]))
    assert (tmp_path / "r.csv").read_text() == "report\n5\n-7\n"
    first = write_reports(tmp_path / "r.csv.gz", "report", np.array([5, -7])).read_bytes()
    assert gzip.decompress(first) == b"report\n5\n-7\n"
    assert write_reports(tmp_path / "r.csv.gz", "report", np.array([5, -7])).read_bytes() == first


def test_several_files_add_up(tmp_path: Path) -> None:
    first = write_reports(tmp_path / "a.csv", "report", np.array([0, 1, 1]))
    second = write_reports(tmp_path / "b.parquet", "report", np.array([1, 2]))
    apart = count_reports(first, SURVEY) + count_reports(second, SURVEY)
    assert count_reports([first, second], SURVEY).tolist() == apart.tolist() == [0, 0, 1, 3, 1, 0]


def test_counts_cover_every_possible_report(tmp_path: Path) -> None:
    wave = Survey(name="age", question="How old are you?", min=0, max=9, epsilon=1, mechanism="square-wave")
    assert wave.lowest_report < 0
    path = parquet(tmp_path, [wave.lowest_report, wave.highest_report, wave.highest_report])
    counts = count_reports(path, wave)
    assert (len(counts), counts[0], counts[-1], counts.sum()) == (wave.channel.reports, 1, 2, 3)


def test_steps_and_numbers_that_floating_point_cannot_tell_apart(tmp_path: Path) -> None:
    assert count_reports(parquet(tmp_path, [1000, 5000, 1500, 1500]), STEPS).tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 1]
    text = "report\n" + "\n".join(str(2**53 - 1 - number) for number in (0, 0, 1, 4)) + "\n"
    assert count_reports(csv(tmp_path, text), FAR).tolist() == [1, 0, 0, 1, 2]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0, 3], pl.UInt8),
        ([0, 3], pl.Int64),
        ([0.0, 3.0], pl.Float32),
        (["0", " 3 "], pl.String),
        (["0.0", "+3"], pl.String),
        (["0", "3e0"], pl.Categorical),
        ([Decimal("0.0"), Decimal("3.0")], None),
    ],
)
def test_numbers_may_be_spelled_in_many_ways(tmp_path: Path, values: Any, dtype: Any) -> None:
    assert count_reports(parquet(tmp_path, values, dtype), SURVEY).tolist() == [0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("values", "dtype", "shown"),
    [
        ([0, 4], None, "'4' is not"),
        ([0, -3], None, "'-3' is not"),
        ([0, None], None, "the value is missing; expected"),
        ([0, 0.5], pl.Float64, "'0.5' is not"),
        ([0, float("nan")], pl.Float64, "'nan' is not"),
        ([0, float("-inf")], pl.Float64, "'-inf' is not"),
        ([0, 2**63 - 1], None, f"'{2**63 - 1}' is not"),
        ([0, -(2**63)], None, f"'{-(2**63)}' is not"),
        ([0, 2**64 - 1], pl.UInt64, f"'{2**64 - 1}' is not"),
        (["0", "x"], None, "'x' is not"),
        (["0", ""], None, "'' is not"),
        (["0", "1_0"], None, "'1_0' is not"),
        (["0", "y" * 500], None, f"'{'y' * 79}… is not"),
        ([Decimal("0.0"), Decimal("0.5")], None, "'0.5' is not"),
    ],
)
def test_the_first_value_that_is_no_report_is_named(tmp_path: Path, values: Any, dtype: Any, shown: str) -> None:
    path = parquet(tmp_path, [*values, *values], dtype)
    with pytest.raises(DataError) as caught:
        count_reports(path, SURVEY)
    assert str(caught.value) == f"{path}, row 2, column 'report': {shown} {EXPECTED}"


def test_values_between_the_steps_are_no_reports(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,amount\na,1500\nb,1501\n")
    with pytest.raises(DataError) as caught:
        count_reports(path, STEPS, "amount")
    expected = "a whole number from 1000 to 5000 in steps of 500"
    assert str(caught.value) == f"{path}, row 2, column 'amount': '1501' is not {expected}"


@pytest.mark.parametrize(("values", "kind"), [([True], "Boolean"), ([date(2020, 1, 1)], "Date"), ([[1]], "List")])
def test_columns_of_other_types_are_refused(tmp_path: Path, values: Any, kind: str) -> None:
    with pytest.raises(DataError, match=rf"column 'report': {kind}.* is not a type of numbers; expected whole numbers"):
        count_reports(parquet(tmp_path, values), SURVEY)


def test_the_column_must_be_clear(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,age\na,1\n")
    with pytest.raises(DataError, match="has 2 columns; choose the one to read from 'id', 'age'"):
        count_reports(path, SURVEY)
    with pytest.raises(DataError, match="the column 'year' is missing; the file has 'id', 'age'"):
        count_reports(path, SURVEY, "year")
    assert count_reports(path, SURVEY, "age").sum() == 1


def test_files_that_cannot_be_read_or_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file does not exist"):
        count_reports(tmp_path / "none.csv", SURVEY)
    with pytest.raises(DataError, match="the file has no rows"):
        count_reports(csv(tmp_path, "report\n"), SURVEY)
    with pytest.raises(ParameterError, match=r"must end in \.csv, \.csv\.gz, \.parquet, \.pq, "):
        write_reports(tmp_path / "reports.txt", "report", np.array([1]))
    with pytest.raises(ParameterError, match="has no name"):
        write_reports(tmp_path / "reports.csv", "", np.array([1]))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ReleaseError, match="this is a folder"):
        write_reports(tmp_path / "folder.csv", "report", np.array([1]))


def test_ten_million_reports_are_counted_in_seconds(tmp_path: Path) -> None:
    survey = Survey(name="age", question="How old are you?", min=0, max=999, epsilon=0.5)
    values = np.random.default_rng(1).integers(0, 1000, MANY)
    path = write_reports(tmp_path / "many.parquet", "report", values)
    started = time.process_time()
    counts = count_reports(path, survey)
    assert time.process_time() - started < SECONDS
    assert np.array_equal(counts, np.bincount(values, minlength=1000))


def test_true_answers_are_read_on_the_axis_itself(tmp_path: Path) -> None:
    """A square wave reports beyond its axis; an answer is never there."""
    survey = Survey(name="age", question="?", min=2, max=10, step=2, epsilon=1, mechanism="square-wave")
    assert survey.lowest_report < survey.min
    answers, name = read_answers(csv(tmp_path, "id,age\na,2\nb,10\nc,4.0\n"), survey, "age")
    assert (answers.tolist(), name) == ([2, 10, 4], "age")
    with pytest.raises(DataError, match=r"row 1, column 'age': '0' is not .* 2 to 10"):
        read_answers(csv(tmp_path, "age\n0\n"), survey)
