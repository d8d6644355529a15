"""The page of an evaluation of synthetic flows, and its files: each a function of one document.

Like the report of a frontier it needs nothing else: no network, no other file, no server.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import altair as alt
from markupsafe import Markup

from sfumato.files import place
from sfumato.release.description import refuse_inside_release
from sfumato.report.charts import draw
from sfumato.report.commute_charts import PARTS, UNITS, bins_chart, figure_chart, figure_note, sizes_chart
from sfumato.report.commute_sweep import can_sweep, delta_text, sweep_chart
from sfumato.report.numbers import NumberStyle, interval, styles, unit
from sfumato.report.points import HINTS
from sfumato.report.shell import created_text, embedded, environment, libraries, part, policy

BEST = {"lower": min, "higher": max}


def charts(document: dict[str, Any]) -> dict[str, alt.LayerChart]:
    """Every chart that the document has the figures for, by the name of its place on the page."""
    found = {f"figure-{figure['number']}": figure_chart(document, figure) for figure in document["figures"]}
    if document["drawn"]:
        found |= {f"sizes-{part}": sizes_chart(document, part) for part in PARTS}
        found["bins"] = bins_chart(document)
    if can_sweep(document):
        found |= {f"sweep-{name}": sweep_chart(document, name) for name in document["sweep"]}
    return found


def page(document: dict[str, Any]) -> str:
    """The evaluation as the text of one HTML file."""
    drawn = charts(document)
    return compose(document, drawn, {name: draw(chart, "svg") for name, chart in drawn.items()})


def write(document: dict[str, Any], folder: str | Path, table: str) -> list[Path]:
    """Write `report.html`, `evaluation.json`, `evaluation.csv` (the table given) and every figure as PNG and SVG.

    All are drawn before the first is written, and each appears whole or not at all. Figures of an earlier evaluation
    in the same folder do not stay beside those of another.
    """
    folder = Path(folder)
    refuse_inside_release(folder)
    drawn = charts(document)
    drawings = {name: draw(chart, "svg") for name, chart in drawn.items()}
    contents = {
        "report.html": compose(document, drawn, drawings).encode(),
        "evaluation.json": (json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode(),
        "evaluation.csv": table.encode(),
    }
    for name in (name for name in drawn if name.startswith("figure-")):
        contents |= {f"{name}.png": draw(drawn[name], "png"), f"{name}.svg": drawings[name]}
    folder.mkdir(parents=True, exist_ok=True)
    written = [place(folder / name, content) for name, content in contents.items()]
    for earlier in (*folder.glob("figure-[0-9].png"), *folder.glob("figure-[0-9].svg")):
        if earlier not in written:
            earlier.unlink()
    return written


def compose(document: dict[str, Any], drawn: dict[str, alt.LayerChart], drawings: dict[str, bytes]) -> str:
    """The page around the charts: their specifications, and the drawings shown where scripts do not run."""
    charting, script = libraries(), part("commute.js")
    return (
        environment()
        .get_template("commute.html.j2")
        .render(
            **_views(document),
            document=document,
            policy=policy(charting, script),
            stylesheet=Markup(part("page.css") + part("commute.css")),
            libraries=Markup(charting),
            script=Markup(script),
            charts_json=embedded({name: _bare(chart.to_dict()) for name, chart in drawn.items()}),
            stills={name: _address(drawing) for name, drawing in drawings.items()},
        )
    )


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """What the page draws: its headings stand outside, and the place decides the size."""
    return {key: value for key, value in spec.items() if key not in ("title", "width", "height", "padding")}


def _address(drawing: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode()}"


def _views(document: dict[str, Any]) -> dict[str, Any]:
    """What the template shows that is not in the document word for word."""
    style = styles({"trials": document["runs"], "measures": document["measures"]})
    runs = {run["label"]: run for run in document["runs"]}
    first = document["runs"][0]["evaluation"]
    return {
        "unit_word": UNITS[document["unit"]],
        "short_text": f"{document['short']:.4g} {UNITS[document['unit']]}",
        "counts": first["counts"],
        "parts": PARTS,
        "figures": [figure | _caption(figure, runs[figure["run"]]) for figure in document["figures"]],
        "drawn": [runs[label] for label in document["drawn"]],
        "columns": [runs[label] for label in document["drawn"]] or document["runs"][:1],
        "size_style": {part: _size_style(document, part) for part in PARTS},
        "groups": _groups(document, style),
        "headline": headline(document),
        "paper": any(run["paper"] for run in document["runs"]),
        "repeated": any(run["repetitions"] > 1 for run in document["runs"]),
        "style": style,
        "interval": interval,
        "unit_of": unit,
        "hints": HINTS,
        "created": created_text(document["created"]),
    }


def headline(document: dict[str, Any]) -> list[str]:
    """The measures that options are compared by: those shown against epsilon, and the error of all distances."""
    return ["distance_error", *document["sweep"]]


def _caption(figure: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    counts, part = run["evaluation"]["counts"], figure["part"]
    return {"note": figure_note(figure), "left_out": counts["left_out"][part], "lost": counts["lost"][part]}


def _size_style(document: dict[str, Any], part: str) -> NumberStyle:
    rows = [row for run in document["runs"] for row in run["evaluation"]["sizes"][part]]
    return NumberStyle.of({"unit": document["unit"]}, [row["error"] for row in rows])


def _groups(document: dict[str, Any], style: dict[str, NumberStyle]) -> list[dict[str, Any]]:
    """The runs by what they promise, those that promise most first; in each group the best value of a measure."""
    found: dict[tuple[float, float], list[dict[str, Any]]] = {}
    for run in document["runs"]:
        epsilon, delta = run["epsilon"], run["delta"]
        key = (float("inf") if epsilon is None else epsilon, float("inf") if delta is None else delta)
        found.setdefault(key, []).append(run)
    return [
        {"title": _promise(runs[0]), "rows": [_row(document, style, run, runs) for run in runs]}
        for _, runs in sorted(found.items(), key=lambda item: item[0])
    ]


def _promise(run: dict[str, Any]) -> str:
    if run["epsilon"] is None:
        return "No guarantee"
    return f"ε = {run['epsilon']:g}" + (f", {delta_text(run['delta'])}" if run["delta"] is not None else "")


def _row(
    document: dict[str, Any], style: dict[str, NumberStyle], run: dict[str, Any], rivals: list[dict[str, Any]]
) -> dict[str, Any]:
    cells = []
    for name in headline(document):
        value = run["measures"][name]
        better = BEST[document["measures"][name]["direction"]]
        values = [one["measures"][name] for one in rivals if one["measures"][name] is not None]
        cells.append(
            {
                "text": style[name].text(value),
                "interval": interval(style[name], run["intervals"].get(name)),
                "best": len(rivals) > 1 and value is not None and value == better(values),
            }
        )
    alone = [one["options"] for one in rivals].count(run["options"]) == 1
    return {"label": (alone and run["options"]) or run["label"], "paper": run["paper"], "cells": cells}
