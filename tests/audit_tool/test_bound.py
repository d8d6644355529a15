"""The lower bound on ε: against every outcome of small audits, a linear program, and runs by the thousand.

Each check has broken twins of the bound, which it must refuse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import comb, expit
from scipy.stats import binom

from sfumato.audit import chance, lower_bound
from sfumato.errors import ParameterError

Chance = Callable[..., float]
CASES = [
    (right, guesses, canaries, epsilon, delta)
    for guesses in (1, 2, 3, 5)
    for right in range(1, guesses + 1)
    for canaries in (guesses, 3 * guesses)
    for epsilon in (0.0, 0.4, 1.0, 3.0)
    for delta in (0.0, 1e-3, 0.02)
]


def optimum(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """The largest probability of so many right guesses over all symmetric private programs, as a linear program.

    Its variables are the probability of a pattern by its right guesses, and by how much each step between two
    patterns exceeds e^ε, up or down.
    """
    ratio, patterns = math.exp(epsilon), guesses + 1
    up = np.hstack([np.eye(guesses, patterns, 1) - ratio * np.eye(guesses, patterns), -np.eye(guesses)])
    down = np.hstack([np.eye(guesses, patterns) - ratio * np.eye(guesses, patterns, 1), np.zeros((guesses, guesses))])
    excess = comb(guesses - 1, np.arange(guesses))
    limits = np.vstack(
        [
            np.hstack([up, np.zeros((guesses, guesses))]),
            np.hstack([down, -np.eye(guesses)]),
            np.concatenate([np.zeros(patterns), excess, excess])[None, :],
        ]
    )
    many = comb(guesses, np.arange(patterns))
    found = linprog(
        np.concatenate([-many * (np.arange(patterns) >= right), np.zeros(2 * guesses)]),
        A_ub=limits,
        b_ub=np.concatenate([np.zeros(2 * guesses), [delta * canaries / guesses]]),
        A_eq=np.concatenate([many, np.zeros(2 * guesses)])[None, :],
        b_eq=[1],
    )
    return float(-found.fun)


def enumerated(right: int, guesses: int, epsilon: float) -> float:
    """The same for randomized response, by listing every pattern of right and wrong guesses."""
    q = float(expit(epsilon))
    patterns = product((0, 1), repeat=guesses)
    return sum(math.prod(q if one else 1 - q for one in pattern) for pattern in patterns if sum(pattern) >= right)


def off_by_one(right: int, guesses: int, *, epsilon: float, delta: float = 0, canaries: int | None = None) -> float:
    return float(binom.sf(right, guesses, expit(epsilon)))


def without_delta(right: int, guesses: int, *, epsilon: float, delta: float = 0, canaries: int | None = None) -> float:
    return chance(right, guesses, epsilon=epsilon)


def few_canaries(right: int, guesses: int, *, epsilon: float, delta: float = 0, canaries: int | None = None) -> float:
    return chance(right, guesses, epsilon=epsilon, delta=delta, canaries=guesses)


def published(right: int, guesses: int, *, epsilon: float, delta: float = 0, canaries: int | None = None) -> float:
    """The paper's upper bound: f(v) + 2 m δ max (f(v − i) − f(v)) / i."""
    steps = np.arange(1, right + 1)
    tail = binom.sf(right - 1, guesses, expit(epsilon))
    rises = (binom.sf(right - steps - 1, guesses, expit(epsilon)) - tail) / steps
    return float(tail + 2 * (canaries or guesses) * delta * rises.max())


def exact(candidate: Chance) -> bool:
    """Whether a formula is what the linear program and the list of patterns say."""
    return all(
        candidate(right, guesses, epsilon=epsilon, delta=delta, canaries=canaries)
        == pytest.approx(optimum(right, guesses, canaries, epsilon, delta), abs=2e-5)
        for right, guesses, canaries, epsilon, delta in CASES
    ) and all(
        candidate(right, guesses, epsilon=epsilon) == pytest.approx(enumerated(right, guesses, epsilon))
        for guesses in (1, 4, 9)
        for right in range(1, guesses + 1)
        for epsilon in (0.0, 0.5, 2.0)
    )


def test_the_chance_is_the_worst_case_over_all_programs() -> None:
    assert exact(chance)


@pytest.mark.parametrize("twin", [off_by_one, without_delta, few_canaries, published])
def test_another_formula_is_found_out(twin: Chance) -> None:
    assert not exact(twin)


@pytest.mark.parametrize(("right", "guesses", "epsilon", "delta"), [(2, 3, 1.0, 0.01), (4, 6, 0.5, 0.003)])
def test_a_private_program_reaches_the_chance(right: int, guesses: int, epsilon: float, delta: float) -> None:
    """The worst program of the proof, privacy and success counted pattern by pattern."""
    ratio = math.exp(epsilon)
    jump = delta / comb(guesses - 1, right - 1)
    weight = np.arange(guesses + 1)
    jumped = np.where(weight >= right, jump * ratio ** (weight - float(right)), 0)
    rest = (1 - (comb(guesses, weight) * jumped).sum()) / (1 + ratio) ** guesses
    law = rest * ratio**weight + jumped
    patterns = list(product((0, 1), repeat=guesses))
    assert sum(law[sum(pattern)] for pattern in patterns) == pytest.approx(1)
    for flipped in range(guesses):
        other = [(*pattern[:flipped], 1 - pattern[flipped], *pattern[flipped + 1 :]) for pattern in patterns]
        beyond = sum(max(0.0, law[sum(one)] - ratio * law[sum(two)]) for one, two in zip(patterns, other, strict=True))
        assert beyond == pytest.approx(delta)
    success = sum(law[sum(pattern)] for pattern in patterns if sum(pattern) >= right)
    assert success == pytest.approx(chance(right, guesses, epsilon=epsilon, delta=delta))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0, 6.0])
@pytest.mark.parametrize("guesses", [3, 20, 300, 10_000])
def test_the_published_correction_is_larger_where_audits_read_it(guesses: int, epsilon: float) -> None:
    delta = 1e-9
    for right in {int(binom.isf(tail, guesses, expit(epsilon))) + 1 for tail in (0.15, 0.05, 0.01, 1e-4)}:
        if right > guesses:
            continue
        tail = chance(right, guesses, epsilon=epsilon)
        ours = chance(right, guesses, epsilon=epsilon, delta=delta) - tail
        theirs = published(right, guesses, epsilon=epsilon, delta=delta) - tail
        assert theirs > 2.5 * ours > 0


@pytest.mark.parametrize(("guesses", "expected"), [(1_000, 0.88), (10_000, 0.96)])
def test_randomized_response_shows_nearly_all_of_its_epsilon(guesses: int, expected: float) -> None:
    """Of as many right guesses as randomized response at ε = 1 has on average."""
    bound = lower_bound(round(guesses * float(expit(1))), guesses)
    assert round(bound, 2) == expected


@given(
    guesses=st.integers(1, 400),
    share=st.floats(0, 1),
    delta=st.sampled_from([0.0, 1e-9, 1e-5, 1e-3]),
    confidence=st.sampled_from([0.8, 0.95, 0.999]),
)
def test_the_bound_is_where_the_chance_is_what_may_fail(
    guesses: int, share: float, delta: float, confidence: float
) -> None:
    right = round(share * guesses)
    bound = lower_bound(right, guesses, delta=delta, confidence=confidence)
    assert bound <= lower_bound(right, guesses, confidence=confidence) + 1e-9
    at = chance(right, guesses, epsilon=bound, delta=delta)
    if bound > 0:
        assert at == pytest.approx(1 - confidence, rel=1e-5)
        assert lower_bound(right, guesses, delta=delta, canaries=9 * guesses, confidence=confidence) <= bound + 1e-9
    else:
        assert at >= 1 - confidence


@given(right=st.integers(1, 60), more=st.integers(0, 60), delta=st.sampled_from([0.0, 1e-4, 0.01]))
def test_the_chance_rises_with_epsilon_and_falls_with_right_guesses(right: int, more: int, delta: float) -> None:
    guesses = right + more
    by_epsilon = [chance(right, guesses, epsilon=epsilon, delta=delta) for epsilon in np.linspace(0, 6, 25)]
    assert (np.diff(by_epsilon) >= -1e-12).all()
    by_right = [chance(count, guesses, epsilon=0.7, delta=delta) for count in range(guesses + 1)]
    assert (np.diff(by_right) <= 1e-12).all()
    assert by_right[0] == 1


def test_what_vanishes_in_floating_point_is_no_trouble() -> None:
    assert chance(100_000, 100_000, epsilon=0.1, delta=1e-9) == pytest.approx(1e-9)
    assert lower_bound(100_000, 100_000, delta=1e-9) > 10
    assert chance(10, 100_000, epsilon=3, delta=1e-9) == 1
    assert lower_bound(0, 10) == lower_bound(5, 10) == 0


def missed(bound: Callable[[int, int], float], guesses: int, epsilon: float) -> float:
    """How often the bound is above the ε of randomized response, exactly: by every number of right guesses."""
    above = np.array([bound(right, guesses) > epsilon for right in range(guesses + 1)])
    return float(binom.pmf(np.arange(guesses + 1), guesses, expit(epsilon)) @ above)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("guesses", [5, 60, 1_000])
def test_the_bound_is_too_high_in_one_audit_of_twenty_at_most(guesses: int, epsilon: float) -> None:
    assert missed(lower_bound, guesses, epsilon) <= 0.05
    if guesses == 1_000:
        assert missed(lower_bound, guesses, epsilon) > 0.03
        assert missed(lambda right, made: lower_bound(right, made, confidence=0.9), guesses, epsilon) > 0.05


@pytest.mark.parametrize(("delta", "canaries"), [(0.0, 500), (0.002, 500)])
def test_coverage_of_simulated_audits(delta: float, canaries: int) -> None:
    """20,000 audits of the program that is worst at the limit; false failure below 1e-6, the twin without δ fails."""
    runs, guesses, epsilon = 20_000, 100, 1.0
    generator = np.random.default_rng(11)
    limit = next(
        right for right in range(guesses + 1) if lower_bound(right, guesses, delta=delta, canaries=canaries) > epsilon
    )
    weight = np.arange(guesses + 1)
    law = binom.pmf(weight, guesses, expit(epsilon))
    least = law[limit:].sum()
    above = chance(limit, guesses, epsilon=epsilon, delta=delta, canaries=canaries)
    law = np.where(weight >= limit, law * above / least, law * (1 - above) / (1 - least))
    right = generator.choice(guesses + 1, size=runs, p=law)
    most = binom.isf(1e-6, runs, 0.05)
    bounds = np.array([lower_bound(count, guesses, delta=delta, canaries=canaries) for count in weight])
    assert (bounds[right] > epsilon).sum() <= most
    if delta:
        plain = np.array([lower_bound(count, guesses) for count in weight])
        assert (plain[right] > epsilon).sum() > most


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"right": 3, "guesses": 2}, "3 right of 2 guesses about 2 canaries"),
        ({"right": 0, "guesses": 0}, "0 right of 0 guesses"),
        ({"right": 1, "guesses": 2, "canaries": 1}, "about 1 canaries"),
        ({"right": 1, "guesses": 2, "delta": 1.0}, "delta is 1; expected"),
        ({"right": 1, "guesses": 2, "confidence": 1.0}, "confidence is 1; expected"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(arguments: dict[str, float], match: str) -> None:
    right, guesses = int(arguments.pop("right")), int(arguments.pop("guesses"))
    with pytest.raises(ParameterError, match=match):
        lower_bound(right, guesses, **arguments)  # type: ignore[arg-type]
