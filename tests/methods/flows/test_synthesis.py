"""Synthetic flows: totals, claims, what epsilon is made of, memory, and the figures of Rhode Island."""

from __future__ import annotations

import math
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from flow_cases import flows_of, line
from sfumato.data.places import KILOMETRES, Places
from sfumato.errors import UnsatisfiableError
from sfumato.measures.flows.evaluation import evaluate
from sfumato.mechanisms.dirichlet import Promise
from sfumato.mechanisms.noise import SimulatedSource, SystemSource
from sfumato.methods.flows.domain import Domain
from sfumato.methods.flows.prior import DistanceHistogram, Prior
from sfumato.methods.flows.synthesis import Synthesizer
from sfumato.privacy.claims import ORIGIN_ASSUMPTIONS, ApproximateDP, NoGuarantee, ProbabilisticDP, PureDP

if TYPE_CHECKING:
    from sfumato.data.flows import Flows

ROAD = line([0, 1, 2, 10], town=["a", "a", "b", "b"])
PROMISE = Promise(epsilon=1.5, delta=0.05)
HISTOGRAM = DistanceHistogram(edges=(1.5, 2.5), shares=(6, 2, 2))
OPTIONS = {
    "plain": Synthesizer(promise=PROMISE),
    "reference": Synthesizer(promise=Promise(epsilon=1.5, delta=0.05, rule="reference")),
    "pure": Synthesizer(promise=Promise(epsilon=1.5, rule="pure")),
    "file": Synthesizer(promise=Promise(epsilon=1.5, delta=0.05, rule="file")),
    "reject": Synthesizer(promise=Promise(epsilon=1.5, delta=0.05, reject=True)),
    "radius": Synthesizer(promise=PROMISE, domain=Domain(radius=2)),
    "regions": Synthesizer(promise=PROMISE, domain=Domain(radius=2, beyond="tract")),
    "coarse": Synthesizer(promise=PROMISE, domain=Domain(coarse=((5, "town"), (30, "tract")))),
    "both": Synthesizer(promise=PROMISE, domain=Domain(radius=3, beyond="town", coarse=((30, "tract"),))),
    "distance": Synthesizer(promise=PROMISE, prior=Prior(by_distance=True), domain=Domain(radius=9, beyond="tract")),
    "drop": Synthesizer(promise=Promise(epsilon=6, delta=0.05), prior=Prior(keep=0.4, distances=HISTOGRAM)),
    "weights": Synthesizer(promise=PROMISE, prior=Prior(weights=np.arange(64.0)), density=np.arange(64.0)),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_as_many_people_go_to_every_destination_as_before(name: str, flows: Flows) -> None:
    """Also where all of them come from beyond the radius: a total that follows what is left would show them."""
    for seed in (1, 2):
        made = OPTIONS[name].synthesize(flows, SimulatedSource(seed))
        assert made.flows.destinations.tolist() == flows.destinations.tolist()
        assert made.flows.people.tolist() == flows.people.tolist()
        assert made.flows.places is flows.places
        assert sum(made.terms.values()) == pytest.approx(OPTIONS[name].promise.epsilon)
        assert (made.plan.min_prior > 0).all()
        assert (made.plan.min_prior <= made.plan.max_prior).all()
        assert made.flows.inside.all() == (name != "radius")


def test_people_from_outside_stay_countable() -> None:
    everybody_far = flows_of(ROAD, {(0, 4): 3, (0, 3): 2, (3, 3): 1})
    for seed in range(20):
        made = Synthesizer(promise=PROMISE, domain=Domain(radius=5)).synthesize(everybody_far, SimulatedSource(seed))
        assert made.flows.people.tolist() == [5, 1]
    with pytest.raises(UnsatisfiableError, match="people come to 'p0' from outside"):
        Synthesizer(promise=PROMISE).prepare(everybody_far)
    with pytest.raises(UnsatisfiableError, match="people come to 'p0' from outside"):
        Synthesizer(promise=PROMISE, domain=Domain(radius=1.5, beyond="town")).prepare(everybody_far)


def test_a_seed_repeats_a_synthesis_and_promises_nothing(flows: Flows) -> None:
    first, again, other = (OPTIONS["both"].synthesize(flows, SimulatedSource(seed)) for seed in (1, 1, 2))
    assert first.flows.frame().equals(again.flows.frame())
    assert not first.flows.frame().equals(other.flows.frame())
    assert first.claim == NoGuarantee(reason="seeded")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("plain", ProbabilisticDP),
        ("reference", ProbabilisticDP),
        ("reject", ProbabilisticDP),
        ("file", ApproximateDP),
        ("pure", PureDP),
    ],
)
def test_fresh_randomness_carries_the_claim_of_the_rule(name: str, kind: type, flows: Flows) -> None:
    one, other = (OPTIONS[name].synthesize(flows, source) for source in (None, SystemSource()))
    assert type(one.claim) is type(other.claim) is kind
    assert one.claim == OPTIONS[name].claim
    assert one.claim.epsilon == 1.5
    assert one.claim.delta == (0 if name == "pure" else 0.05)
    assert one.claim.neighbours == "replace-origin"
    assert one.claim.assumptions == ORIGIN_ASSUMPTIONS
    assert ("in each destination" in one.claim.sentence()) == (kind is ProbabilisticDP)
    assert not one.flows.frame().equals(other.flows.frame())


def test_terms_of_the_published_settings(flows: Flows) -> None:
    """ε = 8.6 with places kept at 0.0378 or more: ln 1/0.0378 goes into dropping, and what is left draws."""
    far = DistanceHistogram(edges=(2.0, 3.0), shares=(98, 1, 1))
    made = Synthesizer(promise=Promise(epsilon=8.6, delta=1e-5), prior=Prior(keep=0.0378, distances=far))
    terms = made.synthesize(flows, SimulatedSource(1)).terms
    assert list(terms) == ["synthesis", "places dropped", "prior shrunk"]
    assert terms["places dropped"] == pytest.approx(math.log(1 / 0.0378))
    assert terms["prior shrunk"] > 0
    assert sum(terms.values()) == pytest.approx(8.6, abs=1e-12)
    rejecting = Synthesizer(promise=Promise(epsilon=2, delta=0.1, reject=True)).synthesize(flows, SimulatedSource(1))
    assert rejecting.terms == pytest.approx({"synthesis": 2 + math.log(0.9), "rejection": -math.log(0.9)})
    assert Synthesizer(promise=PROMISE).synthesize(flows, SimulatedSource(1)).terms == {"synthesis": 1.5}


def test_rejected_draws_are_counted() -> None:
    """At δ = 0.4 a good share of draws discloses, and is drawn again only where that was asked for."""
    flows = flows_of(ROAD, {(0, 0): 4})
    for reject in (True, False):
        prepared = Synthesizer(promise=Promise(epsilon=1.5, delta=0.4, reject=reject)).prepare(flows)
        again = sum(prepared.draw(SimulatedSource(seed)).rejected for seed in range(150))
        assert 5 < again < 100 if reject else again == 0


def test_what_cannot_be_kept_is_said(flows: Flows) -> None:
    """Dropping alone costs ln 1/0.05 = 3, more than all of ε."""
    hopeless = Synthesizer(
        promise=PROMISE, prior=Prior(keep=0.05, distances=DistanceHistogram(edges=(1.0,), shares=(1, 0)))
    )
    with pytest.raises(UnsatisfiableError) as refused:
        hopeless.synthesize(flows, SimulatedSource(1))
    assert str(refused.value) == (
        "no prior keeps epsilon 1.5 for a destination of 1 people when empty places are kept with probability 0.05; "
        "ask for a larger epsilon or keep more of them"
    )


@pytest.fixture(scope="module")
def million() -> Flows:
    """Fifty people at one of a million places."""
    generator = np.random.default_rng(1)
    ids = pl.Series(np.arange(10**6)).cast(pl.String)
    towns = pl.DataFrame({"town": pl.Series(np.arange(10**6) % 500).cast(pl.String)})
    places = Places(ids, generator.uniform(30, 45, 10**6), generator.uniform(-100, -70, 10**6), towns)
    return flows_of(places, {(7, int(origin)): 1 for origin in generator.integers(0, 10**6, 50)})


@pytest.mark.parametrize("name", ["plain", "radius", "regions", "distance"])
def test_a_draw_knows_nothing_of_the_size_of_the_domain(name: str, million: Flows) -> None:
    """A vector over a million places would take 8 MB."""
    options = {
        "plain": {},
        "radius": {"domain": Domain(radius=50)},
        "distance": {"prior": Prior(by_distance=True)},
        "regions": {"domain": Domain(radius=50, beyond="town")},
    }
    prepared = Synthesizer(promise=Promise(epsilon=4.6, delta=1e-5), **options[name]).prepare(million)
    prepared.draw(SimulatedSource(1))
    tracemalloc.start()
    try:
        made = prepared.draw(SimulatedSource(2))
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()
    assert made.flows.people.tolist() == [50]


def short_errors(original: Flows, domain: Domain) -> tuple[float, list[float]]:
    """The error of the average short commute, over all destinations and by number of workers."""
    promise = Promise(epsilon=4.6, delta=1e-5)
    made = Synthesizer(promise=promise, domain=domain).synthesize(original, SimulatedSource(1)).flows
    assert made.people.tolist() == original.people.tolist()
    found = evaluate(original, made)
    return found["short_error"], [row.error for row in found.sizes["short"]]


def test_rhode_island_is_better_with_more_workers_and_a_smaller_domain(rhode_island: Flows) -> None:
    mile = KILOMETRES["mi"]
    whole, by_size = short_errors(rhode_island, Domain())
    ten, ten_by_size = short_errors(rhode_island, Domain(radius=10 * mile, beyond="town"))
    five, five_by_size = short_errors(rhode_island, Domain(radius=5 * mile, beyond="town"))
    for errors in (by_size, ten_by_size, five_by_size):
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] < 0.25 * errors[0]
    assert five < ten < whole
