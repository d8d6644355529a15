"""Values exchanged between rows: what stays, what comes nearer, and what must not be invented."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from sfumato.methods.models.exchange import Pair, _change, exchange

ROWS = 3_000


def even_pair(column: NDArray[np.int64], values: int) -> Pair:
    """Each value as often as any other, whatever the column says."""
    return Pair(column, np.repeat(np.bincount(column)[:, None] / values, values, axis=1))


def misfit(values: NDArray[np.int64], pairs: list[Pair]) -> float:
    return sum(float((pair.excess(values) ** 2).sum()) for pair in pairs)


@pytest.mark.quick
def test_pairs_come_nearer_and_groups_stay() -> None:
    generator = np.random.default_rng(1)
    pairs = [even_pair(generator.integers(size, size=ROWS), 4) for size in (3, 4, 5)]
    groups, values = generator.integers(6, size=ROWS), generator.integers(4, size=ROWS)
    before = values.copy()
    exchange(values, groups, pairs)
    assert np.bincount(groups * 4 + values).tolist() == np.bincount(groups * 4 + before).tolist()
    assert misfit(values, pairs) < misfit(before, pairs) / 3


@pytest.mark.quick
def test_a_change_is_what_it_is_by_counting() -> None:
    generator = np.random.default_rng(2)
    for _ in range(200):
        sizes = generator.integers(1, 4, size=3)
        pairs = [even_pair(np.append(generator.integers(size, size=9), size - 1), 3) for size in sizes]
        values = generator.integers(3, size=10)
        swapped = values.copy()
        swapped[[0, 1]] = values[[1, 0]]
        excess = np.concatenate([pair.excess(values).reshape(-1) for pair in pairs])
        starts = np.cumsum([0, *(pair.expected.size for pair in pairs)])[:-1]
        here, there = (starts + 3 * np.array([pair.bins[row] for pair in pairs]) for row in (0, 1))
        if values[0] != values[1]:
            counted = (misfit(swapped, pairs) - misfit(values, pairs)) / 2
            assert _change(here, there, values[0], values[1], excess) == pytest.approx(counted, abs=1e-9)


def parity(values: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """How far three bits are from having no part that only the three together show, in deviations of chance."""
    return float(((-1.0) ** (values + one + other)).sum() / np.sqrt(ROWS))


def test_no_triples_are_invented() -> None:
    """Three fair bits, 200 times: Σ z² is within a χ² bound that a fair deal fails once in a million runs."""
    generator, found, twin = np.random.default_rng(3), [], []
    for _ in range(200):
        one, other, values = generator.integers(2, size=(3, ROWS))
        exchange(values, np.zeros(ROWS, dtype=np.int64), [even_pair(one, 2), even_pair(other, 2)])
        found.append(parity(values, one, other))
        uneven = np.where(generator.random(ROWS) < 0.05, one ^ other, generator.integers(2, size=ROWS))
        twin.append(parity(uneven, one, other))
    bound = norm.isf(1e-6 / 2) / np.sqrt(200)
    assert abs(np.mean(found)) < bound
    assert np.mean(np.square(found)) < 1 + norm.isf(1e-6) * np.sqrt(2 / 200)
    assert abs(np.mean(twin)) > bound
