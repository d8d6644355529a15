"""The chart: what is in its specification, and that it can be drawn to files."""

from __future__ import annotations

import math
import struct
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest

from sfumato.errors import ParameterError
from sfumato.methods import METHODS
from sfumato.privacy.requirements import REQUIREMENTS
from sfumato.report.charts import PALETTE, draw_png, draw_svg
from sfumato.report.frontier.chart import COLOURED, FAINT, frontier_chart, series_colours

from .document import frontier_document, typed

SVG = "{http://www.w3.org/2000/svg}"
TEXT = f"{SVG}text"


def layer(spec: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in spec["layer"] if one.get("name") == name)


def test_every_layer_is_on_the_same_axes(document: dict[str, Any]) -> None:
    spec = frontier_chart(typed(document), "breach", "query_error").to_dict()
    for axis, title in (
        ("x", "Breach increase (%), lower is better"),
        ("y", "Median query error (%), lower is better"),
    ):
        channels = [one["encoding"][axis] for one in spec["layer"] if "field" in one["encoding"].get(axis, {})]
        assert len(channels) > 10
        assert {channel["title"] for channel in channels} == {title}


def test_series_have_their_own_colours_and_ends_are_ink(document: dict[str, Any]) -> None:
    scale = layer(frontier_chart(typed(document), "p_loss", "u_loss").to_dict(), "trials")["encoding"]["color"]["scale"]
    colours = dict(zip(scale["domain"], scale["range"], strict=True))
    assert list(colours) == [
        "end points",
        "differential privacy",
        "k-anonymity",
        "l-diversity",
        "t-closeness",
        "δ-disclosure",
    ]
    assert colours["end points"] not in PALETTE
    assert len(set(colours.values())) == len(colours)


def test_a_series_has_the_same_colour_in_every_report(document: dict[str, Any]) -> None:
    whole = series_colours(typed(document))
    known = [series for series in whole if series in REQUIREMENTS]
    assert len(known) >= 3
    for series in known:
        document["trials"] = [trial for trial in frontier_document()["trials"] if trial["series"] == series]
        assert series_colours(typed(document)) == {series: whole[series]}
    assert [whole[series] for series in known] == [PALETTE[COLOURED.index(series)] for series in known]


def test_whatever_is_drawn_beside_it_a_series_keeps_its_colour(document: dict[str, Any]) -> None:
    """Two that share a place in the palette would change colours with the company they are in."""
    names = [*REQUIREMENTS, *(name for name, kind in METHODS.items() if not kind.endpoint and name != "mondrian")]
    assert len(names) <= len(PALETTE)
    for order in (names, names[::-1], names[7:]):
        document["trials"] = [
            frontier_document()["trials"][5] | {"id": name, "series": name, "method": name} for name in order
        ]
        assert series_colours(typed(document)) == {name: PALETTE[names.index(name)] for name in order}


def lab(colour: str) -> tuple[float, float, float]:
    """CIE L*a*b* of an sRGB colour under D65."""
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue))
    tristimulus = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
    )
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in tristimulus)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_colours_differ() -> None:
    """By 20 in CIE76, where 2.3 is just noticeable; two blues that were once there together differ by less."""
    nearest = min(math.dist(lab(one), lab(other)) for one, other in combinations(PALETTE, 2))
    assert nearest >= 20
    assert math.dist(lab("#0072b2"), lab("#00538a")) < 20


def test_releases_that_are_not_recommended_are_faint(document: dict[str, Any]) -> None:
    document["trials"][5]["eligible"] = False
    made = typed(document)
    spec = frontier_chart(made, "p_loss", "u_loss").to_dict()
    conditions = layer(spec, "trials")["encoding"]["opacity"]["condition"]
    strength = {one["test"]["and"][1]: one["value"] for one in conditions}
    assert list(strength) == [
        f"datum.{flag}" for flag in ("efficient", "recommended", "endpoint", "eligible", "series")
    ]
    assert strength["datum.efficient"] > strength["datum.eligible"] > 2 * strength["datum.series"]
    assert FAINT in spec["title"]["subtitle"]
    document["trials"][5]["eligible"] = True
    assert FAINT not in frontier_chart(typed(document), "p_loss", "u_loss").to_dict()["title"]["subtitle"]


def test_more_series_than_colours_can_be_drawn(document: dict[str, Any]) -> None:
    for number, trial in enumerate(document["trials"]):
        trial["series"] = f"series {number}"
    scale = layer(frontier_chart(typed(document), "p_loss", "u_loss").to_dict(), "trials")["encoding"]["color"]["scale"]
    assert len(scale["range"]) == len(scale["domain"]) == len(document["trials"])


def test_measures_of_the_wrong_family_are_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="not a utility measure"):
        frontier_chart(typed(document), "p_loss", "breach")


def test_files_are_a_picture_and_a_drawing() -> None:
    chart = frontier_chart(typed(frontier_document(nasty=True)), "p_loss", "u_loss")
    head = draw_png(chart)[:24]
    width, height = struct.unpack(">II", head[16:24])
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert width > 1500
    assert height > 900
    drawing = ElementTree.fromstring(draw_svg(chart))
    written = " | ".join("".join(text.itertext()) for text in drawing.iter(TEXT))
    assert "Computed on the real data: for the publisher only, not to be published." in written
    for label in ("Original table", "Everything suppressed", "t-closeness", "generalized"):
        assert label in written
    assert {element.tag.removeprefix(SVG) for element in drawing.iter()} <= {
        "svg",
        "rect",
        "g",
        "path",
        "line",
        "text",
        "tspan",
        "defs",
        "clipPath",
    }
