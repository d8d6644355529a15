"""Rows left out: by closed forms and brute force, counted and charged as such, and never more than was allowed."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from sfumato.data import Table, read
from sfumato.errors import ParameterError
from sfumato.measures.workloads.information_loss import InformationLoss
from sfumato.methods.growing.points import Points, Runs
from sfumato.methods.partition import suppress
from sfumato.methods.partition.decide import partition
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.methods.partition.suppress import Limits, best_ends, leave_out, present_penalty
from sfumato.privacy.requirements import KAnonymity, TCloseness
from sfumato.release import Release
from sfumato.schema import Schema
from strategies import TableCase, tables

ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}


def ages(values: list[int], **more: Any) -> Table:
    columns = {"age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99}, "ill": ILL}
    columns |= {name: {"role": "keep"} for name in more}
    frame = pl.DataFrame({"age": values, "ill": (["no", "yes"] * len(values))[: len(values)], **more})
    return read(frame, Schema.parse({"columns": columns}))


OUTLIER = [0] * 5 + [1] * 5 + [99]


def by_k(k: int) -> Any:
    return lambda table: partition(table, [KAnonymity(k=k)], "ncp", look_ahead=1)


def test_one_person_far_off_is_left_out() -> None:
    """Kept, the last one costs six rows 98/99 each; left out, one row costs 1."""
    table = ages(OUTLIER)
    assert leave_out(table, 0.1, 5, by_k(5)).tolist() == [0, 1, -1]
    assert leave_out(table, 0.09, 5, by_k(5)).tolist() == [0, 1, 1], "eleven rows have no 9%"


def test_nobody_is_left_out_for_nothing() -> None:
    """The others would gain less than the one who is left out loses."""
    table = ages([0, 0, 0, 1, 1, 1, 2])
    assert leave_out(table, 0.5, 3, by_k(3)).tolist() == [0, 1, 1]


def test_a_class_is_never_left_too_small() -> None:
    table = ages([0, 0, 1, 98, 99])
    assert (leave_out(table, 0.9, 2, by_k(2)) >= 0).sum() >= 1
    release = Mondrian(k=2, suppress=0.9).publish(table)
    assert release.weights.min() >= 2


def gain_by_definition(case: TableCase, staying: reference.Group) -> float:
    """How much less the penalty is without the others, of whom each costs 1 on every axis."""
    before = len(case.people) * reference.penalty([point for point, _ in case.people], case.positions)
    after = len(staying) * reference.penalty([point for point, _ in staying], case.positions)
    return float(before - after - (len(case.people) - len(staying)) * len(case.positions))


@settings(max_examples=100)
@given(case=tables(most_rows=16, most_quasi=3, most=8), min_rows=st.integers(1, 4), most=st.integers(0, 8))
def test_the_best_end_of_a_class(case: TableCase, min_rows: int, most: int) -> None:
    """All ends of the whole table on all axes, by definition: none gains more per row than the one found."""
    points, size = Points.of(case.table, missing_first=True).arrays, len(case.table.points)
    whole = Runs(np.arange(size), np.zeros(1, dtype=np.int64), np.array([size]))
    found = best_ends(points, whole, Limits(min_rows, most))
    best = 0.0
    for axis in range(len(case.positions)):
        for code in reference.cuts(case.people, axis):
            for staying in reference.sides(case.people, axis, code):
                leaving = len(case.people) - len(staying)
                if len(staying) >= min_rows and leaving <= most:
                    best = max(best, gain_by_definition(case, staying) / leaving)
    assert found.gain[0] / max(found.rows[0], 1) == pytest.approx(best, abs=1e-9)
    assert found.rows[0] <= most


@settings(max_examples=40)
@given(case=tables(most_rows=30, most_quasi=3, most=8), share=st.sampled_from([0.05, 0.2, 0.5]), k=st.integers(1, 4))
def test_leaving_out_is_bounded_and_pays(case: TableCase, share: float, k: int) -> None:
    if k > len(case.rows):
        return
    table = case.table
    some, everybody = Mondrian(k=k, suppress=share).publish(table), Mondrian(k=k).publish(table)
    assert some.weights.min() >= k
    assert (1 - share) * table.n <= some.rows <= table.n
    finer, wider = (InformationLoss().run(table, release) for release in (some, everybody))
    assert finer["ncp"] <= wider["ncp"] + 1e-12
    assert finer["gcp"] <= wider["gcp"] + 1e-12
    assert finer["suppressed"] == pytest.approx(1 - some.rows / table.n)
    backwards = read(case.frame.reverse(), case.case.schema)
    again = Mondrian(k=k, suppress=share).publish(backwards)
    assert again.histograms.tolist() == some.histograms.tolist()


def test_what_is_left_out_is_charged_and_said(tmp_path: Path) -> None:
    table = ages(OUTLIER)
    release = Mondrian(k=5, suppress=0.1).publish(table)
    assert release.rows == 10
    measured = InformationLoss().run(table, release)
    assert measured["suppressed"] == pytest.approx(1 / 11)
    assert measured["ncp"] == pytest.approx(1 / 11)
    assert measured["discernibility"] == 25 + 25 + 11
    assert any("up to 0.1 of the people are left out" in line for line in release.claim.assumptions)
    assert not any("left out" in line for line in Mondrian(k=5).claim.assumptions)
    again = Release.load(release.save(tmp_path / "release"))
    assert again.rows == 10
    assert again.violations() == []
    assert again.provenance.parameters == {"k": 5, "suppress": 0.1}


def test_classes_are_close_to_those_who_are_published() -> None:
    """t is checked against the published rows, as a recipient does, and more people are then told apart."""
    generator = np.random.default_rng(8)
    values = np.concatenate([generator.integers(0, 40, size=300), [90, 95, 99]]).tolist()
    table = ages(values)
    required = Mondrian(k=5, t=0.05, suppress=0.02)
    release = required.publish(table)
    assert release.rows == 300
    assert TCloseness(t=0.05).holds(release.histograms, release.population).all()
    narrow = InformationLoss().run(table, release)["ncp"]
    assert narrow < 0.9 * InformationLoss().run(table, Mondrian(k=5, t=0.05).publish(table))["ncp"]


def test_kept_columns_of_those_left_out_are_left_out() -> None:
    release = Mondrian(k=5, suppress=0.1).publish(ages(OUTLIER, note=[f"note {i}" for i in range(11)]))
    assert release.kept is not None
    assert sorted(release.kept.whole["note"]) == sorted(f"note {i}" for i in range(10))


def test_buckets_leave_nobody_out() -> None:
    with pytest.raises(ParameterError, match="suppress goes with generalized rows"):
        Mondrian(k=5, suppress=0.1, recoding="bucketize")


@settings(max_examples=25)
@given(case=tables(most_rows=24, most_quasi=3, most=8), classes=st.integers(1, 4))
def test_the_penalty_of_values_present_is_the_one_that_is_measured(case: TableCase, classes: int) -> None:
    table = case.table
    numbers = np.arange(len(table.points)) % classes
    class_of = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    whole = Mondrian(k=1, height=0).publish(table)
    count = table.n * len(table.schema.quasi)
    one = np.zeros(len(table.points), dtype=np.int64)
    assert present_penalty(table, one) / count == pytest.approx(InformationLoss().run(table, whole)["gcp"])
    some = [present_penalty(table, np.where(class_of == number, 0, -1)) for number in range(class_of.max() + 1)]
    assert present_penalty(table, class_of) == pytest.approx(sum(some))


def test_adult_gains_where_it_can(adult_training: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """At k = 50 both penalties fall. At k = 5 no release at all with a row left out has a smaller discernibility.

    A row is in a class of at least k rows and of all at its point; of a point of w rows, leaving out one takes at most
    2w − 1 off that sum, and adds all rows of the table.
    """
    table, weights = adult_training, adult_training.weights
    monkeypatch.setattr(suppress, "ROUNDS", 2)
    some, everybody = (
        InformationLoss().run(table, Mondrian(k=50, suppress=share).publish(table)) for share in (0.02, 0)
    )
    assert some["ncp"] < 0.995 * everybody["ncp"]
    assert some["gcp"] < everybody["gcp"]
    assert 0 < some["suppressed"] <= 0.02
    least = int((weights * np.maximum(weights, 5)).sum()) + table.n - int(2 * weights.max() - 1)
    assert InformationLoss().run(table, Mondrian(k=5).publish(table))["discernibility"] < least
