"""The best single answer to a counting query under differential privacy (Ghosh, Roughgarden and Sundararajan, 2009)."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from sfumato.mechanisms.channels import TruncatedGeometric

Floats = NDArray[np.float64]


def geometric_loss(prior: Floats, epsilon: float) -> float:
    """The expected distance of an answer under geometric noise, each report understood as well as the prior allows."""
    joint = prior[:, None] * TruncatedGeometric(size=len(prior), epsilon=epsilon).matrix()
    places = np.arange(len(prior))
    # What each report costs if it is taken for each value.
    costs = np.abs(np.subtract.outer(places, places)) @ joint
    return float(costs.min(axis=0).sum())


def best_loss(prior: Floats, epsilon: float) -> float:
    """The least expected distance: min Σ p_i C_ij |i − j| over stochastic C with C_ij ≤ e^ε C_hj for |i − h| = 1."""
    size = len(prior)
    places = np.arange(size)
    costs = prior[:, None] * np.abs(np.subtract.outer(places, places))
    rows = np.kron(np.eye(size), np.ones(size))
    limits = []
    for i in range(size - 1):
        for j in range(size):
            for one, other in ((i, i + 1), (i + 1, i)):
                limit = np.zeros((size, size))
                limit[one, j], limit[other, j] = 1.0, -np.exp(epsilon)
                limits.append(limit.ravel())
    found = linprog(
        costs.ravel(), A_ub=np.array(limits), b_ub=np.zeros(len(limits)), A_eq=rows, b_eq=np.ones(size), method="highs"
    )
    return float(found.fun)
