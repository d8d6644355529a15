"""How sure to be: exact powers, beliefs that are as often right as they say, and properties of any beliefs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.measures.attacks import experience
from sfumato.measures.attacks.experience import CLEARLY, LEAST, Experience
from sfumato.privacy.distances import shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EXACT = 1e-5
"""Above the trace that old beliefs leave, and how far the named value is kept ahead."""


def of(*people: tuple[float, ...]) -> Experience:
    return Experience(people=np.array(people, dtype=np.float64))


def even(beliefs: Floats) -> Floats:
    return np.full(beliefs.shape, 1 / beliefs.shape[1])


@pytest.mark.parametrize(
    ("right", "power"), [(0.8, 1.0), (16 / 17, 2.0), (64 / 65, 2.0), (2 / 3, 0.5), (0.5, 0.0), (0.2, 0.0)]
)
def test_powers(right: float, power: float) -> None:
    """Told 4 to 1: odds of 4^T are the truth at power T, of which none is negative or above two."""
    told, expected = np.array([[0.8, 0.2], [0.2, 0.8]]), np.full((2, 2), 0.5)
    found = of((right * 1e4, (1 - right) * 1e4), ((1 - right) * 1e4, right * 1e4)).follow(expected, told)
    assert found[:, 0] == pytest.approx([4**power / (4**power + 1), 1 / (4**power + 1)], abs=0.01)
    assert (found is expected) == (power == 0)


def test_what_was_expected_is_the_other_end_of_the_power() -> None:
    """Expected 3 to 2 and told 4 to 1: at half of the power the odds are √6, and everywhere at once."""
    told, expected = np.tile([0.8, 0.2], (3, 1)), np.tile([0.6, 0.4], (3, 1))
    right = np.sqrt(6) / (np.sqrt(6) + 1)
    found = of((0.0, 0.0), (right * 1e4, (1 - right) * 1e4), (0.0, 0.0)).follow(expected, told)
    assert found[:, 0] == pytest.approx(np.full(3, right), abs=0.01)


def test_what_explains_people_hardly_better_is_not_followed() -> None:
    """0.193 of log likelihood a person: fifteen of them explain nothing clearly, sixteen do."""
    told, expected = np.array([[0.8, 0.2]]), np.array([[0.5, 0.5]])
    each = np.log(2) + 0.8 * np.log(0.8) + 0.2 * np.log(0.2)
    few, enough = int(CLEARLY / each), int(CLEARLY / each) + 1
    assert of((0.8 * few, 0.2 * few)).follow(expected, told) is expected
    assert of((0.8 * enough, 0.2 * enough)).follow(expected, told) == pytest.approx(told, abs=0.01)


def test_noise_is_not_followed() -> None:
    """Told at random about 500 times 20 people. A gain of 3 is beyond √6 deviations to one side: 0.7% of all seeds."""
    draw = np.random.default_rng(1)
    told, expected = draw.dirichlet(np.ones(4), 500), np.full((500, 4), 0.25)
    people = Experience(people=draw.multinomial(20, expected).astype(np.float64))
    assert people.follow(expected, told) is expected
    assert likelihood(people, told) < likelihood(people, expected) - 1_000


@pytest.mark.parametrize("truth", [0.6, 0.75, 0.9, 0.97])
def test_beliefs_are_the_shares_that_are_right(truth: float) -> None:
    """Too sure or not sure enough, at two levels at once; the twin that leaves the model alone is far off."""
    said = np.tile([[0.9, 0.1], [0.55, 0.45]], (50, 1))
    people = Experience(people=np.tile([[truth, 1 - truth], [0.52, 0.48]], (50, 1)) * 100)
    found = people.sure(said)
    assert found[:, 0] == pytest.approx(np.tile([truth, 0.52], 50), abs=EXACT)
    assert truth == 0.9 or np.abs(said[:, 0] - found[:, 0]).max() > 0.05


def test_levels_where_the_surer_is_not_oftener_right_are_one() -> None:
    """Right about 60%, 50% and 80%, by how sure one is: the first two are one step of 55%."""
    said = np.array([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.7, 0.2, 0.1]])
    found = of((600, 300, 100), (500, 300, 200), (800, 100, 100)).sure(said)
    assert found[:, 0] == pytest.approx([0.55, 0.55, 0.8], abs=EXACT)


def test_few_people_are_told_apart_from_nobody() -> None:
    """Four points with twenty people each, each with another share: fifty make a step, so they are all alike."""
    said = np.array([[0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.9, 0.1]])
    found = of((11, 9), (12, 8), (14, 6), (19, 1)).sure(said)
    assert found[:, 0] == pytest.approx(np.full(4, 56 / 80), abs=EXACT)


def test_every_rank_is_as_often_right_as_is_believed() -> None:
    """One point whose likeliest value is right for half of the people, the next for a third, the last for a sixth."""
    found = of((100, 200, 300)).sure(np.array([[0.01, 0.09, 0.9]]))
    assert found == pytest.approx(np.array([[1 / 6, 1 / 3, 1 / 2]]), abs=EXACT)


def test_a_value_that_is_clearly_oftener_right_is_named() -> None:
    """Whoever mixes two values up learns to swap them; a difference that may be chance changes no name."""
    said = np.array([[0.9, 0.1]])
    assert of((100, 500)).sure(said) == pytest.approx(np.array([[1 / 6, 5 / 6]]), abs=EXACT)
    said = np.array([[0.8, 0.1, 0.1]])
    assert of((210, 220, 170)).sure(said).argmax() == 0


NEARLY_EVEN = (1.0 - 1e-7, 1.0 + 0.5e-7, 1.0 + 0.5e-7)
"""The first of three values is right a little less often than by chance."""


def named_in_spite_of_beliefs() -> int:
    """The value named of people of whom one was nearly certain of another."""
    said = np.array([[0.999, 0.0005, 0.0005]])
    return int(of(tuple(1e5 * share for share in NEARLY_EVEN)).sure(said).argmax())


def test_what_was_believed_before_does_not_name_another_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that was: the trace of the beliefs before put another value first. The twin is not kept ahead of it."""
    assert named_in_spite_of_beliefs() == 1
    monkeypatch.setattr(experience, "AHEAD", 0.0)
    assert named_in_spite_of_beliefs() == 0


def test_the_same_is_believed_of_people_of_whom_it_was_before() -> None:
    """A fault that was: people of one step were told apart by where they stand in the table, and not by beliefs."""
    said = np.tile([0.5, 0.3, 0.2], (60, 1))
    people = np.repeat([[0.0, 30.0, 0.0], [60.0, 0.0, 0.0], [0.0, 0.0, 30.0]], 20, axis=0)
    found = Experience(people=people).sure(said)
    assert np.ptp(found, axis=0).max() == 0
    assert found[0] == pytest.approx([0.5, 0.25, 0.25], abs=EXACT)


def test_equally_sure_people_keep_their_order() -> None:
    """Of people in one step, those of whom one was surer come first, by next to nothing."""
    said = np.array([[0.6, 0.4], [0.7, 0.3]])
    found = of((20, 10), (20, 10)).sure(said)
    assert 0 < found[1, 0] - found[0, 0] < EXACT


def off(people: Floats, beliefs: Floats) -> float:
    """The greatest distance from the truth of beliefs in ten bins, over all values of all people."""
    number = np.repeat(people.sum(axis=1), people.shape[1])
    bins = np.minimum((beliefs.ravel() * 10).astype(np.int64), 9)
    all_of, said, true = (np.bincount(bins, x, 10) for x in (number, number * beliefs.ravel(), people.ravel()))
    there = all_of > 0
    return float((np.abs(said - true)[there] / all_of[there]).max())


@pytest.mark.parametrize("power", [0.3, 3.0])
def test_values_that_are_not_named_are_calibrated_too(power: float) -> None:
    """Beliefs that are the truth to some power; left alone, or put right for the named value only, they are off."""
    truth = np.random.default_rng(2).dirichlet(np.full(5, 0.7), 2_000)
    said, people = shares(truth**power), Experience(people=truth * 20)
    assert off(people.people, said) > 0.1
    assert off(people.people, people.sure(said)) < 0.02


def likelihood(people: Experience, beliefs: Floats) -> float:
    return float((people.people * np.log(np.maximum(beliefs, 1e-12))).sum())


@st.composite
def cases(draw: st.DrawFn) -> tuple[Experience, Floats, Floats]:
    """People by point and value, and two beliefs about them that have something to do with them, or nothing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    points, values = draw(st.integers(1, 60)), draw(st.integers(2, 5))
    truth = rng.dirichlet(np.full(values, draw(st.sampled_from([0.2, 1.0, 10.0]))), points)
    people = rng.multinomial(rng.integers(0, draw(st.sampled_from([1, 5, 200])) + 1, points), truth).astype(np.float64)
    told = shares(truth ** draw(st.sampled_from([0.0, 0.5, 3.0])) * rng.dirichlet(np.ones(values), points) + 0.01)
    digits = draw(st.sampled_from([1, 12]))
    return Experience(people=people), shares(np.round(told, digits) + 1e-3), even(told)


@given(cases())
def test_following_explains_people_no_worse(case: tuple[Experience, Floats, Floats]) -> None:
    """Than expecting and, but for what is not clear, than believing all; the power is found up to a little."""
    people, told, expected = case
    found = people.follow(expected, told)
    assert found.sum(axis=1) == pytest.approx(np.ones(len(found)))
    assert likelihood(people, found) >= likelihood(people, expected) - 1e-9
    little = 0.01 * people.people.sum()
    assert likelihood(people, found) >= likelihood(people, told) - CLEARLY - little


def check_sure(people: Experience, said: Floats, found: Floats) -> None:
    """What holds of beliefs that know how often they are right."""
    assert found.min() >= 0
    assert found.sum(axis=1) == pytest.approx(np.ones(len(found)))
    order = np.argsort(found.max(axis=1), kind="stable")
    sure, named = found.max(axis=1)[order], found.argmax(axis=1)[order]
    right, number = people.people[order, named], people.people[order].sum(axis=1)
    step = np.cumsum(np.diff(sure, prepend=sure[:1]) > EXACT)
    in_step = np.bincount(step, number)
    mean, share = np.bincount(step, number * sure), np.bincount(step, right)
    assert (np.abs(mean - share) <= EXACT * np.maximum(in_step, 1)).all()
    assert in_step.min() >= min(LEAST, number.sum())
    assert sure.min() > 1 / said.shape[1]
    likeliest = found.argmax(axis=1) == said.argmax(axis=1)
    surer = np.argsort(said.max(axis=1)[likeliest], kind="stable")
    assert (np.diff(found.max(axis=1)[likeliest][surer]) >= -EXACT).all()


@given(cases())
def test_sure_beliefs_are_as_often_right_as_they_say(case: tuple[Experience, Floats, Floats]) -> None:
    people, said, _ = case
    check_sure(people, said, people.sure(said))


def test_the_broken_twins_are_noticed() -> None:
    """Beliefs as they were, beliefs that learned from other people, and beliefs in other values than those named."""
    draw = np.random.default_rng(3)
    truth = draw.dirichlet(np.ones(3), 200)
    people, said = Experience(people=np.round(truth * 50)), shares(truth**3)
    found = people.sure(said)
    check_sure(people, said, found)
    for twin in (said, Experience(people=people.people[::-1]).sure(said), np.roll(found, 1, axis=1)):
        with pytest.raises(AssertionError):
            check_sure(people, said, twin)
