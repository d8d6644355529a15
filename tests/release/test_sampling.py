"""Rows generated from counts: whole, unbiased, inside their boxes, and without correlations made up by rounding."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

import sfumato.release.sampling as sampling_module
from sfumato.errors import ReleaseError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.partition.anatomy import Anatomy
from sfumato.methods.trees.diffmulti import DiffMulti
from sfumato.methods.trees.spatial_tree import QuadTree
from sfumato.privacy.claims import PureDP
from sfumato.release import Boxes, Provenance, Release
from sfumato.release.sampling import MAX_ROWS, RowKind, generate_rows, nested_order, round_counts
from sfumato.schema import Schema
from strategies import TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
KINDS: tuple[RowKind, ...] = ("generalized", "synthetic")


def uniforms(seed: int = 1) -> Any:
    return SimulatedSource(seed).uniforms


@st.composite
def nested_cells(draw: st.DrawFn) -> tuple[Floats, list[Integers]]:
    """Counts of cells, and their codes on up to three attributes, all combinations different."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    codes = np.indices(sizes).reshape(len(sizes), -1)
    kept = sorted(draw(st.sets(st.integers(0, codes.shape[1] - 1), min_size=1)))
    count = st.one_of(st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.floats(0, 4), st.floats(0, 1e6))
    return np.array([draw(count) for _ in kept]), list(codes[:, kept])


def check_whole(expected: Floats, whole: Integers, columns: Sequence[Integers]) -> None:
    """Every count, and every total of cells that share their first codes, is rounded up or down."""
    assert whole.dtype == np.int64
    slack = 1e-9 * max(float(expected.sum()), 1)
    assert abs(whole.sum() - expected.sum()) < 1 + slack
    for depth in range(1, len(columns) + 1):
        totals: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for cell, code in enumerate(zip(*columns[:depth], strict=True)):
            totals[tuple(map(int, code))][0] += float(expected[cell])
            totals[tuple(map(int, code))][1] += float(whole[cell])
        for wanted, found in totals.values():
            assert math.floor(wanted - slack) <= found <= math.ceil(wanted + slack)


@given(nested_cells(), st.integers(0, 999))
def test_counts_and_totals_of_nested_cells_are_rounded_up_or_down(
    case: tuple[Floats, list[Integers]], seed: int
) -> None:
    expected, columns = case
    check_whole(expected, round_counts(expected, columns, uniforms(seed)), columns)


def test_rounding_one_by_one_loses_the_totals() -> None:
    """The broken twin: a hundred cells of 0.4 become nothing."""
    expected, columns = np.full(100, 0.4), [np.arange(100) // 10, np.arange(100) % 10]
    check_whole(expected, round_counts(expected, columns, uniforms()), columns)
    with pytest.raises(AssertionError):
        check_whole(expected, np.round(expected).astype(np.int64), columns)


@given(nested_cells(), st.integers(0, 999))
def test_every_stretch_of_neighbouring_cells_keeps_its_total_to_within_one_row(
    case: tuple[Floats, list[Integers]], seed: int
) -> None:
    expected, columns = case
    order = nested_order(columns, uniforms(seed))
    assert sorted(order.tolist()) == list(range(len(expected)))
    whole = round_counts(expected, columns, uniforms(seed))
    wanted = np.concatenate([[0.0], np.cumsum(expected[order])])
    found = np.concatenate([[0], np.cumsum(whole[order])])
    for start in range(len(wanted)):
        for end in range(start + 1, len(wanted)):
            off = (found[end] - found[start]) - (wanted[end] - wanted[start])
            assert abs(off) < 1 + 1e-9 * wanted[-1]


@given(nested_cells(), st.integers(0, 999))
def test_cells_that_share_their_first_codes_stand_together(case: tuple[Floats, list[Integers]], seed: int) -> None:
    columns = case[1]
    order = nested_order(columns, uniforms(seed))
    for depth in range(1, len(columns) + 1):
        codes = [tuple(int(column[cell]) for column in columns[:depth]) for cell in order]
        runs = [code for number, code in enumerate(codes) if number == 0 or codes[number - 1] != code]
        assert len(runs) == len(set(runs))


EXPECTED = np.array([[0.3, 0.5, 0.0], [1.25, 2.9, 0.05], [0.5, 0.5, 7.4]])
CODES = [column.reshape(-1) for column in np.indices(EXPECTED.shape)]


def farthest_mean(draws: int, round_once: Any) -> float:
    """How far the mean of any of the nine counts, or of their total, is from what it should be."""
    off = sum(round_once(uniforms(seed)) for seed in range(draws)) / draws - EXPECTED
    return float(max(np.abs(off).max(), abs(off.sum())))


def half_a_start(source: Any) -> Integers:
    """The broken twin: the random start is always in the lower half."""
    return round_counts(EXPECTED, CODES, lambda count: source(count) * (0.5 if count == 1 else 1))


def test_the_mean_of_a_count_is_the_count() -> None:
    """Hoeffding over nine cells and their total: false-failure probability 1e-9. Other roundings fail."""
    draws = 3_000
    allowed = math.sqrt(math.log(2 * 10 / 1e-9) / (2 * draws))
    assert allowed < 0.07
    assert farthest_mean(draws, lambda source: round_counts(EXPECTED, CODES, source)) < allowed
    assert farthest_mean(draws, half_a_start) > allowed
    assert farthest_mean(1, lambda source: np.floor(EXPECTED)) > allowed
    assert farthest_mean(1, lambda source: np.round(EXPECTED)) > allowed


def line_release(histograms: Floats, deviation: float = 1.0) -> Release:
    """A box for each row of counts along an axis of so many positions."""
    size = len(histograms)
    columns = {
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1},
        "s": {"role": "sensitive", "kind": "categorical", "values": [f"v{i}" for i in range(histograms.shape[1])]},
    }
    return Release(
        schema=Schema.parse({"columns": columns}),
        boxes=Boxes.of_points(np.arange(size, dtype=np.int32)[:, None]),
        weights=histograms.sum(axis=1),
        group_of=np.arange(size),
        histograms=histograms,
        claim=PureDP(epsilon=1),
        provenance=Provenance(method="by hand"),
        layout="counts",
        deviation=np.full(size, deviation),
    )


def test_even_counts_do_not_all_fall_on_one_value() -> None:
    """200 boxes with half a row of either value: each value gets about 100. False-failure probability 2e-9.

    Rounded along a fixed order, box after box and value after value, all 200 rows get the same value.
    """
    halves = np.full((200, 2), 0.5)
    found = generate_rows(line_release(halves), "generalized", uniforms(3)).overall
    lowest, highest = binom.ppf(1e-9, 200, 0.5), binom.isf(1e-9, 200, 0.5)
    assert found.sum() in (199, 200, 201)
    assert lowest <= found[0] <= highest
    fixed_order = np.diff(np.floor(np.cumsum(halves.reshape(-1)) + 0.3), prepend=0).reshape(halves.shape)
    assert not lowest <= fixed_order[:, 0].sum() <= highest


def all_on_one_value(expected: Floats, *more: Any) -> Integers:
    whole = np.zeros(expected.shape, dtype=np.int64)
    whole[:, 0] = np.round(expected.sum(axis=1))
    return whole


def one_by_one(expected: Floats, *more: Any) -> Integers:
    return np.asarray(np.round(expected).astype(np.int64))


@pytest.mark.parametrize("broken", [all_on_one_value, one_by_one])
def test_rows_that_do_not_follow_the_counts_are_refused(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release = line_release(np.full((400, 2), 0.4))
    generate_rows(release, "generalized", uniforms())
    monkeypatch.setattr(sampling_module, "round_counts", broken)
    with pytest.raises(ReleaseError, match=r"the sampled rows do not follow their model: \d+ rows in one cell of .*s"):
        generate_rows(release, "generalized", uniforms())


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(
    case=tables(most_rows=30, most_quasi=3, most=6), epsilon=st.sampled_from([0.1, 1, 100_000]), seed=st.integers(0, 99)
)
def test_generated_rows_are_whole_and_stand_where_the_counts_are(
    kind: RowKind, case: TableCase, epsilon: float, seed: int
) -> None:
    for method in (QuadTree(epsilon=epsilon, height=3), DiffMulti(epsilon=epsilon, h=5)):
        release = method.publish(case.table, SimulatedSource(seed))
        rows = generate_rows(release, kind, uniforms(seed))
        assert rows.layout == "rows"
        assert np.array_equal(rows.histograms, np.round(rows.histograms))
        assert np.array_equal(rows.weights, rows.histograms.sum(axis=1))
        assert (rows.weights > 0).all()
        assert abs(rows.rows - release.rows) < 1 + 1e-6
        assert (rows.claim, rows.provenance) == (release.claim, release.provenance)
        assert rows.deviation is not None
        assert rows.deviation == pytest.approx(np.sqrt(rows.weights / case.table.values))
        check_inside(release, rows, kind)


def spans_of(boxes: Boxes, box: int) -> tuple[tuple[int, int, bool], ...]:
    return tuple(tuple(boxes.span(box, axis)) for axis in range(boxes.lo.shape[1]))


def check_inside(release: Release, rows: Release, kind: RowKind) -> None:
    """The boxes part the domain: every row belongs to one, which gets its counts rounded up or down."""
    found = np.zeros(release.histograms.shape)
    owners = {spans_of(release.boxes, box): box for box in range(len(release.boxes))}
    for number, histogram in enumerate(rows.histograms):
        spans = spans_of(rows.boxes, number)
        if kind == "generalized":
            owner = owners[spans]
        else:
            assert all((lo == hi) != missing for lo, hi, missing in spans), "a point"
            (owner,) = (
                box
                for outer, box in owners.items()
                if all(
                    out[2] if missing else out[0] <= lo <= out[1]
                    for (lo, _, missing), out in zip(spans, outer, strict=True)
                )
            )
        found[owner] += histogram
    assert len({spans_of(rows.boxes, number) for number in range(len(rows.boxes))}) == len(rows.boxes)
    slack = 1e-6
    assert (found >= np.floor(release.histograms - slack)).all()
    assert (found <= np.ceil(release.histograms + slack)).all()


def one_box(span: tuple[int, int, bool], rows: int) -> Release:
    columns = {
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9, "nullable": True},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    return Release(
        schema=Schema.parse({"columns": columns}),
        boxes=Boxes.of_spans([[span]]),
        weights=np.array([float(rows)]),
        group_of=np.zeros(1, dtype=np.int64),
        histograms=np.array([[rows / 2, rows / 2]]),
        claim=PureDP(epsilon=1),
        provenance=Provenance(method="by hand"),
        layout="counts",
        deviation=np.ones(1),
    )


def code_counts(release: Release) -> Counter[int]:
    codes = np.where(release.boxes.missing[:, 0], -1, release.boxes.lo[:, 0])
    return Counter(dict(zip(codes.tolist(), release.weights.tolist(), strict=True)))


def test_points_are_even_over_a_box_and_its_missing_value() -> None:
    """χ² over the values 3, 4, 5 and missing; false-failure probability 1e-9. Without the missing value it fails."""
    rows, limit = 8_000, chi2.isf(1e-9, 3)
    found = code_counts(generate_rows(one_box((3, 5, True), rows), "synthetic", uniforms(5)))
    assert set(found) == {-1, 3, 4, 5}
    expected = rows / 4

    def statistic(counts: Counter[int]) -> float:
        return sum((counts[code] - expected) ** 2 / expected for code in (-1, 3, 4, 5))

    assert statistic(found) < limit
    never_missing = code_counts(generate_rows(one_box((3, 5, False), rows), "synthetic", uniforms(5)))
    assert statistic(never_missing) > limit


def test_the_missing_value_alone_and_a_single_value() -> None:
    for kind in KINDS:
        assert code_counts(generate_rows(one_box((0, -1, True), 40), kind, uniforms())) == {-1: 40}
        assert code_counts(generate_rows(one_box((7, 7, False), 40), kind, uniforms())) == {7: 40}


@settings(max_examples=20)
@given(case=tables(most_rows=30, most_quasi=3, most=6), data=st.data())
def test_the_order_of_boxes_does_not_matter(case: TableCase, data: st.DataObject) -> None:
    """A release lists boxes as its method found them; what is generated depends on what they say alone."""
    release = QuadTree(epsilon=1, height=3).publish(case.table, SimulatedSource(4))
    turned = np.array(data.draw(st.permutations(range(len(release.boxes)))))
    assert release.deviation is not None
    shuffled = replace(
        release,
        boxes=release.boxes[turned],
        weights=release.weights[turned],
        histograms=release.histograms[turned],
        deviation=release.deviation[turned],
    )

    def counted(one: Release) -> dict[Any, list[float]]:
        rows = generate_rows(one, "generalized", uniforms(6))
        return {spans_of(rows.boxes, box): rows.histograms[box].tolist() for box in range(len(rows.boxes))}

    assert counted(release) == counted(shuffled)


def test_rows_follow_from_the_published_counts_alone(tmp_path: Any) -> None:
    """What someone generates from the folder of a release, having no table, is what its owner would generate."""
    release = line_release(np.array([[1.5, 2.25], [0.125, 3.0], [4.75, 0.5]]))
    loaded = Release.load(release.save(tmp_path / "release"))
    for kind in KINDS:
        ours, theirs = (generate_rows(one, kind, uniforms(7)) for one in (release, loaded))
        assert np.array_equal(ours.histograms, theirs.histograms)
        assert np.array_equal(ours.boxes.lo, theirs.boxes.lo)


def test_no_more_rows_than_can_be_written() -> None:
    with pytest.raises(ReleaseError, match=r"5\.01e\+07 rows are too many to write; publish the counts"):
        generate_rows(line_release(np.array([[MAX_ROWS + 1e5, 0.0]])), "generalized", uniforms())


@settings(max_examples=3)
@given(case=tables(most_rows=30))
def test_buckets_are_published_as_they_are(case: TableCase) -> None:
    table = case.table
    if 2 * table.overall.max() <= table.n:
        with pytest.raises(ReleaseError, match="buckets are published as they are"):
            generate_rows(Anatomy(l=2).publish(table), "generalized", uniforms())


def test_counts_of_nothing_generate_nothing() -> None:
    rows = generate_rows(line_release(np.zeros((3, 2))), "synthetic", uniforms())
    assert len(rows.boxes) == 0
    assert rows.rows == 0
