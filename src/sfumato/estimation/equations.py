"""The linear equations of an interior-point step: (G diag(d) Gᵀ + diag(v)) x = G a + b − 1, for a channel G.

A kernel channel G = K diag(s) + e has an inverse kernel T = K⁻¹ of three diagonals, and TG = B = diag(s) + eT. With
x = Tu and λ = v x, the equations times T are  B diag(d) B u + T λ = B a + T (b − 1)  and  T u − λ / v = 0: nine
diagonals when u and λ alternate. Eliminating λ would leave five, but the square of the condition number.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dgbtrf, dgbtrs

from sfumato.mechanisms.channels.base import Channel, Floats
from sfumato.mechanisms.channels.geometric import TruncatedGeometric
from sfumato.mechanisms.channels.kernel import Kernel, multiply_bands

Solve = Callable[[Floats, Floats], Floats]

MAX_DENSE = 500
REACH = 4
MIDDLE = 2 * REACH
"""The row of the main diagonal in LAPACK's layout, which leaves room above for the fill of a factorization."""


class Banded:
    """The equations of a kernel channel, in O(size)."""

    def __init__(self, channel: Kernel) -> None:
        self.unfilter = channel.unfilter_bands
        self.mixed = channel.spike * self.unfilter
        self.mixed[1] += channel.scales
        # T applied to ones gives the scales of the geometric channel, without the cancellation.
        self.unfiltered_ones = TruncatedGeometric(size=channel.size, epsilon=channel.exact_epsilon).scales
        self.frame = self._frame()

    def _frame(self) -> Floats:
        """The bands of both T, which are the same at every step."""
        frame = np.zeros((3 * REACH + 1, 2 * self.unfilter.shape[1]))
        beside = self.unfilter[0, 1:]
        frame[MIDDLE - 1, 1::2] = frame[MIDDLE + 1, ::2] = self.unfilter[1]
        frame[MIDDLE - 3, 3::2] = frame[MIDDLE + 1, 1:-1:2] = beside
        frame[MIDDLE - 1, 2::2] = frame[MIDDLE + 3, :-2:2] = beside
        return frame

    def factor(self, weights: Floats, barrier: Floats) -> Solve:
        """What gives x for a and b, with d = weights and v = barrier; LinAlgError if they cannot be solved."""
        bands = self.frame.copy()
        diagonal, beside, beyond = sandwich(self.mixed, weights)
        bands[MIDDLE, ::2], bands[MIDDLE, 1::2] = diagonal, -1 / barrier
        bands[MIDDLE - 2, 2::2] = bands[MIDDLE + 2, :-2:2] = beside
        bands[MIDDLE - 4, 4::2] = bands[MIDDLE + 4, :-4:2] = beyond
        factors, pivots, failed = dgbtrf(bands, REACH, REACH, overwrite_ab=True)
        if failed:
            raise np.linalg.LinAlgError("an interior-point step has no solution")

        def solve(amounts: Floats, more: Floats) -> Floats:
            right = np.zeros(bands.shape[1])
            right[::2] = (
                multiply_bands(self.mixed, amounts) + multiply_bands(self.unfilter, more) - self.unfiltered_ones
            )
            solution, _ = dgbtrs(factors, REACH, REACH, right, pivots)
            return np.asarray(solution[1::2] / barrier)

        return solve


class Dense:
    """The equations of any channel on a short axis, written out."""

    def __init__(self, channel: Channel) -> None:
        self.matrix = channel.matrix()

    def factor(self, weights: Floats, barrier: Floats) -> Solve:
        normal = (self.matrix * weights) @ self.matrix.T
        normal[np.diag_indices_from(normal)] += barrier
        factor = cho_factor(normal, check_finite=False)
        return lambda amounts, more: np.asarray(cho_solve(factor, self.matrix @ amounts + more - 1, check_finite=False))


Equations = Banded | Dense


def equations(channel: Channel) -> Equations | None:
    """How to solve the equations of a channel, if there is an affordable way."""
    if isinstance(channel, Kernel):
        return Banded(channel)
    return Dense(channel) if channel.size <= MAX_DENSE else None


def sandwich(bands: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """A diag(weights) A for a symmetric A of three diagonals: its main diagonal and the two above it."""
    beside = bands[0, 1:]
    diagonal = bands[1] ** 2 * weights
    diagonal[1:] += beside**2 * weights[:-1]
    diagonal[:-1] += beside**2 * weights[1:]
    first = beside * (bands[1, :-1] * weights[:-1] + bands[1, 1:] * weights[1:])
    return diagonal, first, beside[:-1] * weights[1:-1] * beside[1:]
