"""The minimality adversary: the literature's example, and Mondrian run on every assignment of small classes."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sfumato.measures.attacks.minimality as attack
from sfumato.data import read
from sfumato.errors import ReleaseError
from sfumato.measures.attacks.minimality import applies, count_assignments, minimality_beliefs
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Anatomy, Mondrian
from sfumato.privacy.requirements import EntropyLDiversity
from sfumato.release import Release

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from sfumato.data import Table

NAMES = ["HIV", "flu", "cough", "cold", "asthma"]


def table_of(points: list[tuple[int | None, int]], values: list[int] | tuple[int, ...]) -> Table:
    """People with two quasi-identifiers, the first perhaps missing, and one of five values."""
    number = {"role": "quasi", "kind": "numeric", "min": 0, "max": 3}
    secret = {"role": "sensitive", "kind": "categorical", "values": NAMES}
    rows = {"x": [x for x, _ in points], "y": [y for _, y in points], "secret": [NAMES[value] for value in values]}
    return read(rows, {"columns": {"x": {**number, "nullable": True}, "y": number, "secret": secret}})


def believed(method: Mondrian, table: Table, **more: Any) -> NDArray[np.float64]:
    return minimality_beliefs(method.publish(table), table.points, table.weights, **more)


WONG: list[tuple[int | None, int]] = [(0, 0)] * 2 + [(1, 0)] * 4


@pytest.mark.parametrize("method", [Mondrian(l=2), Mondrian(l=2, cut="median"), Mondrian(l=2, recoding="bucketize")])
def test_the_example_of_wong_et_al(method: Mondrian) -> None:
    """Two people look alike, and so do four others; two of the six are ill, and what the rest have is nothing special.

    Had at most one of the first two been ill, both kinds would have been published as they are: 2-diverse. They were
    not, so both are ill, though one in three of the published class is.
    """
    table = table_of(WONG, [0, 0, 1, 2, 3, 4])
    assert len(method.publish(table).histograms) == 1
    assert method.publish(table).posteriors(table.points)[:, 0] == pytest.approx(1 / 3)
    assert believed(method, table)[:, 0].tolist() == [1, 0]


def test_the_tables_of_wong_et_al_that_need_nothing_hidden() -> None:
    """With one ill person of each kind, or two of the four, classes are cut, and nothing more is learned."""
    for values, ill in (([0, 1, 0, 2, 3, 4], [1 / 2, 1 / 4]), ([1, 2, 0, 0, 3, 4], [0, 1 / 2])):
        assert believed(Mondrian(l=2), table_of(WONG, values))[:, 0] == pytest.approx(ill)


def enumerated(method: Mondrian, points: list[tuple[int | None, int]], values: list[int]) -> NDArray[np.float64]:
    """Every different assignment that Mondrian publishes as one class, averaged by point."""
    found = [table_of(points, given).histograms for given in set(permutations(values)) if one(method, points, given)]
    counts = np.mean(found, axis=0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def one(method: Mondrian, points: list[tuple[int | None, int]], values: tuple[int, ...] | list[int]) -> bool:
    return len(method.publish(table_of(points, values)).histograms) == 1


METHODS = [
    Mondrian(l=2),
    Mondrian(k=2, l=2, cut="median"),
    Mondrian(t=0.4),
    Mondrian(k=2, t=0.2, distance="ordered"),
    Mondrian(requirements=(EntropyLDiversity(l=2),), recoding="bucketize"),
]


@pytest.mark.parametrize("method", METHODS)
def test_beliefs_are_those_of_all_assignments_that_mondrian_leaves_whole(method: Mondrian) -> None:
    """Classes of five, with missing values and people who look alike, found by trying; Mondrian itself judges."""
    random, moved, checked, values = np.random.default_rng(1), 0, 0, [0, 0, 1, 2, 3]
    while checked < 3:
        points = [(None if x < 0 else int(x), int(y)) for x, y in random.integers((-1, 0), (2, 2), (5, 2))]
        hidden = random.permutation(values).tolist()
        if one(method, points, hidden):
            table, checked = table_of(points, hidden), checked + 1
            found = believed(method, table)
            assert found == pytest.approx(enumerated(method, points, values), abs=1e-12)
            moved += bool(np.abs(found - method.publish(table).posteriors(table.points)).max() > 0.05)
    assert moved


def test_a_class_that_could_have_been_cut_is_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin, for whom no cut is ever allowed, learns nothing from the example."""
    monkeypatch.setattr(attack, "allow", lambda left, *_: np.zeros(len(left), dtype=bool))
    assert believed(Mondrian(l=2), table_of(WONG, [0, 0, 1, 2, 3, 4]))[:, 0] == pytest.approx([1 / 3, 1 / 3])


def test_drawing_assignments_comes_to_the_same_as_trying_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least 500 fit: a share is off by 0.12 with a probability below 2e-6 (Hoeffding), and there are ten."""
    method, table = Mondrian(l=2), table_of([*WONG, (1, 0)], [0, 0, 0, 1, 1, 2, 3])
    assert 2 * np.exp(-2 * 500 * 0.12**2) < 2e-6
    exact = believed(method, table)
    monkeypatch.setattr(attack, "count_assignments", lambda counts: np.inf)
    drawn = believed(method, table)
    assert (drawn != exact).any()
    assert drawn == pytest.approx(exact, abs=0.12)
    assert drawn.sum(axis=1) == pytest.approx(1)


def test_ways_are_counted() -> None:
    assert count_assignments(np.array([2, 1, 1, 0])) == 12
    assert count_assignments(np.array([0, 5])) == 1
    assert count_assignments(np.array([500, 500])) == np.inf


def test_size_alone_and_other_methods_tell_nothing(tmp_path: Path) -> None:
    table = table_of(WONG, [0, 0, 1, 2, 3, 4])
    low = Mondrian(l=2, height=9).publish(table)
    for release in (Mondrian(k=3).publish(table), low, Anatomy(l=2).publish(table, SimulatedSource(1))):
        assert not applies(release)
        with pytest.raises(ReleaseError, match="attacks Mondrian"):
            minimality_beliefs(release, table.points, table.weights)
    read_back = Release.load(Mondrian(l=2).publish(table).save(tmp_path / "r"))
    assert applies(read_back)
    assert minimality_beliefs(read_back, table.points, table.weights)[:, 0].tolist() == [1, 0]


def test_only_so_many_classes_are_reasoned_about() -> None:
    points, values = [(None, 3)] * 2 + [(None, 2)] * 4 + WONG, [0, 0, 1, 2, 3, 4] * 2
    table = table_of(points, values)
    release = Mondrian(l=2).publish(table)
    beliefs = [minimality_beliefs(release, table.points, table.weights, max_classes=most) for most in (0, 9)]
    assert beliefs[0] == pytest.approx(release.posteriors(table.points))
    assert beliefs[1] != pytest.approx(release.posteriors(table.points))
