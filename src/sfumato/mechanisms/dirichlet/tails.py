"""Upper tails of beta-binomial counts, summed term by term: one minus the distribution function would cancel.

A count of m draws is beta-binomial with parameters (a, b) when the urn holds mass a for the thing counted and b for
everything else. Every function here returns an upper bound that is exact up to rounding.
"""

from math import exp, lgamma, log, log1p

from sfumato.compiled import compiled

STIRLING = 4096.0
"""From here on, differences of log-gamma are taken by Stirling's series; each alone would lose the digits."""
LARGE = 1e200
NEGLIGIBLE = 1e-13
SLACK = 1.0 + 1e-9
"""Covers the rounding of a tail's terms."""


@compiled
def rising(x: float, d: float) -> float:
    """ln Γ(x + d) − ln Γ(x), the logarithm of the rising product."""
    if x < STIRLING:
        return lgamma(x + d) - lgamma(x)
    return d * log(x) + (x + d - 0.5) * log1p(d / x) - d + (1.0 / (x + d) - 1.0 / x) / 12.0


@compiled
def tail(m: int, a: float, b: float, above: int) -> float:
    """P(count > above) for a beta-binomial count of m draws."""
    if above < 0:
        return 1.0
    if above >= m or a <= 0.0:
        return 0.0
    if b <= 0.0:
        return 1.0
    first = above + 1
    choose = lgamma(m + 1.0) - lgamma(first + 1.0) - lgamma(m - first + 1.0)
    # Terms are kept relative to e^logarithm: where the bulk lies above the first term, that term alone may underflow.
    logarithm = choose + rising(a, first) + rising(b, m - first) - rising(a + b, m)
    term, total = 1.0, 0.0
    for j in range(first, m + 1):
        total += term
        if j == m:
            break
        ratio = (m - j) / (j + 1.0) * (a + j) / (b + (m - j - 1))
        term *= ratio
        if total > LARGE:
            term, total, logarithm = term / LARGE, total / LARGE, logarithm + log(LARGE)
        # Beyond the mode, and where the law has no second mode at m, each further term is smaller than this one.
        if ratio < 1.0 and b >= 1.0 and term * (m - j) < NEGLIGIBLE * total:
            total += term * (m - j)
            break
    return min(1.0, exp(min(logarithm + log(total), 0.0)) * (SLACK + 1e-14 * m))
