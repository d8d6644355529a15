"""What the classes of a release really are: the k, ℓ and t that it turned out to have."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data import Table
from sfumato.measures.base import Attack
from sfumato.measures.measurement import Grade, Measure, References, grade
from sfumato.privacy.distances import shares, total_variation
from sfumato.release import Release


def _judge_smallest(value: float, references: References) -> tuple[Grade, str]:
    return grade(-value, -10, -5), (
        f"Everybody's sensitive value stands among those of {value:,.0f} people or more; many statistical offices ask "
        "for 5 to 10."
    )


@dataclass(frozen=True, kw_only=True)
class RealizedClasses(Attack):
    """The weakest class under k-anonymity, ℓ-diversity and t-closeness."""

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("smallest_class", "Smallest class (k)", "privacy", "higher", "rows", optional=True).describe(
            "The fewest people who share one published set of sensitive values, be it a class or a bucket.",
            judge=_judge_smallest,
        ),
        Measure("realized_l", "Realized l", "privacy", "higher", "values", lowest=1.0).describe(
            "One over the share of the commonest sensitive value in the most uniform class."
        ),
        Measure("realized_t", "Realized t", "privacy", "lower", "distance", highest=1.0).describe(
            "How far the sensitive attribute in the most unusual class is from the published whole (earth "
            "mover's distance, all values equally far apart)."
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        """No class of a noisy release stands for people; its ℓ and t are those that its noise leaves to believe."""
        if release.noisy:
            overall = shares(np.maximum(release.overall, 0))
            return {
                "realized_l": float(1 / release.beliefs.max()),
                "realized_t": float(total_variation(release.beliefs, overall).max()),
            }
        counts = np.maximum(release.histograms, 0)
        occupied = counts[counts.sum(axis=1) > 0]
        p = shares(occupied)
        return {
            "smallest_class": float(occupied.sum(axis=1).min()),
            "realized_l": float(1 / p.max()),
            "realized_t": float(total_variation(p, shares(occupied.sum(axis=0))).max()),
        }
