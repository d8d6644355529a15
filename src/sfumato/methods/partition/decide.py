"""Strict multidimensional partitioning: cut the points level by level while the requirements allow it.

The table is cut twice: greedily, each time by the cut that leaves the least penalty, and with a look ahead. The
partition with the lower penalty is the one that is published, so looking ahead never costs certainty.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import UnsatisfiableError
from sfumato.methods.growing.box import penalties
from sfumato.methods.growing.cuts import SweepRule
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.partition.grow import cut_down
from sfumato.methods.partition.requiring import smallest_class
from sfumato.methods.partition.search import Search, count_rows
from sfumato.methods.partition.units import UnitArrays
from sfumato.privacy.requirements import OfColumn, Population, Requirement

Cut = Literal["ncp", "median", "purity"]
CAUTION = 0.5
"""How much more a cut costs that brings its sides to the limit of what is allowed."""
SMALLEST = 0.4
"""Where values decide, the rows of the smallest class there could be, as a share of those in the median row's."""


def partition(
    table: Table,
    requirements: Sequence[Requirement],
    cut: Cut,
    *,
    look_ahead: int = 0,
    height: int | None = None,
    population: Population | None = None,
) -> NDArray[np.int64]:
    """The class of each point of the table; classes are numbered in the order of their smallest point.

    A table that is part of another is told the `population` of the whole.
    """
    population = population or Population(table.overall, table.schema.sensitive)
    check_root(table, requirements, population)
    points = Points.of(table, missing_first=True).arrays
    units = None if all(requirement.unit == "rows" for requirement in requirements) else UnitArrays.of(table)
    rule = sweep_rule(requirements, cut)
    search = Search(points, requirements, population, rule, by_purity=cut == "purity", units=units)
    classes = grow(search, table, height)
    if look_ahead and cut == "ncp":
        ahead = grow(_looking_ahead(search, classes), table, height, look_ahead)
        classes = min(classes, ahead, key=lambda runs: float(penalties(points, runs).sum()))
    return number_classes(classes)


def grow(search: Search, table: Table, height: int | None = None, look_ahead: int = 0) -> Runs:
    """The classes that are left when no region can be cut any more, or none but by more cuts in a row than `height`."""
    order = np.arange(len(table.points))
    whole = Runs(order, np.zeros(1, dtype=np.int64), np.array([len(order)]))
    steps = len(order) if height is None else height
    starts = np.flatnonzero(cut_down(search, whole, steps, look_ahead))
    return Runs(order, starts, np.append(starts[1:], len(order)))


def number_classes(classes: Runs) -> NDArray[np.int64]:
    """The class of each point, numbered by smallest point: points rise, so this is the order of the boxes."""
    smallest, numbers = (
        np.minimum.reduceat(classes.order, classes.starts),
        np.empty(len(classes.starts), dtype=np.int64),
    )
    numbers[np.argsort(smallest)] = np.arange(len(numbers))
    class_of = np.empty(len(classes.order), dtype=np.int64)
    class_of[classes.order] = np.repeat(numbers, classes.ends - classes.starts)
    return class_of


def sweep_rule(requirements: Sequence[Requirement], cut: Cut) -> SweepRule:
    """Which cuts are proposed."""
    return SweepRule(min_rows=smallest_class(requirements), by_median=cut == "median", most=0)


def _looking_ahead(search: Search, greedy: Runs) -> Search:
    """The search that knows of what follows, at classes of the size that greedy cuts show to be in reach.

    On d axes a box that becomes L classes is cut into L^(1/d) on each of them. One axis more allows for cuts that would
    leave too few rows: narrowing[L] = L^−(1/(d + 1)). Where sensitive values decide whether a class can be cut, its
    rows do not tell how often; there it counts how near to the limit of what is allowed the sides come.
    """
    rows = int(search.points.weights.sum())
    if not search.only_size:
        aim = max(search.rule.min_rows, _typical_size(count_rows(search.points, greedy)))
        return replace(search, rule=search.rule._replace(aim=aim), caution=CAUTION)
    classes = np.maximum(np.arange(rows // search.rule.min_rows + 1), 1)
    narrowing = classes ** (-1 / (np.count_nonzero(search.points.sizes > 1) + 1))
    return replace(search, rule=search.rule._replace(aim=search.rule.min_rows, narrowing=narrowing))


def _typical_size(sizes: NDArray[np.int64]) -> int:
    """About the rows of the smallest class there could be, judged by the class that the median row has."""
    sizes = np.sort(sizes)
    return int(sizes[np.searchsorted(2 * np.cumsum(sizes), sizes.sum())] * SMALLEST)


def _commonest(table: Table) -> str:
    """The commonest value of any sensitive column, and its share."""
    each = [table.focused(column) for column in table.schema.secret_names]
    one = max(each, key=lambda column: int(column.overall.max()))
    label = one.schema.sensitive.labels[int(one.overall.argmax())]
    of = f"of {one.schema.sensitive.name} " if len(each) > 1 else ""
    return f"{of}{label!r} has {one.overall.max() / one.n:.1%}"


def check_root(table: Table, requirements: Sequence[Requirement], population: Population) -> None:
    """Refuse a table that satisfies the requirements in no partition."""
    whole = np.zeros(len(table.cell_weight), dtype=np.int64)
    units = table.survey.units(whole, 1) if table.survey else {}
    for requirement in requirements:
        counts = table.overall if requirement.unit == "rows" else units[requirement.unit]
        if not requirement.holds(counts[None, :], population)[0]:
            why = f" (the commonest sensitive value {_commonest(table)} of them)"
            if isinstance(requirement, OfColumn) and requirement.others_known:
                why = ", among those of them whose other sensitive values are the same"
            raise UnsatisfiableError(
                f"no release of this table can satisfy {requirement}: its {table.n} rows taken together already "
                f"fail it{why if requirement.bounds_values else ''}"
            )
