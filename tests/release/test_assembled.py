"""Tables that agree: how often intervals of cells and of sums hold, and how they are written, read and refused."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from asking import conjunction
from sfumato.data import Table, read
from sfumato.errors import ParameterError, ReleaseError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import QuadTree, Tables
from sfumato.privacy.ledger import Ledger
from sfumato.publish.agreement import contradicts_parameters
from sfumato.publish.publication import publish_to
from sfumato.release import Release
from sfumato.release.answer import DEVIATIONS
from sfumato.release.assembled import Assembled
from sfumato.release.query import Query
from sfumato.release.sampling import generate_rows
from sfumato.release.verification import verify_folder
from sfumato.schema import Axis, Schema
from sfumato.schema.codes import Codes, merge_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sfumato.release.sampling import RowKind

KINDS: list[dict[str, Any]] = [{}, {"delta": 1e-6}]
both_kinds = pytest.mark.parametrize("kind", KINDS, ids=["pure", "approximate"])


@pytest.fixture(scope="module")
def people() -> Table:
    """2,000 people, some of whose ages are not known; incomes are counted in steps, and who is old is often ill."""
    generator = np.random.default_rng(3)
    age = generator.integers(0, 12, size=2_000)
    frame = pl.DataFrame(
        {
            "age": [None if one == 11 else int(one) for one in age],
            "job": [f"job {one}" for one in np.minimum(age // 3, generator.integers(0, 5, size=2_000))],
            "income": generator.integers(0, 100_000, size=2_000),
            "health": np.where(generator.random(2_000) < age / 20, "ill", "well"),
        }
    )
    spec: dict[str, Any] = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 10, "nullable": True},
        "job": {"role": "quasi", "kind": "categorical", "values": [f"job {number}" for number in range(5)]},
        "income": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99_999},
        "health": {"role": "sensitive", "kind": "categorical", "values": ["well", "ill"]},
    }
    return read(frame, Schema.parse({"name": "people", "columns": spec}))


def told(release: Release) -> Assembled:
    assert isinstance(release.measured, Assembled)
    return release.measured


def some_values(axis: Axis, tables: Assembled, single: bool, generator: np.random.Generator) -> Codes:
    """One step of an axis, or a number of them, the missing value being one."""
    starts = np.append(tables.starts(tables.axes.index(axis)), axis.positions)
    number = 1 if single else int(generator.integers(1, len(starts)))
    steps = generator.choice(len(starts) - 1, number, replace=False)
    runs = merge_runs((int(starts[step]), min(int(starts[step + 1]), axis.size) - 1) for step in steps)
    return Codes(runs, bool((starts[steps] == axis.size).any()))


def random_query(tables: Assembled, single: bool, generator: np.random.Generator) -> Query:
    """A question about up to two columns."""
    axes = [tables.axes[axis] for axis in generator.choice(len(tables.axes), int(generator.integers(1, 3)), False)]
    return Query(rows=conjunction({axis: some_values(axis, tables, single, generator) for axis in axes}))


@both_kinds
@pytest.mark.parametrize("single", [True, False], ids=["cells", "sums"])
def test_intervals_of_two_thousand_questions_hold_as_often_as_they_say(
    people: Table, kind: dict[str, Any], single: bool
) -> None:
    """As they come from the noise; with cells taken for independent, those of sums hold too often or too seldom."""
    held, naive = [], []
    for seed in range(100):
        release = Tables(epsilon=1, **kind).publish(people, SimulatedSource(seed))
        tables, generator = told(release), np.random.default_rng(seed)
        for _ in range(20):
            query = random_query(tables, single, generator)
            truth, parts = query.matches(people), query._parts(people.schema)
            told_of = tables.tell(parts)
            assert told_of is not None
            found = told_of.amount()
            assert found.least == pytest.approx(found.most)
            held.append(abs(found.amount - truth) <= DEVIATIONS * found.deviation)
            answer = query.answer(release)
            assert answer.low <= max(found.amount - DEVIATIONS * found.deviation, 0) + 1e-6
            naive.append(abs(found.amount - truth) <= DEVIATIONS * independent(tables, parts[0].codes))
    assert len(held) == 2_000
    assert 0.93 <= np.mean(held) <= 0.97
    assert single or not 0.93 <= np.mean(naive) <= 0.97


def independent(tables: Assembled, allowed: Sequence[Codes]) -> float:
    """The broken twin: the deviation of a sum of cells if each had noise of its own."""
    axes = tuple(axis for axis, codes in enumerate(allowed) if codes != Codes.of([tables.axes[axis].everything]))
    lines = tables.columns[axes]
    inside = np.logical_and.reduce([allowed[axis].hold(tables.steps[lines, axis].astype(np.int32)) for axis in axes])
    return math.sqrt(float((tables.noise[lines[inside]] ** 2).sum()))


@both_kinds
def test_the_variance_of_a_sum_is_that_of_its_cells_together(people: Table, kind: dict[str, Any]) -> None:
    """Whichever table adds them up: of everything chosen on a column, its larger table says what the smaller does."""
    tables = told(Tables(epsilon=1, ways=3, **kind).publish(people, SimulatedSource(1)))
    sizes = tables.sizes
    for axes in tables.columns:
        shape = [sizes[axis] for axis in axes]
        cell = np.zeros(shape)
        cell[(0,) * len(shape)] = 1
        assert math.sqrt(tables.variance(axes, cell)) == pytest.approx(tables.noise[tables.columns[axes][0]], rel=1e-9)
        assert tables.variance(axes, np.ones(shape)) == pytest.approx(tables.variance((), np.ones(())))
    some = np.multiply.outer(np.arange(sizes[0]) < 3, np.arange(sizes[2]) < 7).astype(np.float64)
    whole = tables.variance((0, 2), some)
    everything, most = np.ones(sizes[1]), np.arange(sizes[1]) < 4
    assert tables.variance((0, 1, 2), some[:, None] * everything[None, :, None]) == pytest.approx(whole)
    assert tables.variance((0, 1, 2), some[:, None] * most[None, :, None]) != pytest.approx(whole)


def test_conditions_that_cut_steps_are_answered_between_them(people: Table) -> None:
    release = Tables(epsilon=5).publish(people, SimulatedSource(1))
    tables = told(release)
    query = Query(rows=conjunction({people.schema.axes[2]: Codes(((5_000, 77_777),))}))
    told_of = tables.tell(query._parts(people.schema))
    assert told_of is not None
    found = told_of.amount()
    assert found.least < found.amount < found.most
    answer = query.answer(release)
    assert answer.low <= query.matches(people) <= answer.high
    assert answer.high - answer.low < 600


def test_questions_about_more_columns_are_answered_by_the_whole(people: Table) -> None:
    release = Tables(epsilon=1).publish(people, SimulatedSource(1))
    answer = release.answer("age >= 3 and job = 'job 1' and health = 'ill'")
    assert "by the noise in the counts" in answer.sentence
    assert answer.low == 0
    assert release.answer("age < 0").high == 0
    assert "by the noise in the tables" in release.answer("age >= 3 and job = 'job 1'").sentence


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@both_kinds
def test_what_is_written_is_read_back_and_verified(
    people: Table, tmp_path: Path, suffix: str, kind: dict[str, Any]
) -> None:
    release = Tables(epsilon=1, **kind).publish(people)
    folder = release.save(tmp_path / "r", suffix=suffix)
    again = Release.load(folder)
    assert told(again).frame().equals(told(release).frame())
    assert told(again).frame().columns == ["table", "age", "job", "income", "health", "count", "noise"]
    for conditions in ("age between 2 and 5", "job = 'job 2' and health = 'ill'", "age is missing"):
        found, read_back = release.answer(conditions), again.answer(conditions)
        assert found.estimate == pytest.approx(read_back.estimate, rel=1e-5)
        assert (found.low, found.high, found.sentence) == (read_back.low, read_back.high, read_back.sentence)
    checked = verify_folder(folder, again, tuple(contradicts_parameters(again)))
    assert (checked.outcome, checked.contradictions) == ("undecided", ())


Damage = "Callable[[pl.DataFrame], pl.DataFrame]"
in_pairs = pl.col("table") > 5
BROKEN: list[tuple[str, Damage]] = [
    ("do not part the values", lambda frame: frame[:-1]),
    ("not all tables of fewer", lambda frame: frame.filter(pl.col("table") != 2).with_columns(renumbered())),
    ("two tables have the same columns", lambda frame: pl.concat([frame, again(frame)])),
    ("differ in their noise", lambda frame: frame.with_columns(noise=pl.col("noise") + (pl.col("age") == "3"))),
    ("do not agree", lambda frame: frame.with_columns(count=pl.col("count") + 20 * (pl.col("age") == "3") * in_pairs)),
    ("'count'", lambda frame: frame.with_columns(count=pl.lit("many"))),
    ("a noise is not between", lambda frame: frame.with_columns(noise=pl.lit(0.0))),
]


def renumbered() -> pl.Expr:
    return pl.col("table").rank("dense").cast(pl.Int64).alias("table")


def again(frame: pl.DataFrame) -> pl.DataFrame:
    last = frame["table"].max()
    return frame.filter(pl.col("table") == last).with_columns(table=pl.col("table") + 1)


@pytest.mark.parametrize(("problem", "damage"), BROKEN)
def test_a_broken_file_is_refused(people: Table, tmp_path: Path, problem: str, damage: Any) -> None:
    folder = Tables(epsilon=1).publish(people, SimulatedSource(1)).save(tmp_path / "r", parquet=True)
    path = folder / "tables.parquet"
    damage(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(ReleaseError, match=problem):
        Release.load(folder)


def forged(people: Table, folder: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> list[str]:
    Tables(epsilon=1).publish(people).save(folder, parquet=True)
    change(pl.read_parquet(folder / "tables.parquet")).write_parquet(folder / "tables.parquet")
    return contradicts_parameters(Release.load(folder))


def test_noise_that_the_method_does_not_draw_is_found(people: Table, tmp_path: Path) -> None:
    assert forged(people, tmp_path / "same", lambda frame: frame) == []
    less = forged(people, tmp_path / "less", lambda frame: frame.with_columns(noise=pl.col("noise") * 0.99))
    assert len(less) == 11
    assert all("is said to have noise of" in line for line in less)
    fewer = forged(people, tmp_path / "fewer", lambda frame: frame.filter(pl.col("table") < 6))
    assert fewer == ["it tells other tables than Tables ε=1 publishes, or in other steps"]


def test_tables_that_the_method_does_not_publish_are_found(people: Table, tmp_path: Path) -> None:
    folder = Tables(epsilon=1).publish(people).save(tmp_path / "r")
    spec = json.loads((folder / "release.json").read_text())
    (folder / "tables.csv").unlink()
    del spec["files"]["tables"]
    (folder / "release.json").write_text(json.dumps(spec))
    found = contradicts_parameters(Release.load(folder))
    assert found == ["it tells no tables, and Tables ε=1 publishes them"]
    assert contradicts_parameters(QuadTree(epsilon=1.0).publish(people)) == []


@pytest.mark.parametrize("rows", ["synthetic", "generalized"])
def test_no_rows_are_made_of_tables(people: Table, tmp_path: Path, rows: RowKind) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    with pytest.raises(ParameterError, match="tables publishes tables and no rows"):
        publish_to(Tables(epsilon=1), people, tmp_path / "r", ledger=ledger, rows=rows)
    assert not ledger.entries()
    release, folder = publish_to(Tables(epsilon=1), people, tmp_path / "r", ledger=ledger)
    assert len(ledger.entries()) == 1
    assert told(release).frame().equals(told(Release.load(folder)).frame())
    with pytest.raises(ReleaseError, match="published in place of rows"):
        generate_rows(release, rows, SimulatedSource(1).uniforms)
