"""The worked examples of machanavajjhala2008, and how large a prior its theorems ask for."""

from collections.abc import Iterator
from functools import partial
from math import exp, expm1, lgamma, log, log1p

from sfumato.mechanisms.dirichlet import Promise, promised_epsilon
from sfumato.mechanisms.dirichlet.calibration import pure_alpha, reference_sample
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import Case, Experiment, Mode
from sfumato.reproduce.machanavajjhala2008.panels import ALPHAS
from sfumato.reproduce.machanavajjhala2008.theorems import needed_alpha

EPSILON, DELTA = 4.6, 1e-5
DOMAINS = (1_000, 25_181, 120_690, 233_726)
KEEP = 0.0378
PRINTED_ALPHAS = {120_690: 0.039764, 233_726: 0.01245}
MAX_EPSILON = 20.0


def million(data: Data, seed: int) -> dict[str, float]:
    """A million people and draws at ε = 7 (Theorem 4.1)."""
    return {"alpha": pure_alpha(7, 1_000_000), "ratio": exp(7)}


def worst_case(data: Data, seed: int) -> dict[str, float]:
    """ln of the probability of the worst output with m = n = 20, two blocks and the least priors at ε = 7."""
    n = m = 20
    alpha = pure_alpha(7, m)
    both = 2 * alpha
    return {
        "alpha": alpha,
        "log_probability": lgamma(n + both) + lgamma(m + alpha + 1) - lgamma(1 + alpha) - lgamma(m + n + both),
    }


def laplace(data: Data, seed: int, *, epsilon: float) -> dict[str, float]:
    """The variance of the density ε/4 · exp(−ε|x|/2), whose scale is 2/ε, over 8/ε²."""
    scale = 2 / epsilon
    return {"variance": 2 * scale**2 / (8 / epsilon**2), "height": (1 / (2 * scale)) / (epsilon / 4)}


def dropping(data: Data, seed: int) -> dict[str, float]:
    """What Theorem 5.2 charges for f ≥ 0.0378 and ⌈α⌉ = 1."""
    extra = log(1 / KEEP) + log(2)
    return {"extra": extra, "total": EPSILON + extra}


def alphas(data: Data, seed: int, *, n: int, k: int) -> dict[str, float]:
    """The least prior of a block by Theorem 4.4 and by exact tails, and the prior sample over the data."""
    reference, exact = (
        needed_alpha(n, k, Promise(epsilon=EPSILON, delta=DELTA, rule=rule)) for rule in ("reference", "exact")
    )
    return {"reference": reference, "exact": exact, "prior_over_data": k * reference / n}


def bought(data: Data, seed: int, *, n: int, k: int) -> dict[str, float]:
    """The ε that the printed α buys by Theorem 4.4, and by exact tails."""
    alpha = PRINTED_ALPHAS[k]
    low, high = log(3) + 1e-9, MAX_EPSILON
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _holds(middle, n, k, alpha) else (middle, high)
    return {"reference": high, "exact": promised_epsilon([alpha], [k], n=n, m=n, delta=DELTA)}


def _holds(epsilon: float, n: int, k: int, alpha: float) -> bool:
    """Whether the reference 0-sample is at most δ (e^ε − 2)/(2k e^ε)."""
    limit = log(DELTA) + log1p(-2 * exp(-epsilon)) - log(2 * k)
    return reference_sample(n, n, alpha, (k - 1) * alpha, expm1(epsilon)) <= limit


def _examples(mode: Mode) -> Iterator[Case]:
    yield Case(series="a million people", setting={"epsilon": 7}, run=million)
    yield Case(series="the worst case", setting={"epsilon": 7, "n": 20, "k": 2}, run=worst_case)
    yield Case(series="dropping", setting={"f": KEEP}, run=dropping)
    for epsilon in (1, 4.6):
        yield Case(series="Laplace noise", setting={"epsilon": epsilon}, run=partial(laplace, epsilon=epsilon))


def _alphas(mode: Mode) -> Iterator[Case]:
    for k in mode.pick(DOMAINS, DOMAINS[:1]):
        for n in mode.pick((5, 10, 12, 15, 20, 50, 100, 200, 500), (5, 50)):
            yield Case(series=f"{k:,} blocks", setting={"n": n, "k": k}, run=partial(alphas, n=n, k=k))


def _bought(mode: Mode) -> Iterator[Case]:
    for k in PRINTED_ALPHAS:
        for n in mode.pick((5, 10, 15, 20, 30), (10,)):
            run = partial(bought, n=n, k=k)
            yield Case(series=f"α = {PRINTED_ALPHAS[k]}", setting={"n": n, "k": k}, run=run)


EXPERIMENTS = (
    Experiment(
        name="worked-examples",
        title="The worked examples",
        shows="The numbers of sections IV and VI that follow from a formula.",
        needs=(),
        cases=_examples,
    ),
    Experiment(
        name="alphas",
        title="Theorem 4.4: the least prior of a block",
        shows="By the paper's bound and by exact tails, at ε = 4.6 and δ = 0.00001.",
        needs=(),
        cases=_alphas,
        panels=ALPHAS,
    ),
    Experiment(
        name="printed-alphas",
        title="Section VI: what the printed priors buy",
        shows="The ε that the least priors printed in section VI are enough for.",
        needs=(),
        cases=_bought,
    ),
)
