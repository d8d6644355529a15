"""Conjecture 4.6 of kacem2018, that geometric noise reconstructs best, has a counterexample on exact numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.reproduce.kacem2018.conjecture import PRECISION, SHAPES, Search

HALF = Fraction(1, 2)
RAYS = [[1, HALF, HALF**2], [HALF, 1, HALF], [HALF**2, HALF, 1], [1, HALF, 1]]
"""The columns that d-privacy allows at ε = ln 2 on three values, up to a factor; the last one has two peaks."""
GEOMETRIC = [Fraction(2, 3), Fraction(1, 3), Fraction(2, 3), Fraction(0)]
BETTER = [Fraction(1, 3), Fraction(1, 2), Fraction(1, 3), Fraction(1, 3)]

Matrix = list[list[Fraction]]


def channel(weights: list[Fraction]) -> Matrix:
    """(values, reports)."""
    return [[weight * ray[i] for weight, ray in zip(weights, RAYS, strict=True)] for i in range(3)]


def inverse(matrix: Matrix) -> Matrix:
    """By Gauss and Jordan, on fractions."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = next(row for row in range(i, size) if rows[row][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [number / rows[i][i] for number in rows[i]]
        for other in range(size):
            if other != i:
                factor = rows[other][i]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[i], strict=True)]
    return [row[size:] for row in rows]


def exact_error(matrix: Matrix) -> Fraction:
    """N times the sum of the asymptotic variances for uniform shares: trace J⁻¹ − Σ p²."""
    columns = [column for column in zip(*matrix, strict=True) if any(column)]
    information = [
        [sum((c[i] * c[j] / (sum(c) / 3) for c in columns), Fraction(0)) for j in range(3)] for i in range(3)
    ]
    solved = inverse(information)
    return sum((solved[i][i] for i in range(3)), Fraction(0)) - Fraction(1, 3)


SQUARE = [[Fraction(number, 9) for number in row] for row in ([1, 6, 2], [2, 3, 4], [4, 3, 2])]
"""A channel with as many reports as values, none of whose columns lies on a ray but the second."""


def is_private(matrix: Matrix) -> bool:
    """Whether rows sum to one and neighbouring ones differ by a factor of at most 2."""
    pairs = [(one, other) for i in range(2) for one, other in zip(matrix[i], matrix[i + 1], strict=True)]
    return all(sum(row) == 1 for row in matrix) and all(a <= 2 * b and b <= 2 * a for a, b in pairs)


@pytest.mark.parametrize("matrix", [channel(GEOMETRIC), channel(BETTER), SQUARE])
def test_all_are_channels_and_as_private_as_each_other(matrix: Matrix) -> None:
    assert is_private(matrix)
    assert not is_private([matrix[0], matrix[2], matrix[1]])


def test_another_channel_has_a_smaller_error_than_the_geometric_one() -> None:
    assert exact_error(channel(GEOMETRIC)) == Fraction(98, 9)
    assert exact_error(channel(BETTER)) == Fraction(1372, 171) < Fraction(98, 9)
    assert exact_error(SQUARE) == Fraction(28, 3) < Fraction(98, 9)


def test_the_search_finds_at_least_the_counterexample_and_knows_how_good_it_is() -> None:
    search = Search(epsilon=float(np.log(2)), shares=SHAPES["uniform"](3))
    best = search.best()
    assert search.error(search.geometric) == pytest.approx(float(exact_error(channel(GEOMETRIC))))
    assert search.error(best) < float(exact_error(channel(BETTER)))
    assert search.lower_bound(best) == pytest.approx(search.error(best), rel=PRECISION)
    assert search.deviation(best) < search.deviation(search.geometric)


def test_two_values_and_little_noise_leave_the_geometric_channel_the_best() -> None:
    for epsilon, size in ((0.1, 2), (1.0, 2), (2.0, 3), (3.0, 4)):
        search = Search(epsilon=epsilon, shares=SHAPES["falling"](size))
        assert search.lower_bound(search.geometric) == pytest.approx(search.error(search.geometric), rel=PRECISION)


def test_a_bound_at_a_channel_that_is_not_the_best_lies_below_it() -> None:
    """So the bound can fail: the geometric channel at ε = 0.5 is not certified."""
    search = Search(epsilon=0.5, shares=SHAPES["uniform"](4))
    assert search.lower_bound(search.geometric) < search.error(search.best()) < 0.6 * search.error(search.geometric)


def test_the_better_channel_is_better_on_samples_too() -> None:
    """Squared error of the likeliest distribution over 4,000 samples of 20,000; its relative spread is about 2%."""
    generator = np.random.default_rng(4)
    errors = {}
    for name, weights in (("geometric", GEOMETRIC), ("better", BETTER)):
        matrix = np.array(channel(weights), dtype=float)
        matrix = matrix[:, matrix.max(axis=0) > 0]
        observed = generator.multinomial(20_000, np.full(3, 1 / 3) @ matrix, size=4_000) / 20_000
        found = np.full((4_000, 3), 1 / 3)
        for _ in range(300):
            found *= (observed / (found @ matrix)) @ matrix.T
        errors[name] = 20_000 * ((found - 1 / 3) ** 2).sum(axis=1).mean()
    assert errors["geometric"] == pytest.approx(float(exact_error(channel(GEOMETRIC))), rel=0.1)
    assert errors["better"] == pytest.approx(float(exact_error(channel(BETTER))), rel=0.1)
    assert errors["better"] < 0.8 * errors["geometric"]
