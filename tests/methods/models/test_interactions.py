"""Interactions: the optimum of published tables to three digits, exact whole numbers, and tables put together again."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.methods.models.interactions import (
    Axes,
    best_deviations,
    cell_variance,
    centre,
    cost_of,
    margin,
    put_together,
    scaled_interaction,
    subsets,
)

ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
"""The sizes of Adult's fourteen columns that the optimum was published for."""
shapes = st.lists(st.integers(2, 5), min_size=1, max_size=3).map(tuple)


@pytest.mark.parametrize(("ways", "published"), [(1, 3.047), (2, 6.359), (3, 10.515)])
def test_the_optimum_of_all_tables_of_adult(ways: int, published: float) -> None:
    """The root mean squared error of all cells for Σ Π(1 − 1/n)/σ² = 1, as Xiao et al. print it."""
    tables = list(combinations(range(len(ADULT)), ways))
    deviations = best_deviations(ADULT, dict.fromkeys(tables, 1.0))
    assert sum(cost_of(ADULT, part) / sigma**2 for part, sigma in deviations.items()) == pytest.approx(1)
    cells = [math.prod(ADULT[axis] for axis in table) for table in tables]
    variances = [cell_variance(ADULT, table, deviations) for table in tables]
    assert math.sqrt(float(np.average(variances, weights=cells))) == pytest.approx(published, abs=5e-4)


def test_other_shares_of_the_noise_are_worse() -> None:
    sizes, tables = (5, 3, 2), {(0, 1): 1.0, (1, 2): 4.0}
    best = best_deviations(sizes, tables)

    def error(deviations: dict[Axes, float]) -> float:
        scale = sum(cost_of(sizes, part) / sigma**2 for part, sigma in deviations.items())
        return scale * sum(
            weight * math.prod(sizes[axis] for axis in table) * cell_variance(sizes, table, deviations)
            for table, weight in tables.items()
        )

    generator = np.random.default_rng(1)
    for _ in range(50):
        other = {part: sigma * math.exp(generator.normal(0, 0.3)) for part, sigma in best.items()}
        assert error(other) > error(best)


@given(shapes, st.integers(0, 100))
def test_one_row_changes_a_scaled_interaction_by_the_length_that_is_told(shape: Axes, seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 50, size=shape)
    scaled, squared = scaled_interaction(table)
    assert np.allclose(scaled / table.size, centre(table))
    more = table.copy()
    more[tuple(int(generator.integers(size)) for size in shape)] += 1
    change = scaled_interaction(more)[0] - scaled
    assert int((change**2).sum()) == squared
    assert squared / table.size**2 == pytest.approx(cost_of(shape, tuple(range(len(shape)))))
    assert int(np.abs(change).sum()) == math.prod(2 * (size - 1) for size in shape)


@given(shapes, st.integers(0, 100))
def test_a_table_is_the_sum_of_its_interactions(shape: Axes, seed: int) -> None:
    axes = tuple(range(len(shape)))
    table = np.random.default_rng(seed).integers(0, 50, size=shape)
    interactions = {part: centre(margin(table, axes, part)) for part in subsets(axes)}
    assert np.allclose(put_together(shape, axes, interactions), table)
    assert np.allclose(put_together(shape, axes[:-1], interactions), table.sum(axis=-1))
    interactions[axes] = interactions[axes] * 2
    assert not np.allclose(put_together(shape, axes, interactions), table)
