"""DiffGen: scores that one row raises by at most 1, one partition of each axis, exact counts without noise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato.methods.trees.diffgen as diffgen
from sfumato.data import Table, read
from sfumato.errors import ParameterError
from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.trees.diffgen import ClassCounts, DiffGen, Value
from sfumato.methods.trees.utility import Utility, sensitivity_of
from sfumato.privacy.loss import Pure
from sfumato.schema import Schema
from strategies import TableCase, tables

if TYPE_CHECKING:
    from sfumato.release import Release

HUGE = 4_000


def people(rows: int = 600, **more: dict[str, Any]) -> Table:
    """A categorical axis that tells the class, a numeric one that tells it less, and one that says nothing."""
    generator = np.random.default_rng(6)
    job = generator.integers(0, 4, rows)
    age = generator.integers(0, 50, rows)
    ill = np.where(generator.random(rows) < 0.9, job // 2, (age > 30).astype(int))
    columns = {
        "job": {"role": "quasi", "kind": "categorical", "taxonomy": {"ab": ["a", "b"], "cd": ["c", "d"]}},
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 49},
        "sex": {"role": "quasi", "kind": "categorical", "values": ["f", "m"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
        **more,
    }
    frame = pl.DataFrame(
        {
            "job": ["abcd"[x] for x in job],
            "age": age,
            "sex": ["fm"[x] for x in generator.integers(0, 2, rows)],
            "ill": [["no", "yes"][x] for x in ill],
        }
    )
    return read(frame, Schema.parse({"columns": columns}))


def slow_score(utility: Utility, children: list[list[int]], narrowing: list[int]) -> int:
    """A utility of children, each a list of the classes of its rows and narrower by so many 1/1024 of its axis."""
    rows = [len(child) for child in children]
    if utility == "dm":
        return sum(rows) - math.isqrt(sum(count**2 for count in rows))
    if utility == "ncp":
        return sum(count * narrower for count, narrower in zip(rows, narrowing, strict=True))
    counts = [[child.count(value) for value in range(3)] for child in children]
    if utility == "max":
        return sum(map(max, counts))
    return sum(math.isqrt(sum(count**2 for count in child)) for child in counts)


@pytest.mark.parametrize("utility", get_args(Utility))
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), max_size=12),
    st.sets(st.integers(1, 7), max_size=3),
    st.tuples(st.integers(0, 9), st.integers(0, 2)),
)
def test_utilities_are_their_definitions_and_rise_by_at_most_their_sensitivity(
    utility: Utility, rows: list[tuple[int, int]], inner: set[int], more: tuple[int, int]
) -> None:
    starts = sorted({0, *inner})
    ranges = list(itertools.pairwise([*starts, 8]))

    def score(held: list[tuple[int, int]]) -> int:
        histograms = np.zeros((len(held), 3), dtype=np.int64)
        histograms[np.arange(len(held)), [value for _, value in held]] = 1
        column = np.array([position for position, _ in held], dtype=np.int32)
        return ClassCounts.of(10, column, histograms).score(starts, 7, utility)

    children = [[value for position, value in rows if lo <= position < end] for lo, end in ranges]
    assert score(rows) == slow_score(utility, children, [(8 - (end - lo)) * 1024 // 9 for lo, end in ranges])
    assert 0 <= score([*rows, more]) - score(rows) <= sensitivity_of(utility)


def test_a_smaller_sensitivity_would_not_do() -> None:
    """One row that a child narrows down fully adds all of its axis."""
    one = ClassCounts.of(2, np.array([1], dtype=np.int32), np.ones((1, 1), dtype=np.int64))
    assert one.score((0, 1), 1, "ncp") == sensitivity_of("ncp") == 1024
    assert one.score((0, 1), 1, "max") == sensitivity_of("max") == 1


def test_values_follow_the_taxonomy() -> None:
    table = people()
    job, age, sex = (Value.top(number, axis) for number, axis in enumerate(table.schema.quasi))
    assert (job.children, age.children, sex.children) == ((0, 2), (), (0, 1))
    assert [(value.lo, value.hi, value.children) for value in job.specialize()] == [(0, 1, (0, 1)), (2, 3, (2, 3))]
    assert age.needs_cut
    assert not job.needs_cut
    assert [value.children for value in sex.specialize()] == [(), ()]


def test_a_missing_value_stands_beside_the_root() -> None:
    columns = {
        "job": {"role": "quasi", "kind": "categorical", "taxonomy": {"only": ["a", "b"]}, "nullable": True},
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 4, "nullable": True},
        "one": {"role": "quasi", "kind": "categorical", "values": ["x"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    axes = Schema.parse({"columns": columns}).quasi
    job, age, one = (Value.top(number, axis) for number, axis in enumerate(axes))
    assert (job.lo, job.hi, job.children) == (0, 2, (0, 2))
    assert [(value.lo, value.hi, value.children) for value in job.specialize()] == [(0, 1, (0, 1)), (2, 2, ())]
    assert (age.hi, age.cuts) == (5, [1, 2, 3, 4, 5])
    assert (one.children, one.needs_cut) == ((), False)


@given(st.integers(0, 2**31 - 3), st.integers(1, 2**31 - 3))
def test_cuts_leave_both_sides_some_positions(lo: int, width: int) -> None:
    value = Value(0, lo, lo + width, None)
    assert len(value.cuts) == min(width, diffgen.MAX_CUTS)
    assert value.cuts == sorted(set(value.cuts))
    assert lo < value.cuts[0] <= value.cuts[-1] <= lo + width


def grid_of(release: Release) -> list[set[tuple[int, int, bool]]]:
    """The distinct generalized values of each axis."""
    return [
        {tuple(release.boxes.span(box, axis)) for box in range(len(release.boxes))}
        for axis in range(release.boxes.lo.shape[1])
    ]


def check_grid(table: Table, release: Release) -> None:
    """The product of one partition of each axis, covering the domain."""
    grid = grid_of(release)
    assert len(release.boxes) == math.prod(map(len, grid))
    for axis, values in zip(table.schema.quasi, grid, strict=True):
        covered = [code for lo, hi, _ in values for code in range(lo, hi + 1)]
        assert sorted(covered) == list(range(axis.size))
        assert sum(missing for _, _, missing in values) == axis.nullable
    assert (release.histograms >= 0).all()
    assert release.histograms.sum(axis=1) == pytest.approx(release.weights)
    assert release.layout == "counts"


def spent_by(method: DiffGen, table: Table) -> int:
    budget = Budget(Pure(Fraction(str(method.epsilon))), SimulatedSource(1))
    method._release(table, budget)
    return int(budget.spent[0])


@settings(max_examples=30)
@given(
    case=tables(most_rows=40, most_quasi=3, most=6),
    epsilon=st.sampled_from([0.01, 1, 10]),
    h=st.sampled_from([1, 3, 10]),
    utility=st.sampled_from(get_args(Utility)),
)
def test_every_release_is_a_grid_and_spends_the_budget(
    case: TableCase, epsilon: float, h: int, utility: Utility
) -> None:
    method = DiffGen(epsilon=epsilon, h=h, utility=utility)
    release = method.publish(case.table)
    check_grid(case.table, release)
    assert 0 <= release.provenance.made["specializations"] <= h
    assert spent_by(method, case.table) == WHOLE


@settings(max_examples=25)
@given(case=tables(most_rows=40, most_quasi=3, most=5))
def test_without_noise_the_counts_are_those_of_the_boxes(case: TableCase) -> None:
    release = DiffGen(epsilon=HUGE, h=4).publish(case.table)
    found = np.zeros_like(release.histograms)
    for point, histogram in zip(case.table.points, case.table.histograms, strict=True):
        inside = np.ones(len(release.boxes), dtype=bool)
        for i, code in enumerate(point):
            within = (release.boxes.lo[:, i] <= code) & (code <= release.boxes.hi[:, i])
            inside &= release.boxes.missing[:, i] if code < 0 else within
        assert inside.sum() == 1
        found[inside] += histogram
    assert release.histograms == pytest.approx(found, abs=1e-6)


def test_without_noise_the_value_that_tells_most_is_specialized_first() -> None:
    table = people()
    grid = grid_of(DiffGen(epsilon=HUGE, h=1).publish(table))
    assert grid == [{(0, 1, False), (2, 3, False)}, {(0, 49, False)}, {(0, 1, False)}]


def test_without_noise_a_cut_is_where_classes_part() -> None:
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 19},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    frame = pl.DataFrame({"age": list(range(20)) * 5, "ill": ["no" if age < 13 else "yes" for age in range(20)] * 5})
    table = read(frame, Schema.parse({"columns": columns}))
    release = DiffGen(epsilon=HUGE, h=1).publish(table)
    assert grid_of(release) == [{(0, 12, False), (13, 19, False)}]
    assert sorted(release.histograms.round(6).tolist()) == [[0, 35], [65, 0]]


def test_h_limits_the_specializations() -> None:
    table = people()
    assert [len(DiffGen(epsilon=HUGE, h=h).publish(table).boxes) for h in (1, 2, 3)] == [2, 4, 8]
    # job into 4 (3 specializations), sex into 2 (1), age into as many values as are left
    assert len(grid_of(DiffGen(epsilon=HUGE, h=100).publish(table))[1]) == 50


def test_unneeded_prices_go_to_the_leaves() -> None:
    """Two positions: one cut, one specialization, then nothing is left; the leaves have all the rest."""
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 1},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    table = read(pl.DataFrame({"age": [0, 1], "ill": ["no", "yes"]}), Schema.parse({"columns": columns}))
    charges: list[int] = []

    class Noted(Budget):
        def _charge(self, cost):  # type: ignore[no-untyped-def]
            charges.append(int(cost))
            return super()._charge(cost)

    DiffGen(epsilon=1, h=5)._release(table, Noted(Pure(Fraction(1)), SimulatedSource(1)))
    price = WHOLE // 2 // 10
    assert charges == [price, price, WHOLE - 2 * price]


def test_a_grid_too_large_to_list_is_counted_sparsely() -> None:
    columns: dict[str, dict[str, object]] = {
        f"q{i}": {"role": "quasi", "kind": "categorical", "values": [str(v) for v in range(40)]} for i in range(14)
    }
    columns["ill"] = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    half = np.arange(2_000) % 2
    frame = pl.DataFrame(
        {**{f"q{i}": [str(3 + 5 * x) for x in half] for i in range(14)}, "ill": np.where(half, "yes", "no")}
    )
    table = read(frame, Schema.parse({"columns": columns}))
    domains: list[int] = []

    class Noted(Budget):
        def sparse_counts(self, cells, counts, domain_size, threshold, cost):  # type: ignore[no-untyped-def]
            domains.append(domain_size)
            return super().sparse_counts(cells, counts, domain_size, threshold, cost)

    budget = Noted(Pure(Fraction(1)), SimulatedSource(1))
    release = DiffGen(epsilon=1, h=14)._release(table, budget)
    assert domains == [40**11 * 2], "one more specialization would pass 10^18"
    assert budget.spent.tolist() == [WHOLE]
    assert (release.histograms >= 0).all()
    assert release.posteriors(table.points).argmax(axis=1).tolist() == [0, 1]


def test_a_grid_in_which_nothing_reaches_the_threshold_is_one_box() -> None:
    columns: dict[str, dict[str, object]] = {
        f"q{i}": {"role": "quasi", "kind": "categorical", "values": [str(v) for v in range(40)]} for i in range(6)
    }
    columns["ill"] = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    frame = pl.DataFrame({**{f"q{i}": ["3", "7"] for i in range(6)}, "ill": ["yes", "no"]})
    table = read(frame, Schema.parse({"columns": columns}))

    class Silent(Budget):
        def sparse_counts(self, *arguments):  # type: ignore[no-untyped-def]
            super().sparse_counts(*arguments)
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    release = DiffGen(epsilon=1, h=6)._release(table, Silent(Pure(Fraction(1)), SimulatedSource(1)))
    assert len(release.boxes) == 1
    assert release.boxes.widths.tolist() == [[40] * 6]
    assert release.histograms.tolist() == [[0.5, 0.5]]


def test_a_very_wide_axis_is_cut_evenly() -> None:
    size = 2**31 - 2
    columns = {
        "wide": {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1, "nullable": True},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    frame = pl.DataFrame(
        {"wide": [None] * 200 + [7] * 400 + [size - 1] * 400, "s": ["a"] * 200 + ["b"] * 400 + ["a"] * 400}
    )
    table = read(frame, Schema.parse({"columns": columns}))
    release = DiffGen(epsilon=HUGE, h=3).publish(table)
    assert len(release.boxes) == 4
    assert release.boxes.missing.sum() == 1
    covered = int(release.boxes.widths.sum())
    assert covered == size + 1
    low = release.boxes.hi[:, 0] < size - 1
    assert release.histograms[low & ~release.boxes.missing[:, 0], 1].sum() == pytest.approx(400)


def test_one_row_is_enough() -> None:
    table = people()
    single = Table(
        schema=table.schema,
        points=table.points[:1],
        cell_point=table.cell_point[:1],
        cell_value=table.cell_value[:1],
        cell_weight=np.ones(1, dtype=np.int64),
    )
    for epsilon in (0.1, 1, HUGE):
        release = DiffGen(epsilon=epsilon, h=3).publish(single)
        check_grid(single, release)
    assert release.rows == pytest.approx(1)


@pytest.mark.parametrize("h", [0, -1, True, 1.5, 10**6, "3"])
def test_h_out_of_range_is_refused(h: object) -> None:
    with pytest.raises(ParameterError, match=r"h is .*; expected a whole number from 1 to 1,000"):
        DiffGen(epsilon=1, h=h)  # type: ignore[arg-type]


def test_settings_are_named() -> None:
    found = list(DiffGen.grid(people()))
    assert [method.label for method in found] == [f"DiffGen ε={epsilon} h=10" for epsilon in ("0.1", "0.3", "1", "3")]
