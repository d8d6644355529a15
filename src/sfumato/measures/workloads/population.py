"""Counts of the population: what weights make of the rows of a table, and of a release.

Where a schema has weights, recipients count people of the population and not rows of a sample. A release with mean
weights is counted by these. Of any other, a recipient who knows how many people there are takes all rows for equal.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.methods.partition.endpoints import Original
from sfumato.release import Release
from sfumato.release.content import spelled_weights
from sfumato.release.histograms import histograms_of


def weighted_histograms(table: Table) -> NDArray[np.int64] | NDArray[np.float64]:
    """People at each point by sensitive value: (points, values); rows where there are no weights."""
    if table.survey is None or table.survey.people is None:
        return table.histograms
    return histograms_of(table.cell_point, table.cell_value, table.survey.people, len(table.points), table.values)


def people_of(table: Table) -> float:
    """How many people the rows of a table stand for."""
    return float(table.n if table.survey is None or table.survey.people is None else table.survey.people.sum())


def true_counts(table: Table) -> Release:
    """The table as it is, counted in people of the population where it has weights."""
    original, table = Original().publish(table.without_rows()), table.people
    if table.survey is None or table.survey.people is None:
        return original
    histograms = weighted_histograms(table).astype(np.float64)
    return _counted(original, histograms, histograms.sum(axis=1))


def counted_people(table: Table, release: Release) -> tuple[Release, float]:
    """The release as a recipient counts people with it, and by what its counts are multiplied."""
    if table.survey is None or table.survey.people is None:
        return release, 1.0
    if release.schema.weight is None or "weights" not in release.units:
        return release, people_of(table.people) / max(release.rows, 1)
    rows = release.histograms.sum(axis=1)
    mean = spelled_weights(release.units["weights"] / np.maximum(rows, 1))
    return _counted(release, release.histograms * mean[:, None], release.weights * mean[release.group_of]), 1.0


def _counted(release: Release, histograms: NDArray[np.float64], weights: NDArray[np.float64]) -> Release:
    return replace(
        release.without_guarantee("counts are of the population"),
        histograms=histograms,
        weights=weights,
        kept=None,
        units={},
    )
