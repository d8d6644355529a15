"""What the estimates are compared with: written-out matrices, a general optimizer, and random small problems."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from sfumato.mechanisms.channels import CHANNELS, Channel, make_channel

Floats = NDArray[np.float64]


def dense_update(matrix: Floats, observed: Floats, shares: Floats) -> Floats:
    return shares * (matrix @ (observed / (shares @ matrix)))


def dense_likelihood(matrix: Floats, observed: Floats, shares: Floats) -> float:
    seen = observed > 0
    return float(observed[seen] @ np.log((shares @ matrix)[seen]))


def optimum(matrix: Floats, observed: Floats) -> float:
    """The largest log likelihood that a general optimizer finds on the simplex."""
    size = len(matrix)
    found = minimize(
        lambda p: -dense_likelihood(matrix, observed, np.maximum(p, 1e-12)),
        np.full(size, 1 / size),
        jac=lambda p: -matrix @ (observed / (np.maximum(p, 1e-12) @ matrix)),
        bounds=[(0, 1)] * size,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(size)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1_000},
    )
    shares = np.maximum(found.x, 0)
    return dense_likelihood(matrix, observed, shares / shares.sum())


@st.composite
def problems(draw: st.DrawFn, names: tuple[str, ...] = tuple(CHANNELS), most: int = 12) -> tuple[Channel, Floats]:
    """A channel, and shares of reports with zeros among them."""
    epsilon = draw(st.sampled_from([0.01, 0.1, 0.5, 1.0, 3.0, 12.0]))
    channel = make_channel(draw(st.sampled_from(names)), draw(st.integers(1, most)), epsilon)
    counts = draw(
        st.lists(st.integers(0, 30), min_size=channel.reports, max_size=channel.reports).filter(lambda c: sum(c) > 0)
    )
    return channel, np.array(counts) / sum(counts)


def two_humps(size: int) -> Floats:
    """A distribution with two humps, and nothing near zero."""
    at = np.arange(size) / size
    shares = np.exp(-(((at - 0.3) / 0.1) ** 2)) + 0.5 * np.exp(-(((at - 0.7) / 0.15) ** 2)) + 0.1
    return np.asarray(shares / shares.sum())


def drawn(channel: Channel, shares: Floats, reports: int, seed: int) -> NDArray[np.int64]:
    """Simulated counts of reports."""
    return np.random.default_rng(seed).multinomial(reports, channel.spread(shares))
