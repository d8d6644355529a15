"""Odd values one by one: every option of `publish`, every name of a column, every type of a column."""

from __future__ import annotations

import csv
import json
import shutil
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING

import polars as pl
import pytest

from .malformed import OPTION_WORDS, OPTIONS, SPECIAL_NUMBERS, SPECIAL_TEXTS, argument, check, run, toml

if TYPE_CHECKING:
    from pathlib import Path

SOUND_SCHEMA = """\
columns.age = { role = "quasi", kind = "numeric", min = 20, max = 39 }
columns.sex = { role = "quasi", kind = "categorical", values = ["F", "M"] }
columns.town = { role = "quasi", kind = "categorical", values = ["north", "south"] }
columns.disease = { role = "sensitive", kind = "categorical", values = ["flu", "cold", "none"] }
"""
ALL_NUMERIC_OPTIONS = "--k 2 --l 2 --l-form recursive --c 3 --t 0.9 --delta 9 --alpha 0.9 --beta 9"


@pytest.mark.parametrize("option", sorted(set(OPTIONS) - {"--enhanced", "--json", "--method"}))
@pytest.mark.parametrize("sound", ["--k 2", ALL_NUMERIC_OPTIONS])
def test_every_odd_value_of_every_option_is_used_or_refused(tmp_path: Path, option: str, sound: str) -> None:
    """The last of two equal options counts, so the odd value stands where a sound one would."""
    people = product("FM", ("north", "south"), ("flu", "cold", "none"))
    lines = ["age,sex,town,disease", *(f"{age},{','.join(rest)}" for age, rest in enumerate(people, start=20))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    (tmp_path / "people.toml").write_text(SOUND_SCHEMA)
    release = tmp_path / "release"
    publish = ["publish", str(tmp_path / "people.csv"), "--schema", str(tmp_path / "people.toml"), "-o", str(release)]
    publish += ["--method", "mondrian", *sound.split()]
    assert check(run(*publish))
    for value in (*map(str, SPECIAL_NUMBERS), *map(argument, SPECIAL_TEXTS), *OPTION_WORDS):
        shutil.rmtree(release, ignore_errors=True)
        if check(run(*publish, option, value)):
            assert run("verify", str(release)).code == 0
        else:
            assert not release.exists()


@pytest.mark.parametrize("role", ["quasi", "sensitive", "keep"])
@pytest.mark.parametrize("name", sorted({argument(text) for text in SPECIAL_TEXTS}))
def test_odd_column_names_are_published_or_refused(tmp_path: Path, name: str, role: str) -> None:
    """What is published can be read back, and stands under the same names."""
    columns = {"quasi": "q", "sensitive": "s", "keep": "k"} | {role: name}
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        values = [(age, "uvw"[age % 3], f"kept {age}") for age in range(6)]
        csv.writer(file).writerows([list(columns.values()), *values])
    spec = {
        columns["quasi"]: {"role": "quasi", "kind": "numeric", "min": 0, "max": 5},
        columns["sensitive"]: {"role": "sensitive", "kind": "categorical", "values": ["u", "v", "w"]},
        columns["keep"]: {"role": "keep"},
    }
    (tmp_path / "people.toml").write_bytes(f"columns = {toml(spec)}".replace("\x7f", "\\u007f").encode())
    table, schema, release = (str(tmp_path / file) for file in ("people.csv", "people.toml", "release"))
    if not check(run("publish", table, "--schema", schema, "--method", "mondrian", "--k", "2", "-o", release)):
        return
    assert run("verify", release).code == 0
    with (tmp_path / "release" / "data.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    assert set(published[0]) == set(columns.values())
    assert {row[columns["keep"]] for row in published} == {f"kept {age}" for age in range(6)}


TYPES = {
    "bool": [True, False, None],
    "date": [date(2020, 1, day) for day in (1, 2, 3)],
    "moment": [datetime(2020, 1, day) for day in (1, 2, 3)],
    "span": [timedelta(day) for day in (1, 2, 3)],
    "list": [[1], [2], None],
    "record": [{"a": 1}, {"a": 2}, {"a": 3}],
    "decimal": [Decimal("1.10"), Decimal(2), None],
    "bytes": [b"a\xff", b"b", None],
    "nothing": [None, None, None],
    "one": [7, 7, 7],
    "float": [1.5, float("nan"), float("inf")],
    "large": [2**63 - 1, 1, 2],
    "huge": [1e300, -1e300, 1.0],
    "tiny": [1e-300, 2e-300, 3e-300],
    "spelled": ["1", "1.0", "01"],
}


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
@pytest.mark.parametrize("kind", TYPES)
def test_columns_of_every_type_are_proposed_and_published_or_refused(tmp_path: Path, kind: str, role: str) -> None:
    other = ["u", "v", "w"] if role == "quasi" else [1, 2, 3]
    pl.DataFrame({"x": TYPES[kind] * 2, "y": other * 2}).write_parquet(tmp_path / "people.parquet")
    table, schema, release = (str(tmp_path / file) for file in ("people.parquet", "people.toml", "release"))
    names = ("--sensitive", "y", "--quasi", "x") if role == "quasi" else ("--sensitive", "x", "--quasi", "y")
    if check(run("init", table, *names, "-o", schema)):
        outcome = run("publish", table, "--schema", schema, "--method", "mondrian", "--k", "2", "-o", release, "--json")
        assert check(outcome)
        assert json.loads(outcome.out)["rows"] == 6
        assert run("verify", release).code == 0
