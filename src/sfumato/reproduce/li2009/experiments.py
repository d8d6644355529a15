"""Figures 2 and 3 of li2009, its Table 1 and its interpretation of losses, on Adult.

Mondrian cuts the widest attribute at its median, as published in 2006; the cut with the least information loss is a
reading of its own, because the text names the algorithm and not the rule.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from sfumato.measures.attacks.belief import BeliefShift, revealed_shift
from sfumato.measures.workloads.large_populations import LargePopulations
from sfumato.methods import FullSuppression, Method, Mondrian, Original
from sfumato.methods.partition.decide import Cut
from sfumato.privacy.requirements import DistinctLDiversity, EntropyLDiversity
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import Case, Experiment, Mode
from sfumato.reproduce.li2009.panels import (
    FIGURE_2A,
    FIGURE_2A_READINGS,
    FIGURE_2B,
    FIGURE_3A,
    FIGURE_3B,
    FIGURE_3C,
    INTERPRETATION,
)
from sfumato.reproduce.queries import OF_DOMAIN, SELECTIVITIES, conjunctions, selectivity_of

TABLE = "occupation"
ALL = 1_000_000
"""More populations than there are: the paper looks at all large ones."""
REQUIREMENTS: dict[str, tuple[str, tuple[float, ...]]] = {
    "k-anonymity": ("k", (10, 50, 100, 200, 500, 1000, 2000, 5000)),
    "ℓ-diversity": ("l", (3, 3.5, 4, 4.25, 4.5, 4.75, 5, 5.5)),
    "t-closeness": ("t", (0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)),
    "semantic privacy": ("delta", (1, 1.2, 1.4, 1.5, 1.7, 1.9, 2, 2.1)),
}
SMALL_DELTAS = (0.25, 0.5, 0.75, 0.9, 0.99)
SELECTIVITY, DIMENSIONS, QUERIES = 0.05, 4, 1_000
QUERY_SEEDS = 3
CUTS: tuple[Cut, ...] = ("median", "ncp")


def mondrian(parameter: str, value: float, **more: Any) -> Mondrian:
    """Mondrian under one requirement; t bounds the Jensen-Shannon divergence."""
    distance = {"distance": "jensen-shannon"} if parameter == "t" else {}
    number = int(value) if parameter == "k" else value
    return Mondrian(**{parameter: number, **distance, **more})


def losses(data: Data, seed: int, *, method: Method) -> dict[str, float]:
    """P_loss and U_loss of a release, and what its classes are like."""
    table = data.table(TABLE)
    release = method.publish(table)
    found = BeliefShift().run(table, release)
    counts = release.histograms
    return {
        "p_loss": found["p_loss"],
        "mean_p_loss": found["mean_p_loss"],
        "u_loss": LargePopulations(most=ALL).run(table, release)["u_loss"],
        "classes": len(counts),
        "smallest_class": counts.sum(axis=1).min(),
        "largest_share": (counts.max(axis=1) / counts.sum(axis=1)).max(),
        "without_some_value": float((counts[:, table.overall > 0] == 0).any(axis=1).mean()),
        "rarest_share": float((counts[:, _rarest(table.overall)] / counts.sum(axis=1)).min()),
    }


def _rarest(overall: np.ndarray) -> int:
    return int(np.where(overall > 0, overall, overall.max() + 1).argmin())


def query_error(
    data: Data, seed: int, *, method: Method, reading: str, dimensions: int, selectivity: float
) -> dict[str, float]:
    """The mean relative error of a thousand conjunctive counts, and what they are about."""
    table = data.table(TABLE)
    release = method.publish(table)
    queries = conjunctions(table, reading, seed, QUERIES, dimensions=dimensions, selectivity=selectivity)
    return {
        "error": float(queries.relative_errors(release).mean()),
        "people": selectivity_of(table, queries),
        "p_loss": BeliefShift().run(table, release)["p_loss"],
        "u_loss": LargePopulations(most=ALL).run(table, release)["u_loss"],
    }


def swept(mode: Mode) -> Iterator[tuple[str, str, float]]:
    """Every requirement at each of its values."""
    for name, (parameter, values) in REQUIREMENTS.items():
        for value in mode.pick(values, (values[0], values[3], values[-1])):
            yield name, parameter, value


def _attributes(mode: Mode) -> Iterator[Case]:
    for name in ("age", "workclass", "education", "marital-status", "race", "sex", "occupation"):
        yield Case(series=name, setting={"attribute": name}, run=partial(attribute, name=name))


def attribute(data: Data, seed: int, *, name: str) -> dict[str, float]:
    """How many values an attribute has, declared and occurring, and how many rows there are."""
    table = data.table(TABLE)
    place = [axis.name for axis in table.schema.axes].index(name)
    codes = np.column_stack([table.points[table.cell_point], table.cell_value])[:, place]
    return {"declared": table.schema.axes[place].size, "occurring": len(np.unique(codes)), "rows": table.n}


def _interpretation(mode: Mode) -> Iterator[Case]:
    for rank in range(14):
        yield Case(series="a value revealed", setting={"rank": rank + 1}, run=partial(revealed, rank=rank))
    for name, method in (("all suppressed", FullSuppression()), ("original table", Original())):
        yield Case(series=name, setting={"rank": 0}, run=partial(losses, method=method))


def revealed(data: Data, seed: int, *, rank: int) -> dict[str, float]:
    """The share of the occupation of a rank, the commonest first, and the belief shift of revealing it."""
    overall = data.table(TABLE).overall
    order = np.argsort(-overall, kind="stable")
    value = order[min(rank, int(np.count_nonzero(overall)) - 1)]
    return {"share": overall[value] / overall.sum(), "p_loss": float(revealed_shift(overall)[value])}


def _figure_2a(mode: Mode) -> Iterator[Case]:
    for cut in mode.pick(CUTS, CUTS[:1]):
        for name, parameter, value in swept(mode):
            method = mondrian(parameter, value, cut=cut)
            yield Case(series=name, setting={"cut": cut, parameter: value}, run=partial(losses, method=method))
    for value in mode.pick(SMALL_DELTAS, SMALL_DELTAS[1:2]):
        for cut in mode.pick(CUTS, CUTS[:1]):
            method = Mondrian(delta=value, cut=cut)
            yield Case(series="δ below 1", setting={"cut": cut, "delta": value}, run=partial(losses, method=method))


def _readings(mode: Mode) -> Iterator[Case]:
    """What ℓ and t could mean beside what section 2.2 and section 5.1 say."""
    for l in mode.pick((2, 3, 4, 5, 6, 8, 10), (3, 6)):
        for name, kind in (("distinct ℓ", DistinctLDiversity), ("entropy ℓ", EntropyLDiversity)):
            method = Mondrian(requirements=(kind(l=l),), cut="median")
            yield Case(series=name, setting={"cut": "median", "l": l}, run=partial(losses, method=method))
    for t in mode.pick((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0.2, 0.4)):
        for distance in ("equal", "hierarchical"):
            method = Mondrian(t=t, distance=distance, cut="median")
            yield Case(
                series=f"t, {distance} EMD", setting={"cut": "median", "t": t}, run=partial(losses, method=method)
            )


def _figure_2b(mode: Mode) -> Iterator[Case]:
    for name, parameter, value in swept(mode):
        if parameter in ("l", "t"):
            for recoding in ("generalize", "bucketize"):
                method = mondrian(parameter, value, cut="median", recoding=recoding)
                yield Case(
                    series=f"{name}, {recoding}d",
                    setting={"requirement": name, "recoding": recoding, parameter: value},
                    run=partial(losses, method=method),
                )


def _figure_3a(mode: Mode) -> Iterator[Case]:
    for name, parameter, value in swept(mode):
        for recoding in mode.pick(("bucketize", "generalize"), ("bucketize",)):
            method = mondrian(parameter, value, cut="median", recoding=recoding)
            yield _asked(mode, name, method, {"recoding": recoding, parameter: value})


def _figure_3b(mode: Mode) -> Iterator[Case]:
    for share in mode.pick((0.02, 0.05, 0.1, 0.2), (0.05, 0.2)):
        for t in _some_t(mode):
            yield _asked(mode, f"sel = {share:g}", _bucketized(t), {"t": t, "sel": share}, selectivity=share)


def _figure_3c(mode: Mode) -> Iterator[Case]:
    for reading in mode.pick(SELECTIVITIES, SELECTIVITIES[:2]):
        for dimensions in mode.pick((2, 3, 4, 5, 6), (2, 6)):
            for t in _some_t(mode):
                setting = {"t": t, "qd": dimensions, "reading": reading}
                about = {"reading": reading, "dimensions": dimensions}
                yield _asked(mode, f"qd = {dimensions}", _bucketized(t), setting, **about)


def _some_t(mode: Mode) -> tuple[float, ...]:
    return mode.pick((0.075, 0.15, 0.25, 0.4), (0.15,))


def _bucketized(t: float) -> Mondrian:
    return mondrian("t", t, cut="median", recoding="bucketize")


def _asked(mode: Mode, series: str, method: Method, setting: dict[str, Any], **about: Any) -> Case:
    asked: dict[str, Any] = {"reading": OF_DOMAIN, "dimensions": DIMENSIONS, "selectivity": SELECTIVITY} | about
    run = partial(query_error, method=method, **asked)
    return Case(series=series, setting=setting, run=run, seeds=mode.seeds(QUERY_SEEDS))


NEEDS = ("adult",)
EXPERIMENTS = (
    Experiment(
        name="table-1",
        title="Table 1: the attributes",
        shows="How many values each attribute has, declared in the hierarchies and occurring in the rows.",
        needs=NEEDS,
        cases=_attributes,
    ),
    Experiment(
        name="interpretation",
        title="Section 5.1: what a loss means",
        shows="The belief shift of a person whose occupation is revealed, for each occupation from the commonest to "
        "the rarest, and the losses at the two ends: everything suppressed, and the table as it is.",
        needs=NEEDS,
        cases=_interpretation,
        panels=INTERPRETATION,
    ),
    Experiment(
        name="figure-2a",
        title="Figure 2(a): privacy requirements",
        shows="Utility loss against privacy loss for four requirements at eight values each, generalized by Mondrian.",
        needs=NEEDS,
        cases=_figure_2a,
        panels=FIGURE_2A,
    ),
    Experiment(
        name="figure-2a-readings",
        title="Figure 2(a), other readings of ℓ and t",
        shows="The same for distinct and entropy ℓ-diversity, and for t as an earth mover's distance.",
        needs=NEEDS,
        cases=_readings,
        panels=FIGURE_2A_READINGS,
    ),
    Experiment(
        name="figure-2b",
        title="Figure 2(b): generalization and bucketization",
        shows="The same partitions published as generalized rows and as buckets with exact quasi-identifiers.",
        needs=NEEDS,
        cases=_figure_2b,
        panels=FIGURE_2B,
    ),
    Experiment(
        name="figure-3a",
        title="Figure 3(a): counts under four requirements",
        shows="The mean relative error of 1,000 counts with four conditions against privacy loss.",
        needs=NEEDS,
        cases=_figure_3a,
        panels=FIGURE_3A,
    ),
    Experiment(
        name="figure-3b",
        title="Figure 3(b): counts by selectivity",
        shows="The same for t-closeness and buckets, with conditions that select more or less of the domain.",
        needs=NEEDS,
        cases=_figure_3b,
        panels=FIGURE_3B,
    ),
    Experiment(
        name="figure-3c",
        title="Figure 3(c): counts by number of conditions",
        shows="The same with more or fewer conditions at the same selectivity, in three readings of that word.",
        needs=NEEDS,
        cases=_figure_3c,
        panels=FIGURE_3C,
    ),
)
