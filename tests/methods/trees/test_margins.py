"""Margins beside a tree: paid for on every path, told where they are no noise, and worth it whatever the order."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recording import WHOLE, FixedNoise, recorded
from sfumato.data import read
from sfumato.errors import BudgetError
from sfumato.measures.attacks.naive_bayes import NaiveBayes
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.trees.margins import MAX_CATEGORIES, buy_spreads, steps_of_margin
from sfumato.methods.trees.spatial_tree import (
    MARGIN_NOISE,
    MAX_MARGINS,
    MIN_MARGINS,
    ONLY_MARGINS,
    SIZING,
    HybridTree,
    KDTree,
    QuadTree,
    SpatialTree,
    margin_price,
)
from sfumato.privacy.loss import Concentrated, Pure, exact
from sfumato.release.query import parse_query
from sfumato.schema import Schema
from sfumato.streams import stream
from strategies import TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.release import Release

HUGE = 100_000


@settings(max_examples=20)
@given(case=tables(most_rows=30, most_quasi=3, most=6), height=st.integers(0, 3))
def test_every_column_that_can_differ_is_counted_once_for_its_part_of_the_price(case: TableCase, height: int) -> None:
    _, budget = recorded(QuadTree(epsilon=1, height=height), case.table)
    size, *draws = budget.all_draws
    assert (size.cost, size.seen.tolist()) == ((ticks(SIZING),), [case.table.n])
    counted = [axis for axis, positions in enumerate(case.positions) if positions > 1]
    for axis, draw in zip(counted, draws, strict=False):
        codes = [case.case.quasi[axis].size if point[axis] < 0 else point[axis] for point, _ in case.people]
        assert draw.seen.tolist() == [np.bincount(np.array(codes, int), minlength=case.positions[axis]).tolist()]
        assert draw.cost == (ticks(ONLY_MARGINS if height == 0 else MAX_MARGINS) // len(counted),)
    assert set(budget.ends) == {WHOLE}


def test_without_margins_nothing_but_the_tree_is_bought() -> None:
    release, budget = recorded(QuadTree(epsilon=1, height=2, spread="even"), skewed_table(400))
    assert release.spreads is None
    assert len(budget.all_draws) == 3
    assert set(budget.ends) == {WHOLE}


@pytest.mark.parametrize(
    ("rows", "epsilon", "height", "share"),
    [
        (300_000, 1, 10, MIN_MARGINS),
        (30_000, 0.01, 2, MAX_MARGINS),
        (30_000, 0.01, 0, ONLY_MARGINS),
        (-7, 1e-9, 1, MAX_MARGINS),
    ],
)
def test_the_share_of_the_margins(rows: int, epsilon: float, height: int, share: Fraction) -> None:
    for total in (Pure(exact(epsilon)), Concentrated(exact(epsilon) ** 2 / 4)):
        assert margin_price(rows, Budget(total, SimulatedSource(1)), 5, height) == ticks(share)


def test_between_its_limits_the_share_gives_the_noise_that_is_aimed_at() -> None:
    budget = Budget(Pure(Fraction(1, 5)), SimulatedSource(1))
    share = margin_price(30_000, budget, 5, 6) / WHOLE
    assert MIN_MARGINS < share < MAX_MARGINS
    deviation = np.sqrt(2) * 5 / (share * 0.2)
    assert deviation == pytest.approx(MARGIN_NOISE * 30_000)
    budget = Budget(Concentrated(Fraction(1, 2_000)), SimulatedSource(1))
    price = margin_price(30_000, budget, 5, 6)
    assert MIN_MARGINS < price / WHOLE < MAX_MARGINS
    assert np.sqrt(budget.variance(price // 5)) == pytest.approx(MARGIN_NOISE * 30_000)


def test_wide_axes_are_counted_in_steps_and_categories_one_by_one() -> None:
    columns = {
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9_999, "nullable": True},
        "c": {"role": "quasi", "kind": "categorical", "values": [f"v{i}" for i in range(700)]},
        "d": {"role": "quasi", "kind": "categorical", "values": [f"v{i}" for i in range(MAX_CATEGORIES + 1)]},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    x, c, d = (steps_of_margin(axis) for axis in Schema.parse({"columns": columns}).quasi)
    assert (len(x), x[-1]) == (257, 10_000)
    assert c.tolist() == list(range(700))
    assert len(d) == MAX_CATEGORIES


def spreads_of(table: Table, source: FixedNoise | SimulatedSource, epsilon: float = 1) -> NDArray[np.float64] | None:
    found = buy_spreads(table, Budget(Pure(Fraction(epsilon)), source), ticks(1), table.n, 1e9)
    return None if found is None else np.diff(found[0].below[0])


@pytest.mark.parametrize(("price", "charged"), [(1, 2), (2, 2), (3, 2), (ticks(Fraction(1, 5)), ticks(Fraction(1, 5)))])
def test_a_margin_costs_a_tick_at_least_and_all_are_charged(price: int, charged: int) -> None:
    budget = Budget(Pure(Fraction(1)), SimulatedSource(1))
    buy_spreads(two_columns(), budget, price, 4, 1.0)
    assert budget.spent.tolist() == [charged - charged % 2]


def test_margins_that_cost_more_than_is_left_are_refused() -> None:
    budget = Budget(Pure(Fraction(1)), SimulatedSource(1))
    budget.counts(np.array([4]), WHOLE - 1)
    with pytest.raises(BudgetError, match="is left"):
        buy_spreads(two_columns(), budget, 1, 4, 1.0)


def two_columns() -> Table:
    declared = {name: {"role": "quasi", "kind": "numeric", "min": 0, "max": 3} for name in "xy"}
    declared["s"] = {"role": "sensitive", "kind": "categorical", "values": ["yes", "no"]}
    frame = pl.DataFrame({"x": [0, 1, 2, 3], "y": [0, 0, 1, 3], "s": ["yes", "no"] * 2})
    return read(frame, Schema.parse({"columns": declared}))


def skewed_table(rows: int, seed: int = 1) -> Table:
    """Four in five have the fifth of eight categories; nothing else."""
    columns = {
        "c": {"role": "quasi", "kind": "categorical", "values": list("abcdefgh")},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["yes", "no"]},
    }
    generator = stream("skewed", seed)
    common = generator.random(rows) < 0.8
    category = np.where(common, 4, generator.integers(0, 8, rows))
    frame = pl.DataFrame({"c": [*np.array(list("abcdefgh"))[category]], "s": ["yes", "no"] * (rows // 2)})
    return read(frame, Schema.parse({"columns": columns}))


def test_exact_margins_are_told_but_for_a_little() -> None:
    table = skewed_table(4_000)
    shares = spreads_of(table, FixedNoise(0), HUGE)
    assert shares is not None
    exact = np.bincount(table.points[:, 0], table.weights, 8) / table.n
    assert shares[:8] == pytest.approx(0.999 * exact + 0.001 / 8, rel=1e-5)
    assert shares[8] == 0, "nothing is missing"


def test_noise_alone_tells_nothing() -> None:
    """The margin of a table without rows is told by chance in about 1 of 30 runs, of 150; 20 or more: p < 1e-6."""
    empty = skewed_table(4_000).reweight(np.zeros(16, dtype=np.int64))
    told = sum(spreads_of(empty, SimulatedSource(seed)) is not None for seed in range(150))
    assert told < 20
    full = skewed_table(4_000)
    assert all(spreads_of(full, SimulatedSource(seed)) is not None for seed in range(150))


class TrustingTree(QuadTree):
    """A twin that grows a tree however little there is to tell."""

    def _release(self, table: Table, budget: Budget) -> Release:
        return QuadTree(epsilon=self.epsilon, height=3, spread="even")._release(table, budget)


def gains(tree: SpatialTree, table: Table) -> list[float]:
    return [NaiveBayes().run(table, tree.publish(table, SimulatedSource(seed)))["breach"] for seed in range(8)]


def test_where_noise_drowns_leaves_an_adversary_never_gains() -> None:
    """120 rows at ε = 1 with eight sensitive values: less than one leaf for each of them, so there is no tree."""
    columns = {
        "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 7},
        "s": {"role": "sensitive", "kind": "categorical", "values": [str(i) for i in range(8)]},
    }
    x = [i % 8 for i in range(120)]
    table = read(pl.DataFrame({"x": x, "s": [str(i) for i in x]}), Schema.parse({"columns": columns}))
    assert max(gains(QuadTree(epsilon=1), table)) <= 0
    assert np.mean(gains(TrustingTree(epsilon=1), table)) > 0


VALUES = [f"v{i:02}" for i in range(16)]


def ordered_table(order: Sequence[int]) -> Table:
    """Three categorical columns, each with a few values that most people have, in an order of their own."""
    generator = stream("ordered", 3)
    chances = 1 / (1 + np.arange(16.0)) ** 1.5
    columns = {name: generator.choice(16, 6_000, p=chances / chances.sum()) for name in "abc"}
    ranks = np.argsort(order)
    declared = {
        name: {"role": "quasi", "kind": "categorical", "values": [VALUES[i] for i in np.argsort(ranks)]}
        for name in columns
    }
    declared["s"] = {"role": "sensitive", "kind": "categorical", "values": ["yes", "no"]}
    frame = {name: [VALUES[i] for i in codes] for name, codes in columns.items()}
    yes = (columns["a"] + columns["b"]) % 3 == 0
    return read(pl.DataFrame({**frame, "s": np.where(yes, "yes", "no").tolist()}), Schema.parse({"columns": declared}))


def error_of(tree: SpatialTree, order: Sequence[int]) -> float:
    """The median error of counts about people with some values of two columns: the same sets in every order."""
    table = ordered_table(order)
    releases = [tree.publish(table, SimulatedSource(seed)) for seed in range(4)]
    generator, errors = stream("sets", 4), []
    for _ in range(60):
        first, second = (", ".join(VALUES[i] for i in generator.permutation(16)[:6]) for _ in range(2))
        query = parse_query(f"a in ({first}) and b in ({second})", table.schema)
        truth = query.matches(table)
        errors += [abs(query.estimate(release) - truth) / truth for release in releases]
    return float(np.median(errors))


ORDERS = [list(range(16)), list(range(16))[::-1], *(stream("orders", i).permutation(16).tolist() for i in (1, 2))]


@pytest.mark.parametrize("kind", [QuadTree, KDTree, HybridTree])
def test_the_order_of_categories_hardly_matters(kind: type[SpatialTree]) -> None:
    errors = [error_of(kind(epsilon=1), order) for order in ORDERS]
    assert max(errors) <= 1.5 * min(errors)


def test_without_margins_the_best_order_is_worse_than_the_worst_with_them() -> None:
    """The check's own check: the order that puts like beside like is no better than any other with margins."""
    ways = (QuadTree(epsilon=1, spread="even"), QuadTree(epsilon=1))
    plain, told = ([error_of(way, order) for order in ORDERS] for way in ways)
    assert min(plain) > max(told)
