"""Shares from noisy margins: exact without noise, even where noise drowns them, better than either in between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.estimation.margins import LEAST, shares_of_margin
from sfumato.streams import stream

COUNTS = np.array([7_000, 1_500, 900, 300, 200, 100, 0, 0])
ONES = np.ones(8, dtype=np.int64)


def noisy(deviation: float, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return COUNTS + np.round(stream("margin", seed).laplace(0, deviation / np.sqrt(2), 8)).astype(np.int64)


def test_without_noise_shares_are_those_of_the_rows_but_for_a_little() -> None:
    found = shares_of_margin(COUNTS, ONES, 0.0, 10_000)
    assert found == pytest.approx((1 - LEAST) * COUNTS / 10_000 + LEAST / 8)


def test_wide_steps_are_even_in_proportion() -> None:
    widths = np.array([1, 3, 4])
    assert shares_of_margin(np.array([10, 30, 40]), widths, 1.0, 80) is None
    found = shares_of_margin(np.array([80, 0, 0]), widths, 0.0, 80)
    assert found == pytest.approx([1 - LEAST + LEAST / 8, LEAST * 3 / 8, LEAST / 2])


@given(st.lists(st.integers(-500, 5_000), min_size=2, max_size=12), st.floats(0, 1e6), st.floats(-50, 1e5))
def test_shares_are_above_zero_and_add_up_to_one(counts: list[int], variance: float, total: float) -> None:
    found = shares_of_margin(np.array(counts), np.ones(len(counts), dtype=np.int64), variance, total)
    if found is not None:
        assert found.min() > 0
        assert found.sum() == pytest.approx(1)


def test_a_known_total_is_kept() -> None:
    """Counts that sum up to too much are lowered before they are compared with what is even."""
    more, right = (shares_of_margin(COUNTS + add, ONES, 100.0, 10_000) for add in (500, 0))
    assert more == pytest.approx(right)


@pytest.mark.parametrize("deviation", [50, 500, 1_000])
def test_shares_are_nearer_to_the_truth_than_even_ones_and_than_the_counts(deviation: float) -> None:
    """Mean squared distances over 60 draws; the counts themselves are the twin that trusts noise."""
    truth, even = COUNTS / 10_000, np.full(8, 1 / 8)
    estimated, trusting = [], []
    for seed in range(60):
        counts = noisy(deviation, seed)
        shares = shares_of_margin(counts, ONES, deviation**2, 10_000)
        estimated.append(((even if shares is None else shares) - truth) ** 2)
        trusting.append((counts / 10_000 - truth) ** 2)
    assert np.mean(estimated) < ((even - truth) ** 2).mean()
    assert np.mean(estimated) < np.mean(trusting)
