"""Learning from a release to predict the sensitive attribute (alhussaeni2018 section 5.1).

The class is the sensitive attribute, the features are the quasi-identifiers. What was learned is tested on rows that
were held out, and stands between knowing the class frequencies alone and learning from the original rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.errors import DataError
from sfumato.estimation.shape import Spread
from sfumato.measures.base import Workload, expect_same_axes
from sfumato.measures.measurement import Measure
from sfumato.measures.workloads.features import heaviest_holder, mean_features, points_inside
from sfumato.measures.workloads.learners import Examples, Learner, learn
from sfumato.parameters import check_parameters, parameter
from sfumato.privacy.distances import Floats, shares
from sfumato.release import Release
from sfumato.release.boxes import Boxes
from sfumato.schema import Axis

Presentation = Literal["drawn", "generalized"]
EXAMPLES_DRAWN = 40_000
"""About how many examples are drawn from boxes that are not points, whatever the size of the table."""
SAME_SHARE = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingSet:
    """What a release or a table teaches: distinct boxes, and the rows expected in each by class, (boxes, classes).

    Boxes are in an order of their own, whatever order they were published in. `frequencies` are the rows by class for
    someone who does not look at the boxes, and `spreads` says how rows lie inside boxes, where they are not even.
    """

    axes: tuple[Axis, ...]
    boxes: Boxes
    counts: Floats
    frequencies: Floats
    spreads: tuple[Spread, ...] | None = None

    @classmethod
    def of_table(cls, table: Table) -> Self:
        """What the original rows teach."""
        boxes, counts = _merge_equal(Boxes.of_points(table.points), table.histograms.astype(np.float64))
        return cls(axes=table.schema.quasi, boxes=boxes, counts=counts, frequencies=counts.sum(axis=0))

    @classmethod
    def of_release(cls, release: Release) -> Self:
        """What a release teaches: each box has its share of the rows of its group.

        Counts below zero say nothing. Rows published with everything suppressed are no examples of anything; they
        tell frequencies where there is nothing else.
        """
        histograms, rows = np.maximum(release.histograms, 0), np.maximum(release.weights, 0)
        if release.channel is not None:
            histograms = release.beliefs * histograms.sum(axis=1, keepdims=True)
        total = histograms.sum(axis=1)[release.group_of]
        share = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
        boxes, counts = _merge_equal(release.boxes, histograms[release.group_of] * share[:, None])
        frequencies = counts.sum(axis=0)
        if not len(boxes) and release.suppressed is not None:
            frequencies = release.suppressed
        quasi, spreads = release.schema.quasi, release.spreads
        return cls(axes=quasi, boxes=boxes, counts=counts, frequencies=frequencies, spreads=spreads)

    @property
    def is_uninformative(self) -> bool:
        """Whether the class has the same distribution in every box."""
        return len(self.boxes) < 2 or bool((np.ptp(shares(self.counts), axis=0) < SAME_SHARE).all())


def _merge_equal(boxes: Boxes, counts: Floats) -> tuple[Boxes, Floats]:
    """The different boxes that have rows, sorted, each with all its rows."""
    occupied = counts.sum(axis=1) > 0
    boxes, counts = boxes[occupied], counts[occupied]
    order = np.lexsort(np.hstack(boxes.arrays).T[::-1])
    boxes, counts = boxes[order], counts[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = np.hstack([side[1:] != side[:-1] for side in boxes.arrays]).any(axis=1)
    first = np.flatnonzero(starts)
    return boxes[first], np.add.reduceat(counts, first, axis=0) if len(first) else counts


@dataclass(frozen=True, kw_only=True)
class Accuracies:
    """The share of held-out rows whose class is predicted right.

    `lower` is that of always naming the commonest class, `baseline` that of learning from the original rows.
    """

    lower: float
    release: float
    baseline: float

    @property
    def lost(self) -> float:
        """How much less often a prediction is right when the release stands in for the original rows."""
        return self.baseline - self.release


@dataclass(frozen=True, kw_only=True)
class Learning:
    """A learner, and how a release is presented to it.

    `drawn`: as points drawn from each box as its rows are spread, each weighing as its box has rows of each class;
    tested on the held-out rows as they are. `generalized`, as in the paper: as boxes, each at the mean of its points;
    tested on the held-out rows generalized likewise, each to the box that holds it, where there is one.

    >>> train, test = sf.hold_out(table)
    >>> found = sf.Learning().accuracy(train, sf.Mondrian(k=5).publish(train), test)
    """

    learner: Learner = parameter(default="c4.5", help="what learns")
    presentation: Presentation = parameter(default="drawn", help="how a release is presented")
    seed: int = 1

    def __post_init__(self) -> None:
        check_parameters(self)

    def accuracy(self, train: Table, release: Release, test: Table) -> Accuracies:
        """How well a release of `train` predicts the classes of `test`."""
        expect_same_axes(train, release, "the release has")
        expect_same_axes(train, test, "the held-out rows have")
        if not test.n:
            raise DataError("there are no held-out rows to test on; expected at least one")
        original = replace(self, presentation="drawn")
        return Accuracies(
            lower=_accuracy(test, np.full(len(test.points), train.overall.argmax())),
            release=_accuracy(test, self._predict(TrainingSet.of_release(release), test, release)),
            baseline=train.remember(
                (original, test), lambda: _accuracy(test, original._predict(TrainingSet.of_table(train), test))
            ),
        )

    def _predict(self, training: TrainingSet, test: Table, release: Release | None = None) -> NDArray[np.int64]:
        """The class predicted at each point of the held-out rows."""
        if training.is_uninformative:
            return np.full(len(test.points), training.frequencies.argmax())
        predict = learn(self.learner, self._examples(training), self.seed)
        asked = Boxes.of_points(test.points)
        if release is not None and self.presentation == "generalized":
            holder = heaviest_holder(test.points, release.boxes, release.weights)
            sides = zip(asked.arrays, release.boxes.arrays, strict=True)
            asked = Boxes(*(np.where((holder >= 0)[:, None], box[holder], point) for point, box in sides))
        return predict(mean_features(training.axes, asked))

    def _examples(self, training: TrainingSet) -> Examples:
        boxes, counts = training.boxes, training.counts
        if self.presentation == "drawn":
            draws = _draws(training)
            points, owner = points_inside(boxes, draws, self.seed, training.spreads)
            boxes, counts = Boxes.of_points(points), (counts / draws[:, None])[owner]
        box, value = np.nonzero(counts)
        features = mean_features(training.axes, boxes)
        return Examples(features=features[box], classes=value, weights=counts[box, value])


def _draws(training: TrainingSet) -> NDArray[np.int64]:
    """How many points stand for each box: one for each of its rows, or fewer where that would be too many."""
    rows = np.where(training.boxes.are_points, 0, training.counts.sum(axis=1))
    most = EXAMPLES_DRAWN / np.count_nonzero(training.frequencies)
    draws: NDArray[np.int64] = np.round(rows * min(1.0, most / max(rows.sum(), 1.0))).astype(np.int64)
    return np.maximum(draws, 1, dtype=np.int64)


def _accuracy(test: Table, predicted: NDArray[np.int64]) -> float:
    return float(test.histograms[np.arange(len(predicted)), predicted].sum() / test.n)


def _measures_of(learner: Learner, title: str) -> Iterator[Measure]:
    name, unit = learner.replace(".", ""), "share of people"
    yield Measure(f"accuracy_{name}", f"Accuracy of {title}", "utility", "higher", unit).describe(
        f"The share of held-out people whose sensitive value {title} predicts right after learning from the release."
    )
    yield Measure(
        f"baseline_accuracy_{name}", f"Accuracy of {title} on the original", "utility", "none", unit
    ).describe("The same after learning from the original rows: what the release can be expected to come near.")
    yield Measure(f"accuracy_lost_{name}", f"Accuracy lost by {title}", "utility", "lower", unit, lowest=-1.0).describe(
        f"How many more of the held-out people {title} predicts right after learning from the original rows instead."
    )


TITLES: dict[Learner, str] = {
    "c4.5": "a decision tree (C4.5)",
    "id3": "a decision tree (ID3)",
    "svm": "a linear SVM",
    "boosting": "gradient boosting",
}


@dataclass(frozen=True, kw_only=True)
class HeldOut(Workload):
    """Learn the sensitive attribute from a release and predict it for the rows of `test`, with each of `learners`.

    >>> train, test = sf.hold_out(table)
    >>> measured = sf.measure(train, sf.Mondrian(k=5).publish(train), [sf.HeldOut(test=test)])
    """

    test: Table
    learners: tuple[Learner, ...] = get_args(Learner)
    presentation: Presentation = "drawn"
    seed: int = 1

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("lower_accuracy", "Accuracy of the commonest value", "utility", "none", "share of people").describe(
            "The share of held-out people whose sensitive value is predicted right by always naming the "
            "commonest one: what learning has to beat."
        ),
        *(measure for learner, title in TITLES.items() for measure in _measures_of(learner, title)),
    )

    def __post_init__(self) -> None:
        for learner in self.learners:
            Learning(learner=learner, presentation=self.presentation)

    def focused(self, column: str) -> Self:
        return replace(self, test=self.test.focused(column))

    def run(self, table: Table, release: Release) -> dict[str, float]:
        values: dict[str, float] = {}
        for learner in self.learners:
            learning = Learning(learner=learner, presentation=self.presentation, seed=self.seed)
            found, name = learning.accuracy(table, release, self.test), learner.replace(".", "")
            values |= {
                "lower_accuracy": found.lower,
                f"accuracy_{name}": found.release,
                f"baseline_accuracy_{name}": found.baseline,
                f"accuracy_lost_{name}": found.lost,
            }
        return values
