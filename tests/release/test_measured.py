"""Tables that were measured: how often their intervals hold, and how they are written, read back and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from asking import conjunction
from sfumato.data import Table, read
from sfumato.errors import ReleaseError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Synthesis
from sfumato.release import Release
from sfumato.release.answer import DEVIATIONS
from sfumato.release.query import Query
from sfumato.schema import Schema
from sfumato.schema.codes import Codes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sfumato.release.measured import Measured

KINDS = [{}, {"delta": 1e-9}]


@pytest.fixture(scope="module")
def people() -> Table:
    """4,000 people; who is old is often ill, and whose age is not known often has no job either."""
    generator = np.random.default_rng(2)
    age = generator.integers(0, 90, size=4_000)
    job = np.where(generator.random(4_000) < 0.3, age // 30, generator.integers(0, 5, size=4_000))
    ill = np.where(generator.random(4_000) < age / 180, "ill", "well")
    frame = pl.DataFrame(
        {
            "age": [None if one % 17 == 0 else str(one) for one in age],
            "job": [f"job {one}" for one in job],
            "table": generator.choice(["x", "y", "z"], 4_000),
            "health": ill,
        }
    )
    spec: dict[str, Any] = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
        "job": {"role": "quasi", "kind": "categorical", "values": [f"job {number}" for number in range(5)]},
        "table": {"role": "quasi", "kind": "categorical", "values": ["x", "y", "z"]},
        "health": {"role": "sensitive", "kind": "categorical", "values": ["well", "ill"]},
    }
    return read(frame, Schema.parse({"name": "people", "columns": spec}))


def told(release: Release) -> Measured:
    assert release.measured is not None
    return release.measured


def cells(release: Release) -> list[Query]:
    """A query for each line."""
    measured = told(release)
    return [
        Query(
            rows=conjunction(
                {axis: Codes.of([measured.boxes.span(line, place)]) for place, axis in enumerate(measured.axes)}
            )
        )
        for line in range(len(measured.boxes))
    ]


@pytest.mark.parametrize("kind", KINDS, ids=["pure", "approximate"])
def test_intervals_of_two_thousand_cells_hold_as_often_as_they_say(people: Table, kind: dict[str, Any]) -> None:
    """As they come from the noise; answers are cut at zero and rounded outwards, so that they hold more often."""
    held, answered = [], []
    for seed in range(25):
        release = Synthesis(epsilon=1, **kind).publish(people, SimulatedSource(seed))
        queries = cells(release)
        for line in np.random.default_rng(seed).choice(len(queries), 80, replace=False):
            query = queries[line]
            truth, found = query.matches(people), told(release).tell(query._parts(people.schema)).amount()
            held.append(abs(found.amount - truth) <= DEVIATIONS * found.deviation)
            answer = query.answer(release)
            answered.append(answer.low <= truth <= answer.high)
    assert len(held) == 2_000
    assert 0.93 <= np.mean(held) <= 0.97
    assert np.mean(answered) >= np.mean(held)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_is_written_is_read_back(people: Table, tmp_path: Path, suffix: str) -> None:
    release = Synthesis(epsilon=1).publish(people)
    release.save(tmp_path / "r", suffix=suffix)
    again = Release.load(tmp_path / "r")
    assert told(again).frame().equals(told(release).frame())
    assert told(again).frame().columns == ["table_2", "age", "job", "table", "health", "count", "noise"]
    for conditions in ("age between 20 and 30", "job = 'job 2'", "age is missing", "health = 'ill'"):
        found, read_back = release.answer(conditions), again.answer(conditions)
        assert found.estimate == pytest.approx(read_back.estimate, rel=1e-5)
        assert (found.low, found.high, found.sentence) == (read_back.low, read_back.high, read_back.sentence)
        assert "the tables that the rows were made from" in found.sentence


def test_a_question_that_no_table_answers_is_answered_by_rows(people: Table) -> None:
    release = Synthesis(epsilon=1).publish(people, SimulatedSource(1))
    found = release.answer("age in (3, 18, 44) and job in ('job 1', 'job 4') and table != 'y' and health = 'ill'")
    assert "the chance in drawing rows alone" in found.sentence


def test_nobody_has_no_value(people: Table) -> None:
    release = Synthesis(epsilon=1).publish(people, SimulatedSource(1))
    assert release.answer("age < 0").high == 0


def with_gap(frame: pl.DataFrame) -> pl.DataFrame:
    """The ages 98 and 98 to 99, and no line for those that are missing: as wide together as all ages are."""
    first = pl.col("table_2") == 1
    wide = pl.when(first & (pl.col("age") == "99")).then(pl.lit("[98, 99]")).otherwise("age").alias("age")
    return frame.filter(~(first & (pl.col("age") == "(missing)"))).with_columns(wide)


BROKEN: list[tuple[str, Callable[[pl.DataFrame], pl.DataFrame]]] = [
    ("do not part the values", lambda frame: frame[1:]),
    ("do not part the values", with_gap),
    ("'count'", lambda frame: frame.with_columns(count=pl.lit("many"))),
    ("'count'", lambda frame: frame.with_columns(count=pl.duration(days=1))),
    ("'count'", lambda frame: frame.with_columns(count=pl.concat_list("count"))),
    ("a noise is not between", lambda frame: frame.with_columns(noise=pl.lit(0.0))),
    ("a noise is not between", lambda frame: frame.with_columns(noise=pl.lit(1e-160))),
    ("a noise is not between", lambda frame: frame.with_columns(noise=pl.lit(1e200))),
    ("'noise' holds", lambda frame: frame.with_columns(noise=pl.lit(b"\xff"))),
    ("are not numbered", lambda frame: frame.with_columns(table_2=pl.col("table_2") * 2)),
    ("neither", lambda frame: frame.with_columns(job=pl.lit("any"))),
]


@pytest.mark.parametrize(("problem", "damage"), BROKEN)
def test_a_broken_file_is_refused(
    people: Table, tmp_path: Path, problem: str, damage: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    folder = Synthesis(epsilon=1).publish(people, SimulatedSource(1)).save(tmp_path / "r", parquet=True)
    path = folder / "measured.parquet"
    damage(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(ReleaseError, match=problem):
        Release.load(folder)


@pytest.mark.parametrize("epsilon", [1e5, 1e6])
def test_there_may_be_hardly_any_noise(people: Table, epsilon: float) -> None:
    release = Synthesis(epsilon=epsilon).publish(people, SimulatedSource(1))
    assert release.answer("health = 'ill'").estimate == pytest.approx(
        np.sum(people.cell_weight[people.cell_value == 1]), abs=1
    )
