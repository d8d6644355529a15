"""Tables: all tables of up to three columns with the least noise there is, and no rows.

Under ρ every interaction of columns is measured by itself, with the share of ρ that makes the cells of all largest
tables best known (ResidualPlanner: Xiao, He, Zhang and Kifer, 2023); under ε the largest tables are measured whole, and
interactions are averaged over all tables that tell them. Either way a published table is the sum of its interactions,
so that all tables agree with one another, and the variance of every sum of cells is known.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.estimation.consistency import histograms_with_totals
from sfumato.mechanisms.budget import Budget
from sfumato.methods.base import DPMethod
from sfumato.methods.models.interactions import Axes, centre, margin, put_together, scaled_interaction, subsets
from sfumato.methods.models.rows import Columns, NoisyTable, tables_as_boxes
from sfumato.methods.models.table_plan import Best, TablePlan
from sfumato.methods.positions import steps_of
from sfumato.parameters import parameter
from sfumato.privacy.loss import Pure
from sfumato.release import Boxes, Release
from sfumato.release.assembled import Assembled
from sfumato.release.tables import DECIMALS
from sfumato.schema import Schema

Interactions = dict[Axes, NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True)
class Tables(DPMethod):
    """All tables of up to so many columns with the least noise, and no rows.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(tables × (rows + cells)), with at most 262,144 cells and 4,096 tables.
    Reference: after Xiao et al. (2023); proof in tables.proof.md.

    >>> release = sf.Tables(epsilon=1, ways=2).publish(table)
    """

    name: ClassVar[str] = "tables"
    title: ClassVar[str] = "Tables"
    by_default: ClassVar[bool] = False
    instead_of_rows: ClassVar[bool] = True
    models_others: ClassVar[bool] = True
    ways: int = parameter(
        default=2, help="columns in the largest tables, 1 to 3; 2 by default", minimum=1, maximum=3, label=" {} ways"
    )
    best: Best = parameter(
        default="largest",
        help="what noise is least for: cells of the largest tables (largest, the default), or those of tables of every "
        "size alike (all), which makes sums of many cells better known; with delta or rho",
        label=" best for {}",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.best == "all" and self.delta is None:
            raise ParameterError("best is 'all', which Gaussian noise can do; give a delta or rho, or leave it out")

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        if not self.plan(table.schema).fits:
            raise ParameterError(f"epsilon is {self.epsilon:g}; that is nothing but noise, and more than numbers hold")

    def plan(self, schema: Schema) -> TablePlan:
        """What is measured of tables with a schema, and how well it is known then."""
        return TablePlan.of(schema.modelled, self.ways, self.total.per_row(schema.rows_per_person), self.best)

    def _release(self, table: Table, budget: Budget) -> Release:
        plan, columns = self.plan(table.schema), Columns.of(table)
        measure = measure_tables if isinstance(budget.total, Pure) else measure_interactions
        interactions = measure(plan, dict(count_tables(plan, columns)), budget)
        counts = {axes: put_together(plan.sizes, axes, interactions) for axes in plan.tables}
        noisy = [
            NoisyTable(
                axes,
                tuple(plan.starts[axis] for axis in axes),
                np.round(counts[axes], DECIMALS),
                plan.cell_variance(axes),
            )
            for axes in plan.tables
        ]
        secrets = plan.places_of(table.schema.secrets)
        return self.make_release(
            table,
            Boxes.whole(table.schema.quasi),
            overall_histogram(plan, counts, secrets)[None, :],
            layout="counts",
            deviation=np.array([math.sqrt(max(plan.cell_variance(axes) for axes in secrets))]),
            measured=tables_as_boxes(noisy, plan.axes, table.schema.modelled, Assembled),
        )


def count_tables(plan: TablePlan, columns: Columns) -> Iterator[tuple[Axes, NDArray[np.int64]]]:
    """The rows in each cell of the largest tables."""
    steps = [steps_of(starts, column) for starts, column in zip(plan.starts, columns.positions, strict=True)]
    for axes in plan.largest:
        shape = [plan.sizes[axis] for axis in axes]
        flat = np.ravel_multi_index([steps[axis] for axis in axes], shape)
        yield axes, np.bincount(flat, columns.weights, math.prod(shape)).astype(np.int64).reshape(shape)


def measure_interactions(plan: TablePlan, counts: dict[Axes, NDArray[np.int64]], budget: Budget) -> Interactions:
    """Every interaction by itself, under ρ: in whole numbers, with the same noise on all of them, then centred."""
    found = {}
    for largest, rows in counts.items():
        for part in subsets(largest):
            if part not in found:
                scaled, squared = scaled_interaction(margin(rows, largest, part))
                noisy = budget.counts(scaled[None, ...], plan.prices[part], squared=squared)[0]  # proof: interactions
                found[part] = centre(noisy / scaled.size)
    return found


def measure_tables(plan: TablePlan, counts: dict[Axes, NDArray[np.int64]], budget: Budget) -> Interactions:
    """The largest tables whole, under ε, and of every interaction the mean of what they tell, by how little noise."""
    found: Interactions = {}
    for axes, rows in counts.items():
        noisy = budget.counts(rows[None, ...], plan.prices[axes])[0]  # proof: whole-tables
        for part in subsets(axes):
            trust = plan.variances[part] / plan.variance_within(axes, part)
            found[part] = found.get(part, 0.0) + trust * centre(margin(noisy, axes, part))
    return found


def overall_histogram(
    plan: TablePlan, counts: dict[Axes, NDArray[np.float64]], secrets: Sequence[Axes]
) -> NDArray[np.float64]:
    """The counts of each sensitive value, not negative and at least one in all; those of a step spread evenly in it.

    Several sensitive columns are told by the table of them all, or where none is that large, taken for independent.
    """
    rows = max(float(counts[()]), 1.0)
    found = np.array([rows])
    for axes in secrets:
        steps = histograms_with_totals(counts[axes].reshape(1, -1), np.array([rows])).reshape(counts[axes].shape)
        for place, axis in enumerate(axes):
            widths = np.diff(np.append(plan.starts[axis], plan.axes[axis].positions))
            steps = np.repeat(steps / np.expand_dims(widths, [*range(1, steps.ndim - place)]), widths, axis=place)
        found = np.multiply.outer(found, steps.reshape(-1) / rows).reshape(-1)
    return found
