"""The charts of alhussaeni2018, and the numbers that the paper prints in them."""

from typing import Any

from sfumato.report.reproduction.document import Mark, Panel

H, EPSILON, MADE = "Specializations h asked for", "ε", "Specializations made"
ACCURACY, REAL = "Accuracy, test records generalized", "Accuracy on real rows"


def by_h(name: str, title: str, y: str, y_title: str, **more: Any) -> Panel:
    return Panel(name=name, title=title, x="h", y=y, x_title=H, y_title=y_title, x_log=True, **more)


def made(name: str) -> Panel:
    """How many specializations stand behind each point of an h axis."""
    return by_h(f"{name}-made", "Specializations made", "specializations", MADE, y_log=True)


def both(name: str, title: str, x: str, x_title: str, *, x_log: bool = False, **more: Any) -> tuple[Panel, Panel]:
    """The paper's protocol, and tested on real rows."""
    shared: dict[str, Any] = {"x": x, "x_title": x_title, "x_log": x_log, "y_percent": True, **more}
    return (
        Panel(name=name, title=title, y="accuracy", y_title=ACCURACY, **shared),
        Panel(name=f"{name}-rows", title=f"{title}, on real rows", y="accuracy_rows", y_title=REAL, **shared),
    )


FIGURE_5 = (by_h("figure-5", "Figure 5: discernibility", "dm", "DM (rows²)", y_log=True), made("figure-5"))
FIGURE_6 = (by_h("figure-6", "Figure 6: certainty penalty", "ncp", "NCP"), made("figure-6"))
FIGURE_7 = (
    *both("figure-7", "Figure 7: h = 900", "epsilon", EPSILON, only={"h": 900}),
    by_h("figure-7-h", "Figure 7: ε = 1", "accuracy", ACCURACY, only={"epsilon": 1.0}, y_percent=True),
)
FIGURE_8 = (*both("figure-8", "Figure 8: C4.5", "h", H, x_log=True), made("figure-8"))
FIGURE_9 = both("figure-9", "Figure 9: ID3, four attributes", "epsilon", EPSILON)
FIGURE_10 = both("figure-10", "Figure 10: SVM", "epsilon", EPSILON)
RPS_TABLE = both(
    "rps", "Five-fold accuracy of C4.5", "method", "", joined=False, printed=(Mark(text="81.54% printed", y=0.8154),)
)
FIGURE_11 = (
    by_h(
        "figure-11",
        "Figure 11: Match Point of true counts",
        "match_point",
        "Match Point",
        y_percent=True,
        printed=(Mark(text="90% printed for Max", y=0.9),),
    ),
    by_h("figure-11-noisy", "Match Point of the noisy release", "match_point_noisy", "Match Point", y_percent=True),
)
FIGURE_12 = (by_h("figure-12", "Figure 12: seconds", "seconds", "Processor seconds", y_log=True), made("figure-12"))
FIGURE_13 = (
    Panel(
        name="figure-13",
        title="Figure 13: seconds",
        x="rows",
        y="seconds",
        x_title="Rows",
        y_title="Processor seconds",
        printed=(Mark(text="120 s printed for a million rows", y=120.0),),
    ),
)
