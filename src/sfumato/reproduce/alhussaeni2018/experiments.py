"""Figures 5 to 13 of alhussaeni2018 and its comparison with RPS, on Adult.

Printed, repaired and best stand side by side: Algorithm 1 as printed (under no claim), the repaired algorithm with the
paper's utility, and with the utility that suits the task best.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sfumato.methods import RPS, DiffGen, DiffMulti, DPCube, Method, Mondrian, PrivBayes
from sfumato.methods.trees.utility import Utility
from sfumato.report.reproduction.document import Scalar
from sfumato.reproduce.alhussaeni2018 import examples, panels
from sfumato.reproduce.alhussaeni2018.measuring import distorted, learned, matched, timed, validated
from sfumato.reproduce.alhussaeni2018.printed import PrintedDiffMulti
from sfumato.reproduce.experiment import Case, Experiment, Mode

NEEDS = ("adult",)
PRINTED, REPAIRED, BEST = "DiffMulti as printed", "DiffMulti", "DiffMulti, best utility"
EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0)
HS = (1_000, 2_000, 4_000, 7_000, 10_000)
BEYOND = (20_000, 50_000, 100_000)
DIFFGEN_HS = (2, 5, 10, 15, 20)
SEEDS = 10
FEW_SEEDS = 5


def diffmulti(series: str, h: int, utility: Utility = "max", epsilon: float = 1.0) -> Method:
    """One of the three that stand side by side."""
    if series == PRINTED:
        return PrintedDiffMulti(epsilon=epsilon, h=h, utility=utility)
    return DiffMulti(epsilon=epsilon, h=h, utility="purity" if series == BEST else utility)


def _case(mode: Mode, run: Any, series: str, method: Method, seeds: int, /, **setting: Scalar) -> Case:
    return Case(series=series, setting=setting, run=partial(run, method=method), seeds=mode.seeds(seeds))


def _distortion(utility: Utility, mode: Mode) -> Iterator[Case]:
    run = partial(distorted, table="income")
    for series in (PRINTED, REPAIRED):
        for h in mode.pick((300, *HS), (300,)):
            yield _case(mode, run, series, diffmulti(series, h, utility), FEW_SEEDS, h=h)
    for h in mode.pick(DIFFGEN_HS, (5,)):
        yield _case(mode, run, "DiffGen", DiffGen(epsilon=1.0, h=h), FEW_SEEDS, h=h)


def _figure_7(mode: Mode) -> Iterator[Case]:
    run = partial(learned, table="income", learner="c4.5", share=1 / 3)
    for series in mode.pick((PRINTED, REPAIRED, BEST), (PRINTED, REPAIRED)):
        for h in mode.pick((300, 900, 1_500), (900,)):
            for epsilon in mode.pick(EPSILONS, (0.1, 1.0)):
                method = diffmulti(series, h, epsilon=epsilon)
                yield _case(mode, run, series, method, FEW_SEEDS, h=h, epsilon=epsilon)


def _figure_8(mode: Mode) -> Iterator[Case]:
    run = partial(learned, table="income", learner="c4.5", share=1 / 3)
    for series in mode.pick((PRINTED, REPAIRED, BEST), (PRINTED, REPAIRED)):
        for h in mode.pick((*HS, *BEYOND), (1_000,)):
            yield _case(mode, run, series, diffmulti(series, h), SEEDS, h=h)
    for h in mode.pick(DIFFGEN_HS, (10,)):
        yield _case(mode, run, "DiffGen", DiffGen(epsilon=1.0, h=h), SEEDS, h=h)
    yield _case(mode, run, "Mondrian, k = 60", Mondrian(k=60, cut="median"), SEEDS, h=1_000)


def _figure_9(mode: Mode) -> Iterator[Case]:
    run = partial(learned, table="income-4", learner="id3", share=1 / 3)
    for epsilon in mode.pick(EPSILONS, (1.0,)):
        for series in (PRINTED, REPAIRED):
            yield _case(mode, run, series, diffmulti(series, 1_000, epsilon=epsilon), SEEDS, epsilon=epsilon)
        yield _case(mode, run, "DPCube", DPCube(epsilon=epsilon), SEEDS, epsilon=epsilon)


def _figure_10(mode: Mode) -> Iterator[Case]:
    run = partial(learned, table="income", learner="svm", share=1 / 5)
    for epsilon in mode.pick(EPSILONS, (1.0,)):
        for series in mode.pick((PRINTED, REPAIRED, BEST), (REPAIRED,)):
            yield _case(mode, run, series, diffmulti(series, 10_000, epsilon=epsilon), FEW_SEEDS, epsilon=epsilon)
        yield _case(mode, run, "PrivBayes", PrivBayes(epsilon=epsilon), FEW_SEEDS, epsilon=epsilon)


def _rps(mode: Mode) -> Iterator[Case]:
    methods: dict[str, Method] = {series: diffmulti(series, 1_000) for series in (PRINTED, REPAIRED, BEST)}
    methods |= {"RPS": RPS(epsilon=1.0), "DiffGen": DiffGen(epsilon=1.0)}
    for series, method in methods.items():
        yield _case(mode, partial(validated, table="income-11"), series, method, SEEDS, method=series)


def _figure_11(mode: Mode) -> Iterator[Case]:
    run = partial(matched, table="income-11")
    for utility, words in (("max", "ClusterMP"), ("dm", "DistortMP")):
        for series in mode.pick((PRINTED, REPAIRED), (REPAIRED,)):
            for h in mode.pick((1_000, 3_000, 5_000, 7_000), (1_000,)):
                method = diffmulti(series, h, utility)  # type: ignore[arg-type]
                yield _case(mode, run, f"{words}, {series}", method, FEW_SEEDS, h=h)


def _figure_12(mode: Mode) -> Iterator[Case]:
    run = partial(timed, table="income")
    for series in (PRINTED, REPAIRED):
        for h in mode.pick((10_000, 30_000, 100_000), (1_000,)):
            yield _case(mode, run, series, diffmulti(series, h), FEW_SEEDS, h=h)
    for h in mode.pick(DIFFGEN_HS, (5,)):
        yield _case(mode, run, "DiffGen", DiffGen(epsilon=1.0, h=h), FEW_SEEDS, h=h)
    yield _case(mode, run, "Mondrian", Mondrian(k=60, cut="median"), FEW_SEEDS, h=60)
    yield _case(mode, run, "PrivBayes", PrivBayes(epsilon=1.0), FEW_SEEDS, h=1)


def _figure_13(mode: Mode) -> Iterator[Case]:
    for factor in mode.pick((5, 9, 14, 18, 22), (2,)):
        for series in (PRINTED, REPAIRED):
            run = partial(timed, table="income", factor=factor)
            yield _case(mode, run, series, diffmulti(series, 10_000), 1, factor=factor)


EXPERIMENTS = (
    *examples.EXPERIMENTS,
    Experiment(
        name="figure-5",
        title="Figure 5: discernibility penalty",
        shows="DM of what is published by h, DiffMulti cutting for DM, against DiffGen, at ε = 1 on 14 attributes.",
        needs=NEEDS,
        cases=partial(_distortion, "dm"),
        panels=panels.FIGURE_5,
    ),
    Experiment(
        name="figure-6",
        title="Figure 6: certainty penalty",
        shows="NCP of what is published by h, DiffMulti cutting for NCP, against DiffGen.",
        needs=NEEDS,
        cases=partial(_distortion, "ncp"),
        panels=panels.FIGURE_6,
    ),
    Experiment(
        name="figure-7",
        title="Figure 7: accuracy by ε",
        shows="Accuracy of C4.5 by ε and h, two thirds of the rows being published.",
        needs=NEEDS,
        cases=_figure_7,
        panels=panels.FIGURE_7,
    ),
    Experiment(
        name="figure-8",
        title="Figure 8: accuracy by h",
        shows="Accuracy of C4.5 for DiffMulti, DiffGen and Mondrian at ε = 1, with the specializations really made.",
        needs=NEEDS,
        cases=_figure_8,
        panels=panels.FIGURE_8,
    ),
    Experiment(
        name="figure-9",
        title="Figure 9: DPCube",
        shows="Accuracy of ID3 on workclass, marital-status, race and sex.",
        needs=NEEDS,
        cases=_figure_9,
        panels=panels.FIGURE_9,
    ),
    Experiment(
        name="figure-10",
        title="Figure 10: PrivBayes",
        shows="Accuracy of a linear SVM with h = 10,000, four fifths of the rows being published.",
        needs=NEEDS,
        cases=_figure_10,
        panels=panels.FIGURE_10,
    ),
    Experiment(
        name="rps",
        title="Section 5.1: RPS",
        shows="Five-fold accuracy of C4.5 on 30,162 rows and eleven attributes at ε = 1 and h = 1,000.",
        needs=NEEDS,
        cases=_rps,
        panels=panels.RPS_TABLE,
    ),
    Experiment(
        name="figure-11",
        title="Figure 11: clustering",
        shows="Match Point of two clusters where cuts follow the clusters (Max) and where they follow DM.",
        needs=NEEDS,
        cases=_figure_11,
        panels=panels.FIGURE_11,
    ),
    Experiment(
        name="figure-12",
        title="Figure 12: seconds by h",
        shows="Processor time of publishing 45,222 rows, without reading and writing.",
        needs=NEEDS,
        cases=_figure_12,
        panels=panels.FIGURE_12,
    ),
    Experiment(
        name="figure-13",
        title="Figure 13: seconds by rows",
        shows="Processor time of publishing Adult with up to 21 partly random copies of each record, h = 10,000.",
        needs=NEEDS,
        cases=_figure_13,
        panels=panels.FIGURE_13,
    ),
)
