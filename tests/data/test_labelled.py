"""Files of SPSS, Stata and SAS: labels, missing values, dates, whole numbers, and text in any encoding."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import sfumato as sf
from sfumato.data import labelled, pieces
from sfumato.data.formats import read_table
from sfumato.data.opening import Opening
from sfumato.errors import DataError

NOON = dt.datetime(2024, 1, 31, 12, 30)
FRAME = pd.DataFrame(
    {
        "age": [30.0, 41.5, 99.0, None],
        "sex": [1.0, 2.0, 1.0, 3.0],
        "town": ["Köln", "b", "", "b"],
        "day": [NOON.date()] * 4,
        "at": [NOON] * 4,
    }
)
LABELS = {"sex": {1: "männlich", 2: "weiblich"}}
AGES = ["30", "41.5", "99", None]
WORDS = ["männlich", "weiblich", "männlich", "3"]


def sav(path: Path, frame: pd.DataFrame = FRAME, **more: Any) -> Path:
    pyreadstat.write_sav(frame, path, **{"variable_value_labels": LABELS, **more})
    return path


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_a_value_is_read_as_its_label(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people{ending}"
    if ending == ".dta":
        pyreadstat.write_dta(FRAME, path, variable_value_labels=LABELS)
    else:
        sav(path, compress=ending == ".zsav")
    frame = read_table(path)
    assert frame["sex"].to_list() == WORDS
    assert frame["age"].to_list() == AGES
    assert frame["town"].to_list() == ["Köln", "b", None, "b"]
    assert frame["day"].unique().to_list() == ["2024-01-31"]
    assert frame["at"].unique().to_list() == ["2024-01-31 12:30:00"]
    assert read_table(path, ["sex"]).columns == ["sex"]


@pytest.mark.parametrize("ending", [".por", ".xpt"])
def test_files_without_labels(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people{ending}"
    frame = FRAME.assign(town="b").rename(columns=str.upper)
    pyreadstat.write_por(frame, path) if ending == ".por" else pyreadstat.write_xport(frame, path)
    found = read_table(path)
    assert found["AGE"].to_list() == AGES
    assert found["SEX"].to_list() == ["1", "2", "1", "3"]
    assert found["DAY"].unique().to_list() == ["2024-01-31"]
    assert found["AT"].unique().to_list() == ["2024-01-31 12:30:00"]


def test_what_a_file_declares_missing_is_missing(tmp_path: Path) -> None:
    path = sav(tmp_path / "people.sav", missing_ranges={"age": [99], "sex": [{"lo": 3, "hi": 9}]})
    assert read_table(path)["age"].to_list() == ["30", "41.5", None, None]
    assert read_table(path)["sex"].to_list() == [*WORDS[:3], None]


def test_two_values_with_one_label_stay_two(tmp_path: Path) -> None:
    path = tmp_path / "people.dta"
    pyreadstat.write_dta(FRAME, path, variable_value_labels={"sex": {1: "other", 2: "other", 3: "none"}})
    assert read_table(path)["sex"].to_list() == ["other (1)", "other (2)", "other (1)", "none"]


def test_dates_that_no_calendar_has_stop_nobody(tmp_path: Path) -> None:
    frame = pd.DataFrame({"day": [0.0, 1e30, -1e15, 13926038400.0], "ill": ["no", "yes", "no", "no"]})
    pyreadstat.write_sav(frame, tmp_path / "people.sav", variable_format={"day": "DATE11"})
    days = read_table(tmp_path / "people.sav")["day"].to_list()
    assert (days[0], days[3]) == ("1582-10-14", "2024-01-31")
    assert all("-" not in day.lstrip("-") for day in days[1:3] if day)


def broken(folder: Path) -> Path:
    path = sav(folder / "people.sav")
    content = path.read_bytes()
    assert content.count("Köln".encode()) == 1
    path.write_bytes(content.replace("Köln".encode(), b"K\xf6lnx"))
    return path


def test_text_that_is_none_is_spelled_out_or_refused(tmp_path: Path) -> None:
    path = broken(tmp_path)
    for reading in ("lossy", "lenient"):
        assert read_table(path, reading=reading)["town"].to_list() == ["K\\xf6lnx", "b", None, "b"]
    with pytest.raises(DataError, match=r"people\.sav: text in the column 'town' is not utf-8; say which encoding"):
        read_table(path)


def test_an_encoding_can_be_said(tmp_path: Path) -> None:
    found = read_table(broken(tmp_path), opening=Opening(encoding="latin-1"))
    assert found["town"].to_list() == ["Kölnx", "b", None, "b"]


def test_a_cell_that_is_no_text_changes_no_other(tmp_path: Path) -> None:
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "off_schema": "clip"},
        "town": {"role": "quasi", "kind": "categorical", "values": ["b", "x"], "off_schema": "x"},
        "sex": {"role": "sensitive", "kind": "categorical", "values": WORDS[:2], "off_schema": "weiblich"},
    }
    table = sf.read(broken(tmp_path), schema={"columns": columns})
    whole = sf.read(sav(tmp_path / "sound.sav"), schema={"columns": columns})
    assert table.digest == whole.digest
    assert table.placed == {"age": 2, "town": 2, "sex": 1}


def test_a_file_is_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sav(tmp_path / "people.sav")
    whole = read_table(path)
    monkeypatch.setattr(pieces, "ROWS_AT_ONCE", 3)
    parts = list(labelled.read_labelled(path, None, False, Opening()))
    assert [(part.frame.height, part.before) for part in parts] == [(3, 0), (1, 3)]
    assert pl.concat(part.frame for part in parts).equals(whole)


@pytest.mark.parametrize("ending", labelled.READERS)
def test_files_that_are_none(tmp_path: Path, ending: str) -> None:
    whole = sav(tmp_path / "sound.sav").read_bytes()
    for content in (b"", b"$FL2 nothing more", whole[:200], b"\0" * 3000):
        (tmp_path / f"people{ending}").write_bytes(content)
        with pytest.raises(DataError, match=r"people\.\w+: (cannot be read as a table|the file has no rows|text in)"):
            read_table(tmp_path / f"people{ending}")


def test_a_file_that_ends_early(tmp_path: Path) -> None:
    path = sav(tmp_path / "people.sav")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="cannot be read as a table"):
        read_table(path)
