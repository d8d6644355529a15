"""A thousand malformed inputs: each ends in a correct result, or in one sentence on standard error and exit code 2."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .malformed import SCHEMA_FAULTS, TABLE_FAULTS, Case, Tampering, cases, check, other_files, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def column(path: Path, name: str) -> Counter[str]:
    """How often each value stands in a column of a sound CSV file, by the standard library's reading."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return Counter(row[name] for row in csv.DictReader(file))


def write(folder: Path, case: Case) -> tuple[str, str]:
    """Write the files of a case; the paths of its table and schema."""
    (folder / case.file_name).write_bytes(case.table)
    (folder / "people.toml").write_bytes(case.schema)
    (folder / "town.csv").write_bytes(case.hierarchy)
    return str(folder / case.file_name), str(folder / "people.toml")


def published(folder: Path, case: Case) -> dict[str, Any] | None:
    """Publish; what comes out has every row and keeps its claim, or nothing is there."""
    table, schema = write(folder, case)
    release = folder / "release"
    outcome = run("publish", table, "--schema", schema, *case.parameters, "-o", str(release), "--json")
    if not check(outcome):
        assert not release.exists(), outcome
        return None
    about: dict[str, Any] = json.loads(outcome.out)
    verified = run("verify", str(release), "--json")
    assert verified.err == "", verified
    assert json.loads(verified.out)["verified"] == (about["method"] != "original"), verified
    if (release / "data.csv").exists():
        diseases = column(release / "data.csv", "disease")
        assert diseases.total() == about["rows"], outcome
        if case.faults.isdisjoint(TABLE_FAULTS | SCHEMA_FAULTS):
            assert diseases == column(folder / case.file_name, "disease"), outcome
    return about


def check_queries(folder: Path, case: Case) -> None:
    about = published(folder, case)
    if about is None:
        return
    outcome = run("query", str(folder / "release"), case.query, "--json")
    if check(outcome):
        assert -1e-6 <= json.loads(outcome.out)["estimate"] <= about["rows"] + 1e-6, outcome


def check_measures(folder: Path, case: Case) -> None:
    """A release of ours can always be measured; the table itself, read as another tool's release, mostly too."""
    table, schema = write(folder, case)
    if published(folder, case) is not None:
        assert check(run("measure", table, str(folder / "release"), "--schema", schema, "--json"))
    outcome = run("measure", table, table, "--schema", schema, "--json")
    if check(outcome):
        assert json.loads(outcome.out)["ncp"]["value"] is not None


def check_tampering(folder: Path, case: Case) -> None:
    """A tampered release is refused, found out, or still keeps its claim; there is never a traceback."""
    if published(folder, case) is None:
        return
    tamper(folder / "release", case.tampering)
    for command in (("verify", str(folder / "release")), ("query", str(folder / "release"), case.query)):
        outcome = run(*command)
        assert outcome.code in (0, 1, 2), outcome
        if outcome.code == 1:
            assert "does not keep its claim" in outcome.out or "no claim" in outcome.out, outcome
        else:
            check(outcome)


def tamper(release: Path, tampering: Tampering) -> None:
    """Do it."""
    files = sorted(release.iterdir())
    target = files[tampering.which % len(files)]
    if tampering.which == 3:
        target = release / "release.json"
        spec = json.loads(target.read_text(encoding="utf-8"))
        places = list(places_in(spec))
        holder, key = places[int(len(places) * tampering.place)]
        holder[key] = tampering.value
        target.write_text(json.dumps(spec), encoding="utf-8")
        return
    whole = target.read_bytes()
    at = int(len(whole) * tampering.place)
    target.write_bytes(whole[:at] + tampering.content + whole[at + len(tampering.content) :])


def places_in(spec: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in decoded JSON where another value could stand."""
    for key, value in spec.items() if isinstance(spec, dict) else enumerate(spec):
        yield spec, key
        if isinstance(value, dict | list):
            yield from places_in(value)


def check_proposal(folder: Path, case: Case) -> None:
    """A proposal is a schema under which the same file can be read."""
    table, _ = write(folder, case)
    target = folder / "proposed.toml"
    outcome = run("init", table, "--sensitive", case.sensitive, "-o", str(target))
    if not check(outcome):
        assert not target.exists(), outcome
        return
    again = run("publish", table, "--schema", str(target), "--method", "original", "-o", str(folder / "out"), "--json")
    assert check(again) or "would be read back as another value" in again.err, (outcome, again, target.read_text())


CHECKS = {check_queries: 200, check_measures: 60, check_tampering: 200, check_proposal: 200}
"""How many inputs each gets; measuring takes the longest."""


OTHER = """
columns.age = {role = "quasi", kind = "numeric", min = 20, max = 29, off_schema = "clip"}
columns.sex = {role = "quasi", kind = "categorical", values = ["F", "M"], off_schema = "F"}
columns.town = {role = "quasi", kind = "categorical", values = ["north", "a"], off_schema = "a"}
columns.disease = {role = "sensitive", kind = "categorical", values = ["flu", "none"], off_schema = "none"}
"""


@pytest.mark.slow
@settings(max_examples=50)
@given(file=other_files(), total=st.booleans())
def test_files_of_other_formats_end_so_too(file: tuple[str, bytes, bool], total: bool) -> None:
    """Where the schema says what stands for any value, and the bytes are sound, every cell is read."""
    name, content, sound = file
    with tempfile.TemporaryDirectory() as folder:
        path, schema, release = Path(folder) / name, Path(folder) / "people.toml", Path(folder) / "release"
        path.write_bytes(content)
        schema.write_text(
            OTHER if total else OTHER.replace(', off_schema = "clip"', "").replace(', off_schema = "a"', "")
        )
        source = f"sqlite:///{path}#people" if name.endswith(".db") else str(path)
        told = run("publish", source, "--schema", str(schema), "--method", "original", "-o", str(release), "--json")
        assert check(told) == release.exists()
        assert release.exists() or not (sound and total), told
        check(run("init", source, "--sensitive", "disease", "-o", str(Path(folder) / "proposed.toml")))


@pytest.mark.slow
@pytest.mark.usefixtures("few_queries")
@pytest.mark.parametrize(("what", "examples"), CHECKS.items())
def test_every_input_ends_in_a_correct_result_or_in_one_sentence(
    what: Callable[[Path, Case], None], examples: int
) -> None:
    @settings(max_examples=examples)
    @given(case=cases())
    def try_cases(case: Case) -> None:
        with tempfile.TemporaryDirectory() as folder:
            what(Path(folder), case)

    try_cases()
