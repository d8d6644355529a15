"""File formats: one entry in the registry and tables, releases, flows, places and reports can be in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfumato import commute
from sfumato.collect.reports import count_reports, read_answers, write_reports
from sfumato.collect.survey import Survey
from sfumato.data import read
from sfumato.data.flows import Flows
from sfumato.data.formats import FORMATS, Format, read_table, table_bytes, write_table
from sfumato.data.places import Places
from sfumato.errors import DataError, ParameterError
from sfumato.methods import Mondrian, QuadTree
from sfumato.privacy.ledger import Ledger
from sfumato.publish.flows import publish_flows
from sfumato.publish.publication import publish_to
from sfumato.release import Release, load_release, read_published
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.schema import Schema

TABLE = pl.DataFrame({"place": ["a, b", "ü", None], "count": [1, 2, 3]})
RECORDS = Format(scan=pl.scan_ndjson, write=pl.DataFrame.write_ndjson)


@pytest.fixture
def own_format(monkeypatch: pytest.MonkeyPatch) -> str:
    """A format that the program does not know."""
    monkeypatch.setitem(FORMATS, ".records", RECORDS)
    return ".records"


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".pq", ".CSV", ".Parquet"])
def test_what_is_written_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    write_table(TABLE, path)
    assert path.read_bytes() == table_bytes(TABLE, path)
    for guess in (True, False):
        assert read_table(path, guess=guess).cast({"count": pl.Int64}).equals(TABLE)
    assert read_table(path, ["count"]).columns == ["count"]


def test_a_file_of_ours_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    odd = pl.DataFrame({"a;b;c": ["1", None], "d": ["2", None]})
    write_table(odd, path)
    assert read_table(path, guess=False).equals(odd)
    with pytest.raises(DataError, match="1 fields where the header has 3"):
        read_table(path)


def test_a_name_that_tells_no_format_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"table\.xls: the name of the file must end in \.csv, \.csv\.gz"):
        table_bytes(TABLE, tmp_path / "table.xls")


def test_a_format_is_unknown_without_its_entry(tmp_path: Path) -> None:
    TABLE.write_ndjson(tmp_path / "table.records")
    with pytest.raises(DataError, match="the column 'place' is missing"):
        read_table(tmp_path / "table.records", ["place"])


def test_a_format_of_ones_own_serves_tables_and_releases(tmp_path: Path, own_format: str) -> None:
    people = residents(300)
    write_table(people, tmp_path / f"people{own_format}")
    schema = Schema.load(SCHEMA_PATH)
    table = read(tmp_path / f"people{own_format}", schema)
    assert table.fingerprint == read(people, schema).fingerprint
    for recoding in ("generalize", "bucketize"):
        release = Mondrian(k=5, recoding=recoding).publish(table)
        folder = release.save(tmp_path / recoding, suffix=own_format)
        assert {path.suffix for path in folder.iterdir()} == {".json", ".md", own_format}
        loaded = Release.load(folder)
        assert loaded.query("age >= 40") == pytest.approx(release.query("age >= 40"))
        assert loaded.claim == release.claim
    assert read_published(tmp_path / "generalize" / f"data{own_format}", schema).rows == 300


def test_what_is_charged_can_be_published_in_it(tmp_path: Path, own_format: str) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    table = read(residents(300), Schema.load(SCHEMA_PATH))
    release, folder = publish_to(QuadTree(epsilon=1), table, tmp_path / "tree", ledger=ledger, suffix=own_format)
    assert Release.load(folder).rows == pytest.approx(release.to_polars()["count"].sum())
    made, pairs = commute.commuters(places=40, people=400, destinations=10)
    flows = Flows.read(pairs, Places.read(made))
    synthesizer = commute.Synthesizer(promise=commute.Promise(epsilon=4.6, delta=1e-3))
    options = {"data_set": "flows", "ledger": ledger}
    publish_flows(synthesizer, flows, tmp_path / "flows", suffix=own_format, **options)
    assert load_release(tmp_path / "flows").rows == 400
    spent = len(ledger.entries())
    for suffix in (".xls", "csv.x"):
        with pytest.raises(ParameterError, match="the name of the file must end in"):
            publish_to(QuadTree(epsilon=1), table, tmp_path / "no", ledger=ledger, suffix=suffix)
        with pytest.raises(ParameterError, match="the name of the file must end in"):
            publish_flows(synthesizer, flows, tmp_path / "no", suffix=suffix, **options)
    assert len(ledger.entries()) == spent, "a name that cannot be is refused before anything is charged"


def test_a_format_of_ones_own_serves_flows_places_and_reports(tmp_path: Path, own_format: str) -> None:
    files = {name: tmp_path / f"{name}{own_format}" for name in ("places", "flows", "reports")}
    write_table(pl.DataFrame({"id": ["a", "b"], "lat": [1.0, 2.0], "lon": [3.0, 4.0]}), files["places"])
    write_table(pl.DataFrame({"origin": ["a", "b"], "destination": ["b", "b"], "count": [3, 4]}), files["flows"])
    places = Places.read(files["places"])
    assert Flows.read(files["flows"], places).frame().rows() == [("b", "a", 3), ("b", "b", 4)]
    survey = Survey(name="age", question="How old are you?", min=0, max=3, epsilon=0.5)
    write_reports(files["reports"], "report", np.array([0, 3, 3]))
    assert count_reports(files["reports"], survey).tolist() == [1, 0, 0, 2]
    assert read_answers(files["reports"], survey)[0].tolist() == [0, 3, 3]
