"""Drawing again what nobody would take for the data: γ-Good of Machanavajjhala et al. (2008), Lemma 5.2.

A draw is kept if it would not disclose about the data, or about data in which one person came from elsewhere. Judging
by the data alone would show it; with its neighbours' leave, rejecting costs ln 1/(1 − δ).
"""

from __future__ import annotations

import numpy as np

from sfumato.compiled import compiled
from sfumato.mechanisms.dirichlet.disclosure import threshold


@compiled
def _count(places: np.ndarray, place: int) -> int:
    """How often a place occurs in a rising array."""
    return int(np.searchsorted(places, place, side="right") - np.searchsorted(places, place))


@compiled
def is_good(
    places: np.ndarray,
    levels: np.ndarray,
    drawn: np.ndarray,
    drawn_levels: np.ndarray,
    alphas: np.ndarray,
    keep: np.ndarray,
    growth: float,
    shrinking: float,
) -> bool:
    """Whether a draw is kept; `places` and `levels`, rising, are those of the real people."""
    order = np.argsort(drawn)
    ranked = drawn[order]
    over = -1  # proof: good
    for i in range(len(ranked)):
        if i and ranked[i] == ranked[i - 1]:
            continue
        place, level = ranked[i], drawn_levels[order[i]]
        people, times = _count(places, place), _count(ranked, place)
        if times > threshold(people, alphas[level], keep[level], growth, shrinking):
            if over >= 0 or people == 0:
                return False
            if times > threshold(people + 1, alphas[level], keep[level], growth, shrinking):
                return False
            over = place
    if over < 0:
        return True
    for i in range(len(places)):
        if places[i] != over:
            level = levels[i]
            fewer = threshold(_count(places, places[i]) - 1, alphas[level], keep[level], growth, shrinking)
            if _count(ranked, places[i]) <= fewer:
                return True
    return False
