"""U_loss: all conjunctions of taxonomy nodes tried out, the estimate summed over every position of every box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import ReleaseCase, in_region, large_populations, made_of, node_sets, region_of, releases, u_loss
from sfumato.data import read
from sfumato.errors import ParameterError
from sfumato.measures.workloads import LargePopulations
from sfumato.measures.workloads.large_populations import MAX_POPULATIONS
from sfumato.methods import Original
from sfumato.release import Boxes, Release
from strategies import AxisCase, SchemaCase, TableCase, tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUPPORTS = st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.5, 1.0])


def found_populations(case: TableCase, support: float, most: int = MAX_POPULATIONS) -> dict[Any, list[int]]:
    """The program's populations as sets of codes, with their histograms."""
    regions, histograms = LargePopulations(support=support, most=most).populations(case.table)
    spans = [[tuple(regions.span(i, axis)) for axis in range(len(case.case.quasi))] for i in range(len(regions))]
    assert len({region_of(span) for span in spans}) == len(regions), "a population was found twice"
    return {region_of(span): counts.tolist() for span, counts in zip(spans, histograms, strict=True)}


def check(case: ReleaseCase, support: float) -> None:
    size = case.case.case.sensitive.positions
    expected = large_populations(case.case, support)
    counts = {region: [values.count(value) for value in range(size)] for region, values in expected.items()}
    assert found_populations(case.case, support) == counts
    found = LargePopulations(support=support).run(case.case.table, case.release)
    assert found["u_loss"] == pytest.approx(u_loss(case, support), abs=1e-9)


@given(releases(most_rows=12, most_quasi=2), SUPPORTS)
def test_populations_and_loss_are_those_of_the_definition(case: ReleaseCase, support: float) -> None:
    check(case, support)


@given(tables(most_rows=12, most_quasi=3, most=5), SUPPORTS)
def test_the_original_loses_nothing(case: TableCase, support: float) -> None:
    found = LargePopulations(support=support).run(case.table, Original().publish(case.table))
    assert found["u_loss"] == pytest.approx(0, abs=1e-12)


@given(tables(most_rows=12, most_quasi=3, most=5), st.integers(1, 6))
def test_no_more_than_the_largest_populations_are_looked_at(case: TableCase, most: int) -> None:
    """Each is a large one, with its rows, and nothing larger is left out."""
    every = {region: len(values) for region, values in large_populations(case, 0.2).items()}
    found = found_populations(case, 0.2, most)
    assert {region: sum(counts) for region, counts in found.items()}.items() <= every.items()
    assert sorted(map(sum, found.values())) == sorted(every.values())[max(len(every) - most, 0) :]


def test_the_choice_among_populations_of_one_size_is_always_the_same() -> None:
    """Six values of one row each, and room for four of them beside the halves and pairs."""
    rows = [(code, code % 2) for code in range(6)]
    chosen = found_populations(numbers(rows), 0.01, 8)
    assert chosen == found_populations(numbers(rows[::-1]), 0.01, 8)
    assert [sorted(codes) for (codes,) in chosen if len(codes) == 1] == [[0], [1], [2], [3]]


def test_a_table_with_many_quasi_identifiers_is_done_soon() -> None:
    """30 columns of two values have 3³⁰ − 1 conjunctions; a search through the large ones would not end."""
    columns = {f"x{i}": {"role": "quasi", "kind": "categorical", "values": ["a", "b"]} for i in range(30)}
    columns["s"] = {"role": "sensitive", "kind": "categorical", "values": ["y", "n"]}
    generator = np.random.default_rng(1)
    frame = {name: np.where(generator.random(400) < 0.2, "a", "b") for name in columns if name != "s"}
    table = read({**frame, "s": np.where(generator.random(400) < 0.5, "y", "n")}, {"columns": columns})
    regions, histograms = LargePopulations().populations(table)
    assert len(regions) == MAX_POPULATIONS
    assert histograms.sum(axis=1).min() > 0.5 * table.n


def test_nodes_of_a_ragged_taxonomy_and_the_missing_value() -> None:
    """Every set of values once: the two groups, the five values, the missing one, and whatever is known."""
    tree = {"first": {"pair": ["a", "b"], "c": []}, "d": [], "last": ["e"]}
    spec = {"kind": "categorical", "taxonomy": tree, "nullable": True}
    axis = AxisCase("x", spec, tuple((leaf,) for leaf in "abcde"))
    known = frozenset(range(5))
    assert node_sets(axis) == {
        known,
        frozenset({0, 1, 2}),
        frozenset({0, 1}),
        frozenset({-1}),
        *(frozenset({code}) for code in range(5)),
    }
    secret = AxisCase("secret", {"kind": "categorical", "values": ["y", "n"]}, (("y",), ("n",)))
    rows = tuple((code, code % 2) for code in (-1, 0, 1, 2, 3, 4))
    texts = tuple(("abcde"[code] if code >= 0 else None, "yn"[value]) for code, value in rows)
    case = TableCase(SchemaCase((axis,), secret), rows, texts)
    assert set(found_populations(case, 0.1)) == {(codes,) for codes in node_sets(axis)}


def numbers(rows: list[tuple[int, int]], highest: int = 5) -> TableCase:
    axis = AxisCase("x", {"kind": "numeric", "min": 0, "max": highest}, tuple((str(i),) for i in range(highest + 1)))
    secret = AxisCase("secret", {"kind": "categorical", "values": ["y", "n"]}, (("y",), ("n",)))
    return TableCase(SchemaCase((axis,), secret), tuple(rows), tuple((str(x), "yn"[value]) for x, value in rows))


def test_numbers_without_a_taxonomy_are_halved() -> None:
    case = numbers([(code, code % 2) for code in range(6)])
    sets = [{0, 1, 2}, {3, 4, 5}, {0, 1}, {2}, {3, 4}, {5}, {0}, {1}, {3}, {4}]
    assert set(found_populations(case, 0.01)) == {(frozenset(codes),) for codes in sets}


def test_a_share_of_exactly_the_support_is_large() -> None:
    """Seven of 100 rows are 7%, although 0.07 · 100 is a little more than 7 in floating point."""
    case = numbers([(0, 0)] * 7 + [(5, 1)] * 93)
    assert (frozenset({0, 1, 2}),) in large_populations(case, 0.07)
    assert set(found_populations(case, 0.07)) == set(large_populations(case, 0.07))


@pytest.fixture
def classes() -> ReleaseCase:
    """Two classes that cut across the halves of the axis."""
    rows = [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (5, 0), (5, 1)]
    left, right = ((0, 2, False),), ((2, 5, False),)
    return made_of(numbers(rows), [(left if x < 2 else right, int(x >= 2), value) for x, value in rows])


def test_a_case_worked_out_on_paper(classes: ReleaseCase) -> None:
    """In 0..2: the left class is inside with 2 rows y; of the right one a quarter, 0.5 y and 1 n."""
    region = (frozenset({0, 1, 2}),)
    estimate = classes.release.histograms_in(LargePopulations(support=0.3).populations(classes.case.table)[0])
    regions = list(found_populations(classes.case, 0.3))
    assert in_region(region, (1,))
    assert estimate[regions.index(region)] == pytest.approx([2 + 0.25 * 2, 0.25 * 4])


def shifted(release: Release, regions: Boxes, whole: Any = Release.histograms_in) -> NDArray[np.float64]:
    return whole(release, Boxes(regions.lo - 1, regions.hi - 1, regions.missing))


def all_or_nothing(release: Release, regions: Boxes) -> NDArray[np.float64]:
    """A box that a region touches counts in full."""
    estimate = np.zeros((len(regions), release.histograms.shape[1]))
    for region in range(len(regions)):
        touched = ((release.boxes.lo <= regions.hi[region]) & (release.boxes.hi >= regions.lo[region])).all(axis=1)
        estimate[region] = release.histograms[release.group_of[touched]].sum(axis=0)
    return estimate


@pytest.mark.parametrize("twin", [shifted, all_or_nothing])
def test_a_broken_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch, classes: ReleaseCase, twin: object) -> None:
    check(classes, 0.2)
    monkeypatch.setattr(Release, "histograms_in", twin)
    with pytest.raises(AssertionError):
        check(classes, 0.2)


def test_a_region_without_published_rows_is_believed_to_be_like_the_whole() -> None:
    case = numbers([(0, 0), (0, 0), (5, 1), (5, 1)])
    elsewhere = made_of(case, [(((0, 0, False),), 0, 0), (((0, 0, False),), 0, 1)])
    check(elsewhere, 0.5)


def test_without_large_populations_nothing_can_be_lost() -> None:
    rows = [(x, value) for x in range(6) for value in (0, 1)]
    case = numbers(rows)
    whole = made_of(case, [(((0, 5, False),), 0, value) for _, value in rows])
    assert LargePopulations(support=1.0).run(case.table, whole.release) == {"u_loss": 0.0}


@pytest.mark.parametrize("support", [0, -0.1, 1.01, float("nan")])
def test_a_support_out_of_range_is_refused(support: float) -> None:
    with pytest.raises(ParameterError, match="support is"):
        LargePopulations(support=support)
