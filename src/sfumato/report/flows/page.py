"""The page of an evaluation of synthetic flows, and its files: each a function of one document."""

import base64
import math
from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import altair as alt

from sfumato.measures.flows.measures import DISTRIBUTION, UNITS, headline_measures
from sfumato.report.charts import draw_png, draw_svg
from sfumato.report.files import write_files
from sfumato.report.flows.charts import PARTS, bins_chart, evaluation_of, figure_chart, figure_note, sizes_chart
from sfumato.report.flows.sweep import format_delta, sweep_chart
from sfumato.report.numbers import NumberStyle, format_unit, number_styles
from sfumato.report.shell import render_report
from sfumato.trials.document import Document, to_json

BEST = {"lower": min, "higher": max}
DECIDED_BY_THE_PAGE = ("title", "width", "height", "padding")
"""Headings stand outside of charts there, and the place decides the size."""


def write(document: Document, folder: str | Path, table: str) -> list[Path]:
    """Write `report.html`, `evaluation.json`, `evaluation.csv` (the table given) and every figure as PNG and SVG."""
    drawn = charts(document)
    drawings = {name: draw_svg(chart) for name, chart in drawn.items()}
    contents: dict[str, str | bytes] = {
        "report.html": page(document, drawn, drawings),
        "evaluation.json": to_json(document),
        "evaluation.csv": table,
    }
    for name in (name for name in drawn if name.startswith("figure-")):
        contents |= {f"{name}.png": draw_png(drawn[name]), f"{name}.svg": drawings[name]}
    return write_files(folder, contents, replaced="figure-[0-9].[ps][nv]g")


def charts(document: Document) -> dict[str, alt.LayerChart]:
    """Every chart that the document has the figures for, by the name of its place on the page."""
    found = {f"figure-{figure['number']}": figure_chart(document, figure) for figure in document["figures"]}
    if document["drawn"]:
        found |= {f"sizes-{part}": sizes_chart(document, part) for part in PARTS}
        found["bins"] = bins_chart(document)
    if len({run["epsilon"] for run in document["runs"]} - {None}) > 1:
        found |= {f"sweep-{name}": sweep_chart(document, name) for name in document["sweep"]}
    return found


def page(document: Document, drawn: dict[str, alt.LayerChart], drawings: dict[str, str]) -> str:
    """The text of the page: the charts' specifications, and the drawings shown where scripts do not run."""
    specs = {name: chart.to_dict() for name, chart in drawn.items()}
    runs, unit = document["runs"], UNITS[document["unit"]]
    shown = [next(run for run in runs if run["label"] == label) for label in document["drawn"]]
    headline = headline_measures(runs[0]["evaluation"]["levels"])
    return render_report(
        "flows",
        document,
        {
            "charts": {
                name: {key: value for key, value in spec.items() if key not in DECIDED_BY_THE_PAGE}
                for name, spec in specs.items()
            }
        },
        stills={
            name: f"data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}"
            for name, drawing in drawings.items()
        },
        unit_word=unit,
        short_text=f"{document['short']:.4g} {unit}",
        counts=runs[0]["evaluation"]["counts"],
        parts=PARTS,
        figures=[
            (figure, figure_note(figure), evaluation_of(document, figure["run"])["counts"])
            for figure in document["figures"]
        ],
        drawn=shown,
        columns=shown or runs[:1],
        distribution=DISTRIBUTION,
        size_styles={
            part: NumberStyle.of(unit, [row["error"] for run in runs for row in run["evaluation"]["sizes"][part]])
            for part in PARTS
        },
        groups=_groups(document, headline),
        headline=headline,
        paper=any(run["paper"] for run in runs),
        repeated=any(run["repetitions"] > 1 for run in runs),
        styles=number_styles(document),
        unit=format_unit,
    )


def _groups(document: Document, headline: tuple[str, ...]) -> list[dict[str, Any]]:
    """The runs by what they promise, those that promise most first."""
    found: dict[tuple[float, ...], list[dict[str, Any]]] = {}
    for run in document["runs"]:
        promised = tuple(math.inf if run[name] is None else run[name] for name in ("epsilon", "delta"))
        found.setdefault(promised, []).append(run)
    better = {name: BEST[document["measures"][name]["direction"]] for name in headline}
    return [
        {"title": _promise(runs[0]), "rows": _rows(runs, better)}
        for _, runs in sorted(found.items(), key=itemgetter(0))
    ]


def _promise(run: dict[str, Any]) -> str:
    if run["epsilon"] is None:
        return "No guarantee"
    return f"ε = {run['epsilon']:g}" + (f", {format_delta(run['delta'])}" if run["delta"] is not None else "")


def _rows(runs: list[dict[str, Any]], better: dict[str, Callable[..., Any]]) -> list[dict[str, Any]]:
    """Runs that promise the same, each with the measures in which it is the best of several."""
    values = {name: [run["measures"][name] for run in runs if run["measures"][name] is not None] for name in better}
    best = {name: better[name](found) for name, found in values.items() if found and len(runs) > 1}
    options = Counter(run["options"] for run in runs)
    return [
        {
            "label": (options[run["options"]] == 1 and run["options"]) or run["label"],
            "run": run,
            "best": [name for name, value in best.items() if run["measures"][name] == value],
        }
        for run in runs
    ]
