"""Private selection: the best of some candidates by integer scores, chosen with one-sided geometric noise.

Every candidate's score gets independent geometric noise of decay e^(−ε), and the largest sum wins, the first of
equals. This is ε-differentially private when one person changes all scores in the same direction by at most 1
(monotone scores), and 2ε otherwise. Proof: fix the noise of all candidates but j. Then j wins exactly when its
noise Z reaches a threshold T = max_i (score_i + Z_i + [i before j]) − score_j. One person moves the maximum and
score_j by between 0 and 1 in the same direction, hence T by at most 1 either way (by at most 2 if not monotone).
P(Z ≥ t) = e^(−ε max(t, 0)) for integers t, so the probability changes by a factor of at most e^ε (e^2ε). ∎
It is the discrete twin of permute-and-flip (McKenna and Sheldon, 2020), never worse than the exponential mechanism.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.noise.digits import Words
from sfumato.mechanisms.noise.geometric import draw_geometric


def choose(scores: NDArray[np.int64], starts: NDArray[np.int64], epsilon: Fraction, source: Words) -> NDArray[np.int64]:
    """The index of the chosen candidate of each run; run i begins at `starts[i]` and none is empty."""
    noisy = scores + draw_geometric(epsilon, len(scores), source)
    best = np.maximum.reduceat(noisy, starts)
    winners = np.flatnonzero(noisy == np.repeat(best, np.diff(starts, append=len(scores))))
    return winners[np.searchsorted(winners, starts)]
