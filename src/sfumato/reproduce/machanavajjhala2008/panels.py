"""The charts of machanavajjhala2008, and the numbers that the paper prints in them."""

from typing import Any

from sfumato.report.reproduction.document import Mark, Panel

PRINTED = (
    Mark(text="0.039764 printed for 120,690 blocks", y=0.039764),
    Mark(text="0.01245 printed for 233,726 blocks", y=0.01245),
)
ALPHAS = tuple(
    Panel(
        name=f"alphas-{name}",
        title=title,
        x="n",
        y=name,
        x_title="Workers n of a destination",
        y_title="Least prior α of a block",
        x_log=True,
        y_log=True,
        printed=PRINTED,
    )
    for name, title in (("reference", "By Theorem 4.4"), ("exact", "By exact tails"))
)
SCATTER: dict[str, Any] = {
    "x": "workers",
    "y": "distance",
    "x_title": "Workers of the destination",
    "y_title": "Average commute (miles)",
    "x_log": True,
    "joined": False,
}
BIAS: dict[str, Any] = {"x": "workers", "x_title": "Workers of the destination", "x_log": True}
BIASES = (
    Panel(name="bias", title="Synthetic minus true average, all", **BIAS, y="bias", y_title="Bias (miles)"),
    Panel(name="bias-short", title="The same, short commutes", **BIAS, y="short_bias", y_title="Bias (miles)"),
    Panel(name="error", title="Mean absolute error, all", **BIAS, y="error", y_title="Error (miles)"),
    Panel(name="error-short", title="The same, short commutes", **BIAS, y="short_error", y_title="Error (miles)"),
)
