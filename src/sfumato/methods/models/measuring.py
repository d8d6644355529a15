"""Rounds of Synthesis: choose the table that the model gets most wrong, measure it with noise, fit the model to it."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.budget import Budget
from sfumato.methods.models.binning import MIN_VARIANCE
from sfumato.methods.models.graphical import GraphicalModel, Measurement
from sfumato.methods.models.interest import NOTHING, Interest, Weighing
from sfumato.methods.models.junction import Attributes, edges_of, edges_within
from sfumato.methods.models.network import BinnedCells
from sfumato.methods.models.offers import Offer, Offers
from sfumato.privacy.loss import Pure

CHOOSING = Fraction(1, 8)
"""Share of a round's part for choosing what to measure."""
ROUNDS, PURE_ROUNDS = 4, 1
"""The fewest rounds for each attribute: splitting ε costs more than splitting ρ."""
MOST_ROUNDS = 8
"""For each attribute."""
LITTLE_NOISE = 1 / 1500
"""Noise in the counts of a table, as a share of the rows, that allows for more rounds than the fewest."""
DEARER = 2
"""By how much the price of a round grows when the last one told nothing above its noise."""
MAX_CELLS = 2**18
"""Of all cliques of the model together."""
STEPS = 20
"""Of the fit, in a round."""
WEIGHTS = (3, 4)
"""What an error counts in a table, and in one whose pair has the sensitive column."""
PENALTY = 0.6
"""How much of a table's noise counts against it: a fit takes the rest of it off again, for counts are not negative."""
MEAN_SIZE = math.sqrt(2 / math.pi)
"""The mean size of noise, in deviations."""
MAX_NOISE = 2.0**57
"""Of a table, as far as scores count it, so that they fit into 63 bits."""


class Measuring:
    """Rounds until the budget is spent, or until single attributes are worth the rest of it more."""

    def __init__(self, model: GraphicalModel, cells: BinnedCells, budget: Budget, interest: Interest = NOTHING) -> None:
        self.model, self.cells, self.budget = model, cells, budget
        self.attributes = cells.attributes
        self.others = [
            number
            for number, attribute in enumerate(self.attributes)
            if attribute.bins > 1 and number not in model.common
        ]
        self._offers: dict[Attributes, Offers] = {}
        self._wanted: dict[Attributes, list[NDArray[np.int64]]] = {}
        rounds = self._rounds()
        self.price = max(int(budget.left[0]) // rounds, 1)
        self.weighing = Weighing(interest, [attribute.name for attribute in self.attributes], rounds, model.common)
        self._tables: dict[Attributes, NDArray[np.int64]] = {}
        self._bases: tuple[int, list[Attributes]] = (-1, [])
        self._given_up = False
        self._before: NDArray[np.float64] | None = None

    def _rounds(self) -> int:
        """How many rounds the budget is for, if none is dearer than the first: more where there is little noise."""
        pure, number = isinstance(self.budget.total, Pure), len(self.attributes)
        fewest = (PURE_ROUNDS if pure else ROUNDS) * number
        variance = max(float(self.budget.variance(max(int(self.budget.left[0]) // fewest, 1))), MIN_VARIANCE)
        to_spare = LITTLE_NOISE * self.model.total / math.sqrt(variance)
        return min(max(fewest, math.floor(fewest * (to_spare if pure else to_spare**2))), MOST_ROUNDS * number)

    def run(self) -> None:
        """Go on as long as there is something to measure, and to pay with."""
        while self.bases and int(self.budget.left[0]) > 1 and not self._given_up:
            self._round()

    def _round(self) -> None:
        """Choose, measure, and fit; a round that tells nothing above its noise makes the next ones dearer.

        When one more would take most of what is left, single attributes are worth it more.
        """
        left = int(self.budget.left[0])
        if self._told_nothing():
            self.price *= DEARER
            self._given_up = 2 * self.price > left
        if self._given_up:
            return
        price = left if left < 3 * self.price // 2 else self.price
        choosing = max(math.floor(price * CHOOSING), 1)
        offer = self._choose(choosing, price - choosing)
        times = self.weighing.times(offer.attributes)
        self.model.add(self._measure(offer, min(times * (price - choosing), left - choosing)))
        self._before = self._expected_last()
        self.model.fit(STEPS)

    def _expected_last(self) -> NDArray[np.float64]:
        """What the model expects of the table that was measured last."""
        last = self.model.measurements[-1]
        return last.coarsen(self.model.table(last.attributes))

    def _told_nothing(self) -> bool:
        """Whether the last round moved what is expected of its table by no more than noise does."""
        if self._before is None:
            return False
        last = self.model.measurements[-1]
        moved = np.abs(self._expected_last() - self._before).sum()
        return bool(moved <= MEAN_SIZE * math.sqrt(last.variance) * last.counts.size)

    def _choose(self, cost: int, price: int) -> Offer:
        """A private pick of what the model gets most wrong, beyond the noise of measuring it."""
        pairs = self.model.pairs()
        scores = np.concatenate([self._scores(base, pairs, price) for base in self.bases])
        one_run, sensitivity = np.zeros(1, dtype=np.int64), max(WEIGHTS) * self.weighing.most
        chosen = int(
            self.budget.choose(scores, one_run, cost, monotone=False, sensitivity=sensitivity)[0]  # proof: choices
        )
        starts = np.cumsum([0, *(len(self.offers(base)) for base in self.bases)])
        place = int(np.searchsorted(starts, chosen, side="right")) - 1
        return self.offers(self.bases[place])[chosen - int(starts[place])]

    @property
    def bases(self) -> list[Attributes]:
        """Of which attributes tables are offered: pairs that keep the model small; one or none, beside common ones."""
        joined = self.model.joined
        if self._bases[0] != len(joined):
            within = edges_within(edges_of(len(self.attributes), joined), np.log(self.model.sizes), MAX_CELLS)
            pairs = [pair for pair in combinations(self.others, 2) if within[pair]]
            singles: list[Attributes] = [(), *((number,) for number in self.others)]
            self._bases = len(joined), [base for base in (*singles, *pairs) if len(self.offers(base))]
        return self._bases[1]

    def offers(self, base: Attributes) -> Offers:
        """All tables over some attributes."""
        if base not in self._offers:
            self._offers[base] = Offers(self.attributes, self.model.common, base)
        return self._offers[base]

    def _scores(self, base: Attributes, pairs: dict[Attributes, NDArray[np.float64]], price: int) -> NDArray[np.int64]:
        """How wrong the model is about each table, less a part of the noise that measuring it would add, weighted."""
        offers = self.offers(base)
        expected = pairs[base] if base in pairs else self.model.table((*base, *self.model.common))
        wanted, times = self._wishes(base)
        deviation = np.sqrt(self.budget.variance(price * times))
        noise = np.ceil(np.minimum(PENALTY * MEAN_SIZE * deviation * offers.cells, MAX_NOISE)).astype(np.int64)
        weight = WEIGHTS[len(self.attributes) - 1 in base] * wanted
        return np.asarray(weight * (offers.wrong(self._counts(base), expected) - noise))

    def _wishes(self, base: Attributes) -> list[NDArray[np.int64]]:
        """The weight of each table, and how many times the price of others it is measured for."""
        if base not in self._wanted:
            offers = self.offers(base)
            tables = [(*base, *beside) for beside in offers.besides]
            self._wanted[base] = [
                np.tile([rule(table) for table in tables], len(offers) // len(tables))
                for rule in (self.weighing.weight, self.weighing.times)
            ]
        return self._wanted[base]

    def _measure(self, offer: Offer, price: int) -> Measurement:
        """The noisy counts of a table."""
        offers = self.offers(offer.base)
        exact = offers.table(offer, self._counts(offer.base))
        counts = self.budget.counts(exact[None, ...], price)[0].astype(np.float64)  # proof: tables
        variance = max(float(self.budget.variance(price)), MIN_VARIANCE)
        return Measurement(offer.attributes, offers.groups(offer), counts, variance)

    def _counts(self, base: Attributes) -> NDArray[np.int64]:
        """The exact table of some attributes and all common ones, by bins."""
        if base not in self._tables:
            self._tables[base] = self.cells.table(tuple((number, 0) for number in (*base, *self.model.common)))
        return self._tables[base]
