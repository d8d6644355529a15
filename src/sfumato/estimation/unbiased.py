"""The unbiased estimate: linear in the reports, so its variance has a closed form, but a share of it may be negative.

Where there are as many reports as values it is p = qG⁻¹. A square wave has more, so many estimates are unbiased. Its
reports j, j + width, j + 2·width, … are a chain: their windows cover the axis without overlap. So the near ones among
the reports k, k − width, … count the people up to k, those of the rest of the chain count the others, and the two are
averaged, each the more the fewer reports it takes. Of all unbiased linear estimates that one varies least if all
reports are equally common.
"""

import math

import numpy as np

from sfumato.errors import ParameterError
from sfumato.estimation.solution import GAP, Solution
from sfumato.mechanisms.channels.base import Channel, Floats
from sfumato.mechanisms.channels.window import Window


class Chains:
    """The chains of reports under a square wave, for a reach of at least 1.

    With λ the part of the chain of k up to k, D = near − far, and sums over that chain,
      F_k = λ + Σ_j q_j a_j / D,   a_j = 1 − λ up to k and −λ beyond it,   and p_k = F_k − F_{k−1}.
    The a_j of a chain sum to 0, so reports from far away cancel.
    """

    def __init__(self, channel: Window) -> None:
        self.size, self.width, self.length = channel.size, channel.width, channel.reports
        self.height = channel.chances[0] * -math.expm1(-channel.exact_epsilon)
        here, beyond = self._sides(np.ones(self.length))
        self.parts = here / (here + beyond)

    def shares(self, observed: Floats) -> Floats:
        return np.diff(self.parts * observed.sum() + self._leaning(observed) / self.height, prepend=0.0)

    def contributions(self, amounts: Floats) -> Floats:
        """Σ_k (f_k − f_{k+1}) F_k, taken apart by reports: of their own chain, those k count that are not before j."""
        falls = np.zeros(self.length)
        falls[: self.size] = -np.diff(amounts, append=0.0)
        weighted = np.zeros(self.length)
        weighted[: self.size] = falls[: self.size] * self.parts
        later = self._totals(falls) - self._running(falls) + falls
        return np.asarray(weighted.sum() + (later - self._totals(weighted)) / self.height)

    def cells(self, observed: Floats) -> Floats:
        """Σ_j q_j h_j² for each share, which two neighbouring chains take part in and all reports with a constant."""
        constant, total = np.diff(self.parts, prepend=0.0), observed.sum()
        linear = np.diff(self._leaning(observed), prepend=0.0) / self.height
        squares = self._squares(observed)
        squares[1:] += squares[:-1].copy()
        return np.asarray(squares / self.height**2 + constant * (2 * linear + constant * total))

    def cdf(self, observed: Floats) -> Floats:
        """The same for each cumulative share."""
        linear, total = self._leaning(observed) / self.height, observed.sum()
        return np.asarray(self._squares(observed) / self.height**2 + self.parts * (2 * linear + self.parts * total))

    @property
    def largest(self) -> float:
        """The largest contribution of a report to a share, either way."""
        constant, beyond = np.diff(self.parts, prepend=0.0), self.parts < 1
        own = constant + (1 - self.parts) / self.height, (constant - self.parts / self.height)[beyond]
        before = constant[1:] - (1 - self.parts[:-1]) / self.height, constant[1:] + self.parts[:-1] / self.height
        return float(max(np.abs(found).max(initial=0.0) for found in (*own, *before)))

    def _leaning(self, observed: Floats) -> Floats:
        """Σ_j q_j a_j for each k."""
        here, beyond = self._sides(observed)
        return here * (1 - self.parts) - beyond * self.parts

    def _squares(self, observed: Floats) -> Floats:
        """Σ_j q_j a_j² for each k."""
        here, beyond = self._sides(observed)
        return here * (1 - self.parts) ** 2 + beyond * self.parts**2

    def _sides(self, amounts: Floats) -> tuple[Floats, Floats]:
        """What the chain of each value holds up to it, and beyond it."""
        here = self._running(amounts)[: self.size]
        return here, self._totals(amounts)[: self.size] - here

    def _running(self, amounts: Floats) -> Floats:
        """For each report, the sum of its chain up to it."""
        return self._rows(amounts).cumsum(axis=0).ravel()[: self.length]

    def _totals(self, amounts: Floats) -> Floats:
        """For each report, the sum of its chain."""
        rows = self._rows(amounts)
        return np.broadcast_to(rows.sum(axis=0), rows.shape).ravel()[: self.length]

    def _rows(self, amounts: Floats) -> Floats:
        """Amounts of reports with a chain in each column."""
        return np.pad(amounts, (0, -self.length % self.width)).reshape(-1, self.width)


def unbiased_shares(channel: Channel, observed: Floats) -> Floats:
    """The share of each value; they sum to what the observed shares of reports sum to."""
    return channel.invert(observed) if channel.invertible else chains(channel).shares(observed)


def inversion(channel: Channel, observed: Floats, *, gap: float = GAP) -> Solution:
    """The unbiased estimate, qG⁻¹ where that is; its gap is infinite if it is not a distribution.

    Where no share of qG⁻¹ is negative, it is also the most likely distribution (paper kacem2018, Proposition 4.5):
    then pG = q, and no distribution of reports makes q more likely than q itself.
    """
    return Solution.at(channel, observed, unbiased_shares(channel, observed), gap=gap, steps=0)


def contributions(channel: Channel, amounts: Floats) -> Floats:
    """What each report contributes to the unbiased estimate of the mean of `amounts` over people."""
    return channel.contributions(amounts) if channel.invertible else chains(channel).contributions(amounts)


def chains(channel: Channel) -> Chains:
    """The chains of a channel with windows."""
    if not isinstance(channel, Window):
        raise ParameterError(f"{channel.name} has no unbiased estimate; use another mechanism")
    return Chains(channel)
