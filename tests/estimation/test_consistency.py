"""Consistency: least squares against a dense solver, projections against their optimality, and levels on their way."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sfumato.data import Table, read
from sfumato.estimation.consistency import MIN_VARIANCE, histograms_with_totals, make_nonnegative, reconcile
from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Regions
from sfumato.methods.trees.noisy_tree import NOT_COUNTED, Level, release_of_levels, under_one_root
from sfumato.methods.trees.spatial_tree import QuadTree
from sfumato.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats = np.ndarray[Any, np.dtype[np.float64]]


@st.composite
def trees(draw: st.DrawFn, most: int = 14) -> list[int]:
    """The parent of each node, level by level, siblings together."""
    parent, level = [-1], [0]
    while level and len(parent) < most:
        below: list[int] = []
        for node in level:
            children = draw(st.sampled_from([0, 1, 2, 2, 3]))
            below += range(len(parent), len(parent) + children)
            parent += [node] * children
        level = below
    return parent


@st.composite
def noisy_trees(draw: st.DrawFn, variances: list[float]) -> tuple[list[int], Floats, Floats]:
    """A tree with counts in one or two columns; every leaf is counted, an inner node perhaps not."""
    parent = draw(trees())
    inner = set(parent)
    columns = draw(st.integers(1, 2))
    counts = np.array([[float(draw(st.integers(-50, 200))) for _ in range(columns)] for _ in parent])
    variance = [
        draw(st.sampled_from([*variances, np.inf] if node in inner else variances)) for node in range(len(parent))
    ]
    return parent, counts, np.array(variance)


def leaves_below(parent: list[int]) -> Floats:
    """Row i has a one for every leaf at or below node i: (nodes, leaves)."""
    leaves = [node for node in range(len(parent)) if node not in parent]
    below = np.zeros((len(parent), len(leaves)))
    for number, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            below[node, number] = 1
            node = parent[node]
    return below


def dense_solution(parent: list[int], counts: Floats, variance: Floats) -> Floats:
    """Generalized least squares over the leaves, by orthogonal decomposition, equations scaled by their noise."""
    below = leaves_below(parent)
    counted = np.isfinite(variance)
    scale = 1 / np.sqrt(variance[counted])
    found = np.linalg.lstsq(below[counted] * scale[:, None], counts[counted] * scale[:, None], rcond=None)[0]
    return np.asarray(below @ found)


def exact_solution(parent: list[int], counts: Floats, variance: Floats) -> Floats:
    """The same by the normal equations in fractions: no number is too far from another."""
    below = leaves_below(parent).astype(int).tolist()
    leaves, columns = len(below[0]), counts.shape[1]
    left = [[Fraction(0)] * leaves for _ in range(leaves)]
    right = [[Fraction(0)] * columns for _ in range(leaves)]
    for row, count, noise in zip(below, counts.tolist(), variance.tolist(), strict=True):
        weight = 0 if noise == np.inf else 1 / max(Fraction(noise), Fraction(MIN_VARIANCE))
        inside = [leaf for leaf in range(leaves) if row[leaf]]
        for leaf in inside:
            for other in inside:
                left[leaf][other] += weight
            for column in range(columns):
                right[leaf][column] += weight * Fraction(count[column])
    for pivot in range(leaves):
        for other in range(leaves):
            if other != pivot and left[other][pivot]:
                factor = left[other][pivot] / left[pivot][pivot]
                left[other] = [a - factor * b for a, b in zip(left[other], left[pivot], strict=True)]
                right[other] = [a - factor * b for a, b in zip(right[other], right[pivot], strict=True)]
    found = [[entry / left[leaf][leaf] for entry in right[leaf]] for leaf in range(leaves)]
    sums = [
        [sum(row[leaf] * found[leaf][column] for leaf in range(leaves)) for column in range(columns)] for row in below
    ]
    return np.array(sums, dtype=np.float64)


def check_reconciled(solve: Any, reference: Any, parent: list[int], counts: Floats, variance: Floats) -> None:
    found = solve(np.array(parent), counts.copy(), variance)
    assert found == pytest.approx(reference(parent, counts, variance), rel=1e-7, abs=1e-7)
    for node in set(parent) - {-1}:
        below = [child for child, above in enumerate(parent) if above == node]
        assert found[below].sum(axis=0) == pytest.approx(found[node], rel=1e-9, abs=1e-7)


@given(noisy_trees([0.5, 1.0, 7.0, 100.0]))
def test_reconciled_counts_are_the_generalized_least_squares(case: tuple[list[int], Floats, Floats]) -> None:
    check_reconciled(reconcile, dense_solution, *case)


@given(noisy_trees([0.0, 1e-6, 1.0, 2e5]))
def test_so_they_are_where_some_counts_have_no_noise_and_others_hardly_anything_else(
    case: tuple[list[int], Floats, Floats],
) -> None:
    check_reconciled(reconcile, exact_solution, *case)


def test_reconciled_by_hand() -> None:
    """Children 3 and 5 of variance 1 under 14 of variance 2: 11 in all, the surplus of 3 in halves."""
    parent = np.array([-1, 0, 0])
    counts = np.array([[14.0], [3.0], [5.0]])
    assert reconcile(parent, counts, np.array([2.0, 1, 1])).ravel() == pytest.approx([11, 4.5, 6.5])
    assert reconcile(parent, counts, np.array([np.inf, 1, 1])).ravel() == pytest.approx([8, 3, 5])
    assert reconcile(parent, counts, np.array([0.0, 1, 3])).ravel() == pytest.approx([14, 4.5, 9.5])
    assert reconcile(parent, counts, np.array([2.0, 0, 1])).ravel() == pytest.approx([10, 3, 7])


def test_exact_counts_above_noisy_ones_stay_exact() -> None:
    """Two exact nodes whose children have so much noise that they weigh nothing beside them."""
    parent = np.array([-1, 0, 0, 1, 1, 2, 2])
    counts = np.array([[10.0], [4], [6], [3], [2], [1], [4]])
    found = reconcile(parent, counts, np.array([1, 0, 0, 1e5, 1e5, 1e5, 1e5]))
    assert found.ravel() == pytest.approx([10, 4, 6, 2.5, 1.5, 1.5, 4.5])


def blind_upwards(parent: NDArray[np.int64], counts: Floats, variance: Floats) -> Floats:
    """The broken twin: every node counted the same, whatever its noise."""
    return np.asarray(reconcile(parent, counts, np.where(np.isinf(variance), np.inf, 1.0)))


def without_downwards(parent: NDArray[np.int64], counts: Floats, variance: Floats) -> Floats:
    """The broken twin: the sums of the leaves, as if nothing above had been counted."""
    return np.asarray(leaves_below(list(parent)) @ counts[[n for n in range(len(parent)) if n not in parent]])


@pytest.mark.parametrize("broken", [blind_upwards, without_downwards])
def test_other_estimates_are_noticed(broken: Any) -> None:
    parent = [-1, 0, 0, 1, 1]
    counts, variance = np.array([[9.0], [2], [3], [4], [1]]), np.array([1.0, 2, 3, 4, 5])
    check_reconciled(reconcile, dense_solution, parent, counts, variance)
    with pytest.raises(AssertionError):
        check_reconciled(broken, dense_solution, parent, counts, variance)


def slow_projection(values: Floats, total: float) -> Floats:
    """The nearest counts of zero or more with a total: of all numbers of values kept, in fractions, the nearest."""
    if total <= 0:
        return np.zeros_like(values)
    exact = [Fraction(float(value)) for value in values]
    order = sorted(range(len(exact)), key=lambda place: -exact[place])
    found: list[tuple[Fraction, list[Fraction]]] = []
    for kept in range(1, len(exact) + 1):
        shift = (Fraction(total) - sum(exact[place] for place in order[:kept])) / kept
        moved = [Fraction(0)] * len(exact)
        for place in order[:kept]:
            moved[place] = exact[place] + shift
        if min(moved) >= 0:
            found.append((sum((a - b) ** 2 for a, b in zip(moved, exact, strict=True)), moved))
    return np.array(min(found)[1], dtype=np.float64)


numbers = st.one_of(st.integers(-20, 60).map(float), st.floats(-100, 300))


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=6), st.data())
def test_histograms_are_the_nearest_with_their_totals(rows: list[list[float]], data: st.DataObject) -> None:
    totals = [data.draw(st.one_of(st.just(0.0), st.floats(1e-9, 300))) for _ in rows]
    found = histograms_with_totals(np.array(rows), np.array(totals))
    assert found.min() >= 0
    assert found.sum(axis=1) == pytest.approx(totals, rel=1e-9, abs=1e-9)
    for row, total, projected in zip(rows, totals, found, strict=True):
        assert projected == pytest.approx(slow_projection(np.array(row), total), abs=1e-9)


@pytest.mark.parametrize("values", [[5.0, -3, 2, 0.5], [-1.0, -2, -3, -4], [1.0, 1, 1, 1], [100.0, 1, 0, -50]])
def test_a_general_optimizer_finds_the_same(values: list[float]) -> None:
    wanted = np.array(values)
    solved = minimize(
        lambda x: ((x - wanted) ** 2).sum(),
        np.full(4, 1.5),
        jac=lambda x: 2 * (x - wanted),
        method="SLSQP",
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 6},
    )
    assert histograms_with_totals(wanted[None, :], np.array([6.0]))[0] == pytest.approx(solved.x, abs=1e-5)


def test_clipping_and_rescaling_is_another_answer() -> None:
    """The broken twin of the projection keeps the total too, but not the differences of what it keeps."""
    values = np.array([10.0, 4.0, -6.0])
    clipped = np.maximum(values, 0)
    found = histograms_with_totals(values[None, :], np.array([8.0]))[0]
    assert found.tolist() == [7, 1, 0]
    assert (clipped * 8 / clipped.sum()).tolist() != pytest.approx(found.tolist(), abs=0.1)


@pytest.mark.parametrize("total", [1e-17, 1e-9, 1e-3, 1e12])
def test_totals_far_from_the_values_are_kept(total: float) -> None:
    found = histograms_with_totals(np.array([[50.0, -50.0], [1e9, 0.0], [-1e9, -1e9]]), np.full(3, total))
    assert found.min() >= 0
    # Values of 1e9 have 1e-7 for their last digit; no more than that may be made up.
    assert found.sum(axis=1) == pytest.approx([total] * 3, rel=1e-9, abs=1e-6)


@given(noisy_trees([1.0]))
def test_a_tree_is_projected_from_the_root_down(case: tuple[list[int], Floats, Floats]) -> None:
    parent, counts = case[0], case[1][:, 0]
    found = make_nonnegative(np.array(parent), counts.copy())
    assert found.min() >= 0
    assert found[0] == max(counts[0], 1.0)
    for node in set(parent) - {-1}:
        below = [child for child, above in enumerate(parent) if above == node]
        assert found[below].sum() == pytest.approx(found[node], rel=1e-9, abs=1e-9)
        assert found[below] == pytest.approx(slow_projection(counts[below], float(found[node])), abs=1e-9)


def test_counts_that_are_fine_stay_as_they_are() -> None:
    parent = np.array([-1, 0, 0, 1, 1, 2])
    counts = np.array([10.0, 4, 6, 1, 3, 6])
    assert np.array_equal(make_nonnegative(parent, counts), counts)
    assert make_nonnegative(parent, np.zeros(6)).tolist() == [1, 0.5, 0.5, 0.25, 0.25, 0.5]
    assert make_nonnegative(parent, -counts).sum() == pytest.approx(3)


def seconds(size: int) -> float:
    parent = np.maximum((np.arange(size) - 1) // 2, 0)
    parent[0] = -1
    counts, variance = np.ones((size, 1)), np.ones(size)
    started = time.process_time()
    make_nonnegative(parent, reconcile(parent, counts, variance)[:, 0])
    return time.process_time() - started


def test_a_million_nodes_take_no_time() -> None:
    """Linear time: 2²⁰ nodes need some 50 ms; a quadratic way would need half an hour."""
    seconds(2**10)
    assert seconds(2**20) < 5


SCHEMA = Schema.parse(
    {
        "columns": {
            "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 3},
            "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
        }
    }
)


def line_table() -> Table:
    return read(pl.DataFrame({"x": [0, 0, 1, 2, 3, 3, 3], "s": list("abaabbb")}), SCHEMA)


def two_levels(columns: int) -> tuple[list[Level], Regions]:
    """A root counted as 12 rows over two leaves of 3 + 1 and 1 + 3; noise 2 in the root's counts, 1 in the cells."""
    whole = Regions.whole(Points.of(line_table()))
    halves, _ = whole.split(np.zeros(1, dtype=np.int32), np.array([2], dtype=np.int32))
    counts = np.array([[12]]) if columns == 1 else np.array([[7, 5]])
    nothing = np.zeros((0, 2), dtype=np.int64)
    root = Level(whole, np.array([-1]), np.ones(1, dtype=bool), nothing, np.zeros(0), counts, 2.0)
    leaves = Level(
        halves,
        np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=bool),
        np.array([[3, 1], [1, 3]]),
        np.ones(2),
        np.zeros((0, columns), dtype=np.int64),
        NOT_COUNTED,
    )
    return [root, leaves], halves


def test_levels_of_totals_become_a_release() -> None:
    """Leaves of variance 2 each sum up to 8, the root says 12 with variance 2: 32/3 in all, 16/3 in each half."""
    levels, halves = two_levels(1)
    assert levels[1].counts.tolist() == [[4], [4]]
    assert levels[1].variance.tolist() == [2, 2]
    release = release_of_levels(QuadTree(epsilon=1), levels)
    assert release.weights == pytest.approx([16 / 3, 16 / 3])
    assert release.histograms == pytest.approx(np.array([[3 + 2 / 3, 1 + 2 / 3], [1 + 2 / 3, 3 + 2 / 3]]))
    assert release.deviation is not None
    assert release.deviation.tolist() == [1, 1]
    assert release.layout == "counts"
    assert np.array_equal(release.boxes.lo, halves.boxes.lo)


def test_levels_of_histograms_become_a_release() -> None:
    """Column by column: 7 of variance 2 against 3 + 1 of variance 1 each gives 5.5; 5 against 4 gives 4.5."""
    release = release_of_levels(QuadTree(epsilon=1), two_levels(2)[0])
    assert release.histograms == pytest.approx(np.array([[3.75, 1.25], [1.75, 3.25]]))
    assert release.weights == pytest.approx([5, 5])


def test_leaves_under_an_uncounted_root_keep_their_counts() -> None:
    whole = Regions.whole(Points.of(line_table()))
    quarters = whole
    for _ in range(2):
        middle = (quarters.ranges.lo[:, 0] + (quarters.widths[:, 0] + 1) // 2).astype(np.int32)
        quarters, _ = quarters.split(np.zeros(len(quarters), dtype=np.int32), middle)
    histograms = np.array([[5, -1], [2, 2], [0, 3], [-2, -3]])
    release = release_of_levels(QuadTree(epsilon=1), under_one_root(whole, quarters, histograms, np.full(4, 9.0)))
    # Totals 4, 4, 3, −5 sum up to 6; the nearest of zero or more with that sum are each 5/3 less.
    assert release.weights == pytest.approx([7 / 3, 7 / 3, 4 / 3, 0])
    assert release.histograms == pytest.approx(np.array([[7 / 3, 0], [7 / 6, 7 / 6], [0, 4 / 3], [0, 0]]))
    assert release.deviation is not None
    assert release.deviation.tolist() == [3] * 4
