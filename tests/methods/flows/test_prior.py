"""Public knowledge beforehand: the histogram of distances, weights of places, and the shape they give a prior."""

from __future__ import annotations

import re
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_cases import Write, line
from sfumato.data.places import KILOMETRES, read_weights
from sfumato.errors import DataError, ParameterError
from sfumato.methods.flows.prior import CLASSES, USUAL, DistanceHistogram, Prior

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.data.places import Places, read_weights

ROAD = line([0, 1, 2, 3])
RISING = "a histogram of distances needs rising edges above 0 and one share more than edges"
SHARES = "shares of distances are 0 or more, and at least one up to the last edge is above 0"
FINITE = "the edges and shares of a histogram of distances are finite numbers"


def test_likeness_is_people_per_kilometre_beside_the_densest_ring() -> None:
    """Rings of 2, 4 and 10 kilometres hold 10, 40 and 10 people: 5, 10 and 1 per kilometre."""
    found = DistanceHistogram(edges=(2.0, 6.0, 16.0), shares=(10, 40, 10, 40))
    assert found.likeness(0.01) == pytest.approx([0.5, 1.0, 0.1, 0.01])
    assert found.likeness(0.3) == pytest.approx([0.5, 1.0, 0.3, 0.3])
    assert found.likeness(1.0) == pytest.approx([1, 1, 1, 1])


def test_the_published_histogram() -> None:
    """Half of all commutes up to 6.23 miles, three quarters up to 13.1, nine tenths up to 21.54."""
    assert [edge / 1.609344 for edge in USUAL.edges] == pytest.approx([6.23, 13.1, 21.54, 100])
    assert sum(USUAL.shares) == pytest.approx(1)
    per_mile = np.array([0.5 / 6.23, 0.25 / (13.1 - 6.23), 0.15 / (21.54 - 13.1), 0.09 / (100 - 21.54)])
    assert USUAL.likeness(0.0378) == pytest.approx([*np.maximum(per_mile / per_mile[0], 0.0378), 0.0378])


@pytest.mark.parametrize(
    ("edges", "shares", "sentence"),
    [
        ((), (1.0,), RISING),
        ((1.0,), (1.0,), RISING),
        ((2.0, 1.0), (1, 1, 1), RISING),
        ((1.0, 1.0), (1, 1, 1), RISING),
        ((0.0, 1.0), (1, 1, 1), RISING),
        ((-1.0,), (1, 1), RISING),
        ((1.0,), (1, -1), SHARES),
        ((1.0,), (0, 0), SHARES),
        ((1.0,), (0, 1), SHARES),
        ((nan,), (1, 1), FINITE),
        ((inf,), (1, 1), FINITE),
        ((1.0,), (nan, 1), FINITE),
        ((1.0,), (inf, 1), FINITE),
    ],
)
def test_histograms_are_checked(edges: tuple[float, ...], shares: tuple[float, ...], sentence: str) -> None:
    with pytest.raises(ParameterError) as refused:
        DistanceHistogram(edges=edges, shares=shares)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("unit", ["km", "mi"])
def test_a_histogram_is_read(write: Write, unit: str) -> None:
    one = KILOMETRES[unit]
    ended = DistanceHistogram.read(write("ended.csv", "up_to,share\n1,3\n2.5,1\n"), unit)
    assert (ended.edges, ended.shares) == ((one, 2.5 * one), (3, 1, 0))
    beyond = DistanceHistogram.read(write("open.csv", "share,up_to\n3,1\n1,\n"), unit)
    assert (beyond.edges, beyond.shares) == ((one,), (3, 1))
    named = DistanceHistogram.read(pl.DataFrame({"distance": [1, 2], "count": [5, 7]}), unit)
    assert (named.edges, named.shares) == ((one, 2 * one), (5, 7, 0))


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("1,x\n2,1\n", "row 1: share is 'x'; expected a number"),
        ("1,1\n2,\n", "row 2: share is (None|empty); expected a number"),
        ("1,1\n2,nan\n", "row 2: share is 'nan'; expected a number"),
        ("x,1\n2,1\n", "row 1: up_to is 'x'; expected a number"),
        (",1\n2,1\n", "row 1: up_to is (None|empty); expected a number"),
        ("1,1\nmany,1\n", "row 2: up_to is 'many'; expected a number"),
        ("nan,1\n2,1\n", "row 1: up_to is 'nan'; expected a number"),
        ("2,1\n1,1\n", RISING),
        (",1\n", RISING),
        ("1,-1\n2,3\n", SHARES),
        ("1,0\n,3\n", SHARES),
    ],
)
def test_files_of_histograms_are_checked(write: Write, rows: str, sentence: str) -> None:
    path = write("distances.csv", f"up_to,share\n{rows}")
    with pytest.raises(DataError) as refused:
        DistanceHistogram.read(path, "km")
    assert re.fullmatch(f"{re.escape(str(path))}: {sentence}", str(refused.value))


def test_a_histogram_needs_its_columns(write: Write) -> None:
    with pytest.raises(DataError, match=r"no column for the upper edge \(such as 'up_to'\); the columns are a, share$"):
        DistanceHistogram.read(write("distances.csv", "a,share\n1,1\n"), "km")
    with pytest.raises(DataError, match=r"no column for the share \(such as 'share'\); the columns are up_to, b$"):
        DistanceHistogram.read(write("distances.csv", "up_to,b\n1,1\n"), "km")


def test_levels_are_ring_by_class_and_then_the_rings_of_coarser_units() -> None:
    histogram = DistanceHistogram(edges=(1.0, 3.0), shares=(4, 4, 2))
    weights = np.array([8.0, 4.0, 1.0, 0.0])
    flat, near = Prior(), Prior(by_distance=True, distances=histogram, floor=0.1)
    assert (flat.rings, flat.classes, flat.edges) == (1, 1, ())
    assert (flat.shape().weights.tolist(), flat.shape().keep.tolist()) == ([1, 1], [1, 1])
    assert near.shape().weights == pytest.approx([1, 0.5, 0.1, 1, 0.5, 0.1])
    assert near.shape().keep.tolist() == [1] * 6
    dropping = Prior(keep=0.2, distances=histogram).shape()
    assert dropping.weights.tolist() == [1] * 6
    assert dropping.keep == pytest.approx([1, 0.5, 0.2, 1, 1, 1])
    both = Prior(by_distance=True, distances=histogram, keep=0.2, floor=0.1, weights=weights)
    halves = 0.5 ** np.arange(8)
    assert both.shape().weights == pytest.approx([*halves, *(0.5 * halves), *(0.1 * halves), 1, 0.5, 0.1])
    assert both.shape().keep == pytest.approx([1] * 8 + [0.5] * 8 + [0.2] * 8 + [1] * 3)


def test_a_histogram_is_used_only_where_it_is_asked_for() -> None:
    assert Prior(distances=USUAL).edges == ()
    assert Prior(by_distance=True).edges == Prior(keep=0.5).edges == USUAL.edges


@given(st.lists(st.floats(0, 1e9), min_size=4, max_size=4).filter(any))
def test_weights_are_rounded_up_to_powers_of_two(weights: list[float]) -> None:
    given_weights = np.array(weights)
    classes = Prior(weights=given_weights).class_of(ROAD)
    share = given_weights / given_weights.max()
    assert (0.5**classes >= share * (1 - 1e-12)).all()
    assert ((0.5 ** (classes + 1) < share * (1 + 1e-12)) | (classes == CLASSES - 1)).all()
    assert classes[given_weights.argmax()] == 0
    assert (classes[given_weights == 0] == CLASSES - 1).all()


def test_known_classes() -> None:
    assert Prior(weights=np.array([256.0, 255.0, 128.0, 127.0])).class_of(ROAD).tolist() == [0, 0, 1, 1]
    assert Prior(weights=np.array([256.0, 64.0, 1.0, 0.0])).class_of(ROAD).tolist() == [0, 2, 7, 7]
    assert Prior().class_of(ROAD).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("name", ["keep", "floor"])
@pytest.mark.parametrize("value", [0.0, -0.1, 1.1, 1e-4, nan])
def test_probabilities_are_checked(name: str, value: float) -> None:
    with pytest.raises(ParameterError, match=rf"^{name} is {value:g}; expected a number from 0.0005 to 1$"):
        Prior(**{name: value})


def test_weights_are_those_of_the_places() -> None:
    with pytest.raises(ParameterError, match=r"^the prior has 1 weights for 4 places$"):
        Prior(weights=np.ones(1)).class_of(ROAD)
    for wrong in ([0.0] * 4, [1.0, -1, 0, 0], [1.0, nan, 0, 0], [1.0, inf, 0, 0]):
        with pytest.raises(ParameterError, match=r"^the prior needs weights of 0 or more, and some above$"):
            Prior(weights=np.array(wrong)).class_of(ROAD)


def test_a_release_tells_the_prior() -> None:
    near = DistanceHistogram(edges=(1.0, 3.0), shares=(4, 4, 2))
    told = {"distances": {"up_to_km": [1, 3], "shares": [4, 4, 2]}}
    assert Prior(distances=near).spec() == {"prior": "uniform"}
    assert Prior(distances=near, keep=0.2).spec() == {"prior": "uniform", "keep": 0.2} | told
    assert Prior(distances=near, by_distance=True).spec() == {"prior": "distance", "least_weight": 0.0378} | told
    assert Prior(weights=np.ones(4)).spec() == {"prior": "weights of places"}


def test_weights_are_read_by_place(write: Write, tmp_path: Path) -> None:
    path = write("weights.csv", "place,population\np2,3\np0,1.5\np2,1\n")
    assert read_weights(path, ROAD).tolist() == [1.5, 0, 4, 0]
    assert read_weights(write("bare.csv", "block,residents\np3,2\n"), ROAD).tolist() == [0, 0, 0, 2]
    pl.DataFrame({"id": ["p1"], "weight": [7]}).write_parquet(tmp_path / "weights.parquet")
    assert read_weights(tmp_path / "weights.parquet", ROAD).tolist() == [0, 7, 0, 0]


AMOUNT = "; expected a number of 0 or more"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("p0,1\np1,-1\n", f"row 2: weight is '-1'{AMOUNT}"),
        ("p0,nan\n", f"row 1: weight is 'nan'{AMOUNT}"),
        ("p0,inf\n", f"row 1: weight is 'inf'{AMOUNT}"),
        ("p0,many\n", f"row 1: weight is 'many'{AMOUNT}"),
        ("p0,1\np1,\n", f"row 2: weight is (None|empty){AMOUNT}"),
        ("p0,1\np9,1\n", "row 2: id is 'p9', which is not in the list of places"),
        ("p0,1\n,1\n", "row 2: id is (None|empty), which is not in the list of places"),
        ("p0,0\np1,0\n", "all weights are 0"),
    ],
)
def test_files_of_weights_are_checked(write: Write, rows: str, sentence: str) -> None:
    path = write("weights.csv", f"id,weight\n{rows}")
    with pytest.raises(DataError) as refused:
        read_weights(path, ROAD)
    assert re.fullmatch(f"{re.escape(str(path))}: {sentence}", str(refused.value))


def test_a_file_of_weights_needs_two_columns(write: Write, grid: Places) -> None:
    with pytest.raises(DataError, match=r"no column for the weight \(such as 'weight'\); the columns are id$"):
        read_weights(write("weights.csv", "id\n0000\n"), grid)


def test_the_usual_names_of_places_are_found_in_any_column(write: Write) -> None:
    """As in the list of places itself."""
    assert read_weights(write("weights.csv", "population,block\n3,p1\n"), ROAD).tolist() == [0, 3, 0, 0]
