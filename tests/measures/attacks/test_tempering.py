"""How far models are followed: exact powers, and confidence that is as often right as it says."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.measures.attacks.tempering import Known, temper

EVEN = np.array([0.5, 0.5])


def test_powers() -> None:
    beliefs = np.array([[0.8, 0.2]])
    prior = np.array([0.6, 0.4])
    assert temper(beliefs, prior, 0.0) == pytest.approx(prior[None])
    assert temper(beliefs, prior, 1.0) == pytest.approx(beliefs)
    assert temper(beliefs, EVEN, 2.0) == pytest.approx(np.array([[0.64, 0.04]]) / 0.68)


def rows_of(truth: float, rows: int = 10_000) -> np.ndarray:
    """As many rows of each belief as say how often the named value is right."""
    return np.array([[truth * rows, (1 - truth) * rows]] * 2)


def test_a_model_that_is_no_better_than_nothing_is_not_followed() -> None:
    known = Known(beliefs=np.array([[0.9, 0.1], [0.1, 0.9]]), counts=rows_of(0.5))
    assert known.best_power(EVEN) == 0
    assert known.calibrate(np.array([[0.9, 0.1]]), EVEN) == pytest.approx(EVEN[None])


@pytest.mark.parametrize("truth", [0.6, 0.75, 0.9, 0.97])
def test_sure_people_are_as_often_right_as_the_model_then_says(truth: float) -> None:
    """Too sure or not sure enough, at two levels at once; the twin that leaves the model alone is far off."""
    said = np.array([[0.9, 0.1], [0.55, 0.45]])
    counts = np.array([[truth, 1 - truth], [0.52, 0.48]]) * 10_000
    found = Known(beliefs=np.repeat(said, 50, axis=0), counts=np.repeat(counts, 50, axis=0)).calibrate(said, EVEN)
    assert found[:, 0] == pytest.approx([truth, 0.52], abs=0.01)
    assert truth == 0.9 or abs(said[0, 0] - truth) > 0.05


def test_randomized_values_are_judged_by_what_came_out() -> None:
    """Half of the values are drawn anew: a model that is right comes out at three of four."""
    known = Known(
        beliefs=np.array([[0.99, 0.01], [0.01, 0.99]]),
        counts=np.array([[7_450.0, 2_550.0], [2_550.0, 7_450.0]]),
        seen=lambda beliefs: (beliefs + 0.5) / 2,
    )
    assert known.best_power(EVEN) == pytest.approx(1.0, abs=0.11)
