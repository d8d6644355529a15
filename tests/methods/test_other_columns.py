"""Columns that nobody knows and that are no secret: kept beside generalized rows, made up along with generated ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data import Table, read
from sfumato.errors import DataError, ParameterError, SchemaError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import METHODS
from sfumato.release import Release
from sfumato.schema import Schema

AGE = {"role": "quasi", "kind": "numeric", "min": 0, "max": 4}
ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
WARD = {"role": "other", "kind": "categorical", "values": ["a", "b", "c"], "nullable": True}
DAYS = {"role": "other", "kind": "numeric", "min": 0, "max": 30, "off_schema": "clip"}
MAKING_ROWS = ("synthesis", "privbayes", "marginals")


def people(rows: int = 3_000) -> pl.DataFrame:
    numbers = np.random.default_rng(11)
    age = numbers.integers(0, 5, rows)
    ill = np.where(numbers.random(rows) < age / 5, "yes", "no")
    ward = np.where(ill == "yes", "c", numbers.choice(["a", "b", ""], rows))
    return pl.DataFrame({"age": age, "ill": ill, "ward": ward, "days": np.minimum(age * 7, 40)})


def schema_of(**more: Any) -> Schema:
    columns = {"age": AGE, "ill": ILL, "ward": WARD, "days": DAYS} | more
    return Schema.parse({"name": "wards", "columns": columns})


@pytest.fixture(scope="module")
def table() -> Table:
    return read(people(), schema_of())


def test_generalized_rows_keep_them_as_the_schema_spells_them(tmp_path: Path) -> None:
    frame = people(200).with_columns(days=pl.col("days") + 10)
    release = sf.Mondrian(k=20).publish(read(frame, schema_of()))
    assert "nobody knows the ward, days of a person" in " ".join(release.claim.assumptions)
    back = Release.load(release.save(tmp_path / "release")).to_polars()
    assert back["days"].cast(pl.Int64).sort().to_list() == frame["days"].clip(0, 30).sort().to_list()
    spelled = frame["ward"].replace("", "(missing)")
    assert back["ward"].sort().to_list() == spelled.sort().to_list()


@pytest.mark.parametrize("name", MAKING_ROWS)
def test_generated_rows_have_them_as_the_model_ties_them_to_the_rest(name: str, table: Table, tmp_path: Path) -> None:
    release = METHODS[name](epsilon=20).publish(table, SimulatedSource(3))
    made = Release.load(release.save(tmp_path / "release")).to_polars()
    assert set(made["ward"]) <= {"a", "b", "c", "(missing)"}
    together = made.filter((pl.col("ill") == "yes") == (pl.col("ward") == "c"))
    assert len(together) > 0.95 * len(made), "wards and illness are not tied to each other"


def test_the_model_knows_them_though_trials_have_no_rows(table: Table) -> None:
    method = sf.Synthesis(epsilon=5)
    with_rows, without = (method.publish(one, SimulatedSource(2)) for one in (table, table.without_rows()))
    assert with_rows.to_polars().equals(without.to_polars())


@pytest.mark.parametrize("name", [*MAKING_ROWS, "tables", "mondrian"])
def test_nothing_is_told_of_them_where_rows_were_dealt_out(name: str, table: Table, tmp_path: Path) -> None:
    train, _ = sf.hold_out(table, share=0.5)
    assert [axis.name for axis in train.schema.modelled] == ["age", "ill"]
    method = METHODS[name](**({"k": 10} if name == "mondrian" else {"epsilon": 5}))
    release = method.publish(train, SimulatedSource(2))
    assert "ward" not in Release.load(release.save(tmp_path / "release")).to_polars().columns


def test_rows_that_are_others_by_now_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    people(50).write_csv(path)
    table = read(path, schema_of())
    assert sf.Synthesis(epsilon=10).publish(table).rows > 0
    again = read(path, schema_of())
    people(80).write_csv(path)
    with pytest.raises(DataError, match="the rows are no longer those that were read"):
        sf.Synthesis(epsilon=10).publish(again)


def test_a_pilot_is_bought_and_chosen_on_without_them(table: Table, tmp_path: Path) -> None:
    front = sf.frontier(table, [sf.Synthesis, sf.Tables, sf.FullSuppression, sf.Original], epsilon=4, workers=1)
    assert front.pilot is not None
    assert [axis.name for axis in front.table.schema.modelled] == ["age", "ill"]
    choice = front.recommend(max_query_error=10.0, allow_exact=True)
    folder = choice.save(tmp_path / "release")
    assert {"ward", "days"} <= set(Release.load(folder).to_polars().columns) or choice.trial.method.name == "tables"


def test_noisy_tables_count_them_too(table: Table, tmp_path: Path) -> None:
    release = sf.Tables(epsilon=50, ways=2).publish(table, SimulatedSource(1))
    told = Release.load(release.save(tmp_path / "release")).measured
    assert told is not None
    assert [axis.name for axis in told.axes] == ["age", "ill", "ward", "days"]


def test_no_claim_under_noise_says_that_they_are_published_as_they_are(table: Table) -> None:
    release = sf.Synthesis(epsilon=1).publish(table)
    assert release.violations() == []
    assert not any("published as they are" in line for line in release.claim.assumptions)
    assert any("every value of age, ill, ward in the file fits" in line for line in release.claim.assumptions)


def test_bounds_read_off_the_rows_are_no_promise() -> None:
    release = sf.Synthesis(epsilon=1).publish(read(people(200), schema_of(days={**DAYS, "from_data": ["max"]})))
    assert not release.claim.promises


def test_noise_on_counts_of_boxes_has_no_place_for_them(table: Table) -> None:
    with pytest.raises(ParameterError, match=r"'ward' has role other, but quad-tree.* such as synthesis, take it"):
        sf.QuadTree(epsilon=1).publish(table)
    assert list(sf.QuadTree.grid(table)) == []
    assert len(list(sf.Synthesis.grid(table))) > 0


def test_kept_columns_stay_refused_under_noise() -> None:
    table = read(people(50).with_columns(note=pl.lit("x")), schema_of(note={"role": "keep"}))
    with pytest.raises(ParameterError, match="'note' has role keep"):
        sf.Synthesis(epsilon=1).publish(table)


def test_their_values_are_declared_and_checked() -> None:
    with pytest.raises(SchemaError, match="column 'ward': kind is None"):
        schema_of(ward={"role": "other"})
    with pytest.raises(DataError, match=r"row 1, column 'ward': 'z' is not one of 'a', 'b', 'c'"):
        read(people(5).with_columns(ward=pl.lit("z")), schema_of())


def test_of_people_with_several_rows_as_many_are_modelled_as_are_counted() -> None:
    frame = people(600).with_columns(who=pl.int_range(600) % 150)
    schema = replace(schema_of(who={"role": "identifier"}), rows_per_person=2)
    table = read(frame, schema)
    wider = table.with_others
    assert wider is not None
    assert (table.n, wider.rows.sum()) == (300, 300)
    codes, place = np.unique(wider.keys[:, :2], axis=0, return_inverse=True)
    assert np.array_equal(codes, np.unique(table.cell_codes, axis=0))
    assert np.array_equal(np.bincount(place.reshape(-1), wider.rows), table.cell_weight)
    assert sf.Mondrian(k=10).publish(table).rows == 150
    assert sf.Synthesis(epsilon=5).publish(table).claim.promises
