"""What the map draws: people between points, packed for the page."""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.report.map.outlines import Outline, region_names

REACHES = (1, 2, 5, 10, 25, 50)
"""Distances, in the unit of the page, within which the share of people is told."""


@dataclass(frozen=True, eq=False)
class Points:
    """What the page draws: the places, or the regions they fall into, that occur in the flows."""

    places: Places
    """One per point, with the id that the page shows; longitudes do not jump between neighbours."""
    of_place: NDArray[np.int64]
    """The point of every place, and of "outside"; -1 where a place does not occur."""
    within: tuple[list[str], NDArray[np.int64]]
    """Names of the larger areas, and which of them each point lies in."""

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of all points; (0, 0) where there are none."""
        if not len(self.places):
            return 0.0, 0.0
        return float(self.places.longitude.mean()), float(self.places.latitude.mean())


def gather_points(places: Places, by: str | None, copies: list[Flows]) -> Points:
    """The regions, or without any the places, that occur; a region lies at the mean of all its places."""
    if by is None:
        group, labels = np.arange(len(places)), places.ids
    else:
        partition = places.partition(by)
        group, labels = partition.codes.astype(np.int64), pl.Series(partition.labels, dtype=pl.String)
    occurs = np.zeros(len(labels), dtype=bool)
    for flows in copies:
        occurs[group[flows.destinations]] = True
        occurs[group[flows.origins[flows.inside]]] = True
    number = np.where(occurs, np.cumsum(occurs) - 1, -1)
    size = np.bincount(group, minlength=len(labels))

    def mean(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        return (np.bincount(group, weights=degrees, minlength=len(labels)) / size)[occurs]

    centres = Places(labels.filter(pl.Series(occurs)), mean(places.latitude), mean(_unwrap(places.longitude)))
    names, of_label = _larger_areas(places, by, group, len(labels))
    return Points(centres, np.append(number[group], len(centres)), (names, of_label[occurs]))


def _unwrap(longitude: NDArray[np.float64], about: float | None = None) -> NDArray[np.float64]:
    """Longitudes around the places' own middle, so that an area across the 180th meridian is not torn apart."""
    if about is None:
        angle = np.radians(longitude)
        about = float(np.degrees(np.arctan2(np.sin(angle).mean(), np.cos(angle).mean())))
    return (longitude - about + 180) % 360 - 180 + about


def _larger_areas(
    places: Places, by: str | None, group: NDArray[np.int64], groups: int
) -> tuple[list[str], NDArray[np.int64]]:
    """The first column of area names in words that are no finer than the points, as most places of a point have it."""
    for column in places.regions.columns:
        values = places.regions[column].fill_null("")
        named = values.filter(values != "")
        if column == by or named.is_empty() or named.n_unique() > groups or not named.str.contains(r"\pL").all():
            continue
        by_group = pl.DataFrame({"group": group, "name": values}).group_by("group")
        commonest = by_group.agg(pl.col("name").mode().min()).sort("group")["name"]
        names = commonest.unique().sort()
        return names.to_list(), commonest.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
    return [], np.zeros(groups, dtype=np.int64)


def pack_points(points: Points) -> dict[str, Any]:
    names, codes = points.within
    return {
        "names": points.places.ids.to_list(),
        "areas": names,
        "area": _pack(codes),
        **_degrees(points, points.places.longitude, points.places.latitude),
    }


def pack_outlines(shapes: list[Outline], points: Points) -> dict[str, Any]:
    """All rings in one row, with the lengths of rings, the rings of shapes, and the point each shape stands for."""
    number = {name: code for code, name in enumerate(points.places.ids)}
    names = region_names(shapes, set(number))
    rings = [ring for shape in shapes for ring in shape.rings]
    corners = np.concatenate(rings)
    return {
        "points": _pack(np.array([number.get(name, -1) for name in names], dtype=np.int32)),
        "rings": _pack(np.array([len(shape.rings) for shape in shapes])),
        "corners": _pack(np.array([len(ring) for ring in rings])),
        **_degrees(points, _unwrap(corners[:, 0], points.centre[0]), corners[:, 1]),
    }


def _degrees(points: Points, longitude: NDArray[np.float64], latitude: NDArray[np.float64]) -> dict[str, Any]:
    """Coordinates from the centre, which in single precision are good to centimetres."""
    pairs = zip(("longitude", "latitude"), (longitude, latitude), points.centre, strict=True)
    return {name: _pack((degrees - middle).astype(np.float32)) for name, degrees, middle in pairs}


def pack_flows(flows: Flows, points: Points, kilometres: float) -> dict[str, Any]:
    """People by pair of points; of every destination also what takes the distances between single places to know."""
    goes_to = points.of_place[flows.destination_of_pair]
    drawn = Flows.of_pairs(points.places, goes_to, points.of_place[flows.origins], flows.counts)
    known = flows.inside
    people, to = flows.counts[known], goes_to[known]
    far = flows.kilometres[known] / kilometres

    def add_up(weights: NDArray[Any]) -> NDArray[np.float64]:
        return np.bincount(to, weights=weights, minlength=len(points.places))[drawn.destinations].astype(np.float64)

    return {
        "destinations": _pack(drawn.destinations),
        "start": _pack(drawn.start),
        "origins": _pack(drawn.origins),
        "counts": _pack(drawn.counts),
        "known": _pack(add_up(people).astype(np.int64)),
        "distance": _pack(add_up(people * far).astype(np.float32)),
        "near": _pack(np.stack([add_up(people * (far <= reach)) for reach in REACHES], axis=1).astype(np.int64)),
    }


def _pack(values: NDArray[Any]) -> tuple[str, str]:
    """An array for the page: its type, the narrowest that holds it, and its bytes, lowest first."""
    kind = values.dtype
    if kind.kind == "i" and values.min(initial=0) >= 0:
        kind = np.min_scalar_type(int(values.max(initial=0)))
    packed = np.ascontiguousarray(values, dtype=kind.newbyteorder("<"))
    return kind.name, base64.b64encode(packed.tobytes()).decode("ascii")
