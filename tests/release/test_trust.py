"""What a recipient can trust in an answer, on whole tables: certain bounds never fail, and the shape that a release
tells of itself makes counts better than spreading people evenly."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from asking import answer_to
from sfumato.measures.workloads.range_counts import ConjunctiveCounts, HalfDomainCounts
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.release import certain
from sfumato.schema.codes import Codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.release import Release

    Question = tuple[list[Codes], NDArray[np.bool_]]

QUERIES = 2_000
RECODING = (
    sf.Mondrian(k=5),
    sf.Mondrian(k=4, t=0.4),
    sf.Mondrian(k=5, recoding="bucketize"),
    sf.Mondrian(k=40, suppress=0.1),
    sf.Mondrian(k=3, t=0.2, suppress=0.1),
    sf.Anatomy(l=2),
    sf.FullSuppression(),
    sf.Original(),
)


def messy_table(seed: int, rows: int = 300) -> Table:
    """Skewed numbers, a few people far off, missing values in three columns, rare categories, a constant column."""
    generator = np.random.default_rng(seed)

    def sometimes(values: list[object], share: float) -> list[object]:
        return [None if gone else value for value, gone in zip(values, generator.random(rows) < share, strict=True)]

    stay, weight = np.minimum(generator.geometric(0.15, rows), 40), generator.normal(70, 15, rows).clip(30, 130)
    far = generator.random(rows) < 0.02
    stay[far], weight[far] = 40, 199
    values = np.where(stay > 10, generator.choice(["a", "b", "c"], rows), generator.choice(["b", "c", "d"], rows))
    frame = {
        "stay": sometimes(stay.tolist(), 0.1),
        "ward": sometimes(generator.choice(list("uvwxyz"), rows, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02]).tolist(), 0.05),
        "country": ["here"] * rows,
        "weight": weight.round(1).tolist(),
        "illness": sometimes(values.tolist(), 0.04),
    }
    columns = {
        "stay": {"role": "quasi", "kind": "numeric", "min": 1, "max": 40, "nullable": True},
        "ward": {"role": "quasi", "kind": "categorical", "values": list("uvwxyz"), "nullable": True},
        "country": {"role": "quasi", "kind": "categorical", "values": ["here", "there"]},
        "weight": {"role": "quasi", "kind": "numeric", "min": 0, "max": 200, "width": 5},
        "illness": {"role": "sensitive", "kind": "categorical", "values": list("abcd"), "nullable": True},
    }
    return sf.read(pl.DataFrame(frame), {"columns": columns})


def questions(table: Table, seed: int) -> Iterator[Question]:
    """A range on each column, or all of it, with or without its missing value, and some sensitive values."""
    generator = np.random.default_rng(seed)
    while True:
        allowed = []
        for axis in table.schema.quasi:
            lo, hi = np.sort(generator.integers(0, axis.size, 2)) if generator.random() < 0.6 else (0, axis.size - 1)
            allowed.append(Codes(((int(lo), int(hi)),), axis.nullable and bool(generator.random() < 0.5)))
        yield allowed, generator.random(table.values) < 0.6


def truth_of(table: Table, allowed: list[Codes], chosen: NDArray[np.bool_]) -> int:
    inside = np.logical_and.reduce([codes.hold(table.points[:, axis]) for axis, codes in enumerate(allowed)])
    return int(table.cell_weight[inside[table.cell_point] & chosen[table.cell_value]].sum())


def published(table: Table, method: sf.Method) -> Release:
    return method.publish(table, SimulatedSource(1)) if method.randomized else method.publish(table)


def failures(table: Table, methods: tuple[sf.Method, ...], count: int) -> int:
    """How many answers, by one release after the other, leave the truth out of certain bounds."""
    releases, failed = cycle([published(table, method) for method in methods]), 0
    for question, release, _ in zip(questions(table, 7), releases, range(count), strict=False):
        found = answer_to(release, *question)
        assert found.certain
        assert found.low <= found.estimate <= found.high
        failed += not found.low <= truth_of(table, *question) <= found.high
    return failed


@pytest.mark.parametrize("seed", [1, 2])
def test_certain_bounds_never_fail(seed: int) -> None:
    assert failures(messy_table(seed), RECODING, QUERIES // 2) == 0


def test_bounds_that_forget_who_was_left_out_would_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certain, "left_out", lambda release: 0)
    table, suppressing = messy_table(1), sf.Mondrian(k=40, suppress=0.1)
    assert suppressing in RECODING
    assert suppressing.publish(table).rows < table.n
    assert failures(table, (suppressing,), 200) > 0


def test_people_who_may_have_been_left_out_are_told() -> None:
    """Of 90 published rows, with up to a tenth left out, there were at most 100."""
    ages = [*[30] * 45, *[50] * 45, *range(90, 100)]
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    table = sf.read({"age": ages, "ill": ["no", "yes"] * 50}, {"columns": columns})
    release = sf.Mondrian(k=20, suppress=0.1).publish(table)
    assert release.rows == 90
    found = release.answer("age <= 40")
    assert (found.low, found.high) == (45, 55)
    assert found.sentence == (
        "About 45 of 90 people, and 10 more who may have been left out; for certain at least 45 and at most 55."
    )


def fall_of_the_error(table: Table, release: Release, workload: HalfDomainCounts | ConjunctiveCounts) -> float:
    """By which share the median error of counts is lower than with people spread evenly."""
    queries = workload.queries(table)
    even, careful = (np.median(queries.relative_errors(release, careful=is_careful)) for is_careful in (False, True))
    return float(1 - careful / even)


@pytest.mark.slow
@pytest.mark.parametrize("workload", [HalfDomainCounts(), ConjunctiveCounts()], ids=lambda workload: workload.count)
def test_the_error_of_counts_falls_by_a_third_on_adult(
    adult: Table, workload: HalfDomainCounts | ConjunctiveCounts
) -> None:
    assert fall_of_the_error(adult, sf.Mondrian(k=10).publish(adult), workload) >= 1 / 3


def test_where_values_are_skewed_the_error_of_counts_falls_by_a_third() -> None:
    """Where they are even, nothing can be gained and little is lost."""
    table = messy_table(3, rows=2_000)
    assert fall_of_the_error(table, sf.Mondrian(k=20).publish(table), ConjunctiveCounts()) >= 1 / 3
