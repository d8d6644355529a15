"""Synthetic flows: for every destination as many people as in truth, their origins drawn from data and prior."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.flows import Flows
from sfumato.errors import UnsatisfiableError
from sfumato.mechanisms.dirichlet import UNIT, Promise, Urn
from sfumato.mechanisms.dirichlet.rejection import Thresholds, is_good
from sfumato.mechanisms.dirichlet.urn import People
from sfumato.mechanisms.noise import Source, SystemSource
from sfumato.methods.flows.domain import EVERYWHERE, Domain, Resolution
from sfumato.methods.flows.plan import Progress, SynthesisPlan, batches
from sfumato.methods.flows.prior import Prior, check_weights
from sfumato.privacy.claims import ORIGIN_ASSUMPTIONS, ApproximateDP, Claim, NoGuarantee, ProbabilisticDP, PureDP


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """Synthetic flows, what they promise, and the plan by which they were drawn."""

    flows: Flows
    claim: Claim
    plan: SynthesisPlan
    rejected: int = 0
    """How often a destination was drawn again; this one number depends on the data."""

    @property
    def terms(self) -> dict[str, float]:
        """What ε is made of."""
        return self.plan.terms


@dataclass(frozen=True, kw_only=True)
class Synthesizer:
    """A promise, a domain and a prior, ready to be applied to flows.

    Claim: (ε, δ)-differential privacy for where one person comes from; see `claim`.
    Assumes: see `ORIGIN_ASSUMPTIONS`.
    Cost: O(people + destinations), and with a radius or rings the places on their borders.
    Reference: paper Machanavajjhala et al. 2008; proof in flows.proof.md.

    >>> synthesizer = sf.commute.Synthesizer(promise=sf.commute.Promise(epsilon=4.6, delta=1e-3))
    >>> synthesizer.synthesize(flows).flows.total
    400
    """

    promise: Promise
    domain: Domain = field(default_factory=Domain)
    prior: Prior = field(default_factory=Prior)
    density: NDArray[np.float64] | None = None

    @property
    def claim(self) -> Claim:
        """What synthetic flows of this kind promise."""
        promise = self.promise
        if promise.rule == "pure":
            return PureDP(epsilon=promise.epsilon, neighbours="replace-origin", assumptions=ORIGIN_ASSUMPTIONS)
        kind = ApproximateDP if promise.rule == "file" else ProbabilisticDP
        return kind(
            epsilon=promise.epsilon, failing=promise.delta, neighbours="replace-origin", assumptions=ORIGIN_ASSUMPTIONS
        )

    def spec(self) -> dict[str, Any]:
        """All settings as a release tells them."""
        return {
            "epsilon": self.promise.epsilon,
            **({"delta": self.promise.delta} if self.promise.delta else {}),
            "rule": self.promise.rule,
            "rejection": self.promise.reject,
            **self.domain.spec(),
            **self.prior.spec(),
            "density": self.density is not None,
        }

    def prepare(self, flows: Flows, progress: Progress | None = None) -> Prepared:
        """Plan, and refuse what can be refused, before anything is drawn."""
        if self.density is not None:
            check_weights(self.density, flows.places, "the density")
        resolutions = self.domain.resolutions(flows.places, self.prior, self.density)
        which, shape = self.domain.resolution_of(flows.people), self.prior.shape()
        plan = SynthesisPlan.make(self.promise, shape, resolutions, which, flows.destinations, flows.people, progress)
        _refuse_outside(flows, plan)
        return Prepared(self, plan, flows)

    def synthesize(self, flows: Flows, source: Source | None = None, progress: Progress | None = None) -> Synthesis:
        """Draw synthetic flows; with a simulated source they promise nothing."""
        return self.prepare(flows).draw(source or SystemSource(), progress)


def _refuse_outside(flows: Flows, plan: SynthesisPlan) -> None:
    """The one look at origins outside the urn: an origin without a unit. The claim assumes that there is none."""
    for d in np.unique(np.repeat(np.arange(len(flows)), np.diff(flows.start))[~flows.inside]):
        resolution = plan.resolutions[plan.which[d]]
        if not resolution.outside or resolution.radius == EVERYWHERE:
            place = flows.places.ids[int(flows.destinations[d])]
            raise UnsatisfiableError(
                f"people come to {place!r} from outside, and its domain has no outside; give a radius, and neither "
                "regions beyond it nor coarser ones for small destinations"
            )


@dataclass(frozen=True, eq=False)
class Prepared:
    """Flows and the plan to draw them by."""

    synthesizer: Synthesizer
    plan: SynthesisPlan
    flows: Flows

    def draw(self, source: Source, progress: Progress | None = None) -> Synthesis:
        flows, plan, urn, rejected = self.flows, self.plan, Urn(source, self.plan.shape.keep), 0
        goes_to, comes_from = [], []
        for resolution, batch in batches(plan.resolutions, plan.which, progress):
            draws = [self._draw_units(int(d), resolution, urn) for d in batch]
            rejected += sum(again for _, again in draws)
            units = np.concatenate([units for units, _ in draws])
            goes_to.append(np.repeat(flows.destinations[batch], flows.people[batch]))
            comes_from.append(resolution.place(units, goes_to[-1], source))  # proof: placed
        everyone = np.ones(flows.total, dtype=np.int64)
        synthetic = Flows.of_pairs(flows.places, np.concatenate(goes_to), np.concatenate(comes_from), everyone)
        claim = self.synthesizer.claim if source.protects else NoGuarantee(reason="seeded")
        return Synthesis(flows=synthetic, claim=claim, plan=plan, rejected=rejected)

    def _draw_units(self, d: int, resolution: Resolution, urn: Urn) -> tuple[NDArray[np.int64], int]:
        """The units drawn for a destination, and how often they were drawn again."""
        flows, plan, rejected = self.flows, self.plan, 0
        masses, view = plan.shape.masses(float(plan.scales[d])), resolution.view(int(flows.destinations[d]))
        pairs = slice(flows.start[d], flows.start[d + 1])
        origins = np.repeat(flows.origins[pairs], flows.counts[pairs])
        units, levels = resolution.units_of(origins, view)  # proof: units
        people = People(units, levels)
        limits = Thresholds(masses / UNIT, plan.shape.keep, exp(plan.promise.synthesis), float(plan.shrinking[d]))
        while True:
            drawn = urn.draw(units, levels, int(flows.people[d]), view.segments, masses)  # proof: drawn
            if not plan.promise.reject or is_good(people, drawn, limits):
                return drawn.places, rejected
            rejected += 1
