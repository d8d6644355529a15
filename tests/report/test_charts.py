"""The chart: what is in its specification, and that it can be drawn to files."""

from __future__ import annotations

import struct
from typing import Any
from xml.etree import ElementTree

import pytest

from sfumato.errors import ParameterError
from sfumato.report.charts import PALETTE, draw_png, draw_svg
from sfumato.report.frontier.chart import frontier_chart

from .document import frontier_document, typed

SVG = "{http://www.w3.org/2000/svg}"
TEXT = f"{SVG}text"


def layer(spec: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in spec["layer"] if one.get("name") == name)


def test_every_layer_is_on_the_same_axes(document: dict[str, Any]) -> None:
    spec = frontier_chart(typed(document), "breach", "query_error").to_dict()
    for axis, title in (
        ("x", "Breach increase (ratio), lower is better"),
        ("y", "Median query error (relative error), lower is better"),
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
    assert list(colours.values())[1:] == list(PALETTE[:5])


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
