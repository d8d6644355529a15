"""Private synthesis beside dpmm's AIM and MST, and OpenDP's AIM: how far tables, counts and learners are off, and time.

Every program sees the same seven tenths of the rows, axes in at most 64 even steps. Shares of one, two and three
columns are compared with those rows, as are counts of random ranges and subsets; a linear SVM and a tree are trained on
synthetic rows and asked about the others. All run five times at three ε, which takes peers more than a day: how each
of their runs came out stands in `peers/made.json`, from which a comparison that was cut short goes on. Without that
file all are run anew, and `PEER_RUNS=1 make bench ONLY=synthesis` is content with fewer of them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import sfumato as sf
from benchmarks import adult
from benchmarks.timing import Result
from sfumato.mechanisms.budget import Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods.models.rows import Columns
from sfumato.privacy.loss import Approximate, exact
from sfumato.reproduce.tables import adult_column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

PEERS = Path(__file__).parent / "peers"
DELTA = 1e-9
EPSILONS = (1.0, 0.1, 10.0)
SEEDS = 5
MADE = PEERS / "made.json"
ALONE = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "OMP_NUM_THREADS": "1"}
"""Peers compute in one thread: several wait for each other, and take five times the processor time."""
STEPS = 64
MAX_SETS = 150
QUERIES = 1_000
FIGURES = ("1-way", "2-way", "3-way", "ranges", "subsets", "svm", "tree")
HIGHER_IS_BETTER = ("svm", "tree")
ADULT_13 = (
    *("age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"),
    *("capital-gain", "capital-loss", "hours-per-week", "native-country"),
)
ADULT = {
    "Adult, 6 columns": (("workclass", "education", "sex", "hours-per-week", "income"), "occupation"),
    "Adult, 7 others": (("age", "marital-status", "relationship", "race", "capital-gain", "native-country"), "income"),
    "Adult, 11 columns": (tuple(name for name in ADULT_13 if not name.startswith("capital")), "income"),
    "Adult, 13 columns": (ADULT_13, "income"),
}
CENSUS_10 = ("AGEP", "SEX", "MSP", "HISP", "RAC1P", "NOC", "HOUSING_TYPE", "OWN_RENT", "EDU")
WIDE = {
    "AGEP": {"min": 0, "max": 99},
    "PINCP": {"min": -20_000, "max": 1_500_000, "width": 5_000},
    "DENSITY": {"min": 0, "max": 60_000, "width": 200},
    "PWGTP": {"min": 0, "max": 2_500, "width": 10},
    "WGTP": {"min": 0, "max": 2_500, "width": 10},
    "POVPIP": {"min": 0, "max": 501, "width": 2},
}
NOT_ASKED = "N"


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of codes, the column to predict last, with the number of codes of every column."""

    codes: NDArray[np.int64]
    sizes: list[int]

    def split(self) -> tuple[Rows, Rows]:
        """Seven tenths, and the others."""
        order = np.random.default_rng(5).permutation(len(self.codes))
        parts = np.split(self.codes[order], [len(order) * 7 // 10])
        return Rows(parts[0], self.sizes), Rows(parts[1], self.sizes)


def _pinned(package: str, file: str) -> str:
    """The version of a package that its environment has."""
    lines = (PEERS / file).read_text().splitlines()
    return next(line.partition("==")[2] for line in lines if line.startswith(package))


@dataclass(frozen=True)
class Peer:
    """A program that is compared with, and the budgets that it takes: (ε, δ), or pure ε as well."""

    title: str
    version: str
    script: str
    kind: str
    pure: bool = False
    charged_in_rho: bool = False


DPMM = tuple(
    Peer(f"dpmm's {kind}", _pinned("dpmm", "private.txt"), "dpmm_synthesis.py", kind.lower()) for kind in ("AIM", "MST")
)
OPENDP = (
    Peer(
        "OpenDP's AIM",
        _pinned("opendp", "requirements.txt"),
        "opendp_synthesis.py",
        "aim",
        pure=True,
        charged_in_rho=True,
    ),
)


def synthesis(peers: str) -> Iterator[Result]:
    """A line for every table, program and budget, beside dpmm's."""
    yield from _compare(peers, DPMM)


def opendp(peers: str) -> Iterator[Result]:
    """The same beside OpenDP's, under pure ε too."""
    yield from _compare(peers, OPENDP)


def _compare(python: str, peers: tuple[Peer, ...]) -> Iterator[Result]:
    """Ours must be ahead in nine of ten figures of all tables at ε = 1, each time in a tenth of the time."""
    ahead = compared = 0
    for epsilon in EPSILONS:
        for delta in (DELTA, None):
            for name, rows in tables():
                seen, others = rows.split()
                ours = [(figures(made, seen, others), seconds) for made, seconds in _ours(seen, epsilon, delta)]
                yield Result(f"{name}, Synthesis, {_budget(epsilon, delta)}", "", _told(ours), True)
                theirs = []
                for peer in peers:
                    if delta or peer.pure:
                        theirs.append(_runs_of(python, peer, epsilon, delta, name, seen, others))
                        yield Result(f"{name}, {peer.title}, {_budget(epsilon, delta)}", "", _told(theirs[-1]), True)
                if theirs and epsilon == 1:
                    result, wins = _beside(name, delta, ours, theirs)
                    ahead, compared = ahead + wins, compared + len(FIGURES)
                    yield result
        if epsilon == 1:
            share = f"{ahead} of {compared} figures, {ahead / compared:.0%}"
            yield Result("ahead of or equal to the best peer at ε = 1", "90%", share, ahead >= 0.9 * compared)


def tables() -> Iterator[tuple[str, Rows]]:
    """Four tables of Adult and two of the Census excerpt."""
    frame = adult.rows().cast(pl.String)
    for name, (quasi, target) in ADULT.items():
        spec = {column: adult_column(column, "quasi") for column in quasi} | {target: adult_column(target, "sensitive")}
        yield name, _rows(frame, sf.Schema.parse({"name": "adult", "columns": spec}, adult.folder()))
    census = pl.read_csv(adult.data_folder() / "census" / "national2019.csv", infer_schema=False)
    others = [name for name in census.columns if name not in ("PINCP_DECILE", "PUMA", "INDP")]
    for name, columns in (("Census, 10 columns", CENSUS_10), ("Census, 24 columns", ("PUMA", "INDP", *others))):
        yield name, _rows(census.with_columns(pl.col(columns).replace(NOT_ASKED, None)), _census(census, columns))


def _census(frame: pl.DataFrame, columns: tuple[str, ...]) -> sf.Schema:
    """Whoever was not asked has a missing value, of the decile of income one of its own: children have none."""
    spec: dict[str, Any] = {}
    for name in (*columns, "PINCP_DECILE"):
        values = sorted(frame[name].unique(), key=lambda text: (text == NOT_ASKED, len(text), text))
        sensitive = name == "PINCP_DECILE"
        asked = values if sensitive else [value for value in values if value != NOT_ASKED]
        kind = {"kind": "numeric", **WIDE[name]} if name in WIDE else {"kind": "categorical", "values": asked}
        role = "sensitive" if sensitive else "quasi"
        spec[name] = {"role": role, "nullable": len(asked) < len(values), **kind}
    return sf.Schema.parse({"name": "census", "columns": spec})


def _rows(frame: pl.DataFrame, schema: sf.Schema) -> Rows:
    columns = Columns.of(sf.read(frame, schema))
    sizes = [axis.positions for axis in columns.axes]
    codes = [
        np.repeat(np.asarray(column, dtype=np.int64) * min(size, STEPS) // size, columns.weights)
        for column, size in zip(columns.positions, sizes, strict=True)
    ]
    return Rows(np.column_stack(codes), [min(size, STEPS) for size in sizes])


@dataclass(frozen=True)
class Axis:
    """What a method sees of an axis."""

    name: str
    positions: int
    nullable: bool = False

    @property
    def size(self) -> int:
        return self.positions


Run = tuple[list[float], float]
"""The figures of one run of a program, and the processor seconds it took."""


def _beside(name: str, delta: float | None, ours: list[Run], theirs: list[list[Run]]) -> tuple[Result, int]:
    """In how many figures ours is as good as the best peer, within a standard error; it must be ten times as fast."""
    mean, error = _mean(ours)
    lost = []
    for place, figure in enumerate(FIGURES):
        sign = 1 if figure in HIGHER_IS_BETTER else -1
        rivals = [(runs_mean[place], runs_error[place]) for runs_mean, runs_error in map(_mean, theirs)]
        best, its_error = max(rivals, key=lambda rival: sign * rival[0])
        if sign * (mean[place] - best) < -math.hypot(error[place], its_error):
            lost.append(f"{figure} {mean[place]:.4f}, the best {best:.4f}")
    slowest = max(min(seconds for _, seconds in runs) for runs in theirs)
    took = min(seconds for _, seconds in ours)
    told = f"{len(FIGURES) - len(lost)} of {len(FIGURES)}; {slowest / took:.0f} times as fast"
    behind = f"; behind in {', '.join(lost)}" if lost else ""
    what = f"{name}, {_budget(1, delta)}: figures ahead of or equal to the best peer"
    return Result(what, "a tenth of its time", told + behind, took <= slowest / 10), len(FIGURES) - len(lost)


def _mean(runs: list[Run]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of each figure, and its standard error; of a single run that is not known."""
    found = np.array([figures for figures, _ in runs])
    error = found.std(axis=0, ddof=1) / math.sqrt(len(found)) if len(found) > 1 else np.zeros(found.shape[1])
    return found.mean(axis=0), error


def _budget(epsilon: float, delta: float | None) -> str:
    return f"({epsilon:g}, {delta:g})" if delta else f"{epsilon:g}"


def _ours(seen: Rows, epsilon: float, delta: float | None) -> Iterator[tuple[Rows, float]]:
    """Rows that Synthesis makes, and how long it takes."""
    method = sf.Synthesis(epsilon=epsilon, delta=delta)
    axes: Any = [Axis(str(number), size) for number, size in enumerate(seen.sizes)]
    columns = Columns(axes, list(seen.codes.T), np.ones(len(seen.codes), dtype=np.int64))
    for seed in range(SEEDS):
        started = time.process_time()
        made = method._sample(columns, Budget(method.total, SimulatedSource(seed))).rows
        yield Rows(made, seen.sizes), time.process_time() - started


def _runs_of(
    python: str, peer: Peer, epsilon: float, delta: float | None, table: str, seen: Rows, others: Rows
) -> list[Run]:
    """The same of a peer; a run that came out before, with these rows and this version, is not made again."""
    amount = float(_rho(epsilon)) if peer.charged_in_rho and delta else epsilon
    codes = hashlib.sha256(np.ascontiguousarray(seen.codes).tobytes()).hexdigest()[:12]
    found: list[Run] = []
    for run in range(int(os.environ.get("PEER_RUNS", SEEDS))):
        name = f"{peer.title} {peer.version}, {table}, {codes}, {_budget(epsilon, delta)}, run {run}"
        made = json.loads(MADE.read_text()) if MADE.exists() else {}
        if name not in made:
            rows, seconds = _run_peer(python, peer, amount, delta or 0.0, seen)
            made[name] = [*(round(figure, 6) for figure in figures(rows, seen, others)), round(seconds, 1)]
            MADE.write_text(json.dumps(dict(sorted(made.items())), indent=1, ensure_ascii=False) + "\n")
        *compared, seconds = made[name]
        found.append((compared, seconds))
    return found


def _rho(epsilon: float) -> Fraction:
    return Approximate(exact(epsilon), exact(DELTA, "delta")).concentrated().rho


def _run_peer(python: str, peer: Peer, amount: float, delta: float, seen: Rows) -> tuple[Rows, float]:
    """Rows that it makes, and the processor seconds that it says it took."""
    names = [str(number) for number in range(len(seen.sizes))]
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "codes.csv", Path(folder) / "made.csv"
        pl.DataFrame(seen.codes, schema=names).write_csv(path)
        domain = json.dumps(dict(zip(names, seen.sizes, strict=True)))
        script = [str(PEERS / peer.script), peer.kind, str(amount), str(delta), str(path), domain, str(out)]
        command = [python, "-W", "ignore", *script]
        told = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **ALONE}).stdout
        return Rows(pl.read_csv(out).to_numpy().astype(np.int64), seen.sizes), float(told.split()[-1])


def figures(made: Rows, seen: Rows, others: Rows) -> list[float]:
    """In the order of `FIGURES`."""
    return [
        *(_total_variation(made, seen, ways) for ways in (1, 2, 3)),
        *(_count_error(made, seen, kind) for kind in ("ranges", "subsets")),
        _accuracy(LinearSVC(dual=False), made, others),
        _accuracy(DecisionTreeClassifier(min_samples_leaf=20, random_state=1), made, others),
    ]


def _total_variation(made: Rows, seen: Rows, ways: int) -> float:
    sets = list(combinations(range(len(seen.sizes)), ways))
    if len(sets) > MAX_SETS:
        sets = [sets[i] for i in np.random.default_rng(1).choice(len(sets), MAX_SETS, replace=False)]
    errors = []
    for some in sets:
        sizes = [seen.sizes[axis] for axis in some]
        shares = [
            np.bincount(np.ravel_multi_index(rows.codes[:, list(some)].T, sizes), minlength=prod(sizes))
            / len(rows.codes)
            for rows in (made, seen)
        ]
        errors.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(errors))


def _count_error(made: Rows, seen: Rows, kind: str) -> float:
    """The median relative error of counts with conditions on three columns, each half of its values."""
    generator = np.random.default_rng(3)
    errors = []
    mine, true, sizes = made.codes, seen.codes, seen.sizes
    while len(errors) < QUERIES:
        inside = [np.ones(len(rows), dtype=np.bool_) for rows in (mine, true)]
        for axis in generator.choice(len(sizes), min(3, len(sizes)), replace=False):
            half = (sizes[axis] + 1) // 2
            allowed = np.zeros(sizes[axis], dtype=np.bool_)
            start = generator.integers(sizes[axis] - half + 1)
            order = generator.permutation(sizes[axis])
            allowed[slice(start, start + half) if kind == "ranges" else order[:half]] = True
            inside = [part & allowed[rows[:, axis]] for part, rows in zip(inside, (mine, true), strict=True)]
        truth = inside[1].sum()
        if truth >= len(true) / 1_000:
            errors.append(abs(inside[0].mean() * len(true) - truth) / truth)
    return float(np.median(errors))


def _accuracy(learner: Any, made: Rows, others: Rows) -> float:
    learner.fit(_encoded(made), made.codes[:, -1])
    return float((learner.predict(_encoded(others)) == others.codes[:, -1]).mean())


def _encoded(rows: Rows) -> NDArray[np.float64]:
    """A column for every value; for wide axes their place, and one for every eighth of them."""
    columns = []
    for column, size in zip(rows.codes.T[:-1], rows.sizes[:-1], strict=True):
        if size > STEPS // 2:
            columns += [column[:, None] / size, np.eye(8)[column * 8 // size]]
        else:
            columns.append(np.eye(size)[column])
    return np.hstack(columns)


def _told(runs: list[Run]) -> str:
    mean, error = _mean(runs)
    parts = [f"{name} {m:.4f} ± {e:.4f}" for name, m, e in zip(FIGURES, mean, error, strict=True)]
    return f"{', '.join(parts)}; {min(seconds for _, seconds in runs):.1f} s, {len(runs)} runs"
