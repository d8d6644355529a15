"""How much one report varies in the unbiased estimate of a share, of a share up to a value, and of a mean; in O(size).

A report j contributes h_j = (Hf)_j to the estimate of f·p, so N reports give it the variance
(Σ_j q_j h_j² − (f·p)²) / N. H is G⁻¹ where that is; a square wave has an H with GH = I. For the cells, h is a column of
H; for the cumulative shares, a sum of columns, and because rows of H sum to 1, that of a kernel is 1 well below the
value and 0 well above.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.compiled import compiled
from sfumato.estimation.unbiased import Chains, chains, contributions, unbiased_shares
from sfumato.mechanisms.channels.base import Channel, Floats
from sfumato.mechanisms.channels.kernel import Kernel, multiply_bands
from sfumato.mechanisms.channels.window import Window


@dataclass(frozen=True)
class Uniform:
    """G⁻¹ = (I − far 11ᵀ) / (near − far), for windows of one report."""

    channel: Window

    @property
    def largest(self) -> float:
        near, far = self.channel.chances
        return max(1 - far, far if self.channel.size > 1 else 0.0) / (near - far)

    def cells(self, observed: Floats) -> Floats:
        return self._squares(observed, np.ones(self.channel.size))

    def cdf(self, observed: Floats) -> Floats:
        return self._squares(np.cumsum(observed), np.arange(1.0, self.channel.size + 1))

    def _squares(self, inside: Floats, cells: Floats) -> Floats:
        """For sums of so many cells, which hold a share `inside` of the reports."""
        near, far = self.channel.chances
        return np.asarray((inside * (1 - cells * far) ** 2 + (1 - inside) * (cells * far) ** 2) / (near - far) ** 2)


@dataclass(frozen=True)
class Tridiagonal:
    """G⁻¹ = diag(1/s) T, for a kernel without a spike."""

    channel: Kernel

    @property
    def largest(self) -> float:
        # The largest entry of every row of T is on its diagonal.
        return float((self.channel.unfilter_bands[1] / self.channel.scales).max())

    def cells(self, observed: Floats) -> Floats:
        return multiply_bands(self.channel.unfilter_bands**2, observed / self.channel.scales**2)

    def cdf(self, observed: Floats) -> Floats:
        """Up to k: 1 before k, 1 − t/s_k at k and t/s_{k+1} after it, with t beside the diagonal of T."""
        edges = self.channel.unfilter_bands[0, 1:] / self.channel.scales[:-1]
        after = self.channel.unfilter_bands[0, 1:] / self.channel.scales[1:]
        squares = np.cumsum(observed)
        squares[:-1] += observed[:-1] * ((1 - edges) ** 2 - 1) + observed[1:] * after**2
        return squares


class Spiked:
    """G⁻¹ = M⁻¹T = (I − M⁻¹ diag(s)) / e with M = diag(s) + eT, for a kernel with a spike e.

    M has three diagonals. Beside its diagonal, M⁻¹ fades from row to row by factors that belong to the rows alone:
    left of the diagonal those of elimination from above, right of it those of elimination from below.
    """

    def __init__(self, channel: Kernel) -> None:
        self.spike, self.scales = channel.spike, channel.scales
        diagonal = channel.scales + channel.spike * channel.unfilter_bands[1]
        beside = channel.spike * channel.unfilter_bands[0, 1:]
        above = pivots(diagonal, beside)
        below = pivots(diagonal[::-1].copy(), beside[::-1].copy())[::-1]
        self.up = -beside / above[:-1]
        self.down = -beside / below[1:]
        self.corner = self.scales / (above + below - diagonal)

    @property
    def largest(self) -> float:
        beside = np.concatenate([self.corner[1:] * np.abs(self.up), self.corner[:-1] * np.abs(self.down)])
        return float(max(np.abs(1 - self.corner).max(), beside.max(initial=0.0)) / abs(self.spike))

    def cells(self, observed: Floats) -> Floats:
        before, after = self._fade(observed, 2)
        beside = np.zeros(len(observed))
        beside[1:] += self.up**2 * before[:-1]
        beside[:-1] += self.down**2 * after[1:]
        return np.asarray((observed * (1 - self.corner) ** 2 + self.corner**2 * beside) / self.spike**2)

    def cdf(self, observed: Floats) -> Floats:
        """Up to k: 1 + c/e at k, fading towards 1 before it, and y/e after it, fading towards 0.

        With r and β the factors of rows k and k + 1, c = r (1 − e)(1 − β) / (1 − rβ) and y = −β (1 − e − c).
        """
        before, after = self._fade(observed, 2)
        once, _ = self._fade(observed, 1)
        edge = self.up * (1 - self.spike) * (1 - self.down) / (1 - self.up * self.down)
        beyond = self.down * (1 - self.spike - edge)
        squares = np.cumsum(observed)
        squares[:-1] += 2 * edge / self.spike * once[:-1] + (edge / self.spike) ** 2 * before[:-1]
        squares[:-1] += (beyond / self.spike) ** 2 * after[1:]
        return squares

    def _fade(self, observed: Floats, power: int) -> tuple[Floats, Floats]:
        """What lies here and before, and here and after, each discounted by the factors on the way."""
        after = discount(observed[::-1].copy(), self.down[::-1] ** power)[::-1]
        return discount(observed, self.up**power), after


@compiled
def pivots(diagonal: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """The pivots of a symmetric matrix of three diagonals, eliminated from above."""
    found = diagonal.copy()
    for i in range(1, len(diagonal)):
        found[i] -= beside[i - 1] ** 2 / found[i - 1]
    return found


@compiled
def discount(amounts: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Each amount plus the sum before it times the factor between them."""
    found = amounts.copy()
    for i in range(1, len(amounts)):
        found[i] += factors[i - 1] * found[i - 1]
    return found


def _inverse(channel: Channel) -> Uniform | Chains | Tridiagonal | Spiked:
    """The squares of H and of sums of its columns, weighted by q and summed."""
    if isinstance(channel, Kernel):
        return Spiked(channel) if channel.spike else Tridiagonal(channel)
    if isinstance(channel, Window) and not channel.reach:
        return Uniform(channel)
    return chains(channel)


def mean_variance(channel: Channel, observed: Floats, amounts: Floats) -> float:
    """The variance that one report has in the unbiased estimate of the mean of `amounts` over people."""
    # Contributions to a constant are that constant: taking one away changes no variance and saves digits.
    worth = contributions(channel, amounts - amounts.mean())
    return max(0.0, float(observed @ worth**2 - (observed @ worth) ** 2))


def cell_variances(channel: Channel, observed: Floats) -> Floats:
    """The same for each share."""
    return np.maximum(0.0, _inverse(channel).cells(observed) - unbiased_shares(channel, observed) ** 2)


def cdf_variances(channel: Channel, observed: Floats) -> Floats:
    """The same for each cumulative share; the last one is always 1."""
    variances = np.maximum(0.0, _inverse(channel).cdf(observed) - np.cumsum(unbiased_shares(channel, observed)) ** 2)
    variances[-1] = 0.0
    return variances


def one_report_moves(channel: Channel) -> float:
    """The most by which one report can change a count of people: the largest entry of H."""
    return _inverse(channel).largest
