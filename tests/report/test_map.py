"""The page of the map as text: what it holds, what it must not hold, and the outlines it accepts."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from html import unescape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.errors import DataError, ParameterError
from sfumato.report.map.outlines import read_outlines
from sfumato.report.map.page import BANNER, SCRIPTS, draw_map
from sfumato.report.map.points import REACHES

if TYPE_CHECKING:
    from pathlib import Path

NASTY = '</script><b onclick="harmed = 1">&amp;<!--{{data}}'
SIDE = 16
STEP = 0.01
"""Degrees between neighbours of the grid, about a kilometre."""
CORNER = (41.0, -71.0)
BLOCK = 4


def grid() -> Places:
    """16 x 16 places in 4 x 4 regions, each region with an area name that two regions share."""
    rows, columns = np.divmod(np.arange(SIDE * SIDE), SIDE)
    region = [f"r{row}{column}" for row, column in zip(rows // BLOCK, columns // BLOCK, strict=True)]
    return Places.read(
        pl.DataFrame(
            {
                "id": [f"p{row:02}{column:02}" for row, column in zip(rows, columns, strict=True)],
                "latitude": CORNER[0] + STEP * rows,
                "longitude": CORNER[1] + STEP * columns,
                "region": region,
                "area": [f"Area {name[1]} of {int(name[2]) // 2}" for name in region],
            }
        )
    )


def grid_flows(seed: int, places: Places) -> Flows:
    """Flows to half of the places from near and far, and from outside."""
    random = np.random.default_rng(seed)
    goes_to = random.choice(np.arange(0, len(places), 2), size=6000, p=_uneven(len(places) // 2))
    comes_from = (goes_to + random.integers(-40, 40, size=6000)) % len(places)
    comes_from[random.random(6000) < 0.05] = len(places)
    return Flows.of_pairs(places, goes_to, comes_from, random.integers(1, 30, size=6000))


def _uneven(size: int) -> Any:
    weights = 1 / np.arange(1.0, size + 1)
    return weights / weights.sum()


def squares() -> dict[str, Any]:
    """The outlines of the regions of the grid, with the southernmost row left out."""
    features = []
    for row in range(1, SIDE // BLOCK):
        for column in range(SIDE // BLOCK):
            south, west = CORNER[0] + STEP * (BLOCK * row - 0.5), CORNER[1] + STEP * (BLOCK * column - 0.5)
            north, east = south + BLOCK * STEP, west + BLOCK * STEP
            ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
            geometry = {"type": "Polygon", "coordinates": [ring]}
            features.append({"type": "Feature", "properties": {"code": f"r{row}{column}"}, "geometry": geometry})
    return {"type": "FeatureCollection", "features": features}


def reshuffled(flows: Flows, seed: int = 5) -> Flows:
    """A stand-in for a synthetic copy: destinations keep their people, and a third of all people swap homes."""
    random = np.random.default_rng(seed)
    homes = np.repeat(flows.origins, flows.counts)
    swapped = random.random(len(homes)) < 1 / 3
    homes[swapped] = random.permutation(homes[swapped])
    works = np.repeat(flows.destination_of_pair, flows.counts)
    return Flows.of_pairs(flows.places, works, homes, np.ones(len(homes), dtype=np.int64))


def counts_by(flows: Flows, by: str | None) -> dict[tuple[str, str], int]:
    """People by destination and origin, the slow way."""
    labels = [*(flows.places.regions[by] if by else flows.places.ids), "outside"]
    found: dict[tuple[str, str], int] = {}
    for to, origin, count in zip(flows.destination_of_pair, flows.origins, flows.counts, strict=True):
        pair = (labels[to], labels[origin])
        found[pair] = found.get(pair, 0) + int(count)
    return found


def kilometres(places: Places, one: int, other: int) -> float:
    """The haversine, place by place."""
    (a, b), (c, d) = (
        (math.radians(places.latitude[place]), math.radians(places.longitude[place])) for place in (one, other)
    )
    square = math.sin((a - c) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((b - d) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(square))


def figures_by(flows: Flows, by: str | None, unit: float) -> dict[str, dict[str, float]]:
    """Of every destination the people, those from known places, their mean distance, and how many come from within."""
    labels = flows.places.regions[by] if by else flows.places.ids
    found: dict[str, dict[str, Any]] = {}
    for to, origin, count in zip(flows.destination_of_pair, flows.origins, flows.counts, strict=True):
        one = found.setdefault(labels[int(to)], {"people": 0, "known": 0, "sum": 0.0, "near": [0] * len(REACHES)})
        one["people"] += int(count)
        if origin < len(flows.places):
            far = kilometres(flows.places, int(to), int(origin)) / unit
            one["known"] += int(count)
            one["sum"] += count * far
            one["near"] = [near + int(count) * (far <= reach) for near, reach in zip(one["near"], REACHES, strict=True)]
    return found


def unpacked(part: list[str]) -> Any:
    return np.frombuffer(base64.b64decode(part[1]), dtype=np.dtype(part[0]).newbyteorder("<"))


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def flows_of(data: dict[str, Any], copy: str) -> dict[tuple[str, str], int]:
    names = [*data["points"]["names"], "outside"]
    flows = {key: unpacked(value) for key, value in data["flows"][copy].items()}
    to = np.repeat(flows["destinations"], np.diff(flows["start"].astype(np.int64)))
    return {
        (names[one], names[other]): int(count)
        for one, other, count in zip(to, flows["origins"], flows["counts"], strict=True)
    }


@pytest.fixture(scope="module")
def places() -> Places:
    return grid()


@pytest.fixture(scope="module")
def original(places: Places) -> Flows:
    return grid_flows(1, places)


@pytest.fixture(scope="module")
def synthetic(original: Flows) -> Flows:
    return reshuffled(original)


@pytest.mark.parametrize("by", [None, "region"])
def test_the_page_holds_the_flows(synthetic: Flows, original: Flows, by: str | None) -> None:
    data = data_of(draw_map(synthetic, by=by, original=original))
    assert flows_of(data, "synthetic") == counts_by(synthetic, by)
    assert flows_of(data, "original") == counts_by(original, by)
    assert flows_of(data, "synthetic") != counts_by(original, by)


@pytest.mark.parametrize("by", [None, "region"])
@pytest.mark.parametrize(("unit", "length"), [("km", 1.0), ("mi", 1.609344)])
def test_figures_come_from_the_distances_between_places(
    synthetic: Flows, by: str | None, unit: Any, length: float
) -> None:
    data = data_of(draw_map(synthetic, by=by, unit=unit))
    flows = {key: unpacked(value) for key, value in data["flows"]["synthetic"].items()}
    expected = figures_by(synthetic, by, length)
    names = [data["points"]["names"][point] for point in flows["destinations"]]
    assert set(names) == set(expected)
    assert flows["known"].tolist() == [expected[name]["known"] for name in names]
    assert flows["near"].reshape(len(names), -1).tolist() == [expected[name]["near"] for name in names]
    assert flows["distance"] == pytest.approx([expected[name]["sum"] for name in names], rel=1e-5)
    assert (data["unit"], data["kilometres"]) == (unit, length)


def test_a_region_lies_at_the_mean_of_all_its_places(places: Places) -> None:
    flows = Flows.of_pairs(places, np.array([0, 17]), np.array([1, len(places)]), np.array([3, 4]))
    data = data_of(draw_map(flows, by="region"))
    east, north = data["centre"]
    assert data["points"]["names"] == ["r00"]
    assert unpacked(data["points"]["latitude"])[0] + north == pytest.approx(CORNER[0] + 1.5 * STEP)
    assert unpacked(data["points"]["longitude"])[0] + east == pytest.approx(CORNER[1] + 1.5 * STEP)
    assert flows_of(data, "synthetic") == {("r00", "r00"): 3, ("r00", "outside"): 4}


def test_points_say_which_larger_area_they_lie_in(places: Places, synthetic: Flows) -> None:
    for by, column in ((None, "region"), ("region", "area")):
        points = data_of(draw_map(synthetic, by=by))["points"]
        areas = [points["areas"][code] for code in unpacked(points["area"])]
        regions = dict(zip(places.regions[by] if by else places.ids, places.regions[column], strict=True))
        assert areas == [regions[name] for name in points["names"]]
    assert data_of(draw_map(synthetic, by="area"))["points"]["areas"] == []


def test_an_area_across_the_180th_meridian_stays_whole() -> None:
    frame = pl.DataFrame({"id": ["a", "b", "c"], "latitude": [-17.0] * 3, "longitude": [179.9, -179.9, 179.8]})
    flows = Flows.of_pairs(Places.read(frame), np.array([0, 1]), np.array([1, 2]), np.array([1, 1]))
    ring = [[179.8, -17], [-179.8, -17], [-179.8, -18], [179.8, -18]]
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}}
    data = data_of(draw_map(flows, outlines={"type": "FeatureCollection", "features": [feature]}))
    assert np.ptp(unpacked(data["points"]["longitude"])) == pytest.approx(0.3, abs=1e-4)
    assert np.ptp(unpacked(data["outlines"]["longitude"])) == pytest.approx(0.4, abs=1e-4)


def test_a_published_map_holds_nothing_of_the_original(places: Places) -> None:
    synthetic = Flows.of_pairs(places, np.array([0, 2]), np.array([1, len(places)]), np.array([11, 12]))
    before = draw_map(synthetic, by="region", outlines=squares())
    secret = Flows.of_pairs(places, np.array([255, 0]), np.array([254, 1]), np.array([7_654_321, 9]))
    kept = draw_map(synthetic, by=None, original=secret)
    assert {"p1515", "p1514"} <= set(data_of(kept)["points"]["names"])
    assert flows_of(data_of(kept), "original") == {("p1515", "p1514"): 7_654_321, ("p0000", "p0001"): 9}
    published = draw_map(synthetic)
    assert data_of(published)["points"]["names"] == ["p0000", "p0001", "p0002"]
    assert list(data_of(published)["flows"]) == ["synthetic"]
    assert flows_of(data_of(published), "synthetic") == {("p0000", "p0001"): 11, ("p0002", "outside"): 12}
    assert all(word not in published for word in ("p1515", "p1514", "7654321", *BANNER))
    assert base64.b64encode(np.array([7_654_321], dtype="<u4").tobytes()).decode()[:5] not in published
    assert draw_map(synthetic, by="region", outlines=squares()) == before
    other = Flows.of_pairs(places, synthetic.destinations[::-1], synthetic.origins[::-1], synthetic.counts[::-1])
    assert draw_map(other, by="region", outlines=squares()) == before


def test_only_the_publishers_copy_has_the_banner(synthetic: Flows, original: Flows) -> None:
    words = "Contains original data: for the publisher’s eyes only; do not publish."
    assert words in re.sub("<[^>]*>", "", draw_map(synthetic, original=original))
    assert "publisher" not in draw_map(synthetic)


def test_titles_and_names_are_inert(places: Places) -> None:
    frame = pl.DataFrame({"id": [NASTY, "b"], "latitude": [1.0, 2.0], "longitude": [3.0, 4.0], "town": [NASTY, "<!--"]})
    flows = Flows.of_pairs(Places.read(frame), np.array([0]), np.array([1]), np.array([5]))
    page = draw_map(flows, title=NASTY, claim=f"claim {NASTY}")
    assert page.count("</script>") == page.count("<script") == 2
    assert "<!--" not in page
    assert "<b onclick" not in page
    assert data_of(page)["points"]["names"] == [NASTY, "b"]
    heading = re.search("<h1>(.*?)</h1>", page)
    assert heading
    assert unescape(heading[1]) == NASTY
    assert "<h1>Where people come from</h1>" in draw_map(flows)
    assert 'class="claim"' not in draw_map(flows).replace('<noscript><p class="claim">', "")


def test_the_page_allows_its_own_script_and_style_and_nothing_else(synthetic: Flows) -> None:
    page = draw_map(synthetic, outlines=squares())
    policy = re.search('http-equiv="Content-Security-Policy" content="(.*?)"', page)
    style, script = (re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for tag in ("style", "script"))
    assert policy
    assert style
    assert script
    style_digest, script_digest = (
        base64.b64encode(hashlib.sha256(part[1].encode()).digest()).decode() for part in (style, script)
    )
    assert policy[1] == f"default-src 'none'; script-src 'sha256-{script_digest}'; style-src 'sha256-{style_digest}'"
    outside_data = page.replace(json.dumps(data_of(page), separators=(",", ":")), "")
    assert re.findall(r'\b(?:src|href|style|on\w+)="|url\(|https?:|@import|\bfetch\(', outside_data) == []
    assert set(SCRIPTS) == {path.name for path in files("sfumato.report.map").iterdir() if path.name.endswith(".js")}


def test_nobody_going_anywhere_is_still_a_page(places: Places) -> None:
    nobody = np.array([], dtype=np.int64)
    data = data_of(draw_map(Flows.of_pairs(places, nobody, nobody, nobody), by="region", outlines=squares()))
    assert data["points"]["names"] == []
    assert set(unpacked(data["outlines"]["points"]).tolist()) == {-1}


def test_wrong_parameters_are_refused_in_a_sentence(synthetic: Flows) -> None:
    with pytest.raises(ParameterError, match="the unit of distance is 'yd'; expected one of km, mi"):
        draw_map(synthetic, unit="yd")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="there are no regions 'county'"):
        draw_map(synthetic, by="county")
    other = Places.read(pl.DataFrame({"id": ["x"], "latitude": [0.0], "longitude": [0.0]}))
    stranger = Flows.of_pairs(other, np.array([0]), np.array([0]), np.array([1]))
    with pytest.raises(ParameterError, match="about different places"):
        draw_map(synthetic, original=stranger)


def shape(properties: Any, *rings: Any, kind: str = "Polygon") -> dict[str, Any]:
    coordinates = list(rings) or [[[0, 0], [1, 0], [1, 1], [0, 0]]]
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


def collection(*features: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features)}


def matched(features: list[dict[str, Any]], regions: list[str]) -> list[str | None]:
    """The region that the page gives each shape."""
    frame = pl.DataFrame(
        {
            "id": [str(number) for number in range(len(regions))],
            "latitude": [0.5] * len(regions),
            "longitude": [0.5] * len(regions),
            "region": regions,
        }
    )
    codes = np.arange(len(regions))
    flows = Flows.of_pairs(Places.read(frame), codes, codes, codes + 1)
    data = data_of(draw_map(flows, by="region", outlines=collection(*features)))
    names = data["points"]["names"]
    return [names[code] if code >= 0 else None for code in unpacked(data["outlines"]["points"])]


def test_outlines_are_matched_by_the_property_that_names_most_regions() -> None:
    features = [shape({"name": "7", "code": "a"}), shape({"name": "x", "code": "b"}), shape({"name": "a", "code": "7"})]
    assert matched(features, ["a", "b", "7", "8"]) == ["a", "b", "7"]
    assert matched([shape({"geoid": 7}), shape({"geoid": 8.0}), shape({"geoid": True}), shape(None)], ["7", "8"]) == [
        "7",
        "8",
        None,
        None,
    ]
    assert matched([shape({"code": "a"}), shape({"code": "a"})], ["a"]) == ["a", "a"]
    assert matched([shape({"code": "z"})], ["a"]) == [None]


def test_rings_of_all_polygons_are_kept(synthetic: Flows) -> None:
    hole = [[[0, 0], [9, 0], [9, 9], [0, 0]], [[1, 1], [2, 1], [2, 2], [1, 1]]]
    many = shape({}, hole, [[[20, 0, 5], [21, 0, 5], [21, 1, 5]]], kind="MultiPolygon")
    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [0, 0]}}
    outlines = data_of(draw_map(synthetic, outlines=collection(point, many, shape({}))))["outlines"]
    assert unpacked(outlines["rings"]).tolist() == [3, 1]
    assert unpacked(outlines["corners"]).tolist() == [4, 4, 3, 4]
    assert len(unpacked(outlines["longitude"])) == 15


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"not valid JSON \(Expecting property name"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "this is 'list'; expected a GeoJSON object of type 'FeatureCollection'"),
        (json.dumps(shape({})), "this is 'Feature'; expected a GeoJSON object of type 'FeatureCollection'"),
        ('{"type": "FeatureCollection"}', "'features' is NoneType; expected a list"),
        (json.dumps(collection()), "none of its 0 features is a Polygon or MultiPolygon"),
        (json.dumps(collection(None, {"geometry": None}, shape({}, kind="Point"))), "none of its 3 features is a Pol"),
        (json.dumps(collection(shape({}), shape({}, [[1, 2], [3, 91], [5, 6]]))), "feature 2: a latitude is 91; exp"),
        (json.dumps(collection(shape({}, [[1, 2], [-200.5, 0], [5, 6]]))), "feature 1: a longitude is -200.5; "),
        (json.dumps(collection(shape({}, [[1, 2], [3, 4], [math.nan, 6]]))), "feature 1: a longitude is nan; expected"),
        (json.dumps(collection(shape({}, [[1, 2], [3, 4]]))), "a ring has 2 positions; expected at least 3"),
        (json.dumps(collection(shape({}, [1, 2, 3]))), "coordinates are not those of a Polygon, lists of rings"),
        (json.dumps(collection(shape({}, [[1], [2], [3]]))), "coordinates are not those of a Polygon, lists of rings"),
        (json.dumps(collection(shape({}, [["a", "b"]] * 4))), "coordinates are not those of a Polygon, lists of rings"),
        (json.dumps(collection(shape({}, 5, kind="MultiPolygon"))), "not those of a MultiPolygon, lists of rings"),
    ],
)
def test_unusable_outlines_are_refused_in_a_sentence(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "shapes.geojson"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        read_outlines(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_files_that_cannot_be_read_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        read_outlines(tmp_path / "none.geojson")
    with pytest.raises(DataError, match="cannot be read as UTF-8 text"):
        read_outlines(tmp_path)
    (tmp_path / "bytes.geojson").write_bytes(b"\xff\xfe\xfa\x00\x01")
    with pytest.raises(DataError, match="cannot be read as UTF-8 text"):
        read_outlines(tmp_path / "bytes.geojson")


def test_outlines_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "good.geojson").write_text(json.dumps(squares()), encoding="utf-8")
    assert read_outlines(tmp_path / "good.geojson") == squares()


@pytest.fixture(scope="session")
def rhode_island(data_folder: Path) -> tuple[Flows, dict[str, Any]]:
    """The commuters of Rhode Island by block, and the outlines of its tracts."""
    folder = data_folder / "commute"
    if not folder.is_dir():
        pytest.skip(f"the commuters of Rhode Island are not at {folder}")
    places = Places.read(folder / "ri_blocks.csv.gz")
    return Flows.read(folder / "ri_od_2019.csv.gz", places), read_outlines(folder / "ri_tracts.geojson")


def test_rhode_island_fits_into_small_pages(rhode_island: tuple[Flows, dict[str, Any]]) -> None:
    flows, outlines = rhode_island
    tracts = draw_map(reshuffled(flows), outlines=outlines, by="tract", original=flows)
    assert len(tracts.encode()) < 2.5e6
    data = data_of(tracts)
    assert len(unpacked(data["flows"]["original"]["counts"])) == 41_636
    assert len(unpacked(data["outlines"]["points"])) == 243
    assert len(set(unpacked(data["outlines"]["points"]).tolist()) - {-1}) == 241
    assert len(draw_map(reshuffled(flows), outlines=outlines, original=flows).encode()) < 12e6
