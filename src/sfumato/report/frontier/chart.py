"""The frontier as a chart: every release by a privacy and a utility measure.

The same chart is written to files and, as a specification, drives the page: there the browser puts other points,
titles and reference values into it and changes nothing else.
"""

import altair as alt

from sfumato.report.charts import style
from sfumato.report.frontier import layers
from sfumato.report.frontier.points import axes, check_finite, check_pair, extent, marks_within, pair_rows
from sfumato.trials.frontier_document import FrontierDocument

LEGEND = {"symbolSize": 90, "labelLimit": 240}


def frontier_chart(document: FrontierDocument, privacy: str, utility: str) -> alt.LayerChart:
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
    ringed = " The ring marks the recommended release." if any(row["recommended"] for row in rows) else ""
    better_lower = {"x_lower": about[privacy]["lower"], "y_lower": about[utility]["lower"]}
    return style(
        alt.LayerChart(layer=drawn, datasets=datasets).add_params(
            *(alt.param(name=name, value=value) for name, value in better_lower.items())
        ),
        (layers.WIDTH, layers.HEIGHT),
        f"{len(rows)} releases of {document.table.name}, by privacy and utility",
        f"The line joins the efficient releases: no other is at least as good on both and better on one.{ringed}",
        legend=LEGEND,
    )
