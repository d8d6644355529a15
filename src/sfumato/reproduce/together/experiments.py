"""Every method of the five papers on one frontier of Adult and one of the Census excerpt.

Each paper measures privacy and utility in its own way; here all methods are measured in all of them.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sfumato.measures.attacks.belief import BeliefShift
from sfumato.measures.attacks.disclosure import disclosure
from sfumato.measures.attacks.naive_bayes import NaiveBayes
from sfumato.measures.workloads.large_populations import LargePopulations
from sfumato.measures.workloads.range_counts import HalfDomainCounts
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import (
    RPS,
    DiffGen,
    DiffMulti,
    Dirichlet,
    DPCube,
    FullSuppression,
    KDTree,
    LocalNoise,
    Method,
    Mondrian,
    Original,
    PrivBayes,
    QuadTree,
)
from sfumato.report.reproduction.document import Panel
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import Case, Experiment, Mode

TABLES = {"adult": ("Adult", "spatial"), "census": ("the Census excerpt", "census")}
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
SEEDS = 5
FLOOR = 5
"""k beneath requirements that do not bound the size of a class themselves."""
PRIVACY = {
    "p_loss": "Worst-case belief shift P_loss (nats)",
    "breach": "Gain of naive Bayes over the baseline (β)",
    "disclosure": "What the best adversary learns of a tenth of people",
}
UTILITY = {"u_loss": "Utility loss on large populations (nats)", "query_error": "Median error of half-domain counts"}
PAIRS = (("p_loss", "u_loss"), ("breach", "query_error"), ("disclosure", "u_loss"), ("disclosure", "query_error"))
PERCENT = {"breach", "disclosure", "query_error"}


def measured(data: Data, seed: int, *, table: str, method: Method) -> dict[str, float]:
    """Three privacy measures and two utility measures of one release."""
    rows = data.table(table)
    release = method.publish(rows, SimulatedSource(seed))
    return {
        "p_loss": BeliefShift().run(rows, release)["p_loss"],
        "breach": NaiveBayes().run(rows, release)["breach"],
        "disclosure": disclosure(rows, release).value,
        "u_loss": LargePopulations().run(rows, release)["u_loss"],
        "query_error": HalfDomainCounts(seed=seed).run(rows, release)["query_error"],
    }


def syntactic(mode: Mode) -> Iterator[tuple[str, Method, str]]:
    """Classes and buckets under the requirements of li2009 and cormode2013, and the two ends."""
    js: dict[str, Any] = {"k": FLOOR, "distance": "jensen-shannon"}
    for k in mode.pick((2, 5, 10, 50, 200, 1_000, 5_000), (10, 200)):
        yield "k-anonymity", Mondrian(k=k), f"k={k}"
    for l in mode.pick((2, 3, 4, 5, 6), (3,)):
        yield "ℓ-diversity", Mondrian(k=FLOOR, l=l), f"l={l}"
    for t in mode.pick((0.025, 0.05, 0.1, 0.15, 0.25, 0.4), (0.1,)):
        yield "t-closeness", Mondrian(t=t, **js), f"t={t}"
        yield "t-closeness, buckets", Mondrian(t=t, recoding="bucketize", **js), f"t={t}"
    for delta in mode.pick((0.5, 1.0, 2.0), (1.0,)):
        yield "δ-disclosure", Mondrian(k=FLOOR, delta=delta), f"delta={delta}"
    yield "all suppressed", FullSuppression(), ""
    yield "original", Original(), ""


def private(epsilon: float) -> Iterator[tuple[str, Method]]:
    """The differentially private methods of the other papers."""
    yield "kd-tree", KDTree(epsilon=epsilon)
    yield "quad-tree", QuadTree(epsilon=epsilon)
    yield "DiffMulti", DiffMulti(epsilon=epsilon, h=1_000, utility="dm")
    yield "DiffGen", DiffGen(epsilon=epsilon)
    yield "DPCube", DPCube(epsilon=epsilon)
    yield "RPS", RPS(epsilon=epsilon)
    yield "PrivBayes", PrivBayes(epsilon=epsilon)
    yield "Dirichlet", Dirichlet(epsilon=epsilon)
    yield "local noise", LocalNoise(epsilon=epsilon)


def _cases(table: str, mode: Mode) -> Iterator[Case]:
    run = partial(measured, table=table)
    for series, method, setting in syntactic(mode):
        yield Case(series=series, setting={"setting": setting}, run=partial(run, method=method))
    for epsilon in mode.pick(EPSILONS, (1.0,)):
        for series, method in private(epsilon):
            own = partial(run, method=method)
            yield Case(series=series, setting={"epsilon": epsilon}, run=own, seeds=mode.seeds(SEEDS))


def _panels(name: str, words: str) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            name=f"{name}-{privacy}-{utility}".replace("_", "-"),
            title=f"Every method on {words}",
            x=privacy,
            y=utility,
            x_title=PRIVACY[privacy],
            y_title=UTILITY[utility],
            x_percent=privacy in PERCENT,
            y_percent=utility in PERCENT,
            efficient=True,
        )
        for privacy, utility in PAIRS
    )


EXPERIMENTS = tuple(
    Experiment(
        name=f"frontier-{name}",
        title=f"Every method on {words}",
        shows="All methods of the five papers, in the privacy and utility measures of all of them. The dark line joins "
        "the releases that no other beats on both axes. P_loss counts under noise what is true of what looking people "
        "up tells; generated rows tell a model more, which is part of what the best adversary learns.",
        needs=("adult",) if name == "adult" else ("census",),
        cases=partial(_cases, table),
        panels=_panels(name, words),
    )
    for name, (words, table) in TABLES.items()
)
