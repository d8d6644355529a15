"""The look that all charts share, and how they become files. The original of everything is ink or grey."""

from typing import Any

import altair as alt
from altair.utils.mimebundle import spec_to_mimebundle

FONT = "Segoe UI, Helvetica Neue, Arial, Liberation Sans, sans-serif"
INK, QUIET, GRID = "#1d2b36", "#5a6872", "#e4e8eb"
PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#332288", "#999933", "#771122", "#444400"),
    *("#ee1144", "#aa1188", "#9988ff", "#005544", "#dd9988", "#663300", "#227700", "#dd00ff", "#33bb00", "#886600"),
    *("#44bbbb", "#996655", "#008899", "#0044ff", "#553355", "#ff77ff", "#ff0088", "#ff2200", "#8811bb", "#ff7788"),
    *("#990000", "#99bb00", "#889977", "#bbaaee", "#002233", "#888899", "#332211"),
)
"""Okabe and Ito's colours without black and yellow and two of Tol's, which colour-blind readers tell apart; then those
that are farthest from all before them."""
HALO: tuple[dict[str, Any], ...] = ({"stroke": "white", "strokeWidth": 3.5}, {"color": INK})
"""Words are painted twice, so that they can be read over marks."""
CAUTION = "Computed on the real data: for the publisher only, not to be published."
PIXELS_PER_POINT = 2


def style(
    chart: alt.LayerChart,
    size: tuple[int, int],
    title: str,
    *notes: str,
    legend: dict[str, Any],
    caution: str = CAUTION,
) -> alt.LayerChart:
    """A chart in the look of the report. A file can be passed on without the page, so it says itself what it is."""
    width, height = size
    sizes: dict[str, Any] = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": 600, "titleColor": INK}
    lines: dict[str, Any] = {"gridColor": GRID, "domainColor": QUIET, "tickColor": QUIET}
    heading: dict[str, Any] = {
        "anchor": "start",
        "fontSize": 16,
        "color": INK,
        "subtitleColor": QUIET,
        "subtitleFontSize": 12,
    }
    config = alt.Config(
        font=FONT,
        background="white",
        aria=False,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(**sizes, **lines, labelColor=QUIET, titlePadding=10),
        legend=alt.LegendConfig(**sizes, labelColor=INK, **legend),
        title=alt.TitleConfig(**heading, subtitlePadding=5, offset=12),
    )
    above = alt.TitleParams(title, subtitle=[caution, *notes], limit=width)
    # In one step, since every step copies the whole chart.
    styled: alt.LayerChart = chart.properties(width=width, height=height, padding=12, title=above, config=config)
    return styled


def tooltip(titles: dict[str, str], **formats: str) -> list[alt.Tooltip]:
    """What hovering over a mark tells, by field: numbers with a format, and words. `title` stands above the others."""
    numbers = {field: alt.Tooltip(f"{field}:Q", title=titles[field], format=how) for field, how in formats.items()}
    return [numbers.get(field) or alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def draw_png(chart: alt.LayerChart) -> bytes:
    """The chart as the bytes of a `png` file."""
    drawn, _ = _draw(chart, format="png", scale_factor=PIXELS_PER_POINT)
    return bytes(drawn["image/png"])


def draw_svg(chart: alt.LayerChart) -> str:
    """The chart as the text of an `svg` file."""
    return str(_draw(chart, format="svg")["image/svg+xml"])


def _draw(chart: alt.LayerChart, **how: Any) -> Any:
    """What `chart.save` writes, but not validated anew for every file, which takes longer than drawing it."""
    with alt.data_transformers.enable("default"), alt.data_transformers.disable_max_rows():
        spec = chart.to_dict(validate=False, context={"pre_transform": False})
    return spec_to_mimebundle(spec, mode="vega-lite", **how)
