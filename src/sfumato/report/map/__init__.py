"""The map: one page that shows, for any destination, where its people come from.

The page needs no network and no other file. It is made of public knowledge (places and outlines) and the synthetic
flows alone; only when the original is given, for the publisher's own comparison, does it hold more, and says so.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.flows import Flows
from sfumato.data.places import KILOMETRES, Places
from sfumato.errors import ParameterError
from sfumato.report.map.outlines import Shape, read_outlines, region_names, shapes_of

Position = tuple[float, float]

__all__ = ["draw_map", "matched_outlines", "read_outlines"]

TITLE = "Where people come from"
REACHES = (1, 2, 5, 10, 25, 50)
"""Distances, in the unit of the page, within which the share of people is told."""
BANNER = (
    '<aside class="banner" role="note" aria-label="Handling"><strong>Contains original data:</strong> '
    "<span>for the publisher’s eyes only; do not publish.</span></aside>"
)
SCRIPTS = ("data.js", "view.js", "density.js", "paint.js", "panel.js", "legend.js", "search.js", "page.js")


@dataclass(frozen=True, eq=False)
class Points:
    """What the page draws: the places, or the regions they fall into, that occur in the flows."""

    places: Places
    """One per point, with the id that the page shows; longitudes do not jump between neighbours."""
    of_place: NDArray[np.int64]
    """The point of every place, and of "outside"; -1 where a place does not occur."""
    within: tuple[list[str], NDArray[np.int64]]
    """Names of the larger areas, and which of them each point lies in."""


def draw_map(
    synthetic: Flows,
    *,
    outlines: Mapping[str, Any] | None = None,
    by: str | None = None,
    original: Flows | None = None,
    title: str = TITLE,
    claim: str = "",
    unit: Literal["mi", "km"] = "mi",
) -> str:
    """The text of the page; `by` names the regions to draw instead of single places.

    With `original` the page is the publisher's copy: it also holds the original and must not be published.
    """
    if unit not in KILOMETRES:
        raise ParameterError(f"the unit of distance is {unit!r}; expected one of {', '.join(sorted(KILOMETRES))}")
    copies = {"synthetic": synthetic} | ({"original": original} if original is not None else {})
    if original is not None and not _same_places(synthetic.places, original.places):
        raise ParameterError("the synthetic and the original flows are about different places")
    points = _points(synthetic.places, by, list(copies.values()))
    centre = _centre(points.places)
    document = {
        "unit": unit,
        "kilometres": KILOMETRES[unit],
        "reaches": REACHES,
        "kind": by or "place",
        "centre": centre,
        "points": _point_parts(points, centre),
        "outlines": _outline_parts(shapes_of(outlines), points, centre) if outlines is not None else None,
        "flows": {name: _flow_parts(flows, points, KILOMETRES[unit]) for name, flows in copies.items()},
    }
    return _page(document, title, claim, BANNER if original is not None else "")


def _centre(places: Places) -> Position:
    return (float(places.longitude.mean()), float(places.latitude.mean())) if len(places) else (0.0, 0.0)


def matched_outlines(outlines: Mapping[str, Any], regions: Iterable[str]) -> int:
    """How many outlines stand for a region."""
    return sum(name is not None for name in region_names(shapes_of(outlines), set(regions)))


def _same_places(one: Places, other: Places) -> bool:
    return one is other or one.ids.equals(other.ids)


def _points(places: Places, by: str | None, copies: list[Flows]) -> Points:
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

    centres = Places(labels.filter(pl.Series(occurs)), mean(places.latitude), mean(_unbroken(places.longitude)))
    names, of_label = _larger_areas(places, by, group, len(labels))
    return Points(centres, np.append(number[group], len(centres)), (names, of_label[occurs]))


def _unbroken(longitude: NDArray[np.float64], about: float | None = None) -> NDArray[np.float64]:
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
        commonest = (
            pl.DataFrame({"group": group, "name": values})
            .group_by("group", "name")
            .len()
            .sort("group", "len", "name", descending=[False, True, False])
            .unique("group", keep="first")
            .sort("group")
        )["name"]
        names = commonest.unique().sort()
        return names.to_list(), commonest.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
    return [], np.zeros(groups, dtype=np.int64)


def _point_parts(points: Points, centre: Position) -> dict[str, Any]:
    names, codes = points.within
    return {
        "names": points.places.ids.to_list(),
        "areas": names,
        "area": _packed(codes),
        **_degrees(points.places.longitude, points.places.latitude, centre),
    }


def _outline_parts(shapes: list[Shape], points: Points, centre: Position) -> dict[str, Any]:
    """All rings in one row, with the lengths of rings, the rings of shapes, and the point each shape stands for."""
    number = {name: code for code, name in enumerate(points.places.ids)}
    names = region_names(shapes, set(number))
    rings = [ring for shape in shapes for ring in shape.rings]
    corners = np.concatenate(rings)
    return {
        "points": _packed(np.array([number.get(name, -1) for name in names], dtype=np.int32)),
        "rings": _packed(np.array([len(shape.rings) for shape in shapes])),
        "corners": _packed(np.array([len(ring) for ring in rings])),
        **_degrees(_unbroken(corners[:, 0], centre[0]), corners[:, 1], centre),
    }


def _degrees(longitude: NDArray[np.float64], latitude: NDArray[np.float64], centre: Position) -> dict[str, Any]:
    """Coordinates from the centre, which in single precision are good to centimetres."""
    return {
        "longitude": _packed((longitude - centre[0]).astype(np.float32)),
        "latitude": _packed((latitude - centre[1]).astype(np.float32)),
    }


def _flow_parts(flows: Flows, points: Points, kilometres: float) -> dict[str, Any]:
    """People by pair of points; of every destination also what takes the distances between single places to know."""
    goes_to = points.of_place[flows.destination_of_pair]
    drawn = Flows.of_pairs(points.places, goes_to, points.of_place[flows.origins], flows.counts)
    known = flows.inside
    people, to = flows.counts[known], goes_to[known]
    far = flows.kilometres[known] / kilometres

    def summed(weights: NDArray[Any]) -> NDArray[np.float64]:
        sums = np.asarray(np.bincount(to, weights=weights, minlength=len(points.places)), dtype=np.float64)
        return sums[drawn.destinations]

    return {
        "destinations": _packed(drawn.destinations),
        "start": _packed(drawn.start),
        "origins": _packed(drawn.origins),
        "counts": _packed(drawn.counts),
        "known": _packed(summed(people).astype(np.int64)),
        "distance": _packed(summed(people * far).astype(np.float32)),
        "near": _packed(np.stack([summed(people * (far <= reach)) for reach in REACHES], axis=1).astype(np.int64)),
    }


def _packed(values: NDArray[Any]) -> tuple[str, str]:
    """An array for the page: its type, the narrowest that holds it, and its bytes, lowest first."""
    kind = values.dtype
    if kind.kind == "i" and values.min(initial=0) >= 0:
        kind = np.min_scalar_type(int(values.max(initial=0)))
    packed = np.ascontiguousarray(values, dtype=kind.newbyteorder("<"))
    return kind.name, base64.b64encode(packed.tobytes()).decode("ascii")


def _page(document: dict[str, Any], title: str, claim: str, banner: str) -> str:
    style = _part("page.css")
    script = "(() => {\n" + "\n".join(map(_part, SCRIPTS)) + "})();\n"
    # Without `<` nothing in the data can end its element or open a comment.
    data = json.dumps(document, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    parts = {
        "policy": f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}",
        "title": escape(title),
        "claim": f'<p class="claim">{escape(claim)}</p>' if claim else "",
        "banner": banner,
        "style": style,
        "data": data,
        "script": script,
    }
    # In one pass, so that a title cannot ask for another part.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _part("page.html"))


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _part(name: str) -> str:
    return files("sfumato.report.map").joinpath(name).read_text(encoding="utf-8")
