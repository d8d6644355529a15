"""How coarse the published boxes are: discernibility, certainty penalties, class sizes.

Rows that were suppressed are charged as the coarsest possible: the whole domain, indistinguishable from all. Where
rows are noisy or made up, and not those of people made coarser, their width says nothing of what was lost.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.measures.base import Workload
from sfumato.measures.measurement import Grade, Measure, References, grade
from sfumato.release import Release


def _judge_span(value: float, references: References) -> tuple[Grade, str]:
    return grade(value, 0.1, 0.4), (
        "Quasi-identifiers are published exactly."
        if value == 0
        else f"A published value spans {value:.1%} of its attribute's range on average."
    )


@dataclass(frozen=True, kw_only=True)
class InformationLoss(Workload):
    """The width of boxes as published, and of the values that really stand in them."""

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure(
            "ncp", "Normalized certainty penalty", "utility", "lower", "share of the domain", optional=True
        ).describe(
            "How much of each attribute's range a published value spans, on average: 0 is exact, 1 is everything.",
            judge=_judge_span,
        ),
        Measure(
            "gcp", "Certainty penalty of the values present", "utility", "lower", "share of the domain", optional=True
        ).describe(
            "The same, counting only the range of numbers and the different categories that really occur in each class."
        ),
        Measure("discernibility", "Discernibility (DM)", "utility", "lower", "rows²", optional=True).describe(
            "For every person, how many people share their published quasi-identifiers, summed up."
        ),
        Measure("classes", "Classes", "shape", "none", "classes").describe(
            "How many classes or buckets the release consists of."
        ),
        Measure("average_class", "Average class size", "utility", "lower", "rows", optional=True).describe(
            "How many rows a class or bucket has on average."
        ),
        Measure("suppressed", "Suppressed rows", "utility", "lower", "share of people").describe(
            "The share of people who are left out of the release.", scale=lambda _: []
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        suppressed = suppressed_rows(table, release)
        rows = release.rows + suppressed
        always = {"classes": float(len(release.histograms)), "suppressed": float(suppressed / rows)}
        if not _recodes(table, release):
            return always
        scale = np.array([1 / max(axis.positions - 1, 1) for axis in table.schema.quasi])
        published = ((release.boxes.widths - 1) * scale).mean(axis=1)
        present = (_present_widths(table, release) * scale).mean(axis=1)
        return always | {
            "ncp": float(((published * release.weights).sum() + suppressed) / rows),
            "gcp": float(((present * release.weights).sum() + suppressed) / rows),
            "discernibility": discernibility(table, release),
            "average_class": float(release.rows / len(release.histograms)),
        }


def discernibility(table: Table, release: Release) -> float:
    """Σ rows² over the distinct boxes; a suppressed row looks like all."""
    return float((release.look_alikes**2).sum() + suppressed_rows(table, release) * table.n)


def _recodes(table: Table, release: Release) -> bool:
    """Whether the rows of a release can be those of people with coarser values: every box holds enough people."""
    if release.noisy or release.moved:
        return False
    from sfumato.release.kernels import holding_pairs

    point, box = holding_pairs(table.points, release.boxes.arrays)
    people = np.bincount(box, table.weights[point], len(release.boxes))
    return bool((people >= release.weights).all())


def suppressed_rows(table: Table, release: Release) -> float:
    """Rows of the table that the release does not stand for at all."""
    return max(0.0, table.n - release.rows)


def _present_widths(table: Table, release: Release) -> NDArray[np.float64]:
    """Per box and axis, the range of numbers or the number of categories that occur in it, less one."""
    if release.boxes.are_points.all():
        return np.zeros(release.boxes.lo.shape)
    from sfumato.release.kernels import holding_pairs

    boxes = release.boxes
    point, box = holding_pairs(table.points, boxes.arrays)
    widths = np.zeros(boxes.lo.shape)
    for position, axis in enumerate(table.schema.quasi):
        codes = table.points[point, position]
        pairs = np.unique(box * (axis.size + 1) + codes + 1)
        owner, code = pairs // (axis.size + 1), pairs % (axis.size + 1) - 1
        if not axis.spaced:
            widths[:, position] = np.bincount(owner, minlength=len(boxes)) - 1
            continue
        known = code[code >= 0]
        holders, first, count = np.unique(owner[code >= 0], return_index=True, return_counts=True)
        widths[holders, position] = known[first + count - 1] - known[first] + 1
        widths[:, position] += np.bincount(owner[code < 0], minlength=len(boxes)) - 1
    return np.maximum(widths, 0)
