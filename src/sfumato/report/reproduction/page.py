"""The pages of a reproduction and its files: what the papers state first, then a page for each paper."""

import base64
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from sfumato.report.charts import draw_png, draw_svg
from sfumato.report.files import write_files
from sfumato.report.reproduction.charts import format_setting, format_value, panel_chart
from sfumato.report.reproduction.document import (
    VERDICTS,
    ExperimentEntry,
    PaperEntry,
    Reproduction,
    Row,
    StatementEntry,
)
from sfumato.report.shell import render_report
from sfumato.trials.document import to_json

BANNER = ("May be published.", "Measured on public data sets; nothing here is about a table of yours.")
DECIDED_BY_THE_PAGE = ("title", "width", "height", "padding")
"""Headings stand outside of charts there, and the place decides the size."""
TOGETHER = "together"
"""The experiments that compare the methods of all papers; the first page shows them."""


def write(document: Reproduction, folder: Path) -> list[Path]:
    """Write `index.html`, a page for each paper, and for each figure its chart and its rows."""
    drawings: dict[str, str] = {}
    specs: dict[str, dict[str, Any]] = {}
    written: list[Path] = []
    for paper in document.papers:
        contents: dict[str, str | bytes] = {f"{one.name}.csv": row_table(one.rows) for one in paper.experiments}
        for name, chart in _charts(paper).items():
            place = f"{paper.name}/{name}"
            drawings[place], specs[place] = draw_svg(chart), chart.to_dict()
            contents |= {f"{name}.svg": drawings[place], f"{name}.png": draw_png(chart)}
        written += write_files(folder / paper.name, contents)
    pages: dict[str, str | bytes] = {
        "index.html": page(document, document.papers, specs, drawings),
        "statements.csv": statement_table(document.statements),
        "reproduction.json": to_json(document),
    }
    pages |= {f"{paper.name}.html": page(document, [paper], specs, drawings) for paper in document.papers}
    return [*write_files(folder, pages), *written]


def _charts(paper: PaperEntry) -> dict[str, alt.LayerChart]:
    """The chart of every panel that has rows."""
    return {
        panel.name: panel_chart(panel, list(one.rows), f"{one.command}; {one.runs:,} runs")
        for one in paper.experiments
        for panel in one.panels
        if any(panel.shows(row) for row in one.rows)
    }


def page(
    document: Reproduction, papers: Sequence[PaperEntry], specs: dict[str, dict[str, Any]], drawings: dict[str, str]
) -> str:
    """The text of a page: the statements of some papers, and the figures of one, or those that compare all."""
    alone = papers[0] if len(papers) == 1 else None
    shown = alone or next((paper for paper in papers if paper.name == TOGETHER), None)
    prefix = f"{shown.name}/" if shown else ""
    places = {place: spec for place, spec in specs.items() if shown and place.startswith(prefix)}
    return render_report(
        "reproduction",
        document,
        {
            "charts": {
                place: {key: value for key, value in spec.items() if key not in DECIDED_BY_THE_PAGE}
                for place, spec in places.items()
            }
        },
        BANNER,
        stills={place: _embedded(drawings[place]) for place in places},
        papers=papers,
        alone=alone,
        shown=shown,
        verdicts=VERDICTS,
        statements=[one for paper in papers for one in paper.statements],
        setting=format_setting,
        value=lambda row, name: format_value(row.values.get(name, "–"), row.intervals.get(name)),
        measures=measures_of,
    )


def _embedded(drawing: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}"


def measures_of(experiment: ExperimentEntry) -> list[str]:
    """The values that rows of an experiment have, in order."""
    return list(dict.fromkeys(name for row in experiment.rows for name in row.values))


def row_table(rows: Sequence[Row]) -> str:
    """Rows as comma-separated values: series, setting, then each value with the ends of its interval."""
    settings = list(dict.fromkeys(name for row in rows for name in row.setting))
    values = list(dict.fromkeys(name for row in rows for name in row.values))
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    heads = [head for name in values for head in (name, f"{name}_low", f"{name}_high")]
    lines.writerow(["series", *settings, *heads, "seeds", "seconds"])
    for row in rows:
        cells: list[Any] = [row.series, *(row.setting.get(name) for name in settings)]
        for name in values:
            cells += [row.values.get(name), *row.intervals.get(name, (None, None))]
        lines.writerow([*cells, row.seeds, round(row.seconds, 3)])
    return text.getvalue()


def statement_table(statements: Sequence[StatementEntry]) -> str:
    """Every statement as a line of comma-separated values."""
    text = io.StringIO()
    fields = ("paper", "place", "says", "printed", "measured", "verdict", "why", "command")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(fields)
    lines.writerows([getattr(one, field) for field in fields] for one in statements)
    return text.getvalue()
