"""The theorems and lemmas of machanavajjhala2008 on domains that are small enough to try every case."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, comb, exp, log

import numpy as np

from sfumato.mechanisms.dirichlet import UNIT, Calibration, PriorShape, Promise
from sfumato.mechanisms.dirichlet.calibration import Rule, reference_sample
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import Case, Experiment, Mode
from sfumato.reproduce.machanavajjhala2008.enumeration import (
    VIEWS,
    Counts,
    Laws,
    Mechanism,
    compositions,
    growth_of,
    neighbours,
)
from sfumato.reproduce.machanavajjhala2008.exchangeable import Exchangeable, partitions, shrunk_epsilon

ONE = Fraction(1)
SIZES = ((2, 2), (3, 2), (4, 2), (3, 3), (4, 3))
"""People and places."""
LARGER = ((30, 1.5, 0.3), (30, 1.5, 0.1))
"""People, ε and δ at which Theorem 4.4 asks for less than Theorem 4.1."""
COUNTEREXAMPLES: tuple[tuple[str, Rule, int, int, float, float, float], ...] = (
    ("Theorem 4.4", "reference", 8, 1_000, 1.5, 0.01, 0.003),
    ("Theorem 4.4", "reference", 10, 120_690, 4.6, 1e-5, 0.001),
    ("exact tails", "exact", 12, 5_000, 4.6, 1e-5, 0.0378),
)
"""How α is chosen, people, places, ε, δ, and the least probability of keeping an empty place."""


def mechanism(n: int, alphas: tuple[Fraction, ...], keep: Fraction = ONE) -> Mechanism:
    return Mechanism(n, n, alphas, (keep,) * len(alphas))


def needed_alpha(n: int, k: int, promise: Promise) -> float:
    """The prior of each of k equal places that a promise needs."""
    shape = PriorShape()
    return float(shape.masses(Calibration(promise, shape).scales(np.array([n]), np.array([[k]]))[0])[0]) / UNIT


def theorem_4_1(data: Data, seed: int, *, n: int, k: int) -> dict[str, float]:
    """The largest likelihood ratio over all data sets and outputs, over (m + min α)/min α."""
    alphas = tuple(Fraction(2 + place, 5) for place in range(k))
    least = min(alphas)
    return {"ratio": float(mechanism(n, alphas).laws.ratio() / ((n + least) / least)), "outputs": _outputs(n, k)}


def _outputs(n: int, k: int) -> float:
    """The number of outputs over the number that the paper gives."""
    return len(list(compositions(n, k))) / comb(n + k - 1, k - 1)


def theorem_4_3(data: Data, seed: int, *, n: int, k: int) -> dict[str, float]:
    """How many outputs meet the theorem's condition and disclose all the same, for either view of a table."""
    growth, alphas = growth_of(1.5), (Fraction(3, 10),) * k
    made = mechanism(n, alphas)
    wrong = 0
    for people in made.laws.of:
        for pairs in VIEWS.values():
            disclosing = made.laws.disclosing(people, growth, pairs)
            meets = np.array([_meets(people, output, alphas, growth) for output in made.laws.outputs])
            wrong += int((disclosing & meets).sum())
    return {"wrong": wrong, "data_sets": len(made.laws.of)}


def _meets(people: Counts, output: Counts, alphas: tuple[Fraction, ...], growth: Fraction) -> bool:
    """m_i ≤ (e^ε − 1)(n_i + α_i − 1), or (e^ε − 1) α_i where nobody lives."""
    limits = ((growth - 1) * (max(here - 1, 0) + alpha) for here, alpha in zip(people, alphas, strict=True))
    return all(drawn <= limit for drawn, limit in zip(output, limits, strict=True))


def theorem_4_4(data: Data, seed: int, *, n: int, k: int, epsilon: float, delta: float) -> dict[str, float]:
    """The probability of disclosure with the prior that the theorem asks for, and its own bound on it."""
    alpha = needed_alpha(n, k, Promise(epsilon=epsilon, delta=delta, rule="reference"))
    made = mechanism(n, (Fraction(alpha),) * k)
    found = max(made.laws.disclosure(growth_of(epsilon), pairs) for pairs in VIEWS.values())
    bound = exp(reference_sample(n, n, alpha, (k - 1) * alpha, exp(epsilon) - 1)) * 2 * k / (1 - 2 * exp(-epsilon))
    return {"disclosure": found, "over_delta": found / delta, "over_bound": found / bound, "alpha": alpha}


def many_blocks(data: Data, seed: int, *, n: int, k: int, epsilon: float, delta: float) -> dict[str, float]:
    """A bound on the probability of disclosure over δ, for the worst way to share out the people."""
    alpha = needed_alpha(n, k, Promise(epsilon=epsilon, delta=delta, rule="reference"))
    places = Exchangeable(n, k, alpha)
    found = max(places.unrepresentative(people, exp(epsilon)) for people in partitions(n))
    return {"over_delta": found / delta, "alpha": alpha}


def two_destinations(data: Data, seed: int) -> dict[str, float]:
    """The probability that something is disclosed about one destination, and about either of two.

    With one block that is twenty times as likely beforehand as the other, exact tails leave nothing of δ unused.
    """
    promise, shape = Promise(epsilon=1.2, delta=1e-5), PriorShape((0.1, 2.0))
    scale = Calibration(promise, shape).scales(np.array([5]), np.array([[1, 1]]))[0]
    alphas = tuple(Fraction(int(mass), UNIT) for mass in shape.masses(scale))
    one = mechanism(5, alphas).laws.disclosure(growth_of(promise.epsilon), VIEWS["rows"])
    return {"one_over_delta": one / promise.delta, "two_over_delta": (1 - (1 - one) ** 2) / promise.delta}


def acceptance(data: Data, seed: int, *, n: int, k: int) -> dict[str, float]:
    """Lemmas 5.1 and 5.2: drawing again until the output represents the data, or the data or a neighbour of it."""
    growth, alphas = growth_of(1.2), (Fraction(1, 2),) * k
    gamma, laws = growth - 1, mechanism(n, alphas).laws

    def represents(people: Counts, output: Counts) -> bool:
        return _meets(people, output, alphas, growth)

    def good(people: Counts, output: Counts) -> bool:
        return any(represents(near, output) for near in neighbours(people))

    p = max(1 - _chance(laws, people, represents) for people in laws.of)
    careful, promised = laws.given(good), growth / (1 - Fraction(p))
    over = [
        drawn - gamma * (here + 1 + alphas[0])
        for people, output in product(laws.of, laws.outputs)
        if good(people, output)
        for here, drawn in zip(people, output, strict=True)
    ]
    return {
        "told_apart_for_certain": _certain(laws.given(represents)),
        "rejected": p,
        "disclosure_over_p": max(careful.disclosure(promised, pairs) for pairs in VIEWS.values()) / p,
        "beyond_counts": float(max(over)),
        "draws": (1 - p) / min(_chance(laws, people, good) for people in laws.of),
    }


def _chance(laws: Laws, people: Counts, accepted: Callable[[Counts, Counts], bool]) -> float:
    """How likely an output is that is accepted for the data."""
    chances = zip(laws.outputs, laws.of[people], strict=True)
    return float(sum(chance for output, chance in chances if accepted(people, output)))


def _certain(laws: Laws) -> float:
    """How many outputs are possible for one data set and impossible for a neighbour."""
    pairs = laws.neighbouring()
    return float(
        sum(p > 0 and q == 0 for one, other in pairs for p, q in zip(laws.of[one], laws.of[other], strict=True))
    )


def theorem_5_1(data: Data, seed: int, *, n: int) -> dict[str, float]:
    """Four places and the same as two regions: ratio and disclosure after coarsening over those before."""
    fine, coarse = (Fraction(1, 4),) * 4, (Fraction(1, 2),) * 2
    growth = growth_of(1.5)
    before, after = mechanism(n, fine).laws, mechanism(n, coarse).laws
    return {
        "ratio": float(after.ratio() / before.ratio()),
        "disclosure": after.disclosure(growth, VIEWS["rows"]) - before.disclosure(growth, VIEWS["rows"]),
    }


def theorem_5_2(
    data: Data, seed: int, *, rule: Rule, n: int, k: int, epsilon: float, delta: float, keep: float
) -> dict[str, float]:
    """The probability of disclosure at ε′ with all people in one place, α calibrated as if nothing were dropped."""
    alpha = needed_alpha(n, k, Promise(epsilon=epsilon, delta=delta, rule=rule))
    total = shrunk_epsilon(epsilon, keep, alpha)
    found = Exchangeable(n, k, alpha, keep).disclosure_in_one_place(exp(total))
    return {"disclosure": found, "over_delta": found / delta, "alpha": alpha, "total_epsilon": total}


def theorem_5_2_pure(data: Data, seed: int, *, n: int, k: int) -> dict[str, float]:
    """The same for pure ε: the largest likelihood ratio over e^ε′."""
    epsilon, keep = 2.0, Fraction(1, 10)
    alpha = Fraction(n) / (growth_of(epsilon) - 1)
    total = epsilon + log(1 / keep) + ceil(alpha) * log(2)
    return {"ratio": float(mechanism(n, (alpha,) * k, keep).laws.ratio() / growth_of(total))}


def _cases(mode: Mode) -> Iterator[Case]:
    for n, k in mode.pick(SIZES, SIZES[:2]):
        size = {"n": n, "k": k}
        for name, run in (
            ("Theorem 4.1", theorem_4_1),
            ("Theorem 4.3", theorem_4_3),
            ("Lemmas 5.1 and 5.2", acceptance),
        ):
            yield Case(series=name, setting=size, run=partial(run, n=n, k=k))
        yield Case(series="Theorem 5.2, pure ε", setting=size, run=partial(theorem_5_2_pure, n=n, k=k))
    for n, epsilon, delta in mode.pick(LARGER, LARGER[:1]):
        run = partial(theorem_4_4, n=n, k=2, epsilon=epsilon, delta=delta)
        setting = {"n": n, "k": 2, "epsilon": epsilon, "delta": delta}
        yield Case(series="Theorem 4.4", setting=setting, run=run)
    for n, k, epsilon, delta in mode.pick(((8, 1_000, 1.5, 0.01), (10, 120_690, 4.6, 1e-5)), ((8, 1_000, 1.5, 0.01),)):
        run = partial(many_blocks, n=n, k=k, epsilon=epsilon, delta=delta)
        setting = {"n": n, "k": k, "epsilon": epsilon, "delta": delta}
        yield Case(series="Theorem 4.4", setting=setting, run=run)
    for n in mode.pick((2, 3, 4), (2,)):
        yield Case(series="Theorem 5.1", setting={"n": n}, run=partial(theorem_5_1, n=n))
    yield Case(series="two destinations", setting={"n": 5, "k": 2}, run=two_destinations)


def _dropping(mode: Mode) -> Iterator[Case]:
    for name, rule, n, k, epsilon, delta, keep in mode.pick(COUNTEREXAMPLES, COUNTEREXAMPLES[:1]):
        run = partial(theorem_5_2, rule=rule, n=n, k=k, epsilon=epsilon, delta=delta, keep=keep)
        setting = {"n": n, "k": k, "epsilon": epsilon, "delta": delta, "f": keep}
        yield Case(series=f"α from {name}", setting=setting, run=run)


EXPERIMENTS = (
    Experiment(
        name="theorems",
        title="Theorems 4.1 to 5.1, Lemmas 5.1 and 5.2",
        shows="Every data set and every output of a few people and places, with exact laws.",
        needs=(),
        cases=_cases,
    ),
    Experiment(
        name="theorem-5.2",
        title="Theorem 5.2: dropping empty blocks",
        shows="The probability of disclosure at the ε that the theorem promises, where all people come from one block.",
        needs=(),
        cases=_dropping,
    ),
)
