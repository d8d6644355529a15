"""Outlines of regions: the polygons of a GeoJSON file, and which region each of them is."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.files import read_text

MIN_CORNERS = 3


@dataclass(frozen=True, eq=False)
class Outline:
    """One feature: its rings, (corners, 2) in degrees east and north, and its properties as text."""

    rings: list[NDArray[np.float64]]
    properties: dict[str, str]


def read_outlines(path: str | Path) -> dict[str, Any]:
    """Read a GeoJSON file of polygons, with coordinates in degrees."""
    path = Path(path)
    try:
        value = json.loads(read_text(path, "the file of outlines", DataError))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not valid JSON ({error})") from error
    parse_outlines(value, str(path))
    return dict(value)


def parse_outlines(outlines: Any, where: str = "the outlines") -> list[Outline]:
    """The features of a collection that have an area; others, such as points, are left out."""
    if not isinstance(outlines, Mapping) or outlines.get("type") != "FeatureCollection":
        kind = outlines.get("type") if isinstance(outlines, Mapping) else type(outlines).__name__
        raise DataError(f"{where}: this is {kind!r}; expected a GeoJSON object of type 'FeatureCollection'")
    features = outlines.get("features")
    if not isinstance(features, list):
        raise DataError(f"{where}: 'features' is {type(features).__name__}; expected a list")
    shapes = [
        Outline(rings, _texts(feature.get("properties")))
        for number, feature in enumerate(features, start=1)
        if (rings := _rings(feature, f"{where}: feature {number}"))
    ]
    if not shapes:
        raise DataError(f"{where}: none of its {len(features):,} features is a Polygon or MultiPolygon")
    return shapes


def region_names(shapes: list[Outline], regions: set[str]) -> list[str | None]:
    """The region of each shape, by the one property whose values name the most regions.

    One property for all, because the values of another may be the same as a region's by chance.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for shape in shapes:
        for key, value in shape.properties.items():
            if value in regions:
                found[key].add(value)
    if not found:
        return [None] * len(shapes)
    best = max(found, key=lambda key: len(found[key]))
    return [name if (name := shape.properties.get(best)) in regions else None for shape in shapes]


def count_matches(outlines: Mapping[str, Any], regions: Iterable[str]) -> int:
    """How many outlines stand for a region."""
    return sum(name is not None for name in region_names(parse_outlines(outlines), set(regions)))


def _rings(feature: Any, where: str) -> list[NDArray[np.float64]]:
    geometry = feature.get("geometry") if isinstance(feature, Mapping) else None
    kind = geometry.get("type") if isinstance(geometry, Mapping) else None
    if not isinstance(geometry, Mapping) or kind not in ("Polygon", "MultiPolygon"):
        return []
    coordinates: Any = geometry.get("coordinates")
    polygons = [coordinates] if kind == "Polygon" else coordinates
    try:
        return [_ring(ring, where) for polygon in polygons for ring in polygon]
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: its coordinates are not those of a {kind}, lists of rings of positions") from error


def _ring(positions: Any, where: str) -> NDArray[np.float64]:
    ring = np.array([position[:2] for position in positions], dtype=np.float64)
    if ring.ndim != 2 or ring.shape[1] != 2:
        raise ValueError("no positions")
    if len(ring) < MIN_CORNERS:
        raise DataError(f"{where}: a ring has {len(ring)} positions; expected at least {MIN_CORNERS}")
    for column, (name, limit) in enumerate((("longitude", 180.0), ("latitude", 90.0))):
        wrong = ~(np.abs(ring[:, column]) <= limit)
        if wrong.any():
            value = float(ring[wrong.argmax(), column])
            raise DataError(f"{where}: a {name} is {value:g}; expected degrees from {-limit:g} to {limit:g}")
    return ring


def _texts(properties: Any) -> dict[str, str]:
    """Properties as the places spell them: a whole number has no decimal point."""
    if not isinstance(properties, Mapping):
        return {}
    return {
        str(key): str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for key, value in properties.items()
    }
