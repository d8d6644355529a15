"""Drawing again what nobody would take for the data: γ-Good of Machanavajjhala et al. (2008), Lemma 5.2.

A draw is kept if it would not disclose about the data, or about data in which one person came from elsewhere. Judging
by the data alone would show it; with its neighbours' leave, rejecting costs ln 1/(1 − δ).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.mechanisms.dirichlet.disclosure import threshold
from sfumato.mechanisms.dirichlet.urn import People, count_at


class Thresholds(NamedTuple):
    """What makes a draw too telling: the prior of a place of each level in people, its chance of being kept, and the
    factors e^ε and of shrinking."""

    alphas: NDArray[np.float64]
    keep: NDArray[np.float64]
    growth: float
    shrinking: float


@compiled
def _threshold(people: int, level: int, limits: Thresholds) -> int:
    return threshold(people, limits.alphas[level], limits.keep[level], limits.growth, limits.shrinking)


@compiled
def is_good(people: People, drawn: People, limits: Thresholds) -> bool:
    """Whether a draw is kept; the real people come in rising order of their places."""
    places, order = people.places, np.argsort(drawn.places)
    ranked = drawn.places[order]
    over = -1  # proof: good
    for i in range(len(ranked)):
        if i and ranked[i] == ranked[i - 1]:
            continue
        place, level = ranked[i], drawn.levels[order[i]]
        here, times = count_at(places, place), count_at(ranked, place)
        if times > _threshold(here, level, limits):
            if over >= 0 or here == 0:
                return False
            if times > _threshold(here + 1, level, limits):
                return False
            over = place
    if over < 0:
        return True
    for i in range(len(places)):
        if places[i] != over:
            fewer = _threshold(count_at(places, places[i]) - 1, people.levels[i], limits)
            if count_at(ranked, places[i]) <= fewer:
                return True
    return False
