"""Marginals: the fit of greatest entropy, which tables are counted and how finely, and rows that follow the fit."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato.methods.models.marginals as marginals_module
from recording import WHOLE, recorded
from sfumato.data import Table, read
from sfumato.errors import ReleaseError
from sfumato.mechanisms.budget import Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.models.binning import Attribute
from sfumato.methods.models.fitting import MIN_SHARE, Marginal, best_total, fit
from sfumato.methods.models.marginals import (
    JOINED_CELLS,
    MAX_CELLS,
    NARROW_SENSITIVE,
    RESOLUTIONS,
    Marginals,
    _sample_rows,
    joint_tables,
    resolution,
)
from sfumato.privacy.loss import Pure
from sfumato.release.sampling import deviation_bound
from sfumato.schema import NumericAxis, Schema
from strategies import TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sfumato.release import Release

Floats = np.ndarray[Any, np.dtype[np.float64]]
HUGE = 600
"""An epsilon at which any noise has a probability below 1e-8 in the tables of this file."""


def marginal_of(cells: Floats, axes: Sequence[int], variance: float = 1.0) -> Marginal:
    others = tuple(axis for axis in range(cells.ndim) if axis not in axes)
    return Marginal(tuple(axes), cells.sum(axis=others), variance)


def pairs_of(cells: Floats) -> list[Marginal]:
    return [marginal_of(cells, pair) for pair in itertools.combinations(range(cells.ndim), 2)]


def proportional_fit(shape: Sequence[int], wanted: Sequence[Marginal], rounds: int = 400) -> Floats:
    """Iterative proportional fitting from even cells: the distribution of greatest entropy with these marginals."""
    cells = np.ones(shape)
    for _ in range(rounds):
        for marginal in wanted:
            others = tuple(axis for axis in range(cells.ndim) if axis not in marginal.axes)
            sizes = [size if axis in marginal.axes else 1 for axis, size in enumerate(shape)]
            cells = cells * (marginal.counts.reshape(sizes) / cells.sum(axis=others, keepdims=True))
    return cells


def entropy(cells: Floats) -> float:
    shares = cells / cells.sum()
    return float(-(shares * np.log(shares)).sum())


@st.composite
def joints(draw: st.DrawFn, least_axes: int = 2) -> Floats:
    """Positive counts over two to four axes."""
    shape = draw(st.lists(st.integers(2, 4), min_size=least_axes, max_size=4))
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    return np.asarray(generator.gamma(1.0, size=shape) + 0.1) * draw(st.sampled_from([1, 30, 1_000]))


@settings(max_examples=30)
@given(joints())
def test_exact_marginals_are_reproduced(cells: Floats) -> None:
    found = fit(cells.shape, pairs_of(cells))
    for marginal in pairs_of(cells):
        assert marginal_of(found, marginal.axes).counts == pytest.approx(marginal.counts, abs=1e-4 * cells.sum())
    assert found.min() >= 0


@settings(max_examples=20)
@given(joints(least_axes=3))
def test_the_fit_is_that_of_greatest_entropy(cells: Floats) -> None:
    """Equal to proportional fitting; the cells that the marginals came from have them too, but less entropy."""
    found, expected = fit(cells.shape, pairs_of(cells)), proportional_fit(cells.shape, pairs_of(cells))
    scale = cells.sum() / cells.size
    assert found / scale == pytest.approx(expected / scale, abs=0.01)
    assert entropy(found) > entropy(cells) - 1e-6
    assert np.abs(found - cells).max() > 0.01 * scale, "the comparison tells the two apart"


@settings(max_examples=20)
@given(st.lists(st.lists(st.floats(0.05, 1), min_size=2, max_size=4), min_size=2, max_size=4))
def test_pairs_of_independent_attributes_give_their_product(shares: list[list[float]]) -> None:
    cells = np.ones(())
    for share in shares:
        cells = np.multiply.outer(cells, np.array(share))
    cells = np.asarray(cells * (500 / cells.sum()))
    assert fit(cells.shape, pairs_of(cells)) == pytest.approx(cells, abs=0.01)


def test_noisier_marginals_count_less() -> None:
    """Two counts of one axis: 30 and 10 with variance 1, 10 and 30 with variance 3."""
    found = fit([2], [Marginal((0,), np.array([30.0, 10]), 1.0), Marginal((0,), np.array([10.0, 30]), 3.0)])
    assert found == pytest.approx([25, 15], abs=0.01)
    even, odd = np.array([[30.0, 10], [10, 30]]), np.array([[10.0, 30], [30, 10]])
    both = fit([2, 2], [Marginal((0, 1), even, 1.0), Marginal((0, 1), odd, 3.0)])
    assert both == pytest.approx(np.array([[25, 15], [15, 25]]), abs=0.01)
    assert best_total([Marginal((0,), np.array([20.0]), 1.0), Marginal((0,), np.array([10.0]), 4.0)]) == 18
    assert best_total([Marginal((0,), np.array([20.0]), 1.0), Marginal((0,), np.array([5.0] * 4), 1.0)]) == 20


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.sampled_from([1e-6, 1, 1e6]),
    st.integers(0, 1_000),
    st.sampled_from([-100, 0, 3]),
)
def test_noise_alone_gives_a_distribution(shape: list[int], variance: float, seed: int, mean: float) -> None:
    """Totals below zero and counts far below: finite counts of zero or more, one row in all at least."""
    generator = np.random.default_rng(seed)
    noisy = [
        Marginal(axes, generator.normal(mean, math.sqrt(variance), [shape[axis] for axis in axes]), variance)
        for axes in joint_tables(shape)
    ]
    found = fit(shape, noisy, steps=60)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.sum() == pytest.approx(best_total(noisy))
    assert best_total(noisy) >= 1


def test_no_value_is_lost_before_the_fit_begins() -> None:
    """A value counted below zero in one table comes back if another speaks for it."""
    first = Marginal((0, 1), np.array([[50.0, 50], [-8, 7]]), 100.0)
    second = Marginal((0, 2), np.array([[50.0, 50], [9, 9]]), 1.0)
    found = fit([2, 2, 2], [first, second])
    assert found[1].sum() == pytest.approx(18, abs=2)
    assert 0 < MIN_SHARE < 0.01


@given(st.lists(st.integers(1, 40), min_size=1, max_size=9))
def test_every_pair_of_axes_is_in_a_table(shape: list[int]) -> None:
    found = joint_tables(shape)
    assert len(set(found)) == len(found)
    assert {axis for axes in found for axis in axes} == set(range(len(shape)))
    for pair in itertools.combinations(range(len(shape)), 2):
        assert any(set(pair) <= set(axes) for axes in found)
    for axes in found:
        assert list(axes) == sorted(set(axes))
        # Beside the pair of a table there are only axes with few cells together.
        assert math.prod(sorted(shape[axis] for axis in axes)[:-2]) <= JOINED_CELLS or len(axes) <= 2


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ([5], [(0,)]),
        ([5, 3], [(0, 1)]),
        ([20, 30, 40], [(0, 1), (0, 2), (1, 2)]),
        ([2, 20, 30], [(0, 1, 2)]),
        ([20, 2, 30, 3, 40], [(0, 1, 2, 3), (0, 1, 3, 4), (1, 2, 3, 4)]),
        ([2, 2, 2, 2], [(0, 1, 2, 3)]),
    ],
)
def test_tables_by_hand(shape: list[int], expected: list[tuple[int, ...]]) -> None:
    assert joint_tables(shape) == expected


sizes = st.one_of(st.integers(1, 40), st.integers(1, 10**6))


@given(st.lists(sizes, min_size=0, max_size=40), st.integers(2, 1_001))
def test_the_fitted_cells_fit_and_the_sensitive_axis_keeps_its_values(quasi: list[int], sensitive: int) -> None:
    limits, bins = resolution([*quasi, sensitive])
    groups = [size if size <= limit else bins for size, limit in zip([*quasi, sensitive], limits, strict=True)]
    assert math.prod(groups) <= MAX_CELLS
    assert sensitive > NARROW_SENSITIVE or sensitive <= limits[-1]
    assert bins in {bins for _, bins in RESOLUTIONS}


def test_few_axes_are_seen_finely_and_many_coarsely() -> None:
    assert resolution([16, 16, 16, 16]) == ([16, 16, 16, 32], 6)
    assert resolution([16, 16, 16, 16, 2])[0] == [12, 12, 12, 12, 32]
    assert resolution([100] * 5 + [14])[1] == 4
    assert resolution([3] * 30 + [32]) == ([1] * 30 + [32], 1)


def wide_axis(positions: int, counts: Floats, bins: int) -> Attribute:
    axis = NumericAxis(name="wide", maximum=positions - 1)
    return Attribute.binned(axis, np.arange(positions), counts, 0.0).coarse(bins)


@given(st.integers(17, 300), st.integers(1, 12), st.integers(0, 99))
def test_a_coarse_axis_has_at_most_so_many_groups_in_order(positions: int, bins: int, seed: int) -> None:
    counts = np.random.default_rng(seed).gamma(0.3, 40, positions)
    axis = wide_axis(positions, counts, bins)
    group = axis.bin_of(np.arange(positions))
    assert 1 <= axis.bins <= bins
    assert (np.diff(group) >= 0).all()
    assert set(group.tolist()) == set(range(axis.bins))


def published(table: Table, epsilon: float = HUGE, seed: int = 1) -> Release:
    return Marginals(epsilon=epsilon).publish(table, SimulatedSource(seed))


def grid_table(columns: dict[str, list[Any]], specs: dict[str, dict[str, Any]] | None = None) -> Table:
    """A table whose last column is sensitive; numeric columns go from 0 to their largest value."""
    names = list(columns)
    declared = {
        name: {"kind": "numeric", "min": 0, "max": max(value for value in values if value is not None)}
        for name, values in columns.items()
    } | (specs or {})
    roles = dict.fromkeys(names, "quasi") | {names[-1]: "sensitive"}
    schema = Schema.parse({"columns": {name: {"role": roles[name], **declared[name]} for name in names}})
    return read(pl.DataFrame(columns), schema)


def test_rows_of_a_bin_fall_where_the_axis_has_them() -> None:
    """A crowded position in each bin stays crowded; spread evenly over its bin, it would have a sixth of its rows."""
    generator = np.random.default_rng(2)
    tens, anywhere, s = (generator.integers(0, most, 4_000) for most in (10, 100, 2))
    crowded = np.where(generator.random(4_000) < 0.7, tens * 10, anywhere)
    wide = {"x": {"kind": "numeric", "min": 0, "max": 99}}
    table = grid_table({"x": crowded.tolist(), "s": s.tolist()}, wide)
    release = published(table)
    ours = np.bincount(release.boxes.lo[:, 0], release.weights, 100)
    truth = np.bincount(table.points[:, 0], table.weights, 100)
    # Each bin is rounded once and its rows are dealt to positions in exact shares, rounded once more.
    assert np.abs(ours - truth).max() <= 3
    axis = wide_axis(100, truth.astype(float), 6)
    group = axis.bin_of(np.arange(100))
    even = (np.bincount(group, truth) / np.bincount(group))[group]
    assert np.abs(even - truth).max() > 100


def test_a_pair_of_attributes_is_reproduced() -> None:
    """Two narrow attributes have one table: without noise the rows are the rows."""
    generator = np.random.default_rng(7)
    x = generator.integers(0, 12, 500)
    s = (x + generator.integers(0, 3, 500)) % 5
    table = grid_table({"x": x.tolist(), "s": s.tolist()})
    release = published(table)
    assert np.array_equal(np.sort(release.boxes.lo[:, 0]), table.points[:, 0])
    order = np.argsort(release.boxes.lo[:, 0])
    assert release.histograms[order] == pytest.approx(table.histograms, abs=1.01)
    assert release.rows == pytest.approx(table.n, abs=1)


def test_one_attribute_alone() -> None:
    """A quasi-identifier of one value is in every row, and the sensitive counts are kept."""
    table = grid_table(
        {"x": ["only"] * 60, "s": [0] * 30 + [1] * 20 + [2] * 10}, {"x": {"kind": "categorical", "values": ["only"]}}
    )
    release = published(table)
    assert release.boxes.lo.tolist() == [[0]]
    assert release.histograms == pytest.approx(np.array([[30.0, 20, 10]]), abs=1)


def test_missing_values_are_sampled_as_missing() -> None:
    x = [None] * 300 + [7] * 500 + [40] * 200
    table = grid_table(
        {"x": x, "s": [i % 2 for i in range(1_000)]}, {"x": {"kind": "numeric", "min": 0, "max": 99, "nullable": True}}
    )
    release = published(table)
    missing = release.boxes.missing[:, 0]
    assert release.weights[missing].sum() == pytest.approx(300, abs=3)
    assert release.weights[~missing & (release.boxes.lo[:, 0] == 7)].sum() == pytest.approx(500, abs=3)


@settings(max_examples=15)
@given(case=tables(most_rows=30, most_quasi=4, most=6), epsilon=st.sampled_from([0.01, 0.3, 3, HUGE]))
def test_every_release_is_rows_and_every_path_pays_no_more_than_the_whole(case: TableCase, epsilon: float) -> None:
    release, budget = recorded(Marginals(epsilon=epsilon), case.table)
    assert release.boxes.are_points.all()
    assert release.rows >= 1 or epsilon < HUGE
    assert np.array_equal(release.histograms, np.round(release.histograms))
    assert budget.most <= WHOLE
    assert budget.most > WHOLE - 100
    joint = [draw for draw in budget.all_draws if draw.kind == "counts"]
    assert all(draw.seen.sum() == len(case.rows) for draw in joint)


@pytest.mark.parametrize("epsilon", [0.01, 1, HUGE, 100_000])
def test_one_row_is_enough(epsilon: float) -> None:
    table = grid_table({"x": [0, 50], "y": [1, 0], "s": [0, 1]}, {"x": {"kind": "numeric", "min": 0, "max": 99}})
    single = Table(
        schema=table.schema,
        points=table.points[:1],
        cell_point=table.cell_point[:1],
        cell_value=table.cell_value[:1],
        cell_weight=np.ones(1, dtype=np.int64),
    )
    release = published(single, epsilon)
    assert release.boxes.are_points.all()
    if epsilon >= HUGE:
        assert release.rows <= 1


def uneven_cells() -> tuple[list[Attribute], Floats]:
    """Six thousand cells of 0.4 rows each on average: whoever rounds one by one loses or doubles them."""
    generator = np.random.default_rng(3)
    cells = np.ones(())
    for _ in range(8):
        cells = np.multiply.outer(cells, np.array([0.95, 1, 1.05]))
    axes = [Attribute.every(NumericAxis(name=name, maximum=2)) for name in "abcdefgh"]
    return axes, cells * generator.uniform(0.38, 0.42, cells.shape)


def test_rows_follow_the_fit_and_a_broken_rounding_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    axes, cells = uneven_cells()

    def rows(seed: int) -> Floats:
        return _sample_rows(axes, cells, Budget(Pure(Fraction(1)), SimulatedSource(seed)))

    found = rows(1)
    assert abs(len(found) - cells.sum()) < 1
    for axis in range(8):
        expected = cells.sum(axis=tuple(other for other in range(8) if other != axis))
        counted = np.bincount(found[:, axis], minlength=3)
        assert (np.abs(counted - expected) <= deviation_bound(expected, 1e-9)).all()

    def one_by_one(expected: Floats, *order: Any) -> Any:
        return np.round(expected).astype(np.int64)

    def largest_first(expected: Floats, *order: Any) -> Any:
        flat = np.argsort(-expected, axis=None)[: round(float(expected.sum()))]
        return np.bincount(flat, minlength=expected.size).reshape(expected.shape)

    for broken in (one_by_one, largest_first):
        monkeypatch.setattr(marginals_module, "round_counts", broken)
        with pytest.raises(ReleaseError, match="do not follow their model"):
            rows(1)


@pytest.mark.parametrize("attributes", [6, 9])
def test_even_cells_do_not_all_fall_on_one_value(attributes: int) -> None:
    """Every pair of values equally often: cells of half a row each. False-failure probability 1e-9."""
    rows = np.array(list(itertools.product([0, 1], repeat=attributes)))
    columns = {f"q{i}": rows[:, i].tolist() for i in range(attributes)}
    table = grid_table(columns | {"s": (rows.sum(axis=1) % 2).tolist()})
    found = published(table, HUGE).overall
    half = 2 ** (attributes - 1)
    allowed = min(float(deviation_bound(np.array(half), 1e-9)), half - 1)
    assert np.abs(found - half).max() <= allowed


def test_labels_tell_settings_apart() -> None:
    assert [method.label for method in Marginals.grid(grid_table({"x": [0, 1], "s": [0, 1]}))] == [
        "Marginals ε=0.1",
        "Marginals ε=0.3",
        "Marginals ε=1",
        "Marginals ε=3",
    ]
