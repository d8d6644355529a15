"""Bins as fine as noisy counts allow: heavy steps of an axis alone, the others in runs of similar mass.

No bin is lighter than a few deviations of its own noise, so that fewer rows or a smaller ε make bins wider by
themselves. Coarser views halve the number of bins again and again, joining the lightest neighbours first.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.models.binning import Attribute
from sfumato.schema import Axis

MAX_BINS = 64
NO_BORDERS: Mapping[str, NDArray[np.int64]] = MappingProxyType({})
CLEAR = 2
"""How many deviations of noise a run of light steps holds at least."""


def cut_by_mass(
    axis: Axis,
    starts: NDArray[np.int64],
    counts: NDArray[np.float64],
    variance: float,
    borders: Mapping[str, NDArray[np.int64]] = NO_BORDERS,
) -> Attribute:
    """The axis in bins of similar mass, and its coarser views; a bin begins at every border of the axis."""
    apart = np.isin(starts, borders.get(axis.name, ()))
    run = runs(counts, CLEAR * math.sqrt(variance)) + np.cumsum(apart)
    bin_of_step = _join_faint(np.unique(run, return_inverse=True)[1], counts, variance, apart)
    mass = np.bincount(bin_of_step, counts).astype(np.float64)
    return Attribute(axis.name, starts, axis.positions, counts, variance, bin_of_step, _views(mass))


def runs(counts: NDArray[np.float64], clear: float, most: int = MAX_BINS) -> NDArray[np.int64]:
    """The bin of each step: heavy steps alone, runs of light ones closed as soon as they are heavy enough.

    A run of n steps holds at least clear · √n; heavy is a step with that and one in `most` of all rows.
    """
    heavy = counts >= max(counts.sum() / most, clear)
    light = counts[~heavy].sum() / max(most - heavy.sum(), 1)
    found = np.zeros(len(counts), dtype=np.int64)
    mass, steps = counts[0], 1
    for step in range(1, len(counts)):
        ends = heavy[step] or heavy[step - 1] or mass >= max(light, clear * math.sqrt(steps))
        mass, steps = (counts[step], 1) if ends else (mass + counts[step], steps + 1)
        found[step] = found[step - 1] + ends
    return found


def _join_faint(
    bin_of_step: NDArray[np.int64], counts: NDArray[np.float64], variance: float, apart: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The bins with those that noise could have made joined to their lighter neighbour, the faintest first.

    A bin that begins at a step set `apart` is not joined to the one before it.
    """
    while bin_of_step[-1] > 0:
        mass = np.bincount(bin_of_step, counts)
        noise = np.sqrt(variance * np.bincount(bin_of_step)) * CLEAR / 2
        first = np.searchsorted(bin_of_step, np.arange(len(mass)))
        wall = np.concatenate([[True], apart[first[1:]], [True]])
        joinable = (mass < noise) & ~(wall[:-1] & wall[1:])
        if not joinable.any():
            break
        faintest = int(np.argmin(np.where(joinable, mass, math.inf)))
        below = math.inf if wall[faintest] else mass[faintest - 1]
        above = math.inf if wall[faintest + 1] else mass[faintest + 1]
        bin_of_step = bin_of_step - (bin_of_step > (faintest - 1 if below <= above else faintest))
    return bin_of_step


def _views(mass: NDArray[np.float64]) -> tuple[NDArray[np.int64], ...]:
    """The group of each bin, finest first; each view has half as many groups as the one before, down to two."""
    views = [np.arange(len(mass))]
    groups = [[place] for place in range(len(mass))]
    weights = mass.tolist()
    while len(groups) > 2:
        for _ in range(len(groups) // 2):
            first = int(np.argmin(np.add(weights[:-1], weights[1:])))
            groups[first] += groups.pop(first + 1)
            weights[first] += weights.pop(first + 1)
        view = np.empty(len(mass), dtype=np.int64)
        for number, places in enumerate(groups):
            view[places] = number
        views.append(view)
    return tuple(views)
