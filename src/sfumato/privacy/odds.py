"""What ε means in odds: how far anybody can get who holds a release, and knows all but one thing.

The adversary knows the whole table but for one fact about one person, and the fact says which of two neighbouring
tables was published: P and Q are the distributions of what is published. By (ε, δ)-differential privacy, P(S) ≤ e^ε
Q(S) + δ for every set S of outputs, and the same with P and Q exchanged.

*Belief*, δ = 0. With prior odds p : 1 − p for P, Bayes' rule gives posterior odds p P(o) : (1 − p) Q(o), at most e^ε
times the prior odds, so a belief of at most e^ε p / (1 − p + e^ε p), whatever was published. Where there are more than
two possibilities, each of the others has at least e^−ε times the probability of the first, and the bound is the same.

*Belief*, δ > 0. Let B be the outputs with P(o) > 2 e^ε Q(o). Then P(B) ≤ e^ε Q(B) + δ < P(B)/2 + δ, so P(B) < 2δ, and
Q(B) is smaller still: but for a probability of 2δ, odds grow by a factor of at most 2 e^ε. Where a claim says that the
ratio itself is at most e^ε but for a probability of δ (probabilistic differential privacy), odds grow by at most that.

*Guess*. A fair coin chose P or Q, and the adversary says P on the outputs in S. With misses α = 1 − P(S) and false
alarms β = Q(S), the two inequalities for S and its complement read 1 − α ≤ e^ε β + δ and 1 − β ≤ e^ε α + δ. Their sum
gives α + β ≥ 2 (1 − δ) / (1 + e^ε), so a guess is right with probability 1 − (α + β)/2 ≤ (e^ε + δ) / (1 + e^ε).
Randomized response that tells the truth outright with probability δ attains it.

*Replacing*. Under adding and removing, the neighbours are the tables with and without a person. Two tables in which
the person has different rows are two such steps apart: P(S) ≤ e^ε (e^ε Q(S) + δ) + δ, which is (2ε, (1 + e^ε) δ).
"""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from sfumato.privacy.loss import Approximate

MOST_SPELLED = 13.8
"""Up to this, e^ε is below a million, and spelled as a number."""
LEAST_SPELLED = 1e-12
"""Below this, e^ε is spelled as if ε were this, which still bounds it from above."""
PRIORS = (0.5, 0.1, 0.01)
"""Beliefs that an adversary may start from, as sentences show them."""


def largest_belief(prior: float, factor: float) -> float:
    """The belief that a prior can become where odds grow by a factor of at most `factor`."""
    return prior / (prior + (1 - prior) / factor)


def odds_factor(loss: Approximate, *, probabilistic: bool = False) -> float:
    """By how much odds can grow, but for the probability that `exception` gives."""
    return _exp(loss.epsilon) * (2 if loss.delta and not probabilistic else 1)


def exception(loss: Approximate, *, probabilistic: bool = False) -> float:
    """The probability with which odds may grow by more than `odds_factor`."""
    return min(float(loss.delta) * (1 if probabilistic else 2), 1.0)


def best_guess(loss: Approximate) -> float:
    """How often the best guess between two neighbouring tables is right, where a fair coin chose one of them."""
    other = 1 / _exp(loss.epsilon)
    return min((1 + float(loss.delta) * other) / (1 + other), 1.0)


def replacing(loss: Approximate) -> Approximate:
    """What a loss of adding and removing people is where a row is replaced by another."""
    delta = min((1 + _exp(loss.epsilon)) * float(loss.delta), 1.0)
    return Approximate(2 * loss.epsilon, Fraction(delta))


def spell_share(share: float) -> str:
    """A share in percent, three digits and rounded up: it bounds something from above."""
    percent = Decimal(f"{share * 100:.12g}")
    return f"{percent.quantize(Decimal(1).scaleb(percent.adjusted() - 2), ROUND_CEILING).normalize():f}%"


def spell_factor(epsilon: float) -> str:
    """e^ε in three digits, more near 1, rounded up because it bounds something from above."""
    if epsilon > MOST_SPELLED:
        return f"e^{epsilon:.12g}, more than a million"
    factor = Decimal(max(epsilon, LEAST_SPELLED) if epsilon else 0).exp()
    digit = min(factor.adjusted() - 2, (factor - 1).adjusted() - 1)
    return f"{factor.quantize(Decimal(1).scaleb(digit), ROUND_CEILING).normalize():,f}"


def beliefs_in_words(loss: Approximate, *, probabilistic: bool = False) -> str:
    """What beliefs can become, at most."""
    factor, failing = odds_factor(loss, probabilistic=probabilistic), exception(loss, probabilistic=probabilistic)
    before, after = PRIORS, [largest_belief(prior, factor) for prior in PRIORS]
    return (
        f"holds something about it for {_list(before)} likely, can come to hold it for at most {_list(after)} likely"
        + (f", but for a probability of {failing:g}" if failing else "")
    )


def guess_in_words(loss: Approximate, question: str) -> str:
    """How good a guess can be, at most."""
    return (
        f"Had a coin decided {question}, no guess would be right more than {spell_share(best_guess(loss))} of the time"
    )


def _list(shares: Sequence[float]) -> str:
    *first, last = map(spell_share, shares)
    return f"{', '.join(first)} or {last}"


def _exp(epsilon: Fraction) -> float:
    """e^ε, as far as numbers go."""
    return math.exp(min(float(epsilon), 700.0))
