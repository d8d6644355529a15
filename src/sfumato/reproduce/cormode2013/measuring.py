"""What cormode2013 measures of a release: the error of range counts, and how much the adversary gains."""

import numpy as np

from sfumato.measures.attacks.belief import BeliefShift
from sfumato.measures.attacks.naive_bayes import NaiveBayes
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method
from sfumato.reproduce.data import Data
from sfumato.reproduce.queries import half_domain

QUERIES = 2_000
PRINTED_BASELINE = 0.11
ADULT, CENSUS = "Adult", "Census"
ALPHABETICAL, TAXONOMY, CODED = "alphabetical", "taxonomy", "as coded"
TABLES = {(ADULT, ALPHABETICAL): "spatial-alphabetical", (ADULT, TAXONOMY): "spatial", (CENSUS, CODED): "census"}
"""The tables by data set and order of categories."""
MAIN = {ADULT: ALPHABETICAL, CENSUS: CODED}
"""The order that gives the selectivity that the paper prints; the Census has numbers for codes."""
READINGS = {"error": "closed ranges", "error_half": "half of the values", "error_free": "two values left free"}


def attacked(data: Data, seed: int, *, table: str, method: Method, share: float = 1.0) -> dict[str, float]:
    """Publish, ask and attack: errors by reading of half a domain, and the breach by either baseline."""
    rows = data.table(table)
    if share < 1:
        rows = data.table(table, max(1, round(share * rows.n)))
    release = method.publish(rows, SimulatedSource(seed))
    accuracy = 1 - NaiveBayes().run(rows, release)["empirical_privacy"]
    errors = {
        name: float(np.median(half_domain(rows, reading, seed, QUERIES).relative_errors(release)))
        for name, reading in READINGS.items()
    }
    return errors | {
        "breach": accuracy / (rows.overall.max() / rows.n) - 1,
        "breach_printed": accuracy / PRINTED_BASELINE - 1,
        "classes": len(release.histograms),
    }


def guessed(data: Data, seed: int, *, table: str, method: Method) -> dict[str, float]:
    """How often two classifiers are right: naive Bayes, and looking the class up."""
    rows = data.table(table)
    release = method.publish(rows, SimulatedSource(seed))
    return {
        "naive_bayes": 1 - NaiveBayes().run(rows, release)["empirical_privacy"],
        "look_up": BeliefShift().run(rows, release)["guessed_right"],
    }
