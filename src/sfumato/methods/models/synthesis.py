"""Synthesis: rows from a graphical model of the tables that were worth measuring, each chosen and measured privately.

After McKenna, Mullins, Sheldon and Miklau's AIM (2022), with three changes. A pair of attributes is offered at every
resolution of its bins, so that a coarse table of wide axes competes with a fine one. The narrowest attributes are
offered beside every pair, so that three and four columns are measured together for the price of two. And the model is
fitted by exact inference over a junction tree that stays small, so that a choice after every measurement takes little
time.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.mechanisms.budget import WHOLE, Budget, ticks
from sfumato.methods.models.ancestral import sample
from sfumato.methods.models.binning import MIN_VARIANCE, Attribute, count_again, count_attributes, rows_to_sample
from sfumato.methods.models.graphical import NO_ZEROS, GraphicalModel, Measurement
from sfumato.methods.models.interest import Interest
from sfumato.methods.models.measuring import STEPS, Measuring
from sfumato.methods.models.network import BinnedCells
from sfumato.methods.models.offers import common_attributes
from sfumato.methods.models.quantiles import cut_by_mass
from sfumato.methods.models.rows import Columns, NoisyTable, Sampled, SampledRows
from sfumato.methods.models.steps import find_steps
from sfumato.methods.models.zeros import Zeros
from sfumato.parameters import parameter
from sfumato.privacy.loss import Pure

SINGLE = Fraction(2, 5)
"""Share of the budget for counting every attribute by itself."""
COUNTING = Fraction(1, 100)
"""Share of the budget for counting all rows."""
TOO_NOISY, PURE_TOO_NOISY = 1 / 80, 1 / 125
"""Noise in the counts of a table, as a share of the rows, at which attributes by themselves are better."""
LAST_STEPS = 100
"""Of the fit to everything that was measured."""


@dataclass(frozen=True, kw_only=True)
class Synthesis(SampledRows):
    """Synthetic rows from a graphical model of privately chosen tables, which are published beside them.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(rounds × (cells × pairs + cliques × steps) + rows × attributes²), with at most 262,144 cells of cliques.
    Reference: after McKenna et al. (2022) and Xiao et al. (2023); proof in synthesis.proof.md.

    >>> release = sf.Synthesis(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "synthesis"
    title: ClassVar[str] = "Synthesis"
    predict: str | None = parameter(
        default=None,
        help="a column that recipients will predict; tables with it count more",
        metavar="COLUMN",
        label=" to predict {}",
    )
    queries: tuple[str, ...] = parameter(
        default=(),
        help="a file with a query on each line that recipients will ask; tables that join its columns count more",
        metavar="FILE",
        label=" for {} queries",
    )

    def __post_init__(self) -> None:
        if isinstance(self.queries, list):
            object.__setattr__(self, "queries", tuple(self.queries))
        super().__post_init__()

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        Interest.of(self.predict, self.queries, table.schema.modelled)

    def _sample(self, columns: Columns, budget: Budget) -> Sampled:
        together = len(columns.axes) > 1 and tables_tell(count_rows(columns, budget), len(columns.axes), budget)
        share = SINGLE if together else Fraction(int(budget.left[0]), WHOLE)
        zeros = Zeros(columns)
        cut, find = partial(cut_by_mass, borders=zeros.borders), partial(find_steps, borders=zeros.borders)
        attributes = count_attributes(columns, budget, share, cut, find=find, by_size=True)
        model = start_model(attributes, zeros)
        if together:
            interest = Interest.of(self.predict, self.queries, columns.declared or columns.axes)
            Measuring(model, BinnedCells(attributes, columns), budget, interest).run()
        if int(budget.left[0]) >= len(attributes):
            attributes = count_again(attributes, columns, budget)
            listen_to(model, attributes)
        model.fit(LAST_STEPS)
        model.polish(LAST_STEPS)
        links = model.links()

        def draw(rows: int) -> NDArray[np.int64]:
            return sample(attributes, links, rows, budget.uniforms)

        return Sampled(draw(rows_to_sample(attributes)), draw, tuple(measured_tables(attributes, model)))


def count_rows(columns: Columns, budget: Budget) -> int:
    """How many rows there are, roughly."""
    exact = np.array([[columns.weights.sum()]], dtype=np.int64)
    return int(budget.counts(exact, ticks(COUNTING))[0, 0])  # proof: rows


def tables_tell(rows: int, attributes: int, budget: Budget) -> bool:
    """Whether a table for each attribute would have little enough noise to tell more than attributes by themselves."""
    limit = PURE_TOO_NOISY if isinstance(budget.total, Pure) else TOO_NOISY
    price = max(math.floor((1 - SINGLE) * int(budget.left[0])) // attributes, 1)
    return bool(math.sqrt(budget.variance(price)) <= limit * rows)


def start_model(attributes: list[Attribute], zeros: Zeros | None = None) -> GraphicalModel:
    """Independent attributes, each as it was counted by itself, but for what is impossible."""
    rows = max(float(attributes[0].counts.sum()), 1.0)
    shares = [np.maximum(attribute.bin_counts, 0) / rows for attribute in attributes]
    common = common_attributes(attributes)
    model = GraphicalModel(shares, rows, common, zeros.tables(attributes, common) if zeros else NO_ZEROS)
    listen_to(model, attributes)
    model.fit(STEPS)
    return model


def listen_to(model: GraphicalModel, attributes: Sequence[Attribute]) -> None:
    """Tell a model how attributes were counted by themselves."""
    for number, attribute in enumerate(attributes):
        variance = max(attribute.deviation**2, MIN_VARIANCE)
        model.add(Measurement((number,), (attribute.views[0],), attribute.bin_counts, variance))


def measured_tables(attributes: Sequence[Attribute], model: GraphicalModel) -> Iterator[NoisyTable]:
    """Everything that was counted, as it was: single attributes by their steps, and tables by their groups."""
    for number, attribute in enumerate(attributes):
        for counts, variance in attribute.counted:
            yield NoisyTable((number,), (attribute.starts,), counts, variance)
    for measured in model.measurements:
        if len(measured.attributes) > 1:
            starts = tuple(
                attributes[number].group_starts(view)
                for number, view in zip(measured.attributes, measured.views, strict=True)
            )
            yield NoisyTable(measured.attributes, starts, measured.counts.astype(np.int64), measured.variance)
