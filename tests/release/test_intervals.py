"""Intervals of counts, sums and means hold as often as they say, also where counts were moved up to zero."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from brute_force import small_table
from sfumato.estimation.consistency import before_clipping, histograms_with_totals
from sfumato.estimation.shape import even_spread
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.release import Boxes, Provenance, content
from sfumato.release.answer import COVERAGE
from sfumato.release.intervals import mean_ends
from sfumato.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from sfumato.release import Answer

ROUNDS = 120
TIMES = 50
CELLS, DEVIATION = 400, 4.0
COLUMNS: dict[str, Any] = {
    "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": CELLS - 1},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
}
SCHEMA = Schema.parse({"columns": COLUMNS})


def sparse_counts() -> Any:
    """Most cells are empty; the first ones are not, and lose to them when counts are moved."""
    counts = np.random.default_rng(5).integers(1, 60, (CELLS, 2)).astype(np.float64)
    counts[CELLS // 4 :] = 0
    return counts


TRUTH = sparse_counts()


def noisy_release(seed: int) -> sf.Release:
    """Every cell with noise, then the nearest counts of zero or more with the same total."""
    noisy = TRUTH + np.random.default_rng(seed).normal(0, DEVIATION, TRUTH.shape)
    total = np.array([max(noisy.sum(), 1.0)])
    histograms = histograms_with_totals(noisy.reshape(1, -1), total).reshape(TRUTH.shape)
    return sf.Release(
        schema=SCHEMA,
        boxes=Boxes.of_points(np.arange(CELLS, dtype=np.int32)[:, None]),
        weights=histograms.sum(axis=1),
        group_of=np.arange(CELLS),
        histograms=histograms,
        claim=sf.Original().publish(sf.read({"x": [1], "ill": ["no"]}, SCHEMA)).claim,
        provenance=Provenance(method="random"),
        layout="counts",
        deviation=np.full(CELLS, DEVIATION),
        spreads=(even_spread(CELLS),),
    )


def asked(seed: int) -> tuple[str, Any]:
    """A range and one of the values, and the true rows of every cell there."""
    generator = np.random.default_rng([seed, 1])
    low, high = sorted(generator.choice(CELLS // 2, 2, replace=False).tolist())
    value = int(generator.integers(2))
    rows = TRUTH[:, value].copy()
    rows[:low], rows[high + 1 :] = 0, 0
    return f"x between {low} and {high} and ill = {['no', 'yes'][value]}", rows


def shares_held() -> dict[str, float]:
    """How often counts, sums and means lie in their intervals, one question to each release."""
    held: dict[str, list[bool]] = {"count": [], "sum": [], "mean": []}
    places = np.arange(CELLS)
    for seed in range(ROUNDS):
        release, (text, rows) = noisy_release(seed), asked(seed)
        total, worth = rows.sum(), rows @ places
        found = {"count": release.answer(text), "sum": release.sum("x", text), "mean": release.mean("x", text)}
        truths = {"count": total, "sum": worth, "mean": worth / max(total, 1)}
        for kind, one in found.items():
            assert one.bounds == "noise"
            held[kind].append(total == 0 or one.low <= truths[kind] <= one.high)
    return {kind: float(np.mean(every)) for kind, every in held.items()}


def least(rounds: int) -> float:
    """What a share that is truly at least `COVERAGE` falls below with probability 1e-6 at most."""
    return float(stats.binom.ppf(1e-6, rounds, COVERAGE)) / rounds


def test_counts_sums_and_means_of_clipped_counts_hold() -> None:
    """Fails by chance with probability 3e-6."""
    held = shares_held()
    assert min(held.values()) >= least(ROUNDS), held


def test_intervals_that_forget_what_was_clipped_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "before_clipping", lambda counts, deviation: counts)
    held = shares_held()
    assert held["count"] < least(ROUNDS)
    assert held["sum"] < least(ROUNDS)


def test_what_was_clipped_is_found_again() -> None:
    """Of noise alone, to a twentieth; without noise, and where nothing was clipped, nothing moves."""
    noise = np.random.default_rng(3).normal(0, 2, 20_000)
    counts = histograms_with_totals(noise[None], np.array([1e-9 + abs(noise.sum())]))
    shift = noise[counts[0] > 0] - counts[0][counts[0] > 0]
    found = before_clipping(counts, np.full((1, 1), 2.0))
    assert found.sum() == pytest.approx(counts.sum(), rel=1e-6)
    assert (found[0] - counts[0])[counts[0] > 0] == pytest.approx(shift, rel=0.05)
    assert before_clipping(counts, np.zeros((1, 1))) == pytest.approx(counts)
    assert (before_clipping(np.ones((2, 2)), np.ones((2, 1))) == 1).all()


@pytest.mark.parametrize("method", [sf.LocalNoise(epsilon=1), sf.Tables(epsilon=1)], ids=lambda method: method.name)
def test_intervals_of_sums_means_and_shares_hold(method: sf.Method) -> None:
    """Fails by chance with probability 3e-6 for each method; intervals a quarter as wide fail."""
    table = small_table(300)
    number = next(axis.name for axis in table.schema.axes if axis.kind == "numeric")
    other = table.schema.sensitive
    text = f"{other.name} = '{other.labels[0]}'"
    exact = sf.Original().publish(table)
    questions: dict[str, Callable[[sf.Release], Answer]] = {
        "sum": lambda release: release.sum(number, text),
        "mean": lambda release: release.mean(number, text),
        "share": lambda release: release.share(text, f"{number} is not missing"),
    }
    for ask in questions.values():
        truth, held, narrow = ask(exact).estimate, [], []
        for seed in range(TIMES):
            found = ask(method.publish(table, SimulatedSource(seed)))
            assert found.bounds == "noise"
            held.append(found.low <= truth <= found.high)
            middle, half = (found.low + found.high) / 2, (found.high - found.low) / 2
            narrow.append(abs(truth - middle) <= 0.25 * half)
        assert np.mean(held) >= least(TIMES)
        assert np.mean(narrow) < least(TIMES)


def test_a_mean_is_ruled_out_where_values_less_it_cannot_add_up_to_nothing() -> None:
    class Ten:
        """Ten rows worth 3 each, give or take 5 in all."""

        def ends(self, shift: float = 0.0) -> tuple[float, float]:
            return 10 * (3 - shift) - 5, 10 * (3 - shift) + 5

    assert mean_ends(Ten(), 0, 10) == pytest.approx((2.5, 3.5), rel=1e-12)
    assert mean_ends(Ten(), 2.8, 3.1) == (2.8, 3.1)


def test_rows_that_nobody_vouches_for_have_no_bounds_that_hold() -> None:
    table = small_table(60)
    drawn = sf.PrivBayes(epsilon=1).publish(table)
    seeded = sf.PrivBayes(epsilon=1).publish(table, SimulatedSource(1))
    number = next(axis.name for axis in table.schema.axes if axis.kind == "numeric")
    for release, bounds in ((drawn, "drawing"), (replace(seeded, deviation=None), "unknown")):
        for found in (release.answer(f"{number} is not missing"), release.sum(number), release.mean(number)):
            assert (found.bounds, found.hold, found.certain) == (bounds, False, False)
            assert found.spec()["bounds"] == bounds
