"""Before sampled rows are published: do their marginals agree with the model they were sampled from?

A count of sampled rows is a sum of 0/1 draws with known mean μ. Where the draws are independent or negatively
associated (as they are when values are dealt out in exact shares), Bernstein's inequality holds:
P(|count − μ| ≥ t) ≤ 2 exp(−t² / (2μ + 2t/3)). Rows whose rounding makes up correlations of its own do not pass.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError

FALSE_FAILURE = 1e-9
"""The probability that a correct sampler fails any of its checks."""


def check_marginals(
    expected: NDArray[np.float64],
    sampled: NDArray[np.integer],
    checks: int,
    names: str,
    false_failure: float = FALSE_FAILURE,
) -> None:
    """Refuse sampled counts too far from their expected values; `checks` counts are compared in all."""
    allowed = deviation_bound(expected, false_failure / checks)
    excess = np.abs(sampled - expected) - allowed
    if (excess > 0).any():
        worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
        raise ReleaseError(
            f"the sampled rows do not follow their model: {int(sampled[worst])} rows in one cell of {names}, "
            f"expected {expected[worst]:.1f} and at most {allowed[worst]:.1f} away from that"
        )


def deviation_bound(mean: NDArray[np.float64], probability: float) -> NDArray[np.float64]:
    """The t at which 2 exp(−t² / (2μ + 2t/3)) falls to `probability`: L/3 + √(L²/9 + 2Lμ) with L = ln(2/p)."""
    log = math.log(2 / probability)
    return np.asarray(log / 3 + np.sqrt(log**2 / 9 + 2 * log * mean))
