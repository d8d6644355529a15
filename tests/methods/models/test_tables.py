"""Tables: as little noise as the closed form says, in every cell; tables that agree; and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sfumato.data import Table, read
from sfumato.errors import ParameterError
from sfumato.mechanisms.budget import Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Tables
from sfumato.methods.models import table_plan
from sfumato.methods.models.interactions import Axes, put_together, subsets
from sfumato.methods.models.table_plan import MAX_CELLS, TablePlan, cells_of, public_steps
from sfumato.methods.models.tables import measure_interactions
from sfumato.privacy.loss import Concentrated, Loss, Pure
from sfumato.release.assembled import Assembled
from sfumato.schema import Schema

from .test_interactions import ADULT

if TYPE_CHECKING:
    from sfumato.release import Release

FALSE_FAILURE = 1e-6
KINDS: list[dict[str, Any]] = [{}, {"delta": 1e-6}]


def schema_of(*sizes: int, **more: Any) -> Schema:
    """A numeric quasi-identifier of each size but the last, which is that of the sensitive column."""
    spec = {f"x{i}": {"role": "quasi", "kind": "numeric", "min": 0, "max": n - 1} for i, n in enumerate(sizes)}
    spec[f"x{len(sizes) - 1}"]["role"] = "sensitive"
    return Schema.parse({"name": "people", "columns": spec, **more})


def people(*sizes: int, rows: int = 300) -> Table:
    generator = np.random.default_rng(1)
    frame = {f"x{i}": pl.Series(generator.integers(0, n, rows), dtype=pl.Int64) for i, n in enumerate(sizes)}
    return read(pl.DataFrame(frame), schema_of(*sizes))


def tables_in(release: Release) -> Assembled:
    assert isinstance(release.measured, Assembled)
    return release.measured


@pytest.mark.parametrize("ways", [1, 2, 3])
@pytest.mark.parametrize("kind", [*KINDS, {"delta": 1e-6, "best": "all"}], ids=["pure", "approximate", "all sizes"])
def test_every_cell_has_the_variance_that_is_told(kind: dict[str, Any], ways: int) -> None:
    """Mean squared errors of 700 releases. One is off by √(2/700) of itself, or √(5/700) of Laplace noise; so much
    times the quantile of `FALSE_FAILURE` shared among cells is allowed. Noise of half the variance is refused."""
    table, draws = people(3, 2, 4, rows=40), 700
    method = Tables(epsilon=2, ways=ways, **kind)
    exact = tables_in(Tables(epsilon=1e6, ways=ways).publish(table, SimulatedSource(1)))
    found = [tables_in(method.publish(table, SimulatedSource(seed))) for seed in range(draws)]
    squares = np.mean([(one.counts - np.round(exact.counts)) ** 2 for one in found], axis=0)
    away = np.abs(squares / found[0].noise ** 2 - 1)
    allowed = norm.isf(FALSE_FAILURE / 2 / len(away)) * math.sqrt((2 if kind else 5) / draws)
    assert away.max() < allowed
    assert np.abs(squares / found[0].noise ** 2 * 2 - 1).min() > allowed


@pytest.mark.parametrize(("ways", "published"), [(1, 3.047), (2, 6.359), (3, 10.515)])
def test_the_noise_of_adult_is_what_was_published(ways: int, published: float) -> None:
    """With shares of ρ in whole ticks, and in every cell of all tables."""
    axes = schema_of(*ADULT).axes
    plan = TablePlan(axes, tuple(np.arange(n) for n in ADULT), ways, Concentrated(Fraction(1, 2)))
    cells = [math.prod(ADULT[axis] for axis in table) for table in plan.largest]
    variances = [plan.cell_variance(table) for table in plan.largest]
    assert math.sqrt(float(np.average(variances, weights=cells))) == pytest.approx(published, abs=5e-4)


@given(st.lists(st.integers(2, 30), min_size=2, max_size=6), st.integers(1, 3))
def test_under_epsilon_whole_tables_are_better_than_interactions(sizes: list[int], ways: int) -> None:
    """Interactions that share ε best: Σ gain · 2 L²/e² with Σ e given, where e ∝ (gain · L²)^(1/3) is."""
    plan = TablePlan.of(schema_of(*sizes).axes, ways, Pure(Fraction(1, 10)))
    lengths = {part: math.prod(2 * (1 - 1 / sizes[axis]) for axis in part) for part in plan.tables}
    gains = dict.fromkeys(plan.tables, 0.0)
    for table in plan.largest:
        for part in subsets(table):
            rest = math.prod(sizes[axis] for axis in table if axis not in part)
            gains[part] += math.prod(sizes[axis] - 1 for axis in part) / rest
    best = 2 * sum((gain * lengths[part] ** 2) ** (1 / 3) for part, gain in gains.items()) ** 3 / 0.1**2
    ours = sum(math.prod(sizes[axis] for axis in table) * plan.cell_variance(table) for table in plan.largest)
    assert ours <= best * (1 + 1e-9)


@pytest.mark.parametrize("total", [Pure(Fraction(1)), Concentrated(Fraction(1, 2))])
def test_prices_are_the_whole(total: Loss) -> None:
    for ways in (1, 2, 3):
        prices = TablePlan.of(schema_of(*ADULT).axes, ways, total).prices
        assert sum(prices.values()) == 2**40
        assert min(prices.values()) > 0


@pytest.mark.parametrize("kind", KINDS, ids=["pure", "approximate"])
def test_tables_agree_and_the_histogram_is_theirs(kind: dict[str, Any]) -> None:
    release = Tables(epsilon=1, ways=3, **kind).publish(people(5, 4, 3), SimulatedSource(2))
    told = tables_in(release)
    assert sorted(told.columns) == [(), (0,), (0, 1), (0, 1, 2), (0, 2), (1,), (1, 2), (2,)]
    assert np.allclose(told.counts_of((0, 1, 2)).sum(axis=1), told.counts_of((0, 2)), atol=0.01)
    assert np.allclose(release.histograms[0], told.counts_of((2,)), atol=0.01)
    assert release.rows == pytest.approx(float(told.counts_of(())), abs=0.01)


def test_steps_follow_from_the_schema_alone() -> None:
    axes = schema_of(*[400] * 8).axes
    sizes = [len(starts) for starts in public_steps(axes, 3)]
    assert len(set(sizes)) == 1
    assert cells_of(sizes, 3) <= MAX_CELLS < cells_of([24] * 8, 3)
    assert [len(starts) for starts in public_steps(schema_of(100_000, 3).axes, 2)] == [256, 3]


@given(st.lists(st.integers(1, 5), max_size=5), st.integers(0, 3))
def test_cells_are_counted_as_they_are(sizes: list[int], ways: int) -> None:
    some = [part for part in subsets(tuple(range(len(sizes)))) if len(part) <= ways]
    assert cells_of(sizes, ways) == sum(math.prod(sizes[axis] for axis in part) for part in some)


def test_too_many_columns_are_refused_whatever_the_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ParameterError, match=r"all tables of up to 3 of 40 columns are 10,701, and may be at most 4,096"
    ):
        Tables(epsilon=1, ways=3).publish(people(*[2] * 40, rows=3))
    monkeypatch.setattr(table_plan, "MAX_CELLS", 10)
    with pytest.raises(ParameterError, match="choose fewer ways, or give some columns the role ignore"):
        Tables(epsilon=1).publish(people(2, 2, 2, rows=3))
    Tables(epsilon=1, ways=1).publish(people(2, 2, 2, rows=3))


def test_noise_that_no_number_holds_is_refused() -> None:
    table = people(100, 100, 3, rows=3)
    with pytest.raises(ParameterError, match="epsilon is 1e-12; that is nothing but noise"):
        Tables(epsilon=1e-12, delta=1e-30).publish(table)
    for epsilon in (1e-6, 1e5):
        for kind in KINDS:
            counts = tables_in(Tables(epsilon=epsilon, **kind).publish(table, SimulatedSource(1))).counts
            assert np.isfinite(counts).all()
    with pytest.raises(ParameterError, match="ways is 4; expected"):
        Tables(epsilon=1, ways=4)


def test_the_noise_of_all_pairs_of_adult_is_drawn_as_published() -> None:
    """One draw of 148,137 cells, whose mean square is off by about 0.5%; 3% of the root is six times that and more."""
    axes, total = schema_of(*ADULT).axes, Concentrated(Fraction(1, 2))
    plan = TablePlan.of(axes, 2, total)
    assert plan.sizes == ADULT
    nobody = {table: np.zeros([ADULT[axis] for axis in table], dtype=np.int64) for table in plan.largest}
    budget = Budget(total, SimulatedSource(1))
    noise = measure_interactions(plan, nobody, budget)
    assert budget.left.tolist() == [0]
    squares = [(put_together(ADULT, table, noise) ** 2).reshape(-1) for table in plan.largest]
    assert len(np.concatenate(squares)) == 148_137
    assert math.sqrt(np.concatenate(squares).mean()) == pytest.approx(6.359, rel=0.03)


def test_noise_can_be_least_for_tables_of_every_size() -> None:
    """Of all shares of ρ, those for every size alike make the weighted error of all cells least, by its own weights."""
    axes = schema_of(9, 5, 3, 2).axes
    plans = {best: TablePlan.of(axes, 2, Concentrated(Fraction(1, 2)), best) for best in ("largest", "all")}

    def error(plan: TablePlan, weights: dict[Axes, float]) -> float:
        cells = {table: math.prod(plan.sizes[axis] for axis in table) for table in weights}
        return sum(weight * cells[table] * plan.cell_variance(table) for table, weight in weights.items())

    for best, plan in plans.items():
        rival = plans["all" if best == "largest" else "largest"]
        assert error(plan, plan.weights) < error(rival, plan.weights)
    assert plans["all"].cell_variance((0,)) < plans["largest"].cell_variance((0,))
    with pytest.raises(ParameterError, match="give a delta or rho"):
        Tables(epsilon=1, best="all")
