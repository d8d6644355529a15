"""What is publicly known beforehand about where people come from: how far they travel, and where many live.

The same public histogram of distances serves two ends: a prior that puts more mass on near places, and the chance
with which an empty place is kept in the domain at all (Algorithm 2 of Machanavajjhala et al. 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.places import KILOMETRES, Places, as_text, find_column, read_numbers
from sfumato.data.source import read_frame
from sfumato.errors import DataError, ParameterError
from sfumato.mechanisms.dirichlet import PriorShape
from sfumato.mechanisms.dirichlet.prior import MIN_KEEP

CLASSES = 8
"""Weights of places are rounded up to powers of two, at most 2⁷ apart."""


@dataclass(frozen=True, kw_only=True)
class DistanceHistogram:
    """A public histogram of distances: the share of people up to each edge (kilometres), and beyond the last."""

    edges: tuple[float, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        edges, shares = self.edges, self.shares
        if not all(map(isfinite, (*edges, *shares))):
            raise ParameterError("the edges and shares of a histogram of distances are finite numbers")
        if not edges or len(shares) != len(edges) + 1 or list(edges) != sorted({*edges}) or edges[0] <= 0:
            raise ParameterError("a histogram of distances needs rising edges above 0 and one share more than edges")
        if min(shares) < 0 or not any(shares[:-1]):
            raise ParameterError("shares of distances are 0 or more, and at least one up to the last edge is above 0")

    def likeness(self, floor: float) -> NDArray[np.float64]:
        """People per kilometre of distance beside where they are densest, at least `floor`, for each ring."""
        widths = np.diff((0.0, *self.edges))
        dense = np.append(np.array(self.shares[:-1]) / widths, 0.0)
        return np.asarray(np.maximum(dense / dense.max(), floor))

    @staticmethod
    def read(source: Any, unit: str) -> DistanceHistogram:
        """Read rows of `up_to` and `share`; an empty `up_to` in the last row is everything beyond."""
        frame, where = read_frame(source)
        up_to = frame[find_column(frame.columns, None, ("up_to", "distance"), "upper edge", where)]
        last = as_text(up_to, where)[-1]
        open_ended = last is None or not last.strip()
        ends = read_numbers(up_to[:-1] if open_ended else up_to, where)
        shares = read_numbers(frame[find_column(frame.columns, None, ("share", "count"), "share", where)], where)
        try:
            return DistanceHistogram(
                edges=tuple(end * KILOMETRES[unit] for end in ends),
                shares=tuple(shares if open_ended else [*shares, 0.0]),
            )
        except ParameterError as error:
            raise DataError(f"{where}: {error}") from error


USUAL = DistanceHistogram(
    edges=tuple(miles * KILOMETRES["mi"] for miles in (6.23, 13.1, 21.54, 100.0)), shares=(0.5, 0.25, 0.15, 0.09, 0.01)
)
"""Commutes in Minnesota by the Census Transportation Planning Package of 2000, as Machanavajjhala et al. quote it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Prior:
    """A public prior over the places of every destination, in levels of ring × class.

    `keep` is the least chance of keeping an empty place; 1 keeps all. Places fall into classes by `weights`. Coarser
    units than places form levels of their own, one per ring, and are never dropped.

    >>> prior = sf.commute.Prior(by_distance=True)
    """

    distances: DistanceHistogram | None = None
    by_distance: bool = False
    floor: float = 0.0378
    keep: float = 1.0
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for name in ("floor", "keep"):
            if not MIN_KEEP <= getattr(self, name) <= 1:
                raise ParameterError(f"{name} is {getattr(self, name):g}; expected a number from {MIN_KEEP:.1g} to 1")
        if self.distances is None and (self.by_distance or self.keep < 1):
            object.__setattr__(self, "distances", USUAL)

    @property
    def edges(self) -> tuple[float, ...]:
        """Where the rings end, in kilometres."""
        return self.distances.edges if self.distances and (self.by_distance or self.keep < 1) else ()

    @property
    def rings(self) -> int:
        return len(self.edges) + 1

    @property
    def classes(self) -> int:
        return 1 if self.weights is None else CLASSES

    def spec(self) -> dict[str, Any]:
        """The prior as a release tells it."""
        used = self.distances if self.by_distance or self.keep < 1 else None
        return {
            "prior": "weights of places" if self.weights is not None else "distance" if self.by_distance else "uniform",
            **({"least_weight": self.floor} if self.by_distance else {}),
            **({"keep": self.keep} if self.keep < 1 else {}),
            **({"distances": {"up_to_km": list(used.edges), "shares": list(used.shares)}} if used else {}),
        }

    def class_of(self, places: Places) -> NDArray[np.int64]:
        """The class of every place: 0 for the heaviest."""
        if self.weights is None:
            return np.zeros(len(places), dtype=np.int64)
        check_weights(self.weights, places, "the prior")
        with np.errstate(divide="ignore", over="ignore"):
            halvings = np.floor(np.log2(self.weights.max() / self.weights))
        return np.asarray(np.clip(halvings, 0, CLASSES - 1).astype(np.int64))

    def shape(self) -> PriorShape:
        """The weights of all levels, and how they are kept: those of places, then those of coarser units."""
        flat = np.ones(self.rings)
        ring = self.distances.likeness(self.floor) if self.distances and self.by_distance else flat
        keep = self.distances.likeness(self.keep) if self.distances and self.keep < 1 else flat
        by_class = 0.5 ** np.arange(self.classes)
        return PriorShape(
            weights=np.concatenate((np.outer(ring, by_class).ravel(), ring)),
            keep=np.concatenate((np.repeat(keep, self.classes), np.ones(self.rings))),
        )


def check_weights(weights: NDArray[np.float64], places: Places, what: str) -> None:
    """Refuse weights that are not those of the places."""
    if len(weights) != len(places):
        raise ParameterError(f"{what} has {len(weights):,} weights for {len(places):,} places")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ParameterError(f"{what} needs weights of 0 or more, and some above")
