"""Beliefs are as often right as they say: in ten bins, wherever a bin has at least 1,000 people.

Of so many, the share that is right varies by 0.016 at most (one standard deviation).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import sfumato as sf
from sfumato.measures.attacks.adversaries import Setting, all_beliefs, informed_beliefs
from sfumato.measures.attacks.panel import Panel, panel_of
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.samples.town import SCHEMA_PATH

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 0.05
LEAST = 1_000


@pytest.fixture(scope="module")
def town() -> sf.Table:
    return sf.read(sf.residents(20_000), schema=SCHEMA_PATH)


def off(panel: Panel, beliefs: NDArray[np.float64]) -> float:
    """The greatest distance between the mean belief of a bin and the share of its people that is right."""
    people, sure = panel.people.sum(axis=1), beliefs.max(axis=1)
    right = panel.people[np.arange(len(beliefs)), beliefs.argmax(axis=1)]
    bins = np.minimum((sure * 10).astype(np.int64), 9)
    count, said, true = (np.bincount(bins, each, 10) for each in (people, people * sure, right))
    large = count >= LEAST
    return float(np.abs((said - true)[large] / count[large]).max())


def beliefs_of(panel: Panel, release: sf.Release) -> dict[str, NDArray[np.float64]]:
    people = np.bincount(panel.point_of, panel.people.sum(axis=1), len(panel.points)).astype(np.float64)
    found = all_beliefs(Setting(release=release, points=panel.points, people=people, prior=panel.prior))
    return {name: beliefs[panel.point_of] for name, beliefs in found.items()}


@pytest.mark.parametrize("name", ["adult", "town"])
def test_the_model_of_other_peoples_rows(name: str, request: pytest.FixtureRequest) -> None:
    panel = panel_of(request.getfixturevalue(name))
    assert off(panel, panel.control) < NEAR
    overdone = panel.control**2 / (panel.control**2).sum(axis=1, keepdims=True)
    assert off(panel, overdone) > 2 * NEAR


@pytest.mark.parametrize(("name", "k"), [("adult", 2), ("adult", 10), ("town", 10)])
def test_everybody_who_reads_exact_classes(name: str, k: int, request: pytest.FixtureRequest) -> None:
    table = request.getfixturevalue(name)
    panel, release = panel_of(table), sf.Mondrian(k=k, look_ahead=0).publish(table)
    found = beliefs_of(panel, release)
    assert {"lookup", "naive_bayes", "fitted"} <= set(found)
    assert max(off(panel, beliefs) for beliefs in found.values()) < NEAR


@pytest.mark.parametrize("epsilon", [0.001, 1.0])
def test_who_reads_noisy_counts_beside_a_model_of_other_people(town: sf.Table, epsilon: float) -> None:
    panel = panel_of(town)
    for method in (sf.PrivTree(epsilon=epsilon), sf.DPCube(epsilon=epsilon), sf.LocalNoise(epsilon=epsilon)):
        release = method.publish(town, SimulatedSource(1))
        assert off(panel, informed_beliefs(release, panel)) < NEAR


def test_noisy_counts_taken_at_their_word_are_noticed(town: sf.Table) -> None:
    """The broken twin: who looks people up and believes every count."""
    panel, release = panel_of(town), sf.PrivTree(epsilon=0.1).publish(town, SimulatedSource(1))
    believed = replace(release, deviation=None).posteriors(panel.points)[panel.point_of]
    assert off(panel, believed) > 2 * NEAR
