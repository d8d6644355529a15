"""Several releases together: every way in which values can lie behind them, and Adult published twice."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from sfumato.data import read
from sfumato.measures.attacks.belief import BeliefShift
from sfumato.measures.attacks.composition import composed_beliefs, distinct, together
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Anatomy, FullSuppression, Mondrian, QuadTree
from sfumato.release import Release

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.schema import Schema

COLUMNS = {
    "x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
    "secret": {"role": "sensitive", "kind": "categorical", "values": ["a", "b", "c"]},
}
PRIOR = np.array([0.5, 0.3, 0.2])
HERE = np.array([[0]], dtype=np.int32)


def whole(values: str, places: Sequence[int] | None = None) -> Table:
    """People with these values, all at 0 unless told where."""
    rows = {"x": list(places) if places else [0] * len(values), "secret": list(values)}
    return read(rows, {"columns": COLUMNS})


def release_of(values: str) -> Release:
    """One class, that holds the person looked up and others."""
    return FullSuppression().publish(whole(values))


def enumerated(classes: Sequence[str], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """The person's value, over all values of the person and of the others of each class that make these classes.

    Everybody's value is an independent draw from the prior; nobody but the person is in two classes.
    """
    found, others = np.zeros(3), [len(values) - 1 for values in classes]
    for drawn in product(range(3), repeat=1 + sum(others)):
        rest, fits = list(drawn[1:]), True
        for values, size in zip(classes, others, strict=True):
            own, rest = rest[:size], rest[size:]
            fits = fits and sorted([drawn[0], *own]) == sorted("abc".index(value) for value in values)
        if fits:
            found[drawn[0]] += math.prod(prior[value] for value in drawn)
    return found / found.sum()


CLASSES = [("aab",), ("aab", "abc"), ("abbc", "bcc"), ("aab", "bbc"), ("ab", "abc", "aacc"), ("abc", "abc", "aab")]


@pytest.mark.parametrize("classes", CLASSES)
def test_beliefs_are_those_of_all_values_behind_the_classes(classes: tuple[str, ...]) -> None:
    releases = [release_of(values) for values in classes]
    found = composed_beliefs(releases, HERE, PRIOR)
    assert found[0] == pytest.approx(enumerated(list(dict.fromkeys(classes)), PRIOR))


def test_a_prior_that_is_not_taken_out_again_is_noticed() -> None:
    classes = ("aab", "abc")
    product_alone = np.prod([release_of(values).distributions[0] for values in classes], axis=0)
    assert product_alone / product_alone.sum() != pytest.approx(enumerated(classes, PRIOR), abs=0.05)


def test_what_remains_possible_is_what_all_releases_leave() -> None:
    """Two sets of two values with one in common: each leaves it at a half, both together are sure."""
    found = composed_beliefs([release_of("ab"), release_of("bc")], HERE, PRIOR)
    assert found[0].tolist() == [0, 1, 0]


def test_people_shared_beside_the_one_are_counted_twice() -> None:
    """The limit that the docstring names: the same people in other words say nothing new, yet beliefs move."""
    people = whole("aabc", [0, 1, 2, 3])
    once, again = FullSuppression().publish(people), Mondrian(k=4).publish(people)
    found = composed_beliefs([once, again], HERE, PRIOR)[0]
    assert once.distributions[0].tolist() == again.distributions[0].tolist() == [0.5, 0.25, 0.25]
    assert found == pytest.approx(np.array([0.5, 0.25**2 / 0.3, 0.25**2 / 0.2]) / (0.5 + 0.25**2 / 0.3 + 0.25**2 / 0.2))


@pytest.mark.parametrize(
    "method", [Mondrian(k=2), Anatomy(l=2), Mondrian(k=2, recoding="bucketize"), FullSuppression()]
)
def test_the_same_release_counts_once(method: Mondrian, tmp_path: Path) -> None:
    """Also read back from its folder, where groups have other numbers, or in another order of boxes."""
    table = whole("abcabcabca", range(10))
    release = method.publish(table, SimulatedSource(1))
    saved = Release.load(release.save(tmp_path / "saved"))
    order = np.arange(len(release.boxes))[::-1]
    turned = replace(
        release, boxes=release.boxes[order], weights=release.weights[order], group_of=release.group_of[order]
    )
    assert len(distinct([release, release, saved, turned])) == 1
    alone = composed_beliefs([release], table.points, PRIOR)
    assert alone == pytest.approx(release.posteriors(table.points))
    assert composed_beliefs([release, saved, turned], table.points, PRIOR) == pytest.approx(alone)


def test_another_release_of_the_same_people_counts_too() -> None:
    table = whole("abcabcabca", range(10))
    first, second = (Anatomy(l=2).publish(table, SimulatedSource(seed)) for seed in (1, 2))
    assert len(distinct([first, second])) == 2
    assert len(distinct([first, replace(first, histograms=first.histograms + 1)])) == 2


def test_a_release_without_anybody_at_a_point_says_nothing_about_it() -> None:
    left, right = Mondrian(k=2).publish(whole("aab", [0, 1, 1])), Mondrian(k=2).publish(whole("bcc", [8, 9, 9]))
    assert composed_beliefs([left, right], HERE, PRIOR) == pytest.approx(left.posteriors(HERE))
    nowhere = np.array([[5]], dtype=np.int32)
    assert composed_beliefs([left, right], nowhere, PRIOR)[0] == pytest.approx(PRIOR)


def test_where_nothing_fits_all_releases_each_is_believed_alike() -> None:
    found = composed_beliefs([release_of("ab"), release_of("cc")], HERE, PRIOR)
    assert found[0] == pytest.approx([0.25, 0.25, 0.5])


def test_noisy_counts_give_what_is_left_of_them_to_believe() -> None:
    table = whole("abcaabcbca" * 20, list(range(10)) * 20)
    noisy, exact = QuadTree(epsilon=1).publish(table, SimulatedSource(4)), Mondrian(k=40).publish(table)
    assert noisy.noisy
    expected = noisy.posteriors(table.points, PRIOR) * exact.posteriors(table.points) / PRIOR
    expected /= expected.sum(axis=1, keepdims=True)
    assert composed_beliefs([noisy, exact], table.points, PRIOR) == pytest.approx(expected)


def test_together_they_can_be_looked_up_like_one() -> None:
    table = whole("abcabcabca", range(10))
    releases = [Anatomy(l=2).publish(table, SimulatedSource(seed)) for seed in (1, 2)]
    beliefs = composed_beliefs(releases, table.points, PRIOR)
    one = together(releases, table.points, PRIOR)
    assert one.posteriors(table.points) == pytest.approx(beliefs)
    right = table.histograms[np.arange(10), beliefs.argmax(axis=1)].sum() / 10
    assert BeliefShift().run(table, one)["guessed_right"] == pytest.approx(right)


def test_adult_published_twice_with_half_its_people_in_common(data_folder: Path, adult_schema: Schema) -> None:
    """Three parts of the rows, the middle one in both releases; the adversary knows everybody's overall values.

    Those of whom it is surest are right far less often than it believes: see the limit above.
    """
    rows = pl.read_csv(data_folder / "adult" / "adult.csv", infer_schema=False).head(30_162)
    order = np.random.default_rng(0).permutation(30_162)
    first, second, both = (
        read(rows[order[part]], adult_schema) for part in (np.s_[:20_108], np.s_[10_054:], np.s_[10_054:20_108])
    )
    releases = [Mondrian(k=10, l=3, look_ahead=0).publish(table) for table in (first, second)]
    prior = read(rows, adult_schema).overall / 30_162
    assert [release.posteriors(both.points).max() for release in releases] == pytest.approx([1 / 3, 1 / 3])
    found = composed_beliefs(releases, both.points, prior)
    assert 0.9 < found.max() < 0.95
    sure = found.max(axis=1) > 0.8
    right = both.histograms[np.arange(len(found)), found.argmax(axis=1)][sure].sum() / both.weights[sure].sum()
    assert right < 0.6
