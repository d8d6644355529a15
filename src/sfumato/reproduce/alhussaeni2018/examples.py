"""The tables and worked examples of alhussaeni2018, and whether its algorithm keeps its promise."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from sfumato.reproduce.alhussaeni2018.leak import told
from sfumato.reproduce.alhussaeni2018.measuring import learned
from sfumato.reproduce.alhussaeni2018.printed import PrintedDiffMulti, height_of, longest_path, share_out
from sfumato.reproduce.data import Data
from sfumato.reproduce.experiment import Case, Experiment, Mode
from sfumato.streams import stream

EXACT = math.inf
"""A price at which counts have no noise."""
SEEDS = 5


def table(data: Data, seed: int) -> dict[str, float]:
    """Adult in numbers, and how many specializations its taxonomies allow: by value, and by region (Equation 14)."""
    rows = data.table("income")
    trees = [axis.taxonomy for axis in rows.schema.quasi if axis.kind == "categorical"]
    leaves = [sum(node.is_leaf for node in tree.walk()) for tree in trees]
    inner = [sum(not node.is_leaf for node in tree.walk()) - 1 for tree in trees]
    regions, most = 1, 0
    for below, between in zip(leaves, inner, strict=True):
        most += regions * (1 + between)
        regions *= below
    return {
        "rows": rows.n,
        "numeric": sum(axis.kind == "numeric" for axis in rows.schema.quasi),
        "categorical": len(trees),
        "heights": sum(map(height_of, trees)),
        "longest_path": longest_path(rows.schema.quasi),
        "by_value": sum(inner) + len(trees),
        "by_region": most,
    }


def shared(data: Data, seed: int) -> dict[str, float]:
    """Example 4.4: twenty specializations for parts of 8 and 2 of 10 records."""
    parts = share_out(
        np.array([20]), np.zeros(2, dtype=np.int64), np.array([8, 2]), np.array([10]), EXACT, stream("shares", seed)
    )
    return {"dense": int(parts[0]), "sparse": int(parts[1])}


def _table(mode: Mode) -> Iterator[Case]:
    yield Case(series="Adult", setting={}, run=table)
    yield Case(series="Example 4.4", setting={}, run=shared)


def _leak(mode: Mode) -> Iterator[Case]:
    for with_one in (False, True):
        run = partial(told, with_one=with_one, runs=mode.pick(400, 40))
        yield Case(series="with one person more" if with_one else "without", setting={}, run=run)


def _heights(mode: Mode) -> Iterator[Case]:
    for height in mode.pick((3, 7, 12), (7,)):
        method = PrintedDiffMulti(epsilon=1.0, h=1_000, numeric_height=height)
        run = partial(learned, table="income", learner="c4.5", share=1 / 3, method=method)
        yield Case(series="as printed", setting={"height": height}, run=run, seeds=mode.seeds(SEEDS))


EXPERIMENTS = (
    Experiment(
        name="table-2",
        title="Table II, Example 4.4 and Equation 14",
        shows="Adult in numbers, the heights of its taxonomies, and how many specializations there could be.",
        needs=("adult",),
        cases=_table,
    ),
    Experiment(
        name="privacy",
        title="Section 4.4: is Algorithm 1 differentially private?",
        shows="How often the printed algorithm publishes boxes that are impossible without one person.",
        needs=(),
        cases=_leak,
    ),
    Experiment(
        name="heights",
        title="Section 5: the height that numbers are taken to have",
        shows="Accuracy of C4.5 for three assumed heights of numeric taxonomies, at h = 1,000 and ε = 1.",
        needs=("adult",),
        cases=_heights,
    ),
)
