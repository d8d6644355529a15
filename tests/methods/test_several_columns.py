"""Several sensitive columns, from a frame to a folder and back: every method, and what it claims of each column."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
import sfumato as sf
from sfumato.data import Table, read
from sfumato.errors import ParameterError, ReleaseError, UnsatisfiableError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import METHODS, Method, Mondrian, Original
from sfumato.privacy.requirements import DistinctLDiversity, LDiversity, OfColumn, Requirement
from sfumato.release import Release
from sfumato.release.tables import MIN_COUNT
from sfumato.schema import Schema
from strategies import TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW = "mst"
TAKING = sorted(name for name, kind in METHODS.items() if kind.takes_several and name != SLOW)
REFUSING = sorted(name for name, kind in METHODS.items() if not kind.takes_several)


@st.composite
def tables_of_two(draw: st.DrawFn) -> tuple[Table, pl.DataFrame]:
    """A table whose first column that can vary is sensitive too, and its raw rows."""
    case: TableCase = draw(tables(most_rows=30, most_quasi=3, most=4))
    varying = [axis.name for axis in case.case.quasi if axis.positions > 1]
    assume(varying and len(case.case.quasi) > 1)
    spec = case.case.spec
    spec["columns"][varying[0]]["role"] = "sensitive"
    return read(case.frame, Schema.parse(spec)), case.frame


def published_rows(release: Release) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The quasi-identifiers and the sensitive values of every published row, as text."""
    frame = release.to_polars()
    quasi, secrets = [axis.name for axis in release.schema.quasi], release.schema.secret_names
    return list(zip(frame.select(quasi).rows(), frame.select(secrets).rows(), strict=True))


def parts(release: Release, column: int, others_known: bool) -> Iterator[list[str]]:
    """The values of a column in each class, or in each part of one in which the other columns agree."""
    found = defaultdict(list)
    for point, secrets in published_rows(release):
        others = secrets[:column] + secrets[column + 1 :]
        found[(point, others if others_known else ())].append(secrets[column])
    yield from found.values()


def settings_of(name: str, table: Table) -> list[Method]:
    """Some settings that suit the table; small tables may have none."""
    return list(METHODS[name].grid(table, (1.0,)))[:4]


@settings(max_examples=25)
@given(case=tables_of_two())
def test_one_column_alone_is_what_reading_it_alone_gives(case: tuple[Table, pl.DataFrame]) -> None:
    table, frame = case
    for column in table.schema.secret_names:
        alone, expected = table.focused(column), read(frame, table.schema.focused(column))
        assert alone.schema == expected.schema
        assert alone.fingerprint == expected.fingerprint
    assert np.array_equal(np.sort(table.cell_codes, axis=0), np.sort(read(frame, table.schema).cell_codes, axis=0))


@pytest.mark.parametrize("name", TAKING)
@settings(max_examples=5)
@given(case=tables_of_two())
def test_every_method_publishes_all_columns_together(name: str, case: tuple[Table, pl.DataFrame]) -> None:
    table, _ = case
    for method in settings_of(name, table):
        try:
            release = method.publish(table, SimulatedSource(1))
        except UnsatisfiableError:
            continue
        assert release.histograms.shape[1] == table.schema.sensitive.positions
        with tempfile.TemporaryDirectory() as folder:
            if release.layout == "counts" and not (release.counts >= MIN_COUNT).any():
                continue
            back = Release.load(release.save(Path(folder) / "release"))
        assert back.violations() == []
        assert back.schema == release.schema
        if release.layout != "counts":
            assert np.allclose(back.overall, np.round(release.overall))
        if not release.noisy and release.rows == table.n:
            assert np.array_equal(back.overall, table.overall)


@pytest.mark.parametrize("name", REFUSING)
def test_methods_of_one_secret_refuse_several_and_say_so(name: str) -> None:
    method = METHODS[name](**({"l": 2} if name == "anatomy" else {"epsilon": 1.0}))
    with pytest.raises(ParameterError, match=f"{name} protects one sensitive column, and illness and income"):
        method.publish(small_table())


@pytest.mark.parametrize("others_known", [False, True])
@settings(max_examples=25)
@given(case=tables_of_two(), l=st.sampled_from([1.2, 1.5, 2]))
def test_classes_are_diverse_in_every_column(others_known: bool, case: tuple[Table, pl.DataFrame], l: float) -> None:
    table, _ = case
    requirement: Requirement = LDiversity(l=l)
    asked = OfColumn.each(requirement) if others_known else requirement
    try:
        release = Mondrian(k=2, requirements=(asked,)).publish(table)
    except UnsatisfiableError:
        return
    for column in range(len(table.schema.secrets)):
        for values in parts(release, column, others_known):
            counts = [values.count(value) for value in set(values)]
            assert reference.is_probabilistic_diverse(counts, counts, l)


@settings(max_examples=15)
@given(case=tables_of_two())
def test_columns_have_requirements_of_their_own(case: tuple[Table, pl.DataFrame]) -> None:
    table, _ = case
    first, last = table.schema.secret_names
    asked = (
        OfColumn(column=first, requirement=DistinctLDiversity(l=2)),
        OfColumn(column=last, requirement=LDiversity(l=1)),
    )
    try:
        release = Mondrian(k=1, requirements=asked).publish(table)
    except UnsatisfiableError:
        return
    assert all(len(set(values)) >= 2 for values in parts(release, 0, others_known=False))
    assert [one["column"] for one in release.claim.spec()["requirements"] if "column" in one] == [first, last]


def small_table(rows: int = 60) -> Table:
    age = {"role": "quasi", "kind": "numeric", "min": 0, "max": 19}
    illness = {"role": "sensitive", "kind": "categorical", "values": ["none", "flu", "gout"], "nullable": True}
    income = {"role": "sensitive", "kind": "numeric", "min": 0, "max": 3}
    numbers = np.random.default_rng(7)
    people = {
        "age": numbers.integers(0, 20, rows).tolist(),
        "illness": numbers.choice(["none", "flu", "gout", ""], rows).tolist(),
        "income": numbers.integers(0, 4, rows).tolist(),
    }
    return read(people, Schema.parse({"columns": {"age": age, "illness": illness, "income": income}}))


def test_a_folder_whose_column_lost_its_variety_is_found_out(tmp_path: Path) -> None:
    """The twin: the release of a requirement on one column claims it of the other."""
    table = small_table()
    release = Mondrian(k=1, requirements=(OfColumn(column="income", requirement=DistinctLDiversity(l=3)),)).publish(
        table
    )
    folder = release.save(tmp_path / "release")
    assert Release.load(folder).violations() == []
    path = folder / "release.json"
    said: dict[str, Any] = json.loads(path.read_text())
    said["claim"]["requirements"][-1]["column"] = "illness"
    said["claim"]["requirements"][-1]["of"]["l"] = 4
    path.write_text(json.dumps(said))
    assert any("distinct l-diversity (l=4) of column illness" in one for one in Release.load(folder).violations())


@pytest.mark.parametrize(
    "query",
    [
        "illness = flu and income >= 2",
        "illness is missing",
        "income = 0 and age < 9",
        "illness in (flu, gout) and age > 3",
    ],
)
def test_questions_join_sensitive_columns(query: str) -> None:
    table = small_table()
    expected = sf.release.query.parse_query(query, table.schema).matches(table)
    found = Original().publish(table).answer(query)
    assert (found.low, found.high) == (expected, expected)
    coarse = Mondrian(k=10).publish(table).answer(query)
    assert coarse.low <= expected <= coarse.high


def test_look_alikes_of_one_column_do_not_make_it_diverse() -> None:
    spec = small_table().schema.spec()
    spec["columns"]["illness"] |= {"values": ["none", "flu", "Flu"], "nullable": False}
    people = {"age": [1, 1, 2, 2], "illness": ["flu", "Flu", "none", "none"], "income": [0, 1, 2, 3]}
    table = read(people, Schema.parse(spec))
    release = Original().publish(table)
    claimed = sf.Mondrian(k=1, requirements=(DistinctLDiversity(l=2),))
    with pytest.raises(ReleaseError, match="distinct l-diversity"):
        claimed.make_release(table, release.boxes, release.histograms).verified()
