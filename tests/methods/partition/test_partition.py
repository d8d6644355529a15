"""Partitions: what brute force over every cut gives, on tables small enough to try them all."""

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import reference
from sfumato.data import Table, read
from sfumato.errors import UnsatisfiableError
from sfumato.methods.partition import grow as module
from sfumato.methods.partition.decide import partition
from sfumato.privacy.requirements import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    Requirement,
    TCloseness,
)
from sfumato.release.boxes import Boxes
from sfumato.schema import Schema
from strategies import TableCase, tables

CUTS: list[Any] = ["ncp", "median"]
CHOOSE = {"ncp": reference.best_ncp_cut, "median": reference.best_median_cut}
CHECKS: dict[type[Requirement], Any] = {
    KAnonymity: reference.is_k_anonymous,
    LDiversity: reference.is_probabilistic_diverse,
    DistinctLDiversity: reference.is_distinct_diverse,
    EntropyLDiversity: reference.is_entropy_diverse,
    RecursiveLDiversity: reference.is_recursive_diverse,
    TCloseness: reference.is_close,
    DeltaDisclosure: reference.is_delta_private,
    AlphaK: reference.is_alpha_k_anonymous,
    BetaLikeness: reference.is_beta_like,
}

requirement: st.SearchStrategy[Requirement] = st.one_of(
    st.builds(KAnonymity, k=st.integers(1, 5)),
    st.builds(LDiversity, l=st.sampled_from([1, 1.25, 1.5, 2, 3])),
    st.builds(DistinctLDiversity, l=st.integers(1, 3)),
    st.builds(EntropyLDiversity, l=st.sampled_from([1, 1.5, 2])),
    st.builds(RecursiveLDiversity, l=st.integers(1, 3), c=st.sampled_from([1, 2, 3])),
    st.builds(TCloseness, t=st.sampled_from([0.1, 0.2, 0.3, 0.5, 0.8])),
    st.builds(DeltaDisclosure, delta=st.sampled_from([0.5, 1, 2])),
    st.builds(AlphaK, alpha=st.sampled_from([0.5, 0.6, 0.9]), k=st.integers(1, 4)),
    st.builds(BetaLikeness, beta=st.sampled_from([0.5, 1, 2])),
)
requirement_sets = st.one_of(
    st.integers(1, 5).map(lambda k: (KAnonymity(k=k),)), st.lists(requirement, min_size=1, max_size=3).map(tuple)
)


def satisfied(people: reference.Group, table: reference.Group, values: int, required: Sequence[Requirement]) -> bool:
    """Whether a class meets every requirement, recomputed from its people by definition."""
    counts = reference.histogram((value for _, value in people), values)
    overall = reference.histogram((value for _, value in table), values)
    for one in required:
        parameters = {key: value for key, value in vars(one).items() if key not in ("distance", "enhanced")}
        if not CHECKS[type(one)](counts, overall, **parameters):
            return False
    return True


class Partitioned:
    """A random table, cut by the program, with its classes as lists of people."""

    def __init__(self, case: TableCase, required: Sequence[Requirement], cut: Any, look_ahead: int = 0) -> None:
        self.case, self.required, self.cut = case, required, cut
        self.people = case.people
        self.class_of = partition(case.table, required, cut, look_ahead=look_ahead).tolist()
        points = [tuple(point) for point in case.table.points.tolist()]
        self.class_at = dict(zip(points, self.class_of, strict=True))
        classes: dict[int, reference.Group] = defaultdict(list)
        for person in self.people:
            classes[self.class_at[person[0]]].append(person)
        self.classes = [classes[number] for number in sorted(classes)]

    def allowed(self, group: reference.Group) -> bool:
        return satisfied(group, self.people, self.case.case.sensitive.positions, self.required)


def cut_or_refused(
    case: TableCase, required: Sequence[Requirement], cut: Any, look_ahead: int = 0
) -> Partitioned | None:
    """The partition, or `None` after checking that the whole table already fails."""
    whole = satisfied(case.people, case.people, case.case.sensitive.positions, required)
    if whole:
        return Partitioned(case, required, cut, look_ahead)
    with pytest.raises(UnsatisfiableError) as caught:
        partition(case.table, required, cut)
    failing = [one for one in required if not satisfied(case.people, case.people, case.case.sensitive.positions, [one])]
    assert str(failing[0]) in str(caught.value)
    return None


@pytest.mark.parametrize(("cut", "look_ahead"), [("ncp", 0), ("ncp", 1), ("ncp", 3), ("median", 0), ("purity", 0)])
@settings(max_examples=100)
@given(case=tables(most_rows=20, most_quasi=3, most=6), required=requirement_sets)
def test_classes_keep_every_promise(
    cut: Any, look_ahead: int, case: TableCase, required: tuple[Requirement, ...]
) -> None:
    """Everyone is in a class, every class satisfies every requirement, boxes are tight and apart, no cut is left."""
    cut_table = cut_or_refused(case, required, cut, look_ahead)
    if cut_table is None:
        return
    assert sum(map(len, cut_table.classes)) == len(case.rows)
    assert sorted(set(cut_table.class_of)) == list(range(len(cut_table.classes)))
    assert all(map(cut_table.allowed, cut_table.classes))
    spans = [reference.box_around([point for point, _ in people]) for people in cut_table.classes]
    inside = [set(reference.points_of(box)) for box in spans]
    assert sum(map(len, inside)) == len(set().union(*inside))
    boxes = Boxes.around(case.table.points, np.array(cut_table.class_of), len(cut_table.classes))
    axes = range(len(case.positions))
    assert [tuple(boxes.span(i, axis) for axis in axes) for i in range(len(boxes))] == spans
    for people in cut_table.classes:
        for axis in axes:
            left = reference.median_cuts(people, axis) if cut == "median" else reference.cuts(people, axis)
            for code in left:
                assert not all(map(cut_table.allowed, reference.sides(people, axis, code))), (people, axis, code)


def greedy_classes(cut_table: Partitioned) -> list[list[reference.Point]]:
    expected = reference.greedy_partition(
        cut_table.people, cut_table.case.positions, cut_table.allowed, CHOOSE[cut_table.cut]
    )
    return sorted(sorted({point for point, _ in people}) for people in expected)


def found_classes(cut_table: Partitioned) -> list[list[reference.Point]]:
    return sorted(sorted({point for point, _ in people}) for people in cut_table.classes)


@settings(max_examples=120)
@given(tables(most_rows=16, most_quasi=3, most=6), requirement_sets)
def test_every_cut_is_the_best_allowed_one(case: TableCase, required: tuple[Requirement, ...]) -> None:
    """From the root down, the cut taken is the one that exact arithmetic over all cuts prefers."""
    cut_table = cut_or_refused(case, required, "ncp")
    if cut_table is not None:
        assert found_classes(cut_table) == greedy_classes(cut_table)


@settings(max_examples=120)
@given(tables(most_rows=16, most_quasi=3, most=6), requirement_sets)
def test_every_median_cut_is_the_widest_allowed_one(case: TableCase, required: tuple[Requirement, ...]) -> None:
    cut_table = cut_or_refused(case, (*required, LDiversity(l=1)), "median")
    if cut_table is not None:
        assert found_classes(cut_table) == greedy_classes(cut_table)


def assert_same_with_a_requirement_that_always_holds(case: TableCase, k: int, cut: Any) -> None:
    """k alone takes a shorter way through the sweep; the cuts must be the same."""
    if k <= len(case.rows):
        alone = partition(case.table, [KAnonymity(k=k)], cut)
        together = partition(case.table, [KAnonymity(k=k), LDiversity(l=1)], cut)
        assert alone.tolist() == together.tolist()


@given(tables(most_rows=24, most_quasi=3, most=6), st.integers(1, 4))
def test_a_requirement_that_always_holds_changes_no_cut(case: TableCase, k: int) -> None:
    assert_same_with_a_requirement_that_always_holds(case, k, "ncp")


@settings(phases=[Phase.generate], max_examples=300)
@given(tables(most_rows=24, most_quasi=3, most=6), st.integers(1, 4))
def test_a_requirement_that_always_holds_changes_no_median_cut(case: TableCase, k: int) -> None:
    assert_same_with_a_requirement_that_always_holds(case, k, "median")


@given(tables(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case: TableCase, k: int, shuffler: random.Random) -> None:
    order = list(range(len(case.rows)))
    shuffler.shuffle(order)
    other = read(case.frame[order], case.case.schema)
    required = [KAnonymity(k=min(k, len(order)))]
    assert partition(other, required, "ncp").tolist() == partition(case.table, required, "ncp").tolist()


@given(tables(), st.integers(1, 3))
def test_classes_are_numbered_by_their_smallest_point(case: TableCase, k: int) -> None:
    class_of = partition(case.table, [KAnonymity(k=min(k, len(case.rows)))], "ncp").tolist()
    assert list(dict.fromkeys(class_of)) == list(range(max(class_of) + 1))


@given(tables(), st.integers(1, 3), st.sampled_from(CUTS))
def test_nothing_is_kept_between_two_calls(case: TableCase, k: int, cut: Any) -> None:
    required = [KAnonymity(k=min(k, len(case.rows))), TCloseness(t=0.5)]
    first = partition(case.table, required, cut).tolist()
    partition(case.table, [KAnonymity(k=1)], cut)
    partition(case.table, [KAnonymity(k=1), TCloseness(t=0.1)], cut)
    assert partition(case.table, required, cut).tolist() == first


@given(tables(), st.sampled_from(CUTS), st.booleans())
def test_batches_of_nodes_change_nothing(case: TableCase, cut: Any, only_size: bool) -> None:
    required: list[Requirement] = [KAnonymity(k=1)] if only_size else [KAnonymity(k=1), TCloseness(t=0.6)]
    whole = partition(case.table, required, cut).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "POINTS_AT_ONCE", 3)
        assert partition(case.table, required, cut).tolist() == whole


ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}


def one_axis(ages: Sequence[int | None], ill: str = "ny", size: int = 10) -> Table:
    age = {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1, "nullable": None in ages}
    schema = Schema.parse({"columns": {"age": age, "ill": ILL}})
    secrets = [{"n": "no", "y": "yes"}[ill[i % len(ill)]] for i in range(len(ages))]
    return read(pl.DataFrame({"age": list(ages), "ill": secrets}), schema)


def classes_by_age(table: Table, required: Sequence[Requirement], cut: Any) -> list[list[int]]:
    class_of = partition(table, required, cut)
    return [table.points[class_of == number, 0].tolist() for number in range(class_of.max() + 1)]


@pytest.mark.parametrize("cut", CUTS)
def test_ties_at_the_median_never_make_small_classes(cut: Any) -> None:
    """Five of seven rows stand at the median: a cut in the middle of them would leave a class of one or two."""
    table = one_axis([1, 5, 5, 5, 5, 5, 9])
    assert classes_by_age(table, [KAnonymity(k=2)], cut) == [[1, 5, 9]]
    assert classes_by_age(table, [KAnonymity(k=1)], cut) == [[1], [5], [9]]


@pytest.mark.parametrize(
    ("ages", "expected"),
    [([1, 1, 1, 5, 9, 9, 9], None), ([5, 5, 5, 5, 8, 9, 9], [[5], [8, 9]]), ([1, 2, 2, 5, 5, 5, 5], [[1, 2], [5]])],
)
def test_both_sides_of_the_median_are_tried(ages: list[int], expected: list[list[int]] | None) -> None:
    """Where the median belongs decides whether both sides reach k = 3: only `<` or only `<=` would refuse a cut."""
    found = classes_by_age(one_axis(ages), [KAnonymity(k=3)], "median")
    if expected is None:
        assert found in ([[1], [5, 9]], [[1, 5], [9]])
    else:
        assert found == expected


def test_the_next_axis_is_tried() -> None:
    """The widest axis allows no cut, a narrower one does."""
    columns = {name: {"role": "quasi", "kind": "numeric", "min": 0, "max": 9} for name in ("age", "wage")}
    schema = Schema.parse({"columns": {**columns, "ill": ILL}})
    frame = pl.DataFrame({"age": [0, 5, 5, 5, 5, 9], "wage": [1, 1, 1, 2, 2, 2], "ill": ["no", "yes"] * 3})
    table = read(frame, schema)
    for cut in CUTS:
        class_of = partition(table, [KAnonymity(k=3)], cut)
        assert class_of.tolist() == (table.points[:, 1] == 2).astype(int).tolist()


def test_one_side_may_fail_what_the_other_satisfies() -> None:
    """Both halves are checked: the right one would hold one sensitive value only."""
    table = one_axis([1, 1, 2, 2, 8, 8], "nynyyy")
    for cut in CUTS:
        for ages in classes_by_age(table, [DistinctLDiversity(l=2)], cut):
            assert ages != [8]
    assert classes_by_age(table, [DistinctLDiversity(l=2)], "ncp") == [[1], [2, 8]]


@pytest.mark.parametrize(
    "required",
    [KAnonymity(k=8), LDiversity(l=2.1), DistinctLDiversity(l=3), EntropyLDiversity(l=2.1), AlphaK(alpha=0.4, k=2)],
    ids=str,
)
def test_what_the_whole_table_fails_is_refused(required: Requirement) -> None:
    table = one_axis([1, 2, 3, 4, 5, 6], "nny")
    for cut in CUTS:
        with pytest.raises(UnsatisfiableError) as caught:
            partition(table, [KAnonymity(k=1), required], cut)
        assert str(required) in str(caught.value)
        assert "6 rows" in str(caught.value)
        assert ("'no' has 66.7%" in str(caught.value)) == (not isinstance(required, KAnonymity))


@pytest.mark.parametrize("cut", CUTS)
def test_missing_values_form_boxes(cut: Any) -> None:
    """Alone where there are enough of them, else together with the values next to them."""
    table = one_axis([None, None, 7, 7, 8, 8])
    assert classes_by_age(table, [KAnonymity(k=2)], cut) == [[-1], [7], [8]]
    boxes = Boxes.around(table.points, partition(table, [KAnonymity(k=2)], cut), 3)
    assert [boxes.span(i, 0) for i in range(3)] == [(0, -1, True), (7, 7, False), (8, 8, False)]
    mixed = one_axis([None, 7, 7, 8, 8])
    class_of = partition(mixed, [KAnonymity(k=2)], cut)
    assert class_of.tolist() == [0, 0, 1]
    boxes = Boxes.around(mixed.points, class_of, 2)
    assert [boxes.span(i, 0) for i in range(2)] == [(7, 7, True), (8, 8, False)]


def test_as_many_classes_as_rows() -> None:
    table = one_axis(list(range(3_000)), size=2**20)
    assert partition(table, [KAnonymity(k=1)], "ncp").tolist() == list(range(3_000))


def test_a_very_wide_axis() -> None:
    last = 2**31 - 3
    table = one_axis([0, 1, last - 1, last], size=last + 1)
    for cut in CUTS:
        assert classes_by_age(table, [KAnonymity(k=2)], cut) == [[0, 1], [last - 1, last]]
        assert classes_by_age(table, [KAnonymity(k=2), LDiversity(l=1)], cut) == [[0, 1], [last - 1, last]]


def test_the_median_goes_left_first() -> None:
    """Both cuts around the median 5 are allowed; the published rule keeps the median on the left."""
    narrow = one_axis([4, 4, 4, 5, 5, 6, 6, 6])
    assert classes_by_age(narrow, [KAnonymity(k=3)], "median") == [[4, 5], [6]]


def test_the_median_goes_left_first_on_wide_axes_too() -> None:
    wide = one_axis([0, 0, 0, 5, 5, 9, 9, 9])
    assert classes_by_age(wide, [KAnonymity(k=3), LDiversity(l=1)], "median") == [[0, 5], [9]]
    assert classes_by_age(wide, [KAnonymity(k=3)], "median") == [[0, 5], [9]]


@pytest.mark.parametrize("wrong", [-1, 1])
def test_brute_force_rejects_another_partition(wrong: int) -> None:
    """The comparison above can fail: moving the cut by one code makes it dearer."""
    people = [((age,), age % 2) for age in (0, 1, 2, 6, 7, 8, 9)]
    best = reference.best_ncp_cut(people, [10], lambda group: len(group) >= 2)
    assert best == (0, 2)

    def cost(code: int) -> Any:
        parts = reference.sides(people, 0, code)
        return sum(len(part) * reference.penalty([point for point, _ in part], [10]) for part in parts)

    assert cost([1, 2, 6][1 + wrong]) > cost(2)
