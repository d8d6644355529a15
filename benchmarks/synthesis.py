"""Private synthesis beside dpmm's AIM and MST, and OpenDP's AIM: how far tables, counts and learners are off, and time.

Every program sees the same seven tenths of the rows, axes in at most 64 even steps. Shares of one, two and three
columns are compared with those rows, as are counts of random ranges and subsets; a linear SVM and a tree are trained on
synthetic rows and asked about the others. Ours runs at three ε with five seeds, peers once at ε = 1.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
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

    from numpy.typing import NDArray

PEERS = Path(__file__).parent / "peers"
DELTA = 1e-9
SEEDS = 5
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


def synthesis(peers: str) -> Iterator[Result]:
    """A line for every table, program and budget; ours must be at least as good as dpmm's better one at (1, 1e-9)."""
    for name, rows in tables():
        seen, others = rows.split()
        theirs = {}
        for kind in ("aim", "mst"):
            made, seconds = _peer(peers, "dpmm_synthesis.py", kind, 1, DELTA, seen)
            theirs[kind] = figures(made, seen, others), seconds
            yield Result(f"{name}, dpmm's {kind}, (1, 1e-9)", "", _told(*theirs[kind]), True)
        yield _beside(name, seen, others, 1.0, DELTA, theirs)
        for epsilon, delta in ((0.1, None), (0.1, DELTA), (10.0, None), (10.0, DELTA)):
            yield _beside(name, seen, others, epsilon, delta, {})


def opendp(peers: str) -> Iterator[Result]:
    """The same beside OpenDP's AIM, under ε = 1 and under the ρ that implies (1, 1e-9)."""
    rho = float(Approximate(Fraction(1), exact(DELTA, "delta")).concentrated().rho)
    for name, rows in tables():
        seen, others = rows.split()
        for delta, amount in ((None, 1.0), (DELTA, rho)):
            made, seconds = _peer(peers, "opendp_synthesis.py", "aim", amount, delta or 0.0, seen)
            found = figures(made, seen, others)
            yield Result(f"{name}, OpenDP's AIM, {_budget(1.0, delta)}", "", _told(found, seconds), True)
            yield _beside(name, seen, others, 1.0, delta, {"aim": (found, seconds)})


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


Figures = tuple[list[float], float]
"""The figures of a program, and the processor seconds it took."""


def _beside(
    name: str, seen: Rows, others: Rows, epsilon: float, delta: float | None, theirs: dict[str, Figures]
) -> Result:
    ours, seconds = _ours(seen, others, epsilon, delta)
    asked, met = _ahead(ours, seconds, theirs) if theirs else ("", True)
    told = _told(np.mean(ours, axis=0), seconds)
    return Result(f"{name}, Synthesis, {_budget(epsilon, delta)}", asked, told, met)


def _budget(epsilon: float, delta: float | None) -> str:
    return f"({epsilon:g}, {delta:g})" if delta else f"{epsilon:g}"


def _ours(seen: Rows, others: Rows, epsilon: float, delta: float | None) -> tuple[list[list[float]], float]:
    method = sf.Synthesis(epsilon=epsilon, delta=delta)
    axes: Any = [Axis(str(number), size) for number, size in enumerate(seen.sizes)]
    columns = Columns(axes, list(seen.codes.T), np.ones(len(seen.codes), dtype=np.int64))
    found, seconds = [], []
    for seed in range(SEEDS):
        started = time.process_time()
        made = method._sample(columns, Budget(method.total, SimulatedSource(seed))).rows
        seconds.append(time.process_time() - started)
        found.append(figures(Rows(made, seen.sizes), seen, others))
    return found, min(seconds)


def _peer(python: str, script: str, kind: str, amount: float, delta: float, seen: Rows) -> tuple[Rows, float]:
    names = [str(number) for number in range(len(seen.sizes))]
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "codes.csv", Path(folder) / "made.csv"
        pl.DataFrame(seen.codes, schema=names).write_csv(path)
        domain = json.dumps(dict(zip(names, seen.sizes, strict=True)))
        command = [python, "-W", "ignore", str(PEERS / script), kind, str(amount), str(delta), str(path), domain]
        told = subprocess.run([*command, str(out)], check=True, capture_output=True, text=True).stdout
        made = pl.read_csv(out).to_numpy().astype(np.int64)
    return Rows(made, seen.sizes), float(told.split()[-1])


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


def _ahead(ours: list[list[float]], seconds: float, theirs: dict[str, Figures]) -> tuple[str, bool]:
    """Whether nine in ten figures are as good as the better peer's, within a standard error, in a tenth of the time."""
    mean, error = np.mean(ours, axis=0), np.std(ours, axis=0, ddof=1) / np.sqrt(len(ours))
    ahead = 0
    for place, name in enumerate(FIGURES):
        rivals = [figures[place] for figures, _ in theirs.values()]
        sign, best = (1, max(rivals)) if name in HIGHER_IS_BETTER else (-1, min(rivals))
        ahead += sign * (mean[place] - best) >= -error[place]
    slower = max(other for _, other in theirs.values())
    return f"ahead in 90% of {len(FIGURES)} figures ({ahead}), in a tenth of AIM's {slower:.0f} s", bool(
        ahead >= 0.9 * len(FIGURES) and seconds <= slower / 10
    )


def _told(found: Any, seconds: float) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in zip(FIGURES, found, strict=True)) + f"; {seconds:.1f} s"
