"""Interactions: the optimum of published tables to three digits, exact scaled numbers, and what noise is left."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import BudgetError
from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.models.graphical import centre
from sfumato.methods.models.interactions import (
    best_deviations,
    cell_variance,
    cost_of,
    measure_interaction,
    scaled_interaction,
)
from sfumato.privacy.loss import Concentrated, Pure

ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
"""The sizes of Adult's fourteen columns that the optimum was published for."""
shapes = st.lists(st.integers(2, 5), min_size=1, max_size=3).map(tuple)


@pytest.mark.parametrize(("ways", "published"), [(1, 3.047), (2, 6.359), (3, 10.515)])
def test_the_optimum_of_all_marginals_of_adult(ways: int, published: float) -> None:
    """The root mean squared error of all cells for a total cost Σ Π(1 − 1/n)/σ² of one (ResidualPlanner's table)."""
    tables = list(combinations(range(len(ADULT)), ways))
    deviations = best_deviations(ADULT, dict.fromkeys(tables, 1.0))
    assert sum(cost_of(ADULT, part) / sigma**2 for part, sigma in deviations.items()) == pytest.approx(1)
    cells = np.array([np.prod([ADULT[axis] for axis in table]) for table in tables], dtype=float)
    variances = np.array([cell_variance(ADULT, table, deviations) for table in tables])
    assert float(np.sqrt(np.average(variances, weights=cells))) == pytest.approx(published, abs=5e-4)


def test_other_shares_of_the_noise_are_worse() -> None:
    sizes, tables = (5, 3, 2), {(0, 1): 1.0, (1, 2): 4.0}
    best = best_deviations(sizes, tables)

    def error(deviations: dict[tuple[int, ...], float]) -> float:
        scale = sum(cost_of(sizes, part) / sigma**2 for part, sigma in deviations.items())
        return scale * sum(
            weight * np.prod([sizes[axis] for axis in table]) * cell_variance(sizes, table, deviations)
            for table, weight in tables.items()
        )

    generator = np.random.default_rng(1)
    for _ in range(50):
        other = {part: sigma * np.exp(generator.normal(0, 0.3)) for part, sigma in best.items()}
        assert error(other) > error(best)


@given(shapes, st.integers(0, 100))
def test_one_row_changes_the_scaled_interaction_by_its_reach(shape: tuple[int, ...], seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 50, size=shape)
    scaled, reach = scaled_interaction(table)
    assert np.allclose(scaled / table.size, centre(table.astype(float)))
    more = table.copy()
    more[tuple(int(generator.integers(size)) for size in shape)] += 1
    assert int(((scaled_interaction(more)[0] - scaled) ** 2).sum()) == reach


def test_the_noise_has_the_variance_that_is_told() -> None:
    table = np.array([[3, 1, 4], [1, 5, 9]])
    budget = Budget(Concentrated(Fraction(1, 10)), SimulatedSource(1))
    cost = WHOLE // 5_000
    drawn = [measure_interaction(table, budget, cost) for _ in range(4_000)]
    noise = np.array([found for found, _ in drawn]) - centre(table.astype(float))
    variance = drawn[0][1]
    assert variance == pytest.approx(2 / 3 * 1 / 2 / (2 * 0.1 / 5_000), rel=1e-6)
    directions = (table.shape[0] - 1) * (table.shape[1] - 1)
    assert (noise**2).sum(axis=(1, 2)).mean() == pytest.approx(variance * directions, rel=0.1)
    assert np.allclose(noise.sum(axis=1), 0)


def test_a_longer_reach_needs_gaussian_noise_and_more_of_it() -> None:
    numbers = np.zeros((1, 20_000), dtype=np.int64)
    budget = Budget(Concentrated(Fraction(1)), SimulatedSource(1))
    usual, longer = (budget.counts(numbers, WHOLE // 4, reach=reach).std() for reach in (1, 100))
    assert longer / usual == pytest.approx(10, rel=0.05)
    with pytest.raises(BudgetError, match="Gaussian"):
        Budget(Pure(Fraction(1)), SimulatedSource(1)).counts(numbers, WHOLE, reach=2)
