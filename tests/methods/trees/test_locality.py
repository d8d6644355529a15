"""The law of a node does not change when a record elsewhere is added, and by no more than it pays for one of its own.

Scores and counts of regions are compared between a table and the same with one row more: outside a region nothing
changes; inside, every score moves by at most its sensitivity, all in one direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from audit.laws import log_winning
from audit.neighbours import Pair, schema_of, table_of
from hypothesis import given
from hypothesis import strategies as st

from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Regions, merge_regions
from sfumato.methods.growing.scan import BALANCE, CLASSES, DISCERNIBILITY, PENALTY, PENALTY_SCALE, PURITY
from strategies import TableCase, tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.methods.growing.regions import Candidates

KINDS = {"balance": BALANCE, "classes": CLASSES, "discernibility": DISCERNIBILITY, "penalty": PENALTY, "purity": PURITY}
MAX_CUTS = 5


@dataclass(frozen=True)
class Cut:
    """How a region is split: which of its cuts, as a share of how many there are."""

    share: float

    def of(self, candidates: Candidates, region: int) -> int:
        ends = np.append(candidates.starts[1:], len(candidates.scores))
        start, end = candidates.starts[region], ends[region]
        return int(start + math.floor(self.share * (end - start)))


def split_by(table: Table, cuts: list[Cut], taxonomies: bool) -> Regions:
    """The regions after some cuts, chosen without looking at the rows."""
    regions = Regions.whole(Points.of(table, taxonomies=taxonomies))
    done: list[Regions] = []
    for cut in cuts:
        divisible = (regions.count_cuts(MAX_CUTS) != 0).any(axis=1)
        if not divisible.any():
            break
        done.append(regions[~divisible])
        regions = regions[divisible]
        candidates = regions.score_cuts(regions.count_cuts(MAX_CUTS), BALANCE)
        chosen = np.array([cut.of(candidates, region) for region in range(len(regions))])
        regions, _ = regions.split(candidates.axis[chosen], candidates.position[chosen])
    return merge_regions([*done, regions])


def scores_by_region(regions: Regions, kind: int) -> list[NDArray[np.int64]]:
    candidates = regions.score_cuts(regions.count_cuts(MAX_CUTS), kind)
    return np.split(candidates.scores, candidates.starts[1:])


def holding(regions: Regions, row: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which region a row lies in."""
    axes = regions.points.table.schema.quasi
    position = np.array([code if code >= 0 else axis.size for code, axis in zip(row[:-1], axes, strict=True)])
    return ((regions.ranges.lo <= position) & (position <= regions.ranges.hi)).all(axis=1)


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Pair, list[Cut], bool]:
    case: TableCase = draw(tables(most_rows=14, most_quasi=3, most=7))
    more = draw(st.tuples(*(st.sampled_from(axis.codes) for axis in case.case.axes)))
    rows = case.rows if draw(st.booleans()) else case.rows * draw(st.integers(2, 30))
    cuts = draw(st.lists(st.floats(0, 0.999).map(Cut), max_size=4))
    return Pair(case.case.schema, rows, more), cuts, draw(st.booleans())


@given(neighbours())
def test_only_the_region_of_a_row_sees_it(drawn: tuple[Pair, list[Cut], bool]) -> None:
    pair, cuts, taxonomies = drawn
    one, other = (split_by(table, cuts, taxonomies) for table in (pair.without, pair.added))
    assert np.array_equal(one.ranges.lo, other.ranges.lo)
    assert np.array_equal(one.ranges.hi, other.ranges.hi)
    inside = holding(one, pair.more)
    assert inside.sum() == 1, "regions are disjoint and cover the domain"
    assert np.array_equal(other.counts() - one.counts(), inside)
    changed = (other.histograms() - one.histograms()).sum(axis=1)
    assert np.array_equal(changed, inside)
    assert np.array_equal(one.count_cuts(), other.count_cuts())
    for kind in KINDS.values():
        before, after = scores_by_region(one, kind), scores_by_region(other, kind)
        for region, (ours, theirs) in enumerate(zip(before, after, strict=True)):
            assert inside[region] or np.array_equal(ours, theirs)


@given(neighbours())
def test_one_row_moves_every_score_one_way_by_at_most_its_sensitivity(drawn: tuple[Pair, list[Cut], bool]) -> None:
    pair, cuts, taxonomies = drawn
    one, other = (split_by(table, cuts, taxonomies) for table in (pair.without, pair.added))
    for name, kind in KINDS.items():
        ours, theirs = (np.concatenate(scores_by_region(regions, kind)) for regions in (one, other))
        most = PENALTY_SCALE if name == "penalty" else 1
        moved = theirs - ours if name in ("classes", "penalty", "purity") else ours - theirs
        assert (moved >= 0).all()
        assert (moved <= most).all()


def slow_score(name: str, parts: list[tuple[list[int], int]]) -> int:
    """A score from the class counts of every part and by how much, of an axis, it is narrower than the region."""
    rows = [sum(classes) for classes, _ in parts]
    if name == "balance":
        return -max(rows)
    if name == "classes":
        return sum(max(classes) for classes, _ in parts)
    if name == "discernibility":
        return -math.isqrt(sum(count**2 for count in rows))
    if name == "purity":
        return sum(math.isqrt(sum(count**2 for count in classes)) for classes, _ in parts)
    return sum(count * narrowing for count, (_, narrowing) in zip(rows, parts, strict=True))


@st.composite
def near_whole_roots(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Rows by position and class whose roots are whole numbers, or just below: the legs of a right triangle."""
    low, high = sorted((draw(st.integers(0, 7_000)), draw(st.integers(1, 7_000))))
    legs = [high**2 - low**2, 2 * low * high, 0, 0, 0, 0, 0, 0]
    counts = [max(leg - draw(st.integers(0, 1)), 0) for leg in draw(st.permutations(legs))]
    return list(zip(counts[::2], counts[1::2], strict=True))


weights = st.one_of(
    near_whole_roots(), st.lists(st.tuples(st.integers(0, 10**8), st.integers(0, 20)), min_size=4, max_size=4)
)


def line_table(counts: list[tuple[int, int]]) -> Table:
    """Rows by position and class on one axis of four positions."""
    table = table_of(schema_of(x=4), [(x, v) for x in range(4) for v in range(2)])
    weight = np.array([count for pair in counts for count in pair], dtype=np.int64)
    return type(table)(
        schema=table.schema,
        points=table.points,
        cell_point=table.cell_point,
        cell_value=table.cell_value,
        cell_weight=weight,
    )


@pytest.mark.parametrize("name", KINDS)
@given(counts=weights, place=st.integers(0, 3), value=st.integers(0, 1))
def test_scores_of_many_rows_are_exact(name: str, counts: list[tuple[int, int]], place: int, value: int) -> None:
    """Also where a root is a whole number or just below one, on counts up to 10⁸, whose squares pass 2⁵³."""
    more = [tuple(count + (x == place and v == value) for v, count in enumerate(pair)) for x, pair in enumerate(counts)]
    found = []
    for each in (counts, more):
        regions = Regions.whole(Points.of(line_table(each)))
        scores = regions.score_cuts(regions.count_cuts(), KINDS[name]).scores
        for cut, score in zip((1, 2, 3), scores.tolist(), strict=True):
            sides = [each[:cut], each[cut:]]
            narrowing = [(4 - cut) * PENALTY_SCALE // 3, cut * PENALTY_SCALE // 3]
            classes = [[sum(pair[v] for pair in side) for v in range(2)] for side in sides]
            parts = list(zip(classes, narrowing, strict=True))
            assert score == slow_score(name, parts)
        found.append(scores)
    moved = np.abs(found[1] - found[0])
    assert (moved <= (PENALTY_SCALE if name == "penalty" else 1)).all()


@pytest.mark.parametrize(("legs", "expected"), [((3, 4), 5), ((20, 21), 29), ((119, 120), 169), ((0, 8), 8)])
def test_roots_turn_at_whole_numbers(legs: tuple[int, int], expected: int) -> None:
    """√(3² + 4²) is 5; one row less and the floor is 4."""
    short, long = legs

    def score(a: int, b: int) -> int:
        regions = Regions.whole(Points.of(line_table([(a, 0), (b, 0), (0, 0), (0, 0)]), taxonomies=False))
        return int(regions.score_cuts(regions.count_cuts(), DISCERNIBILITY).scores[0])

    assert score(short, long) == -expected
    assert score(short, long - 1) == -math.isqrt(short**2 + (long - 1) ** 2) == 1 - expected


def test_the_steepest_score_moves_by_its_sensitivity() -> None:
    """The bounds above are reached, so that no smaller sensitivity would do."""
    pair = Pair(schema_of(x=3), ((2, 0),), (1, 1))
    for kind, most in ((BALANCE, 1), (CLASSES, 1), (DISCERNIBILITY, 1), (PURITY, 1)):
        ours, theirs = (
            regions.score_cuts(regions.count_cuts(), kind).scores
            for regions in (Regions.whole(Points.of(table)) for table in (pair.without, pair.added))
        )
        assert sorted(np.abs(theirs - ours).tolist()) == [0, most]
    far = Pair(schema_of(x=3), (), (0, 1))
    regions = Regions.whole(Points.of(far.added))
    assert regions.score_cuts(regions.count_cuts(), PENALTY).scores.max() == PENALTY_SCALE


def test_the_printed_discernibility_would_look_elsewhere() -> None:
    """With noise for a sensitivity of 2|D| + 1, the choice at a node has another law if a row is added elsewhere."""
    schema = schema_of(x=8)
    rows = ((0, 0), (0, 1), (1, 0), (3, 1))
    pair = Pair(schema, rows, (7, 1))
    laws, printed = [], []
    for table in (pair.without, pair.added):
        whole = Regions.whole(Points.of(table))
        halves, _ = whole.split(np.array([0], dtype=np.int32), np.array([4], dtype=np.int32))
        node = halves[np.array([0])]
        scores = tuple(node.score_cuts(node.count_cuts(), DISCERNIBILITY).scores.tolist())
        laws.append(log_winning(scores, 0.5))
        printed.append(log_winning(tuple(-(score**2) for score in scores), 0.5 / (2 * table.n + 1)))
    assert np.array_equal(laws[0], laws[1])
    assert np.abs(printed[0] - printed[1]).max() > 1e-3
