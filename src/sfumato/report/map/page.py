"""The map: one page that shows, for any destination, where its people come from.

The page needs no network and no other file. It is made of public knowledge (places and outlines) and the synthetic
flows alone; only when the original is given, for the publisher's own comparison, does it hold more, and says so.
"""

from collections.abc import Mapping
from typing import Any, Literal

from sfumato.data.flows import Flows
from sfumato.data.places import KILOMETRES
from sfumato.errors import ParameterError
from sfumato.report.map.outlines import parse_outlines
from sfumato.report.map.points import REACHES, gather_points, pack_flows, pack_outlines, pack_points
from sfumato.report.shell import render

TITLE = "Where people come from"
BANNER = ("Contains original data:", "for the publisher’s eyes only; do not publish.")
LOOK = "a map of the original"
SCRIPTS = ("data.js", "view.js", "density.js", "paint.js", "panel.js", "legend.js", "search.js", "page.js")


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

    With `original` the page is the publisher's copy: it also holds the original and must not be published, and the
    original knows that it was shown.
    """
    if unit not in KILOMETRES:
        raise ParameterError(f"the unit of distance is {unit!r}; expected one of {', '.join(sorted(KILOMETRES))}")
    copies = {"synthetic": synthetic} | ({"original": original} if original is not None else {})
    if original is not None and not synthetic.places.ids.equals(original.places.ids):
        raise ParameterError("the synthetic and the original flows are about different places")
    if original is not None:
        original.note_look(LOOK)
    points = gather_points(synthetic.places, by, list(copies.values()))
    data = {
        "unit": unit,
        "kilometres": KILOMETRES[unit],
        "reaches": REACHES,
        "kind": by or "place",
        "centre": points.centre,
        "points": pack_points(points),
        "outlines": pack_outlines(parse_outlines(outlines), points) if outlines is not None else None,
        "flows": {name: pack_flows(flows, points, KILOMETRES[unit]) for name, flows in copies.items()},
    }
    return render(
        "map/page.html.j2",
        sheets=("base.css", "map/page.css"),
        scripts=[f"map/{name}" for name in SCRIPTS],
        data={"data": data},
        title=title,
        claim=claim,
        banner=BANNER if original is not None else None,
    )
