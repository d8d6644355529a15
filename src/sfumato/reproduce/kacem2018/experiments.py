"""The equations, propositions and theorems of kacem2018 as numbers, and its conjecture.

The paper has no figures. What it proves is measured on many sizes and ε; what it conjectures is decided by the best
channel there is, which a convex program finds with a bound.
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np

from sfumato.estimation.likelihood import likelihood
from sfumato.estimation.solution import log_likelihood
from sfumato.mechanisms.channels import Channel, RandomizedResponse, TruncatedGeometric
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import Case, Experiment, Mode
from sfumato.reproduce.kacem2018.conjecture import SHAPES, Search
from sfumato.reproduce.kacem2018.optimal import Floats, best_loss, geometric_loss
from sfumato.reproduce.kacem2018.panels import CONJECTURE, CONVERGENCE, TRADEOFF
from sfumato.streams import stream

EPSILONS = (0.1, 0.5, 1.0, 2.0)
SIZE = 21
"""Values 0 to n = 20."""
STEPS = 20_000
SEEDS = 5


def mechanism(data: Data, seed: int, *, size: int, epsilon: float) -> dict[str, float]:
    """What Equations 4 and 5 give, and how far d-privacy holds, as stated and as the proof has it."""
    matrix = TruncatedGeometric(size=size, epsilon=epsilon).matrix()
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    alpha = np.exp(-epsilon)
    # ln(G_ij / G_hj), for every pair i, h of values and report j.
    ratios = np.log(matrix[:, None, :]) - np.log(matrix[None, :, :])
    bound = epsilon * distance[:, :, None]
    return {
        "row_sums": float(np.abs(matrix.sum(axis=1) - 1).max()),
        "printed_row_sums": float(((1 - alpha**distance) / alpha).sum(axis=1).max()),
        "beyond_e_to_the_distance": float((ratios - bound).max()),
        "beyond_as_printed": float((ratios + bound).max()),
        "smallest_singular_value": float(np.linalg.svd(matrix, compute_uv=False)[-1]),
    }


def diagonal_only(data: Data, seed: int) -> dict[str, float]:
    """A stochastic matrix whose largest elements are all on the diagonal, and which has no inverse."""
    first = np.array([0.4, 0.25, 0.1, 0.25])
    matrix = np.array([np.roll(first, shift) for shift in range(4)])
    beside = (matrix - np.diag(np.full(4, np.inf))).max()
    return {
        "diagonal_over_others": float(np.diag(matrix).min() - beside),
        "smallest_singular_value": float(np.linalg.svd(matrix, compute_uv=False)[-1]),
    }


def reports(channel: Channel, shares: Floats, people: int, seed: int) -> tuple[Floats, Floats]:
    """The distributions p of values that people have and q of what they report."""
    drawn = stream("people", seed).multinomial(people, shares)
    sent = channel.perturb(np.repeat(np.arange(channel.size), drawn), SimulatedSource(seed))
    return drawn / people, np.bincount(sent, minlength=channel.size) / people


def shape_of(name: str, size: int) -> Floats:
    return np.array(SHAPES[name](size))


def distance(one: Floats, other: Floats) -> float:
    """Total variation."""
    return float(np.abs(one - other).sum() / 2)


def updated(alpha: float, shares: Floats, observed: Floats, scale: Floats | float = 1.0) -> Floats:
    """One step of Definition 4.1; with the column factors of G as `scale`, one with G in place of α^|i−j|."""
    places = np.arange(len(shares))
    kernel = alpha ** np.abs(np.subtract.outer(places, places)) * scale
    found: Floats = shares * (kernel @ (observed / (shares @ kernel)))
    return found


def iteration(data: Data, seed: int, *, epsilon: float, shape: str, people: int) -> dict[str, float]:
    """The iteration from p⁽⁰⁾ = q: how far from the likeliest distribution it stops, and what inversion gives."""
    channel = TruncatedGeometric(size=SIZE, epsilon=epsilon)
    _, observed = reports(channel, shape_of(shape, SIZE), people, seed)
    shares, factors = observed, channel.scales
    differences = distance(
        updated(channel.decay, observed, observed), updated(channel.decay, observed, observed, factors)
    )
    for _ in range(STEPS):
        shares = channel.update(shares, observed)
    best = likelihood(channel, observed).shares
    inverted = channel.invert(observed)
    is_distribution = bool(inverted.min() >= 0)
    return {
        "moves": distance(shares, channel.update(shares, observed)),
        "likelihood_lost": log_likelihood(channel, observed, best) - log_likelihood(channel, observed, shares),
        "same_with_g": differences,
        "inverse_is_distribution": float(is_distribution),
        "from_inverse": distance(best, inverted) if is_distribution else 0.0,
    }


def fixed_points(data: Data, seed: int, *, epsilon: float, size: int) -> dict[str, float]:
    """How many distributions the update leaves as they are: the likeliest one on every set of values."""
    channel = TruncatedGeometric(size=size, epsilon=epsilon)
    observed = channel.spread(shape_of("falling", size))
    found: list[Floats] = []
    for number in range(1, size + 1):
        for places in combinations(range(size), number):
            shares = np.zeros(size)
            shares[list(places)] = 1 / number
            for _ in range(STEPS):
                shares = channel.update(shares, observed)
            if distance(shares, channel.update(shares, observed)) < 1e-12:
                found += [shares] if all(distance(shares, other) > 1e-6 for other in found) else []
    points = sum(one.max() > 1 - 1e-12 for one in found)
    return {"fixed_points": len(found), "point_masses": points, "values": size}


def convergence(data: Data, seed: int, *, epsilon: float, shape: str, people: int) -> dict[str, float]:
    """How far p and p* are from π with so many people."""
    channel = TruncatedGeometric(size=SIZE, epsilon=epsilon)
    prior = shape_of(shape, SIZE)
    own, observed = reports(channel, prior, people, seed)
    return {"p": distance(own, prior), "p_star": distance(likelihood(channel, observed).shares, prior)}


def conjecture(data: Data, seed: int, *, epsilon: float, shape: str, size: int) -> dict[str, float]:
    """The squared error of geometric noise over that of the best channel, and over the bound on any channel's."""
    search = Search(epsilon=epsilon, shares=SHAPES[shape](size))
    best, own = search.best(), search.error(search.geometric)
    return {"ratio": own / search.error(best), "ratio_at_most": own / search.lower_bound(best)}


def punctual(data: Data, seed: int, *, epsilon: float, shape: str) -> dict[str, float]:
    """The expected error of a single answer: geometric noise, best understood, over the best mechanism there is."""
    prior = shape_of(shape, 8)
    return {"ratio": geometric_loss(prior, epsilon) / best_loss(prior, epsilon)}


def tradeoff(data: Data, seed: int, *, epsilon: float, reading: str, people: int) -> dict[str, float]:
    """Reconstruction under d-privacy and under standard local privacy."""
    prior = shape_of("falling", SIZE)
    per_step = epsilon if reading == NEIGHBOURS else epsilon / (SIZE - 1)
    channels: dict[str, Channel] = {
        "geometric": TruncatedGeometric(size=SIZE, epsilon=per_step),
        "randomized_response": RandomizedResponse(size=SIZE, epsilon=epsilon),
    }
    return {
        name: distance(likelihood(channel, reports(channel, prior, people, seed)[1]).shares, prior)
        for name, channel in channels.items()
    }


NEIGHBOURS, ENDS = "the same ε between neighbours", "the same ε between the ends"


def _mechanisms(mode: Mode) -> Iterator[Case]:
    for size in mode.pick((2, 6, 21, 101), (2, 6)):
        for epsilon in EPSILONS:
            run = partial(mechanism, size=size, epsilon=epsilon)
            yield Case(series=f"n = {size - 1}", setting={"n": size - 1, "epsilon": epsilon}, run=run)
    yield Case(series="another matrix", setting={"n": 3}, run=diagonal_only)


def _iterations(mode: Mode) -> Iterator[Case]:
    for shape in mode.pick(tuple(SHAPES), ("falling",)):
        for epsilon in mode.pick((0.5, 1.0, 2.0), (1.0,)):
            for people in mode.pick((1_000, 100_000), (1_000,)):
                run = partial(iteration, epsilon=epsilon, shape=shape, people=people)
                setting = {"epsilon": epsilon, "people": people}
                yield Case(series=shape, setting=setting, run=run, seeds=mode.seeds(SEEDS))


def _fixed_points(mode: Mode) -> Iterator[Case]:
    for size in (2, 3, 4):
        run = partial(fixed_points, epsilon=1.0, size=size)
        yield Case(series="fixed points", setting={"n": size - 1}, run=run)


def _convergence(mode: Mode) -> Iterator[Case]:
    for shape in mode.pick(("falling", "peaked"), ("falling",)):
        for epsilon in mode.pick(EPSILONS, (0.5, 2.0)):
            for people in mode.pick((100, 1_000, 10_000, 100_000, 1_000_000), (100, 1_000)):
                run = partial(convergence, epsilon=epsilon, shape=shape, people=people)
                setting = {"shape": shape, "people": people, "epsilon": epsilon}
                yield Case(series=f"ε = {epsilon:g}", setting=setting, run=run, seeds=mode.seeds(4 * SEEDS))


def _conjecture(mode: Mode) -> Iterator[Case]:
    for size in mode.pick((2, 3, 4, 5, 6), (3,)):
        for shape in mode.pick(tuple(SHAPES), ("uniform",)):
            for epsilon in mode.pick((0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0), (0.1, 2.0)):
                run = partial(conjecture, epsilon=epsilon, shape=shape, size=size)
                yield Case(series=f"{size} values", setting={"shape": shape, "epsilon": epsilon}, run=run)


def _punctual(mode: Mode) -> Iterator[Case]:
    for shape in mode.pick(tuple(SHAPES), ("falling",)):
        for epsilon in mode.pick(EPSILONS, (1.0,)):
            run = partial(punctual, epsilon=epsilon, shape=shape)
            yield Case(series=shape, setting={"epsilon": epsilon}, run=run)


def _tradeoff(mode: Mode) -> Iterator[Case]:
    for reading in (NEIGHBOURS, ENDS):
        for epsilon in mode.pick((0.5, 1.0, 2.0, 4.0), (1.0,)):
            run = partial(tradeoff, epsilon=epsilon, reading=reading, people=mode.pick(100_000, 2_000))
            yield Case(series=reading, setting={"epsilon": epsilon}, run=run, seeds=mode.seeds(SEEDS))


EXPERIMENTS = (
    Experiment(
        name="mechanism",
        title="Equations 4 and 5, Propositions 3.1 and 3.2",
        shows="Whether the rows of G sum to one, by how much likelihoods of neighbours differ, and whether G can be "
        "inverted, for several n and ε.",
        needs=(),
        cases=_mechanisms,
    ),
    Experiment(
        name="iteration",
        title="Definition 4.1, Theorem 4.2 and Proposition 4.5",
        shows=f"The iteration after {STEPS:,} steps, against the likeliest distribution and against the inverse.",
        needs=(),
        cases=_iterations,
    ),
    Experiment(
        name="fixed-points",
        title="Lemma 4.3: fixed points of the update",
        shows="How many distributions the update leaves as they are.",
        needs=(),
        cases=_fixed_points,
    ),
    Experiment(
        name="convergence",
        title="Theorem 4.4: more people",
        shows="The distance from the true distribution to that of the people who reported, and to its reconstruction.",
        needs=(),
        cases=_convergence,
        panels=CONVERGENCE,
    ),
    Experiment(
        name="conjecture",
        title="Conjecture 4.6: is geometric noise the best?",
        shows="The squared error of reconstruction from geometric noise over that of the best channel that is as "
        "private, which a convex program finds and bounds.",
        needs=(),
        cases=_conjecture,
        panels=CONJECTURE,
    ),
    Experiment(
        name="punctual-utility",
        title="Section 1: the best single answer",
        shows="The expected error of one answer from geometric noise over that of the best mechanism under "
        "differential privacy, which a linear program finds.",
        needs=(),
        cases=_punctual,
    ),
    Experiment(
        name="tradeoff",
        title="Section 1: d-privacy and local privacy",
        shows="How far reconstructions from geometric noise and from randomized response are from the truth.",
        needs=(),
        cases=_tradeoff,
        panels=TRADEOFF,
    ),
)
