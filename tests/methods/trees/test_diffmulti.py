"""DiffMulti: no more specializations than allowed, the best cuts where there is no noise, nothing spent twice."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recording import WHOLE, FixedNoise, RecordingBudget, recorded
from reference import holds
from sfumato.data import Table, read
from sfumato.errors import ParameterError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.growing.points import Points
from sfumato.methods.growing.regions import Regions
from sfumato.methods.trees.diffmulti import (
    BY_CLASS,
    BY_SHAPE,
    MAX_LEVELS,
    MAX_SPECIALIZATIONS,
    MAX_TRIED,
    MIN_TRIED,
    SPARE_LEVELS,
    Allocation,
    DiffMulti,
    Sharing,
    allocate,
    room_of,
)
from sfumato.methods.trees.utility import Utility
from sfumato.privacy.loss import Pure
from sfumato.schema import Schema
from strategies import AxisCase, TableCase, tables

if TYPE_CHECKING:
    from sfumato.methods.trees.noisy_tree import Level
    from sfumato.release import Release

UTILITIES: tuple[Utility, ...] = get_args(Utility)
HUGE = 10**6
"""An epsilon at which any noise, also that of a sensitivity of 1024, has a probability below 1e-15."""


def levels_of(method: DiffMulti, table: Table, seed: int = 1) -> list[Level]:
    return method._grow(table, RecordingBudget(Pure(Fraction(str(method.epsilon))), SimulatedSource(seed)))


def specializations(levels: list[Level]) -> int:
    return sum(int(level.inner.sum()) for level in levels)


@pytest.mark.parametrize("utility", UTILITIES)
@settings(max_examples=15)
@given(
    case=tables(most_rows=40, most_quasi=3, most=7),
    h=st.integers(1, 12),
    levels=st.one_of(st.none(), st.integers(1, 5)),
    epsilon=st.sampled_from([0.1, 1, 20, HUGE]),
)
def test_no_more_specializations_and_levels_than_allowed(
    utility: Utility, case: TableCase, h: int, levels: int | None, epsilon: float
) -> None:
    method = DiffMulti(epsilon=epsilon, h=h, utility=utility, levels=levels)
    found = levels_of(method, case.table)
    assert specializations(found) <= h
    assert len(found) - 1 <= method.longest_path
    assert levels is None or method.longest_path == levels
    assert not found[-1].inner.any()
    release, budget = recorded(method, case.table)
    check_tiles(case, release)
    assert budget.most == WHOLE
    assert set(budget.ends) == {WHOLE}
    assert len(budget.ends) == len(release.boxes)


@pytest.mark.parametrize("sharing", get_args(Sharing))
@pytest.mark.parametrize("utility", UTILITIES)
def test_as_many_specializations_are_made_as_asked_for(utility: Utility, sharing: Sharing) -> None:
    """The check's own check: the count of inner nodes is not always zero, and one more would be seen."""
    table = crossed_table()
    for h in (1, 3, 7, 20):
        method = DiffMulti(epsilon=HUGE, h=h, utility=utility, sharing=sharing)
        found = levels_of(method, table)
        assert specializations(found) == h
        assert recorded(method, table)[0].provenance.made == {"specializations": h}
    most = DiffMulti(epsilon=HUGE, h=10_000, utility=utility, sharing=sharing, levels=MAX_LEVELS)
    assert 20 < specializations(levels_of(most, table)) < 4 * 8 * 3, "the domain has no more points"


def test_under_noise_specializations_are_made_while_rows_last() -> None:
    """48,000 rows at ε = 1 bear a hundred; as few as 24 do not, and then noise decides when to stop."""
    many = crossed_table(48_000, sizes=(64, 64))
    for utility in UTILITIES:
        for seed in range(3):
            assert specializations(levels_of(DiffMulti(epsilon=1, h=100, utility=utility), many, seed)) >= 90
    few = crossed_table(24, sizes=(64, 64))
    made = [specializations(levels_of(DiffMulti(epsilon=1, h=100, utility="dm"), few, seed)) for seed in range(20)]
    assert min(made) < 20


def test_even_sharing_does_not_look_at_rows() -> None:
    """Example 4.2 of the paper: of 21, one is made, and both parts get 10, wherever the rows are."""
    table = crossed_table()
    release, budget = recorded(DiffMulti(epsilon=HUGE, h=3, utility="max", sharing="even"), table, FixedNoise(-9_999))
    assert [draw.kind for draw in budget.all_draws].count("choose") == 2
    assert release.provenance.made == {"specializations": 3}
    assert allocate(20, np.array([0.5, 0.5]), np.array([99, 99])).tolist() == [10, 10]


def test_a_frontier_asks_for_as_many_specializations_as_rows_bear() -> None:
    """n ε / (50 √values), for the utilities that suit queries and learning."""
    table = crossed_table(24_000)
    found = list(DiffMulti.grid(table, (0.1, 1.0, 3.0)))
    assert {method.utility for method in found} == {"dm", "purity"}
    assert [method.h for method in found if method.utility == "dm"] == [34, 339, MAX_TRIED]
    assert {method.h for method in DiffMulti.grid(crossed_table(24), (1.0,))} == {MIN_TRIED}


def intervals(tree: Any, start: int) -> tuple[set[tuple[int, int]], int]:
    """The leaves below every node of a nested taxonomy, and where the next one starts."""
    found: set[tuple[int, int]] = set()
    end = start
    for below in tree.values() if isinstance(tree, dict) else [[] for _ in tree]:
        inside, after = intervals(below, end) if below else (set(), end + 1)
        found |= {(end, after - 1), *inside}
        end = after
    return found, end


def allowed_spans(axis: AxisCase) -> set[tuple[int, int, bool]]:
    """What a leaf may cover of a categorical axis: a node, or the missing value, or everything."""
    nodes = intervals(axis.tree, 0)[0] | {(0, axis.size - 1)}
    found = {(lo, hi, False) for lo, hi in nodes}
    return found | {(0, axis.size - 1, True), (0, -1, True)} if axis.nullable else found


def check_tiles(case: TableCase, release: Release) -> None:
    """Every combination of values is in one box, and categorical sides are nodes of their taxonomies."""
    axes = case.case.quasi
    boxes = [[release.boxes.span(box, axis) for axis in range(len(axes))] for box in range(len(release.boxes))]
    assert sum(math.prod(widths) for widths in release.boxes.widths.tolist()) == math.prod(case.positions)
    for point in {point for point, _ in case.people}:
        assert sum(holds(box, point) for box in boxes) == 1
    for number, axis in enumerate(axes):
        if not axis.spaced:
            assert {tuple(box[number]) for box in boxes} <= allowed_spans(axis)


def test_a_cut_across_a_taxonomy_is_noticed() -> None:
    axis = AxisCase("x", {"kind": "categorical", "taxonomy": {"n": ["a", "b"], "m": ["c"]}}, (("",),) * 3)
    assert allowed_spans(axis) == {(0, 2, False), (0, 1, False), *((i, i, False) for i in range(3))}
    assert (1, 2, False) not in allowed_spans(axis)


@st.composite
def claims(draw: st.DrawFn) -> tuple[int, list[float], list[int]]:
    """What is left, and the weight and the room of some regions."""
    weights = st.one_of(st.just(0.0), st.floats(1e-9, 1.0), st.sampled_from([0.25, 0.5, 1.0]))
    rooms = st.one_of(st.integers(0, 5), st.integers(0, 2**39))
    found: list[tuple[float, int]] = draw(st.lists(st.tuples(weights, rooms), min_size=1, max_size=8))
    left = draw(st.one_of(st.integers(1, 30), st.integers(1, MAX_SPECIALIZATIONS)))
    return left, [weight for weight, _ in found], [room for _, room in found]


@given(claims())
def test_all_is_allocated_that_there_is_room_for(drawn: tuple[int, list[float], list[int]]) -> None:
    left, weights, rooms = drawn
    found = allocate(left, np.array(weights), np.array(rooms)).tolist()
    usable = [room if weight else 0 for weight, room in zip(weights, rooms, strict=True)]
    assert sum(found) == min(left, sum(usable))
    assert all(0 <= share <= room for share, room in zip(found, usable, strict=True))
    shares = [(share, weight) for share, weight, room in zip(found, weights, usable, strict=True) if room]
    # Whoever is not full has as much for its weight as anybody, up to one for the rounding.
    for (ours, mine), room in zip(shares, [room for room in usable if room], strict=True):
        if ours < room and sum(found) == left:
            assert all((theirs - 1) / other <= (ours + 1) / mine * (1 + 1e-9) for theirs, other in shares)


def test_rounding_up_would_give_out_more_than_there_is() -> None:
    """The broken twin: 3 specializations over two equal parts."""
    assert allocate(3, np.array([0.5, 0.5]), np.array([9, 9])).tolist() == [2, 1]
    assert np.ceil(3 * np.array([0.5, 0.5])).sum() > 3


def test_what_one_has_no_room_for_goes_to_the_others() -> None:
    """Example 4.4 of the paper, and the same where the dense part can take no more than 3."""
    weight = np.array([0.8, 0.2])
    assert allocate(20, weight, np.array([99, 99])).tolist() == [16, 4]
    assert allocate(20, weight, np.array([3, 99])).tolist() == [3, 17]
    assert allocate(20, weight, np.array([3, 5])).tolist() == [3, 5]


def test_a_part_without_rows_gets_nothing() -> None:
    assert allocate(7, np.array([0.0, 0.0, 0.4]), np.array([9, 9, 9])).tolist() == [0, 0, 7]
    assert allocate(7, np.array([0.0, 0.0, 0.4]), np.array([9, 9, 2])).tolist() == [0, 0, 2]


def test_room_follows_from_levels_and_widths() -> None:
    """Half of a full tree, of which 4 · 8 · 3 points have room for no more than 96 leaves."""
    regions = Regions.whole(Points.of(crossed_table(), taxonomies=True))
    assert [room_of(regions, levels).tolist() for levels in (0, 1, 2, 3, 6, 40)] == [[0], [1], [2], [4], [32], [48]]


def crossed_table(rows: int = 240, sizes: tuple[int, int] = (4, 8)) -> Table:
    """x from 0 to 7 tells s apart at 5; the colour almost does; the other axes say nothing."""
    columns = {
        "y": {"role": "quasi", "kind": "numeric", "min": 0, "max": sizes[0] - 1},
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": sizes[1] - 1},
        "colour": {"role": "quasi", "kind": "categorical", "taxonomy": {"warm": ["red", "pink"], "cold": ["blue"]}},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    people = [
        {
            "y": i % sizes[0],
            "x": i // (sizes[0] // 4) % sizes[1],
            "colour": ("red" if i % 8 < 4 else "blue" if i % 3 else "pink"),
            "s": "a" if i % 8 < 5 else "b",
        }
        for i in range(rows)
    ]
    return read(pl.DataFrame(people), Schema.parse({"columns": columns}))


@pytest.mark.parametrize("utility", ["max", "purity"])
def test_the_first_cut_separates_the_classes(utility: Utility) -> None:
    release, _ = recorded(DiffMulti(epsilon=HUGE, h=1, utility=utility), crossed_table())
    assert release.boxes.lo[:, 1].tolist() == [0, 5]
    assert release.histograms == pytest.approx(np.array([[150.0, 0], [0, 90]]))


def slow_score(utility: Utility, parts: list[list[int]], narrowing: list[int]) -> int:
    """A utility of parts, each a list of sensitive values and narrower by so many 1/1024 of its axis."""
    if utility == "dm":
        return -math.isqrt(sum(len(part) ** 2 for part in parts))
    if utility == "ncp":
        return sum(len(part) * narrower for part, narrower in zip(parts, narrowing, strict=True))
    classes = [Counter(part).values() for part in parts]
    if utility == "max":
        return sum(max(counts, default=0) for counts in classes)
    return sum(math.isqrt(sum(count**2 for count in counts)) for counts in classes)


def score_of_ranges(utility: Utility, case: TableCase, axis: int, ranges: list[tuple[int, int]]) -> int:
    size, positions = case.case.quasi[axis].size, case.positions[axis]
    rows = [(size if point[axis] < 0 else point[axis], value) for point, value in case.people]
    parts = [[value for code, value in rows if lo <= code <= hi] for lo, hi in ranges]
    unit = max(positions - 1, 1)
    return slow_score(utility, parts, [(positions - (hi - lo + 1)) * 1024 // unit for lo, hi in ranges])


def first_cuts(axis: AxisCase) -> list[list[tuple[int, int]]]:
    """Every cut of a whole axis, as ranges of positions."""
    if axis.spaced:
        return [[(0, cut - 1), (cut, axis.positions - 1)] for cut in range(1, axis.positions)]
    if axis.positions == 1:
        return []
    if axis.nullable:
        return [[(0, axis.size - 1), (axis.size, axis.size)]]
    nodes = sorted(intervals(axis.tree, 0)[0])
    inside = [node for node in nodes if node != (0, axis.size - 1)]
    return [[node for node in inside if not any(a <= node[0] and node[1] <= b for a, b in set(inside) - {node})]]


@pytest.mark.parametrize("utility", UTILITIES)
@settings(max_examples=20)
@given(case=tables(most_rows=40, most_quasi=3, most=8))
def test_without_noise_the_first_cut_is_the_best_of_all(utility: Utility, case: TableCase) -> None:
    release, budget = recorded(DiffMulti(epsilon=HUGE, h=1, utility=utility, levels=1), case.table)
    offered = [
        score_of_ranges(utility, case, number, ranges)
        for number, axis in enumerate(case.case.quasi)
        for ranges in first_cuts(axis)
    ]
    if not offered:
        assert len(release.boxes) == 1
        return
    assert sorted(budget.all_draws[0].seen.tolist()) == sorted(offered)
    narrower = (release.boxes.widths < np.array(case.positions)).any(axis=0)
    axis = int(narrower.argmax())
    size = case.case.quasi[axis].size
    spans = [release.boxes.span(box, axis) for box in range(len(release.boxes))]
    chosen = [(size if lo > hi else lo, size if missing else hi) for lo, hi, missing in spans]
    assert score_of_ranges(utility, case, axis, chosen) == max(offered)


@pytest.mark.parametrize("utility", UTILITIES)
@settings(max_examples=8)
@given(case=tables(most_rows=40, most_quasi=3, most=7))
def test_without_noise_counts_are_those_of_the_rows(utility: Utility, case: TableCase) -> None:
    release, _ = recorded(DiffMulti(epsilon=HUGE, h=20, utility=utility), case.table)
    for box, histogram in enumerate(release.histograms):
        spans = [release.boxes.span(box, axis) for axis in range(len(case.positions))]
        inside = [value for point, value in case.people if holds(spans, point)]
        assert histogram == pytest.approx([inside.count(value) for value in range(case.table.values)], abs=1e-5)


@pytest.mark.parametrize(
    ("utility", "sharing", "allocation"),
    [
        ("dm", "fair", BY_SHAPE),
        ("ncp", "fair", BY_SHAPE),
        ("purity", "fair", BY_CLASS),
        ("max", "fair", BY_CLASS),
        ("max", "even", BY_CLASS),
    ],
)
def test_every_cut_and_every_count_is_charged_its_price(
    utility: Utility, sharing: Sharing, allocation: Allocation
) -> None:
    method = DiffMulti(epsilon=HUGE, h=7, utility=utility, levels=3, sharing=sharing)
    release, budget = recorded(method, crossed_table())
    selecting, counting = (math.floor(share * WHOLE / 3) for share in (allocation.cuts, allocation.parts))
    chosen = [draw for draw in budget.all_draws if draw.kind == "choose"]
    assert len(chosen) > 1
    assert {cost for draw in chosen for cost in draw.cost} == {selecting}
    counted = [set(draw.cost) for draw in budget.all_draws if draw.kind == "counts"]
    assert counted.count({counting}) == (len(chosen) if sharing == "fair" else 0)
    assert max(counted, key=max) != {counting}, "leaves have more"
    assert set(budget.ends) == {WHOLE}
    assert release.provenance.made["specializations"] >= 6


def test_noisy_counts_decide_where_to_go_on() -> None:
    """If noise says that no part has rows, no part is cut again, however many rows there are."""
    method = DiffMulti(epsilon=1, h=100, utility="dm")
    release, _ = recorded(method, crossed_table(), FixedNoise(-1_000))
    root = len(release.boxes)
    assert root in (2, 3)
    again, _ = recorded(method, crossed_table(), FixedNoise(0))
    assert len(again.boxes) > root


@pytest.mark.parametrize(
    ("h", "utility", "levels", "longest"),
    [
        (1, "dm", None, 1 + SPARE_LEVELS),
        (3, "ncp", None, 2 + SPARE_LEVELS),
        (4, "ncp", None, 3 + SPARE_LEVELS),
        (1000, "dm", None, 10 + SPARE_LEVELS),
        (1000, "max", None, 10 + SPARE_LEVELS),
        (1000, "max", 9, 9),
        (1000, "dm", 1, 1),
        (MAX_SPECIALIZATIONS, "ncp", None, 24 + SPARE_LEVELS),
    ],
)
def test_the_longest_path(h: int, utility: Utility, levels: int | None, longest: int) -> None:
    assert DiffMulti(epsilon=1, h=h, utility=utility, levels=levels).longest_path == longest


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"h": 0}, "h is 0; expected a whole number from 1 to 10,000,000"),
        ({"h": True}, "h is True"),
        ({"h": 1.0}, "h is 1.0"),
        ({"h": MAX_SPECIALIZATIONS + 1}, "h is 10000001"),
        ({"h": 5, "utility": "best"}, "utility is 'best'; expected one of dm, ncp, max, purity"),
        ({"h": 5, "levels": 0}, "levels is 0; expected a whole number from 1 to 40"),
        ({"h": 5, "levels": 2.5}, "levels is 2.5"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DiffMulti(epsilon=1, **parameters)
