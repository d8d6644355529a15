"""Calibrated priors keep their promise: shown over every data set and every output of small domains.

Disclosure is Definition 5, once with rows that have names and once with tables as multisets. Every rule has a twin
whose prior is too small, or whose bookkeeping is wrong, and which is caught.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import UnsatisfiableError
from sfumato.mechanisms.dirichlet import UNIT, Calibration, PriorShape, Promise, promised_epsilon
from sfumato.mechanisms.dirichlet.calibration import Rule, pure_alpha
from sfumato.mechanisms.dirichlet.disclosure import Levels, Limit, disclosure_bound
from sfumato.reproduce.machanavajjhala2008.enumeration import VIEWS, Laws, Mechanism, growth_of, pairs_by_row

ROUNDING = 1 + 1e-12
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
DROPPING = ["half kept", "near kept more", "one never dropped"]
Figures = list[tuple[float, float]]


def promises(rule: Rule, figures: Figures, reject: bool = False) -> list[Promise]:
    return [Promise(epsilon=epsilon, delta=delta, rule=rule, reject=reject) for epsilon, delta in figures]


PURE = promises("pure", [(0.5, 0.0), (2.0, 0.0), (4.0, 0.0)])
REFERENCE = promises("reference", [(1.2, 0.6), (2.0, 0.05), (4.0, 0.01)])
REFERENCE += promises("reference", [(2.5, 0.4)], reject=True)
EXACT = promises("exact", [(0.2, 0.3), (1.0, 0.1), (1.2, 1e-5), (2.5, 0.4), (4.0, 1e-3)])
REJECTING = promises("exact", [(0.6, 0.3), (2.0, 0.1), (4.0, 0.5)], reject=True)
FILE = promises("file", [(0.2, 0.2), (1.0, 0.1), (2.0, 0.05), (4.0, 1e-3)])
LARGE_PURE = promises("pure", [(3.0, 0.0), (5.0, 0.0)])
LARGE_EXACT = promises("exact", [(3.0, 0.4), (4.0, 0.1), (6.0, 1e-3)])
LARGE_REJECTING = promises("exact", [(4.0, 0.3), (5.0, 0.1)], reject=True)
LARGE_FILE = promises("file", [(2.0, 0.5), (4.0, 0.1), (6.0, 1e-3)])


def calibrated(n: int, domain: Domain, promise: Promise, factor: float = 1.0, keep_known: bool = True) -> Mechanism:
    """The mechanism with the prior that the promise needs, or with a multiple of it."""
    shape = PriorShape(domain.weights, domain.keep)
    known = shape if keep_known else PriorShape(domain.weights)
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


def cases(name: str, given: list[Promise]) -> Iterator[tuple[Promise, Mechanism, Laws]]:
    """Every promise at every size that can be kept."""
    for promise, (n, k) in product(given, SIZES):
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
    "given", [PURE, REFERENCE, EXACT, REJECTING, FILE], ids=["pure", "reference", "exact", "rejecting", "file"]
)
@pytest.mark.parametrize("name", WHOLE)
def test_promises_are_kept(name: str, given: list[Promise]) -> None:
    found = [(promise, mechanism, is_kept(promise, laws)) for promise, mechanism, laws in cases(name, given)]
    assert [(promise, mechanism) for promise, mechanism, kept in found if not kept] == []
    assert len(found) == len(given) * len(SIZES)


@pytest.mark.parametrize(
    "given", [LARGE_PURE, LARGE_EXACT, LARGE_REJECTING, LARGE_FILE], ids=["pure", "exact", "rejecting", "file"]
)
@pytest.mark.parametrize("name", DROPPING)
def test_promises_are_kept_when_places_are_dropped(name: str, given: list[Promise]) -> None:
    """Some are refused; half of them must not be."""
    found = [(promise, mechanism, is_kept(promise, laws)) for promise, mechanism, laws in cases(name, given)]
    assert [(promise, mechanism) for promise, mechanism, kept in found if not kept] == []
    assert len(found) >= len(given) * len(SIZES) / 2


def test_the_exact_rule_leaves_little_on_the_table() -> None:
    """With two places the bound is the probability of disclosure itself, and that is δ."""
    promise, domain = EXACT[2], Domain((0.1, 2.0), (1, 1))
    laws = calibrated(5, domain, promise).laws
    assert 1 - 1e-7 < laws.disclosure(growth_of(promise.epsilon), pairs_by_row) / promise.delta <= 1


@pytest.mark.parametrize(("given", "least"), [(PURE, 21), (EXACT, 16), (FILE, 10)])
def test_half_the_prior_breaks_promises(given: list[Promise], least: int) -> None:
    broken = [
        promise
        for promise, (n, k) in product(given, SIZES)
        if not is_kept(promise, calibrated(n, domains(k)["uniform"], promise, factor=0.5).laws)
    ]
    assert len(broken) >= least


@pytest.mark.parametrize("promise", [PURE[1], EXACT[1], LARGE_EXACT[1], FILE[1]], ids=lambda promise: promise.rule)
def test_a_prior_that_does_not_know_of_dropping_breaks_promises(promise: Promise) -> None:
    mechanism = calibrated(3, domains(4)["half kept"], promise, keep_known=False)
    assert not is_kept(promise, mechanism.laws)


def test_rejecting_by_the_data_alone_breaks_promises() -> None:
    """Lemma 5.1: what a neighbour would have rejected and this data does not is disclosed beyond all bounds."""
    promise = REJECTING[1]
    mechanism = calibrated(4, domains(3)["uniform"], promise)
    growth = growth_of(promise.epsilon) * (1 - Fraction(promise.delta))
    accepting = mechanism.laws.given(lambda data, output: mechanism.represents(data, output, growth))
    assert is_kept(promise, laws_of(mechanism, promise))
    assert not is_kept(promise, accepting)


def test_rejecting_for_nothing_breaks_promises() -> None:
    """Lemma 5.2: rejection costs ln 1/(1 − δ), and a prior calibrated without it does not keep ε."""
    promise, growth = Promise(epsilon=0.6, delta=0.1), growth_of(0.6)
    mechanism = calibrated(4, domains(3)["uniform"], promise)
    rejecting = mechanism.laws.given(lambda data, output: mechanism.good(data, output, growth))
    assert is_kept(promise, mechanism.laws)
    assert not is_kept(promise, rejecting)


@pytest.mark.parametrize(("keep", "differ"), [("1/4", True), ("1", False)])
def test_the_two_views_of_a_table_differ_where_places_are_dropped(keep: str, differ: bool) -> None:
    """As multisets two neighbours may both have lost somebody whose place, now empty, may be dropped."""
    mechanism = Mechanism(2, 3, (Fraction(3), Fraction(1), Fraction(1, 2)), (Fraction(1), Fraction(keep), Fraction(1)))
    growth, laws = growth_of(0.9125), mechanism.laws
    found = {data: [laws.disclosing(data, growth, pairs) for pairs in VIEWS.values()] for data in laws.of}
    assert not any((by_row & ~by_multiset).any() for by_row, by_multiset in found.values())
    assert any((by_row != by_multiset).any() for by_row, by_multiset in found.values()) is differ


@st.composite
def mechanisms(draw: st.DrawFn) -> Mechanism:
    """Any prior on up to four places, with or without dropping, drawing more or fewer people than there are."""
    k = draw(st.integers(2, 4))
    alphas = st.sampled_from([0.01, 0.1, 0.5, 1.0, 1.5, 4.0, 20.0])
    keep = st.just(1.0) if draw(st.booleans()) else st.sampled_from([0.05, 0.25, 0.5, 0.9, 1.0])
    masses, keeps = (
        tuple(Fraction(value) for value in draw(st.lists(each, min_size=k, max_size=k))) for each in (alphas, keep)
    )
    return Mechanism(draw(st.integers(1, 4)), draw(st.integers(1, 4)), masses, keeps)


@given(mechanisms(), st.floats(0.05, 5.0), st.sampled_from([0.9, 0.3, 0.05, 1e-3]))
@settings(max_examples=150)
def test_the_bound_is_never_below_the_truth(mechanism: Mechanism, epsilon: float, delta: float) -> None:
    """Whatever the prior: for disclosure about anybody, and about one person."""
    alphas, keep = (np.array([float(value) for value in values]) for values in (mechanism.alphas, mechanism.keep))
    counts, growth = np.ones(len(alphas), dtype=np.int64), growth_of(epsilon)
    about_anybody, about_one = (
        disclosure_bound(mechanism.n, mechanism.m, Levels(alphas, counts, keep), Limit(float(growth), delta, everybody))
        for everybody in (True, False)
    )
    assert about_one <= about_anybody * ROUNDING
    assert mechanism.laws.divergence(growth) <= about_one * ROUNDING
    for pairs in VIEWS.values():
        assert mechanism.laws.disclosure(growth, pairs) <= about_anybody * ROUNDING


@given(mechanisms(), st.sampled_from([0.3, 0.05, 1e-3]))
@settings(max_examples=80)
def test_priors_promise_no_less_than_they_keep(mechanism: Mechanism, delta: float) -> None:
    alphas, keep = ([float(value) for value in values] for values in (mechanism.alphas, mechanism.keep))
    for everybody in (True, False):
        epsilon = promised_epsilon(alphas, [1] * len(alphas), mechanism.n, mechanism.m, delta, keep, everybody)
        growth = growth_of(epsilon)
        assert mechanism.laws.divergence(growth) <= delta * ROUNDING
        if everybody:
            assert mechanism.laws.disclosure(growth, pairs_by_row) <= delta * ROUNDING


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
