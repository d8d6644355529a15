"""Releases that say how rows lie inside their boxes: everything that spreads rows does as they say, files included."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import read
from sfumato.errors import ReleaseError
from sfumato.estimation.shape import Spread, even_spread, spread_of_steps
from sfumato.measures.attacks.naive_bayes import axis_margin
from sfumato.measures.workloads.features import points_inside
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import QuadTree
from sfumato.privacy.claims import PureDP
from sfumato.release import Boxes, Provenance, Release
from sfumato.release.inside import places_inside
from sfumato.release.sampling import generate_rows
from sfumato.release.verification import verify_folder
from sfumato.schema import Schema
from sfumato.streams import stream
from sfumato.trials.preview import _quasi
from strategies import TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = {
    "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9, "nullable": True},
    "c": {"role": "quasi", "kind": "categorical", "values": ["a,b", "b", "c", 'q"', "e"]},
    "s": {"role": "sensitive", "kind": "categorical", "values": ["yes", "no"]},
}
SCHEMA = Schema.parse({"name": "people", "columns": COLUMNS})
CATEGORIES = np.array([0.5, 0.2, 0.15, 0.1, 0.05])


def example(spreads: bool = True) -> Release:
    """100 rows anywhere, and 50 with c among the first two; three in five of the first five numbers, one missing."""
    counts = np.array([[60.0, 40.0], [10.0, 40.0]])
    told = (
        spread_of_steps(np.array([0, 5, 10]), np.array([0.6, 0.2, 0.2]), 10),
        spread_of_steps(np.arange(5), CATEGORIES, 5),
    )
    return Release(
        schema=SCHEMA,
        boxes=Boxes.of_spans([[(0, 9, True), (0, 4, False)], [(0, 4, False), (0, 1, False)]]),
        weights=counts.sum(axis=1),
        group_of=np.arange(2),
        histograms=counts,
        claim=PureDP(epsilon=0.5),
        provenance=Provenance(method="by hand"),
        layout="counts",
        deviation=np.ones(2),
        spreads=told if spreads else None,
    )


def regions_of(*spans: tuple[tuple[int, int, bool], tuple[int, int, bool]]) -> Boxes:
    return Boxes.of_spans([[*span] for span in spans])


def test_counts_are_spread_as_the_release_says() -> None:
    regions = regions_of(((0, 4, False), (0, 0, False)), ((0, -1, True), (0, 4, False)), ((5, 9, False), (1, 3, False)))
    every, none = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    expected = [100 * 0.6 * 0.5 + 50 * 5 / 7, 100 * 0.2, 100 * 0.2 * 0.45]
    assert example().counts_in(regions, every, none) == pytest.approx(expected)
    assert example().careful_counts_in(regions, every, none) == pytest.approx(expected)
    assert example(False).counts_in(regions, every, none) != pytest.approx(expected)
    histograms = example().histograms_in(regions)
    assert histograms[1] == pytest.approx([12, 8])
    assert histograms.sum(axis=1) == pytest.approx(expected)


def test_a_query_is_answered_as_the_release_says() -> None:
    assert example().query("x < 5 and c = 'a,b'") == pytest.approx(100 * 0.6 * 0.5 + 50 * 5 / 7)


@settings(max_examples=25)
@given(case=tables(most_rows=20, most_quasi=3, most=6), data=st.data())
def test_spreads_that_are_even_change_nothing(case: TableCase, data: st.DataObject) -> None:
    release = QuadTree(epsilon=1, height=2, spread="even").publish(case.table, SimulatedSource(1))
    even = replace(release, spreads=tuple(even_spread(axis.size) for axis in case.table.schema.quasi))
    boxes = release.boxes[np.array([data.draw(st.integers(0, len(release.boxes) - 1))])]
    for region in (boxes, Boxes.whole(case.table.schema.quasi)):
        first, last = np.zeros(1, dtype=np.int64), np.full(1, case.table.values - 1)
        assert even.counts_in(region, first, last) == pytest.approx(release.counts_in(region, first, last))
        assert even.histograms_in(region) == pytest.approx(release.histograms_in(region))
    for position, axis in enumerate(case.table.schema.quasi):
        codes = np.arange(-1 if axis.nullable else 0, axis.size, dtype=np.int32)
        assert axis_margin(even, position, codes) == pytest.approx(axis_margin(release, position, codes))


def test_the_margin_that_an_adversary_sees_is_the_one_that_was_told() -> None:
    margin = axis_margin(example(), 1, np.arange(5, dtype=np.int32)).sum(axis=1)
    assert margin == pytest.approx(100 * CATEGORIES + 50 * np.array([5 / 7, 2 / 7, 0, 0, 0]))


def test_a_preview_shows_them() -> None:
    table = read(pl.DataFrame({"x": ["1"], "c": ["b"], "s": ["no"]}), SCHEMA)
    assert _quasi(table, example(), 1).release == pytest.approx(
        (100 * CATEGORIES + 50 * np.array([5 / 7, 2 / 7, 0, 0, 0])) / 150
    )


@pytest.mark.parametrize("spread", [None, spread_of_steps(np.array([0, 5, 10]), np.array([0.6, 0.2, 0.2]), 10)])
def test_places_inside_a_box_follow_the_spread(spread: Spread | None) -> None:
    """Exactly: of 1,100 places, those below 5 are as many as the spread says, and so are those of the missing value."""
    boxes = Boxes.of_spans([[(0, 9, True)], [(3, 6, False)], [(0, -1, True)]])
    part = (np.arange(1_100) + 0.5) / 1_100
    whole, among, absent = (places_inside(boxes, 0, np.full(1_100, box), part, spread) for box in range(len(boxes)))
    below, missing = (0.6, 0.2) if spread else (5 / 11, 1 / 11)
    assert ((whole >= 0) & (whole < 5)).mean() == pytest.approx(below, abs=0.002)
    assert (whole == -1).mean() == pytest.approx(missing, abs=0.002)
    assert (among.min(), among.max()) == (3, 6)
    assert (among < 5).mean() == pytest.approx(0.75 if spread else 0.5, abs=0.002)
    assert (absent == -1).all()


def test_rows_and_points_that_are_drawn_follow_the_spreads() -> None:
    """Of 40,000 draws in the wide box half have the first category, give or take 5 deviations (p < 1e-6)."""
    release, slack = example(), 5 * np.sqrt(0.25 / 40_000)
    points, owner = points_inside(release.boxes, np.array([40_000, 1]), 1, release.spreads)
    assert abs((points[owner == 0, 1] == 0).mean() - 0.5) < slack
    many = replace(release, histograms=release.histograms * 400, weights=release.weights * 400)
    rows = generate_rows(many, "synthetic", stream("rows", 1).random)
    assert rows.spreads is None
    wide = 40_000 * 0.5 + 20_000 * 5 / 7
    assert abs(rows.weights[rows.boxes.lo[:, 1] == 0].sum() - wide) < 5 * np.sqrt(60_000 / 4)
    kept = generate_rows(many, "generalized", stream("rows", 1).random)
    assert kept.spreads is many.spreads


def reloaded(release: Release, spoil: Callable[[str], str] | None = None) -> Release:
    with tempfile.TemporaryDirectory() as place:
        folder = release.save(Path(place) / "release")
        if spoil:
            path = folder / "margins.csv"
            path.write_text(spoil(path.read_text()))
        loaded = Release.load(folder)
        if spoil is None:
            assert verify_folder(folder, loaded).contradictions == ()
        return loaded


def test_a_folder_says_in_labels_how_rows_lie() -> None:
    table = example().to_polars("margins")
    assert table["column"].to_list() == ["x"] * 3 + ["c"] * 5
    assert table["value"].to_list()[3:] == ["a,b", "b", "c", 'q"', "e"]
    assert table["share"].to_list() == [0.6, 0.2, 0.2, *CATEGORIES]
    loaded = reloaded(example())
    assert loaded.spreads is not None
    for one, other in zip(loaded.spreads, example().spreads or (), strict=True):
        assert one.cuts.tolist() == other.cuts.tolist()
        assert one.below == pytest.approx(other.below, rel=1e-12)


@settings(max_examples=10)
@given(case=tables(most_rows=30, most_quasi=3, most=6), seed=st.integers(0, 9))
def test_what_trees_publish_comes_back(case: TableCase, seed: int) -> None:
    release = QuadTree(epsilon=50, height=1).publish(case.table, SimulatedSource(seed))
    assert (release.spreads is None) == (reloaded(release).spreads is None)
    if release.spreads is not None:
        assert reloaded(release).to_polars("margins").equals(release.to_polars("margins"))


def test_a_column_without_lines_is_even() -> None:
    loaded = reloaded(example(), lambda text: "\n".join(line for line in text.split("\n") if not line.startswith("x")))
    assert loaded.spreads is not None
    assert loaded.spreads[0].cuts.tolist() == [0, 11]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("c,e,0.05\n", "", "do not part its values"),
        ("c,b,0.2\nc,c,0.15", "c,c,0.15\nc,b,0.2", "do not part its values"),
        ("c,e,0.05", "c,e,0", "is zero"),
        ("c,e,0.05", "c,e,-1", "not a number of at least 0"),
        ("c,e,0.05", "c,e,0.5", "add up to 1.45; expected 1"),
        ("c,e,0.05", "c,e,1e308", "add up to 1e.308; expected 1"),
        ("c,e,0.05", "c,f,0.05", "'f'"),
        ("c,e,0.05", "d,e,0.05", "'d' is not a quasi-identifier"),
        ("c,e,0.05", "s,no,0.05", "'s' is not a quasi-identifier"),
    ],
)
def test_spoilt_margins_are_refused(old: str, new: str, problem: str) -> None:
    def spoil(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    with pytest.raises(ReleaseError, match=problem):
        reloaded(example(), spoil)


def test_spreads_of_other_columns_are_refused() -> None:
    with pytest.raises(ReleaseError, match="do not fit"):
        replace(example(), spreads=(even_spread(9), even_spread(5)))
