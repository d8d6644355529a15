"""Al-Hussaeni, Fung, Iqbal, Liu and Hung (2018): differentially-private multidimensional data publishing, DiffMulti."""

from sfumato.reproduce.alhussaeni2018.experiments import EXPERIMENTS
from sfumato.reproduce.alhussaeni2018.statements import STATEMENTS
from sfumato.reproduce.paper import Paper

PAPER = Paper(
    name="alhussaeni2018",
    title="Differentially-private multidimensional data publishing",
    reference="K. Al-Hussaeni, B. C. M. Fung, F. Iqbal, J. Liu and P. C. K. Hung, 2018",
    experiments=EXPERIMENTS,
    statements=STATEMENTS,
)
