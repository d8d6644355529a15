"""Sizes of classes in other units than rows, on either side of cuts: people by weights, and different households.

Weights add up. Households do not: one can live on both sides of a cut, and then counts on both. Along an axis it counts
on the left of every cut beyond its first place, and on the right of every cut up to its last.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled_if_many
from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.methods.growing.cuts import Cuts
from sfumato.methods.growing.points import PointArrays, Runs
from sfumato.privacy.requirements import Requirement
from sfumato.schema.weight import Unit

Floats = NDArray[np.float64]
LACKING: dict[Unit, str] = {
    "weights": "counts people of the population, but no column of the schema has role weight",
    "households": "counts households, but no column of the schema has role household",
}


class UnitArrays(NamedTuple):
    """The people that each point stands for, and its households: those of point i begin at `home_start[i]`."""

    people: Floats
    home_start: NDArray[np.int64]
    home: NDArray[np.int64]
    homes: int

    @classmethod
    def of(cls, table: Table) -> Self:
        """What a survey tells of the points of a table; nothing where there is none."""
        points, survey = len(table.points), table.survey
        people, home, home_start = np.zeros(points), np.zeros(0, dtype=np.int64), np.zeros(points + 1, dtype=np.int64)
        if survey and survey.people is not None:
            people = np.bincount(table.cell_point, survey.people, points).astype(np.float64)
        if survey and survey.homes is not None:
            homes = survey.homes.moved(table.cell_point)
            home, home_start = homes.household + 1, np.searchsorted(homes.cell, np.arange(points + 1))
        return cls(people, home_start.astype(np.int64), home, int(home.max(initial=-1)) + 1)


def refuse_unknown_units(table: Table, requirements: Sequence[Requirement]) -> None:
    """Refuse a requirement that counts what the table does not tell."""
    known = {"weights": table.schema.weight, "households": table.schema.household_column}
    for requirement in requirements:
        if requirement.unit != "rows" and known[requirement.unit] is None:
            raise ParameterError(f"{requirement} {LACKING[requirement.unit]}")


def count_sides_in(
    unit: Unit, arrays: UnitArrays, points: PointArrays, runs: Runs, cuts: Cuts
) -> tuple[Floats, Floats]:
    """The sizes of both sides of each cut, (cuts, 1) each; cuts come by region, axis and position."""
    sides = weigh_sides if unit == "weights" else count_homes
    left, right = sides(arrays, points.positions, runs, cuts)
    return left[:, None], right[:, None]


@compiled_if_many
def end_of_axis(cuts: Cuts, first: int) -> int:
    """Behind the last cut of the same region and axis as the first."""
    end = first + 1
    while end < len(cuts.region) and cuts.region[end] == cuts.region[first] and cuts.axis[end] == cuts.axis[first]:
        end += 1
    return end


@compiled_if_many
def add_along(
    left: Floats, right: Floats, position: NDArray[np.int64], lowest: int, highest: int, amount: float
) -> None:
    """Add what lies from one place of an axis to another to the first cut beyond it, and to the last cut before it."""
    beyond = np.searchsorted(position, lowest, side="right")
    if beyond < len(position):
        left[beyond] += amount
    before = np.searchsorted(position, highest, side="right")
    if before > 0:
        right[before - 1] += amount


@compiled_if_many
def add_up(left: Floats, right: Floats) -> None:
    """What lies on the left of a cut lies on the left of those above it, and the other way round."""
    left[:] = np.cumsum(left)
    right[:] = np.cumsum(right[::-1])[::-1]


@compiled_if_many
def weigh_sides(arrays: UnitArrays, positions: NDArray[np.int32], runs: Runs, cuts: Cuts) -> tuple[Floats, Floats]:
    """The people for whom both sides of each cut stand, each side added up by itself."""
    left, right, first = np.zeros(len(cuts.region)), np.zeros(len(cuts.region)), 0
    while first < len(left):
        region, axis, end = cuts.region[first], cuts.axis[first], end_of_axis(cuts, first)
        for point in runs.order[runs.starts[region] : runs.ends[region]]:
            at, people = positions[point, axis], arrays.people[point]
            add_along(left[first:end], right[first:end], cuts.position[first:end], at, at, people)
        add_up(left[first:end], right[first:end])
        first = end
    return left, right


@compiled_if_many
def count_homes(arrays: UnitArrays, positions: NDArray[np.int32], runs: Runs, cuts: Cuts) -> tuple[Floats, Floats]:
    """How many different households live on either side of each cut."""
    left, right, first = np.zeros(len(cuts.region)), np.zeros(len(cuts.region)), 0
    seen, found = np.full(arrays.homes, -1, dtype=np.int64), np.empty(arrays.homes, dtype=np.int64)
    lowest, highest = np.zeros(arrays.homes, dtype=np.int64), np.zeros(arrays.homes, dtype=np.int64)
    while first < len(left):
        region, axis, end, homes = cuts.region[first], cuts.axis[first], end_of_axis(cuts, first), 0
        for point in runs.order[runs.starts[region] : runs.ends[region]]:
            at = positions[point, axis]
            for home in arrays.home[arrays.home_start[point] : arrays.home_start[point + 1]]:
                if seen[home] != first:
                    seen[home], lowest[home], highest[home], found[homes] = first, at, at, home
                    homes += 1
                lowest[home], highest[home] = min(lowest[home], at), max(highest[home], at)
        for home in found[:homes]:
            add_along(left[first:end], right[first:end], cuts.position[first:end], lowest[home], highest[home], 1.0)
        add_up(left[first:end], right[first:end])
        first = end
    return left, right
