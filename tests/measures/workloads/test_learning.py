"""Learning from releases: what learners are shown, what they must get right, and splits of rows."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato.measures.workloads.features as features
import sfumato.measures.workloads.learners as learners
import sfumato.measures.workloads.learning as learning
from brute_force import ReleaseCase, as_box, made_of, releases, small_table
from reference import holds, points_of
from sfumato.data import Table, read
from sfumato.errors import DataError, ParameterError
from sfumato.measures.workloads.holdout import cross_validate, hold_out, split
from sfumato.measures.workloads.learners import Learner
from sfumato.measures.workloads.learning import Accuracies, HeldOut, Learning, Presentation, TrainingSet
from sfumato.methods import FullSuppression, Mondrian, Original
from sfumato.privacy.claims import NoGuarantee
from sfumato.release import Boxes, Provenance, Release
from sfumato.schema import Schema
from strategies import AxisCase, SchemaCase, TableCase, tables

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.mechanisms.noise import Source

pytest.importorskip("sklearn", reason='learning needs scikit-learn: pip install "sfumato[learning]"')

LEARNERS = get_args(Learner)
TREES = ("c4.5", "id3")
PRESENTATIONS = get_args(Presentation)
RAW_ACCURACY = 0.8296
"""Of a decision tree on 30,162 rows of Adult with 11 attributes, five-fold (alhussaeni2018)."""


def slow_features(axes: tuple[AxisCase, ...], point: tuple[int, ...]) -> list[Fraction]:
    """One point, written out: a position from 0 to 1, or an indicator for every value."""
    row: list[Fraction] = []
    for axis, code in zip(axes, point, strict=True):
        if axis.spaced:
            row.append(Fraction(code, max(axis.size - 1, 1)) if code >= 0 else Fraction(1, 2))
        else:
            row += [Fraction(code == value) for value in range(axis.size)]
        if axis.nullable:
            row.append(Fraction(code < 0))
    return row


def slow_means(case: ReleaseCase) -> list[list[float]]:
    means = []
    for box in case.boxes:
        rows = [slow_features(case.case.case.quasi, point) for point in points_of(box)]
        means.append([float(sum(column) / len(rows)) for column in zip(*rows, strict=True)])
    return means


@given(releases())
@settings(max_examples=40)
def test_a_box_is_the_mean_of_its_points(case: ReleaseCase) -> None:
    found = features.mean_features(case.release.schema.quasi, case.release.boxes)
    assert found == pytest.approx(np.array(slow_means(case)), abs=1e-12)


def test_very_many_categories_are_taken_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "MAX_INDICATORS", 2)
    values = {"kind": "categorical", "values": ["a", "b", "c"]}
    axis = AxisCase("x", values, (("a",), ("b",), ("c",))).axis()
    boxes = Boxes.of_spans([[(0, 0, False)], [(1, 2, False)]])
    assert features.mean_features((axis,), boxes).tolist() == [[0], [0.75]]
    monkeypatch.undo()
    assert features.mean_features((axis,), boxes).tolist() == [[1, 0, 0], [0, 0.5, 0.5]]


@given(releases(), st.integers(1, 7), st.integers(0, 99))
@settings(max_examples=40)
def test_points_are_drawn_evenly_from_inside_their_box(case: ReleaseCase, rounds: int, seed: int) -> None:
    """With a multiple of an axis' width as the number of draws, each position is drawn equally often."""
    boxes = case.release.boxes
    draws = rounds * boxes.widths.prod(axis=1)
    points, owner = features.points_inside(boxes, draws, seed)
    assert np.bincount(owner, minlength=len(boxes)).tolist() == draws.tolist()
    for number, box in enumerate(case.boxes):
        mine = points[owner == number]
        assert all(holds(box, tuple(point)) for point in mine.tolist())
        for axis, width in enumerate(boxes.widths[number]):
            codes, counts = np.unique(mine[:, axis], return_counts=True)
            assert len(codes) == width
            assert set(counts.tolist()) == {int(draws[number] // width)}


def test_a_single_draw_may_fall_anywhere() -> None:
    """4,000 boxes of ten positions, one draw each: about 400 at each position, give or take 19."""
    boxes = Boxes.of_spans([[(3, 12, False)]] * 4_000)
    points, _ = features.points_inside(boxes, np.ones(4_000, dtype=np.int64), 1)
    assert all(300 < count < 500 for count in np.bincount(points[:, 0] - 3, minlength=10))


def test_axes_are_drawn_independently() -> None:
    """The two ranks of 10,000 draws from one box are uncorrelated; |r| > 0.06 has probability below 1e-8."""
    box = Boxes.of_spans([[(0, 999, False), (0, 999, False)]])
    points, _ = features.points_inside(box, np.array([10_000]), 1)
    assert abs(np.corrcoef(points.T)[0, 1]) < 0.06


@given(releases())
@settings(max_examples=40)
def test_the_holder_is_the_heaviest_box_around_a_point(case: ReleaseCase) -> None:
    table, release = case.case.table, case.release
    found = features.heaviest_holder(table.points, release.boxes, release.weights)
    for point, holder in zip(table.points.tolist(), found.tolist(), strict=True):
        around = [i for i, box in enumerate(case.boxes) if holds(box, point)]
        assert holder == min(around, key=lambda i: (-case.weights[i], i), default=-1)


def slow_training_set(case: ReleaseCase) -> dict[Any, list[Fraction]]:
    """Rows by class in every different box, each group's rows shared out by weight."""
    found: dict[Any, list[Fraction]] = {}
    for box, weight, group in zip(case.boxes, case.weights, case.groups, strict=True):
        counts = case.histograms[group]
        own = [weight * count / sum(counts) for count in counts]
        canonical = tuple((lo, hi, missing) for lo, hi, missing in box)
        found[canonical] = [a + b for a, b in zip(found.get(canonical, [Fraction(0)] * len(own)), own, strict=True)]
    return found


def check_training_set(case: ReleaseCase) -> None:
    training = TrainingSet.of_release(case.release)
    expected = slow_training_set(case)
    axes = range(training.boxes.lo.shape[1])
    spans = [tuple(training.boxes.span(box, axis) for axis in axes) for box in range(len(training.boxes))]
    assert sorted(spans) == sorted(expected)
    for span, counts in zip(spans, training.counts, strict=True):
        assert counts == pytest.approx([float(count) for count in expected[span]], abs=1e-9)


@given(releases())
@settings(max_examples=40)
def test_a_release_teaches_the_rows_of_each_different_box(case: ReleaseCase) -> None:
    check_training_set(case)


def test_a_training_set_that_forgets_to_share_out_a_group_would_be_found(people: TableCase) -> None:
    twice = made_of(people, [(as_box(point), 0, value) for point, value in people.people])
    check_training_set(twice)
    whole_group = replace(twice.release, weights=np.full(len(twice.boxes), float(len(people.rows))))
    object.__setattr__(twice, "release", whole_group)
    with pytest.raises(AssertionError):
        check_training_set(twice)


@given(releases(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_order_of_boxes_and_cutting_them_in_two_changes_nothing(case: ReleaseCase, chance: Any) -> None:
    release = case.release
    order = [*range(len(release.boxes)), *range(len(release.boxes))]
    chance.shuffle(order)
    halves = replace(
        release,
        boxes=release.boxes[np.array(order)],
        weights=release.weights[order] / 2,
        group_of=release.group_of[order],
    )
    one, other = TrainingSet.of_release(release), TrainingSet.of_release(halves)
    assert all((a == b).all() for a, b in zip(one.boxes.arrays, other.boxes.arrays, strict=True))
    assert one.counts == pytest.approx(other.counts)


@pytest.fixture
def people() -> TableCase:
    """A number 0..3 and a colour that may be missing."""
    number = AxisCase("number", {"kind": "numeric", "min": 0, "max": 3}, tuple((str(i),) for i in range(4)))
    spec = {"kind": "categorical", "values": ["red", "blue"], "nullable": True}
    colour = AxisCase("colour", spec, (("red",), ("blue",)))
    secret = AxisCase("secret", {"kind": "categorical", "values": ["a", "b"]}, (("a",), ("b",)))
    rows = ((0, 0, 0), (1, 1, 1), (2, -1, 1), (3, -1, 0))
    texts = tuple((str(x), spec["values"][c] if c >= 0 else None, "ab"[value]) for x, c, value in rows)
    return TableCase(SchemaCase((number, colour), secret), rows, texts)


def table_of(rows: dict[tuple[int, str | None, str], int], most: int = 9) -> Table:
    """So many people with a number 0..`most`, a colour or none, and a class yes, no or never."""
    columns = {
        "number": {"role": "quasi", "kind": "numeric", "min": 0, "max": most},
        "colour": {"role": "quasi", "kind": "categorical", "values": ["red", "green", "blue"], "nullable": True},
        "class": {"role": "sensitive", "kind": "categorical", "values": ["yes", "no", "never"]},
    }
    repeated = [row for row, times in rows.items() for _ in range(times)]
    frame = pl.DataFrame(repeated, schema=["number", "colour", "class"], orient="row")
    return read(frame, Schema.parse({"name": "made", "columns": columns}))


def release_of(table: Table, boxes: list[list[tuple[int, int, bool]]], histograms: list[list[float]]) -> Release:
    counts = np.array(histograms, dtype=np.float64)
    return Release(
        schema=table.schema.public(),
        boxes=Boxes.of_spans(boxes),
        weights=np.maximum(counts, 0).sum(axis=1),
        group_of=np.arange(len(boxes)),
        histograms=counts,
        claim=NoGuarantee(reason="made by hand"),
        provenance=Provenance(method="hand"),
    )


ANY_COLOUR = (0, 2, True)


@pytest.fixture(scope="module")
def threshold() -> Table:
    """Ten people at each number: yes up to 4, no from 5 on."""
    return table_of({(x, "red", "yes" if x < 5 else "no"): 10 for x in range(10)})


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("presentation", PRESENTATIONS)
def test_what_can_be_learned_exactly_is(threshold: Table, learner: Learner, presentation: Presentation) -> None:
    test = table_of({(x, "red", "yes" if x < 5 else "no"): 1 + (x < 5) for x in range(10)})
    boxes = [[(0, 4, False), ANY_COLOUR], [(5, 9, False), ANY_COLOUR]]
    release = release_of(threshold, boxes, [[50, 0, 0], [0, 50, 0]])
    found = Learning(learner=learner, presentation=presentation).accuracy(threshold, release, test)
    assert found == Accuracies(lower=10 / 15, release=1.0, baseline=1.0)
    assert found.lost == 0


@pytest.mark.parametrize("learner", [*TREES, "boosting"])
@pytest.mark.parametrize("presentation", PRESENTATIONS)
def test_a_box_that_mixes_classes_costs_those_in_it(
    threshold: Table, learner: Learner, presentation: Presentation
) -> None:
    """Whoever has a 4 stands among the 5s to 9s: a tenth of all."""
    boxes = [[(0, 3, False), ANY_COLOUR], [(4, 9, False), ANY_COLOUR]]
    release = release_of(threshold, boxes, [[40, 0, 0], [10, 50, 0]])
    found = Learning(learner=learner, presentation=presentation).accuracy(threshold, release, threshold)
    assert found.release == pytest.approx(0.9)
    assert found.baseline == 1.0


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_category_and_a_missing_one_can_be_learned(learner: Learner) -> None:
    kinds = {("red", "yes"): 30, ("blue", "no"): 40, (None, "never"): 20}
    table = table_of({(x, colour, value): times for (colour, value), times in kinds.items() for x in (2, 7)})
    boxes = [[(0, 9, False), span] for span in ((0, 0, False), (1, 2, False), (0, -1, True))]
    release = release_of(table, boxes, [[60, 0, 0], [0, 80, 0], [0, 0, 40]])
    for presentation in PRESENTATIONS:
        found = Learning(learner=learner, presentation=presentation).accuracy(table, release, table)
        assert found == Accuracies(lower=80 / 180, release=1.0, baseline=1.0)


def test_learning_between_yes_and_no_when_never_never_occurs(threshold: Table) -> None:
    """A class without weight is never predicted; negative counts are no rows."""
    boxes = [[(0, 4, False), ANY_COLOUR], [(5, 9, False), ANY_COLOUR], [(0, 9, False), (1, 1, False)]]
    release = release_of(threshold, boxes, [[49.5, -3, 0], [0.25, 50.25, -1], [-2, -1, 0]])
    assert TrainingSet.of_release(release).counts.tolist() == [[49.5, 0, 0], [0.25, 50.25, 0]]
    for learner in LEARNERS:
        assert Learning(learner=learner).accuracy(threshold, release, threshold).release == 1.0


def test_drawn_points_weigh_as_much_as_their_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    training = TrainingSet.of_release(Mondrian(k=20).publish(small_table(300)))
    for most in (learning.EXAMPLES_DRAWN, 500):
        monkeypatch.setattr(learning, "EXAMPLES_DRAWN", most)
        shown = Learning()._examples(training)
        assert np.bincount(shown.classes, shown.weights) == pytest.approx(training.frequencies)
        assert len(shown.weights) < most
        assert len(np.unique(shown.features, axis=0)) > len(training.boxes)


def test_the_lower_bound_names_what_is_commonest_in_training() -> None:
    train = table_of({(x, "red", value): 2 + (value == "yes") for x in range(3) for value in ("yes", "no")})
    test = table_of({(0, "red", "yes"): 1, (1, "red", "no"): 4})
    found = Learning().accuracy(train, FullSuppression().publish(train), test)
    assert found.lower == found.release == 0.2


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_class_left_is_predicted_for_everyone(threshold: Table, learner: Learner) -> None:
    boxes = [[(0, 4, False), ANY_COLOUR], [(5, 9, False), ANY_COLOUR]]
    release = release_of(threshold, boxes, [[0, 7, 0], [0, 9, 0]])
    assert Learning(learner=learner).accuracy(threshold, release, threshold).release == 0.5


def test_a_release_without_rows_predicts_by_its_suppressed_rows(threshold: Table) -> None:
    empty = release_of(threshold, [[(0, 9, False), ANY_COLOUR]], [[0, 0, 0]])
    mostly_no = replace(empty, suppressed=np.array([1.0, 5.0, 0.0]))
    test = table_of({(0, "red", "yes"): 1, (1, "red", "no"): 3})
    assert Learning().accuracy(threshold, empty, test).release == 0.25
    assert Learning().accuracy(threshold, mostly_no, test).release == 0.75


def check_ends(table: Table, test: Table, learner: Learner, presentation: Presentation) -> None:
    use = Learning(learner=learner, presentation=presentation)
    original, suppressed = Original().publish(table), FullSuppression().publish(table)
    found = use.accuracy(table, original, test)
    assert found.release == found.baseline
    backwards = np.arange(len(original.boxes))[::-1]
    turned = replace(
        original,
        boxes=original.boxes[backwards],
        weights=original.weights[backwards],
        group_of=original.group_of[backwards],
    )
    assert use.accuracy(table, turned, test) == found
    assert use.accuracy(table, suppressed, test) == replace(found, release=found.lower)


@given(tables(most_rows=20, most_quasi=3, most=5), st.sampled_from((*TREES, "svm")), st.sampled_from(PRESENTATIONS))
@settings(max_examples=40)
def test_the_original_is_the_baseline_and_suppression_the_lower_bound(
    case: TableCase, learner: Learner, presentation: Presentation
) -> None:
    check_ends(case.table, case.table, learner, presentation)


@pytest.mark.parametrize("presentation", PRESENTATIONS)
def test_so_it_is_with_boosting(presentation: Presentation) -> None:
    check_ends(*hold_out(small_table(), 0.4), "boosting", presentation)


def test_a_baseline_that_learns_from_something_else_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_table()
    halved = replace(table, cell_weight=np.where(table.cell_value == 0, 1, 9 * table.cell_weight))
    honest = TrainingSet.of_table
    monkeypatch.setattr(learning.TrainingSet, "of_table", lambda _: honest(halved))
    with pytest.raises(AssertionError):
        check_ends(table, table, "c4.5", "drawn")


def test_learning_twice_gives_the_same() -> None:
    train, test = hold_out(small_table(), 0.3)
    release = Mondrian(k=12).publish(train)
    for learner in LEARNERS:
        again = [Learning(learner=learner).accuracy(train.without_rows(), release, test) for _ in range(2)]
        assert again[0] == again[1]


def test_classes_dealt_to_the_wrong_boxes_teach_nothing() -> None:
    """The broken twin of a release: its histograms stand in other boxes, and the accuracy falls."""
    table = table_of({(x, "red", ("yes", "no", "never")[x // 10]): 10 for x in range(30)}, most=29)
    release = Mondrian(k=50).publish(table)
    wrong = replace(release, histograms=np.roll(release.histograms, len(release.histograms) // 2, axis=0))
    for learner in LEARNERS:
        found = [Learning(learner=learner).accuracy(table, it, table).release for it in (release, wrong)]
        assert found[0] > 0.8
        assert found[1] < 0.4


def tree_of(*rows: tuple[int, int, list[float]]) -> SimpleNamespace:
    """A grown tree as scikit-learn lays it out: left and right child, and rows by class."""
    left, right, counts = zip(*rows, strict=True)
    rows_at = np.array(counts).sum(axis=1)
    return SimpleNamespace(
        node_count=len(rows),
        children_left=np.array(left),
        children_right=np.array(right),
        weighted_n_node_samples=rows_at,
        value=(np.array(counts) / rows_at[:, None])[:, None, :],
    )


VOTES = tree_of(  # Quinlan's votes of Congress: leaves (6), (9) and (1) under a node with 16 rows and 1 error.
    (1, 2, [15, 1]), (-1, -1, [6, 0]), (3, 4, [9, 1]), (-1, -1, [9, 0]), (-1, -1, [0, 1])
)


def test_pruning_as_c4_5_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The subtree expects 6·0.206 + 9·0.143 + 1·0.750 = 3.27 errors, a leaf 16·0.157: it is pruned."""
    assert learners.prune(VOTES).tolist() == [0, 0, 0, 0, 0]
    monkeypatch.setattr(learners, "CONFIDENCE", 0.9)  # Someone who hopes for the best keeps it.
    assert learners.prune(VOTES).tolist() == [0, 0, 0, 0, 1]


def test_pruning_keeps_what_is_worth_it() -> None:
    """Two hundred rows against as many stay apart; six undecided ones below the second do not."""
    tree = tree_of((1, 2, [203, 197]), (-1, -1, [199, 1]), (3, 4, [4, 196]), (-1, -1, [3, 3]), (-1, -1, [1, 193]))
    assert learners.prune(tree).tolist() == [0, 0, 1, 1, 1]


def test_c4_5_prunes_noise_that_id3_learns() -> None:
    """Four in five say yes whatever the number; each number was seen five times, its noes by chance."""
    noes = {3: 3, 7: 4, 11: 3, 20: 3, 26: 3, 33: 4, 38: 3}
    table = table_of(
        {
            (x, "red", value): times
            for x in range(40)
            for value, times in (("yes", 5 - noes.get(x, 1)), ("no", noes.get(x, 1)))
            if times
        },
        most=39,
    )
    fresh = table_of({(x, "red", "yes"): 4 for x in range(40)} | {(x, "green", "no"): 1 for x in range(40)}, most=39)
    original = Original().publish(table)
    c45, id3 = (Learning(learner=name).accuracy(table, original, fresh) for name in TREES)
    assert c45.release == c45.lower == 0.8
    assert id3.release == pytest.approx(0.8 * (33 / 40) + 0.2 * (7 / 40))


def test_one_row_alone_is_a_leaf_of_id3_but_not_of_c4_5() -> None:
    table = table_of({(x, "red", "yes"): 4 for x in range(8)} | {(9, "red", "no"): 1})
    found = [Learning(learner=name).accuracy(table, Original().publish(table), table).release for name in TREES]
    assert found == [32 / 33, 1.0]


def test_without_scikit_learn_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_table()
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ParameterError, match=r'pip install "sfumato\[learning\]"$'):
        Learning().accuracy(table, Mondrian(k=5).publish(table), table)


def test_parameters_and_tables_that_do_not_fit_are_refused(threshold: Table) -> None:
    with pytest.raises(ParameterError, match=r"learner is 'forest'; expected one of c4\.5, id3, svm, boosting"):
        Learning(learner="forest")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="presentation is 'centre'; expected one of drawn"):
        HeldOut(test=threshold, presentation="centre")  # type: ignore[arg-type]
    release, other = Original().publish(threshold), table_of({(0, "red", "yes"): 1, (0, "red", "no"): 1}, most=8)
    with pytest.raises(DataError, match="held-out rows have other axes than the table"):
        Learning().accuracy(threshold, release, other)
    with pytest.raises(DataError, match="the release has other axes than the table"):
        Learning().accuracy(other, release, other)


def test_the_workload_reports_accuracies_between_their_bounds() -> None:
    train, test = hold_out(small_table(), 0.25)
    release = Mondrian(k=10).publish(train)
    found = HeldOut(test=test).run(train, release)
    assert list(found) == [measure.name for measure in HeldOut.measures]
    assert len(found) == 13
    for measure in HeldOut.measures:
        assert measure.lowest <= found[measure.name] <= (measure.highest or 0)
        assert measure.sentence.endswith(".")
    one = Learning(learner="c4.5").accuracy(train, release, test)
    assert found["accuracy_c45"] == one.release
    assert found["baseline_accuracy_c45"] == one.baseline
    assert found["lower_accuracy"] == one.lower
    assert found["accuracy_lost_c45"] == one.baseline - one.release
    assert set(HeldOut(test=test, learners=("svm",)).run(train, release)) == {
        "lower_accuracy",
        "accuracy_svm",
        "baseline_accuracy_svm",
        "accuracy_lost_svm",
    }


def cells(table: Table) -> dict[tuple[tuple[int, ...], int], int]:
    points = [tuple(point) for point in table.points.tolist()]
    return {
        (points[point], value): weight
        for point, value, weight in zip(
            table.cell_point.tolist(), table.cell_value.tolist(), table.cell_weight.tolist(), strict=True
        )
    }


@given(tables(most_rows=24, most_quasi=2, most=4), st.data())
def test_folds_deal_out_every_row_once_and_evenly(case: TableCase, data: st.DataObject) -> None:
    table = case.table
    folds = data.draw(st.integers(2, min(5, table.n)))
    whole, dealt = cells(table), dict.fromkeys(cells(table), 0)
    for train, test in split(table, folds, seed=3):
        assert test.n in (table.n // folds, -(-table.n // folds))
        for value, rows in enumerate(test.overall.tolist()):
            assert abs(rows - table.overall[value] / folds) < 1
        trained, tested = cells(train), cells(test)
        assert {cell: trained.get(cell, 0) + tested.get(cell, 0) for cell in whole} == whole
        assert set(trained.values()) | set(tested.values()) <= set(range(1, table.n + 1))
        assert (np.unique(train.points, axis=0) == train.points).all()
        for cell, rows in tested.items():
            dealt[cell] += rows
    assert dealt == whole


def test_rows_of_a_cell_are_held_out_by_chance() -> None:
    """Half of two cells of 400 rows: 200 from the first but for 14 rows or so, and more than 100 off never."""
    table = table_of({(0, "red", "yes"): 400, (1, "red", "yes"): 400, (2, "red", "no"): 2})
    held = [hold_out(table, 0.5, seed=seed)[1].weights[0] for seed in range(20)]
    assert len(set(held)) > 5
    assert all(100 < rows < 300 for rows in held)
    assert hold_out(table, 0.5, seed=1)[1].weights[0] == held[1]


@pytest.mark.parametrize(("share", "rows"), [(0.25, 25), (1 / 3, 33), (0.5, 50), (0.996, 100), (0.01, 1)])
def test_holding_out_a_share(share: float, rows: int) -> None:
    table = small_table(100)
    if rows == 100:
        with pytest.raises(ParameterError, match="leaves no rows of 100"):
            hold_out(table, share)
        return
    train, test = hold_out(table, share)
    assert (train.n, test.n) == (100 - rows, rows)
    assert train.schema is test.schema is table.schema


def test_splits_that_make_no_sense_are_refused() -> None:
    table = small_table(20)
    for folds in (1, 0, 21):
        with pytest.raises(ParameterError, match=f"folds is {folds}; expected a number from 2 to the 20 rows"):
            split(table, folds)
    for share in (0, 1, -0.5):
        with pytest.raises(ParameterError, match=f"share is {share}; expected a number between 0 and 1"):
            hold_out(table, share)


def test_cross_validation_is_each_fold_in_turn() -> None:
    table = small_table(200)
    found = cross_validate(table, Mondrian(k=8), Learning(learner="id3"), folds=3, seed=4)
    assert len(found.folds) == 3
    for fold, (train, test) in zip(found.folds, split(table, 3, 4), strict=True):
        assert fold == Learning(learner="id3").accuracy(train, Mondrian(k=8).publish(train), test)
    assert found.mean.release == pytest.approx(sum(fold.release for fold in found.folds) / 3)
    assert found.mean.baseline != found.folds[0].baseline


def test_every_fold_and_every_seed_has_noise_of_its_own() -> None:
    table, seen = small_table(60), []

    def publish(train: Table, source: Source) -> Release:
        seen.append(int(source.words(1)[0]))
        return FullSuppression().publish(train)

    method: Any = SimpleNamespace(publish=publish)
    for noise in (1, 2, 1):
        cross_validate(table, method, folds=3, noise=noise)
    assert len(set(seen)) == 6
    assert seen[:3] == seen[6:]


def adult_by_income(folder: Path) -> Table:
    """The 30,162 training rows of Adult with 11 attributes: all but the sampling weight and the capital."""
    numbers = {"age": (17, 90), "education-num": (1, 16), "hours-per-week": (1, 99)}
    trees = ("workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
    relations = ["Husband", "Wife", "Own-child", "Other-relative", "Not-in-family", "Unmarried"]
    columns: dict[str, dict[str, Any]] = {
        name: {"role": "quasi", "kind": "numeric", "min": low, "max": high} for name, (low, high) in numbers.items()
    }
    columns |= {
        name: {"role": "quasi", "kind": "categorical", "hierarchy": f"hierarchies/{name}.csv"} for name in trees
    }
    columns["relationship"] = {"role": "quasi", "kind": "categorical", "values": relations}
    columns["income"] = {"role": "sensitive", "kind": "categorical", "hierarchy": "hierarchies/income.csv"}
    schema = Schema.parse({"name": "adult", "columns": columns}, folder)
    return read(pl.read_csv(folder / "adult.csv", infer_schema=False).head(30_162), schema)


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> Table:
    return adult_by_income(data_folder / "adult")


def test_adult_five_fold_as_in_the_paper(adult: Table) -> None:
    """The paper's raw accuracy is 82.96%; Mondrian with k = 60 loses one or two points."""
    found = cross_validate(adult, Mondrian(k=60)).mean
    assert found.lower == pytest.approx(0.7511, abs=0.0002)
    assert found.baseline == pytest.approx(RAW_ACCURACY, abs=0.005)
    assert 0.005 < found.lost < 0.02


def test_adult_with_every_learner(adult: Table) -> None:
    """Learned from a fifth of the rows."""
    train, test = hold_out(adult, 0.8)
    release = Mondrian(k=60).publish(train)
    found = {learner: Learning(learner=learner).accuracy(train, release, test) for learner in LEARNERS}
    for learner, accuracies in found.items():
        assert accuracies.lower + 0.04 < accuracies.release < 0.82, learner
        assert (accuracies.lost > 0) == (learner != "id3"), learner  # Boxes keep ID3 from learning noise by heart.
    generalized = Learning(presentation="generalized").accuracy(train, release, test)
    assert generalized.baseline == found["c4.5"].baseline
    assert generalized.lower + 0.04 < generalized.release < generalized.baseline
    baseline = {learner: accuracies.baseline for learner, accuracies in found.items()}
    assert baseline["id3"] + 0.03 < baseline["c4.5"] < baseline["svm"]
    assert baseline["c4.5"] < baseline["boosting"]
    shuffled = replace(release, histograms=np.roll(release.histograms, 40, axis=0))
    assert Learning().accuracy(train, shuffled, test).release < 0.76
