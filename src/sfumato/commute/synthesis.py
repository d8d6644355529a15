"""Synthetic flows: for every destination as many people as in truth, their origins drawn from data and prior."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, log
from typing import TYPE_CHECKING

import numpy as np

from sfumato.commute.domain import EVERYWHERE, Domain
from sfumato.commute.flows import Flows
from sfumato.commute.prior import Prior
from sfumato.errors import UnsatisfiableError
from sfumato.privacy.claims import ApproximateDP, NoGuarantee, ProbabilisticDP, PureDP
from sfumato.privacy.dirichlet import UNIT, Calibration, Promise, Urn
from sfumato.privacy.dirichlet.disclosure import shrinking_factor
from sfumato.privacy.dirichlet.rejection import is_good
from sfumato.privacy.noise import Source, SystemSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sfumato.commute.domain import Resolution, View
    from sfumato.privacy.claims import Claim
    from sfumato.privacy.dirichlet import Shape

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

    def prepare(self, flows: Flows) -> Prepared:
        """Everything that can be refused, before anything is drawn; it looks at public totals alone."""
        shape = self.prior.shape()
        calibration = Calibration(self.promise, shape)
        resolutions = self.domain.resolutions(flows.places, self.prior)
        which = self.domain.resolution_of(flows.people)
        scales = np.empty(len(flows))
        for resolution, batch in _batches(resolutions, which):
            counts = np.stack([resolution.view(int(place)).counts for place in flows.destinations[batch]])
            scales[batch] = calibration.scales(flows.people[batch], counts)
        return Prepared(self, flows, shape, resolutions, which, scales)

    def synthesize(
        self, flows: Flows, source: Source | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Synthesis:
        """Draw synthetic flows; with a simulated source they promise nothing."""
        return self.prepare(flows).draw(source or SystemSource(), progress)


def _batches(
    resolutions: Sequence[Resolution], which: NDArray[np.int64]
) -> Iterator[tuple[Resolution, NDArray[np.int64]]]:
    """The destinations of each resolution, not too many at once."""
    for number, resolution in enumerate(resolutions):
        mine = np.flatnonzero(which == number)
        for start in range(0, len(mine), BATCH):
            yield resolution, mine[start : start + BATCH]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A synthesis that can be drawn: the prior of every destination keeps the promise."""

    synthesizer: Synthesizer
    flows: Flows
    shape: Shape
    resolutions: Sequence[Resolution]
    which: NDArray[np.int64]
    scales: NDArray[np.float64]

    def __post_init__(self) -> None:
        flows = self.flows
        outside = np.unique(np.repeat(np.arange(len(flows)), np.diff(flows.start))[~flows.inside])
        for d in outside:
            resolution = self.resolutions[self.which[d]]
            if not resolution.outside or resolution.radius == EVERYWHERE:
                place = flows.places.ids[int(flows.destinations[d])]
                raise UnsatisfiableError(
                    f"people come to {place!r} from outside, and its domain has no outside; give a radius, and "
                    "neither regions beyond it nor coarser ones for small destinations"
                )

    def draw(self, source: Source, progress: Callable[[int, int], None] | None = None) -> Synthesis:
        """Draw the flows."""
        flows, run = self.flows, _Run(self, source)
        origins = np.empty(flows.total, dtype=np.int64)
        person = np.concatenate(([0], np.cumsum(flows.people)))
        done = 0
        for resolution, batch in _batches(self.resolutions, self.which):
            drawn = np.concatenate([run.draw(int(d), resolution) for d in batch])
            goes_to = np.repeat(flows.destinations[batch], flows.people[batch])
            people = np.concatenate([np.arange(person[d], person[d + 1]) for d in batch])
            density = self.synthesizer.density
            origins[people] = resolution.place(drawn, goes_to, density, source)  # proof: placed
            done += len(batch)
            if progress:
                progress(done, len(flows))
        synthetic = Flows.of_pairs(
            flows.places, np.repeat(flows.destinations, flows.people), origins, np.ones(flows.total, dtype=np.int64)
        )
        claim = self.synthesizer.claim if source.protects else NoGuarantee(reason="seeded")
        return Synthesis(
            flows=synthetic, claim=claim, terms=run.terms(), prior=(run.least, run.most), rejected=run.rejected
        )


class _Run:
    """One synthesis under way: draws destinations, and remembers what the claim's terms need."""

    def __init__(self, prepared: Prepared, source: Source) -> None:
        self.promise, self.flows, self.shape = prepared.synthesizer.promise, prepared.flows, prepared.shape
        self.scales, self.urn = prepared.scales, Urn(source, self.shape.keep)
        self.least, self.most, self.rejected = inf, 0.0, 0
        self.kept, self.shrinking = 1.0, 1.0

    def draw(self, d: int, resolution: Resolution) -> NDArray[np.int64]:
        """The units drawn for a destination."""
        flows, masses, n = self.flows, self.shape.masses(float(self.scales[d])), int(self.flows.people[d])
        view = resolution.view(int(flows.destinations[d]))  # proof: view
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
