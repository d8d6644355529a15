"""PrivTree: what its decisions cost at most, by brute force over all paths; where it stops and where it goes on."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from recording import WHOLE, recorded
from reference import holds
from sfumato.data import Table, read
from sfumato.mechanisms.budget import ticks
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.growing.regions import Regions
from sfumato.methods.trees.privtree import DECIDING, Decisions, PrivTree, grow
from sfumato.schema import Schema
from strategies import TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HUGE = 100_000
EPSILONS = [Fraction(text) for text in ("0.1", "0.25", "0.5", "1", "2", "3.5", "5")]


@dataclass(frozen=True)
class Law:
    """Discrete Laplace noise, its probabilities added up one by one."""

    epsilon: float

    @lru_cache(maxsize=4096)  # noqa: B019
    def above(self, x: int) -> float:
        """P(x + X > 0): the sum of (1 − α)/(1 + α) · α^|k| over k > −x."""
        alpha = math.exp(-self.epsilon)
        far = math.ceil(45 / self.epsilon)
        terms = [alpha ** abs(k) for k in range(1 - x, max(far, 1 - x + far) + 1)]
        return (1 - alpha) / (1 + alpha) * math.fsum(terms)

    def split(self, x: int) -> float:
        """ln P(x + X > 0)."""
        return math.log(self.above(x))

    def stop(self, x: int) -> float:
        """ln P(x + X ≤ 0) = ln P(1 − x + X > 0), the noise being symmetric."""
        return math.log(self.above(1 - x))


def biased(count: int, depth: int, step: int) -> int:
    return max(count - depth * step, -step)


def path_losses(law: Law, step: int, counts: Sequence[int]) -> tuple[float, float]:
    """The largest gain in likelihood of a tree with and without a row in regions of these counts on its path.

    The last region is a leaf by decision, or one that cannot be cut and decides nothing; the others are halved.
    """
    halved = sum(
        law.split(biased(count, depth, step)) - law.split(biased(count - 1, depth, step))
        for depth, count in enumerate(counts[:-1])
    )
    depth, count = len(counts) - 1, counts[-1]
    ended = law.stop(biased(count, depth, step)) - law.stop(biased(count - 1, depth, step))
    return max(halved, halved + ended), max(-halved, -halved - ended)


def worst_of_all_paths(decisions: Decisions, most: int, longest: int) -> float:
    """Over every sequence of counts from at most `most` down to at least 1 that does not rise."""
    law = Law(float(decisions.epsilon))
    return max(
        max(path_losses(law, decisions.step, sorted(counts, reverse=True)))
        for length in range(1, longest + 1)
        for counts in itertools.combinations_with_replacement(range(1, most + 1), length)
    )


def worst_by_levels(decisions: Decisions, depth: int) -> float:
    """The same for long paths, level by level from below: the best that follows from any count of at most c."""
    law, step = Law(float(decisions.epsilon)), decisions.step
    most = 1 + depth * step
    best = [0.0] * (most + 1)
    for level in range(depth - 1, -1, -1):
        here = [0.0] * (most + 1)
        for count in range(1, most + 1):
            gain = law.split(biased(count, level, step)) - law.split(biased(count - 1, level, step))
            here[count] = max(here[count - 1], gain + best[count])
        best = here
    return max(best[-1], float(decisions.epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_cost_bounds_every_short_path(epsilon: Fraction, step: int) -> None:
    decisions = Decisions(epsilon, step)
    worst = worst_of_all_paths(decisions, 9, 5)
    assert worst <= decisions.cost()
    assert worst <= worst_by_levels(decisions, 9) + 1e-9


@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(20), Fraction(30)])
@pytest.mark.parametrize("step", [1, 2, 5, None])
def test_the_cost_is_the_least_bound_of_long_paths(epsilon: Fraction, step: int | None) -> None:
    """Brute force reaches all but a millionth of it, so nothing in the sum could be left out."""
    each = Decisions.within(epsilon) if step is None else Decisions(epsilon, step)
    depth = min(math.ceil(16 / (float(each.epsilon) * each.step)) + 2, 200)
    worst = worst_by_levels(each, depth)
    assert worst <= each.cost()
    assert worst > each.cost() * (1 - 2e-6)


def without_the_last_halving(decisions: Decisions) -> float:
    """The broken twin: as if no region of zero or less were ever halved."""
    return decisions.cost() - float(decisions.epsilon)


def with_a_smaller_step(decisions: Decisions) -> float:
    """The broken twin: the sum for steps of one more than are taken."""
    return replace(decisions, step=decisions.step + 1).cost()


def of_the_last_halving_alone(decisions: Decisions) -> float:
    """The broken twin: as if all decisions together cost what one does."""
    return float(decisions.epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("broken", [without_the_last_halving, with_a_smaller_step, of_the_last_halving_alone])
def test_smaller_sums_are_no_bounds(epsilon: Fraction, broken: Callable[[Decisions], float]) -> None:
    decisions = Decisions.within(epsilon)
    depth = math.ceil(16 / (float(decisions.epsilon) * decisions.step)) + 2
    assert worst_by_levels(decisions, depth) > broken(decisions) * (1 + 1e-6)


@given(st.one_of(st.fractions(Fraction(1, 1000), 5), st.fractions(1, 10**6)))
def test_the_noise_is_as_small_as_the_budget_allows(epsilon: Fraction) -> None:
    found = Decisions.within(epsilon)
    assert found.cost() <= epsilon
    assert found.step >= 1
    more = found.epsilon * Fraction(1002, 1000)
    larger = Decisions(more, max(math.ceil(math.log(2) / more), 1))
    assert larger.cost() > epsilon * Fraction(999_999, 1_000_000) or larger.epsilon > epsilon / 2


def tree_likelihoods(counts: Sequence[int], decisions: Decisions) -> list[float]:
    """ln of the probability of every tree over four positions with so many rows each."""
    law, step = Law(float(decisions.epsilon)), decisions.step
    halves = [sum(counts[:2]), sum(counts[2:])]
    root = biased(sum(counts), 0, step)
    found = [law.stop(root)]
    for cut in itertools.product([False, True], repeat=2):
        total = law.split(root)
        for held, is_cut in zip(halves, cut, strict=True):
            below = biased(held, 1, step)
            total += law.split(below) if is_cut else law.stop(below)
        found.append(total)
    return found


@pytest.mark.parametrize("epsilon", [Fraction("0.2"), Fraction(1), Fraction(3)])
def test_no_tree_over_four_positions_tells_more_than_epsilon(epsilon: Fraction) -> None:
    """Exact probabilities of all trees, for all tables of at most 3 rows a position, and all their neighbours."""
    decisions = Decisions.within(epsilon)
    worst = 0.0
    for counts in itertools.product(range(4), repeat=4):
        for position in range(4):
            more = [count + (i == position) for i, count in enumerate(counts)]
            ours, theirs = tree_likelihoods(counts, decisions), tree_likelihoods(more, decisions)
            assert math.fsum(map(math.exp, ours)) == pytest.approx(1)
            worst = max(worst, *(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
    assert 0.4 * epsilon < worst <= epsilon


Box = tuple[tuple[int, int], ...]


def slow_leaves(case: TableCase, epsilon: Fraction, seed: int) -> list[Box]:
    """The tree on explicit rows, with the noise that the same seed gives level by level."""
    decisions, source = Decisions.within(epsilon), SimulatedSource(seed)
    sizes = [axis.size for axis in case.case.quasi]
    rows = [
        tuple(size if code < 0 else code for code, size in zip(point, sizes, strict=True)) for point, _ in case.people
    ]
    level: list[Box] = [tuple((0, size - 1) for size in case.positions)]
    leaves: list[Box] = []
    depth = 0
    while level:
        noise = source.laplace(decisions.epsilon, len(level))
        below: list[Box] = []
        for box, more in zip(level, noise.tolist(), strict=True):
            count = sum(all(lo <= code <= hi for code, (lo, hi) in zip(row, box, strict=True)) for row in rows)
            widths = [hi - lo + 1 for lo, hi in box]
            if biased(count, depth, decisions.step) + more <= 0 or max(widths) == 1:
                leaves.append(box)
                continue
            shares = [
                Fraction(width, size) if width > 1 else Fraction(0)
                for width, size in zip(widths, case.positions, strict=True)
            ]
            axis = shares.index(max(shares))
            lo, hi = box[axis]
            middle = lo + (widths[axis] + 1) // 2
            below += [(*box[:axis], part, *box[axis + 1 :]) for part in ((lo, middle - 1), (middle, hi))]
        level, depth = below, depth + 1
    return leaves


@settings(max_examples=40)
@given(case=tables(most_rows=30, most_quasi=3, most=6), epsilon=st.sampled_from(EPSILONS), seed=st.integers(0, 99))
def test_the_tree_is_that_of_its_definition(case: TableCase, epsilon: Fraction, seed: int) -> None:
    leaves = grow(Regions.whole(Points.of(case.table)), epsilon, SimulatedSource(seed))
    found = [
        tuple(zip(lo, hi, strict=True))
        for lo, hi in zip(leaves.ranges.lo.tolist(), leaves.ranges.hi.tolist(), strict=True)
    ]
    assert found == slow_leaves(case, epsilon, seed)


def line_table(values: list[int], size: int) -> Table:
    columns = {
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    frame = pl.DataFrame({"x": values, "s": ["ab"[i % 2] for i in range(len(values))]})
    return read(frame, Schema.parse({"columns": columns}))


def stopped_at_once(epsilon: Fraction, regions: int, seed: int) -> tuple[int, int]:
    """Of so many empty regions of four positions: parts at depth 1, and how many of them were not halved."""
    whole = Regions.whole(Points.of(line_table([0, 1], 4)))
    empty = whole[np.zeros(regions, dtype=np.int64)]
    order, starts, _ = empty.runs
    empty = Regions(empty.points, Runs(order, starts, starts), empty.ranges)
    widths = grow(empty, epsilon, SimulatedSource(seed)).widths[:, 0]
    halves = int((widths == 2).sum())
    return halves + int((widths == 1).sum()) // 2, halves


@pytest.mark.parametrize("epsilon", [Fraction("0.1"), Fraction(1), Fraction(5)])
def test_empty_regions_are_left_alone_more_often_than_three_times_in_four(epsilon: Fraction) -> None:
    """As often as the law says: false-failure probability 2e-9. A tree that takes no step off its counts fails."""
    decisions = Decisions.within(epsilon)
    law = Law(float(decisions.epsilon))
    stopping = 1 - law.above(-decisions.step)
    assert stopping > 0.75
    parts, stopped = stopped_at_once(epsilon, 20_000, 3)
    lowest, highest = binom.ppf(1e-9, parts, stopping), binom.isf(1e-9, parts, stopping)
    assert lowest <= stopped <= highest
    without_step = (1 - law.above(0)) * parts
    assert not lowest <= without_step <= highest


def test_a_tree_stays_small_where_nobody_lives() -> None:
    """200 rows in one corner of a million positions: a few leaves more than the twenty levels to that corner."""
    table = line_table([3] * 200, 2**20)
    release = PrivTree(epsilon=1).publish(table, SimulatedSource(4))
    assert 15 <= len(release.boxes) <= 60
    around = (release.boxes.lo[:, 0] <= 3) & (release.boxes.hi[:, 0] >= 3)
    assert release.boxes.widths[around].tolist() == [[1]]


def test_a_large_epsilon_reaches_the_points() -> None:
    values = [position for position in range(8) for _ in range(10)]
    release, budget = recorded(PrivTree(epsilon=HUGE), line_table(values, 8))
    assert release.boxes.are_points.all()
    assert len(release.boxes) == 8
    assert release.histograms == pytest.approx(np.full((8, 2), 5.0))
    assert set(budget.ends) == {WHOLE}


@settings(max_examples=25)
@given(case=tables(most_rows=30, most_quasi=3, most=6), epsilon=st.sampled_from([0.05, 1, HUGE]))
def test_leaves_are_counted_with_what_is_left(case: TableCase, epsilon: float) -> None:
    release, budget = recorded(PrivTree(epsilon=epsilon), case.table)
    first, last = budget.all_draws
    assert (first.kind, first.cost) == ("spend", (ticks(DECIDING),))
    assert (last.kind, set(last.cost)) == ("counts", {WHOLE - ticks(DECIDING)})
    assert set(budget.ends) == {WHOLE}
    assert len(release.boxes) == len(last.cost)
    boxes = [[release.boxes.span(box, axis) for axis in range(len(case.positions))] for box in range(len(last.cost))]
    for box, counted in zip(boxes, last.seen.tolist(), strict=True):
        inside = [value for point, value in case.people if holds(box, point)]
        assert counted == [inside.count(value) for value in range(case.table.values)]
    if epsilon == HUGE:
        assert release.histograms == pytest.approx(last.seen, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 1, HUGE])
def test_one_row_and_one_position_are_enough(epsilon: float) -> None:
    table = line_table([2, 2], 4)
    single = Table(
        schema=table.schema,
        points=table.points,
        cell_point=table.cell_point[:1],
        cell_value=table.cell_value[:1],
        cell_weight=np.ones(1, dtype=np.int64),
    )
    assert PrivTree(epsilon=epsilon).publish(single).rows >= 1 - 1e-9
    point = line_table([0, 0], 1)
    assert PrivTree(epsilon=epsilon).publish(point).boxes.are_points.tolist() == [True]
