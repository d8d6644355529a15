"""The charts of kacem2018, which has none of its own."""

from typing import Any

from sfumato.report.reproduction.document import Mark, Panel

PEOPLE: dict[str, Any] = {"x": "people", "x_title": "People N", "x_log": True, "y_log": True}
CONVERGENCE = (
    Panel(
        name="convergence",
        title="Theorem 4.4: the reconstruction p* of a falling distribution",
        **PEOPLE,
        y="p_star",
        y_title="Total variation from π",
        only={"shape": "falling"},
    ),
    Panel(
        name="convergence-people",
        title="Theorem 4.4: the people's own distribution p",
        **PEOPLE,
        y="p",
        y_title="Total variation from π",
        only={"shape": "falling"},
    ),
)
CONJECTURE = tuple(
    Panel(
        name=f"conjecture-{shape}",
        title=f"Conjecture 4.6, a {shape} distribution",
        x="epsilon",
        y="ratio",
        x_title="ε per unit of distance",
        y_title="Error of geometric noise over the best",
        x_log=True,
        y_log=True,
        only={"shape": shape},
        printed=(Mark(text="the conjecture", y=1.0),),
    )
    for shape in ("uniform", "falling", "peaked")
)
TRADEOFF = tuple(
    Panel(
        name=f"tradeoff-{name}",
        title=title,
        x="epsilon",
        y=name,
        x_title="ε",
        y_title="Total variation from π",
        x_log=True,
        y_log=True,
    )
    for name, title in (
        ("geometric", "Geometric noise (d-privacy)"),
        ("randomized_response", "Randomized response (local privacy)"),
    )
)
