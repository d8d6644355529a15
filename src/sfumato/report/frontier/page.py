"""The report of a frontier as one page that needs nothing else, and its files."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import altair as alt
from markupsafe import Markup

from sfumato.report.charts import draw
from sfumato.report.files import write_files
from sfumato.report.frontier import points
from sfumato.report.frontier.chart import frontier_chart
from sfumato.report.numbers import HINTS, NumberStyle, format_unit, is_percent, number_styles, plain
from sfumato.report.shell import render_report
from sfumato.trials.document import MeasureEntry
from sfumato.trials.frontier import Frontier
from sfumato.trials.frontier_document import FrontierDocument
from sfumato.trials.recommendation import Recommendation

FAMILIES = {"privacy": "Privacy", "utility": "Utility", "shape": "Shape of the release"}
LIMITS = {"max_": "at most", "min_": "at least", "": "at most"}
MAX_CARDS_IN_A_ROW = 5
COLUMNS = ("id", "label", "method", "series", "recoding", "claim", "endpoint")


def write_report(frontier: Frontier, folder: str | Path, recommendation: Recommendation | None = None) -> list[Path]:
    """Write the report of a frontier, its chart and its tables into a folder, for the publisher's eyes.

    >>> front = sf.frontier(table, [sf.Mondrian(k=5)])
    >>> written = sf.write_report(front, "report")
    """
    return write(FrontierDocument.of(frontier, recommendation or frontier.recommend()), folder)


def write(document: FrontierDocument, folder: str | Path) -> list[Path]:
    """Write `report.html`, `frontier.json`, `frontier.csv`, `frontier.png` and `frontier.svg` into the folder."""
    chart = frontier_chart(document, *document.default_pair)
    drawing = draw(chart, "svg")
    contents: dict[str, str | bytes] = {
        "report.html": compose(document, chart, drawing),
        "frontier.json": document.json(),
        "frontier.csv": trial_table(document),
        "frontier.png": draw(chart, "png"),
        "frontier.svg": drawing,
    }
    return write_files(folder, contents)


def page(document: FrontierDocument) -> str:
    """The report as the text of one HTML file."""
    chart = frontier_chart(document, *document.default_pair)
    return compose(document, chart, draw(chart, "svg"))


def compose(document: FrontierDocument, chart: alt.LayerChart, drawing: bytes) -> str:
    """The page around a chart: what the browser draws it from, and the drawing shown where scripts do not run."""
    rows, axes, main = points.trial_rows(document), points.axes(document), points.main_measures(document)
    spec = {key: value for key, value in chart.to_dict().items() if key not in ("datasets", "title", "width", "height")}
    parts = {"spec": spec, "rows": rows, "axes": axes, "main": main}
    styles = number_styles(document.measures, [trial.measures for trial in document.trials])
    cards = _cards(document, styles)
    privacy, utility = document.default_pair
    efficient = document.efficient_trials(privacy, utility)
    chosen = document.recommended
    return render_report(
        "frontier",
        document,
        {"frontier": document.spec(), "chart-parts": parts},
        still=Markup(drawing.decode()),
        rows={row["id"]: row for row in rows},
        trials=sorted(document.trials, key=lambda trial: (trial is not chosen, trial.id not in efficient)),
        about=axes,
        families={family: points.measures_of(document, family) for family in FAMILIES},
        family_titles=FAMILIES,
        main=main,
        pair={"x": privacy, "y": utility},
        shown=len(points.pair_rows(document, privacy, utility)),
        efficient=efficient,
        recommended=chosen,
        cards=cards,
        cards_in_a_row=math.ceil(len(cards) / max(math.ceil(len(cards) / MAX_CARDS_IN_A_ROW), 1)),
        constraints=_constraints(document),
        repeated=any(trial.intervals for trial in document.trials),
        commonest=max(document.table.sensitive_shares, key=lambda pair: pair[1], default=None),
        styles=styles,
        unit=format_unit,
        plain=plain,
        format_range=format_range,
    )


def _cards(document: FrontierDocument, styles: dict[str, NumberStyle]) -> list[dict[str, Any]]:
    """The figures of the recommendation, ready to be read."""
    intervals = document.recommended.intervals if document.recommended else {}
    cards = []
    for figure in document.recommendation.figures if document.recommendation else ():
        measure, style = document.measures[figure.measure], styles[figure.measure]
        cards.append(
            {
                "figure": figure,
                "title": measure.title,
                "hint": HINTS[measure.direction],
                "text": style.text(figure.value),
                "unit": format_unit(measure.unit),
                "interval": style.interval(intervals.get(figure.measure)),
            }
        )
    return cards


def _constraints(document: FrontierDocument) -> list[str]:
    """The limits that the publisher set, in words; a bare name is an upper limit."""
    found = []
    for key, limit in (document.recommendation.constraints if document.recommendation else {}).items():
        prefix = next((prefix for prefix in LIMITS if prefix and key.startswith(prefix)), "")
        measure = document.measures[key.removeprefix(prefix)]
        after = "" if is_percent(measure.unit) else f" {format_unit(measure.unit)}"
        found.append(f"{measure.title.lower()} {LIMITS[prefix]} {plain(limit, measure.unit)}{after}")
    return found


def format_range(measure: MeasureEntry) -> str:
    """The values a measure can take, in words."""
    low, high = (None if end is None else plain(end, measure.unit) for end in measure.range)
    if low is None:
        return "any number" if high is None else f"up to {high}"
    return f"{low} or more" if high is None else f"{low} to {high}"


def trial_table(document: FrontierDocument) -> str:
    """Every trial as a line of comma-separated values: what it is, how it was chosen, then all measures."""
    efficient, recommended = document.efficient_trials(*document.default_pair), document.recommended
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*COLUMNS, "efficient", "recommended", "seconds", "parameters", *document.measures])
    for trial in document.trials:
        about = [getattr(trial, column) for column in COLUMNS] + [trial.id in efficient, trial is recommended]
        cells = [str(value).lower() if isinstance(value, bool) else value for value in about]
        parameters = json.dumps(trial.parameters, ensure_ascii=False)
        lines.writerow([*cells, trial.seconds, parameters, *(trial.measures.get(name) for name in document.measures)])
    return text.getvalue()
