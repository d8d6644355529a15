"""Values that do not fit: all of them in one error, rounded where the schema says so, and counted where they may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.data import misfits, pieces
from sfumato.errors import DataError, SchemaError
from sfumato.schema import Schema

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 20, "max": 30},
    "town": {"role": "quasi", "kind": "categorical", "values": ["a", "b"], "nullable": True},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
}
DIRTY = pl.DataFrame(
    {"age": ["20", "29.4", "31", "29.4", "", "25"], "town": ["a", "c", "", "c", "b", "c"], "ill": ["no", "yes"] * 3}
)
REMEDY = (
    'correct the file, or say in the schema what stands for such a value: off_schema = "clip", "round" or "missing" '
    '(with nullable = true) in [columns.age], off_schema = one of its values or "missing" in [columns.town]'
)


def schema_with(**more: dict[str, Any]) -> Schema:
    return Schema.parse({"columns": {name: {**spec, **more.get(name, {})} for name, spec in COLUMNS.items()}})


def refusal(source: Any, schema: Schema | None = None) -> DataError:
    with pytest.raises(DataError) as caught:
        sf.read(source, schema or schema_with())
    return caught.value


@pytest.mark.parametrize("rows_at_once", [2, 1000])
def test_all_values_that_do_not_fit_are_named_at_once(monkeypatch: pytest.MonkeyPatch, rows_at_once: int) -> None:
    monkeypatch.setattr(pieces, "ROWS_AT_ONCE", rows_at_once)
    error = refusal(DIRTY)
    assert error.sentence == "the data frame: 7 values do not fit the schema"
    grid = "is not a whole number from 20 to 30"
    assert error.details == (
        f"row 2, column 'age': '29.4' {grid} (2 rows)",
        f"row 3, column 'age': '31' {grid}",
        "row 5, column 'age': the value is missing; if that may happen, declare nullable = true in the schema",
        "row 2, column 'town': 'c' is not one of 'a', 'b' (3 rows)",
        REMEDY,
    )
    assert str(error) == "\n  ".join([error.sentence, *error.details])


def test_one_value_is_one_sentence() -> None:
    error = refusal(DIRTY[:1].with_columns(town=pl.lit("d")))
    assert error.details == ()
    assert str(error).startswith(
        "the data frame, row 1, column 'town': 'd' is not one of 'a', 'b'; correct the file, or"
    )
    assert str(refusal(DIRTY[4:5])).endswith("declare nullable = true in the schema")


def test_more_values_than_a_message_names_are_counted() -> None:
    error = refusal(pl.DataFrame({"age": range(100, 140), "town": "a", "ill": "no"}))
    named = [line for line in error.details if line.startswith("row ")]
    assert len(named) == misfits.MAX_NAMED
    assert f"column 'age': {40 - misfits.MAX_NAMED} rows more with other values" in error.details


def test_rows_of_nobody_are_not_blamed() -> None:
    spec = {"columns": {**COLUMNS, "id": {"role": "identifier"}}}
    rows = DIRTY.with_columns(id=pl.Series(["1", "", "2", "2", "", "3"]))
    named = refusal(rows, Schema.parse(spec)).details
    assert not any("row 5" in line for line in named)
    assert any("row 4, column 'age': '29.4'" in line for line in named)


def test_values_between_grid_points_are_rounded() -> None:
    schema = schema_with(age={"off_schema": "round"})
    assert schema.refusing == ("age", "town", "ill")
    table = sf.read({"age": [20.4, "29.6", 25], "town": ["a"] * 3, "ill": ["no"] * 3}, schema)
    assert table.points[:, 0].tolist() == [0, 5, 10]
    assert table.placed == {"age": 2}
    for beyond in ("19.9", "30.1", "inf", "x", ""):
        error = refusal({"age": [beyond], "town": ["a"], "ill": ["no"]}, schema)
        assert "row 1, column 'age'" in str(error)
        assert '"round"' not in str(error)
    bins = {"role": "quasi", "kind": "numeric", "edges": [0, 10, 20], "off_schema": "round"}
    with pytest.raises(SchemaError, match="off_schema is 'round'; expected refuse, clip or missing"):
        Schema.parse({"columns": {**COLUMNS, "age": bins}})


DECLARED = schema_with(age={"off_schema": "clip"}, town={"off_schema": "missing"}, ill={"off_schema": "no"})


def test_how_many_were_replaced_is_recorded_without_noise_alone(tmp_path: Path) -> None:
    table = sf.read(pl.concat([DIRTY] * 10), DECLARED)
    assert table.placed == {"age": 40, "town": 30}
    folder = sf.Mondrian(k=2).publish(table).save(tmp_path / "mondrian")
    assert json.loads((folder / "release.json").read_text())["off_schema"] == {"age": 40, "town": 30}
    assert "(40)" in (folder / "codebook.md").read_text()
    assert sf.Release.load(folder).provenance.off_schema == {"age": 40, "town": 30}
    private = sf.DiffMulti(epsilon=1.0, h=2).publish(table).save(tmp_path / "private")
    assert "(40)" not in (private / "codebook.md").read_text()
    spec = json.loads((private / "release.json").read_text())
    assert "off_schema" not in spec
    (private / "release.json").write_text(json.dumps({**spec, "off_schema": {"age": 40}}))
    assert "it counts values that were replaced, which no noise covers" in sf.Release.load(private).violations()


def test_what_was_published_as_missing_is_read_as_missing(tmp_path: Path) -> None:
    """With the schema of the table, whatever it spells a missing value like, and with that of the release."""
    columns = {name: {**spec, "nullable": True} for name, spec in COLUMNS.items()}
    schema = Schema.parse({"missing": ["?"], "columns": columns})
    rows = {"age": ["?", "25", "20"], "town": ["a", "?", "?"], "ill": ["no", "yes", "?"]}
    table = sf.read(rows, schema)
    folder = sf.Original().publish(table).save(tmp_path / "release")
    assert "(missing)" in (folder / "data.csv").read_text()
    again = sf.read(folder / "data.csv", schema)
    assert again.digest == table.digest
    assert sf.read(folder / "data.csv", sf.Release.load(folder).schema).digest == table.digest
