"""The budget of one release: a draw and its charge are one call, and nothing is drawn that is not paid for.

Records live on *paths*: at first there is one; `fork` gives every part of a partition a path of its own, on which
only the records of that part spend (parallel composition). A record's loss is what its own path spent
(sequential composition, adaptive: what a path buys next may depend on all noise so far). One person added or
removed touches one path, so the release costs no more than the dearest path, and no path may pass the total.
Charges are shares of the total in whole ticks, so sums are exact, whichever way the total is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BudgetError
from sfumato.mechanisms.noise import Source
from sfumato.mechanisms.noise.exponential import choose_by_weight
from sfumato.mechanisms.noise.geometric import choose, laplace_variance
from sfumato.mechanisms.noise.sparse import draw_sparse
from sfumato.privacy.loss import Loss, Pure

Ticks = int | np.integer | NDArray[np.int64]

T = TypeVar("T")
WHOLE = 2**40
"""Ticks in the whole budget."""
MIN_ROOT = 2**20
"""A square root of ρ that is rounded down has at least this many parts."""


def ticks(share: Fraction | float | int) -> int:
    """A share of the whole as ticks, rounded down."""
    return math.floor(Fraction(share) * WHOLE)


class Budget:
    """What each path has spent of the total, and the only source of noise for a release."""

    def __init__(self, total: Loss, source: Source, spent: NDArray[np.int64] | None = None) -> None:
        self.total = total
        self._source = source
        self._spent = np.zeros(1, dtype=np.int64) if spent is None else spent
        self._closed = False

    @property
    def spent(self) -> NDArray[np.int64]:
        """Ticks spent on each path."""
        return self._spent.copy()

    @property
    def left(self) -> NDArray[np.int64]:
        """Ticks left on each path."""
        return WHOLE - self._spent

    def fork(self, parent: NDArray[np.integer]) -> Budget:
        """The budget of disjoint parts; part i holds records of the path `parent[i]` only.

        Its parts have spent what their parents had; the parents themselves can spend no more.
        """
        self._close()
        return Budget(self.total, self._source, self._spent[parent])

    def apart(self, chosen: NDArray[np.bool_]) -> tuple[Budget, Budget]:
        """The budgets of the chosen paths and of the others, which go on by themselves."""
        self._close()
        chosen_part, others = (Budget(self.total, self._source, self._spent[part]) for part in (chosen, ~chosen))
        return chosen_part, others

    def counts(self, exact: NDArray[np.integer], cost: Ticks, *, squared: int = 1) -> NDArray[np.int64]:
        """Noisy counts. Row i of `exact` (paths, …) counts records of path i, each in one cell at most.

        Under ρ they may be any whole numbers that one record changes by a vector of at most the length √`squared`:
        Gaussian noise of variance v on each costs `squared` / 2v (Canonne, Kamath and Steinke, 2020, Theorem 14), so
        it is drawn with `squared` times the variance.
        """
        if np.shape(exact)[:1] != self._spent.shape or not np.issubdtype(np.asarray(exact).dtype, np.integer):
            raise BudgetError("counts need a row of whole numbers for each path")
        if squared != 1 and isinstance(self.total, Pure):
            raise BudgetError("under pure epsilon each record is in one cell at most")
        costs = self._charge(cost)
        noisy = np.array(exact, dtype=np.int64)
        for price in np.unique(costs):
            rows = np.flatnonzero(costs == price)
            noise = self._noise(self._share(price) / squared, noisy[rows].size)
            noisy[rows] += noise.reshape(noisy[rows].shape)
        return noisy

    def choose(
        self,
        scores: NDArray[np.int64],
        starts: NDArray[np.int64],
        cost: Ticks,
        *,
        monotone: bool = True,
        sensitivity: int = 1,
        disjoint: bool = False,
    ) -> NDArray[np.int64]:
        """The index of the chosen candidate of each path; those of path i begin at `starts[i]`.

        One record of the path changes its scores by at most `sensitivity`, all in one direction if `monotone`.
        If `disjoint`, there may be several runs for a path, which look at different records of it.
        """
        if not disjoint and np.shape(starts) != self._spent.shape:
            raise BudgetError("a selection needs one run of candidates for each path")
        price = np.unique(self._charge(cost))
        if len(price) != 1:
            raise BudgetError("the paths of one selection must pay the same")
        epsilon = self._choice_epsilon(self._share(price[0])) / (sensitivity if monotone else 2 * sensitivity)
        rule = choose if isinstance(self.total, Pure) else choose_by_weight
        return rule(scores, starts, epsilon, self._source)

    def spend(self, cost: Ticks, draw: Callable[[Fraction, Source], T]) -> T:
        """A draw of another kind: `draw` gets the ε that the cost buys, and the source of randomness."""
        return self._spend(cost, draw)

    def sparse_counts(
        self, cells: NDArray[np.int64], counts: NDArray[np.int64], domain_size: int, threshold: int, cost: Ticks
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells of a huge domain whose noisy count reaches the threshold, and those counts.

        As if every cell of 0..domain_size − 1 were counted with noise; `cells` (rising) lists those that are not empty.
        """
        return self._spend(cost, partial(draw_sparse, cells, counts, domain_size, threshold))

    def threshold(self, domain_size: int, most: int, cost: int) -> int:
        """The least threshold that no more than about `most` empty cells of a domain reach, at a cost."""
        epsilon = float(self._epsilon(self._share(cost)))
        return max(1, math.ceil(math.log(max(domain_size / most, 1)) / epsilon))

    def handicaps(self, rivals: NDArray[np.int64], cost: int, *, sensitivity: int = 1) -> NDArray[np.int64]:
        """What to take off the scores of candidates that stand for one thing together, `rivals` of them for it.

        Where all scores are the same, the best of c candidates is ahead of a single one by about ln c / ε, for it is
        the largest of c draws. Less that much, the thing they stand for is as likely to win as one with one candidate.
        """
        epsilon = float(self._choice_epsilon(self._share(cost)))
        return np.rint(np.log(rivals) * sensitivity / epsilon).astype(np.int64)

    def uniforms(self, count: int) -> NDArray[np.float64]:
        """Numbers in [0, 1) for sampling from what is noisy already; they look at no record and cost nothing."""
        return self._source.uniforms(count)

    def variance(self, cost: Ticks) -> NDArray[np.float64]:
        """The variance of the noise that a count gets for a cost."""
        price, where = np.unique(np.asarray(cost, dtype=np.int64), return_inverse=True)
        found = np.array([self._variance(self._share(one)) if one > 0 else np.inf for one in price])
        return found[where].reshape(np.shape(cost))

    def sparse_variance(self, cost: int) -> float:
        """The variance of the noise that a sparse count gets for a cost; it is Laplace noise under ρ too."""
        return laplace_variance(float(self._epsilon(self._share(cost))))

    @property
    def as_epsilon(self) -> float:
        """The ε of Laplace noise as large as that of a count for the whole budget, √2 / ε: 2 √ρ under ρ."""
        return float(self.total.epsilon) if isinstance(self.total, Pure) else 2 * math.sqrt(self.total.rho)

    def _spend(self, cost: Ticks, draw: Callable[[Fraction, Source], T]) -> T:
        price = np.unique(self._charge(cost))
        if len(price) != 1:
            raise BudgetError("such a draw is made for the same cost on every path")
        return draw(self._epsilon(self._share(price[0])), self._source)

    def _charge(self, cost: Ticks) -> NDArray[np.int64]:
        if self._closed:
            raise BudgetError("this budget was divided among parts; only they can spend")
        costs = np.broadcast_to(np.asarray(cost, dtype=np.int64), self._spent.shape)
        if (costs <= 0).any():
            raise BudgetError("every draw must cost something")
        if (costs > self.left).any():
            worst = int(np.argmax(costs - self.left))
            asked, left = (float(Fraction(int(amount), WHOLE)) for amount in (costs[worst], self.left[worst]))
            raise BudgetError(f"a draw asks for {asked:.6g} of the budget, but only {left:.6g} of it is left")
        self._spent = self._spent + costs
        return costs

    def _close(self) -> None:
        if self._closed:
            raise BudgetError("this budget was divided among parts already")
        self._closed = True

    def _share(self, price: int | np.integer) -> Fraction:
        return Fraction(int(price), WHOLE)

    def _noise(self, share: Fraction, count: int) -> NDArray[np.int64]:
        if isinstance(self.total, Pure):
            return self._source.laplace(self.total.epsilon * share, count)
        return self._source.gaussian(1 / (2 * self.total.rho * share), count)

    def _variance(self, share: Fraction) -> float:
        if isinstance(self.total, Pure):
            return laplace_variance(float(self.total.epsilon * share))
        return float(1 / (2 * self.total.rho * share))

    def _choice_epsilon(self, share: Fraction) -> Fraction:
        """ε itself, or the ε whose ε²/8 the share of ρ pays for: a choice by weight costs no more."""
        return self._epsilon(share) * (1 if isinstance(self.total, Pure) else 2)

    def _epsilon(self, share: Fraction) -> Fraction:
        """ε itself, or the ε whose ε²/2 the share of ρ pays for, rounded down: ε-differential privacy costs no more."""
        if isinstance(self.total, Pure):
            return self.total.epsilon * share
        digits = WHOLE
        while (root := math.isqrt(math.floor(2 * self.total.rho * share * digits**2))) < MIN_ROOT:
            digits *= WHOLE
        return Fraction(root, digits)
