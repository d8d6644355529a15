"""The charts of cormode2013: query error above, breach below, Adult left, Census right, as in the paper."""

from typing import Any

from sfumato.report.reproduction.document import Mark, Panel
from sfumato.reproduce.cormode2013.measuring import ADULT, CENSUS

ERROR, BREACH = "Median relative error of counts", "Gain of the adversary over the baseline (β)"


def four_panels(figure: int, x: str, x_title: str, *, x_log: bool = False, marks: dict[str, Mark]) -> tuple[Panel, ...]:
    """(a) and (b) errors, (c) and (d) breaches; marks are by letter."""
    parts = (("a", ADULT, "error"), ("b", CENSUS, "error"), ("c", ADULT, "breach"), ("d", CENSUS, "breach"))
    return tuple(
        Panel(
            name=f"figure-{figure}{letter}",
            title=f"Figure {figure}({letter}): {name}",
            x=x,
            y=y,
            x_title=x_title,
            y_title=ERROR if y == "error" else BREACH,
            only={"data": name},
            x_log=x_log,
            y_percent=True,
            printed=(marks[letter],) if letter in marks else (),
        )
        for letter, name, y in parts
    )


FIGURE_1 = four_panels(
    1,
    "k",
    "k",
    x_log=True,
    marks={
        "c": Mark(text="180% printed for k ≤ 8", y=1.8),
        "d": Mark(text="50% printed for k ≤ 8 and k = 1024", y=0.5),
    },
)
FIGURE_2 = four_panels(
    2,
    "l",
    "ℓ",
    marks={
        "a": Mark(text="the root from ℓ = 6", x=6),
        "b": Mark(text="the root from ℓ = 8", x=8),
        "c": Mark(text="20% printed at the root", y=0.2),
        "d": Mark(text="about zero printed at the root", y=0.0),
    },
)
FIGURE_3 = four_panels(3, "t", "t", marks={letter: Mark(text="levels off at 0.35", x=0.35) for letter in "abcd"})
FIGURE_4 = four_panels(
    4,
    "epsilon",
    "ε",
    x_log=True,
    marks={
        "a": Mark(text="about 100% printed at ε = 0.01", y=1.0),
        "b": Mark(text="about 100% printed at ε = 0.01", y=1.0),
    },
)
TRADEOFF: dict[str, Any] = {"x": "error", "y": "breach", "x_title": ERROR, "y_title": BREACH}
TRADEOFF |= {"x_percent": True, "y_percent": True}
FIGURE_5 = (
    Panel(name="figure-5a", title="Figure 5(a): Adult", **TRADEOFF, only={"data": ADULT}),
    Panel(name="figure-5b", title="Figure 5(b): Census", **TRADEOFF, only={"data": CENSUS}),
)
FIGURE_6A = (
    Panel(name="figure-6a", title="Figure 6(a): heights, Census", **TRADEOFF, only={"data": CENSUS}),
    Panel(name="figure-6a-adult", title="The same on Adult", **TRADEOFF, only={"data": ADULT}),
)
FIGURE_6B = (
    Panel(name="figure-6b", title="Figure 6(b): sizes, Census", **TRADEOFF, only={"data": CENSUS}),
    Panel(name="figure-6b-adult", title="The same on Adult", **TRADEOFF, only={"data": ADULT}),
)
