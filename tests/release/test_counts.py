"""Releases of noisy counts as folders: they come back as they were, and spoilt files are refused with a sentence."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import read
from sfumato.errors import ReleaseError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.trees.diffmulti import DiffMulti
from sfumato.methods.trees.spatial_tree import QuadTree
from sfumato.privacy.claims import PureDP
from sfumato.release import Boxes, Provenance, Release
from sfumato.schema import Schema
from strategies import TableCase, tables

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9, "nullable": True},
    "town": {"role": "quasi", "kind": "categorical", "taxonomy": {"north, cold": ["a,b", 'q"'], "south": ["{c", "é"]}},
    "illness": {"role": "sensitive", "kind": "categorical", "values": ["flu", "a, b", "hiv"], "nullable": True},
}
SCHEMA = Schema.parse({"name": "people", "columns": COLUMNS})


def release_of(
    spans: list[list[tuple[int, int, bool]]],
    histograms: list[list[float]],
    deviation: list[float] | None,
    schema: Schema = SCHEMA,
) -> Release:
    counts = np.array(histograms, dtype=np.float64)
    return Release(
        schema=schema,
        boxes=Boxes.of_spans(spans),
        weights=counts.sum(axis=1),
        group_of=np.arange(len(counts)),
        histograms=counts,
        claim=PureDP(epsilon=0.5),
        provenance=Provenance(method="by hand", parameters={"h": 3}),
        layout="counts",
        deviation=None if deviation is None else np.array(deviation),
    )


def example() -> Release:
    """Three boxes: one with everything, one with the missing age alone, one that has no rows."""
    return release_of(
        [[(0, 4, True), (0, 1, False)], [(0, -1, True), (2, 3, False)], [(5, 9, False), (0, 3, False)]],
        [[1.25, 0, 3.0004, 0.1239], [123_456_789.125, 7, 0.00049, 0], [0, 0, 0, 0]],
        [1.4142135623, 2_000.5, 9],
    )


def reloaded(release: Release, parquet: bool = False) -> Release:
    with tempfile.TemporaryDirectory() as place:
        return Release.load(release.save(Path(place) / "release", parquet=parquet))


def contents(release: Release) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place:
        folder = release.save(Path(place) / "release")
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


Line = tuple[tuple[tuple[int, int, bool], ...], int]


def lines_of(release: Release) -> dict[Line, tuple[float, float]]:
    """The count of every box and sensitive value that has one, and its noise."""
    found: dict[Line, tuple[float, float]] = {}
    for box, group in enumerate(release.group_of):
        spans = tuple(tuple(release.boxes.span(box, axis)) for axis in range(len(release.schema.quasi)))
        noise = 0.0 if release.deviation is None else float(release.deviation[group])
        for value, count in enumerate(release.histograms[group]):
            if count >= 0.0005:
                assert (spans, value) not in found
                found[spans, value] = (float(count), noise)
    return found


def check_same(again: Release, release: Release) -> None:
    ours, theirs = lines_of(again), lines_of(release)
    assert set(ours) == set(theirs)
    for line, (count, noise) in ours.items():
        assert count == pytest.approx(theirs[line][0], abs=0.00051)
        assert noise == pytest.approx(theirs[line][1], rel=1e-5)
    assert (again.claim, again.provenance, again.layout) == (release.claim, release.provenance, "counts")
    assert again.schema.spec() == release.schema.spec()
    assert again.weights == pytest.approx(again.histograms.sum(axis=1))


@pytest.mark.parametrize("parquet", [False, True])
def test_an_example_comes_back(parquet: bool) -> None:
    again = reloaded(example(), parquet)
    check_same(again, example())
    assert len(again.boxes) == 2, "a box without rows has no line"
    assert again.histograms[0].tolist() == [123_456_789.125, 7, 0, 0]
    assert again.histograms[1].tolist() == [1.25, 0, 3, 0.124]


def test_what_a_recipient_reads() -> None:
    text = contents(example())["counts.csv"].decode()
    assert text.splitlines() == [
        "age,town,illness,count,noise",
        "(missing),south,flu,123456789.125,2000.5",
        '(missing),south,"a, b",7.0,2000.5',
        '"[0, 4] or (missing)","north, cold",flu,1.25,1.41421',
        '"[0, 4] or (missing)","north, cold",hiv,3.0,1.41421',
        '"[0, 4] or (missing)","north, cold",(missing),0.124,1.41421',
    ]


@settings(max_examples=30)
@given(
    case=tables(most_rows=30, most_quasi=3, most=6),
    epsilon=st.sampled_from([0.05, 1, 100_000]),
    parquet=st.booleans(),
    seed=st.integers(0, 99),
)
def test_what_is_loaded_says_what_was_saved(case: TableCase, epsilon: float, parquet: bool, seed: int) -> None:
    for method in (QuadTree(epsilon=epsilon, height=3), DiffMulti(epsilon=epsilon, h=5, utility="dm")):
        release = method.publish(case.table, SimulatedSource(seed))
        again = reloaded(release, parquet)
        check_same(again, release)
        assert contents(reloaded(again)) == contents(again)
        everything = Boxes.whole(release.schema.quasi)
        allowed = 0.0005 * release.histograms.size
        assert again.histograms_in(everything) == pytest.approx(release.histograms_in(everything), abs=allowed)


def test_the_order_of_boxes_tells_nothing() -> None:
    release = example()
    turned = np.array([2, 0, 1])
    shuffled = replace(
        release,
        boxes=release.boxes[turned],
        weights=release.weights[turned],
        histograms=release.histograms[turned],
        deviation=np.array([9, 1.4142135623, 2_000.5]),
    )
    assert contents(shuffled) == contents(release)


def test_boxes_may_share_a_group() -> None:
    """Two boxes of one group have its shares of their own weights."""
    release = replace(
        example(),
        boxes=example().boxes[:2],
        weights=np.array([6.0, 2.0]),
        group_of=np.zeros(2, dtype=np.int64),
        histograms=np.array([[6.0, 2.0, 0, 0]]),
        deviation=np.array([3.0]),
    )
    again = reloaded(release)
    assert again.histograms.tolist() == [[1.5, 0.5, 0, 0], [4.5, 1.5, 0, 0]]
    assert again.deviation is not None
    assert again.deviation.tolist() == [3, 3]


@pytest.mark.parametrize("deviation", [None, [0.0, 0.0, 0.0]])
def test_counts_without_noise_come_back_without(deviation: list[float] | None) -> None:
    release = replace(example(), deviation=None if deviation is None else np.array(deviation))
    assert reloaded(release).deviation is None


def test_columns_of_the_schema_may_be_called_count_and_noise() -> None:
    columns = {"count": COLUMNS["age"], "noise": {**COLUMNS["town"]}, "illness": COLUMNS["illness"]}
    schema = Schema.parse({"name": "people", "columns": columns})
    release = replace(example(), schema=schema)
    assert contents(release)["counts.csv"].decode().splitlines()[0] == "count,noise,illness,count_2,noise_2"
    check_same(reloaded(release), release)


def test_equal_boxes_cannot_be_told_apart() -> None:
    release = release_of([[(0, 4, False), (0, 3, False)]] * 2, [[1, 0, 0, 0], [0, 1, 0, 0]], [1, 1])
    with pytest.raises(ReleaseError, match="two boxes of the release are the same"):
        contents(release)


def test_a_release_without_counts_is_not_written() -> None:
    release = release_of([[(0, 4, False), (0, 3, False)]], [[0.0004, 0, 0, 0]], [1])
    with pytest.raises(ReleaseError, match="noise left no counts above zero"):
        contents(release)


Spoil = Callable[[pl.DataFrame], pl.DataFrame]


def with_value(column: str, value: Any, row: int = 1) -> Spoil:
    def spoil(frame: pl.DataFrame) -> pl.DataFrame:
        entries = frame[column].to_list()
        entries[row] = value
        return frame.with_columns(pl.Series(column, entries, dtype=frame.schema[column]))

    return spoil


NOT_A_NUMBER = r"row 2, column 'count': .* is not a number of at least 0$"
SPOILT: dict[str, tuple[Spoil, str]] = {
    "a count below zero": (with_value("count", -1.0), NOT_A_NUMBER),
    "a count that is no number": (with_value("count", float("nan")), NOT_A_NUMBER),
    "an infinite count": (with_value("count", float("inf")), NOT_A_NUMBER),
    "a missing count": (with_value("count", None), NOT_A_NUMBER),
    "noise below zero": (with_value("noise", -0.5), r"row 2, column 'noise': .* is not a number of at least 0$"),
    "a line twice": (lambda frame: pl.concat([frame, frame[2:3]]), "two lines have the same box and sensitive value$"),
    "no column of counts": (lambda frame: frame.drop("count"), r"the column 'count' is missing; the file has 'age'"),
    "no column of noise": (lambda frame: frame.drop("noise"), r"the column 'noise' is missing"),
    "no quasi-identifier": (lambda frame: frame.drop("town"), r"the column 'town' is missing"),
    "a column too many": (
        lambda frame: frame.with_columns(pl.lit(1).alias("weight")),
        r"the column 'weight' is not part of the release$",
    ),
    "no lines": (lambda frame: frame[:0], "the file has no rows$"),
    "an unknown town": (with_value("town", "west"), r"row 2, column 'town': 'west' is neither .* nor a group of such$"),
    "an unknown illness": (with_value("illness", "plague"), r"row 2, column 'illness': 'plague' is neither"),
    "several illnesses": (with_value("illness", "*"), r"row 2, column 'illness': '\*' is not"),
    "another spelling": (with_value("age", " (missing)"), r"row 2, column 'age': ' \(missing\)' is not spelled as"),
}


@pytest.mark.parametrize("name", SPOILT)
@pytest.mark.parametrize("parquet", [False, True])
def test_spoilt_files_are_refused_with_one_sentence(name: str, parquet: bool, tmp_path: Path) -> None:
    spoil, message = SPOILT[name]
    folder = example().save(tmp_path / "release", parquet=parquet)
    path = folder / ("counts.parquet" if parquet else "counts.csv")
    frame = spoil(pl.read_parquet(path) if parquet else pl.read_csv(path))
    if parquet:
        frame.write_parquet(path)
    else:
        frame.write_csv(path)
    with pytest.raises(ReleaseError, match=message) as refused:
        Release.load(folder)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("text", ["many", "1e", "0x10", "1,5", "--1", ""])
def test_words_are_no_counts(text: str, tmp_path: Path) -> None:
    folder = example().save(tmp_path / "release")
    path = folder / "counts.csv"
    frame = pl.read_csv(path, infer_schema=False)
    with_value("count", text)(frame).write_csv(path)
    with pytest.raises(ReleaseError, match=NOT_A_NUMBER):
        Release.load(folder)


def test_a_file_as_it_was_written_is_not_refused(tmp_path: Path) -> None:
    """The twin of the spoilt ones: the same way through a data frame, with nothing changed."""
    for parquet in (False, True):
        folder = example().save(tmp_path / f"release {parquet}", parquet=parquet)
        path = folder / ("counts.parquet" if parquet else "counts.csv")
        if parquet:
            pl.read_parquet(path).write_parquet(path)
        else:
            pl.read_csv(path).write_csv(path)
        check_same(Release.load(folder), example())


def test_a_private_release_is_one_of_counts() -> None:
    """A release under differential privacy is counts unless rows are asked for."""
    people = {"age": ["1", "2", None, "9"], "town": ["a,b", "é", "{c", 'q"'], "illness": ["flu", "hiv", None, "flu"]}
    release = QuadTree(epsilon=1, height=1).publish(read(pl.DataFrame(people), SCHEMA))
    assert release.layout == "counts"
    assert isinstance(reloaded(release).claim, PureDP)
