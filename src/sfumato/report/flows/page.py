"""The page of an evaluation of synthetic flows, and its files: each a function of one document."""

import base64
import math
from collections import Counter
from collections.abc import Callable
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
from sfumato.trials.document import to_json
from sfumato.trials.flows.comparison import FlowsDocument, RunEntry

BEST = {"lower": min, "higher": max}
DECIDED_BY_THE_PAGE = ("title", "width", "height", "padding")
"""Headings stand outside of charts there, and the place decides the size."""


def write(document: FlowsDocument, folder: str | Path, table: str) -> list[Path]:
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


def charts(document: FlowsDocument) -> dict[str, alt.LayerChart]:
    """Every chart that the document has the figures for, by the name of its place on the page."""
    found = {f"figure-{figure.number}": figure_chart(document, figure) for figure in document.figures}
    if document.drawn:
        found |= {f"sizes-{part}": sizes_chart(document, part) for part in PARTS}
        found["bins"] = bins_chart(document)
    if len({run.epsilon for run in document.runs} - {None}) > 1:
        found |= {f"sweep-{name}": sweep_chart(document, name) for name in document.sweep}
    return found


def page(document: FlowsDocument, drawn: dict[str, alt.LayerChart], drawings: dict[str, str]) -> str:
    """The text of the page: the charts' specifications, and the drawings shown where scripts do not run."""
    runs, unit = document.runs, UNITS[document.unit]
    shown = [next(run for run in runs if run.label == label) for label in document.drawn]
    headline = headline_measures(runs[0].evaluation.levels)
    return render_report(
        "flows",
        document,
        {
            "charts": {
                name: {key: value for key, value in chart.to_dict().items() if key not in DECIDED_BY_THE_PAGE}
                for name, chart in drawn.items()
            }
        },
        stills={
            name: f"data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}"
            for name, drawing in drawings.items()
        },
        unit_word=unit,
        short_text=f"{document.short:.4g} {unit}",
        counts=runs[0].evaluation.counts,
        parts=PARTS,
        figures=[
            (figure, figure_note(figure), evaluation_of(document, figure.run).counts) for figure in document.figures
        ],
        drawn=shown,
        columns=shown or runs[:1],
        distribution=DISTRIBUTION,
        size_styles={
            part: NumberStyle.of(unit, [row.error for run in runs for row in run.evaluation.sizes[part]])
            for part in PARTS
        },
        groups=_groups(document, headline),
        headline=headline,
        paper=any(run.paper for run in runs),
        repeated=any(run.repetitions > 1 for run in runs),
        styles=number_styles(document.measures, [run.measures for run in runs]),
        unit=format_unit,
    )


def _groups(document: FlowsDocument, headline: tuple[str, ...]) -> list[dict[str, Any]]:
    """The runs by what they promise, those that promise most first."""
    found: dict[tuple[float, ...], list[RunEntry]] = {}
    for run in document.runs:
        promised = tuple(math.inf if one is None else one for one in (run.epsilon, run.delta))
        found.setdefault(promised, []).append(run)
    better = {name: BEST[document.measures[name].direction] for name in headline}
    return [{"title": _promise(found[one][0]), "rows": _rows(found[one], better)} for one in sorted(found)]


def _promise(run: RunEntry) -> str:
    if run.epsilon is None:
        return "No guarantee"
    return f"ε = {run.epsilon:g}" + (f", {format_delta(run.delta)}" if run.delta is not None else "")


def _rows(runs: list[RunEntry], better: dict[str, Callable[..., Any]]) -> list[dict[str, Any]]:
    """Runs that promise the same, each with the measures in which it is the best of several."""
    values = {name: [run.measures[name] for run in runs if run.measures[name] is not None] for name in better}
    best = {name: better[name](found) for name, found in values.items() if found and len(runs) > 1}
    options = Counter(run.options for run in runs)
    return [
        {
            "label": (options[run.options] == 1 and run.options) or run.label,
            "run": run,
            "best": [name for name, value in best.items() if run.measures[name] == value],
        }
        for run in runs
    ]
