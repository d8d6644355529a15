"""What alhussaeni2018 measures of a release: accuracies, penalties, clusters and seconds."""

import math
import time
from functools import cache
from pathlib import Path

import numpy as np

from sfumato.data import Table
from sfumato.measures.workloads.clustering import MatchPoint, cluster_labels
from sfumato.measures.workloads.holdout import cross_validate, hold_out
from sfumato.measures.workloads.information_loss import discernibility
from sfumato.measures.workloads.learners import Learner
from sfumato.measures.workloads.learning import Learning
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method
from sfumato.release import Release
from sfumato.reproduce.alhussaeni2018.printed import PrintedDiffMulti
from sfumato.reproduce.data import Data
from sfumato.streams import stream


@cache
def _split(folder: Path, quick: bool, table: str, share: float, seed: int) -> tuple[Table, Table]:
    """The rows to publish and those to test on, the same for all methods."""
    return hold_out(Data(folder=folder, quick=quick).table(table), share, seed)


def specializations(method: Method, table: Table, release: Release, seed: int) -> float:
    """How many specializations were made: the printed algorithm grows the same tree again, others tell."""
    if isinstance(method, PrintedDiffMulti):
        return method.grow(table, SimulatedSource(seed)).specializations
    return float(getattr(release.provenance, "made", {}).get("specializations", math.nan))


def learned(data: Data, seed: int, *, table: str, method: Method, learner: Learner, share: float) -> dict[str, float]:
    """Accuracy on held-out records: generalized as in the paper, and as they are."""
    train, test = _split(data.folder, data.quick, table, share, seed)
    release = method.publish(train, SimulatedSource(seed))
    found = Learning(learner=learner, presentation="generalized").accuracy(train, release, test)
    rows = Learning(learner=learner, presentation="drawn").accuracy(train, release, test)
    return {
        "accuracy": found.release,
        "accuracy_rows": rows.release,
        "lower_bound": found.lower,
        "baseline": found.baseline,
        "leaves": len(release.histograms),
        "specializations": specializations(method, train, release, seed),
    }


def validated(data: Data, seed: int, *, table: str, method: Method) -> dict[str, float]:
    """Five-fold accuracy of C4.5, test records generalized and as they are."""
    rows = data.table(table)
    found, plain = (
        cross_validate(rows, method, Learning(presentation=shown), noise=seed).mean
        for shown in ("generalized", "drawn")
    )
    return {
        "accuracy": found.release,
        "accuracy_rows": plain.release,
        "lower_bound": found.lower,
        "baseline": found.baseline,
    }


def distorted(data: Data, seed: int, *, table: str, method: Method) -> dict[str, float]:
    """DM and NCP of the published counts."""
    rows = data.table(table)
    release = method.publish(rows, SimulatedSource(seed))
    unit = np.array([max(axis.positions - 1, 1) for axis in rows.schema.quasi])
    widths = ((release.boxes.widths - 1) / unit).mean(axis=1)
    return {
        "dm": discernibility(rows, release),
        "ncp": float(np.average(widths, weights=release.weights)),
        "specializations": specializations(method, rows, release, seed),
    }


def matched(data: Data, seed: int, *, table: str, method: Method) -> dict[str, float]:
    """Match Point of two clusters, the raw cluster being the class: with true counts of the boxes, and published."""
    rows = _labelled(data.folder, data.quick, table)
    release = method.publish(rows, SimulatedSource(seed))
    return {
        "match_point": MatchPoint(counts="true").run(rows, release)["match_point"],
        "match_point_noisy": MatchPoint(counts="published").run(rows, release)["match_point"],
        "specializations": specializations(method, rows, release, seed),
    }


@cache
def _labelled(folder: Path, quick: bool, table: str) -> Table:
    return cluster_labels(Data(folder=folder, quick=quick).table(table))


def timed(data: Data, seed: int, *, table: str, method: Method, factor: int = 1) -> dict[str, float]:
    """Processor seconds of publishing, without reading and writing, after a run that compiles."""
    rows = _enlarged(data.folder, data.quick, table, factor)
    method.publish(data.table(table, 500), SimulatedSource(seed))
    started = time.process_time()
    release = method.publish(rows, SimulatedSource(seed))
    seconds = time.process_time() - started
    made = specializations(method, rows, release, seed)
    return {"seconds": seconds, "rows": rows.n, "specializations": made}


@cache
def _enlarged(folder: Path, quick: bool, table: str, factor: int) -> Table:
    """The table with factor − 1 more copies of each record, of which some values are drawn from their domains."""
    rows = Data(folder=folder, quick=quick).table(table)
    if factor == 1:
        return rows
    generator = stream("copies", factor)
    codes = np.column_stack([rows.points[rows.cell_point], rows.cell_value]).repeat(rows.cell_weight, axis=0)
    copies = np.tile(codes, (factor - 1, 1))
    for column, axis in enumerate(rows.schema.quasi):
        drawn = generator.random(len(copies)) < RANDOM_SHARE
        copies[drawn, column] = generator.integers(0, axis.size, int(drawn.sum()))
    cells, weight = np.unique(np.vstack([codes, copies]), axis=0, return_counts=True)
    points, point = np.unique(cells[:, :-1], axis=0, return_inverse=True)
    return Table(
        schema=rows.schema,
        points=points.astype(np.int32),
        cell_point=point.reshape(-1),
        cell_value=cells[:, -1].astype(np.int32),
        cell_weight=weight,
    )


RANDOM_SHARE = 0.3
"""Of the values of a copied record; the paper says some."""
