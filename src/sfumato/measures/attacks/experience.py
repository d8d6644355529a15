"""How sure an adversary is: as sure as people show.

Models that take related columns for independent ones are too sure of themselves, means of many trees not sure enough,
and noise makes nobody surer of anything. Every adversary is taken to know how often they are right about people like
these. That is generous, the same for every kind of release, and tells of one person next to nothing: what is learned is
one number, and how often one is right about hundreds of people at a time.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.distances import Floats, shares

NOTHING = 1e-12
MAX_POWER = 2.0
PRECISION = 0.03
CLEARLY = 5.0
"""By how much log likelihood something must explain people better to be followed."""
OFTENER = 2.0
"""By how many standard deviations a value must be oftener right to be named before a likelier one."""
LEAST, MOST, PARTS = 50.0, 500.0, 10
"""People of a step: a tenth of all, but so many at least, and no more than needed. One's own value is one of them."""
TRACE = 1e-6
"""How much of the beliefs before stays, for the order of people in a step."""
AHEAD = 2 * TRACE
"""By how much the value that is named is ahead of all others: more than the trace of what was believed before."""
SAME = 9
"""Beliefs that agree up to so many digits are equally sure."""


class Tempered(NamedTuple):
    """What is believed when something told is followed part of the way, and the log likelihood that it gains."""

    beliefs: Floats
    gain: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Experience:
    """People by point and value, (points, values), who show how right beliefs about their points are."""

    people: Floats

    def follow(self, expected: Floats, *told: Floats) -> Floats:
        """What to believe who expected something and is told something else, in one way or another.

        That is expected^(1 − T) · told^T, with the way and the T that make people's values likeliest, from nothing of
        what is told to more than all of it; nothing, if that makes them hardly likelier.
        """
        best = max((self._temper(expected, each) for each in told), key=lambda found: found.gain, default=None)
        return best.beliefs if best and best.gain > CLEARLY else expected

    def _temper(self, expected: Floats, told: Floats) -> Tempered:
        """What is believed with the best T, and the log likelihood that it gains."""
        from scipy.optimize import minimize_scalar

        before = np.log(np.maximum(expected.T, NOTHING))
        change = np.log(np.maximum(told.T, NOTHING)) - before
        fit, weight = float((self.people.T * change).sum()), self.people.sum(axis=1)

        def tempered(power: float) -> tuple[Floats, Floats]:
            """What is then believed, by value and point, but for a factor; and the logarithm of the factor."""
            logs = before + power * change
            greatest = logs.max(axis=0)
            return np.exp(logs - greatest), greatest

        def gain(power: float) -> float:
            """The log likelihood, but for what does not depend on the power."""
            found, greatest = tempered(power)
            return power * fit - float(weight @ (greatest + np.log(found.sum(axis=0))))

        limits, near = (0, MAX_POWER), {"xatol": PRECISION}
        found = minimize_scalar(lambda power: -gain(power), bounds=limits, options=near)
        return Tempered(shares(tempered(float(found.x))[0].T), -float(found.fun) - gain(0.0))

    def sure(self, beliefs: Floats) -> Floats:
        """Beliefs that are as often right as they say.

        People are put in the order of how sure one is of them and cut into steps of so many; neighbouring steps become
        one where the surer is not oftener right (isotonic regression). Of N people of a step, N_r have the value that
        is the r-th likeliest of their own, and N_r/N is what is believed of it. The likeliest is named, or one that is
        clearly oftener right, and no other is believed more.
        """
        ranks = np.argsort(-beliefs, axis=1, kind="stable")
        said, people = np.take_along_axis(beliefs, ranks, axis=1), np.take_along_axis(self.people, ranks, axis=1)
        step = _steps(said[:, 0], people[:, 0], people.sum(axis=1))
        right = np.zeros((step.max(initial=0) + 1, beliefs.shape[1]))
        np.add.at(right, step, people)
        often = _naming(_named(right), shares(right))
        found = np.empty_like(said)
        np.put_along_axis(found, ranks, shares(often[step] + TRACE * said), axis=1)
        return found


def _steps(sure: Floats, right: Floats, people: Floats) -> NDArray[np.int64]:
    """The step of each belief, by how sure it is and how many of so many people it is then right about."""
    from scipy.optimize import isotonic_regression

    _, level = np.unique(np.round(sure, SAME), return_inverse=True)
    step = np.searchsorted(_first_levels(np.cumsum(np.bincount(level, people))), level, side="right") - 1
    weight = np.maximum(np.bincount(step, people), NOTHING)
    joined = isotonic_regression(np.bincount(step, right) / weight, weights=weight).blocks
    return np.searchsorted(joined, step, side="right") - 1


def _first_levels(upto: Floats) -> list[int]:
    """Where steps of enough people begin, of levels with so many people up to each."""
    enough = min(max(upto[-1] / PARTS, LEAST), MOST)
    starts, before = [0], 0.0
    while True:
        last = int(np.searchsorted(upto, before + enough))
        if last >= len(upto) or upto[-1] - upto[last] < enough:
            return starts
        starts.append(last + 1)
        before = float(upto[last])


def _named(right: Floats) -> NDArray[np.int64]:
    """The rank that is named in each step: the first, unless it is worse than chance or another is clearly better."""
    first, best = right[:, 0], right.max(axis=1)
    better = (best > first + OFTENER * np.sqrt(best + first)) | (first * right.shape[1] < right.sum(axis=1))
    return np.where(better, right.argmax(axis=1), 0)


def _naming(named: NDArray[np.int64], often: Floats) -> Floats:
    """How often each rank is right, with one named in each step; what others had beyond it goes to those below."""
    row, least = np.arange(len(often)), 1 / often.shape[1] + AHEAD  # above chance, so that there is room for the others
    sure = np.maximum(often[row, named], least)[:, None]
    rest = often.copy()
    rest[row, named] = 0
    others: Floats = np.minimum(shares(rest) * (1 - sure), sure - AHEAD)
    room = sure - AHEAD - others
    room[row, named] = 0
    others += shares(room) * np.maximum(1 - sure - others.sum(axis=1, keepdims=True), 0)
    others[row, named] = sure[:, 0]
    return others
