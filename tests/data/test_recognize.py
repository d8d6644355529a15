"""What columns of many kinds are taken for, and the reasons given; what is proposed reads its rows and publishes."""

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato import KAnonymity, Mondrian
from sfumato.data import read
from sfumato.data.propose import MAX_QUASI, Proposal, make_proposal, to_toml
from sfumato.data.word_order import natural_word_order
from sfumato.errors import SchemaError
from sfumato.release import Release
from sfumato.schema import NumericAxis, Schema
from sfumato.schema.column import parse_column

ROWS = 400
RNG = np.random.default_rng(7)
PICK = RNG.integers(0, 10**6, ROWS)


def proposed(**columns: Any) -> Proposal:
    frame = pl.DataFrame({**columns, "other": [f"town {n % 7}" for n in PICK], "ill": ["flu", "cold"] * (ROWS // 2)})
    return make_proposal(frame, ["ill"], (), (), MAX_QUASI)


def some(*values: Any) -> list[Any]:
    """One of the values per row, at random."""
    return [values[n] for n in RNG.integers(0, len(values), ROWS)]


@pytest.mark.parametrize(
    ("name", "values", "spec"),
    [
        ("visit", [date(2024, 2, 1) + timedelta(int(n) % 90) for n in PICK],
         {"kind": "date", "min": "2024-02-01", "max": "2024-04-30", "unit": "day"}),
        ("visit", [f"{date(2024, 2, 1) + timedelta(int(n) % 90):%d.%m.%Y}" for n in PICK],
         {"kind": "date", "min": "2024-02-01", "max": "2024-04-30", "unit": "day", "format": "%d.%m.%Y"}),
        ("visit", [f"{date(2024, 2, 1) + timedelta(int(n) % 90):%m/%d/%Y}" for n in PICK],
         {"kind": "date", "min": "2024-02-01", "max": "2024-04-30", "unit": "day", "format": "%m/%d/%Y"}),
        ("born", [date(1930, 1, 1) + timedelta(int(n) % 30_000) for n in PICK], {"kind": "date", "unit": "month"}),
        ("at", [datetime(2024, 2, 28) + timedelta(hours=int(n) % 90) for n in PICK], {"kind": "date", "unit": "hour"}),
        ("quarter", some("2023-Q4", "2024-Q1", "2024-Q2"), {"kind": "date", "min": "2023-Q4", "unit": "quarter"}),
        ("year", some(2019, 2020, 2021), {"kind": "numeric", "min": 2019, "max": 2021}),
        ("smokes", some("ja", "nein"), {"kind": "boolean", "values": ["nein", "ja"]}),
        ("smokes", some("Y", "no", "1", "N"), {"kind": "boolean"}),
        ("sex", some(1, 2), {"kind": "categorical", "values": ["1", "2"]}),
        ("race", some(1, 2, 3, 4, 9), {"kind": "categorical", "values": ["1", "2", "3", "4", "9"]}),
        ("q7", some(1, 2, 3, 4, 9), {"kind": "categorical", "ordered": True}),
        ("children", some(0, 0, 0, 1, 1, 2), {"kind": "numeric", "min": 0, "max": 2}),
        ("x", some(0, 0, 0, 1, 1, 2), {"kind": "numeric", "min": 0, "max": 2}),
        ("month", some("Apr", "Jan", "Dec", "Aug"), {"values": ["Jan", "Apr", "Aug", "Dec"], "ordered": True}),
        ("day", some("sunday", "Monday", "Friday"), {"values": ["Monday", "Friday", "sunday"], "ordered": True}),
        ("pain", some("low", "high", "medium"), {"values": ["low", "medium", "high"]}),
        ("view", some("agree", "strongly agree", "disagree", "neutral", "strongly disagree"),
         {"values": ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]}),
        ("pay", some("10-20k", "<10k", "100k+", "20-100k"), {"values": ["<10k", "10-20k", "20-100k", "100k+"]}),
        ("plz", [f"{n % 100_000:05d}" for n in PICK], {"kind": "code", "pattern": "[0-9]{5}"}),
        ("industry_code", some(1, 10, 11, 2), {"kind": "code", "values": ["1", "2", "10", "11"], "levels": []}),
        ("disease", some("J45.0", "E11.9", "J45", "A00.1"), {"kind": "code", "levels": [1, 3]}),
        ("place", some("01-017", "01-203", "24-001"), {"kind": "categorical"}),
        ("puma", some("01-017", "01-203", "24-001"), {"kind": "code", "levels": [2, 3, 4]}),
        ("part", [f"AX{n % 317:03d}" for n in PICK], {"kind": "code"}),
    ],
)  # fmt: skip
def test_kinds(name: str, values: list[Any], spec: dict[str, Any]) -> None:
    found = proposed(**{name: values})
    column = next(column for column in found.schema.columns if column.name == name)
    assert column.role == "quasi", found.why[name]
    assert {key: column.spec().get(key) for key in spec} == spec
    assert found.why[name]


@pytest.mark.parametrize(
    ("name", "values", "role", "why"),
    [
        ("note", ["x"] * ROWS, "ignore", "every row has 'x', which tells nothing"),
        ("note", [""] * ROWS, "ignore", "no row has a value"),
        ("note", [[1]] * ROWS, "ignore", "holds no values of a plain type"),
        ("note", [f"patient {n} has told us that" for n in range(ROWS)], "ignore", "free text, which can name anybody"),
        ("note", [f"a{'b' * (n % 300)}" for n in range(ROWS)], "ignore", "300 different texts in 400 rows, too many"),
        ("code", [f"Q{n}" for n in range(ROWS)], "quasi", "codes"),
        ("uid", [f"{n:x}q" for n in range(ROWS)], "identifier", "400 different values in 400 rows: it names"),
        ("patient_id", [f"P{n // 2}" for n in range(ROWS)], "identifier", "called a name or number of somebody"),
        ("pwgtp", [50 + n % 300 for n in range(ROWS)], "ignore", "called a weight of rows"),
        ("told", ["1" if n % 2 else "2" for n in range(ROWS)], "ignore", "ill follows from it"),
    ],
)  # fmt: skip
def test_what_is_left_out_has_a_reason(name: str, values: list[Any], role: str, why: str) -> None:
    found = proposed(**{name: values})
    assert next(column.role for column in found.schema.columns if column.name == name) == role
    assert why in found.why[name]
    assert set(found.why) == {column.name for column in found.schema.columns}


def test_of_columns_that_say_the_same_one_is_kept() -> None:
    ages, levels = [int(n) % 60 for n in PICK], some("low b", "high a", "mid c")
    numbers = [{"low b": 1, "mid c": 2, "high a": 3}[level] for level in levels]
    found = proposed(agegr=[f"{age // 10}0s" for age in ages], age=ages, level=levels, level_number=numbers)
    assert found.why["agegr"] == "follows from age, which is kept because it is finer"
    assert found.why["level_number"] == "says the same as level, which is kept because it is no mere number"
    level = next(axis for axis in found.schema.quasi if axis.name == "level")
    assert level.labels == ["low b", "mid c", "high a"], "in the order of the numbers"


def test_one_outlier_does_not_ruin_bins() -> None:
    bmi = [round(18 + n % 200 / 10, 1) for n in PICK[:-1]] + [450.0]
    axis = next(axis for axis in proposed(bmi=bmi).schema.quasi if axis.name == "bmi")
    assert isinstance(axis, NumericAxis)
    assert axis.open_above
    assert axis.size > 20
    assert axis.edges[-2] < 50
    pay = RNG.lognormal(10, 1.5, ROWS)
    tail = next(axis for axis in proposed(pay=pay).schema.quasi if axis.name == "pay")
    assert isinstance(tail, NumericAxis)
    counts = np.bincount(tail.encode(pay))
    assert tail.open_above
    assert counts[:-1].max() < 0.15 * ROWS, "bins of about as many rows"


def test_words_among_numbers_are_missing_values() -> None:
    found = proposed(children=some("0", "1", "N", "2", "0"), answer=some("Y", "N", "maybe"))
    assert "N" not in found.schema.missing, "it is an answer elsewhere"
    found = proposed(children=some("0", "1", "N", "2", "0"), pay=some("17", "N", "55.5", "."))
    assert {"N", "."} <= set(found.schema.missing)
    assert all(axis.nullable and axis.kind == "numeric" for axis in found.schema.quasi if axis.name != "other")
    frame = pl.DataFrame({"age": some(20, 30, 40, -9), "town": some("a", "b", "gone"), "ill": some("x", "y")})
    named = make_proposal(frame, ["ill"], (), ["-9", "gone"], MAX_QUASI).schema
    assert [(axis.name, axis.nullable) for axis in named.quasi] == [("age", True), ("town", True)]


def test_decimal_commas() -> None:
    found = proposed(height=[f"{160 + n % 300 / 10:.1f}".replace(".", ",") for n in PICK])
    try:
        parse_column("x", {"role": "quasi", "kind": "numeric", "min": 0, "max": 1, "decimal": ","}, Path())
    except SchemaError:
        assert "decimal commas" in found.why["height"]
        assert "height" not in [axis.name for axis in found.schema.quasi]
    else:
        assert next(column for column in found.schema.columns if column.name == "height").spec()["decimal"] == ","


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (["5 or more", "1", "2-4"], ["1", "2-4", "5 or more"]),
        (["18 to 29", "under 18", "30–64", "65+"], ["under 18", "18 to 29", "30–64", "65+"]),
        (["€10,000 - 19,999", "< €10,000", "€20,000 and over"], ["< €10,000", "€10,000 - 19,999", "€20,000 and over"]),
        ([">50K", "<=50K"], ["<=50K", ">50K"]),
        (["XL", "S", "m"], ["S", "m", "XL"]),
        (["VERY_LOW", "high"], ["VERY_LOW", "high"]),
        (["10-30", "20-40"], None),
        (["1", "2"], None),
        (["red", "low"], None),
        (["low"], None),
    ],
)
def test_the_order_of_words(labels: list[str], order: list[str] | None) -> None:
    assert natural_word_order(labels) == order


NASTY: dict[str, pl.DataFrame] = {
    "unicode": pl.DataFrame({"straße": some("Ä-Weg", "Ö, Platz", '"Zitat"', "ß"), "größe": some("1,5", "2,5", "3"),
                             "n": some("N", "1", "2", "3"), "krank": some("ja", "nein")}),
    "tails": pl.DataFrame({"pay": RNG.pareto(1.0, ROWS) * 100, "debt": [-1000 * (n % 50) for n in PICK],
                           "when": [datetime(2023, 12, 28) + timedelta(hours=int(n) % 300) for n in PICK],
                           "krank": some("a", "b", "c")}),
    "doubles": pl.DataFrame({"age": [34] * ROWS, "town": some("Oslo", "Rome"), "krank": some("a", "b", None)}),
    "codes": pl.DataFrame({"zip": [f"{n % 90_000:05d}" for n in PICK], "icd": some("J45.0", "J45", "E11.9", None),
                           "born": [f"{1950 + n % 50}-0{n % 9 + 1}" for n in PICK], "krank": some(1, 2, 3)}),
}  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_from_file_to_release(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.csv"
    NASTY[name].write_csv(path)
    proposal = make_proposal(path, ["krank"], (), (), MAX_QUASI)
    (tmp_path / "s.toml").write_text(to_toml(proposal.schema, proposal.why), encoding="utf-8")
    schema = Schema.load(tmp_path / "s.toml")
    assert schema == proposal.schema
    table = read(path, schema)
    assert table.n == ROWS
    folder = Mondrian(k=5).publish(table).save(tmp_path / "release")
    release = Release.load(folder)
    assert release.rows == ROWS
    assert KAnonymity(k=5) in release.claim.requirements


def test_the_file_says_why() -> None:
    proposal = proposed(age=[int(n) % 60 for n in PICK], note=["x"] * ROWS)
    text = to_toml(proposal.schema, proposal.why)
    assert "is about your rows: delete it before you hand this file on" in text
    assert f'# {proposal.why["age"]}\n[columns."age"]' in text
    assert "# every row has 'x', which tells nothing\n[columns.\"note\"]" in text
