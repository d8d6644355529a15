"""The files of a report. All are drawn before the first is written, and each appears whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from sfumato.files import place
from sfumato.release.description import refuse_inside_release
from sfumato.report.charts import draw, frontier_chart
from sfumato.report.page import compose
from sfumato.report.points import recommended_trial

COLUMNS = ("id", "label", "method", "series", "recoding", "claim", "endpoint")


def write_all(document: dict[str, Any], folder: str | Path) -> list[Path]:
    """Write the report of the document into the folder, and return the paths written."""
    chart = frontier_chart(document, *document["default_pair"])
    drawing = draw(chart, "svg")
    contents = {
        "report.html": compose(document, chart.to_dict(), drawing.decode()).encode(),
        "frontier.json": (json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode(),
        "frontier.csv": trial_table(document).encode(),
        "frontier.png": draw(chart, "png"),
        "frontier.svg": drawing,
    }
    folder = Path(folder)
    refuse_inside_release(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [place(folder / name, content) for name, content in contents.items()]


def trial_table(document: dict[str, Any]) -> str:
    """Every trial as a line of comma-separated values: what it is, how it was chosen, then all measures."""
    efficient = set(document["efficient"].get("|".join(document["default_pair"]), ()))
    recommended = recommended_trial(document)
    names = list(document["measures"])
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*COLUMNS, "efficient", "recommended", "seconds", "parameters", *names])
    for trial in document["trials"]:
        chosen = [trial["id"] in efficient, trial["id"] == recommended]
        about = [*(trial[column] for column in COLUMNS), *chosen]
        parameters = json.dumps(trial["parameters"], ensure_ascii=False)
        values = [trial["measures"].get(name) for name in names]
        lines.writerow([*map(_cell, about), trial["seconds"], parameters, *values])
    return text.getvalue()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
