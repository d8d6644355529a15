"""The deFinetti adversary: marginals over every assignment of small buckets, nothing gained from chance, Adult."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import sfumato.measures.attacks.definetti as attack
from sfumato.data import read
from sfumato.errors import ReleaseError
from sfumato.measures.attacks.assignments import MAX_STATES, marginals
from sfumato.measures.attacks.definetti import SMOOTHING, applies, definetti_beliefs
from sfumato.measures.attacks.naive_bayes import accuracy_of_surest
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Anatomy, FullSuppression, Mondrian
from sfumato.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.release import Release

VALUES = ["a", "b", "c", "d", "e"]


def table_of(x: NDArray[np.int64], y: NDArray[np.int64], secret: NDArray[np.int64]) -> Table:
    """Two quasi-identifiers, the first of which may be missing (below 0), and a value."""
    numbers = [{"role": "quasi", "kind": "numeric", "min": 0, "max": 9_999} for _ in range(2)]
    columns = {"x": {**numbers[0], "nullable": True}, "y": numbers[1]}
    columns["secret"] = {"role": "sensitive", "kind": "categorical", "values": VALUES}
    rows = {"x": [None if code < 0 else int(code) for code in x], "y": y.tolist()}
    return read({**rows, "secret": [VALUES[code] for code in secret]}, {"columns": columns})


def small(seed: int, rows: int = 30) -> Table:
    random = np.random.default_rng(seed)
    return table_of(random.integers(-1, 3, rows), random.integers(0, 3, rows), np.arange(rows) % 5)


def enumerated(likelihood: NDArray[np.float64], values: list[int]) -> NDArray[np.float64]:
    """The marginals over every order in which the values can be handed to the people."""
    found = np.zeros_like(likelihood)
    for given in permutations(values):
        weight = math.prod(likelihood[person, value] for person, value in enumerate(given))
        found[np.arange(len(given)), given] += weight
    return found / found.sum(axis=1, keepdims=True)


def adversary(release: Release, rounds: int) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """The beliefs at every point that the definition gives, person by person, bucket by bucket."""
    points = np.where(release.boxes.missing, -1, release.boxes.lo)
    person = np.repeat(np.arange(len(points)), release.weights.astype(int))
    bucket, points = release.group_of[person], points[person]
    beliefs = release.distributions[bucket]
    for _ in range(rounds):
        likelihood = np.ones_like(beliefs)
        for axis in range(points.shape[1]):
            same = points[:, axis, None] == points[None, :, axis]
            likelihood *= (same @ beliefs + SMOOTHING) / (release.overall + SMOOTHING * len(np.unique(points[:, axis])))
        beliefs = np.empty_like(beliefs)
        for number, counts in enumerate(release.histograms.astype(int)):
            values = np.repeat(np.arange(len(counts)), counts).tolist()
            beliefs[bucket == number] = enumerated(likelihood[bucket == number], values)
    found = defaultdict(list)
    for point, belief in zip(points.tolist(), beliefs, strict=True):
        found[tuple(point)].append(belief)
    return {point: np.mean(each, axis=0) for point, each in found.items()}


@pytest.mark.parametrize("size", range(1, 8))
def test_marginals_are_those_of_all_assignments(size: int) -> None:
    """Buckets of up to 7 people, who share a likelihood where they are alike, with all values or few."""
    random = np.random.default_rng(size)
    for _ in range(5):
        values = np.sort(random.integers(0, 4, size)).tolist()
        alike = np.sort(random.integers(0, size, size))
        members, people = np.unique(alike, return_counts=True)
        log_likelihood = random.normal(0, 3, (len(members), 4))
        expected = enumerated(np.exp(np.repeat(log_likelihood, people, axis=0)), values)
        counts = np.bincount(values, minlength=4)[None, :]
        starts = np.array([0, len(members)])
        found = marginals(log_likelihood, people, np.arange(len(members)), starts, counts, MAX_STATES)
        assert np.repeat(found, people, axis=0) == pytest.approx(expected, abs=1e-9)


def test_balancing_comes_near_but_is_not_the_same() -> None:
    """Two people, two values, odds of 9 in all: an assignment weighs 9/10; balancing gives 3/4 (odds of 3)."""
    likelihood = np.log(np.array([[3.0, 1.0], [1.0, 3.0]]))
    two = (np.ones(2, np.int64), np.arange(2), np.array([0, 2]), np.ones((1, 2), np.int64))
    assert marginals(likelihood, *two, MAX_STATES)[0, 0] == pytest.approx(9 / 10)
    assert marginals(likelihood, *two, 0)[0, 0] == pytest.approx(3 / 4)


def test_balanced_beliefs_keep_people_and_counts() -> None:
    random = np.random.default_rng(3)
    counts, people = np.array([[40, 25, 20, 15]]), np.full(50, 2)
    each = (people, np.arange(50), np.array([0, 50]), counts)
    found = marginals(random.normal(0, 2, (50, 4)), *each, MAX_STATES)
    assert found.sum(axis=1) == pytest.approx(1)
    assert people @ found == pytest.approx(counts[0], abs=1e-3)


def test_sums_do_not_leave_the_range_of_numbers() -> None:
    """400 people of whom one has another value, all of whom look as if they had it."""
    log_likelihood = np.stack([np.full(400, -400.0), np.linspace(0, 1, 400)], axis=1)
    each = (np.ones(400, np.int64), np.arange(400), np.array([0, 400]), np.array([[399, 1]]))
    odds = np.exp(np.linspace(0, 1, 400))
    assert marginals(log_likelihood, *each, MAX_STATES)[:, 1] == pytest.approx(odds / odds.sum())


@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("method", [Anatomy(l=2), Anatomy(l=5), Mondrian(k=3, recoding="bucketize")])
def test_beliefs_are_those_of_the_definition(
    method: Anatomy | Mondrian, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points stand in several buckets, and some have a missing value."""
    table = small(1, rows=24 if method.name == "mondrian" else 30)
    release = method.publish(table, SimulatedSource(1))
    assert release.histograms.sum(axis=1).max() <= 7
    expected = adversary(release, rounds)
    monkeypatch.setattr(attack, "TOLERANCE", 0)
    found = definetti_beliefs(release, table.points, max_rounds=rounds)
    assert found == pytest.approx(np.array([expected[tuple(point)] for point in table.points.tolist()]), abs=1e-9)


def test_somebody_who_is_not_there_has_the_overall_distribution() -> None:
    release = Anatomy(l=2).publish(small(2), SimulatedSource(2))
    nowhere = definetti_beliefs(release, np.array([[77, 77]], dtype=np.int32))
    assert nowhere[0] == pytest.approx(release.overall / release.rows)


def test_classes_and_noise_are_left_alone() -> None:
    table = small(3)
    assert applies(Mondrian(k=3, recoding="bucketize").publish(table))
    for release in (Mondrian(k=3).publish(table), FullSuppression().publish(table)):
        assert not applies(release)
        with pytest.raises(ReleaseError, match="attacks buckets"):
            definetti_beliefs(release, table.points)


def scores(table: Table, beliefs: NDArray[np.float64]) -> tuple[float, float]:
    right = table.histograms[np.arange(len(beliefs)), beliefs.argmax(axis=1)]
    return float(right.sum() / table.n), accuracy_of_surest(beliefs.max(axis=1), right, table.weights, 0.1)


def gain(secret: NDArray[np.int64]) -> float:
    """How much more than a third of 6,000 people, all of whom differ, the adversary guesses right."""
    x, y = np.divmod(np.arange(6_000), 100)
    table = table_of(x, y, secret)
    release = Anatomy(l=3).publish(table, SimulatedSource(11))
    return scores(table, definetti_beliefs(release, table.points))[0] - 1 / 3


def test_nothing_is_gained_where_there_is_nothing_to_learn() -> None:
    """Values shuffled over people who all differ: every guess is right with 1/3, whatever it was learned from.

    Of the 2,000 buckets each has a mean of 1 and a variance of at most 1, at most 2 above its mean. By Bernstein's
    inequality more than 252 people beyond the mean have a probability below 1e-6.
    """
    bound = 252
    assert math.exp(-(bound**2) / 2 / (2_000 + 2 * bound / 3)) < 1e-6
    goes_with_x = np.arange(6_000) // 1_200
    assert gain(np.random.default_rng(11).permutation(goes_with_x)) < bound / 6_000
    assert gain(goes_with_x) > 5 * bound / 6_000


@pytest.fixture(scope="module")
def plain_adult(adult_training: Table, data_folder: Path) -> Table:
    """Adult's training part without hierarchies: categories in the order of the alphabet."""
    frame = pl.read_csv(data_folder / "adult" / "adult.csv", infer_schema=False).head(adult_training.n)
    columns: dict[str, dict[str, Any]] = {"age": {"role": "quasi", "kind": "numeric", "min": 17, "max": 90}}
    for column in (*adult_training.schema.quasi[1:], adult_training.schema.sensitive):
        values = sorted(frame[column.name].unique())
        columns[column.name] = {"role": "quasi", "kind": "categorical", "values": values}
    columns[adult_training.schema.sensitive.name]["role"] = "sensitive"
    return read(frame, Schema.parse({"name": "adult", "columns": columns}, data_folder))


ADULT = [
    ("adult_training", Anatomy(l=3), 0.43, 0.88),
    ("adult_training", Anatomy(l=5), 0.35, 0.72),
    ("plain_adult", Mondrian(k=10, l=3, recoding="bucketize"), 0.35, 0.65),
]


@pytest.mark.parametrize(("table", "method", "guessed", "surest"), ADULT)
def test_adult(
    table: str, method: Anatomy | Mondrian, guessed: float, surest: float, request: pytest.FixtureRequest
) -> None:
    """How much the adversary guesses right, of all and of the surest tenth."""
    people: Table = request.getfixturevalue(table)
    release = method.publish(people, SimulatedSource(0))
    definetti_beliefs(release, people.points[:1], max_rounds=1)
    start = time.process_time()
    beliefs = definetti_beliefs(release, people.points)
    assert time.process_time() - start < 2
    assert scores(people, beliefs) == pytest.approx((guessed, surest), abs=0.01)
    assert scores(people, release.posteriors(people.points))[0] < guessed - 0.03
