"""Machanavajjhala, Kifer, Abowd, Gehrke and Vilhuber (ICDE 2008): privacy, theory meets practice on the map."""

from sfumato.reproduce.data import SOURCES
from sfumato.reproduce.machanavajjhala2008 import examples, flows, theorems
from sfumato.reproduce.machanavajjhala2008.statements import STATEMENTS
from sfumato.reproduce.paper import Paper

PAPER = Paper(
    name="machanavajjhala2008",
    title="Privacy: theory meets practice on the map",
    reference="A. Machanavajjhala, D. Kifer, J. Abowd, J. Gehrke and L. Vilhuber, ICDE 2008",
    experiments=(*examples.EXPERIMENTS, *theorems.EXPERIMENTS, *flows.EXPERIMENTS),
    statements=STATEMENTS,
    stand_in=f"Rhode Island stands in for {SOURCES['commute'].stands_for}.",
)
