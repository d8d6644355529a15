"""Cormode, Procopiuc, Shen, Srivastava and Yu (2013): empirical privacy and empirical utility of anonymized data."""

from sfumato.reproduce.cormode2013.experiments import EXPERIMENTS
from sfumato.reproduce.cormode2013.statements import STATEMENTS
from sfumato.reproduce.data import SOURCES
from sfumato.reproduce.paper import Paper

PAPER = Paper(
    name="cormode2013",
    title="Empirical privacy and empirical utility of anonymized data",
    reference="G. Cormode, C. M. Procopiuc, E. Shen, D. Srivastava and T. Yu, ICDE workshops 2013",
    experiments=EXPERIMENTS,
    statements=STATEMENTS,
    stand_in=f"The Census excerpt stands in for {SOURCES['census'].stands_for}.",
)
