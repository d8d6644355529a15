"""Queries about people of the population: weights in the truth, and in what a release tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.data import Table, read
from sfumato.measures.workloads import ConjunctiveCounts, HalfDomainCounts, LargePopulations
from sfumato.measures.workloads.population import counted_people, people_of
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import FullSuppression, Method, Mondrian, Original, QuadTree
from sfumato.schema import Schema

WORKLOADS = (HalfDomainCounts(count=60), ConjunctiveCounts(count=60), LargePopulations())
GENERATOR = np.random.default_rng(8)
AGES = GENERATOR.integers(0, 20, 400)
ROWS = {
    "age": AGES,
    "town": GENERATOR.choice(list("abcd"), 400),
    "ill": np.where(GENERATOR.random(400) < 0.2 + AGES / 40, "yes", "no"),
}
HEAVY = 1.0 + 30.0 * (AGES >= 10)
"""The old were sampled thirty times less often than the young."""


def table_of(weights: np.ndarray[Any, Any] | None, publish: str = "no") -> Table:
    columns: dict[str, dict[str, Any]] = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 19},
        "town": {"role": "quasi", "kind": "categorical", "values": list("abcd")},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    more = {} if weights is None else {"w": {"role": "weight", "publish": publish}}
    frame = pl.DataFrame(ROWS if weights is None else {**ROWS, "w": weights})
    return read(frame, Schema.parse({"columns": {**columns, **more}}))


def measured(table: Table, method: Method) -> dict[str, float]:
    release = method.publish(table, SimulatedSource(1))
    return {name: value for workload in WORKLOADS for name, value in workload.run(table, release).items()}


@pytest.mark.parametrize("publish", ["no", "mean"])
@pytest.mark.parametrize("method", [Original(), Mondrian(k=8), FullSuppression()], ids=str)
def test_equal_weights_change_nothing(method: Method, publish: str) -> None:
    plain, weighted = (measured(table_of(weights, publish), method) for weights in (None, np.full(400, 1.0)))
    assert weighted == pytest.approx(plain)
    if publish == "no":
        heavy = measured(table_of(np.full(400, 25.0), publish), method)
        assert heavy == pytest.approx(plain, rel=1e-6)


def test_the_truth_is_the_weight_of_all_rows_that_satisfy_a_query() -> None:
    table = table_of(HEAVY)
    queries = WORKLOADS[0].queries(table)  # type: ignore[union-attr]
    codes = np.column_stack([ROWS["age"], ["abcd".index(town) for town in ROWS["town"]]])
    ill = (ROWS["ill"] == "yes").astype(int)
    for number, truth in enumerate(queries.truth):
        inside = ((queries.regions.lo[number] <= codes) & (codes <= queries.regions.hi[number])).all(axis=1)
        inside &= (queries.first[number] <= ill) & (ill <= queries.last[number])
        assert truth == pytest.approx(HEAVY[inside].sum())
    assert people_of(table) == HEAVY.sum()
    assert people_of(table_of(None)) == 400
    assert measured(table, Original())["query_selectivity"] == pytest.approx(np.median(queries.truth) / HEAVY.sum())


def test_large_populations_are_described_by_their_people() -> None:
    table = table_of(HEAVY)
    regions, truth = LargePopulations().populations(table)
    old = int(np.flatnonzero((regions.lo[:, 0] == 10) & (regions.hi[:, 0] == 19) & (regions.widths[:, 1] == 4))[0])
    yes = ROWS["ill"] == "yes"
    assert truth[old].tolist() == pytest.approx([HEAVY[(AGES >= 10) & value].sum() for value in (~yes, yes)])


def test_published_means_answer_better_than_rows_alone() -> None:
    blind, told = (measured(table_of(HEAVY, publish), Mondrian(k=8)) for publish in ("no", "mean"))
    for name in ("query_error", "mean_query_error", "typical_count_error"):
        assert told[name] < 0.6 * blind[name], name


def test_without_published_weights_all_rows_are_taken_for_equal() -> None:
    table = table_of(HEAVY)
    release = Mondrian(k=8).publish(table)
    same, factor = counted_people(table, release)
    assert same is release
    assert factor == pytest.approx(HEAVY.sum() / 400)
    noisy = QuadTree(epsilon=1).publish(table, SimulatedSource(1))
    assert counted_people(table, noisy)[1] * noisy.rows == pytest.approx(HEAVY.sum())
    told, one = counted_people(table_of(HEAVY, "mean"), Mondrian(k=8).publish(table_of(HEAVY, "mean")))
    assert one == 1.0
    assert told.rows == pytest.approx(HEAVY.sum(), rel=1e-3)
    assert not told.claim.promises
