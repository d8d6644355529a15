"""Whether a release keeps people together and apart as the original does (alhussaeni2018 section 5.1).

Match Point clusters the original rows and the published ones, and counts over all pairs of people, a person and
themselves included, how often the two clusterings agree on whether the pair belongs together.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.measures.base import Workload
from sfumato.measures.measurement import Measure
from sfumato.measures.workloads.features import heaviest_holder, mean_features
from sfumato.measures.workloads.learners import require_library
from sfumato.parameters import parameter
from sfumato.privacy.distances import Floats
from sfumato.release import Release
from sfumato.release.boxes import Boxes
from sfumato.schema import Schema

Counts = Literal["published", "true"]
Labels = Callable[[Floats], NDArray[np.int64]]

CATEGORY = 0.5**0.5
"""Two different categories are then as far apart as the two ends of a number."""
STARTS = 8
DIGITS = 12
"""Points that differ only beyond these decimals are one point."""


@dataclass(frozen=True, kw_only=True)
class MatchPoint(Workload):
    """Bisecting k-means on the original rows and on the boxes; a person is in the cluster of the box that holds them.

    A person whom no box holds is in the cluster they would have been put in. `counts` are the weights of the boxes:
    as `published`, noise and all, or, as in the paper, the `true` number of people that each box holds.

    >>> measured = sf.measure(table, sf.Mondrian(k=5).publish(table), [sf.MatchPoint(clusters=2)])
    """

    clusters: int = parameter(default=2, help="how many clusters", minimum=2)
    counts: Counts = parameter(default="published", help="what boxes weigh")

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("match_point", "Match Point (clustering)", "utility", "higher", "share of pairs").describe(
            "The share of pairs of people on whom clusterings of the release and of the original agree: "
            "together in both, or apart in both."
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        raw, published = clusters_of_points(table, self.clusters), self.published_clusters(table, release)
        return {"match_point": match_point(raw, published, table.weights)}

    def published_clusters(self, table: Table, release: Release) -> NDArray[np.int64]:
        """The cluster of each point of the table, as the release tells it."""
        boxes = release.boxes
        holder = heaviest_holder(table.points, boxes, release.weights)
        held = holder >= 0
        weights = release.weights
        if self.counts == "true":
            weights = np.bincount(holder[held], table.weights[held], len(boxes)).astype(np.float64)
        features = mean_features(table.schema.quasi, boxes, CATEGORY)
        labels_of = cluster(features, weights, self.clusters)
        labels = labels_of(mean_features(table.schema.quasi, Boxes.of_points(table.points), CATEGORY))
        labels[held] = labels_of(features)[holder[held]]
        return labels


def cluster(features: Floats, weights: Floats, clusters: int) -> Labels:
    """Bisecting k-means on weighted points: what tells the cluster of any point, the first one's being 0.

    The cluster with the largest spread is split until there are enough, or as many as different points. Points are
    sorted first and starts drawn from a fixed seed: two clusterings differ because their data does, not by luck.
    """
    require_library()
    from sklearn.cluster import BisectingKMeans
    from threadpoolctl import threadpool_limits

    occupied = weights > 0
    points, place = np.unique(np.round(features[occupied], DIGITS), axis=0, return_inverse=True)
    if len(points) < 2:
        return lambda asked: np.zeros(len(asked), dtype=np.int64)
    model = BisectingKMeans(min(clusters, len(points)), random_state=0, n_init=STARTS)
    # Threads would add up in an order of their own.
    with threadpool_limits(limits=1):
        model.fit(points, sample_weight=np.bincount(place.reshape(-1), weights[occupied]))
        first = np.unique(model.predict(points), return_index=True)
    number = np.zeros(model.n_clusters, dtype=np.int64)
    number[first[0][np.argsort(first[1])]] = np.arange(len(first[0]))

    def labels(asked: Floats) -> NDArray[np.int64]:
        with threadpool_limits(limits=1):
            return np.asarray(number[model.predict(np.round(asked, DIGITS))])

    return labels


def match_point(one: NDArray[np.int64], other: NDArray[np.int64], weights: NDArray[np.int64]) -> float:
    """The share of all |D|² pairs of rows that two clusterings both put together or both apart.

    With n_ij rows in cluster i of one and j of the other, Σn_ij² pairs are together in both; together in one of them
    only are (Σ_i n_i.² − Σn_ij²) + (Σ_j n_.j² − Σn_ij²).
    """
    columns = int(other.max()) + 1
    flat = np.bincount(one * columns + other, weights, (int(one.max()) + 1) * columns)
    rows = flat.astype(np.int64).astype(object).reshape(-1, columns)  # Python's integers, for squares of any size.
    torn = (rows.sum(axis=0) ** 2).sum() + (rows.sum(axis=1) ** 2).sum() - 2 * (rows**2).sum()
    return float(1 - Fraction(torn, rows.sum() ** 2))


def clusters_of_points(table: Table, clusters: int = 2) -> NDArray[np.int64]:
    """The cluster of each point of a table, by its quasi-identifiers alone."""
    if clusters < 2:
        raise ParameterError(f"clusters is {clusters!r}; expected at least 2")

    def find() -> NDArray[np.int64]:
        features = mean_features(table.schema.quasi, Boxes.of_points(table.points), CATEGORY)
        return cluster(features, table.weights.astype(np.float64), clusters)(features)

    found: NDArray[np.int64] = table.remember((clusters_of_points, clusters), find)
    return found


def cluster_labels(table: Table, clusters: int = 2) -> Table:
    """The same people with their cluster as the sensitive attribute, for methods that cut by class.

    The sensitive attribute takes no part in the clustering and is left out. Under noise, releases promise nothing.

    >>> sf.cluster_labels(table, clusters=2).schema.sensitive.size
    2
    """
    labels = clusters_of_points(table, clusters)
    return replace(
        table,
        schema=_with_clusters(table.schema, clusters),
        cell_point=np.arange(len(table.points)),
        cell_value=labels.astype(np.int32),
        cell_weight=table.weights,
        cell_people=None,
        survey=None,
        rows=None,
        wider=None,
        derived="its sensitive values are clusters, which were found without noise",
    )


def _with_clusters(schema: Schema, clusters: int) -> Schema:
    """The schema with cluster numbers in place of the sensitive attribute; kept columns are left out."""
    spec = schema.public().spec()
    columns = {name: column for name, column in spec["columns"].items() if column["role"] == "quasi"}
    name = "cluster"
    while name in columns:
        name += "_"
    values = [str(number) for number in range(clusters)]
    columns[name] = {"role": "sensitive", "kind": "categorical", "values": values}
    return Schema.parse({**spec, "columns": columns})
