"""Figures 1 to 6 of cormode2013 on Adult and on the Census excerpt.

The paper does not say how categories are ordered, where Mondrian cuts, which form of ℓ-diversity and which ground
distance it uses, nor how high its trees are: every choice is a series of its own.
"""

from collections.abc import Iterator
from functools import partial

from sfumato.methods import KDTree, Method, Mondrian, QuadTree
from sfumato.privacy.distances import Distance
from sfumato.privacy.requirements import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, Requirement
from sfumato.report.reproduction.document import Scalar
from sfumato.reproduce.cormode2013 import panels
from sfumato.reproduce.cormode2013.measuring import ADULT, ALPHABETICAL, MAIN, QUERIES, TABLES, attacked, guessed
from sfumato.reproduce.cormode2013.stopping import StoppedMondrian
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import Case, Experiment, Mode
from sfumato.reproduce.queries import HALVES, half_domain, selectivity_of

NEEDS = ("adult", "census")
KS = (2, 4, 8, 16, 64, 256, 1024, 4096)
LS = (2, 3, 4, 5, 6, 7, 8, 9)
TS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 3.0, 10.0)
HEIGHTS = (2, 4, 6, 8, 10, 12, 14)
SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)
FLOOR = 8
"""k beneath t-closeness, and of figure 6."""
HEIGHT = 12
"""Of the private trees where it is not varied; readings have others."""
SEEDS, QUERY_SEEDS = 8, 3
DISTANCES: dict[str, Distance] = {"equal": "equal", "ordered": "ordered", "tree": "hierarchical"}
AT_ROOT = 7
"""c of recursive diversity: large enough to be met at the root for all ℓ."""


def setup(data: Data, seed: int, *, table: str, reading: str) -> dict[str, float]:
    """Rows, the share of the commonest sensitive value, and the share of rows that the median query is about."""
    rows = data.table(table)
    return {
        "rows": rows.n,
        "baseline": rows.overall.max() / rows.n,
        "selectivity": selectivity_of(rows, half_domain(rows, reading, seed, QUERIES)),
    }


def forms(l: int) -> dict[str, tuple[Requirement, ...] | None]:
    """The forms of ℓ-diversity; the probabilistic one has a shorthand."""
    return {
        "probabilistic": None,
        "distinct": (DistinctLDiversity(l=l),),
        "entropy": (EntropyLDiversity(l=l),),
        "recursive": (RecursiveLDiversity(l=l, c=AT_ROOT),),
    }


def case(mode: Mode, key: tuple[str, str], series: str, method: Method, seeds: int, **setting: Scalar) -> Case:
    """A method on a table; the name of the data set is part of the setting."""
    run = partial(attacked, table=TABLES[key], method=method)
    about = {"data": key[0], "order": key[1], **setting}
    return Case(series=series, setting=about, run=run, seeds=mode.seeds(seeds))


def _named(key: tuple[str, str], words: str) -> str:
    return f"{words}, {key[1]}" if key[0] == ADULT else words


def _setup(mode: Mode) -> Iterator[Case]:
    for key, table in TABLES.items():
        for reading in HALVES:
            setting = {"data": key[0], "order": key[1], "reading": reading}
            run = partial(setup, table=table, reading=reading)
            yield Case(series=key[0], setting=setting, run=run, seeds=mode.seeds(QUERY_SEEDS))


def _figure_1(mode: Mode) -> Iterator[Case]:
    for key in mode.pick(tuple(TABLES), tuple(MAIN.items())):
        for k in mode.pick(KS, (8, 256)):
            yield case(mode, key, _named(key, "median cuts"), Mondrian(k=k, cut="median"), QUERY_SEEDS, k=k)
            if not mode.quick:
                yield case(mode, key, _named(key, "least loss"), Mondrian(k=k), QUERY_SEEDS, k=k)


def _figure_2(mode: Mode) -> Iterator[Case]:
    for key in MAIN.items():
        for l in mode.pick(LS, (2, 6)):
            for name, requirements in forms(l).items():
                method = Mondrian(l=l, cut="median") if requirements is None else _under(requirements)
                yield case(mode, key, name, method, QUERY_SEEDS, l=l)


def _under(requirements: tuple[Requirement, ...]) -> Mondrian:
    return Mondrian(requirements=requirements, cut="median")


def _figure_3(mode: Mode) -> Iterator[Case]:
    for key in MAIN.items():
        for t in mode.pick(TS, (0.1, 0.4)):
            for name, distance in mode.pick(DISTANCES, {"equal": DISTANCES["equal"]}).items():
                stopped = StoppedMondrian(k=FLOOR, t=t, distance=distance)
                held = Mondrian(k=FLOOR, t=t, distance=distance, cut="median")
                yield case(mode, key, f"as printed, {name}", stopped, QUERY_SEEDS, t=t, rule="printed")
                yield case(mode, key, f"every class within t, {name}", held, QUERY_SEEDS, t=t, rule="held")


def _trees(mode: Mode) -> Iterator[tuple[str, type[KDTree] | type[QuadTree], int | None]]:
    yield f"kd-tree of height {HEIGHT}", KDTree, HEIGHT
    yield f"quad-tree of height {HEIGHT}", QuadTree, HEIGHT
    yield "kd-tree, automatic height", KDTree, None
    if not mode.quick:
        yield "kd-tree of height 8", KDTree, 8
        yield "kd-tree of height 14", KDTree, 14


def _figure_4(mode: Mode) -> Iterator[Case]:
    for key in mode.pick(tuple(TABLES), tuple(MAIN.items())):
        for name, kind, height in _trees(mode):
            for epsilon in mode.pick(EPSILONS, (0.01, 1.0)):
                method = kind(epsilon=epsilon, height=height)
                yield case(mode, key, _named(key, name), method, SEEDS, epsilon=epsilon)


def _figure_5(mode: Mode) -> Iterator[Case]:
    """The four models with the readings that stand for them: median cuts, probabilistic ℓ, the printed t, kd-trees."""
    for key in MAIN.items():
        for k in mode.pick(KS, (8, 256)):
            yield case(mode, key, "k-anonymity", Mondrian(k=k, cut="median"), QUERY_SEEDS, k=k)
        for l in mode.pick(LS, (2, 5)):
            yield case(mode, key, "ℓ-diversity", Mondrian(l=l, cut="median"), QUERY_SEEDS, l=l)
        for t in mode.pick(TS, (0.1, 0.4)):
            yield case(mode, key, "t-closeness", StoppedMondrian(k=FLOOR, t=t), QUERY_SEEDS, t=t)
        for epsilon in mode.pick(EPSILONS, (0.01, 1.0)):
            tree = KDTree(epsilon=epsilon, height=HEIGHT)
            yield case(mode, key, "differential privacy", tree, SEEDS, epsilon=epsilon)


def _figure_6a(mode: Mode) -> Iterator[Case]:
    for key in MAIN.items():
        for height in mode.pick(HEIGHTS, (4, 8)):
            low = Mondrian(k=FLOOR, cut="median", height=height)
            yield case(mode, key, f"k = {FLOOR}", low, QUERY_SEEDS, height=height)
            for name, kind in (("kd-tree", KDTree), ("quad-tree", QuadTree)):
                tree = kind(epsilon=1.0, height=height)
                yield case(mode, key, f"ε = 1, {name}", tree, SEEDS, height=height)


def _figure_6b(mode: Mode) -> Iterator[Case]:
    for key in MAIN.items():
        for share in mode.pick(SHARES, (0.5, 1.0)):
            for name, method in (
                (f"k = {FLOOR}", Mondrian(k=FLOOR, cut="median")),
                ("ε = 1", KDTree(epsilon=1.0, height=HEIGHT)),
            ):
                run = partial(attacked, table=TABLES[key], method=method, share=share)
                setting: dict[str, Scalar] = {"data": key[0], "order": key[1], "share": share}
                yield Case(series=name, setting=setting, run=run, seeds=mode.seeds(SEEDS))


def _classifiers(mode: Mode) -> Iterator[Case]:
    key = (ADULT, ALPHABETICAL)
    for name, method in (
        ("k = 8", Mondrian(k=8, cut="median")),
        ("k = 64", Mondrian(k=64, cut="median")),
        ("k = 1024", Mondrian(k=1024, cut="median")),
        ("ε = 1", KDTree(epsilon=1.0, height=HEIGHT)),
    ):
        run = partial(guessed, table=TABLES[key], method=method)
        yield Case(series=name, setting={"data": key[0]}, run=run, seeds=mode.seeds(QUERY_SEEDS))


EXPERIMENTS = (
    Experiment(
        name="setup",
        title="Section III: data, queries and baseline",
        shows="How many rows there are, how often the commonest sensitive value is right, and what share of rows a "
        "query over half of every domain is about, in three readings of half and two orders of categories.",
        needs=NEEDS,
        cases=_setup,
    ),
    Experiment(
        name="figure-1",
        title="Figure 1: k-anonymity",
        shows="Query error and breach by k, for two ways to cut and two orders of categories.",
        needs=NEEDS,
        cases=_figure_1,
        panels=panels.FIGURE_1,
    ),
    Experiment(
        name="figure-2",
        title="Figure 2: ℓ-diversity",
        shows="The same by ℓ, for four forms of ℓ-diversity.",
        needs=NEEDS,
        cases=_figure_2,
        panels=panels.FIGURE_2,
    ),
    Experiment(
        name="figure-3",
        title="Figure 3: t-closeness",
        shows=f"The same by t on top of k = {FLOOR}: with the printed rule, which cuts no node that is too far, and "
        "with every class held to t; for three ground distances.",
        needs=NEEDS,
        cases=_figure_3,
        panels=panels.FIGURE_3,
    ),
    Experiment(
        name="figure-4",
        title="Figure 4: differential privacy",
        shows="The same by ε for kd-trees and quad-trees of several heights.",
        needs=NEEDS,
        cases=_figure_4,
        panels=panels.FIGURE_4,
    ),
    Experiment(
        name="figure-5",
        title="Figure 5: breach against error",
        shows="All four models in one chart.",
        needs=NEEDS,
        cases=_figure_5,
        panels=panels.FIGURE_5,
    ),
    Experiment(
        name="figure-6a",
        title="Figure 6(a): height of the tree",
        shows=f"Breach against error for heights {HEIGHTS[0]} to {HEIGHTS[-1]}, at k = {FLOOR} and at ε = 1.",
        needs=NEEDS,
        cases=_figure_6a,
        panels=panels.FIGURE_6A,
    ),
    Experiment(
        name="figure-6b",
        title="Figure 6(b): size of the data",
        shows="Breach against error for 10% to 100% of the rows.",
        needs=NEEDS,
        cases=_figure_6b,
        panels=panels.FIGURE_6B,
    ),
    Experiment(
        name="classifiers",
        title="Section II: another classifier",
        shows="How often naive Bayes and looking up one's class are right.",
        needs=("adult",),
        cases=_classifiers,
    ),
)
