"""Calibrated priors keep their promise: shown over every data set and every output of small domains.

Disclosure is Definition 5, once with rows that have names and once with tables as multisets. Every rule has a twin whose
prior is too small, or whose bookkeeping is wrong, and which is caught.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privacy.dirichlet_oracle import VIEWS, Laws, Mechanism, growth_of, pairs_by_multiset, pairs_by_row
from sfumato.errors import UnsatisfiableError
from sfumato.privacy.dirichlet import UNIT, Calibration, Promise, Shape
from sfumato.privacy.dirichlet.calibration import pure_alpha

SIZES = [(1, 2), (1, 4), (2, 2), (2, 3), (3, 2), (3, 4), (4, 3)]


@dataclass(frozen=True)
class Domain:
    """The levels of k places."""

    weights: tuple[float, ...]
    counts: tuple[int, ...]
    keep: tuple[float, ...] | None = None


def domains(k: int) -> dict[str, Domain]:
    """Uniform and other priors over k places, without and with dropping."""
    return {
        "uniform": Domain((1.0,), (k,)),
        "one heavy": Domain((1.0, 0.25), (1, k - 1)),
        "one light": Domain((1.0, 0.05), (k - 1, 1)),
        "half kept": Domain((1.0,), (k,), (0.5,)),
        "near kept more": Domain((1.0, 0.5), (1, k - 1), (0.9, 0.2)),
        "one never dropped": Domain((1.0, 2.0), (k - 1, 1), (0.3, 1.0)),
    }


NAMES = list(domains(2))
WHOLE = ["uniform", "one heavy", "one light"]
PURE = [Promise(epsilon=epsilon, rule="pure") for epsilon in (0.5, 2.0, 4.0)]
REFERENCE = [
    Promise(epsilon=epsilon, delta=delta, rule="reference", reject=reject)
    for epsilon, delta, reject in ((1.2, 0.6, False), (2.0, 0.05, False), (4.0, 0.01, False), (2.5, 0.4, True))
]
EXACT = [
    Promise(epsilon=epsilon, delta=delta)
    for epsilon, delta in ((0.2, 0.3), (1.0, 0.1), (2.0, 0.05), (2.5, 0.4), (4.0, 1e-3))
]
REJECTING = [Promise(epsilon=epsilon, delta=delta, reject=True) for epsilon, delta in ((0.6, 0.3), (2.0, 0.1), (4.0, 0.5))]
FILE = [
    Promise(epsilon=epsilon, delta=delta, rule="file")
    for epsilon, delta in ((0.2, 0.2), (1.0, 0.1), (2.0, 0.05), (4.0, 1e-3))
]


def calibrated(n: int, domain: Domain, promise: Promise, factor: float = 1.0, keep_known: bool = True) -> Mechanism:
    """The mechanism with the prior that the promise needs, or with a multiple of it."""
    shape = Shape(domain.weights, domain.keep)
    known = shape if keep_known else Shape(domain.weights)
    scale = Calibration(promise, known).scales(np.array([n]), np.array([domain.counts]))[0]
    masses = shape.masses(scale * factor)
    levels = [level for level, count in enumerate(domain.counts) for _ in range(count)]
    alphas = tuple(Fraction(int(masses[level]), UNIT) for level in levels)
    return Mechanism(n, n, alphas, tuple(Fraction(float(shape.keep[level])) for level in levels))


def laws_of(mechanism: Mechanism, promise: Promise) -> Laws:
    """The law of what is published: with rejection, given that it is good."""
    if not promise.reject:
        return mechanism.laws
    growth = growth_of(promise.epsilon) * (1 - Fraction(promise.delta))
    return mechanism.laws.given(lambda data, output: mechanism.good(data, output, growth))


def cases(name: str, promises: list[Promise]) -> Iterator[tuple[Promise, Mechanism, Laws]]:
    """Every promise at every size that can be kept."""
    for promise, (n, k) in product(promises, SIZES):
        try:
            mechanism = calibrated(n, domains(k)[name], promise)
        except UnsatisfiableError:
            assert domains(k)[name].keep is not None
            continue
        yield promise, mechanism, laws_of(mechanism, promise)


def is_kept(promise: Promise, laws: Laws) -> bool:
    """Whether the promise holds, by its definition."""
    growth = growth_of(promise.epsilon)
    if promise.rule == "pure":
        return laws.ratio() <= growth
    if promise.rule != "file" and any(laws.disclosure(growth, pairs) > promise.delta for pairs in VIEWS.values()):
        return False
    return laws.divergence(growth) <= promise.delta


@pytest.mark.parametrize(
    ("name", "promises", "least"),
    [
        *[(name, PURE, 21) for name in WHOLE], *[(name, REFERENCE, 28) for name in WHOLE],
        *[(name, EXACT, 35) for name in WHOLE], *[(name, REJECTING, 21) for name in WHOLE],
        *[(name, FILE, 28) for name in WHOLE],
        ("half kept", PURE, 14), ("half kept", EXACT, 21), ("half kept", REJECTING, 14), ("half kept", FILE, 14),
        ("near kept more", PURE, 7), ("near kept more", EXACT, 14), ("near kept more", REJECTING, 7),
        ("near kept more", FILE, 14), ("one never dropped", PURE, 14), ("one never dropped", EXACT, 14),
        ("one never dropped", REJECTING, 7), ("one never dropped", FILE, 14),
    ],
)
def test_promises_are_kept(name: str, promises: list[Promise], least: int) -> None:
    found = [(promise, mechanism, is_kept(promise, laws)) for promise, mechanism, laws in cases(name, promises)]
    assert [(promise, mechanism) for promise, mechanism, kept in found if not kept] == []
    assert len(found) >= least


def test_the_exact_rule_leaves_little_on_the_table() -> None:
    """Somewhere the probability of disclosure is δ itself, so no better prior exists there."""
    shares = [
        laws.disclosure(growth_of(promise.epsilon), pairs_by_row) / promise.delta
        for promise, _, laws in cases("uniform", EXACT)
    ]
    assert max(shares) > 0.999


@pytest.mark.parametrize(("promises", "least"), [(PURE, 21), (EXACT, 16), (FILE, 10)])
def test_half_the_prior_breaks_promises(promises: list[Promise], least: int) -> None:
    broken = [
        promise for promise, (n, k) in product(promises, SIZES)
        if not is_kept(promise, calibrated(n, domains(k)["uniform"], promise, factor=0.5).laws)
    ]
    assert len(broken) >= least


def test_a_prior_that_does_not_know_of_dropping_breaks_promises() -> None:
    for promise in (PURE[1], EXACT[1], EXACT[2], FILE[1]):
        mechanism = calibrated(3, domains(4)["half kept"], promise, keep_known=False)
        assert not is_kept(promise, mechanism.laws)


def test_rejecting_by_the_data_alone_breaks_promises() -> None:
    """Lemma 5.1: what a neighbour would have rejected and this data does not is disclosed beyond all bounds."""
    promise = REJECTING[1]
    mechanism = calibrated(3, domains(4)["uniform"], promise)
    growth = growth_of(promise.epsilon) * (1 - Fraction(promise.delta))
    accepting = mechanism.laws.given(lambda data, output: mechanism.represents(data, output, growth))
    assert is_kept(promise, laws_of(mechanism, promise))
    assert not is_kept(promise, accepting)


def test_the_two_views_of_a_table_differ() -> None:
    """With the names of rows forgotten more data sets are neighbours of neighbours, and more is disclosed."""
    mechanism = Mechanism(3, 3, (Fraction(1, 2),) * 3, (Fraction(1),) * 3)
    by_row, by_multiset = (
        {(data, i) for data in mechanism.laws.of for i in np.flatnonzero(mechanism.laws.disclosing(data, growth_of(1.2), pairs))}
        for pairs in (pairs_by_row, pairs_by_multiset)
    )
    assert by_row < by_multiset


@pytest.mark.parametrize("alphas", [("1/3",) * 3, ("1/3", "2", "5/7"), ("5", "1/50"), ("4", "4", "9/10", "7")])
def test_the_largest_ratio_is_that_of_theorem_4_1(alphas: tuple[str, ...]) -> None:
    masses = tuple(Fraction(alpha) for alpha in alphas)
    for n, m in product((1, 2, 3), (1, 2, 4)):
        mechanism = Mechanism(n, m, masses, (Fraction(1),) * len(masses))
        assert mechanism.laws.ratio() == (m + min(masses)) / min(masses)


def test_the_prior_of_theorem_4_1_is_the_smallest() -> None:
    """A millionth less breaks ε; and a million people at ε = 7 need 912.7 per place."""
    assert round(pure_alpha(7.0, 1_000_000), 1) == 912.7
    for epsilon, n in product((0.5, 2.0, 7.0), (1, 3)):
        for factor, kept in ((1 + 1e-6, True), (1 - 1e-6, False)):
            alpha = Fraction(pure_alpha(epsilon, n) * factor)
            mechanism = Mechanism(n, n, (alpha,) * 3, (Fraction(1),) * 3)
            assert (mechanism.laws.ratio() <= growth_of(epsilon)) is kept


def test_laws_add_up() -> None:
    for keep in ("1", "1/4"):
        mechanism = Mechanism(3, 2, (Fraction(1, 3), Fraction(2), Fraction(1, 7)), (Fraction(keep),) * 3)
        assert [sum(law) for law in mechanism.laws.of.values()] == [1] * len(mechanism.laws.of)
