"""Laws of cost: fitted, kept, and never cheaper for a larger table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.data.extent import Extent
from sfumato.methods import METHODS
from sfumato.trials.cost import KEPT, SIZES, Costs, Law

SMALL = Extent(rows=10_000, cells=5_000, columns=6, positions=100)


def extents(number: int = 30) -> list[Extent]:
    generator = np.random.default_rng(1)
    return [
        Extent(rows=int(rows), cells=int(rows * part), columns=int(columns), positions=int(columns * size))
        for rows, part, columns, size in zip(
            10 ** generator.uniform(3, 7, number),
            generator.uniform(0.01, 1, number),
            generator.integers(2, 20, number),
            generator.integers(2, 200, number),
            strict=True,
        )
    ]


@pytest.mark.quick
def test_a_law_is_found_again() -> None:
    law = Law(factor=2e-6, powers=(0.5, 0.4, 1.5, 0.0), least=0, off=1)
    shapes = [each for each in extents() if law.at(each) > 0.1]
    found = Law.fitted(shapes, [law.at(each) for each in shapes])
    assert found.powers == pytest.approx(law.powers, abs=0.01)
    large = replace(SMALL, rows=1_000_000, cells=200_000)
    assert found.at(large) == pytest.approx(law.at(large), rel=0.05)
    assert found.off == pytest.approx(1, abs=0.01)


@pytest.mark.quick
def test_no_table_costs_less_than_the_least_that_was_measured() -> None:
    found = Law.fitted(extents(), [2.0 + each.rows / 1e6 for each in extents()])
    assert found.at(replace(SMALL, rows=1, cells=1)) == found.least >= 2.0


@pytest.mark.quick
def test_how_far_figures_are_off_is_told() -> None:
    law, generator = Law(factor=1e-5, powers=(1.0, 0.0, 0.0, 0.0), least=0, off=1), np.random.default_rng(2)
    noisy = [law.at(each) * np.exp(generator.normal(0, 0.5)) for each in extents(300) if law.at(each) > 0.1]
    found = Law.fitted([each for each in extents(300) if law.at(each) > 0.1], noisy)
    assert 1.8 < found.off < 2.9  # e^(0.5 · 1.64) is 2.3


@pytest.mark.quick
def test_every_method_has_a_kept_cost_that_grows() -> None:
    costs = Costs.kept()
    assert set(costs.seconds) == set(costs.gigabytes) == set(METHODS)
    for name in METHODS:
        small = costs.publishing(name, SMALL)
        for size in SIZES:
            large = costs.publishing(name, replace(SMALL, **{size: 100 * getattr(SMALL, size)}))
            assert (large.seconds, large.gigabytes) >= (small.seconds, small.gigabytes)
        assert 1 <= small.off < 10
        assert small.seconds < 60
        assert small.gigabytes < 2


@pytest.mark.quick
def test_what_is_kept_is_written_as_it_is_read() -> None:
    assert Costs.kept().to_json() == KEPT.read_text(encoding="utf-8")
