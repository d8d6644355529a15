"""Li and Li (KDD 2009): on the tradeoff between privacy and utility in data publishing."""

from sfumato.reproduce.li2009.experiments import EXPERIMENTS
from sfumato.reproduce.li2009.statements import STATEMENTS
from sfumato.reproduce.paper import Paper

PAPER = Paper(
    name="li2009",
    title="On the tradeoff between privacy and utility in data publishing",
    reference="T. Li and N. Li, KDD 2009",
    experiments=EXPERIMENTS,
    statements=STATEMENTS,
)
