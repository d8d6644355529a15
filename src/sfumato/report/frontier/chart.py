"""The frontier as a chart: every release by a privacy and a utility measure.

The same chart is written to files and, as a specification, drives the page: there the browser puts other points,
titles and reference values into it and changes nothing else. Fields have the same names for every pair of measures.
Two parameters of the chart, `x_lower` and `y_lower`, say whether lower values are better; notes are set on the side
they point to.
"""

from typing import Any

import altair as alt

from sfumato.methods import METHODS
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.privacy.requirements import REQUIREMENTS
from sfumato.report.charts import CAUTION, HALO, INK, PALETTE, QUIET, style, tooltip
from sfumato.report.frontier.labels import BESIDE, EDGE, curve_labels
from sfumato.report.frontier.points import axes, check_pair, main_measures, pair_rows, reference_marks
from sfumato.trials.document import FrontierDocument

SHAPES = {"generalized": "circle", "bucketized": "square", "noisy": "triangle-up", "other": "diamond"}
COLOURED = [*REQUIREMENTS, *(name for name, kind in METHODS.items() if not kind.endpoint and kind is not Mondrian)]
"""Series that have a colour of their own; those of Mondrian are named by what it requires."""
LEGEND = {"symbolSize": 90, "labelLimit": 240}
WIDTH, HEIGHT = 760, 460
AWAY = 10
"""How far axes stand from the place of marks, so that those at zero can be seen."""
FAINT = "Faint ones promise nothing, or show who is in the table: they are not recommended, whatever they reach."
PILOT = "Computed on a pilot, a synthetic table under differential privacy: may be published."


def frontier_chart(document: FrontierDocument, privacy: str, utility: str) -> alt.LayerChart:
    """Every trial that has both measures; the efficient ones joined, the recommended one ringed."""
    check_pair(document, privacy, utility)
    about, rows = axes(document), pair_rows(document, privacy, utility)
    across, upwards = about[privacy], about[utility]
    x, y, colour = _position(alt.X, "x", across), _position(alt.Y, "y", upwards), _series_colour(document)
    marks = {"x": reference_marks(across, log=across["skewed"]), "y": reference_marks(upwards, log=upwards["skewed"])}
    lower = {"x": across["lower"], "y": upwards["lower"]}
    datasets = {
        "trials": rows,
        "x_marks": marks["x"],
        "y_marks": marks["y"],
        "labels": curve_labels(rows, (WIDTH, HEIGHT), marks, lower),
    }
    drawn = [
        *_references(x, y),
        *_lines(x, y, colour),
        _points(document, x, y, colour, [privacy, utility]),
        *_labels(x, y, colour),
        *_notes(x, y),
    ]
    ringed = " The ring marks what is recommended." if any(row["recommended"] for row in rows) else ""
    chart = style(
        alt.LayerChart(layer=drawn).add_params(
            alt.param(name="x_lower", value=lower["x"]), alt.param(name="y_lower", value=lower["y"])
        ),
        (WIDTH, HEIGHT),
        f"{len(rows)} releases of {document.table.name}, by privacy and utility",
        f"The dark line joins releases that nothing recommendable beats on both.{ringed}",
        *([FAINT] if any(not row["eligible"] and not row["endpoint"] for row in rows) else []),
        legend=LEGEND,
        caution=PILOT if document.pilot else CAUTION,
    )
    chart.datasets = datasets  # last, since every step above copies the whole chart
    return chart


def _position(channel: Any, field: str, axis: dict[str, Any]) -> Any:
    """The x or y channel of all layers, on a log scale where that shows more."""
    scale, ticks = (
        ({"type": "symlog", "constant": axis["constant"]}, {"values": axis["ticks"]}) if axis["skewed"] else ({}, {})
    )
    return channel(
        f"{field}:Q",
        title=axis["title"],
        scale=alt.Scale(domain=list(axis["domain"]), zero=False, nice=False, **scale),
        axis=alt.Axis(format=axis["format"], tickCount=7, labelOverlap="greedy", offset=AWAY, **ticks),
    )


def _references(x: Any, y: Any) -> list[alt.Chart]:
    """Light rules where a measure has a value with a known meaning, each with its meaning on the worse side."""
    at_x, at_y = {"x": _at(x, "value")}, {"y": _at(y, "value")}
    rule: dict[str, Any] = {"color": QUIET, "opacity": 0.45, "strokeDash": [2, 4], "strokeWidth": 1}
    words: dict[str, Any] = {"color": QUIET, "fontSize": 11, "fontStyle": "italic"}
    upright = words | {
        "angle": 270,
        "align": alt.expr("y_lower ? 'right' : 'left'"),
        "dx": alt.expr(f"y_lower ? {-EDGE} : {EDGE}"),
        "limit": HEIGHT * 0.8,
    }
    early = _data("x_marks").mark_text(**upright, baseline="top", dy=BESIDE).transform_filter("!datum.late")
    late = _data("x_marks").mark_text(**upright, baseline="bottom", dy=-BESIDE).transform_filter("datum.late")
    side = alt.expr("x_lower ? 'right' : 'left'")
    level = _data("y_marks").mark_text(**words, baseline="bottom", dy=-BESIDE, limit=WIDTH * 0.5, align=side)
    foot = alt.value(alt.expr("y_lower ? 0 : height"))
    start = alt.value(alt.expr(f"x_lower ? width - {EDGE} : {EDGE}"))
    return [
        _data("x_marks").mark_rule(**rule).encode(**at_x).properties(name="x_rules"),
        _data("y_marks").mark_rule(**rule).encode(**at_y).properties(name="y_rules"),
        early.encode(**at_x, y=foot, text="text:N").properties(name="x_early_meanings"),
        late.encode(**at_x, y=foot, text="text:N").properties(name="x_late_meanings"),
        level.encode(**at_y, x=start, text="text:N").properties(name="y_meanings"),
    ]


def _lines(x: Any, y: Any, colour: alt.Color) -> list[alt.Chart]:
    """A curve through the settings of each series, the efficient releases joined from left to right, and intervals.

    Intervals are those of efficient and recommended releases, and of the one that is pointed at.
    """
    curve = _data("trials").mark_line(strokeWidth=1.25).encode(color=colour, detail="curve:N", order="step:O")
    line = _data("trials").mark_line(color=INK, strokeWidth=2, opacity=0.7)
    bar = _data("trials").mark_rule(strokeWidth=1.25, opacity=0.5, color=QUIET)
    shown = "(datum.efficient || datum.recommended || pointed.id && indexof(pointed.id, datum.id) >= 0)"
    drawn = {
        "curves": curve.encode(x=x, y=y, opacity=_fading(0.5, 0.2, 0.04)).transform_filter("!datum.endpoint"),
        "efficient": line.encode(x=x, y=y, order=alt.Order("x:Q")).transform_filter("datum.efficient"),
        "x_intervals": bar.encode(x=_at(x, "x_low"), x2="x_high:Q", y=y).transform_filter(
            f"isValid(datum.x_low) && {shown}"
        ),
        "y_intervals": bar.encode(x=x, y=_at(y, "y_low"), y2="y_high:Q").transform_filter(
            f"isValid(datum.y_low) && {shown}"
        ),
    }
    return [chart.properties(name=name) for name, chart in drawn.items()]


def _labels(x: Any, y: Any, colour: alt.Color) -> list[alt.Chart]:
    """The name of each curve beside one of its releases."""
    drawn = []
    for align in ("left", "right"):
        place: dict[str, Any] = {"align": align, "dx": alt.expr("datum.dx"), "baseline": "middle", "fontSize": 11}
        for part, paint in (("halo", HALO[0]), ("name", {})):
            words = _data("labels").mark_text(**place, **paint).encode(x=x, y=y, text="name:N")
            words = words.encode(color=colour, opacity=_fading(1, 0.65, 0.1)) if part == "name" else words
            drawn.append(words.transform_filter(f"datum.align == '{align}'").properties(name=f"label_{align}_{part}"))
    return drawn


def _points(document: FrontierDocument, x: Any, y: Any, colour: alt.Color, pair: list[str]) -> alt.Chart:
    """All trials; a click in the legend leaves one series in full colour."""
    picked = alt.selection_point(name="picked", fields=["series"], bind="legend")
    pointed = alt.selection_point(name="pointed", fields=["id"], on="pointerover", clear="pointerout", empty=False)
    words = {"label": "title", "series": "Series", "parameters": "Parameters", "claim": "Claim"}
    shown = dict.fromkeys([*pair, *main_measures(document)])
    words |= {f"text.{name}": document.measures[name].title for name in shown}
    drawn: alt.Chart = (
        _data("trials")
        .mark_point(filled=True, stroke="white", strokeWidth=0.75)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=_recoding_shape(),
            size=alt.when(alt.datum.efficient).then(alt.value(105)).otherwise(alt.value(55)),
            opacity=_fading(0.6, 0.25, 0.06, efficient=1, recommended=1, endpoint=1),
            tooltip=tooltip(words),
        )
        .add_params(picked, pointed)
    )
    return drawn.properties(name="trials")


def _fading(eligible: float, others: float, unpicked: float, **more: float) -> alt.OpacityValue:
    """How strongly a release shows: by whether it can be recommended, and whether its series is picked in the legend.

    `more` are strengths of releases with a flag of that name.
    """
    strengths = [*more.items(), ("eligible", eligible), ("series", others)]
    conditions = [
        {"test": {"and": [{"param": "picked"}, f"datum.{flag}"]}, "value": strength} for flag, strength in strengths
    ]
    return alt.OpacityValue(unpicked, condition=conditions)


def _notes(x: Any, y: Any) -> list[alt.Chart]:
    """The end points and the recommended release in words, the latter in a ring.

    No release is better than an efficient one on both measures, so the note of the recommended one is set on
    that empty side; where the chart ends there, on the opposite one. End points are noted above, towards the middle.
    A note beside the upper or lower edge stays inside.
    """
    recommended = "x_lower ? datum.x_share * width > datum.room : (1 - datum.x_share) * width < datum.room"
    beyond = "datum.y_share < 0.1 ? -26 : datum.y_share > 0.9 ? 12"
    rise = f"{beyond} : (x_lower == {{}} ? 8 : -24) * (y_lower ? 1 : -1)"
    ring = _data("trials").mark_point(shape="circle", size=420, stroke=INK, strokeWidth=2.25, filled=False)
    return [
        ring.encode(x=x, y=y).transform_filter("datum.recommended").properties(name="recommended"),
        *_note("recommended", x, y, only="datum.recommended", turned=recommended, rise=rise),
        *_note("end", x, y, only="datum.endpoint && !datum.recommended", turned="datum.x_share > 0.5", rise="-14"),
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
                .transform_filter(f"{only} && ({turned}) == {is_turned}")
                .properties(name=f"{kind}_{align}_{part}")
            )
    return drawn


def _series_colour(document: FrontierDocument) -> alt.Color:
    colours = series_colours(document)
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("series:N", scale=scale, legend=alt.Legend(title="Series", symbolType="circle", symbolOpacity=1))


def series_colours(document: FrontierDocument) -> dict[str, str]:
    """The colour of each series, the same in every report; end points are drawn in ink.

    A series is known by its requirement, or by its method. Where one is not known, or as another one of its method,
    it takes the next colour that is free.
    """
    methods = {trial.series: trial.method for trial in document.trials}
    ends = methods.keys() - {trial.series for trial in document.trials if not trial.endpoint}
    colours: dict[str, str] = {}
    for series, method in methods.items():
        place = next((COLOURED.index(name) for name in (series, method) if name in COLOURED), 0)
        turned = [PALETTE[(place + step) % len(PALETTE)] for step in range(len(PALETTE))]
        free = [colour for colour in turned if colour not in colours.values()] or turned
        colours[series] = INK if series in ends else free[0]
    return colours


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
