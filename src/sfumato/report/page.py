"""The report as one page that needs nothing else: no network, no other file, no server.

The browser is told so too: a content security policy lets it load nothing and run only the two scripts whose
digests it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from sfumato.report import points
from sfumato.report.charts import draw, frontier_chart
from sfumato.report.numbers import NumberStyle, interval, is_percent, plain, styles, unit

FAMILIES = {"privacy": "Privacy", "utility": "Utility", "shape": "Shape of the release"}
LIMITS = {"max_": "at most", "min_": "at least"}


def render(document: dict[str, Any]) -> str:
    """The report as the text of one HTML file."""
    libraries, script = _libraries(), _part("page.js")
    chart = frontier_chart(document, *document["default_pair"])
    return _environment().get_template("template.html.j2").render(
        **_views(document),
        document=document,
        policy=_policy(libraries, script),
        stylesheet=Markup(_part("page.css")),
        libraries=Markup(libraries),
        script=Markup(script),
        frontier_json=_embedded(document),
        chart_json=_embedded(_chart_parts(document, chart.to_dict())),
        still=Markup(draw(chart, "svg").decode()),
    )  # fmt: skip


def _views(document: dict[str, Any]) -> dict[str, Any]:
    """What the template shows that is not in the document word for word."""
    style = styles(document)
    privacy, utility = document["default_pair"]
    efficient = set(document["efficient"].get(f"{privacy}|{utility}", ()))
    rows = {row["id"]: row for row in points.trial_rows(document)}
    return {
        "rows": rows,
        "trials": sorted(document["trials"], key=lambda trial: (not rows[trial["id"]]["recommended"], trial["id"] not in efficient)),
        "about": points.axes(document),
        "hints": points.HINTS,
        "families": {family: points.measures_of(document, family) for family in FAMILIES},
        "family_titles": FAMILIES,
        "main": points.main_measures(document),
        "pair": {"x": privacy, "y": utility},
        "shown": len(points.pair_rows(document, privacy, utility)),
        "efficient": efficient,
        "recommended": _recommended(document),
        "cards": _cards(document, style),
        "constraints": _constraints(document),
        "commonest": max(document["table"]["sensitive_shares"], key=lambda pair: pair[1], default=None),
        "numbers": style,
        "unit": unit,
        "plain": plain,
        "range_text": range_text,
        "created": created_text(document["created"]),
    }


def _recommended(document: dict[str, Any]) -> dict[str, Any] | None:
    chosen = points.recommended_trial(document)
    return next((trial for trial in document["trials"] if trial["id"] == chosen), None)


def _cards(document: dict[str, Any], style: dict[str, NumberStyle]) -> list[dict[str, Any]]:
    """The figures of the recommendation, ready to be read."""
    trial = _recommended(document)
    spread = (trial or {}).get("intervals") or {}
    cards = []
    for figure in (document["recommendation"] or {}).get("figures", []):
        name = figure["measure"]
        measure = document["measures"][name]
        cards.append(
            figure
            | {
                "title": measure["title"],
                "hint": points.HINTS[measure["direction"]],
                "text": style[name].text(figure["value"]),
                "unit": unit(measure),
                "interval": interval(style[name], spread.get(name)),
            }
        )
    return cards


def _constraints(document: dict[str, Any]) -> list[str]:
    """The limits that the publisher set, in words."""
    found = []
    for key, limit in ((document["recommendation"] or {}).get("constraints") or {}).items():
        name = key[4:]
        measure = document["measures"].get(name)
        if key[:4] not in LIMITS or measure is None:
            found.append(f"{key} = {limit}")
            continue
        after = "" if is_percent(measure) else f" {unit(measure)}"
        found.append(f"{measure['title'].lower()} {LIMITS[key[:4]]} {plain(limit, measure)}{after}")
    return found


def range_text(measure: dict[str, Any]) -> str:
    """The values a measure can take, in words."""
    low, high = measure["range"]
    if low is None:
        return "any number" if high is None else f"up to {plain(high, measure)}"
    return f"{plain(low, measure)} or more" if high is None else f"{plain(low, measure)} to {plain(high, measure)}"


def created_text(created: str) -> str:
    """A moment as people write it: 15 November 2026, 20:00 UTC."""
    moment = datetime.fromisoformat(created)
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".strip()


def _chart_parts(document: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """What the page needs to draw the chart for any pair: the template, and what goes into it."""
    return {
        "spec": {key: value for key, value in spec.items() if key not in ("datasets", "title", "width", "height")},
        "rows": points.trial_rows(document),
        "axes": points.axes(document),
        "main": points.main_measures(document),
    }


def _embedded(value: Any) -> Markup:
    """JSON inside a script element: without `<` nothing in it can end the element or open a comment."""
    return Markup(json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))


def _policy(*scripts: str) -> str:
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


def _part(name: str) -> str:
    return files("sfumato.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed, in a scope of their own."""
    return f"(() => {{{vl_convert.javascript_bundle()}\n}})();"


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_part),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
