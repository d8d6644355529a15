"""Edits of a schema: the edited table is the one that the rows give when they are read with the edited schema."""

from __future__ import annotations

import random
import tomllib
from datetime import date, timedelta
from functools import reduce

import numpy as np
import polars as pl
import pytest

from sfumato.data import Table, read
from sfumato.errors import SchemaError
from sfumato.schema import Schema
from sfumato.trials.edits import Edit, coarsening, possible_edits, toml_of
from sfumato.trials.purpose import drawn_rows
from sfumato.trials.regroup import with_sensitive

REGIONS = {"north": {"n": ["n1", "n2"], "nn": ["n3"]}, "south": {"coast": ["s1", "s2"], "s3": []}}
SCHEMA = Schema.parse(
    {
        "name": "small",
        "columns": {
            "who": {"role": "identifier"},
            "age": {"role": "quasi", "kind": "numeric", "min": 17, "max": 90},
            "income": {"role": "quasi", "kind": "numeric", "edges": [0, 10, 20, 50, 80, 100.5], "nullable": True},
            "region": {"role": "quasi", "kind": "categorical", "taxonomy": REGIONS, "off_schema": "s3"},
            "colour": {"role": "quasi", "kind": "categorical", "values": list("abcdef"), "nullable": True},
            "sex": {"role": "quasi", "kind": "categorical", "values": ["f", "m"]},
            "illness": {"role": "sensitive", "kind": "categorical", "values": ["x", "y", "z"], "nullable": True},
        },
    }
)


def people(rows: int = 300, seed: int = 7) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "who": [f"p{number}" for number in range(rows)],
            "age": [draw.randint(17, 90) for _ in range(rows)],
            "income": [draw.choice([None, 3.0, 12.0, 49.0, 60.0, 100.0]) for _ in range(rows)],
            "region": [draw.choice(["n1", "n2", "n3", "s1", "s2", "s3", "elsewhere"]) for _ in range(rows)],
            "colour": [draw.choice([None, *"aaaabbbccdef"]) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "illness": [draw.choice(["x", "y", "z", None]) for _ in range(rows)],
        }
    )


ROWS = people()
TABLE = read(ROWS, SCHEMA)
EDITS = {(edit.column, edit.action): edit for edit in possible_edits(TABLE)}


def expect_same(found: Table, expected: Table) -> None:
    assert found.schema.spec() == expected.schema.spec()
    for name in ("points", "cell_point", "cell_value", "cell_weight", "cell_people"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert found.digest == expected.digest


def test_every_column_can_be_left_out_and_all_but_the_smallest_coarsened() -> None:
    quasi = [axis.name for axis in SCHEMA.quasi]
    assert [key for key in EDITS if key[1] == "drop"] == [(name, "drop") for name in quasi]
    assert [key for key in EDITS if key[1] == "coarsen"] == [(name, "coarsen") for name in quasi[:-1]]
    assert {key: edit.words for key, edit in EDITS.items() if key[1] == "coarsen"} == {
        ("age", "coarsen"): "publish age in steps of 5 in place of 1",
        ("income", "coarsen"): "publish income in 3 bins in place of 5",
        ("region", "coarsen"): "publish region one level of its taxonomy higher, with 4 values in place of 6",
        ("colour", "coarsen"): "publish the 3 commonest values of colour, and Other for the other 3",
    }


FAR = [edit for axis in SCHEMA.quasi if (edit := coarsening(TABLE, axis.name, far=True))]


def test_a_column_can_be_coarsened_until_a_handful_of_values_is_left() -> None:
    assert {edit.column: edit.words for edit in FAR} == {"age": "publish age in steps of 20 in place of 1"}
    wide = {"kind": "categorical", "values": [str(value) for value in range(40)], "role": "quasi"}
    deep = {"kind": "categorical", "role": "quasi", "taxonomy": {"a": {"b": {"c": ["d", "e"], "f": ["g"]}, "h": ["i"]}}}
    ill = {"role": "sensitive", "kind": "categorical", "values": ["x", "y"]}
    rows = {"wide": [str(n % 40) for n in range(80)], "deep": ["d", "e", "g", "i"] * 20, "ill": ["x", "y"] * 40}
    table = read(rows, {"columns": {"wide": wide, "deep": deep, "ill": ill}})
    found = coarsening(table, "wide", far=True)
    assert found is not None
    assert found.words == "publish the 5 commonest values of wide, and Other for the other 35"
    expect_same(found.apply(table), read(rows, found.schema(table.schema)))
    assert coarsening(found.apply(table), "wide", far=True) is None


@pytest.mark.parametrize("edit", [*EDITS.values(), *FAR], ids=lambda edit: f"{edit.action} {edit.words}")
def test_an_edited_table_is_what_reading_the_rows_gives(edit: Edit) -> None:
    schema = edit.schema(SCHEMA)
    expect_same(edit.apply(TABLE), read(ROWS, schema))
    spelled = Schema.parse(
        SCHEMA.spec() | {"columns": SCHEMA.spec()["columns"] | tomllib.loads(toml_of(schema, [edit.column]))["columns"]}
    )
    expect_same(edit.apply(TABLE), read(ROWS, spelled))


def test_edits_of_several_columns_and_of_one_column_twice() -> None:
    edits = list(EDITS.values())
    chosen = [edits[0], EDITS["region", "coarsen"], EDITS["sex", "drop"]]
    once = reduce(lambda table, edit: edit.apply(table), chosen, TABLE)
    expect_same(once, read(ROWS, reduce(lambda schema, edit: edit.schema(schema), chosen, SCHEMA)))
    again = {(edit.column, edit.action): edit for edit in possible_edits(once)}
    for name in ("age", "region"):
        edit = again[name, "coarsen"]
        expect_same(edit.apply(once), read(ROWS, edit.schema(once.schema)))
    assert again["age", "coarsen"].words == "publish age in 8 bins in place of 16"


def test_a_taxonomy_is_read_at_the_level_that_is_asked_for() -> None:
    region = {"role": "quasi", "kind": "categorical", "taxonomy": REGIONS}

    def axis(coarsen: object) -> object:
        rest = {"illness": {"role": "sensitive", "kind": "categorical", "values": ["x", "y"]}}
        return Schema.parse({"columns": {"region": region | {"coarsen": coarsen}, **rest}}).quasi[0]

    assert axis(1).labels == ["n", "nn", "coast", "s3"]
    assert axis(2).labels == ["north", "south"]
    assert axis(2).encode(["n1", "s3", "south", "nn", "?"]).tolist() == [0, 1, 1, -2, -2]
    for wrong in (3, -1, True, "1"):
        with pytest.raises(SchemaError, match="coarsen is"):
            axis(wrong)


def test_another_column_can_take_the_place_of_the_sensitive_one() -> None:
    columns = SCHEMA.spec()["columns"]
    columns["illness"]["role"], columns["colour"]["role"] = "quasi", "sensitive"
    expect_same(with_sensitive(TABLE, "colour"), read(ROWS, Schema.parse(SCHEMA.spec() | {"columns": columns})))
    assert with_sensitive(TABLE, "illness") is TABLE


def test_rows_drawn_from_exact_rows_are_those_rows() -> None:
    from sfumato.methods import Original

    people = TABLE.people
    drawn = drawn_rows(Original().publish(people), people)
    assert drawn.n == people.n
    assert np.array_equal(drawn.points, people.points)
    assert np.array_equal(drawn.weights, people.weights)


KINDS = {
    "day": {"kind": "date", "min": "2023-12-20", "max": "2024-03-10", "format": "%d.%m.%Y", "nullable": True},
    "hour": {"kind": "date", "min": "2023-12-31", "max": "2024-01-01", "unit": "hour", "off_schema": "clip"},
    "icd": {"kind": "code", "values": ["J45.0", "J45.9", "J45", "E11", "E10.2"], "levels": [1, 3], "off_schema": "E11"},
    "plz": {"kind": "code", "digits": 3},
    "old": {"kind": "numeric", "bottom": 17, "top": 90},
    "pay": {"kind": "numeric", "edges": [0, 10, 20, 30, 40], "top": 50, "bottom": 0},
    "level": {"kind": "categorical", "values": list("abcdef"), "ordered": True},
    "yes": {"kind": "boolean"},
}


def kinds(rows: int = 200, seed: int = 3) -> pl.DataFrame:
    draw = random.Random(seed)
    days = [date(2023, 12, 20) + timedelta(draw.randrange(82)) for _ in range(rows)]
    return pl.DataFrame(
        {
            "day": [draw.choice([f"{day:%d.%m.%Y}", day.isoformat()]) if n % 9 else "" for n, day in enumerate(days)],
            "hour": [f"{draw.choice(['2023-12-31', '2024-01-01'])} {draw.randrange(24):02d}:30" for _ in range(rows)],
            "icd": [draw.choice(["J45.0", "J45.9", "J45", "E11", "E10.2", "Z99"]) for _ in range(rows)],
            "plz": [f"{draw.randrange(1000):03d}" for _ in range(rows)],
            "old": [draw.randint(5, 103) for _ in range(rows)],
            "pay": [draw.uniform(-20, 90) for _ in range(rows)],
            "level": [draw.choice("abcdef") for _ in range(rows)],
            "yes": [draw.choice(["ja", "no", "1", "F"]) for _ in range(rows)],
            "ill": [draw.choice("xy") for _ in range(rows)],
        }
    )


def test_dates_codes_and_open_ends_are_coarsened_as_reading_them_would() -> None:
    ill = {"role": "sensitive", "kind": "categorical", "values": ["x", "y"]}
    columns = {name: {"role": "quasi", **spec} for name, spec in KINDS.items()}
    rows = kinds()
    table = read(rows, {"columns": columns | {"ill": ill}})
    found = {edit.column: edit for edit in possible_edits(table) if edit.action == "coarsen"}
    far = [edit for name in KINDS if (edit := coarsening(table, name, far=True))]
    assert {name: edit.words for name, edit in found.items()} == {
        "day": "publish day by month, with 4 values in place of 82",
        "hour": "publish hour by day, with 2 values in place of 48",
        "icd": "publish icd one level of its taxonomy higher, with 3 values in place of 5",
        "plz": "publish plz one level of its taxonomy higher, with 100 values in place of 1000",
        "old": "publish old in steps of 5 in place of 1",
        "pay": "publish pay in 4 bins in place of 7",
    }
    assert {edit.column for edit in far} >= {"plz", "old"}
    for edit in [*found.values(), *far]:
        schema = edit.schema(table.schema)
        expect_same(edit.apply(table), read(rows, schema))
        expect_same(edit.apply(table), read(rows, Schema.parse(schema.spec())))
