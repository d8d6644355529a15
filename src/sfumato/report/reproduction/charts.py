"""One panel of an experiment as a chart: our rows with their intervals, and the numbers that the paper prints."""

import math
from typing import Any

import altair as alt
import numpy as np

from sfumato.report.charts import HALO, INK, PALETTE, QUIET, style, tooltip
from sfumato.report.reproduction.document import Mark, Panel, Row
from sfumato.trials.dominance import efficient

SIZE = (560, 360)
LEGEND = {"symbolSize": 80, "symbolOpacity": 1, "labelLimit": 420, "orient": "top", "columns": 3}
WORDS: dict[str, Any] = {"fontSize": 11, "fontStyle": "italic", "align": "left", "dx": 7}
RING: dict[str, Any] = {"shape": "diamond", "size": 130, "stroke": INK, "strokeWidth": 2, "filled": False}
RULE: dict[str, Any] = {"color": QUIET, "strokeDash": [4, 4], "strokeWidth": 1.25}


def panel_chart(panel: Panel, rows: list[Row], caution: str) -> alt.LayerChart:
    """Every series as a line with points and intervals; what is printed in ink."""
    drawn = [row for row in rows if panel.shows(row)]
    colours = dict(zip(dict.fromkeys(row.series for row in drawn), PALETTE * 3, strict=False))
    points = [_point(panel, row) for row in drawn]
    x, y = _axis(alt.X, "x", panel, points), _axis(alt.Y, "y", panel, points)
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("series:N", scale=scale, title=None)
    base = _data(points).encode(x=x, y=y, color=colour)
    words = {"series": "title", "setting": "Setting", "x_text": panel.x_title, "y_text": panel.y_title}
    layers = [
        *([base.mark_line(strokeWidth=1.75).encode(order="x:Q")] if panel.joined else []),
        *_intervals(base, x, y, points),
        base.mark_point(filled=True, size=55, opacity=1).encode(tooltip=tooltip(words)).properties(name="rows"),
        *(_frontier(points, x, y) if panel.efficient else []),
        *(layer for mark in panel.printed for layer in _printed(mark, x, y)),
    ]
    return style(alt.LayerChart(layer=layers), SIZE, panel.title, legend=LEGEND, caution=caution)


def _point(panel: Panel, row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {"series": row.series, "setting": format_setting(row)}
    for side, name, percent in (("x", panel.x, panel.x_percent), ("y", panel.y, panel.y_percent)):
        value, (low, high) = row.at(name), row.intervals.get(name, (None, None))
        interval = None if low is None or high is None else (low, high)
        found |= {side: value, f"{side}_low": low, f"{side}_high": high}
        found[f"{side}_text"] = format_value(value, interval, percent=percent)
    return found


def format_setting(row: Row) -> str:
    """A setting as a reader would say it."""
    return ", ".join(f"{name} = {_short(value)}" for name, value in row.setting.items())


def _short(value: float | int | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def format_value(value: Any, interval: tuple[float, float] | None, *, percent: bool = False) -> str:
    """A value, and its interval in brackets where it has one."""
    if not isinstance(value, int | float):
        return str(value)

    def shown(number: float) -> str:
        return f"{100 * number:.3g}%" if percent else f"{number:.4g}"

    return f"{shown(value)} ({shown(interval[0])} to {shown(interval[1])})" if interval else shown(value)


def _axis(channel: Any, side: str, panel: Panel, points: list[dict[str, Any]]) -> Any:
    log, percent = (getattr(panel, f"{side}_{kind}") for kind in ("log", "percent"))
    title = getattr(panel, f"{side}_title")
    if points and isinstance(points[0][side], str):
        return channel(f"{side}:N", title=title, sort=None)
    log = log and all(point[side] > 0 for point in points)
    scale = alt.Scale(type="log", nice=False, padding=14) if log else alt.Scale(zero=False, nice=True, padding=8)
    return channel(f"{side}:Q", title=title, scale=scale, axis=alt.Axis(format="~%" if percent else "~g", tickCount=7))


def _intervals(base: alt.Chart, x: Any, y: Any, points: list[dict[str, Any]]) -> list[alt.Chart]:
    found = []
    for side, channel, other in (("x", x, y), ("y", y, x)):
        if any(_wide(point, side) for point in points):
            ends = {side: _at(channel, f"{side}_low"), f"{side}2": f"{side}_high:Q"}
            rule = base.mark_rule(strokeWidth=1.5, opacity=0.5).transform_filter(f"isValid(datum.{side}_low)")
            found.append(rule.encode(**ends, **{"y" if side == "x" else "x": other}))
    return found


def _wide(point: dict[str, Any], side: str) -> bool:
    low, high = point[f"{side}_low"], point[f"{side}_high"]
    return low is not None and math.isfinite(low) and math.isfinite(high) and high > low


def _at(channel: Any, field: str) -> Any:
    """The same axis, read from another field."""
    moved = channel.copy(deep=True)
    moved.shorthand = f"{field}:Q"
    return moved


def _frontier(points: list[dict[str, Any]], x: Any, y: Any) -> list[alt.Chart]:
    """The points that no other beats on both axes, joined."""
    best = efficient(*(np.array([point[side] for point in points], dtype=np.float64) for side in ("x", "y")))
    kept = [point for point, good in zip(points, best, strict=True) if good]
    return [_data(kept).mark_line(color=INK, strokeWidth=2, opacity=0.7).encode(x=x, y=y, order="x:Q")]


def _printed(mark: Mark, x: Any, y: Any) -> list[alt.Chart]:
    """A printed number: a diamond where both sides are given, a line where one is."""
    point = _data([{"x": mark.x, "y": mark.y, "text": mark.text}])
    if mark.x is not None and mark.y is not None:
        place, drawn = {"x": x, "y": y}, point.mark_point(**RING).encode(x=x, y=y)
    elif mark.x is None:
        place, drawn = {"x": alt.value(0), "y": y}, point.mark_rule(**RULE).encode(y=y)
    else:
        place, drawn = {"x": x, "y": alt.value(SIZE[1])}, point.mark_rule(**RULE).encode(x=x)
    turned: dict[str, Any] = {"angle": 270, "dy": 12} if mark.y is None else {"dy": -8}
    return [drawn, *(point.mark_text(**WORDS, **turned, **paint).encode(**place, text="text:N") for paint in HALO)]


def _data(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))
