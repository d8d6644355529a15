"""Classes after a limited number of cuts, and cuts that tell sensitive values apart, by brute force."""

from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from sfumato.data import Table, read
from sfumato.methods.partition.decide import partition
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.methods.partition.search import mixture
from sfumato.privacy.requirements import KAnonymity
from strategies import TableCase, tables

CHOOSE = {"ncp": reference.best_ncp_cut, "median": reference.best_median_cut}


def classes_of(case: TableCase, class_of: list[int]) -> list[reference.Group]:
    at = dict(zip(map(tuple, case.table.points.tolist()), class_of, strict=True))
    return [[person for person in case.people if at[person[0]] == number] for number in range(max(class_of) + 1)]


@pytest.mark.parametrize("cut", ["ncp", "median"])
@given(case=tables(most_rows=16, most_quasi=3, most=6), height=st.integers(0, 4), k=st.integers(1, 3))
def test_no_more_than_so_many_cuts_in_a_row(cut: Any, case: TableCase, height: int, k: int) -> None:
    """Without a look ahead: what cutting by definition leaves after so many levels."""
    k = min(k, len(case.rows))
    expected = reference.greedy_partition(
        case.people, case.positions, lambda group: len(group) >= k, CHOOSE[cut], height
    )
    found = partition(case.table, [KAnonymity(k=k)], cut, height=height).tolist()
    points = [sorted({point for point, _ in group}) for group in classes_of(case, found)]
    assert sorted(points) == sorted(sorted({point for point, _ in group}) for group in expected)


@settings(max_examples=60)
@given(case=tables(most_rows=14, most_quasi=2, most=6), height=st.integers(0, 3), ahead=st.integers(1, 3))
def test_looking_ahead_keeps_to_the_height(case: TableCase, height: int, ahead: int) -> None:
    greedy, found = (
        partition(case.table, [KAnonymity(k=1)], "ncp", look_ahead=more, height=height).tolist() for more in (0, ahead)
    )
    needed = reference.cuts_needed(classes_of(case, found))
    assert needed is not None
    assert needed <= height
    costs = [
        sum(
            len(group) * reference.penalty([point for point, _ in group], case.positions)
            for group in classes_of(case, each)
        )
        for each in (found, greedy)
    ]
    assert costs[0] <= costs[1]


def test_the_count_of_cuts_tells_heights_apart() -> None:
    """Four values in a row need two cuts in a row, and a third only where one is cut off at a time."""
    line = [[((age,), 0)] for age in range(4)]
    assert reference.cuts_needed(line) == 2
    assert reference.cuts_needed(line[:1]) == 0
    crossed = [[((0, 0), 0), ((1, 1), 0)], [((0, 1), 0), ((1, 0), 0)]]
    assert reference.cuts_needed(crossed) is None


def mixed(groups: tuple[reference.Group, reference.Group], values: int) -> float:
    """1 − Σ over both sides √Σ count² / rows, from people."""
    histograms = [reference.histogram((value for _, value in group), values) for group in groups]
    return 1 - sum(sqrt(sum(count**2 for count in counts)) for counts in histograms) / sum(map(sum, histograms))


@settings(max_examples=100)
@given(case=tables(most_rows=16, most_quasi=3, most=6), k=st.integers(1, 4))
def test_the_purest_allowed_cut_is_made(case: TableCase, k: int) -> None:
    found = classes_of(case, partition(case.table, [KAnonymity(k=min(k, len(case.rows)))], "purity", height=1).tolist())
    values = case.case.sensitive.positions
    possible = [
        mixed(parts, values)
        for axis in range(len(case.positions))
        for code in reference.cuts(case.people, axis)
        if min(map(len, parts := reference.sides(case.people, axis, code))) >= k
    ]
    assert (len(found) == 2) == bool(possible)
    if possible:
        assert mixed((found[0], found[1]), values) <= min(possible) + 1e-5


def two_columns() -> Table:
    """The job tells who is ill; ages are further apart and tell nothing."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "kind": "numeric", "min": 0, "max": last} for name, last in (("age", 3), ("job", 9))
    }
    columns["ill"] = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    rows = [(age, job, ("no", "yes")[job]) for age in (0, 3) for job in (0, 1) for _ in range(4)]
    rows += [(1, 0, "yes"), (2, 1, "no")]
    return read(pl.DataFrame(rows, schema=["age", "job", "ill"], orient="row"), {"columns": columns})


def test_purity_cuts_where_values_differ_and_the_others_do_not() -> None:
    """The check above can fail: by penalty, age would be cut first."""
    table = two_columns()
    by_purity, by_penalty = (partition(table, [KAnonymity(k=4)], cut, height=1) for cut in ("purity", "ncp"))
    assert by_purity.tolist() == table.points[:, 1].tolist()
    assert by_penalty.tolist() != by_purity.tolist()
    halves = [
        table.histograms[class_of == side].sum(axis=0)[None, :]
        for class_of in (by_purity, by_penalty)
        for side in (0, 1)
    ]
    assert mixture(halves[0], halves[1])[0] < mixture(halves[2], halves[3])[0] - 0.1


def test_where_nothing_separates_values_the_penalty_decides() -> None:
    columns: dict[str, Any] = {
        name: {"role": "quasi", "kind": "numeric", "min": 0, "max": size}
        for name, size in (("narrow", 99), ("wide", 9))
    }
    columns["ill"] = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    frame = pl.DataFrame({"narrow": [0, 1] * 4, "wide": [0] * 4 + [9] * 4, "ill": ["no", "no", "yes", "yes"] * 2})
    assert partition(read(frame, {"columns": columns}), [KAnonymity(k=4)], "purity").tolist() == [0, 1, 0, 1]


def test_settings_say_what_they_are() -> None:
    method = Mondrian(k=4, cut="purity", height=3)
    assert method.label == "Mondrian k=4 (purity, height 3)"
    release = method.publish(two_columns())
    assert release.provenance.parameters == {"k": 4, "cut": "purity", "height": 3}
    assert Mondrian(**release.provenance.parameters) == method
    assert len(Mondrian(k=1, height=0).publish(two_columns()).boxes) == 1
    assert np.all(Mondrian(k=1, height=1).publish(two_columns()).weights >= 1)
