"""Regions: positions and boxes, exact counts, the score of every cut, and splitting, against explicit lists of rows."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.methods.growing import scan
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.growing.regions import MAX_CUTS, Regions, merge_regions, sort_into_parts
from sfumato.methods.growing.scan import BALANCE, CLASSES, DISCERNIBILITY, PENALTY, PENALTY_SCALE, PURITY
from sfumato.methods.positions import boxes_of_positions, positions_of
from sfumato.schema import Schema
from strategies import AxisCase, TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = {"balance": BALANCE, "classes": CLASSES, "dm": DISCERNIBILITY, "ncp": PENALTY, "purity": PURITY}
Range = tuple[int, int]
Parts = list[Range]
WIDE = 2**31 - 2


@dataclass(frozen=True)
class Branch:
    """A node of a taxonomy of positions: chains of single children are one node."""

    lo: int
    hi: int
    below: tuple[Branch, ...] = ()


def branch_of(tree: dict[str, Any] | list[str], start: int) -> Branch:
    """The tree of a schema's nested taxonomy, whose first leaf is `start`."""
    children: list[Branch] = []
    for below in tree.values() if isinstance(tree, dict) else [[] for _ in tree]:
        children.append(branch_of(below, start) if below else Branch(start, start))
        start = children[-1].hi + 1
    return children[0] if len(children) == 1 else Branch(children[0].lo, children[-1].hi, tuple(children))


def root_of(axis: AxisCase) -> Branch | None:
    """The taxonomy that limits the cuts of an axis; a missing value stands beside it."""
    if axis.spaced or axis.tree is None or axis.positions == 1:
        return None
    root = branch_of(axis.tree, 0)
    return Branch(0, axis.size, (root, Branch(axis.size, axis.size))) if axis.nullable else root


@dataclass(frozen=True)
class SlowRegion:
    """A box of positions, the node of each axis with a taxonomy, and the rows inside: (positions, sensitive value)."""

    box: tuple[Range, ...]
    nodes: tuple[Branch | None, ...]
    rows: tuple[tuple[tuple[int, ...], int], ...] = field(repr=False)

    def cuts(self, axis: int) -> list[Parts]:
        """Every cut of an axis at which it may be cut at all, as the ranges of its parts."""
        (lo, hi), node = self.box[axis], self.nodes[axis]
        if node is None:
            return [[(lo, cut - 1), (cut, hi)] for cut in range(lo + 1, hi + 1)]
        return [[(child.lo, child.hi) for child in node.below]] if node.below else []

    def split(self, axis: int, parts: Parts) -> list[SlowRegion]:
        found, node = [], self.nodes[axis]
        for number, part in enumerate(parts):
            box = (*self.box[:axis], part, *self.box[axis + 1 :])
            below = None if node is None else node.below[number]
            nodes = (*self.nodes[:axis], below, *self.nodes[axis + 1 :])
            rows = tuple(row for row in self.rows if part[0] <= row[0][axis] <= part[1])
            found.append(SlowRegion(box, nodes, rows))
        return found

    def score(self, axis: int, parts: Parts, size: int, kind: int) -> int:
        """The definition of each score, on rows."""
        lo, hi = self.box[axis]
        held = [[value for point, value in self.rows if part[0] <= point[axis] <= part[1]] for part in parts]
        by_class = [[values.count(value) for value in set(values)] for values in held]
        unit = max(size - 1, 1)
        return {
            BALANCE: -max(map(len, held)),
            CLASSES: sum(max(counts, default=0) for counts in by_class),
            DISCERNIBILITY: -math.isqrt(sum(len(values) ** 2 for values in held)),
            PENALTY: sum(
                len(values) * (((hi - lo + 1) - (part[1] - part[0] + 1)) * 1024 // unit)
                for values, part in zip(held, parts, strict=True)
            ),
            PURITY: sum(math.isqrt(sum(count**2 for count in counts)) for counts in by_class),
        }[kind]


def slow_rows(case: TableCase) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Every row as positions: a missing value has the one after the last."""
    sizes = [axis.size for axis in case.case.quasi]
    return tuple(
        (tuple(size if code < 0 else code for code, size in zip(point, sizes, strict=True)), value)
        for point, value in case.people
    )


def slow_whole(case: TableCase, taxonomies: bool) -> SlowRegion:
    axes = case.case.quasi
    box = tuple((0, axis.positions - 1) for axis in axes)
    return SlowRegion(box, tuple(root_of(axis) if taxonomies else None for axis in axes), slow_rows(case))


def check_same(regions: Regions, slow: Sequence[SlowRegion], values: int) -> None:
    """Boxes, counts and histograms agree; every run of points is inside its box."""
    assert [
        tuple(zip(*map(list, ends), strict=True)) for ends in zip(regions.ranges.lo, regions.ranges.hi, strict=True)
    ] == [region.box for region in slow]
    assert regions.counts().tolist() == [len(region.rows) for region in slow]
    assert regions.histograms().tolist() == [
        [sum(held == value for _, held in region.rows) for value in range(values)] for region in slow
    ]
    for number, region in enumerate(slow):
        members = regions.runs.order[regions.runs.starts[number] : regions.runs.ends[number]]
        assert {tuple(point) for point in regions.points.arrays.positions[members].tolist()} == {
            point for point, _ in region.rows
        }


def random_division(
    data: st.DataObject, regions: Regions, slow: list[SlowRegion]
) -> tuple[Regions, list[SlowRegion], list[int]] | None:
    """Some of the regions, each cut in a way it may be cut; `None` if none of them can be."""
    axes = range(len(slow[0].box))
    able = [i for i, region in enumerate(slow) if any(region.cuts(axis) for axis in axes)]
    if not able:
        return None
    chosen = sorted(data.draw(st.sets(st.sampled_from(able), min_size=1)))
    options = [[(axis, parts) for axis in axes for parts in slow[i].cuts(axis)] for i in chosen]
    cuts = [data.draw(st.sampled_from(option)) for option in options]
    axis = np.array([axis for axis, _ in cuts], dtype=np.int32)
    by_node = [slow[i].nodes[axis] is not None for i, (axis, _) in zip(chosen, cuts, strict=True)]
    position = np.array(
        [-1 if node else parts[1][0] for node, (_, parts) in zip(by_node, cuts, strict=True)], dtype=np.int32
    )
    parts, parent = regions[np.array(chosen)].split(axis, position)
    expected = [(slow[i].split(*cut), number) for number, (i, cut) in enumerate(zip(chosen, cuts, strict=True))]
    assert parent.tolist() == [number for below, number in expected for _ in below]
    return parts, [region for below, _ in expected for region in below], chosen


@settings(max_examples=50)
@given(tables(most_rows=30, most_quasi=3, most=7), st.booleans(), st.data())
def test_splits_and_counts_agree_with_explicit_rows(case: TableCase, taxonomies: bool, data: st.DataObject) -> None:
    """Split at random, several times; whatever was set aside on the way still tiles the domain with the leaves."""
    points = Points.of(case.table, taxonomies=taxonomies)
    regions, slow = Regions.whole(points), [slow_whole(case, taxonomies)]
    aside, slow_aside = [], []
    check_same(regions, slow, case.table.values)
    for _ in range(data.draw(st.integers(1, 4))):
        found = random_division(data, regions, slow)
        if found is None:
            break
        parts, slow_parts, chosen = found
        rest = np.setdiff1d(np.arange(len(slow)), chosen)
        aside.append(regions[rest])
        slow_aside += [slow[i] for i in rest]
        regions, slow = parts, slow_parts
        check_same(regions, slow, case.table.values)
    every = merge_regions([*aside, regions])
    check_same(every, [*slow_aside, *slow], case.table.values)
    cells = every.widths.prod(axis=1).sum()
    assert cells == math.prod(case.positions)
    assert every.counts().sum() == len(case.rows)
    assert sorted(every.runs.order.tolist()) == list(range(len(case.table.points)))


def test_a_region_that_lost_a_point_is_noticed() -> None:
    """The comparison's own check: runs shifted by one point no longer agree."""
    case = small_case()
    points = Points.of(case.table, taxonomies=True)
    halves, _ = Regions.whole(points).split(np.array([0], dtype=np.int32), np.array([2], dtype=np.int32))
    slow = slow_whole(case, True).split(0, [(0, 1), (2, 4)])
    check_same(halves, slow, case.table.values)
    order, starts, ends = halves.runs
    runs = Runs(order, starts + np.array([0, 1]), ends + np.array([1, 0]))
    shifted = Regions(points, runs, halves.ranges)
    with pytest.raises(AssertionError):
        check_same(shifted, slow, case.table.values)


def small_case() -> TableCase:
    from strategies import SchemaCase

    numeric = {"kind": "numeric", "min": 0, "max": 3, "nullable": True}
    nested = {"kind": "categorical", "taxonomy": {"n": {"m": ["a", "b"]}, "o": {"p": {"q": ["c"]}}, "d": []}}
    quasi = (
        AxisCase("x", numeric, tuple((str(i),) for i in range(4))),
        AxisCase("y", {**nested, "nullable": True}, tuple((c,) for c in "abcd")),
        AxisCase("z", {"kind": "categorical", "values": ["only"]}, (("only",),)),
    )
    sensitive = AxisCase("s", {"kind": "categorical", "values": ["u", "v", "w"]}, (("u",), ("v",), ("w",)))
    rows = [(x, y, 0, (x + 2 * y) % 3) for x in range(-1, 4) for y in range(-1, 4) for _ in range((3 * x + y) % 4)]
    texts = tuple(
        tuple(None if code < 0 else axis.raw[code][0] for axis, code in zip((*quasi, sensitive), row, strict=True))
        for row in rows
    )
    return TableCase(SchemaCase(quasi, sensitive), tuple(rows), texts)


@given(tables(most_rows=30, most_quasi=3, most=7), st.booleans(), st.sampled_from([1, 2, 3, MAX_CUTS]), st.data())
def test_every_offered_cut_has_the_score_of_its_definition(
    case: TableCase, taxonomies: bool, most_cuts: int, data: st.DataObject
) -> None:
    points = Points.of(case.table, taxonomies=taxonomies)
    regions, slow = Regions.whole(points), [slow_whole(case, taxonomies)]
    for _ in range(data.draw(st.integers(0, 2))):
        regions, slow, _ = random_division(data, regions, slow) or (regions, slow, [])
    for kind in KINDS.values():
        check_scores(case, regions, slow, most_cuts, kind)


def check_scores(case: TableCase, regions: Regions, slow: list[SlowRegion], most_cuts: int, kind: int) -> None:
    offers = regions.count_cuts(most_cuts)
    found = regions.score_cuts(offers, kind)
    ends = [*found.starts[1:].tolist(), len(found.scores)]
    for number, (region, start, end) in enumerate(zip(slow, found.starts.tolist(), ends, strict=True)):
        at = start
        for axis, size in enumerate(case.positions):
            cuts = region.cuts(axis)
            if region.nodes[axis] is not None:
                assert offers[number, axis] == -len(cuts)
                expected = [(-1, parts) for parts in cuts]
            else:
                count = min(len(cuts), most_cuts)
                assert offers[number, axis] == count
                offered = found.position[at : at + count].tolist()
                assert offered == sorted(set(offered))
                assert count < len(cuts) or offered == [parts[1][0] for parts in cuts]
                expected = [(cut, cuts[cut - region.box[axis][0] - 1]) for cut in offered]
            for position, parts in expected:
                assert (found.axis[at], found.position[at]) == (axis, position)
                assert found.scores[at] == region.score(axis, parts, size, kind)
                at += 1
        assert at == end


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_wrong_scores_are_noticed(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison's own check: every score is refused in place of every other."""
    case = small_case()
    whole = Regions.whole(Points.of(case.table, taxonomies=True))
    check_scores(case, whole, [slow_whole(case, True)], MAX_CUTS, kind)
    right = Regions.score_cuts
    for other in set(KINDS.values()) - {kind}:
        monkeypatch.setattr(Regions, "score_cuts", lambda self, offers, kind, other=other: right(self, offers, other))
        with pytest.raises(AssertionError):
            check_scores(case, whole, [slow_whole(case, True)], MAX_CUTS, kind)


@settings(max_examples=40)
@given(tables(most_rows=20, most_quasi=2, most=5), st.data())
def test_one_row_moves_all_scores_in_one_direction_and_by_no_more_than_stated(
    case: TableCase, data: st.DataObject
) -> None:
    row = data.draw(st.tuples(*(st.sampled_from(axis.codes) for axis in case.case.axes)))
    texts = tuple(None if code < 0 else axis.raw[code][0] for axis, code in zip(case.case.axes, row, strict=True))
    more = TableCase(case.case, (*case.rows, row), (*case.texts, texts))
    for name, kind in KINDS.items():
        without, with_row = (
            regions.score_cuts(regions.count_cuts(), kind).scores
            for regions in (Regions.whole(Points.of(each.table, taxonomies=True)) for each in (case, more))
        )
        rise = with_row - without
        most = PENALTY_SCALE if name == "ncp" else 1
        assert ((rise >= 0) & (rise <= most)).all() or ((rise <= 0) & (rise >= -most)).all()


def test_the_discernibility_itself_would_move_by_more() -> None:
    """The broken twin of the rooted score: Σ part² of 10 rows on either side moves by 21 with one row more."""
    halves = [10, 10]
    rooted, plain = (lambda parts: math.isqrt(sum(n**2 for n in parts))), (lambda parts: sum(n**2 for n in parts))
    assert rooted([11, 10]) - rooted(halves) <= 1
    assert plain([11, 10]) - plain(halves) == 21


@settings(max_examples=30)
@given(st.data())
def test_scores_do_not_depend_on_the_order_of_points(data: st.DataObject) -> None:
    case = small_case()
    points = Points.of(case.table, taxonomies=True)
    whole = Regions.whole(points)
    order = np.array(data.draw(st.permutations(range(len(points.arrays.positions)))))
    shuffled = Regions(points, Runs(order, *whole.runs[1:]), whole.ranges)
    for kind in KINDS.values():
        ours, theirs = (regions.score_cuts(regions.count_cuts(), kind) for regions in (whole, shuffled))
        assert np.array_equal(ours.scores, theirs.scores)
    axis, position = (np.array([value], dtype=np.int32) for value in data.draw(st.sampled_from([(0, 2), (1, -1)])))
    ours, theirs = (regions.split(axis, position)[0] for regions in (whole, shuffled))
    assert np.array_equal(ours.counts(), theirs.counts())
    assert np.array_equal(ours.histograms(), theirs.histograms())


@given(st.integers(0, WIDE), st.integers(1, WIDE), st.integers(1, 300), st.lists(st.integers(0, WIDE), max_size=20))
def test_evenly_spread_cuts_of_wide_ranges(lo: int, width: int, most: int, inside: list[int]) -> None:
    """They rise, are spread evenly, and a position's step is the number of cuts at or below it."""
    hi = lo + width
    cuts = min(width, most)
    positions = [scan._cut_position(lo, hi, cuts, number) for number in range(cuts)]
    ends = [lo, *positions, hi + 1]
    gaps = [after - before for before, after in itertools.pairwise(ends)]
    assert min(gaps) >= 1
    assert max(gaps[1:]) - min(gaps[1:]) <= 1
    if cuts == width:
        assert positions == list(range(lo + 1, hi + 1))
    near = [position + shift for position in positions for shift in (-1, 0, 1) if lo <= position + shift <= hi]
    for position in [lo, hi, *near, *(lo + each % (width + 1) for each in inside)]:
        assert scan._step_of(position, lo, hi, cuts) == sum(cut <= position for cut in positions)


@given(st.one_of(st.integers(0, 2**62), st.integers(0, 2**31).map(lambda root: root**2)), st.integers(-1, 1))
def test_roots_are_exact(square: int, shift: int) -> None:
    number = max(square + shift, 0)
    assert scan._root(number) == math.isqrt(number)


def wide_table(values: list[int | None], size: int = WIDE) -> Table:
    columns = {
        "wide": {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1, "nullable": True},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    frame = pl.DataFrame({"wide": values, "s": ["ab"[i % 2] for i in range(len(values))]})
    return read(frame, Schema.parse({"columns": columns}))


def test_the_widest_axis_is_cut_without_overflow() -> None:
    """Every score of 255 cuts on 2³¹ − 1 positions equals its definition; the halves hold what they should."""
    values = [None, None, 0, 1, 7, 2**30, 2**30 + 1, WIDE - 2, WIDE - 1, WIDE - 1]
    table = wide_table(values)
    whole = Regions.whole(Points.of(table, taxonomies=True))
    assert whole.count_cuts().tolist() == [[MAX_CUTS]]
    rows = tuple(((WIDE if value is None else value,), i % 2) for i, value in enumerate(values))
    slow = SlowRegion(((0, WIDE),), (None,), rows)
    for kind in KINDS.values():
        found = whole.score_cuts(whole.count_cuts(), kind)
        assert np.diff(found.position.astype(np.int64)).min() > 2**23 - 2**16
        for cut, score in zip(found.position.tolist(), found.scores.tolist(), strict=True):
            assert score == slow.score(0, [(0, cut - 1), (cut, WIDE)], WIDE + 1, kind)
    halves, _ = whole.split(np.zeros(1, dtype=np.int32), np.array([2**30 + 1], dtype=np.int32))
    assert halves.counts().tolist() == [4, 6]
    last, _ = halves[np.array([1])].split(np.zeros(1, dtype=np.int32), np.array([WIDE], dtype=np.int32))
    assert last.counts().tolist() == [4, 2]
    assert [last.boxes.span(box, 0) for box in (0, 1)] == [(2**30 + 1, WIDE - 1, False), (0, -1, True)]


def test_large_weights_do_not_overflow() -> None:
    heavy = wide_table([0, 1, 2, 3], size=4)
    rows = 2 * 10**9
    table = Table(
        schema=heavy.schema,
        points=heavy.points,
        cell_point=heavy.cell_point,
        cell_value=heavy.cell_value,
        cell_weight=np.full(4, rows // 4),
    )
    whole = Regions.whole(Points.of(table))
    middle = {name: whole.score_cuts(whole.count_cuts(), kind).scores[1] for name, kind in KINDS.items()}
    half = rows // 2
    assert middle["balance"] == -half
    assert middle["classes"] == half
    assert middle["dm"] == -math.isqrt(2 * half**2)
    assert middle["purity"] == 2 * math.isqrt(2 * (half // 2) ** 2)
    assert middle["ncp"] == half * (3 * 1024 // 4) + half * (2 * 1024 // 4)


@given(tables(most_rows=24, most_quasi=3, most=7), st.data())
def test_positions_and_boxes_are_the_same_ranges(case: TableCase, data: st.DataObject) -> None:
    axes = case.table.schema.quasi
    assert {tuple(point) for point in positions_of(case.table).tolist()} == {point for point, _ in slow_rows(case)}
    ranges = [
        sorted(data.draw(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)))) for size in case.positions
    ]
    lo, hi = (np.array([[one[side] for one in ranges]]) for side in (0, 1))
    boxes = boxes_of_positions(lo, hi, axes)
    assert boxes.widths.tolist() == [[last - first + 1 for first, last in ranges]]
    for number, (axis, (first, last)) in enumerate(zip(case.case.quasi, ranges, strict=True)):
        span = boxes.span(0, number)
        inside = {*range(span.lo, span.hi + 1), *([axis.size] if span.missing else [])}
        assert inside == set(range(first, last + 1))
        assert axis.nullable or not span.missing
        assert span.lo <= span.hi or (span.lo, span.hi) == (0, -1)


def test_a_box_of_the_missing_value_alone_is_spelled_as_missing() -> None:
    axis = AxisCase("x", {"kind": "numeric", "min": 0, "max": 3, "nullable": True}, ((),) * 4).axis()
    boxes = boxes_of_positions(np.array([[4], [3], [0], [0]]), np.array([[4], [4], [4], [3]]), [axis])
    assert boxes.labels(axis, 0) == ["(missing)", "3 or (missing)", "*", "(present)"]


def test_taxonomies_are_cut_node_by_node() -> None:
    """A missing value is set apart first, chains of single children are one node, leaves offer nothing."""
    case = small_case()
    whole = Regions.whole(Points.of(case.table, taxonomies=True))
    assert whole.count_cuts().tolist() == [[4, -1, 0]]
    axis, by_node = np.array([1], dtype=np.int32), np.array([-1], dtype=np.int32)
    present, _ = whole.split(axis, by_node)
    assert list(zip(present.ranges.lo[:, 1].tolist(), present.ranges.hi[:, 1].tolist(), strict=True)) == [
        (0, 3),
        (4, 4),
    ]
    assert present.count_cuts().tolist() == [[4, -1, 0], [4, 0, 0]]
    nodes, _ = present[np.array([0])].split(axis, by_node)
    assert list(zip(nodes.ranges.lo[:, 1].tolist(), nodes.ranges.hi[:, 1].tolist(), strict=True)) == [
        (0, 1),
        (2, 2),
        (3, 3),
    ]
    assert nodes.count_cuts().tolist() == [[4, -1, 0], [4, 0, 0], [4, 0, 0]]
    free = Regions.whole(Points.of(case.table))
    assert free.count_cuts().tolist() == [[4, 4, 0]]


def test_points_are_sorted_stably_into_their_parts() -> None:
    positions = np.array([[3], [0], [2], [0], [3], [1]], dtype=np.int32)
    order = np.arange(6)
    ends = sort_into_parts(positions, order, 0, np.array([0, 1, 3], dtype=np.int32))
    assert order.tolist() == [1, 3, 2, 5, 0, 4]
    assert ends.tolist() == [2, 4, 6]
