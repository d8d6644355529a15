"""What a release is for: one measure of usefulness, lower is better, and the value up to which it is of use.

By default recipients count. They may have queries of their own, or a column to predict; then trials measure that too.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.measures.measure import MEASURES
from sfumato.measures.measurement import Grade, Measure, References, grade
from sfumato.measures.workloads.features import points_inside
from sfumato.measures.workloads.holdout import hold_out
from sfumato.measures.workloads.learners import Learner
from sfumato.measures.workloads.learning import Accuracies, Learning
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method
from sfumato.methods.models.interest import check_column
from sfumato.methods.partition.endpoints import Original
from sfumato.release import Release
from sfumato.release.query import Query, parse_queries, read_queries
from sfumato.schema import Schema
from sfumato.streams import stream
from sfumato.trials.regroup import regroup, with_sensitive

ENOUGH = 0.3
"""Above this, a release is of no use: typical answers are off by more, or more of what can be learned is lost."""
LEARNERS: tuple[Learner, ...] = ("c4.5", "svm")
"""A tree and a plane: what one of them cannot learn, the other often can, and both are quick."""
CHANCE = 2.0
"""How many standard errors above naming the commonest value learning has to be."""
SANITY = 0.001
"""Errors of counts below this share of the rows are compared with it, since nobody needs tiny counts exactly."""


@dataclass(frozen=True, kw_only=True)
class Purpose(ABC):
    """A use of releases; `key` tells stored trials of different uses apart."""

    measure: ClassVar[Measure]
    enough: ClassVar[float] = ENOUGH

    @property
    def key(self) -> str:
        return ""

    @property
    def wish(self) -> dict[str, Any]:
        """The parameters by which methods that make use of it are told."""
        return {}

    def told(self, method: Method) -> Method:
        """The same setting, told of this use if it can be."""
        takes = self.wish.keys() <= {item.name for item in fields(method)}
        return replace(method, **self.wish) if self.wish and takes else method

    @abstractmethod
    def sentence(self, value: float, most: str = "") -> str:
        """What a value of the measure means, as the end of a sentence; `most` stands before the value."""

    def check(self, schema: Schema) -> None:
        """Refuse a table that cannot be used like this."""
        return

    def check_on(self, table: Table) -> None:
        """Refuse rows on which no release could be told from another, before any is tried."""
        return

    def measure_more(self, table: Table, method: Method, release: Release, seed: int) -> dict[str, float]:
        """What has to be measured beside the usual measures."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Counts(Purpose):
    """How many people fall into ranges: the median error over random ranges of half of up to five columns."""

    measure: ClassVar[Measure] = MEASURES["query_error"]

    def sentence(self, value: float, most: str = "") -> str:
        return f"a typical count is off by {most}{percent(value)}"


COUNTS = Counts()


def percent(share: float) -> str:
    """A share in percent, in three digits."""
    return f"{share:,.0%}" if share >= 1 or share < 1e-6 else f"{100 * share:.3g}%"


def _judge(value: float, references: References) -> tuple[Grade, str]:
    return grade(value, ENOUGH / 3, ENOUGH), f"At most {ENOUGH:.0%} is of use; this is {value:.1%}."


@dataclass(frozen=True, kw_only=True)
class OwnQueries(Purpose):
    """The counts that recipients will ask for, in the language of `sfumato query`."""

    measure: ClassVar[Measure] = Measure(
        "own_query_error", "Error of your queries", "utility", "lower", "relative error"
    ).describe(
        "The median relative error of the counts that recipients will ask for; counts below 0.1% of the rows are "
        "compared with that.",
        judge=_judge,
    )
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.texts:
            raise ParameterError("there are no queries; expected at least one, such as age >= 40")

    @classmethod
    def load(cls, path: Path) -> "OwnQueries":
        """The queries in a file, one on each line; empty lines and those that begin with # are passed over."""
        return cls(texts=read_queries(path))

    @property
    def key(self) -> str:
        return "queries " + hashlib.sha256("\n".join(self.texts).encode()).hexdigest()[:16]

    @property
    def wish(self) -> dict[str, Any]:
        return {"queries": self.texts}

    def sentence(self, value: float, most: str = "") -> str:
        return f"the typical one of your {len(self.texts)} counts is off by {most}{percent(value)}"

    def check(self, schema: Schema) -> None:
        self.queries(schema)

    def queries(self, schema: Schema) -> list[Query]:
        """The queries on the columns of a schema."""
        return parse_queries(self.texts, schema.axes)

    def measure_more(self, table: Table, method: Method, release: Release, seed: int) -> dict[str, float]:
        asked: list[tuple[Query, float]] = table.remember(
            self, lambda: [(query, float(query.matches(table))) for query in self.queries(table.schema)]
        )
        least = max(1.0, SANITY * table.n)
        errors = [abs(query.estimate(release) - truth) / max(truth, least) for query, truth in asked]
        return {self.measure.name: float(np.median(errors))}


@dataclass(frozen=True, kw_only=True)
class Prediction(Purpose):
    """A column to predict from all others, learned from a release of two thirds of the rows, tested on the rest.

    With the accuracies of naming the commonest value, of learning from the release and from the rows themselves, the
    loss is (rows − release) / (rows − commonest): 0 if the release teaches as much, 1 if it teaches nothing. Both are
    learned by every learner, and the best counts: one that learns less than nothing from the rows says nothing.
    """

    measure: ClassVar[Measure] = Measure(
        "prediction_loss", "Loss of predictions", "utility", "lower", "share of what can be learned"
    ).describe(
        "The share of what learning from the rows gains in accuracy, over naming the commonest value, that is lost by "
        "learning from the release; measured on people who were held out.",
        judge=_judge,
    )
    column: str
    learners: tuple[Learner, ...] = LEARNERS

    @property
    def key(self) -> str:
        return f"predict {self.column} by {' or '.join(self.learners)}"

    @property
    def wish(self) -> dict[str, Any]:
        return {"predict": self.column}

    def sentence(self, value: float, most: str = "") -> str:
        return f"{most}{percent(value)} of what can be learned about {self.column} is lost"

    def check(self, schema: Schema) -> None:
        check_column(self.column, schema.axes)

    def check_on(self, table: Table) -> None:
        found = self._learned(table, Original(), seed=1)
        chance = CHANCE * math.sqrt(found.lower * (1 - found.lower) / max(table.people.n / 3, 1))
        if found.baseline - found.lower <= chance:
            raise ParameterError(
                f"nothing to speak of can be learned about {self.column!r} from the other columns: on people who "
                f"were held out, learning from the rows themselves is right {found.baseline:.1%} of the time, and "
                f"naming the commonest value {found.lower:.1%}; predict another column, or ask for counts instead"
            )

    def measure_more(self, table: Table, method: Method, release: Release, seed: int) -> dict[str, float]:
        self.check(table.schema)
        found = self._learned(table, method, seed)
        gain = found.baseline - found.lower
        return {self.measure.name: float(np.clip(found.lost / gain, 0.0, 1.0)) if gain > 0 else 1.0}

    def _learned(self, table: Table, method: Method, seed: int) -> Accuracies:
        """How well the column is predicted, by the best of the learners in each case."""
        train, test = table.people.remember(("held out", self.column), lambda: hold_out(table.people))
        published = method.publish(train, SimulatedSource(seed))
        if self.column != table.schema.sensitive.name:
            drawn = with_sensitive(drawn_rows(published, train), self.column)
            train, test = table.remember(
                ("swapped", self.column), lambda: [with_sensitive(part, self.column) for part in (train, test)]
            )
            published = Original().publish(drawn)
        found = [Learning(learner=learner).accuracy(train, published, test) for learner in self.learners]
        return Accuracies(
            lower=found[0].lower, release=max(one.release for one in found), baseline=max(one.baseline for one in found)
        )


def drawn_rows(release: Release, like: Table) -> Table:
    """About as many rows as the table has, drawn from the boxes of a release and the histograms of their groups."""
    draws = np.round(np.maximum(release.weights, 0)).astype(np.int64)
    points, owner = points_inside(release.boxes, draws, 1, release.spreads)
    counts = np.maximum(release.histograms, 0)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.cumsum(np.where(totals > 0, counts / np.maximum(totals, 1e-300), 1 / counts.shape[1]), axis=1)
    chance = stream("sensitive values", 1).random(len(owner))
    value = (chance[:, None] > shares[release.group_of[owner]]).sum(axis=1)
    codes = np.column_stack([points, *like.schema.sensitive.apart(value)])
    return regroup(like.schema, codes, np.ones(len(codes), dtype=np.int64), like, people=False)


def purpose_of(predict: str | None, queries: Sequence[str] | Path | str | None) -> Purpose:
    """What a release is for: a column to predict, queries of one's own (or the file they are in), else counts."""
    if predict is not None and queries is not None:
        raise ParameterError("give a column to predict, or queries, not both")
    if predict is not None:
        return Prediction(column=predict)
    if queries is None:
        return COUNTS
    return OwnQueries.load(Path(queries)) if isinstance(queries, str | Path) else OwnQueries(texts=tuple(queries))
