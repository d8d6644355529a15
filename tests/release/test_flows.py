"""Releases of flows: read back in the old and the new form, asked, and checked as far as the folder allows."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from flow_cases import line
from sfumato.errors import DataError, QueryError, ReleaseError
from sfumato.privacy.claims import PureDP
from sfumato.release import FlowRelease, Provenance, Release, load_release
from sfumato.release.envelope import files_of_release, refuse_inside_release

if TYPE_CHECKING:
    from sfumato.data.places import Places

OLD = Path(__file__).with_name("old")
CLAIM = PureDP(epsilon=2, neighbours="replace-origin")
PAIRS = pl.DataFrame(
    {
        "destination": ["007", "007", "8 a", "8 a", "x,y"],
        "origin": ["007", "outside", "007", "x,y", "8 a"],
        "count": [5, 1, 20, 300, 4000],
    }
)


def flows(**changes: Any) -> FlowRelease:
    made = Provenance(method="commute", parameters={"radius_km": 3, "beyond": "outside"}, id="a-name")
    return replace(
        FlowRelease(source=PAIRS, claim=CLAIM, provenance=made, from_data=0.5, terms={"synthesis": 2.0}), **changes
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".csv.gz"])
def test_what_is_saved_reads_back(suffix: str, tmp_path: Path) -> None:
    saved = flows(data_set="town").save(tmp_path / "release", suffix=suffix)
    names = {"codebook.md", "release.json", f"flows{suffix}"}
    assert files_of_release(saved) == {path.name for path in saved.iterdir()} == names
    assert json.loads((saved / "release.json").read_text())["kind"] == "flows"
    found = load_release(saved)
    assert isinstance(found, FlowRelease)
    assert found.frame.equals(PAIRS)
    assert (found.claim, found.provenance, found.data_set) == (CLAIM, flows().provenance, "town")
    assert (found.from_data, found.terms, found.reach, found.rows) == (0.5, {"synthesis": 2.0}, 3, 4326)
    assert found.violations() == []
    with pytest.raises(ReleaseError, match="this release holds flows; expected a table"):
        Release.load(saved)


def test_without_an_outside_flows_reach_everywhere() -> None:
    for settings in ({}, {"radius_km": 3, "beyond": "town"}):
        assert flows(provenance=Provenance(method="commute", parameters=settings)).reach == inf


def test_a_folder_of_flows_from_before_reads_as_today() -> None:
    found = load_release(OLD / "flows")
    assert isinstance(found, FlowRelease)
    assert found.frame.rows() == [("001", "001", 6), ("001", "002", 2), ("002", "outside", 2)]
    assert (found.claim.sentence(), found.data_set) == (
        json.loads((OLD / "flows" / "commute.json").read_text())["promise"],
        "town",
    )
    assert (found.provenance.id, found.provenance.version) == ("bff50e6e-d1d9-4efb-85da-d249c2ac00a9", "0.1.0")
    assert (found.settings["rule"], found.reach, found.terms) == ("exact", 5, {"synthesis": 4.0})
    assert found.from_data == pytest.approx(0.952, abs=1e-3)
    assert found.violations() == []
    assert found.query("destination = 001 and origin != 001") == 2
    assert files_of_release(OLD / "flows") == {"commute.json", "flows.csv"}
    with pytest.raises(ReleaseError, match="this lies in the release"):
        refuse_inside_release(OLD / "flows" / "report")


def test_a_folder_of_a_table_from_before_reads_as_today() -> None:
    found = load_release(OLD / "table")
    assert isinstance(found, Release)
    assert (found.verified().rows, found.query("age >= 71 and disease = flu")) == (8, 2)
    assert found.provenance == Provenance(method="mondrian", parameters={"k": 4}, version="0.1.0")
    with pytest.raises(ReleaseError, match="this release holds a table; expected flows"):
        FlowRelease.load(OLD / "table")


@pytest.mark.parametrize(
    ("predicate", "people"),
    [
        ("destination = 007", 6),
        ("destination = '8 a' and origin = 007", 20),
        ("origin != outside and destination = 007", 5),
        ("origin in (007, 'x,y')", 325),
        ("origin not in (007, 'x,y')", 4001),
        ("destination in (007) and destination in ('8 a')", 0),
        ("origin is missing", 0),
        ("destination is not missing", 4326),
    ],
)
def test_flows_are_asked_about_origin_and_destination(predicate: str, people: int, tmp_path: Path) -> None:
    assert flows().query(predicate) == people
    assert load_release(flows().save(tmp_path / "release")).query(predicate) == people


@pytest.mark.parametrize(
    ("predicate", "sentence"),
    [
        ("town = 1", "found 'town' where a column was expected: 'origin', 'destination'"),
        ("origin = nowhere", "'nowhere' is not a value of 'origin'; expected one of '007'"),
        ("destination = outside", "'outside' is not a value of 'destination'"),
        ("origin > 3", "'>' compares numbers, but 'origin' is categorical; use = or in"),
        ("origin", "found the end of the query after the column 'origin'"),
    ],
)
def test_what_cannot_be_asked_of_flows_is_one_sentence(predicate: str, sentence: str) -> None:
    with pytest.raises(QueryError) as refused:
        flows().query(predicate)
    assert sentence in str(refused.value)


def test_ids_that_no_query_could_name_are_refused() -> None:
    with pytest.raises(ReleaseError, match="cannot be asked"):
        flows(source=PAIRS.with_columns(origin=pl.lit("*"))).query("destination = 007")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": pl.concat([PAIRS, PAIRS[:1]])}, "a pair of origin and destination is counted twice"),
        ({"terms": {"synthesis": 2.0, "rejection": 0.1}}, "epsilon is made of 2.1 in all, the claim says 2"),
        ({"claim": PureDP(epsilon=2)}, "the claim add-remove neighbours"),
    ],
)
def test_what_contradicts_the_claim_is_found(changes: dict[str, Any], sentence: str) -> None:
    (found,) = flows(**changes).violations()
    assert sentence in found


GOOD: dict[str, Any] = {
    "format": 1,
    "version": "0.1.0",
    "claim": {"claim": "none", "reason": "made up"},
    "settings": {},
    "file": "flows.csv",
    "drawn_from_data": 0.5,
}
NEW = {key: value for key, value in GOOD.items() if key not in ("settings", "file")} | {
    "kind": "flows",
    "method": "commute",
    "parameters": {},
    "files": {"flows": "flows.csv"},
}


def described(folder: Path, spec: dict[str, Any]) -> FlowRelease:
    """The release of one pair with this description, in the form that its keys say."""
    (folder / "flows.csv").write_text("destination,origin,count\n0000,0001,2\n")
    (folder / ("commute.json" if "settings" in spec else "release.json")).write_text(json.dumps(spec))
    return FlowRelease.load(folder)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 2}, "format is 2; this version reads format 1"),
        ({"format": True}, "format is True; this version reads format 1"),
        ({"format": None}, "format is None"),
        ({"claim": {"claim": "magic"}}, "'magic' is not a known claim"),
        ({"claim": {"claim": "pure-dp", "epsilon": -1}}, "epsilon of the claim is -1"),
        ({"claim": None}, "claim is a NoneType; expected an object"),
        ({"drawn_from_data": "much"}, "drawn_from_data is 'much'; expected a number"),
        ({"drawn_from_data": None}, "drawn_from_data is None; expected a number"),
        ({"epsilon_made_of": [1]}, "epsilon_made_of is a list; expected an object"),
        ({"epsilon_made_of": {"synthesis": "1"}}, "synthesis is '1'; expected a number"),
        *(
            ({"file": name}, f"flows in files is {name!r}; expected a name")
            for name in ("../flows.csv", "/etc/hostname", "deeper/flows.csv", ".", "")
        ),
        ({"settings": 3}, "parameters is a int; expected an object"),
        ({"settings": {"beyond": "outside"}}, "radius_km is None; expected a number"),
    ],
)
def test_broken_descriptions_are_one_sentence(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    today = {"file": "files", "settings": "parameters"}
    changed = {today.get(key, key): {"flows": value} if key == "file" else value for key, value in change.items()}
    for number, (good, broken) in enumerate(((GOOD, GOOD | change), (NEW, NEW | changed))):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert described(folder, good).rows == 2
        with pytest.raises(ReleaseError) as refused:
            described(folder, broken)
        assert str(refused.value).startswith(str(folder))
        assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["other.csv", ".."])
def test_a_file_that_is_not_there_is_said(grid: Places, tmp_path: Path, name: str) -> None:
    with pytest.raises((ReleaseError, DataError), match=r"does not exist|this is a folder"):
        described(tmp_path, GOOD | {"file": name}).flows(grid)
    with pytest.raises(ReleaseError, match="the file does not exist; the release is incomplete"):
        described(tmp_path, GOOD | {"file": name}).violations()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("destination,origin\n1,2\n", "the column 'count' is missing"),
        ("destination,origin,count\n1,2,0\n", "row 1, column 'count': '0' is not a whole number of at least 1"),
        ("destination,origin,count,age\n1,2,3,4\n", "the column 'age' is not part of the release"),
        ("destination,origin,count\n", "the file has no rows"),
    ],
)
def test_files_that_hold_no_flows_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    release = described(tmp_path, GOOD)
    (tmp_path / "flows.csv").write_text(text)
    with pytest.raises((ReleaseError, DataError)) as refused:
        release.violations()
    assert str(refused.value).startswith(str(tmp_path / "flows.csv"))
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["commute.json", "release.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"format": 1}', "[" * 10_000, "\udcff"])
def test_what_is_no_description_is_said(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ReleaseError, match=rf"{name}: (not valid JSON|found a|the file cannot be read|\w+ is missing)"):
        load_release(tmp_path)


def test_a_folder_without_a_description_is_said(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"release\.json: the file does not exist; expected a release folder"):
        FlowRelease.load(tmp_path)
    with pytest.raises(DataError, match=r"flows\.csv: row 1: destination is '0000', which is not in the list"):
        described(tmp_path, GOOD).flows(line([0, 1]))
