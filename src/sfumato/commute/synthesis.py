"""Synthetic flows: for every destination as many people as in truth, their origins drawn from data and prior."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, log
from typing import TYPE_CHECKING

import numpy as np

from sfumato.commute.domain import Domain
from sfumato.commute.flows import Flows
from sfumato.commute.prior import Prior
from sfumato.privacy.claims import ApproximateDP, NoGuarantee, ProbabilisticDP, PureDP
from sfumato.privacy.dirichlet import UNIT, Calibration, Promise, Urn
from sfumato.privacy.dirichlet.disclosure import shrinking_factor
from sfumato.privacy.dirichlet.rejection import is_good
from sfumato.privacy.noise import Source, SystemSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sfumato.commute.domain import Resolution, View
    from sfumato.privacy.claims import Claim

BATCH = 1024
ASSUMPTIONS = (
    "every person is counted once, with one origin and one destination",
    "origins are the only secret: how many people go to each destination is public, and the synthetic flows repeat it",
    "the places, the prior, the histogram of distances and the rules of the domain are public knowledge",
    "other releases about the same people add their own epsilon and delta to this one",
)


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """Synthetic flows, what they promise, and what made up ε."""

    flows: Flows
    claim: Claim
    terms: dict[str, float]
    prior: tuple[float, float]
    """The smallest and largest prior mass of a place, in people."""
    rejected: int = 0
    """How often a destination was drawn again."""


@dataclass(frozen=True, kw_only=True)
class Synthesizer:
    """A promise, a domain and a prior, ready to be applied to flows."""

    promise: Promise
    domain: Domain = field(default_factory=Domain)
    prior: Prior = field(default_factory=Prior)
    density: NDArray[np.float64] | None = None

    @property
    def claim(self) -> Claim:
        """What synthetic flows of this kind promise."""
        promise = self.promise
        if promise.rule == "pure":
            return PureDP(epsilon=promise.epsilon, neighbours="replace-origin", assumptions=ASSUMPTIONS)
        kind = ApproximateDP if promise.rule == "file" else ProbabilisticDP
        return kind(
            epsilon=promise.epsilon, failing=promise.delta, neighbours="replace-origin", assumptions=ASSUMPTIONS
        )

    def synthesize(
        self, flows: Flows, source: Source | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Synthesis:
        """Draw synthetic flows; with a simulated source they promise nothing."""
        source = source or SystemSource()
        run = _Run(self, flows, source)
        origins = np.empty(flows.total, dtype=np.int64)
        person = np.concatenate(([0], np.cumsum(flows.people)))
        which, done = self.domain.resolution_of(flows.people), 0
        for number, resolution in enumerate(self.domain.resolutions(flows.places, self.prior)):
            mine = np.flatnonzero(which == number)
            for start in range(0, len(mine), BATCH):
                batch = mine[start : start + BATCH]
                drawn = run.draw(batch, resolution)
                goes_to = np.repeat(flows.destinations[batch], flows.people[batch])
                people = np.concatenate([np.arange(person[d], person[d + 1]) for d in batch])
                origins[people] = resolution.place(drawn, goes_to, self.density, source)  # proof: placed
                done += len(batch)
                if progress:
                    progress(done, len(flows))
        synthetic = Flows.of_pairs(
            flows.places, np.repeat(flows.destinations, flows.people), origins, np.ones(flows.total, dtype=np.int64)
        )
        return Synthesis(
            flows=synthetic, claim=self.claim if source.protects else NoGuarantee(reason="seeded"),
            terms=run.terms(), prior=(run.least, run.most), rejected=run.rejected,
        )


class _Run:
    """One synthesis under way: draws destinations, and remembers what the claim's terms need."""

    def __init__(self, synthesizer: Synthesizer, flows: Flows, source: Source) -> None:
        self.promise, self.flows, self.shape = synthesizer.promise, flows, synthesizer.prior.shape()
        self.calibration, self.urn = Calibration(self.promise, self.shape), Urn(source, self.shape.keep)
        self.least, self.most, self.rejected = inf, 0.0, 0
        self.kept, self.shrinking = 1.0, 1.0

    def draw(self, batch: NDArray[np.int64], resolution: Resolution) -> NDArray[np.int64]:
        """The units drawn for these destinations, one after another."""
        flows = self.flows
        views = [resolution.view(int(flows.destinations[d])) for d in batch]  # proof: view
        found = self.calibration.scales(flows.people[batch], np.stack([view.counts for view in views]))
        together = zip(batch, views, found, strict=True)
        return np.concatenate([self._draw_one(int(d), resolution, view, scale) for d, view, scale in together])

    def _draw_one(self, d: int, resolution: Resolution, view: View, scale: float) -> NDArray[np.int64]:
        flows, masses, n = self.flows, self.shape.masses(scale), int(self.flows.people[d])
        pairs = slice(flows.start[d], flows.start[d + 1])
        origins = np.repeat(flows.origins[pairs], flows.counts[pairs])
        units, levels = resolution.units_of(origins, view)  # proof: units
        shrinking = self._note(n, masses, view)
        growth = exp(self.promise.synthesis)
        while True:
            drawn, drawn_levels = self.urn.draw(units, levels, n, view.segments, masses)  # proof: drawn
            if not self.promise.reject or is_good(
                units, levels, drawn, drawn_levels, masses / UNIT, self.shape.keep, growth, shrinking
            ):
                return drawn
            self.rejected += 1

    def _note(self, n: int, masses: NDArray[np.int64], view: View) -> float:
        """Remember the extent of the prior; the factor that dropping costs at this destination."""
        used = view.counts > 0
        self.least, self.most = min(self.least, masses[used].min() / UNIT), max(self.most, masses[used].max() / UNIT)
        dropped = used & (self.shape.keep < 1)
        if not dropped.any():
            return 1.0
        largest, least = float(masses[dropped].max()) / UNIT, float(masses[used].min()) / UNIT
        shrinking = float(shrinking_factor(n, n, largest, least))
        self.kept, self.shrinking = min(self.kept, self.shape.keep[dropped].min()), max(self.shrinking, shrinking)
        return shrinking

    def terms(self) -> dict[str, float]:
        """What ε is made of, for the place that costs most."""
        terms = {
            "places dropped": -log(self.kept), "prior shrunk": log(self.shrinking), "rejection": self.promise.rejection,
        }
        return {"synthesis": self.promise.epsilon - sum(terms.values()), **{k: v for k, v in terms.items() if v > 0}}
