"""Methods that disturb rows: by closed forms, by what must stay, and by statistics; people are found where they are."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.errors import ParameterError
from sfumato.measures.measure import assess
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import PRAM, AdditiveNoise, Method, RankSwapping, Rounding, Sampling
from sfumato.methods.perturb.additive_noise import normal
from sfumato.methods.perturb.rank_swapping import swap_partners
from sfumato.methods.positions import positions_of
from sfumato.release import Release
from sfumato.release.boxes import Boxes
from sfumato.release.nearest import nearest_pairs
from sfumato.schema import Schema
from strategies import TableCase, axes, tables

ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
AGE = {"role": "quasi", "kind": "numeric", "min": 0, "max": 99}
TOWN = {"role": "quasi", "kind": "categorical", "values": ["a", "b", "c", "d"]}
FEW = ("p_loss", "guessed_right", "singled_out", "suppressed", "smallest_class")
MOVING: tuple[Method, ...] = (RankSwapping(range=0.1), AdditiveNoise(scale=0.2), PRAM(keep=0.7))


def towns(rows: int = 4_000, **more: Any) -> Table:
    """Ages and incomes that go together, and towns that do not."""
    generator = np.random.default_rng(2)
    age = generator.integers(10, 90, rows)
    frame = {
        "age": age,
        "income": np.clip(age + generator.integers(-9, 10, rows), 0, 99),
        "town": np.array(["a", "b", "c", "d"])[generator.choice(4, rows, p=[0.7, 0.2, 0.1, 0])],
        "ill": np.where(age > 50, "yes", "no"),
    }
    columns = {"age": AGE, "income": AGE, "town": TOWN, "ill": ILL} | {name: {"role": "keep"} for name in more}
    return read(pl.DataFrame(frame | more), Schema.parse({"columns": columns}))


def columns_of(release: Release) -> np.ndarray:
    """The published codes of every row, in no order that tells anything."""
    codes = np.where(release.boxes.missing, -1, release.boxes.lo)
    return np.repeat(codes, release.weights.astype(int), axis=0)


def rows_of(table: Table) -> np.ndarray:
    return np.repeat(table.points, table.weights, axis=0)


@settings(max_examples=80)
@given(count=st.integers(0, 60), most=st.integers(0, 70), seed=st.integers(0, 999))
def test_partners_are_mutual_and_near(count: int, most: int, seed: int) -> None:
    partner = swap_partners(count, most, np.random.default_rng(seed).random(count))
    assert np.array_equal(partner[partner], np.arange(count))
    assert (np.abs(partner - np.arange(count)) <= most).all()
    alone = np.flatnonzero(partner == np.arange(count))
    if most:
        assert (np.diff(alone) > most).all(), "two near each other were left alone"


@settings(max_examples=25)
@given(case=tables(most_rows=40, most_quasi=3, most=8), share=st.sampled_from([0.05, 0.3, 1.0]))
def test_swapping_keeps_every_column(case: TableCase, share: float) -> None:
    release = RankSwapping(range=share).publish(case.table)
    for ours, theirs in zip(columns_of(release).T, rows_of(case.table).T, strict=True):
        assert sorted(ours) == sorted(theirs)
    assert np.array_equal(release.overall, case.table.overall)


def test_swapped_values_are_near_in_rank() -> None:
    """Hundred different ages in a column of their own: no age moves by more than five ranks, and most move."""
    frame = pl.DataFrame({"age": range(100), "ill": ["no", "yes"] * 50})
    table = read(frame, Schema.parse({"columns": {"age": AGE, "ill": ILL}}))
    method = RankSwapping(range=0.05)
    positions = positions_of(table).astype(np.int64)
    moved = method._changed(table, positions, SimulatedSource(1))[0] - positions[:, 0]
    assert np.abs(moved).max() <= 5
    assert np.count_nonzero(moved) >= 80
    assert np.abs(RankSwapping(range=0.5)._changed(table, positions, SimulatedSource(1))[0] - positions[:, 0]).max() > 5


def test_normal_numbers_are_normal() -> None:
    """Kolmogorov–Smirnov at a level of 1e-6, which uniform numbers of the same spread fail."""
    from scipy.stats import kstest

    drawn = normal((20_000, 2), SimulatedSource(4))
    assert kstest(drawn.reshape(-1), "norm").pvalue > 1e-6
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 5 / np.sqrt(20_000)
    twin = (SimulatedSource(4).uniforms(40_000) - 0.5) * np.sqrt(12)
    assert kstest(twin, "norm").pvalue < 1e-6


@pytest.mark.parametrize("correlated", [False, True])
def test_noise_has_the_spread_that_is_asked_for(correlated: bool) -> None:
    """Within five standard errors of 0.3 deviations, and going together only if asked to."""
    table = towns()
    method, before = AdditiveNoise(scale=0.3, correlated=correlated), rows_of(table)[:, :2].astype(np.int64)
    positions = np.repeat(positions_of(table), table.weights, axis=0).astype(np.int64)
    found = method._changed(table, positions, SimulatedSource(5))
    assert sorted(found) == [0, 1]
    middle = (before > 45) & (before < 55)
    both = middle.all(axis=1)
    noise = np.column_stack([found[0], found[1]])[both] - before[both]
    spread = 0.3 * before.std(axis=0)
    assert np.allclose(noise.std(axis=0), spread, rtol=5 / np.sqrt(2 * both.sum()))
    together = np.corrcoef(noise.T)[0, 1]
    expected = np.corrcoef(before.T)[0, 1] if correlated else 0.0
    assert abs(together - expected) < 5 / np.sqrt(both.sum())


@settings(max_examples=25)
@given(case=tables(most_rows=40, most_quasi=3, most=8))
def test_noise_leaves_what_is_missing_and_what_is_no_number(case: TableCase) -> None:
    if not AdditiveNoise.suits(case.table):
        with pytest.raises(ParameterError, match="noise changes numeric quasi-identifiers, and 'people' has none"):
            AdditiveNoise(scale=1).publish(case.table)
        return
    release = AdditiveNoise(scale=1, correlated=True).publish(case.table)
    for axis, ours, theirs in zip(case.table.schema.quasi, columns_of(release).T, rows_of(case.table).T, strict=True):
        assert (ours < 0).sum() == (theirs < 0).sum()
        assert ours.max() < axis.size
        if axis.kind == "categorical":
            assert sorted(ours) == sorted(theirs)


@pytest.mark.parametrize("invariant", [False, True])
def test_categories_are_kept_as_often_as_is_said(invariant: bool) -> None:
    """A value stays if it is kept, or drawn again; counts are right on average only if the draw is invariant."""
    table, rows = towns(), 4_000
    method = PRAM(keep=0.6, invariant=invariant)
    positions = np.repeat(positions_of(table), table.weights, axis=0).astype(np.int64)
    (number, found), *others = method._changed(table, positions, SimulatedSource(6)).items()
    assert (number, others) == (2, [])
    shares = np.bincount(positions[:, 2], minlength=4) / rows
    drawn = shares if invariant else np.full(4, 0.25)
    for value in range(3):
        mine = positions[:, 2] == value
        stays = 0.6 + 0.4 * drawn[value]
        assert abs((found[mine] == value).mean() - stays) < 5 * np.sqrt(stays * (1 - stays) / mine.sum())
    after = np.bincount(found, minlength=4) / rows
    assert np.allclose(after, 0.6 * shares + 0.4 * drawn, atol=5 * 0.5 / np.sqrt(rows))
    assert (np.abs(after - shares).max() < 0.03) == invariant


@settings(max_examples=60)
@given(case=axes(most=12), base=st.integers(1, 7))
def test_rounding_joins_what_is_rounded_alike(case: Any, base: int) -> None:
    """By definition, in exact fractions: of a grid from zero, of bins from the first."""
    from fractions import Fraction

    axis, positions = case.axis(), np.arange(case.size)
    low, high = Rounding(base=base).ranges(axis, positions)
    if axis.kind != "numeric":
        assert np.array_equal(low, positions)
        assert np.array_equal(high, positions)
        return
    start = 0 if axis.edges else round(axis.minimum / axis.step)
    multiple = [(Fraction(int(code) + start, base) + Fraction(1, 2)).__floor__() for code in positions]
    for code in positions:
        alike = [other for other in positions if multiple[other] == multiple[code]]
        assert (low[code], high[code]) == (alike[0], alike[-1])


def test_rounded_ages_read_as_ranges(tmp_path: Path) -> None:
    table = towns(300, note=[f"note {number}" for number in range(300)])
    release = Rounding(base=10).publish(table)
    assert "[35, 44]" in release.to_polars()["age"].to_list()
    assert release.kept is not None
    assert len(set(release.kept.whole["note"])) == 300
    again = Release.load(release.save(tmp_path / "release"))
    assert again.rows == 300
    with pytest.raises(ParameterError, match="rounding changes numeric quasi-identifiers, and 'table' has none"):
        Rounding(base=2).publish(read({"town": ["a"], "ill": ["no"]}, {"columns": {"town": TOWN, "ill": ILL}}))


def test_a_sample_is_a_part_of_the_rows() -> None:
    table = towns(1_000)
    release = Sampling(share=0.2).publish(table)
    assert release.rows == 200
    known = {tuple(point): rows for point, rows in zip(table.points.tolist(), table.histograms.tolist(), strict=True)}
    for point, rows in zip(release.boxes.lo.tolist(), release.histograms.tolist(), strict=True):
        assert all(some <= most for some, most in zip(rows, known[tuple(point)], strict=True))
    assert assess(table, release, only=("suppressed",))["suppressed"].value == pytest.approx(0.8)
    assert Sampling(share=0.001).publish(towns(10)).rows == 1
    draws = [Sampling(share=0.5).publish(table, SimulatedSource(seed)).weights.sum() for seed in range(3)]
    assert draws == [500] * 3


@pytest.mark.parametrize("method", MOVING, ids=lambda method: method.name)
def test_people_are_looked_up_where_they_are_nearest(method: Method, tmp_path: Path) -> None:
    """Nobody is said to be safe because nothing is published exactly where they stand."""
    table = towns(400)
    release = method.publish(table)
    assert release.moved
    measured = assess(table, release, only=FEW)
    assert measured["singled_out"].value == 0
    assert measured["guessed_right"].value > 0.85, "who is near is not believed"
    again = Release.load(release.save(tmp_path / "release"))
    assert assess(table, again, only=FEW).spec() == measured.spec()
    assert "what made them it does not say" in again.answer("age >= 50").sentence
    with pytest.raises(ParameterError, match=r"the column 'note' has role keep, but .* changes rows one by one"):
        method.publish(towns(5, note=["x"] * 5))


@settings(max_examples=40)
@given(case=tables(most_rows=20, most_quasi=3, most=6), other=st.integers(0, 99))
def test_the_nearest_point_by_brute_force(case: TableCase, other: int) -> None:
    table, generator = case.table, np.random.default_rng(other)
    axes_ = table.schema.quasi
    published = np.column_stack([generator.integers(-axis.nullable, axis.size, 5) for axis in axes_]).astype(np.int32)
    point, box = nearest_pairs(table.points, Boxes.of_points(published), axes_)
    scale = np.array([max(axis.positions - 1, 1) for axis in axes_])
    ours, theirs = (
        np.where(codes < 0, [axis.size for axis in axes_], codes) / scale for codes in (table.points, published)
    )
    away = ((ours[:, None] - theirs) ** 2).sum(axis=2)
    assert np.array_equal(point, np.arange(len(table.points)))
    assert np.allclose(away[point, box], away.min(axis=1))
