"""The self-check of sampled rows: its bound, its stated false-failure probability, and what it must refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.errors import ReleaseError
from sfumato.release.sampling import FALSE_FAILURE, check_marginals, deviation_bound


@pytest.mark.parametrize("rows", [1, 10, 1_000, 30_000])
@pytest.mark.parametrize("share", [1e-6, 0.001, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("probability", [1e-12, 1e-6, 0.01])
def test_the_bound_holds_for_independent_draws(rows: int, share: float, probability: float) -> None:
    mean = rows * share
    allowed = float(deviation_bound(np.array(mean), probability))
    above = binom.sf(math.floor(mean + allowed), rows, share)
    below = binom.cdf(math.ceil(mean - allowed) - 1, rows, share)
    assert above + below <= probability


def test_the_bound_solves_its_inequality() -> None:
    mean = np.array([0.0, 0.5, 7.0, 4_000.0])
    allowed = deviation_bound(mean, 1e-7)
    assert 2 * np.exp(-(allowed**2) / (2 * mean + 2 * allowed / 3)) == pytest.approx(1e-7)


def test_counts_at_the_bound_pass_and_beyond_it_fail() -> None:
    expected = np.array([[100.0, 900.0], [0.0, 50.0]])
    allowed = deviation_bound(expected, FALSE_FAILURE / 4)
    inside = np.floor(expected + allowed).astype(np.int64)
    check_marginals(expected, inside, 4, "a and b")
    outside = inside.copy()
    outside[1, 0] += 1
    with pytest.raises(ReleaseError, match=r"one cell of a and b, expected 0\.0 and at most 1\d\.\d away"):
        check_marginals(expected, outside, 4, "a and b")


def test_the_bound_is_no_looser_than_needed_to_see_a_correlation() -> None:
    """At 30,000 rows over 12 × 12 cells a cell twice as full as it should be is refused."""
    expected = np.full((12, 12), 30_000 / 144)
    sampled = expected.copy()
    sampled[3, 3] *= 2
    with pytest.raises(ReleaseError):
        check_marginals(expected, sampled.astype(np.int64), 4_000, "a and b")
