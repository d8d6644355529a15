"""What more epsilon and other options buy: a measure of every run against epsilon."""

import math
from typing import Any, Literal

import altair as alt

from sfumato.report.charts import HALO, INK, tooltip
from sfumato.report.flows.charts import DASH_LEGEND, RUN_COLOURS, colours, data, label_legend, layer, run_colours
from sfumato.report.numbers import HINTS, axis_format, axis_unit, number_styles
from sfumato.trials.flows.comparison import FlowsDocument

SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def sweep_chart(document: FlowsDocument, name: str) -> alt.LayerChart:
    """A line for each choice of options and delta, the paper's setting ringed."""
    measure = document.measures[name]
    rows = _rows(document, name)
    x = alt.X(
        "epsilon:Q",
        title="ε",
        scale=alt.Scale(type="log", nice=False, padding=18),
        axis=alt.Axis(values=sorted({row["epsilon"] for row in rows}), format="~g", labelOverlap="greedy"),
    )
    y = alt.Y(
        "value:Q",
        title=axis_unit(measure.unit).capitalize(),
        scale=alt.Scale(zero=False, nice=True),
        axis=alt.Axis(format=axis_format(measure.unit)),
    )
    chosen = option_colours(document)
    base = data(rows).encode(x=x, y=y, color=colours(chosen, "options"))
    spread = base.transform_filter("isValid(datum.low)").encode(y=alt.Y("low:Q"), y2="high:Q")
    fields = {"label": "title", "options": "Options", "epsilon": "ε", "delta": "δ", "text": measure.title}
    points = base.mark_point(filled=True, size=70, opacity=1).encode(shape=_symbols(chosen), tooltip=tooltip(fields))
    ring = data(rows).transform_filter("datum.paper").encode(x=x, y=y)
    drawn = [
        *([spread.mark_rule(opacity=0.5, strokeWidth=1.5)] if any(row["low"] is not None for row in rows) else []),
        base.mark_line(strokeWidth=2).encode(strokeDash=_dashes(rows), detail="delta:N"),
        points.properties(name="runs"),
        ring.mark_point(size=260, stroke=INK, strokeWidth=2, filled=False).properties(name="paper"),
        *_ring_notes(rows, x, y),
    ]
    return layer(drawn, f"{measure.title}, {HINTS[measure.direction]}")


def option_colours(document: FlowsDocument) -> dict[str, str]:
    """The colour of every choice of options: that of the first drawn run with them, else one still free."""
    options = {run.label: run.options for run in document.runs}
    taken: dict[str, str] = {}
    for label, colour in run_colours(document).items():
        taken.setdefault(options[label], colour)
    others = dict.fromkeys(one for one in options.values() if one not in taken)
    free = [colour for colour in RUN_COLOURS if colour not in taken.values()] or list(RUN_COLOURS)
    chosen = taken | {one: free[i % len(free)] for i, one in enumerate(others)}
    return {run.options: chosen[run.options] for run in document.runs if run.epsilon}


def format_delta(delta: float | None) -> str:
    """A small probability as people write it."""
    return "no δ" if delta is None else f"δ = {delta:g}".replace("e-0", "e−").replace("e-", "e−")


def _rows(document: FlowsDocument, name: str) -> list[dict[str, Any]]:
    style = number_styles(document.measures, [run.measures for run in document.runs])[name]
    rows = []
    for run in document.runs:
        value, bounds = run.measures[name], run.intervals.get(name)
        if run.epsilon and value is not None:
            low, high = bounds or (None, None)
            about = {"label": run.label, "options": run.options, "epsilon": run.epsilon, "paper": run.paper}
            told = {"delta": format_delta(run.delta), "text": style.with_interval(value, bounds)}
            rows.append(about | told | {"value": value, "low": low, "high": high})
    return rows


def _symbols(options: dict[str, str]) -> alt.Shape:
    """Options are told apart without colour too."""
    scale = alt.Scale(domain=list(options), range=[SYMBOLS[i % len(SYMBOLS)] for i in range(len(options))])
    return alt.Shape("options:N", scale=scale, title=None, legend=label_legend(options))


def _dashes(rows: list[dict[str, Any]]) -> alt.StrokeDash:
    deltas = list(dict.fromkeys(row["delta"] for row in rows))
    scale = alt.Scale(domain=deltas, range=[DASHES[i % len(DASHES)] for i in range(len(deltas))])
    return alt.StrokeDash("delta:N", scale=scale, title=None, legend=DASH_LEGEND if len(deltas) > 1 else None)


def _ring_notes(rows: list[dict[str, Any]], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The ring in words, on the side of it where there is room."""
    sizes = [math.log(row["epsilon"]) for row in rows]
    middle = (min(sizes, default=0) + max(sizes, default=0)) / 2
    sides: tuple[tuple[bool, Literal["left", "right"], int], ...] = ((False, "left", 15), (True, "right", -15))
    notes = []
    for late, align, dx in sides:
        ringed = [row for row in rows if row["paper"] and (math.log(row["epsilon"]) > middle) == late]
        for paint in HALO if ringed else ():
            words = data(ringed).mark_text(align=align, dx=dx, dy=-13, fontSize=12, fontWeight=600, **paint)
            notes.append(words.encode(x=x, y=y, text=alt.value("the paper’s setting")))
    return notes
