"""The picture that none of the papers draws: all their methods on one frontier."""

from sfumato.reproduce.data import SOURCES
from sfumato.reproduce.paper import Paper
from sfumato.reproduce.together.experiments import EXPERIMENTS

PAPER = Paper(
    name="together",
    title="Every method of the five papers on one frontier",
    reference="No paper draws it",
    experiments=EXPERIMENTS,
    statements=(),
    stand_in=f"The Census excerpt stands in for {SOURCES['census'].stands_for}.",
)
