"""Unique people: rows unique in the original that the release states unchanged, and people alone in a lonely box."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.keys import pack
from sfumato.measures.attacks.lines import keys_of
from sfumato.measures.base import Attack
from sfumato.measures.measurement import Measure
from sfumato.release import Release


@dataclass(frozen=True, kw_only=True)
class UniqueMatches(Attack):
    """Match rows that occur once, quasi-identifiers and sensitive value together, with the published rows."""

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("unique_matches", "Unique people published unchanged", "privacy", "lower", "rows").describe(
            "How many people with a combination of values that nobody else has stand in the release "
            "exactly as in the original."
        ),
        Measure(
            "unique_match_share",
            "Share of unique people published unchanged",
            "privacy",
            "lower",
            "share of unique people",
        ).describe("The same, as a share of all people with a combination of values that nobody else has."),
        Measure("singled_out", "People singled out", "privacy", "lower", "share of people").describe(
            "The share of people whom a single published row describes, and who are the only ones in the table with "
            "such quasi-identifiers, so that their presence in it shows. Rows of a noisy release describe nobody."
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        alone = table.cell_weight == 1
        points, values = table.points[table.cell_point[alone]], table.cell_value[alone]
        published_points, published_values = _exact_rows(release)
        columns = [*np.concatenate([points, published_points]).T, np.concatenate([values, published_values])]
        keys = pack(columns, [*(axis.size for axis in table.schema.quasi), table.values])
        people = release.exact_people or not (release.noisy or release.moved)
        matched = int(np.isin(keys[: len(points)], keys[len(points) :]).sum())
        return {
            "unique_matches": float(matched),
            "unique_match_share": matched / len(points) if len(points) else 0.0,
            "singled_out": _people_alone(table, release) / table.n if people else 0.0,
        }


def _people_alone(table: Table, release: Release) -> int:
    """People whom a box of a single row describes, and nobody else of the table.

    A row alone describes nobody: a generator's rows are all different and need not be anyone's.
    """
    from sfumato.release.kernels import holding_pairs

    _, first, same = np.unique(keys_of(*release.boxes.arrays), return_index=True, return_inverse=True)
    single = release.boxes[first[np.bincount(same.reshape(-1), release.weights) == 1]]
    point, box = holding_pairs(table.points, single.arrays)
    alone = np.bincount(box, table.weights[point], len(single)) == 1
    return len(np.unique(point[alone[box]]))


def _exact_rows(release: Release) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The distinct rows (point and value) that the release states exactly.

    A point shares its group's values only if the group is its own; in a bucket of several points a value belongs
    to nobody in particular, unless the bucket holds no other.
    """
    boxes_of_group = np.bincount(release.group_of, minlength=len(release.histograms))
    one_value = np.count_nonzero(release.histograms > 0, axis=1) == 1
    certain = (boxes_of_group == 1) | one_value
    exact = release.boxes.are_points & certain[release.group_of]
    box, value = np.nonzero(release.histograms[release.group_of[exact]] > 0)
    points = np.where(release.boxes.missing, -1, release.boxes.lo)[exact]
    return points[box].astype(np.int32), value
