"""Figures on Adult under differential privacy that the design promises; all of them, over ten seeds: `make bench`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measures.attacks.naive_bayes import NaiveBayes
from sfumato.measures.workloads import HalfDomainCounts
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.trials.dominance import efficient

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.methods import Method

HEIGHT = 14


@pytest.fixture(scope="module")
def table(data_folder: Path) -> sf.Table:
    """The 30,162 rows with cormode2013's quasi-identifiers."""
    columns: dict[str, dict[str, Any]] = {
        name: {"role": "quasi", "kind": "categorical", "hierarchy": f"hierarchies/{name}.csv"}
        for name in ("workclass", "education", "sex")
    }
    columns["hours-per-week"] = {"role": "quasi", "kind": "numeric", "min": 1, "max": 99}
    columns["income"] = {"role": "quasi", "kind": "categorical", "values": ["<=50K", ">50K"]}
    columns["occupation"] = {"role": "sensitive", "kind": "categorical", "hierarchy": "hierarchies/occupation.csv"}
    frame = pl.read_csv(data_folder / "adult" / "adult.csv", infer_schema=False).head(30_162)
    return sf.read(frame, sf.Schema.parse({"name": "adult", "columns": columns}, data_folder / "adult"))


def figures(table: sf.Table, method: Method, seeds: int) -> tuple[float, float]:
    """Mean query error and mean breach over seeds."""
    errors, breaches = [], []
    for seed in range(seeds):
        release = method.publish(table, SimulatedSource(seed))
        errors.append(HalfDomainCounts().run(table, release)["query_error"])
        breaches.append(NaiveBayes().run(table, release)["breach"])
    return float(np.mean(errors)), float(np.mean(breaches))


def test_marginals_answer_half_domain_counts_within_three_percent(table: sf.Table) -> None:
    """2.2% over ten seeds, 2.5% at worst."""
    assert figures(table, sf.Marginals(epsilon=1.0), 10)[0] <= 0.03


def test_cormode2013_the_kd_tree_says_little_at_a_hundredth_and_nearly_all_at_ten(table: sf.Table) -> None:
    """The paper prints an error of about 100% and of almost none; here they are 70% and 3% over ten seeds."""
    error, breach = figures(table, sf.KDTree(epsilon=0.01, height=HEIGHT), 3)
    assert error > 0.5
    assert breach <= 0
    assert figures(table, sf.KDTree(epsilon=10.0, height=HEIGHT), 3)[0] < 0.05


def test_cormode2013_half_domain_queries_are_about_as_many_people_as_the_paper_says(data_folder: Path) -> None:
    """It prints a median of 13% on Adult; so it is with categories in alphabetical order, not with strict halves."""
    frame = pl.read_csv(data_folder / "adult" / "adult.csv", infer_schema=False).head(30_162)
    names = ("workclass", "education", "sex", "hours-per-week", "income", "occupation")
    columns: dict[str, dict[str, Any]] = {
        name: {"role": "quasi", "kind": "categorical", "values": sorted(frame[name].unique())} for name in names
    }
    columns["hours-per-week"] = {"role": "quasi", "kind": "numeric", "min": 1, "max": 99}
    columns["occupation"]["role"] = "sensitive"
    alphabetical = sf.read(frame, sf.Schema.parse({"name": "adult", "columns": columns}))
    strict = HalfDomainCounts(ranges="strict", conditions=6, support=0)
    shares = [np.median(workload.queries(alphabetical).truth) / 30_162 for workload in (HalfDomainCounts(), strict)]
    assert 0.12 < shares[0] < 0.14
    assert shares[1] < 0.02


def test_cormode2013_the_private_end_of_the_frontier_is_differentially_private(table: sf.Table) -> None:
    private = [sf.KDTree(epsilon=epsilon, height=HEIGHT) for epsilon in (0.01, 0.03, 0.1)]
    syntactic = [sf.Mondrian(k=8, t=t) for t in (0.1, 0.2, 0.3)] + [sf.Mondrian(k=1024), sf.Mondrian(k=8, l=5)]
    found = [figures(table, method, 8 if method.randomized else 1) for method in (*private, *syntactic)]
    errors, breaches = (np.array(column) for column in zip(*found, strict=True))
    best = efficient(breaches, errors)
    assert best[: len(private)].all()
    assert not best[len(private) :][breaches[len(private) :] < 0.4].any()
