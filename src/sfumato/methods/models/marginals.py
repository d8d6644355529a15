"""Marginals: noisy tables of every pair of attributes, and synthetic rows from the distribution that explains them.

Which tables are counted follows from the schema alone, so nothing is spent on choosing. Wide axes are first
counted by themselves, for a small share, and cut into bins of similar noisy mass; the joint tables are over bins,
and within a bin the axis keeps the shape of its own count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.models.ancestral import deal, inside_steps, step_shares
from sfumato.methods.models.binning import MIN_VARIANCE, Attribute, count_steps
from sfumato.methods.models.fitting import Marginal, fit
from sfumato.methods.models.rows import MAX_ROWS, Columns, Sampled, SampledRows
from sfumato.methods.positions import even_starts
from sfumato.release.sampling import check_marginals, round_counts

WIDE_SHARE = Fraction(1, 25)
"""Share of the budget for counting the wide axes by themselves."""
RESOLUTIONS = ((16, 6), (12, 6), (8, 6), (8, 4), (6, 4), (4, 4), (3, 3), (2, 2), (1, 1))
"""Axes of at most so many positions keep them all, wider ones have so many bins: the first pair that will do."""
NARROW_SENSITIVE = 32
MAX_CELLS = 2**16
"""Cells of the fitted distribution."""
JOINED_CELLS = 8
"""Narrow axes with at most this many cells together are part of every table."""


@dataclass(frozen=True, kw_only=True)
class Marginals(SampledRows):
    """Synthetic rows from noisy joint tables of all pairs of attributes, fitted by greatest entropy.

    Claim: differential privacy for adding or removing one row, under ε, (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(cells of the binned domain × tables × 400 + rows × attributes).
    Reference: after McKenna, Miklau and Sheldon (2021); proof in marginals.proof.md.

    >>> release = sf.Marginals(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "marginals"
    title: ClassVar[str] = "Marginals"

    def _sample(self, columns: Columns, budget: Budget) -> Sampled:
        attributes = self._bin_axes(columns, budget)
        codes = [attribute.bin_of(column) for attribute, column in zip(attributes, columns.positions, strict=True)]
        shape = [attribute.bins for attribute in attributes]
        cells = fit(shape, self._count_tables(codes, columns.weights, shape, budget))

        def again(rows: int) -> NDArray[np.int64]:
            drawn = _sample_rows(attributes, cells * ((rows + 1) / cells.sum()), budget)
            return drawn[np.argsort(budget.uniforms(len(drawn)))[:rows]]

        return Sampled(_sample_rows(attributes, cells, budget), again)

    def _bin_axes(self, columns: Columns, budget: Budget) -> list[Attribute]:
        """Narrow axes as they are, wide ones counted by themselves and cut into bins."""
        limits, bins = resolution([axis.positions for axis in columns.axes])
        wide = [axis.positions > limit for axis, limit in zip(columns.axes, limits, strict=True)]
        found = []
        for axis, column, is_wide in zip(columns.axes, columns.positions, wide, strict=True):
            if not is_wide:
                found.append(Attribute.every(axis))
                continue
            starts = even_starts(axis)
            exact = count_steps(starts, column, columns.weights)
            price = ticks(WIDE_SHARE / sum(wide))
            counts = budget.counts(exact[None, :], price)[0]  # proof: wide-axes
            mass = np.maximum(counts, 0).astype(np.float64)
            found.append(Attribute.binned(axis, starts, mass, float(budget.variance(price))).coarse(bins))
        return found

    def _count_tables(
        self, codes: Sequence[NDArray[np.int64]], weights: NDArray[np.int64], shape: list[int], budget: Budget
    ) -> list[Marginal]:
        tables = joint_tables(shape)
        price = int(budget.left[0]) // len(tables)
        found = []
        for axes in tables:
            sizes = [shape[axis] for axis in axes]
            flat = np.ravel_multi_index([codes[axis] for axis in axes], sizes)
            exact = np.bincount(flat, weights, int(np.prod(sizes))).astype(np.int64)
            counts = budget.counts(exact[None, :], price)[0]  # proof: joint-tables
            variance = max(float(budget.variance(price)), MIN_VARIANCE)
            found.append(Marginal(axes, counts.reshape(sizes).astype(np.float64), variance))
        return found


def resolution(positions: Sequence[int]) -> tuple[list[int], int]:
    """The most positions at which each axis keeps them all, and the bins of the others; the sensitive axis is last.

    It looks at sizes alone. A sensitive axis of up to 32 positions keeps them all.
    """
    for limit, bins in RESOLUTIONS:
        limits = [*(limit for _ in positions[:-1]), NARROW_SENSITIVE]
        sizes = [size if size <= most else bins for size, most in zip(positions, limits, strict=True)]
        if np.prod([float(size) for size in sizes]) <= MAX_CELLS:
            break
    return limits, bins


def joint_tables(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Every pair of axes, each with the narrowest axes beside it: a rule that looks at sizes alone."""
    narrow: list[int] = []
    cells = 1
    for axis in sorted(range(len(shape)), key=lambda axis: shape[axis]):
        if cells * shape[axis] <= JOINED_CELLS and len(shape) - len(narrow) > 2:
            narrow.append(axis)
            cells *= shape[axis]
    others = [axis for axis in range(len(shape)) if axis not in narrow]
    return [tuple(sorted((*pair, *narrow))) for pair in combinations(others, 2)] or [(0,)]


def _sample_rows(attributes: Sequence[Attribute], cells: NDArray[np.float64], budget: Budget) -> NDArray[np.int64]:
    """Rows of positions: as many of each cell as it counts, rounded along the cells, then a position in each bin."""
    cells = cells * min(1.0, MAX_ROWS / max(float(cells.sum()), 1.0))
    whole = round_counts(cells, np.indices(cells.shape).reshape(cells.ndim, -1), budget.uniforms)
    compared = [*combinations(range(cells.ndim), 1), *combinations(range(cells.ndim), 2)]
    checks = sum(int(np.prod([cells.shape[axis] for axis in some])) for some in compared)
    for some in compared:
        others = tuple(axis for axis in range(cells.ndim) if axis not in some)
        names = " and ".join(attributes[axis].name for axis in some)
        check_marginals(cells.sum(axis=others), whole.sum(axis=others), checks, names)
    rows = np.repeat(np.arange(whole.size), whole.reshape(-1))
    found = np.empty((len(rows), cells.ndim), dtype=np.int64)
    for number, (attribute, group) in enumerate(zip(attributes, np.unravel_index(rows, cells.shape), strict=True)):
        shares = step_shares(attribute)
        step = deal(group, shares, budget.uniforms) if shares.shape[0] < shares.shape[1] else group
        found[:, number] = inside_steps(attribute, step, budget.uniforms)
    return found
