"""The frontier as a chart: every release by a privacy and a utility measure.

The same chart is written to files and, as a specification, drives the page: there the browser puts other points,
titles and reference values into it and changes nothing else. Fields have the same names for every pair of measures.
Two parameters of the chart, `x_lower` and `y_lower`, say whether lower values are better; notes are set on the side
they point to.
"""

from typing import Any

import altair as alt

from sfumato.report.charts import HALO, INK, PALETTE, QUIET, style, tooltip
from sfumato.report.frontier.points import axes, check_pair, extent, main_measures, marks_within, pair_rows
from sfumato.trials.document import FrontierDocument

SHAPES = {"generalized": "circle", "bucketized": "square", "noisy": "triangle-up", "other": "diamond"}
LEGEND = {"symbolSize": 90, "labelLimit": 240}
WIDTH, HEIGHT = 760, 460


def frontier_chart(document: FrontierDocument, privacy: str, utility: str) -> alt.LayerChart:
    """Every trial that has both measures; the efficient ones joined, the recommended one ringed."""
    check_pair(document, privacy, utility)
    about = axes(document)
    rows = pair_rows(document, privacy, utility)
    across, upwards = extent(rows, "x"), extent(rows, "y")
    x = _position(alt.X, "x", about[privacy], across)
    y = _position(alt.Y, "y", about[utility], upwards)
    datasets = {
        "trials": rows,
        "x_marks": marks_within(about[privacy]["scale"], *across),
        "y_marks": marks_within(about[utility]["scale"], *upwards),
    }
    drawn = [*_references(x, y), *_lines(x, y), _points(document, x, y, [privacy, utility]), *_notes(x, y)]
    ringed = " The ring marks the recommended release." if any(row["recommended"] for row in rows) else ""
    return style(
        alt.LayerChart(layer=drawn, datasets=datasets).add_params(
            alt.param(name="x_lower", value=about[privacy]["lower"]),
            alt.param(name="y_lower", value=about[utility]["lower"]),
        ),
        (WIDTH, HEIGHT),
        f"{len(rows)} releases of {document.table.name}, by privacy and utility",
        f"The line joins the efficient releases: no other is at least as good on both and better on one.{ringed}",
        legend=LEGEND,
    )


def _position(channel: Any, field: str, axis: dict[str, Any], extent: tuple[float, float]) -> Any:
    """The x or y channel of all layers."""
    return channel(
        f"{field}:Q",
        title=axis["title"],
        scale=alt.Scale(domain=list(extent), zero=False, nice=True),
        axis=alt.Axis(format=axis["format"], tickCount=7),
    )


def _references(x: Any, y: Any) -> list[alt.Chart]:
    """Light rules where a measure has a value with a known meaning, each with its meaning on the better side."""
    at_x, at_y = {"x": _at(x, "value")}, {"y": _at(y, "value")}
    rule: dict[str, Any] = {"color": QUIET, "opacity": 0.45, "strokeDash": [2, 4], "strokeWidth": 1}
    words: dict[str, Any] = {"color": QUIET, "fontSize": 11, "fontStyle": "italic"}
    upright = words | {
        "angle": 270,
        "align": alt.expr("y_lower ? 'left' : 'right'"),
        "dx": alt.expr("y_lower ? 20 : -20"),
        "limit": HEIGHT * 0.8,
    }
    early = _data("x_marks").mark_text(**upright, baseline="top", dy=4).transform_filter("!datum.late")
    late = _data("x_marks").mark_text(**upright, baseline="bottom", dy=-3).transform_filter("datum.late")
    side = alt.expr("x_lower ? 'left' : 'right'")
    level = _data("y_marks").mark_text(**words, baseline="bottom", dy=-3, limit=WIDTH * 0.5, align=side)
    foot = alt.value(alt.expr("y_lower ? height : 0"))
    start = alt.value(alt.expr("x_lower ? 6 : width - 6"))
    return [
        _data("x_marks").mark_rule(**rule).encode(**at_x).properties(name="x_rules"),
        _data("y_marks").mark_rule(**rule).encode(**at_y).properties(name="y_rules"),
        early.encode(**at_x, y=foot, text="text:N").properties(name="x_early_meanings"),
        late.encode(**at_x, y=foot, text="text:N").properties(name="x_late_meanings"),
        level.encode(**at_y, x=start, text="text:N").properties(name="y_meanings"),
    ]


def _lines(x: Any, y: Any) -> list[alt.Chart]:
    """The efficient releases, joined from left to right, and the intervals of repeated trials."""
    line = _data("trials").mark_line(color=INK, strokeWidth=1.5, opacity=0.75)
    bar = _data("trials").mark_rule(strokeWidth=1, opacity=0.3, color=QUIET)
    drawn = {
        "efficient": line.encode(x=x, y=y, order=alt.Order("x:Q")).transform_filter("datum.efficient"),
        "x_intervals": bar.encode(x=_at(x, "x_low"), x2="x_high:Q", y=y).transform_filter("isValid(datum.x_low)"),
        "y_intervals": bar.encode(x=x, y=_at(y, "y_low"), y2="y_high:Q").transform_filter("isValid(datum.y_low)"),
    }
    return [chart.properties(name=name) for name, chart in drawn.items()]


def _points(document: FrontierDocument, x: Any, y: Any, pair: list[str]) -> alt.Chart:
    """All trials; a click in the legend leaves one series in full colour."""
    picked = alt.selection_point(name="picked", fields=["series"], bind="legend")
    words = {"label": "title", "series": "Series", "parameters": "Parameters", "claim": "Claim"}
    shown = dict.fromkeys([*pair, *main_measures(document)])
    words |= {f"text.{name}": document.measures[name].title for name in shown}
    efficient = alt.datum.efficient
    faded, faint = alt.value(0.65), alt.value(0.08)
    drawn: alt.Chart = (
        _data("trials")
        .mark_point(filled=True, stroke="white", strokeWidth=0.75)
        .encode(
            x=x,
            y=y,
            color=_series_colour(document),
            shape=_recoding_shape(),
            size=alt.when(efficient).then(alt.value(105)).otherwise(alt.value(70)),
            opacity=alt.when(picked & efficient).then(alt.value(1)).when(picked).then(faded).otherwise(faint),
            tooltip=tooltip(words),
        )
        .add_params(picked)
    )
    return drawn.properties(name="trials")


def _notes(x: Any, y: Any) -> list[alt.Chart]:
    """The end points and the recommended release in words, the latter in a ring.

    No release is better than an efficient one on both measures, so the note of the recommended one is set on
    that empty side; where the chart ends there, on the opposite one. End points are noted above, towards the middle.
    """
    recommended = "x_lower ? datum.share * width > datum.room : (1 - datum.share) * width < datum.room"
    rise = "(x_lower == {} ? 8 : -24) * (y_lower ? 1 : -1)"
    ring = _data("trials").mark_point(shape="circle", size=420, stroke=INK, strokeWidth=2.25, filled=False)
    return [
        ring.encode(x=x, y=y).transform_filter("datum.recommended").properties(name="recommended"),
        *_note("recommended", x, y, only="datum.recommended", turned=recommended, rise=rise),
        *_note("end", x, y, only="datum.endpoint && !datum.recommended", turned="datum.share > 0.5", rise="-14"),
    ]


def _note(kind: str, x: Any, y: Any, *, only: str, turned: str, rise: str) -> list[alt.Chart]:
    """The notes of some trials: to the left of the point where it is `turned`, otherwise to the right."""
    drawn = []
    for is_turned, align, dx in (("true", "right", -15), ("false", "left", 15)):
        place: dict[str, Any] = {"align": align, "dx": dx, "dy": alt.expr(rise.format(is_turned)), "baseline": "middle"}
        for part, paint in zip(("halo", "note"), HALO, strict=True):
            drawn.append(
                _data("trials")
                .mark_text(**place, **paint, fontSize=12, fontWeight=600, lineBreak="\n", limit=330)
                .encode(x=x, y=y, text="note:N")
                .transform_joinaggregate(lowest="min(x)", highest="max(x)")
                .transform_calculate(share="(datum.x - datum.lowest) / max(datum.highest - datum.lowest, 1e-12)")
                .transform_filter(f"{only} && ({turned}) == {is_turned}")
                .properties(name=f"{kind}_{align}_{part}")
            )
    return drawn


def _series_colour(document: FrontierDocument) -> alt.Color:
    """One colour per series in the order they appear; series of end points alone are drawn in ink."""
    only_ends: dict[str, bool] = {}
    for trial in document.trials:
        only_ends[trial.series] = only_ends.get(trial.series, True) and trial.endpoint
    colours = iter(PALETTE * len(only_ends))
    scale = alt.Scale(domain=list(only_ends), range=[INK if ends else next(colours) for ends in only_ends.values()])
    return alt.Color("series:N", scale=scale, legend=alt.Legend(title="Series", symbolType="circle", symbolOpacity=1))


def _recoding_shape() -> alt.Shape:
    scale = alt.Scale(domain=list(SHAPES), range=list(SHAPES.values()))
    legend = alt.Legend(title="Recoding", symbolFillColor=QUIET, symbolStrokeColor=QUIET, symbolOpacity=1)
    return alt.Shape("recoding:N", scale=scale, legend=legend)


def _data(name: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name))


def _at(channel: Any, field: str) -> Any:
    """The same axis, read from another field."""
    moved = channel.copy(deep=True)
    moved.shorthand = f"{field}:Q"
    return moved
