"""Places: what is read, what is refused and in which words, distances, and regions."""

from __future__ import annotations

import gzip
import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flow_cases import Write, haversine
from sfumato.data.places import EARTH_RADIUS, Places, chord_of
from sfumato.errors import DataError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "id,latitude,longitude,tract\n0012,41.5,-71.25,7\n012,-90,180,08\n12,0,-180,7\n"
latitudes, longitudes = st.floats(-90, 90), st.floats(-180, 180)


def same(one: Places, other: Places) -> bool:
    return (
        one.ids.to_list() == other.ids.to_list()
        and one.regions.equals(other.regions)
        and np.array_equal(one.latitude, other.latitude)
        and np.array_equal(one.longitude, other.longitude)
    )


def test_ids_and_regions_are_text_and_keep_their_zeros(write: Write) -> None:
    places = Places.read(write("places.csv", TEXT))
    assert places.ids.to_list() == ["0012", "012", "12"]
    assert (places.latitude.tolist(), places.longitude.tolist()) == ([41.5, -90.0, 0.0], [-71.25, 180.0, -180.0])
    assert places.regions.to_dict(as_series=False) == {"tract": ["7", "08", "7"]}
    assert len(places) == 3


def test_every_kind_of_file_reads_alike(write: Write, tmp_path: Path) -> None:
    places = Places.read(write("places.csv", TEXT))
    (tmp_path / "places.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    frame = pl.read_csv(TEXT.encode(), schema_overrides={"id": pl.String, "tract": pl.String})
    frame.write_parquet(tmp_path / "places.parquet")
    semicolons = write("semicolons.csv", TEXT.replace(",", ";"))
    for source in (tmp_path / "places.csv.gz", tmp_path / "places.parquet", frame, frame.to_pandas(), semicolons):
        assert same(Places.read(source), places)


def test_numbers_in_parquet_become_text_ids(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [12, 13], "latitude": [1, 2], "longitude": [3.5, 4.5], "tract": [7, 8]})
    frame.write_parquet(tmp_path / "places.parquet")
    places = Places.read(tmp_path / "places.parquet")
    assert (places.ids.to_list(), places.partition("tract").labels) == (["12", "13"], ("7", "8"))
    assert places.latitude.dtype == np.float64


@pytest.mark.parametrize("header", ["block,Lat,LNG", "GEOID,latitude,Long", "place,lat,lon", "anything,lat,lon"])
def test_usual_names_of_columns(write: Write, header: str) -> None:
    places = Places.read(write("places.csv", f"{header}\na,1,2\n"))
    assert (places.ids[0], places.latitude[0], places.longitude[0]) == ("a", 1, 2)


def test_columns_can_be_named(write: Write) -> None:
    path = write("places.csv", "id,latitude,longitude,code,y,x\na,1,2,b,3,4\n")
    places = Places.read(path, place="code", latitude="y", longitude="x")
    assert (places.ids[0], places.latitude[0], places.longitude[0]) == ("b", 3, 4)
    assert places.regions.columns == ["id", "latitude", "longitude"]


DEGREES = "; expected degrees from -90 to 90"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,lat,lon\na,1,1\nb,91,1\n", f"row 2: lat is '91'{DEGREES}"),
        ("id,lat,lon\na,-90.001,1\n", f"row 1: lat is '-90.001'{DEGREES}"),
        ("id,lat,lon\na,1,1\nb,nan,1\n", f"row 2: lat is 'nan'{DEGREES}"),
        ("id,lat,lon\na,1,1\nb,inf,1\n", f"row 2: lat is 'inf'{DEGREES}"),
        ("id,lat,lon\na,1,1\nb,north,1\n", f"row 2: lat is 'north'{DEGREES}"),
        ("id,lat,lon\na,1,1\nb,,1\n", f"row 2: lat is empty{DEGREES}"),
        ("id,lat,lon\na,1,1\n\nb,1,180.5\n", "row 2: lon is '180.5'; expected degrees from -180 to 180"),
        ("id,lat,lon\na,1,1\nb,1,1\na,1,2\n", "row 3 repeats the place 'a' of row 1"),
        ("id,lat,lon\na,1,1\n,1,1\n", "row 2: id is empty"),
        ('id,lat,lon\na,1,1\n"  ",1,1\n', "row 2: id is empty"),
        ("id,lon\na,1\n", "no column for the latitude (such as 'latitude'); the columns are id, lon"),
        ("id,lat\na,1\n", "no column for the longitude (such as 'longitude'); the columns are id, lat"),
        ("lat,lon\n1,1\n", "no column for the place id (such as 'id'); the columns are lat, lon"),
        ("id,lat,lon\n", "the file has no rows"),
        ("", "the file is empty"),
    ],
)
def test_refusals_name_file_row_and_value(write: Write, text: str, sentence: str) -> None:
    path = write("places.csv", text)
    with pytest.raises(DataError) as refused:
        Places.read(path)
    assert str(refused.value) == f"{path}: {sentence}"


def test_the_word_for_origins_beyond_the_domain_is_no_place(write: Write) -> None:
    with pytest.raises(DataError, match=r"places\.csv: row 2.*'outside'"):
        Places.read(write("places.csv", "id,lat,lon\na,1,1\noutside,1,2\n"))


def test_a_column_that_is_not_there_is_named(write: Write) -> None:
    with pytest.raises(DataError, match=r"there is no column 'code'; the columns are id, latitude, longitude, tract$"):
        Places.read(write("places.csv", TEXT), place="code")


@pytest.mark.parametrize("column", ["id", "lat", "tract"])
@pytest.mark.parametrize("odd", [[["x"]], [b"\xff"]], ids=["list", "bytes"])
def test_columns_of_no_usable_type_are_refused(column: str, odd: list[object]) -> None:
    usual: dict[str, list[object]] = {"id": ["a"], "lat": [1.0], "lon": [1.0], "tract": ["t"]}
    with pytest.raises(DataError, match=column):
        Places.read(pl.DataFrame(usual | {column: odd}))


def test_categories_are_text() -> None:
    words = pl.DataFrame({"id": ["a"], "lat": ["1"], "lon": ["2"], "tract": ["t"]})
    places = Places.read(words.cast(pl.Categorical))
    assert (places.ids.to_list(), places.latitude.tolist(), places.partition("tract").labels) == (["a"], [1.0], ("t",))


def test_a_partition_numbers_regions_by_label(write: Write) -> None:
    partition = Places.read(write("places.csv", TEXT)).partition("tract")
    assert (partition.codes.tolist(), partition.labels) == ([1, 0, 1], ("08", "7"))


def test_regions_that_are_missing_are_refused_when_asked_for(write: Write) -> None:
    path = write("places.csv", "id,lat,lon,town,county\na,1,1,x,\nb,1,2,,\n")
    places = Places.read(path)
    with pytest.raises(DataError) as refused:
        places.partition("town")
    assert str(refused.value) == f"{path}: row 2: town is empty"
    with pytest.raises(ParameterError) as unknown:
        places.partition("twon")
    assert str(unknown.value) == f"{path}: there are no regions 'twon'; those in the file: town, county"
    with pytest.raises(ParameterError, match=r"those in the file: none$"):
        Places.read(write("bare.csv", "id,lat,lon\na,1,1\n")).partition("town")


@given(st.lists(st.tuples(latitudes, longitudes), min_size=2, max_size=2))
@example([(0, 179.999), (0, -179.999)])
@example([(90, 0), (90, 120)])
@example([(90, 0), (-90, 0)])
@example([(41.5, -71.5), (41.5, -71.5)])
def test_distances_are_great_circles(ends: list[tuple[float, float]]) -> None:
    places = Places(pl.Series(["a", "b"]), np.array([e[0] for e in ends]), np.array([e[1] for e in ends]))
    expected = haversine(places, 0, 1)
    found = float(places.distances(np.array([0]), np.array([1]))[0])
    # Chords hardly change near the far side of the globe, so that the last digits are lost there.
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-6 if expected < 20_000 else 1e-3)
    assert found == places.distances(np.array([1]), np.array([0]))[0]
    assert np.linalg.norm(places.points, axis=1) == pytest.approx([1, 1], abs=1e-15)


def test_known_distances() -> None:
    places = Places(pl.Series(list("abcd")), np.array([0, 0, 90, 41.824]), np.array([0, 90, 0, -71.4128]))
    quarter = math.pi / 2 * EARTH_RADIUS
    assert places.distances(np.array([0, 0, 1]), np.array([1, 2, 2])) == pytest.approx([quarter] * 3)
    boston = Places(pl.Series(list("pb")), np.array([41.824, 42.3601]), np.array([-71.4128, -71.0589]))
    assert boston.distances(np.array([0]), np.array([1]))[0] == pytest.approx(66.4, abs=0.2)


@given(st.floats(0, 30_000), st.floats(0, 30_000))
def test_chords_rise_with_distance_up_to_the_far_side(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= chord_of(low) <= chord_of(high) <= 2
    assert chord_of(low) == pytest.approx(2 * math.sin(min(low / EARTH_RADIUS, math.pi) / 2))
    assert chord_of(math.inf) == chord_of(math.pi * EARTH_RADIUS) == 2
