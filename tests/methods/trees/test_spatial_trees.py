"""Quad-tree, kd-tree, hybrid tree and RPS: exact at a huge epsilon, paid for on every path, cut where they say."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from recording import WHOLE, FixedNoise, recorded
from reference import holds
from sfumato.data import Table, read
from sfumato.errors import ParameterError
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.mechanisms.noise.geometric import laplace_variance
from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Regions
from sfumato.methods.trees.spatial_tree import (
    CUTTING,
    GROWTH,
    MAX_HEIGHT,
    RPS,
    SIZING,
    HybridTree,
    Inside,
    KDTree,
    QuadTree,
    SpatialTree,
    automatic_height,
    geometric_prices,
)
from sfumato.privacy.loss import Pure
from sfumato.schema import Schema
from strategies import TableCase, tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.release import Release

TREES: list[type[SpatialTree]] = [QuadTree, KDTree, HybridTree, RPS]
HUGE = 100_000
"""An epsilon at which any noise has a probability below 1e-100, also where it is divided among many draws."""


def check_exact(case: TableCase, release: Release) -> None:
    """Every box has the histogram of the people in it, and every person is in one box."""
    found = 0
    for box, histogram in enumerate(release.histograms):
        spans = [release.boxes.span(box, axis) for axis in range(len(case.case.quasi))]
        inside = [value for point, value in case.people if holds(spans, point)]
        found += len(inside)
        expected = [inside.count(value) for value in range(case.table.values)]
        assert histogram == pytest.approx(expected, abs=1e-6)
        assert release.weights[box] == pytest.approx(len(inside), abs=1e-6)
    assert found == len(case.rows)


@pytest.mark.parametrize("kind", TREES)
@settings(max_examples=12)
@given(case=tables(most_rows=30, most_quasi=3, most=6), height=st.integers(0, 6))
def test_without_noise_counts_are_those_of_the_rows(kind: type[SpatialTree], case: TableCase, height: int) -> None:
    release, _ = recorded(kind(epsilon=HUGE, height=height), case.table)
    check_exact(case, release)
    assert release.deviation is not None
    assert (release.deviation == 0).all()


@given(tables(most_rows=30, most_quasi=2, most=6))
@settings(max_examples=10)
def test_noise_is_noticed_by_the_comparison(case: TableCase) -> None:
    """The check's own check: one more row in every count."""
    with pytest.raises(AssertionError):
        check_exact(case, recorded(QuadTree(epsilon=HUGE, height=2), case.table, FixedNoise(1))[0])


@pytest.mark.parametrize("kind", TREES)
@settings(max_examples=12)
@given(
    case=tables(most_rows=30, most_quasi=3, most=6),
    height=st.one_of(st.none(), st.integers(0, 8)),
    epsilon=st.sampled_from([0.05, 1, 7, HUGE]),
)
def test_every_path_spends_the_whole_and_no_more(
    kind: type[SpatialTree], case: TableCase, height: int | None, epsilon: float
) -> None:
    release, budget = recorded(kind(epsilon=epsilon, height=height), case.table)
    assert budget.most == WHOLE
    assert set(budget.ends) == {WHOLE}
    assert len(budget.ends) == len(release.boxes)


def test_draws_that_are_not_charged_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The account's own check: were a draw to leave the budget as it was, the leaves would pass the whole."""

    def forgetful(self: Budget, cost: object) -> NDArray[np.int64]:
        return np.broadcast_to(np.asarray(cost, dtype=np.int64), self._spent.shape)

    monkeypatch.setattr(Budget, "_charge", forgetful)
    assert recorded(QuadTree(epsilon=1, height=2), plain_table())[1].most > WHOLE


def plain_table(rows: int = 64, size: int = 64, **more: int) -> Table:
    """Rows crowded at the low end of x; `more` names further numeric axes with their sizes."""
    columns: dict[str, dict[str, object]] = {"x": {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1}}
    columns |= {name: {"role": "quasi", "kind": "numeric", "min": 0, "max": last - 1} for name, last in more.items()}
    columns["s"] = {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]}
    generator = np.random.default_rng(5)
    frame = {"x": np.minimum(np.abs(generator.normal(0, size / 6, rows)), size - 1).astype(int)}
    frame |= {name: generator.integers(0, last, rows) for name, last in more.items()}
    return read(pl.DataFrame({**frame, "s": ["ab"[i % 2] for i in range(rows)]}), Schema.parse({"columns": columns}))


def box_set(release: Release) -> set[tuple[int, ...]]:
    return {
        (*lo, *hi, *missing) for lo, hi, missing in zip(*(side.tolist() for side in release.boxes.arrays), strict=True)
    }


@settings(max_examples=30)
@given(case=tables(most_rows=24, most_quasi=3, most=6), height=st.integers(0, 6), data=st.data())
def test_the_boxes_of_a_quad_tree_do_not_depend_on_the_data(case: TableCase, height: int, data: st.DataObject) -> None:
    kept = sorted(data.draw(st.sets(st.integers(0, len(case.table.cell_weight) - 1), min_size=1)))
    cells = case.table
    points, cell_point = np.unique(cells.cell_point[kept], return_inverse=True)
    other = Table(
        schema=cells.schema,
        points=cells.points[points],
        cell_point=cell_point,
        cell_value=cells.cell_value[kept],
        cell_weight=cells.cell_weight[kept] * 3,
    )
    method = QuadTree(epsilon=1, height=height)
    ours, theirs = recorded(method, case.table, 1)[0], recorded(method, other, 2)[0]
    assert box_set(ours) == box_set(theirs)


def test_the_boxes_of_a_kd_tree_do() -> None:
    tree = KDTree(epsilon=HUGE, height=2)
    crowded, even = plain_table(), read(pl.DataFrame({"x": range(64), "s": ["a", "b"] * 32}), plain_table().schema)
    assert box_set(recorded(tree, crowded)[0]) != box_set(recorded(tree, even)[0])
    assert box_set(recorded(tree, even)[0]) == {(lo, lo + 15, False) for lo in (0, 16, 32, 48)}


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("height", [0, 1, 3, 5])
def test_a_height_gives_so_many_leaves(kind: type[SpatialTree], height: int) -> None:
    """An even table on a wide axis is halved everywhere."""
    table = read(pl.DataFrame({"x": range(64), "s": ["a", "b"] * 32}), plain_table().schema)
    release, budget = recorded(kind(epsilon=HUGE, height=height, spread="even"), table)
    assert len(release.boxes) == 2**height
    private = {QuadTree: 0, KDTree: height, HybridTree: (height + 1) // 2, RPS: height}[kind]
    chosen = [draw for draw in budget.all_draws if draw.kind == "choose"]
    assert [len(draw.cost) for draw in chosen] == [2**level for level in range(private)]
    assert all(set(draw.cost) == {ticks(CUTTING / private)} for draw in chosen)
    counted = [draw for draw in budget.all_draws if draw.kind == "counts"]
    assert [len(draw.cost) for draw in counted] == [2**level for level in range(height + 1)]
    prices = [draw.cost[0] for draw in counted]
    assert all(after / before == pytest.approx(GROWTH, rel=1e-6) for before, after in itertools.pairwise(prices))
    assert sum(prices) + sum(draw.cost[0] for draw in chosen) == WHOLE


def test_upper_levels_of_a_hybrid_are_cut_at_medians_and_lower_ones_in_the_middle() -> None:
    release, _ = recorded(HybridTree(epsilon=HUGE, height=2), plain_table(rows=400))
    edges = sorted(release.boxes.lo[:, 0].tolist())
    median = edges[2]
    assert median < 16, "most rows lie at the low end"
    assert edges == [0, (median + 1) // 2, median, median + (64 - median + 1) // 2]
    below = (plain_table(rows=400).points[:, 0] < median) @ plain_table(rows=400).weights
    assert abs(below - 200) <= 40


@pytest.mark.parametrize("kind", [KDTree, RPS])
@settings(max_examples=15)
@given(case=tables(most_rows=30, most_quasi=2, most=8))
def test_private_medians_are_the_best_cuts_where_there_is_no_noise(kind: type[SpatialTree], case: TableCase) -> None:
    """No other cut of the same axis has a smaller larger half."""
    release, _ = recorded(kind(epsilon=HUGE, height=1), case.table)
    if len(release.boxes) == 1:
        assert max(case.positions) == 1
        return
    axis = next(axis for axis in range(len(case.positions)) if release.boxes.widths[0, axis] < case.positions[axis])
    size = case.case.quasi[axis].size
    codes = [size if point[axis] < 0 else point[axis] for point, _ in case.people]
    larger = [
        max(sum(code < cut for code in codes), sum(code >= cut for code in codes))
        for cut in range(1, case.positions[axis])
    ]
    assert release.weights.max() == pytest.approx(min(larger))


@settings(max_examples=30)
@given(case=tables(most_rows=12, most_quasi=4, most=9))
def test_the_widest_axis_is_cut_in_the_middle(case: TableCase) -> None:
    regions = Regions.whole(Points.of(case.table))
    for _ in range(3):
        regions = regions[(regions.widths > 1).any(axis=1)]
        if not len(regions):
            break
        axis, expected_axis, expected_middle = regions.widest_axes(), [], []
        for lo, hi in zip(regions.ranges.lo.tolist(), regions.ranges.hi.tolist(), strict=True):
            shares = [
                Fraction(last - first + 1, size) if last > first else Fraction(0)
                for first, last, size in zip(lo, hi, case.positions, strict=True)
            ]
            widest = shares.index(max(shares))
            expected_axis.append(widest)
            expected_middle.append(lo[widest] + (hi[widest] - lo[widest] + 2) // 2)
        assert axis.tolist() == expected_axis
        assert regions.middles(axis).tolist() == expected_middle
        regions, _ = regions.split(axis, regions.middles(axis))


def axis_statistic(tree: SpatialTree, draws: int) -> float:
    """χ² of the axes drawn for a region that can be cut on the first, third and fourth of four axes."""
    table = plain_table(y=1, z=3, w=5)
    whole = Regions.whole(Points.of(table))
    many = whole[np.zeros(draws, dtype=np.int64)]
    drawn = np.bincount(tree.axes_to_cut(many, Budget(Pure(Fraction(1)), SimulatedSource(11))), minlength=4)
    assert drawn[1] == 0
    expected = draws / 3
    return float(((drawn[[0, 2, 3]] - expected) ** 2 / expected).sum())


def test_rps_draws_every_axis_that_can_be_cut_with_the_same_probability() -> None:
    """False-failure probability 1e-9; an axis drawn by its width, or always the widest, does not pass."""
    limit = chi2.isf(1e-9, 2)
    assert axis_statistic(RPS(epsilon=1), 3_000) < limit
    assert axis_statistic(QuadTree(epsilon=1), 3_000) > limit

    class LastTwoOften(RPS):
        def axes_to_cut(self, regions: Regions, budget: Budget) -> NDArray[np.int32]:
            drawn = np.floor(budget.uniforms(len(regions)) * 7).astype(np.int64)
            return np.array([0, 0, 2, 2, 2, 3, 3], dtype=np.int32)[drawn]

    assert axis_statistic(LastTwoOften(epsilon=1), 3_000) > limit


@pytest.mark.parametrize("height", [0, 1, 2, 7, MAX_HEIGHT])
def test_prices_grow_by_the_cube_root_of_two(height: int) -> None:
    prices = geometric_prices(WHOLE, height)
    rest = WHOLE - sum(prices)
    assert len(prices) == height
    assert rest > 0
    assert all(
        after / before == pytest.approx(2 ** (1 / 3), rel=1e-6) for before, after in itertools.pairwise([*prices, rest])
    )


def test_a_price_is_at_least_a_tick() -> None:
    assert geometric_prices(3, 2) == [1, 1]


@pytest.mark.parametrize(
    ("rows", "epsilon", "values", "height"),
    [
        (-50, 1, 1, 0),
        (0, 1, 1, 0),
        (40, 1, 1, 0),
        (80, 1, 1, 1),
        (40 * 2**9, 1, 1, 9),
        (40 * 2**9, 0.5, 1, 8),
        (40 * 2**9, 10, 1, 12),
        (40 * 2**9, HUGE, 1, 12),
        (10**12, 1, 1, MAX_HEIGHT),
        (40 * 2**9, 1, 2**9, 9),
        (40 * 2**9, 1, 2**9 + 1, 0),
        (40 * 14 - 1, 1, 14, 0),
        (40 * 14, 1, 14, 4),
    ],
)
def test_the_automatic_height(rows: int, epsilon: float, values: int, height: int) -> None:
    """No tree has fewer leaves, of 40 rows at ε = 1, than there are sensitive values."""
    assert automatic_height(rows, epsilon, values) == height


@pytest.mark.parametrize(
    ("spread", "noise", "leaves"),
    [
        *(("even", noise, leaves) for noise, leaves in ((0, 2), (-64, 1), (96, 4), (576, 16))),
        *(("margins", noise, leaves) for noise, leaves in ((15, 1), (16, 2), (576, 16))),
    ],
)
def test_the_height_follows_from_the_noisy_number_of_rows(spread: Inside, noise: int, leaves: int) -> None:
    """64 rows at ε = 1 make a tree of height 1, or none beside margins; what counts is the number after noise."""
    release, budget = recorded(QuadTree(epsilon=1, spread=spread), plain_table(), FixedNoise(noise))
    first = budget.all_draws[0]
    assert (first.kind, first.cost, first.seen.tolist()) == ("counts", (ticks(SIZING),), [64])
    assert len(release.boxes) == leaves


def test_a_given_height_looks_at_no_number_of_rows() -> None:
    tree = QuadTree(epsilon=1, height=0, spread="even")
    assert recorded(tree, plain_table())[1].all_draws[0].cost == (WHOLE,)


@pytest.mark.parametrize("kind", TREES)
def test_early_leaves_spend_what_their_path_saved(kind: type[SpatialTree]) -> None:
    """Three positions under height 6: no leaf is reached below the second level, and each has less noise for that."""
    table = read(pl.DataFrame({"x": [0, 1, 2, 2], "s": list("abab")}), plain_table(size=3).schema)
    release, budget = recorded(kind(epsilon=1, height=6, spread="even"), table)
    assert box_set(release) == {(i, i, False) for i in range(3)}
    assert set(budget.ends) == {WHOLE}
    assert release.deviation is not None
    prices = geometric_prices(WHOLE - 6 * ticks(CUTTING / 6) if kind in (KDTree, RPS) else WHOLE, 6)
    if kind is QuadTree:
        shallow, deep = 1 - prices[0] / WHOLE, 1 - sum(prices[:2]) / WHOLE
        expected = sorted(laplace_variance(share) ** 0.5 for share in (shallow, deep, deep))
        assert sorted(release.deviation) == pytest.approx(expected)


@pytest.mark.parametrize("kind", TREES)
def test_axes_of_one_value_are_never_cut(kind: type[SpatialTree]) -> None:
    columns = {
        "one": {"role": "quasi", "kind": "categorical", "values": ["only"]},
        "two": {"role": "quasi", "kind": "numeric", "min": 5, "max": 5},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    frame = pl.DataFrame({"one": ["only"] * 6, "two": [5] * 6, "s": ["a", "b"] * 3})
    release, budget = recorded(kind(epsilon=HUGE, height=4), read(frame, Schema.parse({"columns": columns})))
    assert release.histograms == pytest.approx(np.array([[3.0, 3.0]]))
    assert budget.ends == [WHOLE]


@pytest.mark.parametrize("kind", TREES)
def test_regions_without_people_are_cut_like_others(kind: type[SpatialTree]) -> None:
    frame = pl.DataFrame({"x": [0, 0, 63, 63], "s": list("abab")})
    table = read(frame, plain_table().schema)
    release, _ = recorded(kind(epsilon=HUGE, height=4), table)
    assert len(release.boxes) > 4
    assert (release.weights < 1e-6).sum() == len(release.boxes) - 2
    noisy, budget = recorded(kind(epsilon=0.5, height=4), table)
    assert len(noisy.boxes) >= 2
    assert (noisy.histograms >= 0).all()
    assert set(budget.ends) == {WHOLE}


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("height", [None, 0, 3])
def test_one_row_is_enough(kind: type[SpatialTree], height: int | None) -> None:
    table = plain_table()
    single = Table(
        schema=table.schema,
        points=table.points[:1],
        cell_point=table.cell_point[:1],
        cell_value=table.cell_value[:1],
        cell_weight=np.ones(1, dtype=np.int64),
    )
    for epsilon in (0.1, 1, HUGE):
        release = kind(epsilon=epsilon, height=height).publish(single)
        assert release.rows >= 1 - 1e-9
    assert release.rows == pytest.approx(1)
    assert release.overall.argmax() == single.cell_value[0]


@pytest.mark.parametrize("height", [-1, MAX_HEIGHT + 1, 2.0, True, "3"])
def test_heights_out_of_range_are_refused(height: object) -> None:
    with pytest.raises(ParameterError, match=f"height is {height!r}; expected a whole number from 0 to {MAX_HEIGHT}"):
        KDTree(epsilon=1, height=height)  # type: ignore[arg-type]


def test_labels_tell_settings_apart() -> None:
    found = [kind(epsilon=1, height=height) for kind in TREES for height in (None, 0, 5)]
    assert len({method.label for method in found}) == len(found)
    assert [method.epsilon for method in KDTree.grid(plain_table())] == [0.1, 0.3, 1, 3]
