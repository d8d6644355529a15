"""Synthesis: rows from a graphical model of the tables that were worth measuring, each chosen and measured privately.

After McKenna, Mullins, Sheldon and Miklau's AIM (2022), with three changes. A pair of attributes is offered at every
resolution of its bins, so that a coarse table of wide axes competes with a fine one. Under ρ only the interaction of
the pair is measured, which its margins do not tell already. And the model is fitted by exact inference over a junction
tree that stays small, so that a choice after every measurement takes a fraction of a second.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.budget import Budget
from sfumato.methods.models.ancestral import sample
from sfumato.methods.models.binning import (
    MIN_VARIANCE,
    PRECISION,
    Attribute,
    count_again,
    count_attributes,
    rows_to_sample,
)
from sfumato.methods.models.graphical import GraphicalModel, Measurement, centre, coarsen
from sfumato.methods.models.interactions import measure_interaction
from sfumato.methods.models.junction import Attributes, edges_of, edges_within
from sfumato.methods.models.network import BinnedCells
from sfumato.methods.models.quantiles import cut_by_mass
from sfumato.methods.models.rows import Columns, SampledRows
from sfumato.parameters import parameter
from sfumato.privacy.claims import ApproximateDP, Differential, PureDP
from sfumato.privacy.loss import Approximate, Loss, Pure, exact

SINGLE = Fraction(1, 3)
"""Share of the budget for counting every attribute by itself."""
CHOOSING = Fraction(1, 5)
"""Share of a round's part for choosing what to measure."""
ROUNDS, PURE_ROUNDS = 8, 2
"""Rounds for each attribute if none is dearer than the first: splitting ε costs more than splitting ρ."""
DEARER = 4
"""By how much the price of a round grows when the last one told nothing above its noise."""
MAX_CELLS = 2**15
"""Of all cliques of the model together."""
MAX_EXPECTED = 2**41
"""Rows of a table that are expected at most; noise may speak of more at a tiny ε."""
ROUND_STEPS, LAST_STEPS = 15, 100
WEIGHTS = (2, 3)
"""What an error counts in a pair of quasi-identifiers, and in one with the sensitive column."""
MEAN_SIZE = math.sqrt(2 / math.pi)
"""The mean size of noise, in deviations."""

Views = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Synthesis(SampledRows):
    """Synthetic rows from a graphical model of privately chosen pairs of attributes.

    Claim: pure differential privacy for adding or removing one row, or (ε, δ) with Gaussian noise if δ is given.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(rounds × (cells × pairs + cliques × steps) + rows × attributes²), with at most 32,768 cells of cliques.
    Reference: after McKenna et al. (2022) and Xiao et al. (2023); proof in synthesis.proof.md.

    >>> release = sf.Synthesis(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "synthesis"
    title: ClassVar[str] = "Synthesis"
    by_default: ClassVar[bool] = False
    delta: float | None = parameter(
        default=None, help="how likely the promise may fail; less noise if given", above=0, below=1, label=" δ={:g}"
    )

    @property
    def total(self) -> Loss:
        if self.delta is None:
            return Pure(exact(self.epsilon))
        return Approximate(exact(self.epsilon), exact(self.delta, "delta")).concentrated()

    @property
    def claim(self) -> Differential:
        if self.delta is None:
            return PureDP(epsilon=self.epsilon)
        return ApproximateDP(epsilon=self.epsilon, failing=self.delta)

    def _sample(self, columns: Columns, budget: Budget) -> NDArray[np.int64]:
        share = SINGLE if len(columns.axes) > 1 else Fraction(1)
        attributes = count_attributes(columns, budget, share, cut_by_mass)
        model = start_model(attributes)
        measuring = Measuring(model, BinnedCells(attributes, columns), budget)
        while measuring.goes_on:
            measuring.round()
        if int(budget.left[0]) >= len(attributes):
            attributes = count_again(attributes, columns, budget)
            listen_to(model, attributes)
        model.fit(LAST_STEPS)
        model.polish(LAST_STEPS)
        return sample(attributes, model.links(), rows_to_sample(attributes), budget.uniforms)


def start_model(attributes: list[Attribute]) -> GraphicalModel:
    """Independent attributes, each as it was counted by itself."""
    rows = max(float(attributes[0].counts.sum()), 1.0)
    shares = [np.maximum(attribute.bin_counts, 0) / rows for attribute in attributes]
    model = GraphicalModel(shares, rows)
    listen_to(model, attributes)
    model.fit(ROUND_STEPS)
    return model


def listen_to(model: GraphicalModel, attributes: Sequence[Attribute]) -> None:
    """Tell a model how attributes were counted by themselves."""
    for number, attribute in enumerate(attributes):
        variance = max(attribute.deviation**2, MIN_VARIANCE)
        model.add(Measurement((number,), (attribute.views[0],), attribute.bin_counts, variance, centred=False))


class Measuring:
    """Rounds of choosing a table of a pair, measuring it and fitting the model, until the budget is spent."""

    def __init__(self, model: GraphicalModel, cells: BinnedCells, budget: Budget) -> None:
        self.model, self.cells, self.budget = model, cells, budget
        self.attributes = cells.attributes
        telling = [number for number, attribute in enumerate(self.attributes) if attribute.bins > 1]
        self.pairs: list[Attributes] = list(combinations(telling, 2))
        rounds = (PURE_ROUNDS if isinstance(budget.total, Pure) else ROUNDS) * len(self.attributes)
        self.price = max(int(budget.left[0]) // rounds, 1)
        self._tables: dict[Attributes, NDArray[np.int64]] = {}
        self._allowed: tuple[int, list[Attributes]] = (-1, [])
        self._given_up = False
        self._before: NDArray[np.float64] | None = None

    @property
    def goes_on(self) -> bool:
        """Whether there is anything left to measure, and to pay with."""
        return bool(self.pairs) and int(self.budget.left[0]) > 1 and not self._given_up

    def round(self) -> None:
        """Choose, measure, and fit; a round that tells nothing above its noise makes the next ones dearer.

        When one more would take most of what is left, single attributes are worth it more.
        """
        expected, left = self.model.pairs(), int(self.budget.left[0])
        if self._told_nothing(expected):
            self.price *= DEARER
            self._given_up = 2 * self.price > left
        if self._given_up:
            return
        price = left if left < 3 * self.price // 2 else self.price
        choosing = max(math.floor(price * CHOOSING), 1)
        pair, views = self._choose(expected, choosing, price - choosing)
        measured = self._measure(pair, views, price - choosing)
        self.model.add(*measured)
        self.model.fit(ROUND_STEPS)
        self._before = expected[pair]

    def _told_nothing(self, expected: dict[Attributes, NDArray[np.float64]]) -> bool:
        """Whether the last round moved what is expected of its table by no more than noise does."""
        if self._before is None:
            return False
        last = self.model.measurements[-1]
        moved = np.abs(last.coarsen(expected[last.attributes]) - last.coarsen(self._before)).sum()
        return bool(moved <= MEAN_SIZE * math.sqrt(last.variance) * last.counts.size)

    def _choose(
        self, expected: dict[Attributes, NDArray[np.float64]], cost: int, price: int
    ) -> tuple[Attributes, Views]:
        """A private pick of what the model gets most wrong, beyond the noise of measuring it."""
        offered = list(self._candidates())
        variance = float(self.budget.variance(price))
        scores = np.concatenate([self._scores(expected[pair], pair, views, variance) for pair, views in offered])
        one_run = np.zeros(1, dtype=np.int64)
        chosen = int(
            self.budget.choose(scores, one_run, cost, monotone=False, sensitivity=max(WEIGHTS))[0]  # proof: choices
        )
        return [(pair, view) for pair, views in offered for view in views][chosen]

    def _candidates(self) -> Iterator[tuple[Attributes, list[Views]]]:
        """The pairs that keep the model small, with every resolution of either attribute."""
        tables = self.model.tables
        if self._allowed[0] != len(tables):
            within = edges_within(edges_of(len(self.attributes), tables), np.log(self.model.sizes), MAX_CELLS)
            self._allowed = len(tables), [pair for pair in self.pairs if within[pair]] or self.pairs[:1]
        for pair in self._allowed[1]:
            yield pair, list(product(*(range(len(self.attributes[number].views)) for number in pair)))

    def _scores(
        self, expected: NDArray[np.float64], pair: Attributes, offered: list[Views], variance: float
    ) -> NDArray[np.int64]:
        """⌊Σ |count − expected|⌋ of each table, less the noise that measuring it would add, weighted.

        Expected counts are rounded to a fixed precision, so that sums are exact, and bounded, so that they fit into 63
        bits; one row changes a sum by at most 1.
        """
        sane = np.clip(expected, 0, MAX_EXPECTED / expected.size)
        wrong = self._counts(pair) * PRECISION - np.rint(sane * PRECISION).astype(np.int64)
        weight = WEIGHTS[pair[1] == len(self.attributes) - 1]
        found = np.empty(len(offered), dtype=np.int64)
        for place, views in enumerate(offered):
            table = coarsen(wrong, self._groups(pair, views))
            noise = MEAN_SIZE * math.sqrt(variance * self._told_share(table.shape)) * table.size
            found[place] = weight * (int(np.abs(table).sum()) // PRECISION - math.ceil(noise))
        return found

    def _measure(self, pair: Attributes, views: Views, price: int) -> list[Measurement]:
        """What was counted of a pair: its interaction under ρ; a whole table under ε, which tells its margins too."""
        groups = self._groups(pair, views)
        table = coarsen(self._counts(pair), groups)
        if not isinstance(self.budget.total, Pure):
            interaction, variance = measure_interaction(table, self.budget, price)
            return [Measurement(pair, groups, interaction, max(variance, MIN_VARIANCE), centred=True)]
        counts = self.budget.counts(table[None, ...], price)[0].astype(np.float64)  # proof: tables
        variance = max(float(self.budget.variance(price)), MIN_VARIANCE)
        margins = [
            Measurement(
                (pair[axis],),
                (groups[axis],),
                centre(counts.sum(axis=1 - axis)),
                variance * table.shape[1 - axis],
                centred=True,
            )
            for axis in (0, 1)
        ]
        return [*margins, Measurement(pair, groups, centre(counts), variance, centred=True)]

    def _told_share(self, shape: tuple[int, ...]) -> float:
        """The share of a table's noise that measuring it adds: an interaction has less of it."""
        return 1.0 if isinstance(self.budget.total, Pure) else math.prod(1 - 1 / size for size in shape)

    def _counts(self, pair: Attributes) -> NDArray[np.int64]:
        """The exact table of a pair, by bins."""
        if pair not in self._tables:
            self._tables[pair] = self.cells.counts(pair[1], ((pair[0], 0),))
        return self._tables[pair]

    def _groups(self, pair: Attributes, views: Views) -> tuple[NDArray[np.int64], ...]:
        return tuple(self.attributes[number].views[view] for number, view in zip(pair, views, strict=True))
