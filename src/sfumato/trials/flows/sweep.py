"""What a promise costs, and what each way of spending it better buys: settings tried with simulated noise.

The settings are those a publisher would weigh: every place alike (Algorithm 1 of Machanavajjhala et al. 2008), a
smaller domain, long commutes by region, a public prior, dropped places (their Algorithm 2), coarser regions for
small destinations or for all, and a promise for the file alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.data.flows import MAX_PEOPLE, Flows
from sfumato.data.places import KILOMETRES
from sfumato.errors import UnsatisfiableError
from sfumato.measures.flows.evaluation import evaluate
from sfumato.mechanisms.dirichlet import Promise
from sfumato.mechanisms.dirichlet.calibration import Rule
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.flows.domain import Domain
from sfumato.methods.flows.prior import DistanceHistogram, Prior
from sfumato.methods.flows.synthesis import Synthesizer
from sfumato.trials.flows.comparison import Run

EPSILONS = (2.0, 4.6, 8.6)
DELTAS = (1e-5, 1e-9)
PAPER = (8.6, 1e-5)
"""What the paper promises in all, with places dropped at random."""
PAPER_KEEP = 0.0378
SMALL = 20
"""People up to which a destination counts as small."""
USUAL_RADIUS = 13.1 * KILOMETRES["mi"]
"""Three quarters of all commutes in the published histogram of distances."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One way of spending a promise."""

    name: str
    domain: Domain = field(default_factory=Domain)
    prior: Prior = field(default_factory=Prior)
    rule: Rule = "exact"


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Options at several promises; `regions` are columns of the places, the finest first.

    What is made is evaluated in `unit`, with commutes below `short` of them as the short ones.
    """

    radius: float = USUAL_RADIUS
    unit: str = "mi"
    short: float | None = None
    regions: tuple[str, ...] = ()
    distances: DistanceHistogram | None = None
    epsilons: tuple[float, ...] = EPSILONS
    deltas: tuple[float, ...] = DELTAS
    seeds: tuple[int, ...] = (1,)

    def options(self) -> list[Option]:
        """The options for these places, the plain one and the smaller domain first."""
        near = f"within {self.radius / KILOMETRES[self.unit]:.3g} {self.unit}"
        by_distance = Prior(by_distance=True, distances=self.distances)
        found = [
            Option(name="every place alike"),
            Option(name=near, domain=Domain(radius=self.radius)),
            Option(name="prior by distance", prior=by_distance),
            Option(name="empty places dropped", prior=Prior(keep=PAPER_KEEP, distances=self.distances)),
            Option(name="promise for the file alone", rule="file"),
        ]
        if self.regions:
            fine, coarse = self.regions[0], self.regions[-1]
            found += [
                Option(name=f"{near}, {coarse} beyond", domain=Domain(radius=self.radius, beyond=coarse)),
                Option(name=f"{fine} up to {SMALL} people", domain=Domain(coarse=((SMALL, fine),))),
                Option(name=f"{fine} throughout", domain=Domain(coarse=((MAX_PEOPLE, fine),))),
                Option(
                    name=f"{fine} throughout, prior by distance",
                    domain=Domain(coarse=((MAX_PEOPLE, fine),)),
                    prior=by_distance,
                ),
            ]
        return found

    def settings(self) -> list[tuple[Option, float, float]]:
        """Every option at every ε and the first δ; the plain one at every δ."""
        plain, *others = self.options()
        first = [(plain, epsilon, delta) for delta in self.deltas for epsilon in self.epsilons]
        return first + [(option, epsilon, self.deltas[0]) for option in others for epsilon in self.epsilons]

    def runs(self, flows: Flows) -> Iterator[Run]:
        """Try every setting."""
        for option, epsilon, delta in self.settings():
            promise = Promise(epsilon=epsilon, delta=delta, rule=option.rule)
            synthesizer = Synthesizer(promise=promise, domain=option.domain, prior=option.prior)
            paper = (epsilon, delta) == PAPER and option.prior.keep == PAPER_KEEP
            yield self.run(flows, synthesizer, label_of(option, epsilon, delta), options=option.name, paper=paper)

    def run(self, flows: Flows, synthesizer: Synthesizer, label: str, **about: Any) -> Run:
        """Try one setting; one that cannot keep its promise is handed back as refused."""
        about |= {"epsilon": synthesizer.promise.epsilon, "delta": synthesizer.promise.delta}
        try:
            drawn = [synthesizer.synthesize(flows, SimulatedSource(seed)).flows for seed in self.seeds]
        except UnsatisfiableError as error:
            return Run(label=label, refused=str(error), **about)
        scope: dict[str, Any] = {"regions": self.regions, "short": self.short, "unit": self.unit}
        evaluations = [evaluate(flows, one, within=synthesizer.domain.reach, **scope) for one in drawn]
        return Run(label=label, evaluations=evaluations, **about)

    def figures(self) -> Sequence[str]:
        """The runs to draw as the paper does: the whole domain and the smaller one, at the paper's ε for drawing."""
        epsilon = min(self.epsilons, key=lambda one: abs(one - 4.6))
        return [label_of(option, epsilon, self.deltas[0]) for option in self.options()[:2]]


def label_of(option: Option, epsilon: float, delta: float) -> str:
    """A name for a setting."""
    return f"{option.name}, ε = {epsilon:g}, δ = {delta:g}"
