"""Private selection by the exponential mechanism, exactly: under ρ it is worth twice the ε of noisy scores."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.noise.digits import Words
from sfumato.mechanisms.noise.geometric import draw_geometric

PROPOSALS = 2**14
"""Drawn at a time, for all runs together."""


def choose_by_weight(
    scores: NDArray[np.int64], starts: NDArray[np.int64], epsilon: Fraction, source: Words
) -> NDArray[np.int64]:
    """The index of the chosen candidate of each run, which begins at `starts[i]` and is not empty.

    Candidate j of a run is chosen with a probability ∝ e^(ε score_j).
    A candidate is proposed, each with the same probability, and taken if geometric noise of decay e^(−ε) reaches what
    its score lacks to the best, which has the probability e^(−ε (best − score)); otherwise another is proposed.

    Let one person change every score by between 0 and 1 (monotone) or by at most 1 either way, and let c be ε or 2ε.
    The selection is c²/8-zCDP. Proof: the loss L(j) = ln P′(j) / P(j) is ε times the change of score j, plus what is
    the same for all j, so it lies in an interval of length c. Let f(a) = ln E_P e^(aL). It is 0 at a = 0 and, because
    E_P e^L = Σ P′ = 1, at a = 1; f″(a) is the variance of L under weights P e^(aL), at most c²/4. Hence
    f(a) ≤ (c²/4) a (a − 1) / 2 for a > 1, and the Rényi divergence f(a) / (a − 1) of order a is at most a c²/8. ∎
    """
    lengths = np.diff(starts, append=len(scores))
    lacking = np.repeat(np.maximum.reduceat(scores, starts), lengths) - scores
    chosen = np.full(len(starts), -1, dtype=np.int64)
    while len(waiting := np.flatnonzero(chosen < 0)):
        each = max(PROPOSALS // len(waiting), 1)
        proposed = starts[waiting, None] + _below(np.repeat(lengths[waiting], each), source).reshape(-1, each)
        taken = draw_geometric(epsilon, proposed.size, source).reshape(proposed.shape) >= lacking[proposed]
        settled = taken.any(axis=1)
        chosen[waiting[settled]] = proposed[settled, taken[settled].argmax(axis=1)]
    return chosen


def _below(limits: NDArray[np.int64], source: Words) -> NDArray[np.int64]:
    """A number in 0..limit − 1 for each limit, all alike likely: words beyond the last multiple are drawn again."""
    bound = limits.astype(np.uint64)
    beyond = (np.uint64(2**64 - 1) - bound + np.uint64(1)) // bound * bound + (bound - np.uint64(1))
    words = source.words(len(limits))
    while len(again := np.flatnonzero(words > beyond)):
        words = words.copy()
        words[again] = source.words(len(again))
    return (words % bound).astype(np.int64)
