"""The charts of li2009, and the numbers that the paper prints in them."""

from typing import Any

from sfumato.report.reproduction.document import Mark, Panel
from sfumato.reproduce.queries import SELECTIVITIES

P_LOSS, U_LOSS = "Privacy loss P_loss (nats)", "Utility loss U_loss (nats)"
LOSSES: dict[str, Any] = {"x": "p_loss", "y": "u_loss", "x_title": P_LOSS, "y_title": U_LOSS}
ERRORS: dict[str, Any] = {
    "x": "p_loss",
    "y": "error",
    "x_title": P_LOSS,
    "y_title": "Mean relative error of counts",
    "y_percent": True,
}
REVEALED = (Mark(text="0.488 printed for the commonest", y=0.488), Mark(text="0.692 for the rarest", y=0.692))
K_5000 = Mark(text="k = 5000 as printed", x=0.086, y=0.0288)
TRIVIAL = Mark(text="0.05 printed for everything suppressed", y=0.05)

INTERPRETATION = (
    Panel(
        name="interpretation",
        title="Belief shift when an occupation is revealed",
        x="rank",
        y="p_loss",
        x_title="Occupations, the commonest first",
        y_title=P_LOSS,
        printed=REVEALED,
    ),
)
FIGURE_2A = (
    Panel(
        name="figure-2a",
        title="Figure 2(a), cuts at the median",
        **LOSSES,
        only={"cut": "median"},
        printed=(K_5000, TRIVIAL),
    ),
    Panel(
        name="figure-2a-ncp",
        title="Figure 2(a), cuts with the least information loss",
        **LOSSES,
        only={"cut": "ncp"},
        printed=(K_5000, TRIVIAL),
    ),
)
FIGURE_2A_READINGS = (
    Panel(name="figure-2a-readings", title="Other readings of ℓ and t, cuts at the median", **LOSSES),
)
FIGURE_2B = (Panel(name="figure-2b", title="Figure 2(b), generalized and bucketized", **LOSSES),)
FIGURE_3A = (
    Panel(name="figure-3a", title="Figure 3(a), bucketized", **ERRORS, only={"recoding": "bucketize"}),
    Panel(name="figure-3a-generalized", title="Figure 3(a), generalized", **ERRORS, only={"recoding": "generalize"}),
)
FIGURE_3B = (Panel(name="figure-3b", title="Figure 3(b), by selectivity", **ERRORS),)
FIGURE_3C = tuple(
    Panel(name=f"figure-3c-{number}", title=f"Figure 3(c), selectivity {reading}", **ERRORS, only={"reading": reading})
    for number, reading in enumerate(SELECTIVITIES, start=1)
)
