"""Tables whose cells do not fit the driver: classes keep the claim, and do not depend on how Spark divides rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from engines import on_spark
from sfumato.data import read
from sfumato.data.large import LargeTable
from sfumato.data.spark import bring, far
from sfumato.errors import DataError, ReleaseError, UnsatisfiableError
from sfumato.methods import KDTree, Mondrian
from sfumato.methods.partition import regions
from sfumato.release import Release
from sfumato.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.data import Table

pytestmark = pytest.mark.spark

ROWS = 1500
LIMIT = 300
COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
    "income": {"role": "quasi", "kind": "numeric", "min": 0, "max": 1_000_000},
    "städt. Bezirk": {"role": "quasi", "kind": "categorical", "values": [f"Bezirk {n}" for n in range(30)]},
    "constant": {"role": "quasi", "kind": "numeric", "min": 0, "max": 5},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "flu", "HIV"], "nullable": True},
}


def people(rows: int = ROWS) -> pl.DataFrame:
    """Heavy tails, missing values and duplicates."""
    generator = np.random.default_rng(7)
    income = np.minimum(generator.pareto(1.2, rows) * 20_000, 1_000_000).astype(int)
    frame = pl.DataFrame(
        {
            "age": generator.integers(0, 100, rows),
            "income": income,
            "städt. Bezirk": generator.choice([f"Bezirk {n}" for n in range(30)], rows),
            "constant": np.full(rows, 3),
            "ill": generator.choice(["no", "flu", "HIV"], rows, p=[0.7, 0.2, 0.1]),
            "note": np.arange(rows),
        }
    )
    frame = frame.with_columns(age=pl.when(pl.col("note") % 17 > 0).then("age"))
    return frame.with_columns(ill=pl.when(pl.col("note") % 23 > 0).then("ill"))


def schema_of(**more: dict[str, Any]) -> Schema:
    return Schema.parse({"name": "town", "columns": {**COLUMNS, **more}})


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A driver that takes few lines and tasks that take fewer cells; how many lines came to it at a time."""
    monkeypatch.setattr(bring, "MAX_LINES", LIMIT)
    monkeypatch.setattr(bring.pieces, "ROWS_AT_ONCE", LIMIT)
    monkeypatch.setattr(regions, "CELLS_AT_ONCE", 200)
    sizes: list[int] = []
    whole = bring.as_frame

    def counting(frame: Any, where: str) -> pl.DataFrame:
        found = whole(frame, where)
        sizes.append(found.height)
        return found

    for module in (bring, far):
        monkeypatch.setattr(module, "as_frame", counting)
    return sizes


def arrays(release: Release) -> list[Any]:
    return [*release.boxes.arrays, release.weights, np.asarray(release.histograms)]


METHOD = Mondrian(k=5, l=1.2, t=0.5)


def check(table: Table, memory: Table, folder: Path) -> Release:
    """Everybody is in one class, and the claim holds of what is published."""
    release = METHOD.publish(table)
    found = Release.load(release.save(folder))
    assert found.violations() == []
    assert found.claim == release.claim == METHOD.publish(memory).claim
    assert found.overall.tolist() == memory.overall.tolist()
    inside = found.boxes
    for point, rows in zip(memory.points, memory.weights, strict=True):
        holds = np.where(point < 0, inside.missing, (inside.lo <= point) & (point <= inside.hi)).all(axis=1)
        assert holds.sum() == 1, (point, rows)
    return release


def test_classes_keep_the_claim_however_rows_are_divided(tmp_path: Path, brought: list[int]) -> None:
    memory = read(people(), schema_of())
    assert len(memory.cell_weight) > 3 * LIMIT
    releases, tables = [], []
    for parts in (1, 3):
        table = read(on_spark(people(), parts), schema_of())
        assert isinstance(table, LargeTable)
        releases.append(check(table, memory, tmp_path / f"{parts}"))
        tables.append(table)
    assert all(np.array_equal(*both) for both in zip(*map(arrays, releases), strict=True))
    assert tables[0].digest == tables[1].digest != memory.digest
    assert len(releases[0].boxes) > len(METHOD.publish(memory).boxes) / 2
    made = [len(release.boxes) + np.count_nonzero(release.histograms) + memory.values for release in releases]
    assert sum(brought) <= 2 * (2 * LIMIT + 1) + sum(made), "more comes than rounded cells and the release"


def test_rows_with_a_kept_column_are_joined_to_their_classes(tmp_path: Path, brought: list[int]) -> None:
    schema = schema_of(note={"role": "keep"})
    release = METHOD.publish(read(on_spark(people()), schema))
    published = pl.read_csv(release.save(tmp_path / "release") / "data.csv")
    assert published["note"].sort().to_list() == list(range(ROWS))
    assert published.drop("note").rows() == sorted(
        published.drop("note").rows(), key=published.drop("note").rows().index
    )
    rows = people().join(published, on="note", suffix=" published")
    for value, label in rows.select("income", "income published").iter_rows():
        lo, hi, _ = schema.quasi[1].parse(label)
        assert lo <= value <= hi
    assert rows["ill"].fill_null("(missing)").equals(rows["ill published"].fill_null("(missing)"))
    assert Release.load(tmp_path / "release").violations() == []


def test_a_twin_that_joins_the_wrong_half_is_found(
    tmp_path: Path, brought: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regions by a hash of the point, and not by cuts that the requirements allow."""
    monkeypatch.setattr(regions, "regions_of", lambda _, rounded, __: np.arange(len(rounded.cells)) % 3)
    memory, table = read(people(), schema_of()), read(on_spark(people()), schema_of())
    with pytest.raises((AssertionError, ReleaseError, UnsatisfiableError)):
        check(table, memory, tmp_path / "release")


def test_what_needs_all_cells_is_refused_with_the_sentence(brought: list[int]) -> None:
    table = read(on_spark(people()), schema_of())
    several = r"distinct rows are more than the 300 that fit the driver; .* income \(about"
    for method in (KDTree(epsilon=1), Mondrian(k=5, suppress=0.1), Mondrian(k=5, height=4)):
        with pytest.raises(DataError, match=several):
            method.publish(table)
    with pytest.raises(DataError, match=several):
        _ = table.fingerprint
    odd = people().with_columns(pl.when(pl.col("note") != 9).then("städt. Bezirk").otherwise(pl.lit("Bezirk 31")))
    with pytest.raises(DataError, match="'Bezirk 31' is not one of 'Bezirk 0'"):
        read(on_spark(odd.rename({"literal": "städt. Bezirk"}, strict=False)), schema_of())
    with pytest.raises(UnsatisfiableError, match="can satisfy"):
        Mondrian(k=ROWS + 1).publish(table)
