"""The page of an evaluation of synthetic flows, and its files: each a function of one document."""

import base64
import math
from pathlib import Path
from typing import Any

import altair as alt

from sfumato.measures.flows.measures import DISTRIBUTION, UNITS, headline_measures
from sfumato.report.charts import draw
from sfumato.report.files import write_files
from sfumato.report.flows.charts import PARTS, bins_chart, figure_chart, figure_note, sizes_chart
from sfumato.report.flows.sweep import can_sweep, format_delta, sweep_chart
from sfumato.report.numbers import NumberStyle, format_unit, number_styles
from sfumato.report.shell import render_report
from sfumato.trials.flows.document import FlowsDocument, RunEntry

BEST = {"lower": min, "higher": max}


def charts(document: FlowsDocument) -> dict[str, alt.LayerChart]:
    """Every chart that the document has the figures for, by the name of its place on the page."""
    found = {f"figure-{figure.number}": figure_chart(document, figure) for figure in document.figures}
    if document.drawn:
        found |= {f"sizes-{part}": sizes_chart(document, part) for part in PARTS}
        found["bins"] = bins_chart(document)
    if can_sweep(document):
        found |= {f"sweep-{name}": sweep_chart(document, name) for name in document.sweep}
    return found


def page(document: FlowsDocument) -> str:
    """The evaluation as the text of one HTML file."""
    drawn = charts(document)
    return compose(document, drawn, {name: draw(chart, "svg") for name, chart in drawn.items()})


def write(document: FlowsDocument, folder: str | Path, table: str) -> list[Path]:
    """Write `report.html`, `evaluation.json`, `evaluation.csv` (the table given) and every figure as PNG and SVG."""
    drawn = charts(document)
    drawings = {name: draw(chart, "svg") for name, chart in drawn.items()}
    contents: dict[str, str | bytes] = {
        "report.html": compose(document, drawn, drawings),
        "evaluation.json": document.json(),
        "evaluation.csv": table,
    }
    for name in (name for name in drawn if name.startswith("figure-")):
        contents |= {f"{name}.png": draw(drawn[name], "png"), f"{name}.svg": drawings[name]}
    return write_files(folder, contents, replaced="figure-[0-9].[ps][nv]g")


def compose(document: FlowsDocument, drawn: dict[str, alt.LayerChart], drawings: dict[str, bytes]) -> str:
    """The page around the charts: their specifications, and the drawings shown where scripts do not run."""
    styles = number_styles(document.measures, [run.measures for run in document.runs])
    unit = UNITS[document.unit]
    first = document.runs[0].evaluation
    shown = [document.run(label) for label in document.drawn]
    headline = headline_measures(first.levels)
    return render_report(
        "flows",
        document,
        {"charts": {name: _bare(chart.to_dict()) for name, chart in drawn.items()}},
        stills={name: f"data:image/svg+xml;base64,{base64.b64encode(one).decode()}" for name, one in drawings.items()},
        unit_word=unit,
        short_text=f"{document.short:.4g} {unit}",
        counts=first.counts,
        parts=PARTS,
        figures=[
            (figure, figure_note(figure), document.run(figure.run).evaluation.counts) for figure in document.figures
        ],
        drawn=shown,
        columns=shown or document.runs[:1],
        distribution=DISTRIBUTION,
        size_styles={part: _size_style(document, part) for part in PARTS},
        groups=_groups(document, headline),
        headline=headline,
        paper=any(run.paper for run in document.runs),
        repeated=any(run.repetitions > 1 for run in document.runs),
        styles=styles,
        unit=format_unit,
    )


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """What the page draws: its headings stand outside, and the place decides the size."""
    return {key: value for key, value in spec.items() if key not in ("title", "width", "height", "padding")}


def _size_style(document: FlowsDocument, part: str) -> NumberStyle:
    rows = [row for run in document.runs for row in run.evaluation.sizes[part]]
    return NumberStyle.of(document.unit, [row.error for row in rows])


def _groups(document: FlowsDocument, headline: tuple[str, ...]) -> list[dict[str, Any]]:
    """The runs by what they promise, those that promise most first; in each group the best run of each measure."""
    found: dict[tuple[float, ...], list[RunEntry]] = {}
    for run in document.runs:
        promised = tuple(math.inf if one is None else one for one in (run.epsilon, run.delta))
        found.setdefault(promised, []).append(run)
    return [
        {"title": _promise(runs[0]), "rows": [_row(document, headline, run, runs) for run in runs]}
        for _, runs in sorted(found.items(), key=lambda item: item[0])
    ]


def _promise(run: RunEntry) -> str:
    if run.epsilon is None:
        return "No guarantee"
    return f"ε = {run.epsilon:g}" + (f", {format_delta(run.delta)}" if run.delta is not None else "")


def _row(document: FlowsDocument, headline: tuple[str, ...], run: RunEntry, rivals: list[RunEntry]) -> dict[str, Any]:
    best = set()
    for name in headline:
        better = BEST[document.measures[name].direction]
        values = [value for one in rivals if (value := one.measures[name]) is not None]
        if len(rivals) > 1 and values and run.measures[name] == better(values):
            best.add(name)
    alone = [one.options for one in rivals].count(run.options) == 1
    return {"label": (alone and run.options) or run.label, "run": run, "best": best}
