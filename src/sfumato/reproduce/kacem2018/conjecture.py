"""Is geometric noise the best for reconstruction (Conjecture 4.6 of kacem2018)? The best channel, found with a bound.

With N reports through a channel C, the covariance of the likeliest distribution tends to (J⁻¹ − ppᵀ)/N, where J = Σ_j
c_j c_jᵀ / (p·c_j) over the columns c_j of C. The error of a channel is taken to be the sum of these variances.

Which channels need be searched: C is ε-d-private iff every column lies in the cone c_i ≤ e^ε c_{i±1}. ccᵀ/(p·c) is
matrix-convex and homogeneous, so splitting a column into a sum only adds to J: columns along the extreme rays of the
cone suffice. On a ray one of c_i = e^ε c_{i+1} and c_{i+1} = e^ε c_i holds for every i, so there are 2ⁿ of them. The
geometric mechanism uses the n + 1 with a single peak. What is left is to weigh the rays: minimize trace J(x)⁻¹
subject to Σ x_s c_s = 1, x ≥ 0, which is convex. Its gradient at any x bounds the minimum from below by a linear
program, so what is found is known to be best.

What is found: below ε of about 1.5, columns with two peaks help, and the conjecture is false for this error: by a
factor of 8 at ε = 0.1 and three values. At larger ε the geometric mechanism is the best of all, to the precision of
the bound.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]

PRECISION = 1e-7
STEPS = 50
TENFOLD = 10.0
SHAPES: dict[str, Callable[[int], tuple[float, ...]]] = {
    "uniform": lambda size: (1 / size,) * size,
    "falling": lambda size: tuple(2 * (size - i) / (size * (size + 1)) for i in range(size)),
    "peaked": lambda size: (0.85, *[0.15 / (size - 1)] * (size - 1)),
}
CONJECTURES = [
    (shape, steps, epsilon)
    for steps in (1, 2, 3, 4, 5)
    for epsilon in (0.1, 0.5, 1.0, 1.5, 2.0, 4.0)
    for shape in SHAPES
]


@dataclass(frozen=True, kw_only=True)
class Search:
    """All ε-d-private channels on n + 1 values that are distributed like `shares`."""

    epsilon: float
    shares: tuple[float, ...]

    @property
    def steps(self) -> int:
        return len(self.shares) - 1

    @cached_property
    def rays(self) -> Floats:
        """The extreme rays of the cone of columns: (values, rays)."""
        signs = np.array(list(product((-1, 1), repeat=self.steps)), dtype=np.float64)
        logs = self.epsilon * np.hstack([np.zeros((len(signs), 1)), np.cumsum(signs, axis=1)])
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)).T)

    @cached_property
    def geometric(self) -> Floats:
        """The weights of the rays in the truncated geometric mechanism: those that rise to one peak and fall."""
        decay = np.exp(-self.epsilon)
        peaks = np.argmax(self.rays, axis=0)
        distances = np.abs(np.arange(self.steps + 1)[:, None] - peaks)
        falling = np.isclose(self.rays, np.exp(-self.epsilon * distances), rtol=1e-9).all(axis=0)
        scales = np.where((peaks == 0) | (peaks == self.steps), 1, 1 - decay) / (1 + decay)
        return np.where(falling, scales, 0.0)

    def error(self, weights: Floats) -> float:
        """N times the sum of the variances of the estimated shares."""
        return float(np.trace(np.linalg.inv(self._information(weights))) - np.square(self.shares).sum())

    def deviation(self, weights: Floats) -> float:
        """√N times the expected total variation, from the same variances and normal errors."""
        covariance = np.linalg.inv(self._information(weights)) - np.outer(self.shares, self.shares)
        return float(np.sqrt(2 / np.pi * np.diag(covariance)).sum() / 2)

    def channel(self, weights: Floats) -> Floats:
        """C: (values, reports)."""
        return self.rays * weights

    def _information(self, weights: Floats) -> Floats:
        return (self.rays * (weights * self._per_share)) @ self.rays.T

    @cached_property
    def _per_share(self) -> Floats:
        return 1 / (np.array(self.shares) @ self.rays)

    def gradient(self, weights: Floats) -> Floats:
        """How the error changes with the weight of each ray."""
        solved = np.linalg.solve(self._information(weights), self.rays)
        return np.asarray(-self._per_share * (solved**2).sum(axis=0))

    def lower_bound(self, weights: Floats) -> float:
        """No channel has a smaller error: the error is convex, so it lies above its tangent at these weights.

        The tangent's minimum over all channels is a linear program. Prices that bound it from below are lowered until
        they are below the gradient on every ray, so that the bound does not rest on how exactly it was solved.
        """
        gradient = self.gradient(weights)
        scale = np.abs(gradient).max()
        solved = linprog(
            gradient / scale,
            A_eq=self.rays,
            b_eq=np.ones(self.steps + 1),
            method="highs",
            options={"dual_feasibility_tolerance": 1e-10},
        )
        prices = solved.eqlin.marginals
        # Every ray sums to at least 1, so lowering all prices lowers its price by at least as much.
        prices = prices - max(0.0, (self.rays.T @ prices - gradient / scale).max())
        return float(self.error(weights) + prices.sum() * scale - gradient @ weights)

    def best(self) -> Floats:
        """The weights of the best channel, by a barrier that is lowered step by step."""
        weights = self._inside()
        sharpness = 1 / self.error(self.geometric)
        while True:
            weights = self._centred(weights, sharpness)
            if len(weights) / sharpness < PRECISION / TENFOLD * self.error(weights):
                return weights
            sharpness *= TENFOLD

    def _inside(self) -> Floats:
        """Weights whose smallest is as large as possible."""
        rays = self.rays.shape[1]
        found = linprog(
            np.append(np.zeros(rays), -1),
            method="highs",
            bounds=[(0, None)] * (rays + 1),
            A_eq=np.hstack([self.rays, np.zeros((self.steps + 1, 1))]),
            b_eq=np.ones(self.steps + 1),
            A_ub=np.hstack([-np.eye(rays), np.ones((rays, 1))]),
            b_ub=np.zeros(rays),
        )
        return np.asarray(found.x[:-1])

    def _centred(self, weights: Floats, sharpness: float) -> Floats:
        """Newton's method for sharpness · error − Σ ln weights, on the weights of channels."""

        def height(at: Floats) -> float:
            return sharpness * self.error(at) - float(np.log(at).sum())

        values = self.steps + 1
        for _ in range(STEPS):
            solved = np.linalg.solve(self._information(weights), self.rays)
            slope = sharpness * self.gradient(weights) - 1 / weights
            curve = 2 * sharpness * np.outer(self._per_share, self._per_share)
            curve = curve * (self.rays.T @ solved) * (solved.T @ solved) + np.diag(weights**-2)
            system = np.block([[curve, self.rays.T], [self.rays, np.zeros((values, values))]])
            right = np.append(-slope, 1 - self.rays @ weights)
            step = np.linalg.solve(system, right)[: len(weights)]
            gain, length = -slope @ step, 1.0
            while (weights + length * step).min() <= 0:
                length /= 2
            while length > PRECISION and height(weights + length * step) > height(weights) - length * gain / 10:
                length /= 2
            weights = weights + length * step
            if gain < PRECISION:
                break
        return weights
