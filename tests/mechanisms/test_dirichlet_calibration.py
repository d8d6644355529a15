"""Calibrated priors beside the published figures, beside each other, and beside what they promise.

For up to a dozen people every way to share them out is looked at, whatever the number of places.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sfumato.mechanisms.dirichlet import UNIT, Calibration, PriorShape, Promise, promised_epsilon
from sfumato.mechanisms.dirichlet.calibration import Rule, pure_alpha
from sfumato.mechanisms.dirichlet.disclosure import Levels, Limit, disclosure_bound
from sfumato.reproduce.machanavajjhala2008.enumeration import growth_of
from sfumato.reproduce.machanavajjhala2008.exchangeable import Exchangeable, partitions, shrunk_epsilon

from .dirichlet_oracle import exact_tail

DOMAIN = 120_690
PEOPLE = (1, 2, 3, 5, 8, 10, 15, 30, 60, 120, 200)
PLACES = (2, 3, 10, 100, 1_000, 10_000, DOMAIN, 1_000_000)
ROUNDING = 1 + 1e-9


def prior(n: int, k: int, promise: Promise, keep: float = 1.0) -> float:
    """The mass of each of k equal places, as an urn would hold it."""
    shape = PriorShape((1.0,), (keep,))
    scale = Calibration(promise, shape).scales(np.array([n]), np.array([[k]]))[0]
    return float(shape.masses(scale)[0]) / UNIT


def scales(rule: Rule, epsilon: float, delta: float, shape: PriorShape, counts: list[list[int]]) -> np.ndarray:
    """The scales for all numbers of people with all these counts of places."""
    calibration = Calibration(Promise(epsilon=epsilon, delta=delta, rule=rule), shape)
    pairs = list(product(PEOPLE, counts))
    return calibration.scales(np.array([n for n, _ in pairs]), np.array([places for _, places in pairs]))


@pytest.mark.parametrize(("n", "alpha"), [(10, 0.0386), (15, 0.0412)])
def test_the_reference_prior_is_as_published(n: int, alpha: float) -> None:
    """The paper reports 0.0398 for an average of 15 people; its formula gives these."""
    reference = prior(n, DOMAIN, Promise(epsilon=4.6, delta=1e-5, rule="reference"))
    assert round(reference, 4) == alpha
    assert prior(n, DOMAIN, Promise(epsilon=4.6, delta=1e-5)) < 0.8 * reference


def test_the_published_total_is_reproduced() -> None:
    assert round(shrunk_epsilon(4.6, 0.0378, 0.0398), 1) == 8.6
    assert shrunk_epsilon(1.0, 0.5, 1.2) == pytest.approx(1.0 + 3 * math.log(2))


@pytest.mark.parametrize("epsilon", [1.2, 2.0, 3.0, 4.6, 6.0, 8.0])
def test_the_exact_rule_never_asks_for_more(epsilon: float) -> None:
    for delta in (1e-3, 1e-5, 1e-9):
        reference, exact, file = (
            scales(rule, epsilon, delta, PriorShape(), [[k] for k in PLACES]) for rule in ("reference", "exact", "file")
        )
        assert (exact <= reference * ROUNDING).all()
        assert (file <= exact * ROUNDING).all()
        assert (exact < 0.9 * reference).mean() > 0.3


@pytest.mark.parametrize("epsilon", [1.2, 3.0, 6.0])
def test_the_exact_rule_never_asks_for_more_of_uneven_priors(epsilon: float) -> None:
    shape = PriorShape((1.0, 0.3, 0.01))
    counts = [[1, 1, 1], [5, 40, 3], [20, 1_000, 50_000], [1, 0, 400], [300, 2, 0]]
    for delta in (1e-3, 1e-7):
        reference, exact = (scales(rule, epsilon, delta, shape, counts) for rule in ("reference", "exact"))
        assert (exact <= reference * ROUNDING).all()


@pytest.mark.parametrize("k", [1_000, 10_000, DOMAIN, 1_000_000])
def test_how_much_the_exact_rule_saves(k: int) -> None:
    """At ε = 4.6 and δ = 1e−5 the prior is 10 to 40 percent smaller, for 5 to 200 people."""
    reference, exact = (
        np.array([prior(n, k, Promise(epsilon=4.6, delta=1e-5, rule=rule)) for n in PEOPLE if n >= 5])
        for rule in ("reference", "exact")
    )
    assert 0.6 < np.median(exact / reference) < 0.9
    assert 0.55 < (exact / reference).min() < (exact / reference).max() < 0.95


CASES = [
    ("exact", 10, DOMAIN, 4.6, 1e-5, 1.0),
    ("exact", 12, 5_000, 4.6, 1e-5, 1.0),
    ("exact", 8, 1_000, 1.5, 0.01, 1.0),
    ("exact", 6, 20, 0.8, 0.001, 1.0),
    ("exact", 5, 3, 0.3, 0.001, 1.0),
    ("exact", 10, DOMAIN, 8.6, 1e-5, 0.0378),
    ("exact", 12, 5_000, 8.57, 1e-5, 0.0378),
    ("exact", 12, 400, 5.0, 1e-4, 0.5),
    ("exact", 8, 1_000, 8.6, 0.01, 0.003),
    ("reference", 10, DOMAIN, 4.6, 1e-5, 1.0),
]
TIGHT = CASES[:7]


def worst(n: int, k: int, alpha: float, keep: float, growth: float) -> float:
    """The largest probability, over all ways to share out n people, that some place is drawn above its limit."""
    places = Exchangeable(n, k, alpha, keep)
    return max(places.unrepresentative(data, growth) for data in partitions(n) if len(data) <= k)


@pytest.mark.parametrize(("rule", "n", "k", "epsilon", "delta", "keep"), CASES)
def test_nothing_is_disclosed_with_more_than_delta(
    rule: Rule, n: int, k: int, epsilon: float, delta: float, keep: float
) -> None:
    alpha, growth = prior(n, k, Promise(epsilon=epsilon, delta=delta, rule=rule), keep), math.exp(epsilon)
    found = worst(n, k, alpha, keep, growth)
    levels = Levels(np.array([alpha]), np.array([k]), np.array([keep]))
    bound = disclosure_bound(n, n, levels, Limit(growth, delta, True))
    assert found <= bound * (1 + 1e-6) <= delta * (1 + 1e-6)
    assert Exchangeable(n, k, alpha, keep).disclosure_in_one_place(growth) <= delta


@pytest.mark.parametrize(("rule", "n", "k", "epsilon", "delta", "keep"), TIGHT)
def test_a_twentieth_less_would_break_the_promise(
    rule: Rule, n: int, k: int, epsilon: float, delta: float, keep: float
) -> None:
    alpha = prior(n, k, Promise(epsilon=epsilon, delta=delta, rule=rule), keep)
    assert worst(n, k, 0.95 * alpha, keep, math.exp(epsilon)) > delta


def test_the_bound_is_the_probability_where_nothing_is_dropped() -> None:
    """Several places above their limit at once are rare: adding tails costs less than a thousandth."""
    alpha = prior(12, 5_000, Promise(epsilon=4.6, delta=1e-5))
    levels = Levels(np.array([alpha]), np.array([5_000]), np.ones(1))
    bound = disclosure_bound(12, 12, levels, Limit(math.exp(4.6), 1e-5, True))
    assert worst(12, 5_000, alpha, 1.0, math.exp(4.6)) == pytest.approx(bound, rel=1e-3)


@pytest.mark.parametrize(
    ("n", "k", "epsilon", "delta", "keep"),
    [(10, DOMAIN, 4.6, 1e-5, 1.0), (7, 30, 1.0, 0.01, 1.0), (10, 5_000, 8.6, 1e-5, 0.0378), (8, 900, 8.6, 1e-5, 0.1)],
)
def test_the_file_rule_protects_each_person(n: int, k: int, epsilon: float, delta: float, keep: float) -> None:
    """And a twentieth less would not."""
    growth, alpha = math.exp(epsilon), prior(n, k, Promise(epsilon=epsilon, delta=delta, rule="file"), keep)
    enough, less = (
        max(Exchangeable(n, k, mass, keep).exceeding(people, growth) for people in range(1, n + 1))
        for mass in (alpha, 0.95 * alpha)
    )
    assert enough <= delta < less
    assert alpha <= prior(n, k, Promise(epsilon=epsilon, delta=delta), keep)


@pytest.mark.parametrize(("n", "k", "epsilon"), [(10_000, 2, 0.1), (5_000, 2, 0.05), (5_000, 3, 0.01)])
@pytest.mark.parametrize("rule", ["exact", "file"])
def test_many_people_in_few_places_at_a_small_epsilon(n: int, k: int, epsilon: float, rule: Rule) -> None:
    """All in one place: how often it is drawn is nearly certain, and must lie below its threshold."""
    alpha = prior(n, k, Promise(epsilon=epsilon, delta=1e-5, rule=rule))
    expected = n * (n + alpha) / (n + k * alpha)
    assert expected < (math.exp(epsilon) - 1) * (n - 1 + alpha)


def test_one_place_of_many_people_by_exact_tails() -> None:
    n, k, epsilon, delta = 60, 2, 0.4, 1e-3
    alpha = prior(n, k, Promise(epsilon=epsilon, delta=delta, rule="file"))
    mass, growth = Fraction(alpha), growth_of(epsilon)
    tails = [
        exact_tail(n, people + mass, n - people + mass, math.floor((growth - 1) * (mass + people - 1)))
        for people in range(1, n + 1)
    ]
    assert delta / 2 < max(tails) <= delta


@pytest.mark.parametrize(
    ("n", "k", "epsilon", "delta", "keep", "rule"),
    [
        (10, DOMAIN, 4.6, 1e-5, 1.0, "exact"),
        (15, 1_000, 2.0, 1e-3, 1.0, "exact"),
        (40, 20, 0.7, 1e-6, 1.0, "exact"),
        (10, DOMAIN, 4.6, 1e-5, 1.0, "file"),
        (12, 5_000, 8.57, 1e-5, 0.0378, "exact"),
        (12, 5_000, 8.57, 1e-5, 0.0378, "file"),
        (300, 50, 1.0, 1e-5, 1.0, "exact"),
    ],
)
def test_a_prior_promises_what_it_was_calibrated_for(
    n: int, k: int, epsilon: float, delta: float, keep: float, rule: Rule
) -> None:
    alpha, everybody = prior(n, k, Promise(epsilon=epsilon, delta=delta, rule=rule), keep), rule == "exact"
    found = promised_epsilon([alpha], [k], n, n, delta, [keep], everybody)
    assert found <= epsilon * (1 + 1e-9)
    assert found > epsilon - 0.2
    assert promised_epsilon([0.9 * alpha], [k], n, n, delta, [keep], everybody) > epsilon
    again = prior(n, k, Promise(epsilon=found * (1 + 1e-9), delta=delta, rule=rule), keep)
    assert again <= alpha * (1 + 1e-6)


def test_what_published_priors_promise() -> None:
    """The prior the paper reports for 120,690 places keeps less than its ε by exact tails."""
    assert promised_epsilon([0.039764], [DOMAIN], 15, 15, 1e-5) < 4.6
    assert promised_epsilon([0.0001], [10], 5, 5, 1e-5) > 6
    assert 0 < promised_epsilon([1e6], [10], 5, 5, 1e-5) < 1e-3


def test_equal_destinations_are_calibrated_once_and_alike() -> None:
    promise, shape = Promise(epsilon=2.0, delta=1e-3), PriorShape((1.0, 0.5))
    calibration = Calibration(promise, shape)
    people, counts = np.array([5, 9, 5, 7, 11]), np.array([[3, 4], [3, 4], [3, 4], [10, 0], [400, 3]])
    together = calibration.scales(people, counts)
    assert together[0] == together[2]
    assert len({*together.tolist()}) == 4
    alone = [Calibration(promise, shape).scales(people[[i]], counts[[i]])[0] for i in range(5)]
    assert together.tolist() == alone
    assert calibration.scales(people[:1], counts[:1])[0] == together[0]


def test_rejection_is_paid_from_epsilon() -> None:
    promise = Promise(epsilon=2.0, delta=0.3, reject=True)
    assert promise.synthesis == pytest.approx(2.0 + math.log(0.7))
    assert prior(6, 50, promise) == pytest.approx(prior(6, 50, Promise(epsilon=promise.synthesis, delta=0.3)), rel=1e-9)


def test_large_epsilon_needs_hardly_any_prior() -> None:
    assert pure_alpha(50.0, 10) < 1 / UNIT
    for rule in ("exact", "file", "reference"):
        assert prior(10, 1_000, Promise(epsilon=50.0, delta=1e-9, rule=rule)) <= 2 / UNIT
