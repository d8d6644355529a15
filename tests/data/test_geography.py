"""GeoJSON as places: points as they are, areas by their centroids, properties as columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.data.geography import centroid
from sfumato.data.places import Places
from sfumato.errors import DataError

SQUARE = [[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]
HOLE = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
FAR = [[10, 0], [11, 0], [11, 1], [10, 1], [10, 0]]


def rings(*given: list[list[float]]) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    return [np.array(ring, dtype=np.float64) for ring in given]


def features(path: Path, *given: Any) -> Path:
    path.write_text(json.dumps({"type": "FeatureCollection", "features": given}))
    return path


def feature(kind: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


@pytest.mark.parametrize(
    ("areas", "expected"),
    [
        ([rings(SQUARE)], (1, 1)),
        ([rings(SQUARE[::-1])], (1, 1)),
        ([rings(SQUARE, HOLE)], (7 / 6, 7 / 6)),
        ([rings(SQUARE, HOLE[::-1])], (7 / 6, 7 / 6)),
        ([rings(SQUARE), rings(FAR)], ((4 * 1 + 10.5) / 5, (4 * 1 + 0.5) / 5)),
        ([rings([[0, 0], [3, 0], [0, 3], [0, 0]])], (1, 1)),
        ([rings([[5, 5], [7, 5], [5, 5]])], (17 / 3, 5)),
    ],
    ids=["square", "the other way round", "hole", "hole the other way", "two areas", "triangle", "no area"],
)
def test_centroids(areas: Any, expected: tuple[float, float]) -> None:
    assert centroid(areas) == pytest.approx(expected)


def test_features_are_places(tmp_path: Path) -> None:
    path = features(
        tmp_path / "places.geojson",
        feature("Point", [-71.25, 41.5], block="001", county="Kent"),
        feature("Polygon", [SQUARE], block="002", county="Köln"),
        feature("MultiPolygon", [[SQUARE], [FAR]], block="003", county="Kent"),
    )
    for given in (None, "block"):
        places = Places.read(path, place=given)
        assert places.ids.to_list() == ["001", "002", "003"]
        assert places.latitude.tolist() == pytest.approx([41.5, 1, 0.9])
        assert places.longitude.tolist() == pytest.approx([-71.25, 1, 2.9])
        assert places.regions["county"].to_list() == ["Kent", "Köln", "Kent"]


def test_the_id_of_a_feature_serves_where_no_property_does(tmp_path: Path) -> None:
    path = features(
        tmp_path / "a.geojson", {**feature("Point", [1, 2]), "id": 7}, {**feature("Point", [1, 3]), "id": 8}
    )
    assert Places.read(path).ids.to_list() == ["7", "8"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "not valid JSON"),
        ("[1, 2", "not valid JSON"),
        ("[]", "this is no GeoJSON with features"),
        ('{"features": 3}', "this is no GeoJSON with features"),
        ('{"features": []}', "has no rows"),
        ('{"features": [3]}', "feature 1: expected properties and a geometry"),
        (json.dumps({"features": [feature("LineString", SQUARE)]}), "'LineString' is no place; expected points or"),
        (json.dumps({"features": [feature("Point", ["a", 2])]}), "feature 1: the coordinates of the Point are not"),
        (json.dumps({"features": [feature("Polygon", 3)]}), "the coordinates of the Polygon are not pairs"),
        (json.dumps({"features": [feature("Polygon", [])]}), "the coordinates of the Polygon are not pairs"),
        (json.dumps({"features": [feature("Point", [500_000, 4_000_000], id="a")]}), "expected degrees from"),
    ],
)
def test_files_that_are_no_places(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "places.geojson"
    path.write_text(content)
    with pytest.raises(DataError, match=expected):
        Places.read(path)
