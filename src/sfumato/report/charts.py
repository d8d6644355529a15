"""The frontier as a chart: every release by a privacy and a utility measure.

The same chart is written to files and, as a specification, drives the page: there the browser puts other points,
titles and reference values into it and changes nothing else.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import altair as alt

from sfumato.errors import ParameterError
from sfumato.report import layers
from sfumato.report.points import axes, check_finite, check_pair, extent, marks_within, pair_rows

FONT = "Segoe UI, Helvetica Neue, Arial, Liberation Sans, sans-serif"
PIXELS_PER_POINT = 2


def frontier_chart(document: dict[str, Any], privacy: str, utility: str) -> alt.LayerChart:
    """Every trial that has both measures; the efficient ones joined, the recommended one ringed."""
    check_finite(document)
    check_pair(document, privacy, utility)
    about = axes(document)
    rows = pair_rows(document, privacy, utility)
    across, upwards = extent(rows, "x"), extent(rows, "y")
    x = layers.position(alt.X, "x", about[privacy], across)
    y = layers.position(alt.Y, "y", about[utility], upwards)
    datasets = {
        "trials": rows,
        "x_marks": marks_within(about[privacy]["scale"], *across),
        "y_marks": marks_within(about[utility]["scale"], *upwards),
    }
    drawn = [
        *layers.references(x, y),
        layers.efficient_line(x, y),
        *layers.error_bars(x, y),
        layers.points(document, x, y, [privacy, utility]),
        layers.ring(x, y),
        *layers.notes(x, y),
    ]
    chart = alt.LayerChart(layer=drawn, datasets=datasets, title=_title(document, rows))
    return _styled(chart, x_lower=about[privacy]["lower"], y_lower=about[utility]["lower"])


def save(chart: alt.LayerChart, path: str | Path) -> None:
    """Write the chart as `.png` or `.svg`."""
    path = Path(path)
    path.write_bytes(draw(chart, path.suffix.removeprefix(".")))


def draw(chart: alt.LayerChart, kind: str) -> bytes:
    """The chart as the bytes of a `png` or `svg` file."""
    if kind == "png":
        image = io.BytesIO()
        chart.save(image, format="png", scale_factor=PIXELS_PER_POINT)
        return image.getvalue()
    if kind == "svg":
        text = io.StringIO()
        chart.save(text, format="svg")
        return text.getvalue().encode()
    raise ParameterError(f"charts cannot be saved as {kind!r}; expected png or svg")


def _title(document: dict[str, Any], rows: list[dict[str, Any]]) -> alt.TitleParams:
    """A file can be passed on without the page, so it says itself what it is."""
    ringed = " The ring marks the recommended release." if any(row["recommended"] for row in rows) else ""
    return alt.TitleParams(
        f"{len(rows)} releases of {document['table']['name']}, by privacy and utility",
        subtitle=[
            "Computed on the real data: for the publisher only, not to be published.",
            f"The line joins the efficient releases: no other is at least as good on both and better on one.{ringed}",
        ],
        limit=layers.WIDTH,
    )


def _styled(chart: alt.LayerChart, **better_lower: bool) -> alt.LayerChart:
    ink, quiet = layers.INK, layers.QUIET
    sizes = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": 600, "titleColor": ink}
    lines = {"gridColor": layers.GRID, "domainColor": quiet, "tickColor": quiet}
    title = {"anchor": "start", "fontSize": 16, "color": ink, "subtitleColor": quiet, "subtitleFontSize": 12}
    params = [alt.param(name=name, value=value) for name, value in better_lower.items()]
    styled: alt.LayerChart = (
        chart.add_params(*params)
        .properties(width=layers.WIDTH, height=layers.HEIGHT, padding=12)
        .configure(font=FONT, background="white", aria=False)
        .configure_view(stroke=None)
        .configure_axis(**sizes, **lines, labelColor=quiet, titlePadding=10)
        .configure_legend(**sizes, labelColor=ink, symbolSize=90, labelLimit=240)
        .configure_title(**title, subtitlePadding=5, offset=16)
    )
    return styled
