"""The charts of an evaluation of synthetic flows: each a function of the document, for a file and for the page.

The original is grey everywhere; a run keeps its colour from chart to chart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import cycle, pairwise
from typing import Any

import altair as alt

from sfumato.measures.flows.measures import UNITS
from sfumato.report.charts import PALETTE, QUIET, style, tooltip
from sfumato.trials.flows.comparison import EvaluationEntry, Figure, FlowsDocument

PARTS = {"all": "all commutes", "short": "short commutes"}
ERRORS = {"error": "mean absolute error", "bias": "bias"}
ORIGINAL, SYNTHETIC = "original", "synthetic"
WORKERS = "Workers of the destination"
GREY = "#6b7780"
RUN_COLOURS = (PALETTE[1], PALETTE[0], *PALETTE[2:])
DASH_LEGEND = alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolSize=500, orient="bottom")
LONG_LABEL = 32
LEGEND = {"symbolSize": 80, "symbolOpacity": 1, "labelLimit": 420, "orient": "top"}
SIZE = (560, 340)


def figure_chart(document: FlowsDocument, figure: Figure) -> alt.LayerChart:
    """Average distance of destinations by their number of workers, with the mean of each class of destinations."""
    run, part, unit = figure.run, figure.part, UNITS[document.unit]
    colour = colours({ORIGINAL: GREY, SYNTHETIC: run_colours(document)[run]})
    symbols = alt.Scale(domain=[ORIGINAL, SYNTHETIC], range=["circle", "triangle-up"])
    shape = alt.Shape("key:N", scale=symbols, title=None, legend=label_legend((ORIGINAL, SYNTHETIC)))
    ticks = alt.Axis(format=",d", values=[10**n for n in range(9)])
    x = alt.X("people:Q", scale=alt.Scale(type="log", domain=_people_domain(document)), title=WORKERS, axis=ticks)
    tall = alt.Scale(domain=[0, _tallest(document, part)], nice=True)
    y = alt.Y("value:Q", title=f"Average distance ({unit})", scale=tall)
    columns = figure.points
    points = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    classes = [asdict(row) for row in evaluation_of(document, run).sizes[part] if row.destinations]
    dots, line = (data(rows).transform_fold([ORIGINAL, SYNTHETIC]).encode(x=x, y=y) for rows in (points, classes))
    line = line.encode(order="people:Q", detail="key:N")
    words = {"destination": "title", "people": "Workers"}
    words |= {ORIGINAL: f"Original, {unit}", SYNTHETIC: f"Synthetic, {unit}"}
    drawn = [
        dots.mark_point(size=16, strokeWidth=1, opacity=0.5, filled=False)
        .encode(color=colour, shape=shape, tooltip=tooltip(words, people=",", original=".2f", synthetic=".2f"))
        .properties(name="destinations"),
        line.mark_line(color="white", strokeWidth=6),
        line.mark_line(strokeWidth=2.75).encode(color=colour),
        line.mark_point(size=70, filled=True, opacity=1, stroke="white").encode(color=colour, shape=shape),
    ]
    return layer(drawn, f"Figure {figure.number}. {run}, {PARTS[part]}", figure_note(figure))


def figure_note(figure: Figure) -> str:
    """Which destinations a figure shows."""
    shown, everything = len(figure.points["people"]), figure.destinations
    some = f"{shown:,} of {everything:,} destinations" if shown < everything else f"{everything:,} destinations"
    return f"{some}; the lines join the means of all of them by class of the number of workers."


def _people_domain(document: FlowsDocument) -> list[float]:
    most = max((people for figure in document.figures for people in figure.points["people"]), default=1)
    return [0.8, max(most * 1.2, 10)]


def _tallest(document: FlowsDocument, part: str) -> float:
    """The figures of all runs share one scale, so that they can be compared by eye."""
    points = [figure.points for figure in document.figures if figure.part == part]
    return max((value for one in points for side in (ORIGINAL, SYNTHETIC) for value in one[side]), default=0.0) or 1.0


def sizes_chart(document: FlowsDocument, part: str) -> alt.LayerChart:
    """Error and bias of the average distance by number of workers, for the drawn runs."""
    unit = UNITS[document.unit]
    order = [row.size for row in document.runs[0].evaluation.sizes[part]]
    rows = [
        asdict(row) | {"run": label, "kind": words, "value": getattr(row, kind)}
        for label in document.drawn
        for row in evaluation_of(document, label).sizes[part]
        if row.destinations
        for kind, words in ERRORS.items()
    ]
    dashes = alt.Scale(domain=list(ERRORS.values()), range=[[1, 0], [5, 3]])
    base = data(rows).encode(
        x=alt.X("size:O", sort=order, title=WORKERS, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title=f"Error of the average ({unit})"),
        color=colours(run_colours(document), "run"),
    )
    words = {"run": "title", "size": "Workers", "destinations": "Destinations", "kind": "What", "value": f"In {unit}"}
    about = tooltip(words, destinations=",", value=".3f")
    line = base.mark_line(strokeWidth=2)
    drawn = [
        data([{"zero": 0}]).mark_rule(color=QUIET).encode(y="zero:Q"),
        line.encode(strokeDash=alt.StrokeDash("kind:N", scale=dashes, title=None, legend=DASH_LEGEND)),
        base.mark_point(filled=True, size=55, opacity=1).encode(tooltip=about).properties(name="classes"),
    ]
    return layer(drawn, f"Error by number of workers, {PARTS[part]}")


def bins_chart(document: FlowsDocument) -> alt.LayerChart:
    """The distribution of distances: the original as bars as wide as their bins, the drawn runs as steps over them."""
    unit = UNITS[document.unit]
    bins = document.runs[0].evaluation.bins
    columns = {ORIGINAL: bins[ORIGINAL]}
    columns |= {label: evaluation_of(document, label).bins[SYNTHETIC] for label in document.drawn}
    original, *others = _steps(bins["from"], list(columns.values()))
    steps = [row | {"key": label} for label, rows in zip(document.drawn, others, strict=True) for row in rows]
    x = alt.X("start:Q", title=f"Distance ({unit})", scale=alt.Scale(nice=False))
    y = alt.Y("height:Q", title=f"Share of people per {unit.removesuffix('s')}", axis=alt.Axis(format="~%"))
    colour = colours({ORIGINAL: GREY} | run_colours(document))
    words = {"bin": "title"} | {f"share_{i}": f"{label}, of people" for i, label in enumerate(columns)}
    bars = data([row | {"key": ORIGINAL} for row in original[:-1]]).mark_rect(opacity=0.5, stroke="white")
    line = data(steps).mark_line(interpolate="step-after", strokeWidth=2.5)
    drawn = [
        bars.encode(x=x, x2="end:Q", y=y, y2=alt.datum(0), color=colour, tooltip=tooltip(words)).properties(
            name="bins"
        ),
        line.encode(x=x, y=y, color=colour),
    ]
    return layer(drawn, "How far people travel")


def _steps(starts: Sequence[float], columns: list[Sequence[int]]) -> list[list[dict[str, Any]]]:
    """The bins in use with the share of people per unit of distance; a last step closes each outline.

    The last bin of all has no end and is drawn as wide as the one before.
    """
    ends = [*starts[1:], 2 * starts[-1] - starts[-2]]
    labels = [*(f"{start:g}–{end:g}" for start, end in pairwise(starts)), f"{starts[-1]:g} or more"]
    used = max((i + 1 for people in columns for i, n in enumerate(people) if n), default=1)
    shares = [[n / max(sum(people), 1) for n in people] for people in columns]
    bins: list[dict[str, Any]] = [
        {"start": starts[i], "end": ends[i], "bin": labels[i]}
        | {f"share_{k}": f"{share[i]:.2%}" for k, share in enumerate(shares)}
        for i in range(used)
    ]
    return [
        [one | {"height": share[i] / (one["end"] - one["start"])} for i, one in enumerate(bins)]
        + [{"start": ends[used - 1], "height": 0.0}]
        for share in shares
    ]


def evaluation_of(document: FlowsDocument, label: str) -> EvaluationEntry:
    """The evaluation of the run with a label."""
    return next(run.evaluation for run in document.runs if run.label == label)


def run_colours(document: FlowsDocument) -> dict[str, str]:
    """The colour of every drawn run."""
    return dict(zip(document.drawn, cycle(RUN_COLOURS), strict=False))


def colours(chosen: dict[str, str], field: str = "key") -> alt.Color:
    """A colour for each value of a field."""
    scale = alt.Scale(domain=list(chosen), range=list(chosen.values()))
    return alt.Color(f"{field}:N", scale=scale, title=None, legend=label_legend(chosen))


def label_legend(labels: Iterable[str]) -> alt.Legend:
    """A legend of labels, below one another where some are long."""
    return alt.Legend(columns=1 if any(len(label) > LONG_LABEL for label in labels) else 2)


def data(rows: list[dict[str, Any]]) -> alt.Chart:
    """A chart of some rows, still without marks."""
    return alt.Chart(alt.InlineData(values=rows))


def layer(drawn: list[alt.Chart], title: str, *notes: str) -> alt.LayerChart:
    """Layers as one chart in the look of the report."""
    return style(alt.LayerChart(layer=drawn), SIZE, title, *notes, legend=LEGEND)
