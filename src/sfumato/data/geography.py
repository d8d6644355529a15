"""GeoJSON: a row for each feature, with its properties and where it lies: a point, or the centroid of an area."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.text import NOT_TEXT, column_of
from sfumato.errors import DataError, quote

LATITUDE, LONGITUDE, ID = "latitude", "longitude", "id"
Ring = NDArray[np.float64]


def read_features(path: Path) -> pl.DataFrame:
    """The features of a file, in its order; where the properties have no `id`, that of the feature is added."""
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not valid JSON, {str(error).splitlines()[0]}") from error
    features = found.get("features") if isinstance(found, dict) else None
    if not isinstance(features, list):
        raise DataError(f"{path}: this is no GeoJSON with features; expected a FeatureCollection")
    rows = [_row(feature, f"{path}, feature {number}") for number, feature in enumerate(features, start=1)]
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame({name: column_of([row.get(name) for row in rows]) for name in names})


def _row(feature: object, where: str) -> dict[str, Any]:
    properties, shape = (
        (feature.get("properties"), feature.get("geometry")) if isinstance(feature, dict) else (None, None)
    )
    if not isinstance(feature, dict) or not isinstance(properties or {}, dict) or not isinstance(shape, dict):
        raise DataError(f"{where}: expected properties and a geometry")
    longitude, latitude = _middle(shape, where)
    own = {_name(name): _plain(value) for name, value in (properties or {}).items()}
    named = {ID: _plain(feature["id"])} if "id" in feature and ID not in own else {}
    return {**named, **own, LATITUDE: latitude, LONGITUDE: longitude}


def _name(name: str) -> str:
    return name.encode(errors=NOT_TEXT).decode()


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _middle(shape: dict[str, Any], where: str) -> tuple[float, float]:
    """Longitude and latitude of a point, of the middle of points, or of the centroid of areas."""
    given: Any
    kind, given = shape.get("type"), shape.get("coordinates")
    try:
        if kind in ("Point", "MultiPoint"):
            points = _points([given] if kind == "Point" else given)
            return float(points[:, 0].mean()), float(points[:, 1].mean())
        if kind in ("Polygon", "MultiPolygon"):
            return centroid([list(map(_points, area)) for area in ([given] if kind == "Polygon" else given)])
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{where}: the coordinates of the {kind} are not pairs of longitude and latitude") from error
    raise DataError(f"{where}: a geometry of type {quote(kind)} is no place; expected points or polygons")


def _points(given: Sequence[Sequence[float]]) -> Ring:
    points = np.array([pair[:2] for pair in given], dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ValueError
    return points


def centroid(areas: Sequence[Sequence[Ring]]) -> tuple[float, float]:
    """The centroid of areas, each an outer ring and its holes; that of the corners where they cover nothing.

    With cᵢ = xᵢ yᵢ₊₁ − xᵢ₊₁ yᵢ, a ring covers A = Σ cᵢ / 2, and its centroid is Σ (xᵢ + xᵢ₊₁) cᵢ / 6A. An outer ring
    counts as its area, a hole as that much less, whichever way round they are listed.
    """
    weighted, covered = np.zeros(2), 0.0
    origin = areas[0][0][0]
    for rings in areas:
        for number, ring in enumerate(rings):
            here, there = ring - origin, np.roll(ring - origin, -1, axis=0)
            cross = here[:, 0] * there[:, 1] - there[:, 0] * here[:, 1]
            sign = np.copysign(1.0, cross.sum()) * (-1.0 if number else 1.0)
            covered += sign * cross.sum() / 2
            weighted += sign * ((here + there) * cross[:, None]).sum(axis=0) / 6
    if covered > 0:
        east, north = origin + weighted / covered
    else:
        east, north = np.concatenate([ring for rings in areas for ring in rings]).mean(axis=0)
    return float(east), float(north)
