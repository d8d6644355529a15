"""Channels whose noise fades by the same factor with every unit of distance.

G_ij = s_j α^|i−j| + e [i = j]: the kernel α^|i−j| is a filter of two recursive passes, and its inverse T has three
diagonals. So G, its transpose and its inverse are applied in O(size), and no power of α is ever formed, however
large ε · size is.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from sfumato.compiled import compiled
from sfumato.mechanisms.channels.base import MIN_EXPECTED, Channel, Floats, state_epsilon
from sfumato.privacy.claims import LocalDP

Number = TypeVar("Number", float, Fraction)


@compiled
def filter_into(found: np.ndarray, amounts: np.ndarray, decay: float) -> None:
    """Σ_h α^|i−h| amounts_h for every i: what lies to the left, and what lies here and to the right.

    Both passes run at once, from either end: each step waits for the one before it, not for the other pass.
    """
    size = len(amounts)
    left = right = 0.0
    for i in range(size // 2):
        j = size - 1 - i
        found[i] = left
        left = (left + amounts[i]) * decay
        right = right * decay + amounts[j]
        found[j] = right
    if size % 2:
        middle = size // 2
        right = right * decay + amounts[middle]
        found[middle] = left + right
        left = (left + amounts[middle]) * decay
    for i in range((size + 1) // 2, size):
        j = size - 1 - i
        found[i] += left
        left = (left + amounts[i]) * decay
        right = right * decay + amounts[j]
        found[j] += right


class Weights(NamedTuple):
    """s, α and e of a channel, as compiled code takes them."""

    scales: Floats
    decay: float
    spike: float


@compiled
def gains_into(gains: np.ndarray, room: np.ndarray, shares: np.ndarray, reported: np.ndarray, weights: Weights) -> None:
    """g = G(q / pG) for one distribution; `room` is as long, to work in."""
    scales, decay, spike = weights
    filter_into(room, shares, decay)
    for j in range(len(shares)):
        gains[j] = reported[j] / max(scales[j] * room[j] + spike * shares[j], MIN_EXPECTED)
        room[j] = scales[j] * gains[j]
    ratios = gains.copy() if spike else gains
    filter_into(gains, room, decay)
    if spike:
        gains += spike * ratios


@compiled
def _gain_rows(gains: np.ndarray, shares: np.ndarray, reported: np.ndarray, weights: Weights) -> None:
    room = np.empty(shares.shape[1])
    for row in range(len(shares)):
        gains_into(gains[row], room, shares[row], reported[row], weights)


@compiled
def _update_into(
    found: np.ndarray, shares: np.ndarray, reported: np.ndarray, scales: np.ndarray, decay: float, spike: float
) -> None:
    """One update of one distribution; weights come one by one, because a tuple takes long to hand over."""
    gains_into(found, np.empty_like(found), shares, reported, Weights(scales, decay, spike))
    found *= shares


@compiled
def _filter_rows(found: np.ndarray, amounts: np.ndarray, decay: float) -> None:
    for row in range(len(amounts)):
        filter_into(found[row], amounts[row], decay)


def filter_axis(amounts: Floats, decay: float) -> Floats:
    """Σ_h α^|i−h| amounts_h for every i, along the last axis."""
    whole = np.ascontiguousarray(amounts, dtype=np.float64)
    found, rows = np.empty_like(whole), (-1, whole.shape[-1])
    _filter_rows(found.reshape(rows), whole.reshape(rows), decay)
    return found


def kernel_inverse(decay: Number, gap: Number) -> tuple[Number, Number, Number]:
    """T = (α^|i−j|)⁻¹ from α and 1 − α: the two ends of its diagonal, the rest of it, and what stands beside it.

    T = [1, 1 + α², …, 1 + α², 1] / (1 − α²) with −α / (1 − α²) beside it.
    """
    end = 1 / (gap * (1 + decay))
    return end, (1 + decay * decay) * end, -decay * end


@dataclass(frozen=True, kw_only=True)
class Kernel(Channel):
    """A channel G_ij = s_j α^|i−j| + e [i = j] with α = e^(−ε), ε per unit of distance."""

    @cached_property
    def decay(self) -> float:
        """α."""
        return math.exp(-self.exact_epsilon)

    @cached_property
    def gap(self) -> float:
        """1 − α, which is known more exactly than from α."""
        return -math.expm1(-self.exact_epsilon)

    @property
    @abstractmethod
    def scales(self) -> Floats:
        """s_j for each report."""

    @property
    def spike(self) -> float:
        """e."""
        return 0.0

    @property
    def claim(self) -> LocalDP:
        return LocalDP(
            epsilon=state_epsilon(self.exact_epsilon * (self.size - 1)), per_step=state_epsilon(self.exact_epsilon)
        )

    @cached_property
    def unfilter_bands(self) -> Floats:
        """T as three rows, in the layout of `scipy.linalg.solve_banded`."""
        bands = np.zeros((3, self.size))
        if self.size == 1:
            bands[1] = 1.0
            return bands
        end, inner, beside = kernel_inverse(self.decay, self.gap)
        bands[0, 1:] = bands[2, :-1] = beside
        bands[1] = inner
        bands[1, [0, -1]] = end
        return bands

    @cached_property
    def weights(self) -> Weights:
        """s, α and e."""
        return Weights(self.scales, self.decay, self.spike)

    def gains(self, shares: Floats, reported: Floats) -> Floats:
        found, rows = np.empty(shares.shape), (-1, self.size)
        given, seen = np.ascontiguousarray(shares), np.ascontiguousarray(reported, dtype=np.float64)
        _gain_rows(found.reshape(rows), given.reshape(rows), seen.reshape(rows), self.weights)
        return found

    def update(self, shares: Floats, reported: Floats) -> Floats:
        if shares.ndim > 1:
            return super().update(shares, reported)
        found = np.empty(self.size)
        _update_into(found, np.ascontiguousarray(shares), np.ascontiguousarray(reported, np.float64), *self.weights)
        return found

    def spread(self, shares: Floats) -> Floats:
        return np.asarray(self.scales * filter_axis(shares, self.decay) + self.spike * shares)

    def gather(self, amounts: Floats) -> Floats:
        return filter_axis(self.scales * amounts, self.decay) + self.spike * amounts

    def invert(self, shares: Floats) -> Floats:
        """From (K + e/s) p = q/s, times T: (1 + T e/s) p = T (q/s)."""
        return self._solve(multiply_bands(self.unfilter_bands, shares / self.scales), 1.0, self.spike / self.scales)

    def contributions(self, amounts: Floats) -> Floats:
        """From (K s + e) h = f, times T: (s + T e) h = T f."""
        return self._solve(multiply_bands(self.unfilter_bands, amounts), self.scales, np.full(self.size, self.spike))

    def _solve(self, right: Floats, diagonal: float | Floats, spikes: Floats) -> Floats:
        """x of (diagonal + T spikes) x = right, along the last axis."""
        if not self.spike:
            return right / diagonal
        from scipy.linalg import solve_banded

        bands = self.unfilter_bands * spikes
        bands[1] += diagonal
        return np.asarray(solve_banded((1, 1), bands, right.reshape(-1, self.size).T).T.reshape(right.shape))


def multiply_bands(bands: Floats, amounts: Floats) -> Floats:
    """A matrix of three diagonals, laid out as for `solve_banded`, times vectors along the last axis."""
    product = np.asarray(bands[1] * amounts)
    product[..., :-1] += bands[0, 1:] * amounts[..., 1:]
    product[..., 1:] += bands[2, :-1] * amounts[..., :-1]
    return product
