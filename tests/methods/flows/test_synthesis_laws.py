"""What is drawn for a destination has the law that the proof speaks of, and a tiny domain keeps its promise."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from flow_cases import fits, flows_of, line, origins_of
from sfumato.mechanisms.dirichlet import UNIT, Promise
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.flows.domain import EVERYWHERE, OUTSIDE, Domain
from sfumato.methods.flows.prior import DistanceHistogram, Prior
from sfumato.methods.flows.synthesis import Prepared, Synthesizer

if TYPE_CHECKING:
    from collections.abc import Iterator

Origins = tuple[int, ...]
Units = tuple[int, ...]
ROAD = line([0, 1, 2, 10], town=["a", "a", "b", "b"])
PROMISE = Promise(epsilon=1.5, delta=0.05)
HISTOGRAM = DistanceHistogram(edges=(1.5, 2.5), shares=(6, 2, 2))
NEAR_OUTSIDE, NEAR_TOWN = Domain(radius=5), Domain(radius=1.5, beyond="town")
DRAWS = 4000


def law(
    people: Units, alphas: dict[int, float], keep: dict[int, float], spots: dict[int, dict[int, float]]
) -> dict[Origins, float]:
    """The law of as many origins as there are people, by definition: coins, urn, then a place for every unit."""
    droppable = [unit for unit, chance in keep.items() if chance < 1 and unit not in people]
    found: Counter[Origins] = Counter()
    for coins in product([False, True], repeat=len(droppable)):
        chance = math.prod(keep[u] if kept else 1 - keep[u] for u, kept in zip(droppable, coins, strict=True))
        dropped = {unit for unit, kept in zip(droppable, coins, strict=True) if not kept}
        urn = {unit: alpha + people.count(unit) for unit, alpha in alphas.items() if unit not in dropped}
        for drawn in product(urn, repeat=len(people)):
            likely = chance
            for i, unit in enumerate(drawn):
                likely *= (urn[unit] + drawn[:i].count(unit)) / (sum(urn.values()) + i)
            for origins in product(*(spots[unit] for unit in drawn)):
                pairs = zip(drawn, origins, strict=True)
                found[tuple(sorted(origins))] += likely * math.prod(spots[unit][origin] for unit, origin in pairs)
    return dict(found)


def alphas_of(prepared: Prepared, destination: int) -> dict[int, float]:
    """The prior mass of every unit of the destination, as the run uses it."""
    where = prepared.flows.destinations.tolist().index(destination)
    plan = prepared.plan
    masses = plan.shape.masses(float(plan.scales[where])) / UNIT
    segments = plan.resolutions[plan.which[where]].view(destination).segments
    runs = zip(segments.base, segments.size, segments.level, strict=True)
    return {int(base + i): float(masses[level]) for base, count, level in runs for i in range(count)}


@dataclass(frozen=True)
class Case:
    """Two people at place 0: the unit that every origin is taken for, chances of keeping units, places of units."""

    synthesizer: Synthesizer
    units: tuple[int, ...]
    spots: dict[int, dict[int, float]]
    people: tuple[int, int] = (0, 3)
    keep: dict[int, float] = field(default_factory=dict)

    def law(self, people: tuple[int, int], alphas: dict[int, float]) -> dict[Origins, float]:
        return law(tuple(self.units[origin] for origin in people), alphas, self.keep, self.spots)


CASES = {
    "outside": Case(
        Synthesizer(promise=PROMISE, domain=NEAR_OUTSIDE), (0, 1, 2, 4), {0: {0: 1}, 1: {1: 1}, 2: {2: 1}, 4: {4: 1}}
    ),
    "regions and distance": Case(
        Synthesizer(
            promise=PROMISE,
            domain=NEAR_TOWN,
            prior=Prior(by_distance=True, distances=HISTOGRAM),
            density=np.array([1.0, 5, 3, 1]),
        ),
        (0, 1, 5, 5),
        {0: {0: 1}, 1: {1: 1}, 5: {2: 0.75, 3: 0.25}},
    ),
    "coarse": Case(
        Synthesizer(promise=PROMISE, domain=Domain(coarse=((9, "town"),))),
        (4, 4, 5, 5),
        {4: {0: 0.5, 1: 0.5}, 5: {2: 0.5, 3: 0.5}},
        people=(0, 1),
    ),
    "dropped": Case(
        Synthesizer(promise=Promise(epsilon=4, delta=0.3), prior=Prior(keep=0.3, distances=HISTOGRAM)),
        (0, 1, 2, 3),
        {i: {i: 1} for i in range(4)},
        keep={2: 0.5, 3: 0.3},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_law_of_a_destination(name: str) -> None:
    """A law in which the second person, half of the prior, or the coins are missing is rejected."""
    case = CASES[name]
    prepared = case.synthesizer.prepare(flows_of(ROAD, {(0, origin): 1 for origin in case.people}))
    alphas = alphas_of(prepared, 0)
    assert set(alphas) == set(case.spots)
    source, drawn = SimulatedSource(5), Counter[Origins]()
    for _ in range(DRAWS):
        found = origins_of(prepared.draw(source).flows, 0)
        drawn[tuple(sorted(Counter(found).elements()))] += 1
    first, second = case.people
    other = 2 if name == "coarse" else first
    assert fits(drawn, case.law((first, second), alphas))
    assert not fits(drawn, case.law((first, other), alphas))
    assert not fits(drawn, case.law((first, second), {unit: alpha / 2 for unit, alpha in alphas.items()}))
    if case.keep:
        assert case.synthesizer.prior.shape().keep[:3] == pytest.approx([1, case.keep[2], case.keep[3]])
        assert not fits(drawn, replace(case, keep={}).law((first, second), alphas))


def test_every_destination_has_its_own_prior() -> None:
    """The second destination is drawn with the prior that its own number of people needs, not with the first's."""
    prepared = Synthesizer(promise=PROMISE).prepare(flows_of(ROAD, {(0, 1): 30, (3, 0): 1, (3, 3): 1}))
    large, small = alphas_of(prepared, 0), alphas_of(prepared, 3)
    assert large[0] > 2 * small[0]
    from_data = 30 * 30 / (30 + sum(large.values())) + 2 * 2 / (2 + sum(small.values()))
    assert prepared.plan.from_data == pytest.approx(from_data / 32)
    source, drawn = SimulatedSource(5), Counter[Origins]()
    for _ in range(DRAWS):
        drawn[tuple(sorted(Counter(origins_of(prepared.draw(source).flows, 3)).elements()))] += 1
    itself = {place: {place: 1.0} for place in range(4)}
    assert fits(drawn, law((0, 3), small, {}, itself))
    assert not fits(drawn, law((0, 3), large, {}, itself))


def data_sets(outside: bool, people: int = 2) -> Iterator[Origins]:
    """Everybody's origins; 4 is outside."""
    yield from combinations_with_replacement(range(5 if outside else 4), people)


@pytest.mark.parametrize("domain", [NEAR_OUTSIDE, NEAR_TOWN, Domain(coarse=((9, "town"),))])
@pytest.mark.parametrize(
    "prior", [Prior(), Prior(by_distance=True, distances=HISTOGRAM), Prior(weights=np.array([4.0, 1, 0, 2]))]
)
def test_priors_and_views_do_not_know_the_origins(domain: Domain, prior: Prior) -> None:
    """Every data set of a destination has the same units and the same prior, so the same support."""
    found = set()
    for origins in data_sets(domain.beyond == OUTSIDE and domain.radius < EVERYWHERE):
        flows = flows_of(ROAD, Counter((0, origin) for origin in origins))
        prepared = Synthesizer(promise=PROMISE, domain=domain, prior=prior).prepare(flows)
        found.add(tuple(sorted(alphas_of(prepared, 0).items())))
    assert len(found) == 1


def exact_law(people: Units, alphas: dict[int, Fraction]) -> dict[Units, Fraction]:
    """Every multiset of units that may be drawn, Dirichlet-multinomial."""
    found, total = {}, sum(alphas.values()) + len(people)
    for drawn in combinations_with_replacement(sorted(alphas), len(people)):
        orders = math.factorial(len(drawn)) // math.prod(math.factorial(drawn.count(unit)) for unit in set(drawn))
        rising = math.prod(alphas[u] + people.count(u) + j for u in set(drawn) for j in range(drawn.count(u)))
        found[drawn] = orders * rising / math.prod(total + j for j in range(len(drawn)))
    assert sum(found.values()) == 1
    return found


def moved(origins: Origins, outside: bool) -> set[Origins]:
    """The data, and the data with one person from elsewhere."""
    every = range(5 if outside else 4)
    return {tuple(sorted((*origins[:i], new, *origins[i + 1 :]))) for i in range(len(origins)) for new in every}


def worst(promise: Promise, domain: Domain, shrink: int = 1) -> tuple[float, float, float]:
    """P(something is disclosed), the largest δ of any two neighbours, and ln of the largest ratio, by enumeration."""
    outside = domain.beyond == OUTSIDE
    everything = [*data_sets(outside)]
    laws: dict[Origins, dict[Units, Fraction]] = {}
    for origins in everything:
        prepared = Synthesizer(promise=promise, domain=domain).prepare(flows_of(ROAD, Counter((0, o) for o in origins)))
        alphas = {unit: Fraction(int(alpha * UNIT), UNIT * shrink) for unit, alpha in alphas_of(prepared, 0).items()}
        view = prepared.plan.resolutions[0].view(0)
        units = prepared.plan.resolutions[0].units_of(np.array(origins), view)[0]
        laws[origins] = exact_law(tuple(units.tolist()), alphas)
    growth, largest, delta, disclosed = Fraction(math.exp(promise.epsilon)), Fraction(0), 0.0, 0.0
    for origins in everything:
        around, disclosing = moved(origins, outside), set()
        for one, other in product(around, repeat=2):
            if other in moved(one, outside):
                ratios = {drawn: laws[one][drawn] / laws[other][drawn] for drawn in laws[one]}
                largest = max(largest, *ratios.values())
                disclosing |= {drawn for drawn, ratio in ratios.items() if ratio > growth}
                lost = sum(max(Fraction(0), laws[one][d] - growth * laws[other][d]) for d in ratios)
                delta = max(delta, float(lost))
        disclosed = max(disclosed, float(sum(laws[origins][drawn] for drawn in disclosing)))
    return disclosed, delta, math.log(largest)


@pytest.mark.parametrize("domain", [NEAR_OUTSIDE, NEAR_TOWN], ids=["outside", "regions"])
@pytest.mark.parametrize("rule", ["exact", "reference", "file", "pure"])
def test_a_tiny_domain_keeps_its_promise(rule: str, domain: Domain) -> None:
    """Four places on a line, one or two of them beyond the radius, two people: every data set and every output."""
    delta = 0.0 if rule == "pure" else 0.2
    promise = Promise(epsilon=1.2, delta=delta, rule=rule)  # type: ignore[arg-type]
    disclosed, lost, largest = worst(promise, domain)
    if rule == "pure":
        assert (disclosed, lost) == (0, 0)
        assert promise.epsilon - 1e-6 < largest <= promise.epsilon
    assert lost <= delta
    assert disclosed <= delta or rule == "file"
    broken = worst(promise, domain, shrink=8)
    assert broken[0] > delta
    assert broken[2] > promise.epsilon
