"""Both COUNT workloads: what they ask, what is true, and the error formula, all counted row by row."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from brute_force import ReleaseCase, expected_in, in_region, made_of, region_of, releases
from sfumato.data import Table, read
from sfumato.errors import ParameterError
from sfumato.measures.measure import measure
from sfumato.measures.measurement import Sampled
from sfumato.measures.workloads import ConjunctiveCounts, HalfDomainCounts, range_counts
from sfumato.measures.workloads.range_counts import LEAST_QUERIES, Queries, asked_of, random_ranges
from sfumato.methods import FullSuppression, Mondrian, Original, QuadTree
from sfumato.release import Boxes, Release
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.schema import Schema
from sfumato.trials.repetition import student_interval
from sfumato.trials.trial import Trial, run_trial
from strategies import AxisCase, SchemaCase, TableCase, tables

if TYPE_CHECKING:
    import random

    from numpy.typing import NDArray

COUNT = 30


def regions(queries: Queries, axes: int) -> list[Any]:
    """The region of each query as sets of codes."""
    return [
        region_of([tuple(queries.regions.span(i, axis)) for axis in range(axes)]) for i in range(len(queries.truth))
    ]


def lengths(case: TableCase, queries: Queries) -> list[list[int]]:
    """How many positions of each axis a query covers, the sensitive one last."""
    sensitive = (queries.last - queries.first + 1).tolist()
    asked = regions(queries, len(case.case.quasi))
    return [[*map(len, region), own] for region, own in zip(asked, sensitive, strict=True)]


def check(case: ReleaseCase, queries: Queries) -> list[float]:
    """Compare truths and errors with the definition, and hand the errors back."""
    found = queries.relative_errors(case.release)
    asked = regions(queries, len(case.case.case.quasi))
    errors = []
    for i, (region, first, last) in enumerate(zip(asked, queries.first, queries.last, strict=True)):
        truth = sum(first <= value <= last and in_region(region, point) for point, value in case.case.people)
        assert queries.truth[i] == truth
        assert truth > 0
        estimate = sum(expected_in(case, region)[first : last + 1], Fraction(0))
        errors.append(float(abs(estimate - truth) / truth))
    assert found == pytest.approx(np.array(errors), abs=1e-9)
    return errors


@given(releases(most_rows=12, most_quasi=2))
def test_half_domain_counts(case: ReleaseCase) -> None:
    workload = HalfDomainCounts(count=COUNT)
    table = case.case.table
    queries = workload.queries(table)
    assert len(queries.truth) <= COUNT
    errors = check(case, queries)
    expected = float(np.median(errors)) if errors else 0.0
    assert workload.run(table, case.release)["query_error"] == pytest.approx(expected, abs=1e-9)
    expected = float(np.median(queries.truth)) / len(case.case.people) if errors else 0.0
    assert workload.run(table, case.release)["query_selectivity"] == pytest.approx(expected)
    positions = [axis.positions for axis in case.case.case.axes]
    for *quasi, own in lengths(case.case, queries):
        assert quasi == [min(size, size // 2 + 1) for size in positions[:-1]]
        assert own == {1: 1, 2: 1}.get(positions[-1], positions[-1] // 2 + 1)


@given(releases(most_rows=12, most_quasi=3), st.integers(1, 4))
def test_strict_half_domain_counts_with_conditions_on_some_attributes(case: ReleaseCase, conditions: int) -> None:
    workload = HalfDomainCounts(count=COUNT, ranges="strict", conditions=conditions, support=0)
    queries = workload.queries(case.case.table)
    check(case, queries)
    positions = [axis.positions for axis in case.case.case.axes]
    half = [math.ceil(size / 2) for size in positions]
    most = min(conditions - 1, sum(size > 1 for size in positions[:-1]))
    for covered in lengths(case.case, queries):
        assert covered[-1] == half[-1]
        quasi = list(zip(covered, half, positions, strict=True))[:-1]
        assert all(length in (narrow, whole) for length, narrow, whole in quasi)
        assert sum(length < whole for length, _, whole in quasi) == most


@given(releases(most_rows=12, most_quasi=3), st.integers(1, 4), st.sampled_from([0.05, 0.3, 1.0]))
def test_conjunctive_counts(case: ReleaseCase, dimensions: int, selectivity: float) -> None:
    workload = ConjunctiveCounts(count=COUNT, dimensions=dimensions, selectivity=selectivity)
    table = case.case.table
    queries = workload.queries(table)
    errors = check(case, queries)
    expected = sum(errors) / len(errors) if errors else 0.0
    assert workload.run(table, case.release)["mean_query_error"] == pytest.approx(expected, abs=1e-9)
    conditions = min(dimensions, len(case.case.case.quasi))
    positions = [axis.positions for axis in case.case.case.axes]
    wanted = [math.ceil(round(selectivity ** (1 / (conditions + 1)) * size, 9)) for size in positions]
    for covered in lengths(case.case, queries):
        assert covered[-1] == wanted[-1]
        quasi = list(zip(covered, wanted, positions, strict=True))[:-1]
        assert all(length in (narrow, whole) for length, narrow, whole in quasi)
        assert sum(length != whole for length, _, whole in quasi) <= conditions
        assert sum(length == narrow for length, narrow, _ in quasi) >= conditions
    shares = [math.prod(map(Fraction, covered, positions)) for covered in lengths(case.case, queries)]
    assert all(share >= selectivity - 1e-9 for share in shares)
    achieved = float(sum(shares) / len(shares)) if shares else 0.0
    assert workload.run(table, case.release)["conditions_selectivity"] == pytest.approx(achieved)


@given(tables(most_rows=12, most_quasi=3, most=5), st.randoms(use_true_random=False))
def test_queries_follow_from_the_seed_and_not_from_the_order_of_rows(case: TableCase, shuffler: random.Random) -> None:
    order = list(range(len(case.rows)))
    shuffler.shuffle(order)
    other = read(case.frame[order], case.case.schema)
    for workload in (HalfDomainCounts(count=COUNT), ConjunctiveCounts(count=COUNT)):
        ours, theirs = workload.queries(case.table), workload.queries(other)
        for name in ("first", "last", "truth"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name))
        for name in ("lo", "hi", "missing"):
            assert np.array_equal(getattr(ours.regions, name), getattr(theirs.regions, name))


@given(tables(most_rows=12, most_quasi=3, most=5))
def test_the_original_answers_without_error(case: TableCase) -> None:
    original = Original().publish(case.table)
    for workload in (HalfDomainCounts(count=COUNT), ConjunctiveCounts(count=COUNT)):
        for name, value in workload.run(case.table, original).items():
            assert name.endswith("selectivity") or value == pytest.approx(0, abs=1e-12)


def numbers(rows: list[tuple[int, int]]) -> TableCase:
    axis = AxisCase("x", {"kind": "numeric", "min": 0, "max": 7}, tuple((str(i),) for i in range(8)))
    secret = AxisCase("secret", {"kind": "categorical", "values": ["y", "n"]}, (("y",), ("n",)))
    return TableCase(SchemaCase((axis,), secret), tuple(rows), tuple((str(x), "yn"[value]) for x, value in rows))


@pytest.fixture
def spread() -> TableCase:
    return numbers([(x, value) for x, value in zip(range(8), (0, 0, 0, 1, 0, 1, 1, 1), strict=True)])


def test_another_seed_asks_other_queries(spread: TableCase) -> None:
    for kind in (HalfDomainCounts, ConjunctiveCounts):
        one, two = (kind(count=COUNT, seed=seed).queries(spread.table) for seed in (1, 2))
        assert not np.array_equal(one.regions.lo, two.regions.lo)


def test_suppression_worked_out_on_paper(spread: TableCase) -> None:
    """Half the axis and one of two values: full suppression always says 8/2 · 1/2 = 2 rows."""
    queries = HalfDomainCounts(count=COUNT, ranges="strict").queries(spread.table)
    suppressed = FullSuppression().publish(spread.table)
    assert queries.relative_errors(suppressed) == pytest.approx(np.abs(2 - queries.truth) / queries.truth)
    truths = set(queries.truth.tolist())
    assert truths <= {1.0, 2.0, 3.0, 4.0}
    assert len(truths) > 1


def shifted(
    release: Release, regions: Boxes, first: NDArray[np.int64], last: NDArray[np.int64], whole: Any = Release.counts_in
) -> NDArray[np.float64]:
    return whole(release, Boxes(regions.lo - 1, regions.hi - 1, regions.missing), first, last)


def test_a_shifted_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch, spread: TableCase) -> None:
    people = spread.people
    left, right = ((0, 3, False),), ((4, 7, False),)
    release = made_of(spread, [(left if x < 4 else right, int(x > 3), value) for (x,), value in people])
    queries = HalfDomainCounts(count=COUNT).queries(spread.table)
    check(release, queries)
    monkeypatch.setattr(Release, "counts_in", shifted)
    with pytest.raises(AssertionError):
        check(release, queries)


def test_a_truth_off_by_one_is_noticed(spread: TableCase) -> None:
    whole = made_of(spread, [(((0, 7, False),), 0, value) for _, value in spread.people])
    queries = HalfDomainCounts(count=COUNT).queries(spread.table)
    check(whole, queries)
    with pytest.raises(AssertionError):
        check(whole, Queries(queries.regions, queries.first, queries.last, queries.truth + 1))


def uneven_cells(counts: list[int], false_failure: float) -> bool:
    """Whether equally likely cells have counts outside the exact binomial limits, shared out over all cells."""
    draws, cells = sum(counts), len(counts)
    low = binom.ppf(false_failure / (2 * cells), draws, 1 / cells) - 1
    high = binom.isf(false_failure / (2 * cells), draws, 1 / cells) + 1
    return any(not low <= count <= high for count in counts)


def test_a_range_starts_anywhere_with_the_same_chance() -> None:
    """False failures: below 1e-6, by a union bound over exact binomial tails. The twin never reaches the end."""
    axis = numbers([(0, 0), (1, 1)]).table.schema.quasi[0]
    generator = np.random.default_rng(20)
    draws = np.full(20_000, 3)
    lo, hi, missing = random_ranges(axis, draws, None, generator)
    assert (hi - lo + 1 == 3).all()
    assert not missing.any()
    assert not uneven_cells(np.bincount(lo, minlength=6).tolist(), 1e-6)
    twin = generator.integers(0, axis.positions - draws)
    assert uneven_cells(np.bincount(twin, minlength=6).tolist(), 1e-6)


def test_a_range_over_the_last_position_holds_the_missing_value() -> None:
    spec = {"kind": "categorical", "values": ["a", "b"], "nullable": True}
    axis = AxisCase("x", spec, (("a",), ("b",))).axis()
    lo, hi, missing = random_ranges(axis, np.ones(200, dtype=np.int64), None, np.random.default_rng(3))
    assert set(zip(lo.tolist(), hi.tolist(), missing.tolist(), strict=True)) == {
        (0, 0, False),
        (1, 1, False),
        (0, -1, True),
    }
    lo, hi, missing = random_ranges(axis, np.full(200, 2), None, np.random.default_rng(3))
    assert set(zip(lo.tolist(), hi.tolist(), missing.tolist(), strict=True)) == {(0, 1, False), (1, 1, True)}


@pytest.mark.parametrize("wrong", [{"dimensions": 0}, {"selectivity": 0}, {"selectivity": 1.5}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        ConjunctiveCounts(**wrong)


@pytest.mark.parametrize("kind", [HalfDomainCounts, ConjunctiveCounts])
def test_a_workload_without_queries_is_refused(kind: type[HalfDomainCounts | ConjunctiveCounts]) -> None:
    with pytest.raises(ParameterError, match="count is 0"):
        kind(count=0)


def test_a_domain_with_hardly_any_rows_in_it_still_gets_its_queries() -> None:
    """Ranges of a huge axis hardly ever hold a row; the queries are then drawn around rows, and none is free."""
    schema = Schema.parse(
        {
            "columns": {
                "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 10**9},
                "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
            }
        }
    )
    table = read(pl.DataFrame({"x": list(range(60)), "s": ["a", "b"] * 30}), schema)
    for workload in (HalfDomainCounts(count=50), ConjunctiveCounts(count=50)):
        queries = workload.queries(table)
        assert len(queries.truth) == 50
        assert (queries.truth > 0).all()
        found = workload.run(table, FullSuppression().publish(table))
        assert min(value for name, value in found.items() if name.endswith("error")) > 0.1


def test_queries_about_hardly_anybody_are_drawn_again() -> None:
    """One row in a hundred lies in the upper half of the axis; a query has to be about two rows at least."""
    table = numbers([(0, 0), (0, 1)] * 50 + [(7, 0)]).table
    least = {support: HalfDomainCounts(count=200, support=support).queries(table).truth.min() for support in (0, 0.02)}
    assert least == {0: 1, 0.02: 50}


@pytest.fixture(scope="module")
def town() -> Table:
    return read(residents(1_500), SCHEMA_PATH)


@pytest.fixture(params=["Mondrian", "suppression"])
def town_release(request: pytest.FixtureRequest, town: Table) -> Release:
    return Mondrian(k=20).publish(town) if request.param == "Mondrian" else FullSuppression().publish(town)


def sampled(
    monkeypatch: pytest.MonkeyPatch, kind: type[HalfDomainCounts | ConjunctiveCounts], table: Table, release: Release
) -> list[dict[str, float]]:
    """What forty samples of two hundred queries say."""
    monkeypatch.setattr(range_counts, "MOST_LOOKS", 0)
    monkeypatch.setattr(range_counts, "LEAST_QUERIES", 200)
    return [kind(seed=seed).run(table, release) for seed in range(100, 140)]


@pytest.mark.parametrize("kind", [HalfDomainCounts, ConjunctiveCounts])
def test_the_interval_of_a_sample_holds_the_value_of_many_queries(
    kind: type[HalfDomainCounts | ConjunctiveCounts],
    town: Table,
    town_release: Release,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At 95%, fewer than 33 of 40 do with a probability of 2·10⁻³; a fifth of its length holds far fewer."""
    exact = kind(count=20_000, seed=7).run(town, town_release)
    assert not any(isinstance(value, Sampled) for value in exact.values()), "there is nothing to sample in a small town"
    found = sampled(monkeypatch, kind, town, town_release)
    for name, value in exact.items():
        assert all(isinstance(one[name], Sampled) for one in found)
        intervals = [one[name].interval for one in found]
        assert sum(low <= value <= high for low, high in intervals) >= 33, name
        if all(low < high for low, high in intervals):
            shrunk = [(0.4 * high + 0.6 * low, 0.6 * high + 0.4 * low) for low, high in intervals]
            assert sum(low <= value <= high for low, high in shrunk) < 33, name


def test_as_many_queries_are_asked_as_there_are_looks(town: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    points = len(town.points)
    for looks, asked in ((2_000 * points, 2_000), (2_000 * points - 1, 1_999), (0, LEAST_QUERIES)):
        monkeypatch.setattr(range_counts, "MOST_LOOKS", looks)
        assert asked_of(town, 2_000) == asked
        assert len(HalfDomainCounts(seed=3).queries(town).truth) == asked
    assert asked_of(town, 100) == 100, "few are all asked"


def test_intervals_reach_trials_and_documents(town: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(range_counts, "MOST_LOOKS", 0)
    measured = measure(town, FullSuppression().publish(town), only=["query_error", "suppressed"])
    interval = measured["query_error"].interval
    assert interval is not None
    assert interval[0] < measured["query_error"].value < interval[1]
    assert measured.spec()["query_error"]["interval"] == list(interval)
    assert measured["suppressed"].interval is None
    assert "interval" not in measured.spec()["suppressed"]
    trial = run_trial(town, FullSuppression())
    assert trial.intervals["query_error"] == pytest.approx(interval)
    assert set(trial.intervals) == {
        "query_error",
        "query_selectivity",
        "mean_query_error",
        "typical_count_error",
        "conditions_selectivity",
    }
    again = Trial.parse(json.loads(json.dumps(trial.spec())))
    assert again.intervals == trial.intervals
    noisy = run_trial(town, QuadTree(epsilon=1))
    low, high = noisy.intervals["query_error"]
    alone = student_interval([run["query_error"] for run in noisy.runs])
    assert low < alone[0] < alone[1] < high, "the error of the sample comes on top of that of few runs"
    assert noisy.first(1).intervals.keys() == trial.intervals.keys()
