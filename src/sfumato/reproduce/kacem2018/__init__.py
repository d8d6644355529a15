"""Kacem and Palamidessi (PLAS 2018): geometric noise for locally private counting queries."""

from sfumato.reproduce.kacem2018.experiments import EXPERIMENTS
from sfumato.reproduce.kacem2018.statements import STATEMENTS
from sfumato.reproduce.paper import Paper

PAPER = Paper(
    name="kacem2018",
    title="Geometric noise for locally private counting queries",
    reference="L. Kacem and C. Palamidessi, PLAS 2018",
    experiments=EXPERIMENTS,
    statements=STATEMENTS,
)
