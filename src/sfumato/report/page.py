"""The report of a frontier as one page that needs nothing else."""

from __future__ import annotations

import math
from typing import Any

from markupsafe import Markup

from sfumato.report import points
from sfumato.report.charts import draw, frontier_chart
from sfumato.report.numbers import NumberStyle, interval, is_percent, plain, styles, unit
from sfumato.report.shell import created_text, embedded, environment, libraries, part, policy

FAMILIES = {"privacy": "Privacy", "utility": "Utility", "shape": "Shape of the release"}
LIMITS = {"max_": "at most", "min_": "at least", "": "at most"}
MOST_CARDS_IN_A_ROW = 5


def render(document: dict[str, Any]) -> str:
    """The report as the text of one HTML file."""
    chart = frontier_chart(document, *document["default_pair"])
    return compose(document, chart.to_dict(), draw(chart, "svg").decode())


def compose(document: dict[str, Any], spec: dict[str, Any], still: str) -> str:
    """The page around a chart: its specification, and the drawing shown where scripts do not run."""
    charting, script = libraries(), part("page.js")
    return (
        environment()
        .get_template("template.html.j2")
        .render(
            **_views(document),
            document=document,
            policy=policy(charting, script),
            stylesheet=Markup(part("page.css")),
            libraries=Markup(charting),
            script=Markup(script),
            frontier_json=embedded(document),
            chart_json=embedded(_chart_parts(document, spec)),
            still=Markup(still),
        )
    )


def _views(document: dict[str, Any]) -> dict[str, Any]:
    """What the template shows that is not in the document word for word."""
    style = styles(document)
    cards = _cards(document, style)
    privacy, utility = document["default_pair"]
    efficient = set(document["efficient"].get(f"{privacy}|{utility}", ()))
    chosen = points.recommended_trial(document)
    rows = {row["id"]: row for row in points.trial_rows(document)}
    return {
        "rows": rows,
        "trials": sorted(document["trials"], key=lambda trial: (trial["id"] != chosen, trial["id"] not in efficient)),
        "about": points.axes(document),
        "hints": points.HINTS,
        "families": {family: points.measures_of(document, family) for family in FAMILIES},
        "family_titles": FAMILIES,
        "main": points.main_measures(document),
        "pair": {"x": privacy, "y": utility},
        "shown": len(points.pair_rows(document, privacy, utility)),
        "efficient": efficient,
        "recommended": _recommended(document),
        "cards": cards,
        "cards_in_a_row": math.ceil(len(cards) / max(math.ceil(len(cards) / MOST_CARDS_IN_A_ROW), 1)),
        "constraints": _constraints(document),
        "repeated": any(trial.get("intervals") for trial in document["trials"]),
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
    """The limits that the publisher set, in words; a bare name is an upper limit."""
    found = []
    for key, limit in ((document["recommendation"] or {}).get("constraints") or {}).items():
        prefix = next((prefix for prefix in LIMITS if prefix and key.startswith(prefix)), "")
        measure = document["measures"][key.removeprefix(prefix)]
        after = "" if is_percent(measure) else f" {unit(measure)}"
        found.append(f"{measure['title'].lower()} {LIMITS[prefix]} {plain(limit, measure)}{after}")
    return found


def range_text(measure: dict[str, Any]) -> str:
    """The values a measure can take, in words."""
    low, high = measure["range"]
    if low is None:
        return "any number" if high is None else f"up to {plain(high, measure)}"
    return f"{plain(low, measure)} or more" if high is None else f"{plain(low, measure)} to {plain(high, measure)}"


def _chart_parts(document: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """What the page needs to draw the chart for any pair: the template, and what goes into it."""
    return {
        "spec": {key: value for key, value in spec.items() if key not in ("datasets", "title", "width", "height")},
        "rows": points.trial_rows(document),
        "axes": points.axes(document),
        "main": points.main_measures(document),
    }
