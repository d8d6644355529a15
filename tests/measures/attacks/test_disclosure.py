"""What a release discloses: closed forms on tiny tables, and the order of releases that anybody would agree on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.measures.attacks.disclosure import Disclosed, disclosure, disclosure_added, learned
from sfumato.measures.attacks.panel import Panel
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.samples.town import SCHEMA_PATH


@pytest.fixture(scope="module")
def town() -> sf.Table:
    return sf.read(sf.residents(4_000), schema=SCHEMA_PATH)


def panel_of_four(secret: tuple[bool, ...] = (True, True)) -> Panel:
    """Forty people at each of two points: 30 a and 10 b at the first, 40 a at the second."""
    people = np.array([[30, 10], [40, 0]])
    return Panel(
        points=np.array([[0], [1]], dtype=np.int32),
        point_of=np.arange(2),
        people=people,
        control=np.tile([0.875, 0.125], (2, 1)),
        prior=np.array([0.875, 0.125]),
        secret=np.array(secret),
    )


def found_by(beliefs: list[list[float]], panel: Panel | None = None) -> Disclosed:
    return learned(panel or panel_of_four(), np.array(beliefs), np.zeros(2, dtype=np.int64), "somebody")


def test_nothing_believed_is_nothing_learned() -> None:
    assert found_by([[0.875, 0.125]] * 2).value == 0


def test_an_eighth_of_those_named_is_the_most_there_is() -> None:
    """Eight people are counted; all eight could be right where the baseline is wrong, and ten of forty are b."""
    panel = panel_of_four()
    found = found_by([[0.4, 0.6], [1.0, 0.0]], panel)
    assert found.value == pytest.approx(max(10 / 40 - 30 / 40, 0))
    told_apart = Panel(
        points=panel.points,
        point_of=np.array([0, 0, 1]),
        people=np.array([[30, 0], [0, 10], [40, 0]]),
        control=np.tile(panel.prior, (3, 1)),
        prior=panel.prior,
        secret=panel.secret,
    )
    certain = learned(told_apart, np.array([[1.0, 0], [0, 1], [1, 0]]), np.zeros(3, dtype=np.int64), "somebody")
    assert certain.value == pytest.approx(1)
    assert certain.interval[0] > 0.5


def test_a_value_that_is_no_secret_is_not_disclosed() -> None:
    """Only a is a secret, and it is what everybody names."""
    assert found_by([[0.1, 0.9], [0.9, 0.1]], panel_of_four((True, False))).value == 0


def test_the_end_points(town: sf.Table) -> None:
    original, suppressed = sf.Original().publish(town), sf.FullSuppression().publish(town)
    assert disclosure_added(town, original).value > 0.95
    assert disclosure(town, original).value > 0.95
    assert disclosure_added(town, suppressed).value == 0
    assert disclosure(town, suppressed).value == 0
    assert disclosure(town, suppressed).interval[1] > 0


def test_larger_classes_disclose_less(town: sf.Table) -> None:
    """By more than chance: the intervals of k = 2, 10 and 100 lie apart."""
    found = [disclosure_added(town, sf.Mondrian(k=k).publish(town)) for k in (2, 10, 100)]
    for more, less in pairwise(found):
        assert more.interval[0] > less.interval[1]


def test_noise_alone_discloses_nothing(town: sf.Table) -> None:
    for method in (sf.PrivTree(epsilon=0.001), sf.PrivBayes(epsilon=0.001), sf.LocalNoise(epsilon=0.001)):
        release = method.publish(town, SimulatedSource(1))
        assert disclosure_added(town, release).value < 0.01
        assert disclosure(town, release).value < 0.01
