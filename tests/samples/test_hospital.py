"""The sample hospital: it repeats itself, agrees with its schema, and has the dependences it promises.

The hospital is seeded, so a test can only fail when the simulator or NumPy's generators change. Each dependence has a
broken twin: it must not be found among visits whose columns were shuffled independently.
"""

import time
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from sfumato import Mondrian
from sfumato.data import Table, read
from sfumato.release.query import parse_query
from sfumato.samples import hospital
from sfumato.schema import Schema

SCHEMA = Schema.load(hospital.SCHEMA_PATH)
AGE, SEX, STAY = pl.col("age"), pl.col("sex"), pl.col("stay")
CHAPTER = pl.col("diagnosis").cast(pl.String).str.head(1)


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    return hospital.visits(50_000)


@pytest.fixture(scope="module")
def table(visits: pl.DataFrame) -> Table:
    return read(visits, SCHEMA)


@pytest.fixture(scope="module")
def shuffled(visits: pl.DataFrame) -> pl.DataFrame:
    return visits.select(pl.col(name).shuffle(seed=seed) for seed, name in enumerate(visits.columns))


def test_the_same_seed_gives_the_same_visits() -> None:
    assert hospital.visits(300).equals(hospital.visits(300))
    assert not hospital.visits(300, seed=2).equals(hospital.visits(300))
    assert [len(hospital.visits(rows)) for rows in (0, 1, 7)] == [0, 1, 7]
    with pytest.raises(ValueError, match="rows must be 0 or more, got -1"):
        hospital.visits(-1)


def test_two_hundred_thousand_visits_take_seconds() -> None:
    began = time.process_time()
    assert len(hospital.visits(200_000)) == 200_000
    assert time.process_time() - began < 8


def test_patients_and_households(visits: pl.DataFrame) -> None:
    home = pl.col("postal_code").drop_nulls().n_unique().alias("at")
    patients = visits.group_by("patient").agg(pl.len(), pl.col("household").n_unique(), SEX.n_unique(), home)
    assert patients["len"].mean() == pytest.approx(2.5, abs=0.05)
    assert patients["len"].max() > 8
    assert patients.select(pl.col("household", "sex").max()).row(0) == (1, 1)
    assert patients["at"].max() == 1
    homes = visits.group_by("household").agg(pl.col("patient").n_unique(), home)
    assert homes["patient"].mean() == pytest.approx(2.2, abs=0.1)
    assert homes["at"].max() == 1
    deaths = visits.filter(pl.col("outcome") == "Died").join(visits, on="patient", suffix="_other")
    assert 0.005 < deaths["patient"].n_unique() / visits["patient"].n_unique() < 0.06
    assert (deaths["visit_other"] <= deaths["visit"]).all(), "nobody comes again who died"


def test_every_value_fits_the_schema(visits: pl.DataFrame, table: Table) -> None:
    assert table.n == visits["patient"].n_unique(), "one visit of each patient is used"
    assert (table.unowned, SCHEMA.person_column) == (0, "patient")
    refusing = SCHEMA.spec()
    for column in refusing["columns"].values():
        column.pop("off_schema", None)
    del refusing["columns"]["weight"]
    for role, name in (("quasi", "insurance"), ("quasi", "department"), ("quasi", "urgent"), ("quasi", "stay"),
                       ("quasi", "outcome")):  # fmt: skip
        refusing["columns"][name]["role"] = role
    assert read(visits, Schema.parse(refusing)).n == table.n
    assert [axis.kind for axis in SCHEMA.quasi] == ["date", "numeric", "categorical", "code"]


def test_nothing_impossible_happens(visits: pl.DataFrame, shuffled: pl.DataFrame) -> None:
    def impossible(frame: pl.DataFrame) -> int:
        every = read(frame.with_columns(patient=pl.int_range(pl.len()).cast(pl.String)), SCHEMA)
        return sum(parse_query(text, every.schema).matches(every) for text in SCHEMA.impossible)

    assert impossible(visits) == 0
    assert impossible(shuffled) > 100


DEPENDENCES: dict[str, Callable[[pl.DataFrame], bool]] = {
    "births are women's": lambda rows: rows.filter(CHAPTER == "O").select((SEX == "Female").mean()).item() == 1,
    "hearts grow old": lambda rows: rows.filter(CHAPTER == "I")["age"].mean() > rows["age"].mean() + 15,  # type: ignore[operator]
    "stays have a tail": lambda rows: (
        rows.filter(pl.col("department") == "Psychiatry")["stay"].mean() > 2 * rows["stay"].mean()  # type: ignore[operator]
    ),
    "winter": lambda rows: (
        rows.filter(pl.col("diagnosis") == "J06.9")
        .select(pl.col("visit").dt.month().is_in([12, 1, 2]).mean()).item() > 0.3
    ),
    "weekends are quiet": lambda rows: (
        rows.filter(~pl.col("urgent").is_null()).select((pl.col("visit").dt.weekday() > 5).mean()).item() < 0.2
    ),
    "the main disease comes again": lambda rows: (
        rows.group_by("patient").agg(pl.len(), pl.col("diagnosis").n_unique()).filter(pl.col("len") == 2)
        .select((pl.col("diagnosis") == 1).mean()).item() > 0.4
    ),
    "the old die": lambda rows: rows.filter(pl.col("outcome") == "Died")["age"].mean() > 65,  # type: ignore[operator]
}  # fmt: skip


@pytest.mark.parametrize("name", DEPENDENCES)
def test_dependences(name: str, visits: pl.DataFrame, shuffled: pl.DataFrame) -> None:
    assert DEPENDENCES[name](visits)
    if name != "weekends are quiet":
        assert not DEPENDENCES[name](shuffled)
    else:
        uniform = shuffled.with_columns(visit=pl.date_range(pl.date(2023, 1, 1), pl.date(2024, 12, 31), eager=True)
                                        .sample(len(shuffled), with_replacement=True, seed=1))  # fmt: skip
        assert not DEPENDENCES[name](uniform)


def test_some_values_are_missing(visits: pl.DataFrame) -> None:
    missing = visits.null_count().row(0, named=True)
    assert {name for name, count in missing.items() if count} == set(hospital.MISSING)
    for name, share in hospital.MISSING.items():
        assert missing[name] / len(visits) == pytest.approx(share, rel=0.25)


def test_it_can_be_published_by_dates_and_codes(table: Table, tmp_path: object) -> None:
    release = Mondrian(k=20).publish(table)
    labels = {axis.name: release.boxes.labels(axis, place) for place, axis in enumerate(table.schema.quasi)}
    assert any(label.startswith("[20") for label in labels["visit"])
    assert ">= " in "".join(labels["age"])
    truth = parse_query("visit in (2023-Q1, 2024-Q1) and diagnosis = 'J*'", table.schema)
    estimate, exact = truth.estimate(release), truth.matches(table)
    assert abs(estimate - exact) < 0.25 * exact
    assert np.isfinite(estimate)
