"""Choosing on a pilot: how much utility the pick loses against the best setting in hindsight.

A share of ε buys a synthetic table, every setting is tried on it at the rest of ε, and the one with the least U_loss is
picked; what it loses on the real rows is compared with the best of all settings there, with a fixed default, and with
choosing on the real rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import sfumato as sf
from benchmarks import adult
from benchmarks.timing import Result
from sfumato.measures.workloads import LargePopulations
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.trials.pilot import SHARE, made_up_table

if TYPE_CHECKING:
    from sfumato.methods import DPMethod

RUNS = 50
SEEDS = (101, 102, 103)
WITHIN = 1.15
ASKED = 0.8
CENSUS = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "EDU")


def pilots(peers: str) -> list[Result]:
    """Adult and the Census excerpt at ε = 1 and 3."""
    return [
        _contest(name, table, epsilon)
        for name, table in (("Adult", _adult()), ("census", _census()))
        for epsilon in (1.0, 3.0)
    ]


def _adult() -> sf.Table:
    return sf.read(adult.rows(adult.TRAINING_ROWS), adult.schema())


def _census() -> sf.Table:
    """Six quasi-identifiers and the decile of income."""
    rows = pl.read_csv(adult.data_folder() / "census" / "national2019.csv", infer_schema_length=0)
    columns: dict[str, dict[str, object]] = {}
    for name in (*CENSUS, "PINCP_DECILE"):
        values = sorted(set(rows[name]) - {"N"}, key=lambda value: (len(value), value))
        columns[name] = {"role": "quasi", "kind": "categorical", "values": values, "nullable": True}
    columns["AGEP"] = {"role": "quasi", "kind": "numeric", "min": 0, "max": 99}
    columns["PINCP_DECILE"]["role"] = "sensitive"
    return sf.read(rows.select(list(columns)), {"name": "census", "missing": ["N"], "columns": columns})


def _settings(epsilon: float) -> list[DPMethod]:
    kinds = (sf.QuadTree, sf.KDTree, sf.HybridTree, sf.PrivTree, sf.RPS, sf.DPCube, sf.PrivBayes, sf.Marginals)
    return [kind(epsilon=epsilon) for kind in kinds] + [
        sf.DiffMulti(epsilon=epsilon, h=300, utility="dm"),
        sf.DiffMulti(epsilon=epsilon, h=300, utility="purity"),
        sf.DiffGen(epsilon=epsilon),
    ]


def _losses(table: sf.Table, settings: list[DPMethod], seeds: tuple[int, ...]) -> np.ndarray:
    measure = LargePopulations()
    return np.array(
        [
            np.mean([measure.run(table, one.publish(table, SimulatedSource(seed)))["u_loss"] for seed in seeds])
            for one in settings
        ]
    )


def _contest(name: str, table: sf.Table, epsilon: float) -> Result:
    rest, part = _settings(epsilon * (1 - SHARE)), sf.PrivBayes(epsilon=epsilon * SHARE)
    real = _losses(table, rest, SEEDS)
    picks = []
    for run in range(RUNS):
        pilot = made_up_table(part.publish(table, SimulatedSource(1_000 + run)))
        picks.append(real[_losses(pilot, rest, (run,)).argmin()] / real.min())
    near = float(np.mean(np.array(picks) <= WITHIN))
    whole = _losses(table, _settings(epsilon), SEEDS)
    default = real[[type(one) for one in rest].index(sf.PrivBayes)] / real.min()
    got = (
        f"{near:.0%} of {RUNS} picks; median {np.median(picks):.2f} times the best, a fixed default {default:.2f}, "
        f"choosing on the rows with all of ε, uncovered, {whole.min() / real.min():.2f}"
    )
    return Result(
        f"picks on a pilot within 15% of the best, {name}, ε = {epsilon:g}", f"{ASKED:.0%}", got, near >= ASKED
    )
