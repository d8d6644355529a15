"""The report of a frontier as one page that needs nothing else, and its files."""

import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import altair as alt
from markupsafe import Markup

from sfumato.methods import Method
from sfumato.report.charts import draw_png, draw_svg
from sfumato.report.files import write_files
from sfumato.report.frontier import points
from sfumato.report.frontier.chart import frontier_chart
from sfumato.report.numbers import format_unit, number_styles, plain
from sfumato.report.shell import BANNER, render_report
from sfumato.trials.document import FrontierDocument, MeasureEntry, to_json
from sfumato.trials.frontier import Frontier, frontier_document
from sfumato.trials.recommendation import Recommendation

FAMILIES = {"privacy": "Privacy", "utility": "Utility", "shape": "Shape of the release"}
MAX_CARDS_IN_A_ROW = 5
PILOT_BANNER = (
    "May be published.",
    "This report was computed on a synthetic table under differential privacy, the pilot, and on nothing else.",
)
COLUMNS = ("id", "label", "method", "series", "recoding", "claim")


def write_report(
    frontier: Frontier,
    folder: str | Path,
    recommendation: Recommendation | None = None,
    *,
    command: Callable[[Method], str] | None = None,
) -> list[Path]:
    """Write the report of a frontier, its chart and its tables into a folder, for the publisher's eyes.

    With a `command` for each method, the report says how every release is published.

    >>> front = sf.frontier(table, [sf.Mondrian(k=5)])
    >>> written = sf.write_report(front, "report")
    """
    return write(frontier_document(frontier, recommendation or frontier.recommend(), command), folder)


def write(document: FrontierDocument, folder: str | Path) -> list[Path]:
    """Write `report.html`, `frontier.json`, `frontier.csv`, `frontier.png` and `frontier.svg` into the folder."""
    text, chart = to_json(document), frontier_chart(document, *document.default_pair)
    drawing = draw_svg(chart)
    contents: dict[str, str | bytes] = {
        "report.html": page(document, chart, drawing),
        "frontier.json": text,
        "frontier.csv": trial_table(document),
        "frontier.png": draw_png(chart),
        "frontier.svg": drawing,
    }
    return write_files(folder, contents)


def page(document: FrontierDocument, chart: alt.LayerChart, drawing: str) -> str:
    """The text of the page: what the browser draws the chart from, and the drawing shown where scripts do not run."""
    rows, axes, main = points.trial_rows(document), points.axes(document), points.main_measures(document)
    spec = {key: value for key, value in chart.to_dict().items() if key not in ("datasets", "title", "width", "height")}
    parts = {"spec": spec, "rows": rows, "axes": axes, "main": main}
    privacy, utility = document.default_pair
    efficient = points.efficient_trials(document, privacy, utility)
    chosen = points.recommended_id(document)
    cards = len(document.recommendation.figures) if document.recommendation else 0
    return render_report(
        "frontier",
        document,
        {"frontier": asdict(document), "chart-parts": parts},
        PILOT_BANNER if document.pilot else BANNER,
        scripts=("labels.js", "families.js", "page.js"),
        still=Markup(drawing),
        rows={row["id"]: row for row in rows},
        trials=sorted(document.trials, key=lambda trial: (trial.id != chosen, trial.id not in efficient)),
        about=axes,
        families={family: points.measures_of(document, family) for family in FAMILIES},
        family_titles=FAMILIES,
        kinds={kind: title for kind, title in points.FAMILY_TITLES.items() if _several(rows, kind)},
        main=main,
        pair={"x": privacy, "y": utility},
        shown=len(points.pair_rows(document, privacy, utility)),
        efficient=efficient,
        recommended=next((trial for trial in document.trials if trial.id == chosen), None),
        commands={trial.id: trial.command for trial in document.trials},
        cards_in_a_row=math.ceil(cards / max(math.ceil(cards / MAX_CARDS_IN_A_ROW), 1)),
        form=next((points.form_of(row) for row in rows if row["recommended"]), None),
        out_of_the_running=any(not (row["eligible"] or row["endpoint"]) for row in rows),
        repeated=any(trial.intervals for trial in document.trials),
        sampled=any(trial.intervals for trial in document.trials if trial.endpoint),
        commonest=max(document.table.sensitive_shares, key=lambda pair: pair[1], default=None),
        styles=number_styles(document.measures, [trial.measures for trial in document.trials]),
        unit=format_unit,
        plain=plain,
        format_limit=format_limit,
        format_range=format_range,
    )


def _several(rows: list[dict[str, Any]], kind: str) -> bool:
    """Whether a family of methods has releases besides the end points."""
    return any(row["family"] == kind and not row["endpoint"] for row in rows)


def format_limit(measure: MeasureEntry, limit: float) -> str:
    """An upper limit that the publisher set, in words."""
    return f"{measure.title.lower()} at most {plain(limit, measure.unit)}"


def format_range(measure: MeasureEntry) -> str:
    """The values a measure can take, in words."""
    low, high = (None if end is None else plain(end, measure.unit) for end in measure.range)
    if low is None:
        return "any number" if high is None else f"up to {high}"
    return f"{low} or more" if high is None else f"{low} to {high}"


def trial_table(document: FrontierDocument) -> str:
    """Every trial as a line of comma-separated values: what it is, how it was chosen, then all measures."""
    efficient = points.efficient_trials(document, *document.default_pair)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    flags = ("endpoint", "efficient", "recommended")
    lines.writerow([*COLUMNS, *flags, "seconds", "parameters", *document.measures])
    for trial in document.trials:
        is_so = (trial.endpoint, trial.id in efficient, trial.id == points.recommended_id(document))
        about = (trial.id, trial.label, trial.method, trial.series, trial.recoding, trial.claim)
        more = (*(str(flag).lower() for flag in is_so), trial.seconds, json.dumps(trial.parameters, ensure_ascii=False))
        lines.writerow([*about, *more, *(trial.measures.get(name) for name in document.measures)])
    return text.getvalue()
