"""Answers to count queries: bounds that hold for every table that a release can come from, and intervals that hold as
often as they say."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import sfumato as sf
from asking import answer_to, region
from brute_force import ReleaseCase, bucketized, generalized, small_table, spans
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.release import Provenance
from sfumato.release import answer as answers
from sfumato.release.answer import COVERAGE, round_by
from sfumato.release.certain import Classes
from sfumato.release.coverage import Coverage
from sfumato.schema.codes import Codes
from strategies import TableCase, tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.release import Release


@st.composite
def questions(draw: st.DrawFn, case: TableCase) -> tuple[list[Codes], list[bool]]:
    """Codes that are allowed on each quasi-identifier, and which sensitive values are."""
    allowed = [Codes.of(sf.schema.Span(*draw(spans(axis))) for _ in range(2)) for axis in case.case.quasi]
    size = case.case.sensitive.positions
    return allowed, draw(st.lists(st.booleans(), min_size=size, max_size=size))


def holds(codes: Codes, code: int) -> bool:
    return codes.missing if code < 0 else any(lo <= code <= hi for lo, hi in codes.runs)


def satisfying(case: TableCase, allowed: list[Codes], chosen: list[bool]) -> int:
    """A look at every row."""
    return sum(
        chosen[value] and all(holds(codes, code) for codes, code in zip(allowed, point, strict=True))
        for point, value in case.people
    )


def everybody(drawn: ReleaseCase) -> bool:
    return drawn.rows == len(drawn.case.people)


@st.composite
def answered(draw: st.DrawFn) -> tuple[ReleaseCase, list[Codes], list[bool]]:
    case = draw(tables(most_rows=10, most_quasi=2, most=4))
    kind = draw(st.sampled_from([generalized, bucketized]))
    release = draw(kind(case).filter(everybody))
    return release, *draw(questions(case))


def recoded(drawn: ReleaseCase) -> Release:
    """The release as one whose rows are surely those of people."""
    return replace(drawn.release, provenance=Provenance(method="mondrian"))


@given(answered())
def test_certain_bounds_hold(drawn: tuple[ReleaseCase, list[Codes], list[bool]]) -> None:
    release, allowed, chosen = drawn
    found, truth = answer_to(recoded(release), allowed, chosen), satisfying(release.case, allowed, chosen)
    assert found.certain
    assert found.low <= truth <= found.high
    assert found.low <= found.estimate <= found.high


def possible_counts(release: ReleaseCase, allowed: list[Codes], chosen: list[bool]) -> set[int]:
    """The counts of all tables that could have been published so: any point of its box for every row, and in every
    group the values dealt out in any order."""
    totals = {0}
    for group, histogram in enumerate(release.histograms):
        values = [value for value, count in enumerate(histogram) for _ in range(int(count))]
        own = [box for box, of in enumerate(release.groups) if of == group]
        rows = [release.boxes[box] for box in own for _ in range(int(release.weights[box]))]
        counts = set()
        for order in set(itertools.permutations(values)):
            surely = possibly = 0
            for box, value in zip(rows, order, strict=True):
                inside = [
                    [holds(codes, code) for code in codes_of(span)] for codes, span in zip(allowed, box, strict=True)
                ]
                surely += chosen[value] and all(map(all, inside))
                possibly += chosen[value] and all(map(any, inside))
            counts |= set(range(surely, possibly + 1))
        totals = {total + count for total in totals for count in counts}
    return totals


def codes_of(span: Any) -> list[int]:
    lo, hi, missing = span
    return [*range(lo, hi + 1), *([-1] if missing else [])]


@st.composite
def small(draw: st.DrawFn) -> tuple[ReleaseCase, list[Codes], list[bool]]:
    case = draw(tables(most_rows=5, most_quasi=2, most=3))
    release = draw(draw(st.sampled_from([generalized, bucketized]))(case).filter(everybody))
    return release, *draw(questions(case))


@given(small())
def test_certain_bounds_are_as_tight_as_they_can_be(drawn: tuple[ReleaseCase, list[Codes], list[bool]]) -> None:
    release, allowed, chosen = drawn
    possible = possible_counts(release, allowed, chosen)
    found = answer_to(recoded(release), allowed, chosen)
    assert (found.low, found.high) == (min(possible), max(possible))


@pytest.mark.parametrize("broken", ["inside", "touched"])
def test_a_box_taken_for_too_little_or_too_much_would_be_found(broken: str) -> None:
    """Ten people aged 0..9; a class of all of them may have any number of people below 5."""
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    table = sf.read({"age": [0, 1, 2, 9, 9, 9, 9, 9, 9, 9], "ill": ["no"] * 10}, {"columns": columns})
    release = sf.Mondrian(k=10).publish(table)
    coverage = Coverage.of(region(release.schema, [Codes(((0, 4),))], [True, True]), release.sides)
    assert Classes(release, coverage).ends() == (0, 10)
    flipped = coverage.extent._replace(**{broken: ~getattr(coverage.extent, broken)})
    low, high = Classes(release, replace(coverage, extent=flipped)).ends()
    assert not low <= 3 <= high


def test_values_of_buckets_bound_the_count_from_both_sides() -> None:
    """A bucket of 4, of which 3 are at the point asked for and 3 have the value: at least 2, at most 3."""
    columns = {
        "x": {"role": "quasi", "kind": "categorical", "values": ["a", "b"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    table = sf.read({"x": ["a", "a", "a", "b"], "ill": ["yes", "yes", "no", "yes"]}, {"columns": columns})
    release = sf.Mondrian(k=4, recoding="bucketize").publish(table)
    found = release.answer("x = a and ill = yes")
    assert (found.low, found.estimate, found.high, found.certain) == (2, 2.25, 3, True)
    assert found.sentence == "About 2 of 4 people; for certain at least 2 and at most 3."
    assert release.answer("x = a").sentence == "Exactly 3 of 4 people."


@pytest.mark.parametrize(
    ("number", "low", "high", "rounded"),
    [
        (86.94, 80, 90, 87),
        (1_684.2, 1_500, 1_900, 1_680),
        (1_684.2, 0, 27_000, 2_000),
        (35.1, 0, 2_000, 40),
        (0.4, 0, 1, 0),
        (9.7, 0, 9, 9),
    ],
)
def test_digits_below_the_uncertainty_are_not_shown(number: float, low: float, high: float, rounded: float) -> None:
    assert round_by(number, low, high) == rounded


def random_questions(table: Table, count: int, seed: int) -> list[tuple[list[Codes], NDArray[np.bool_]]]:
    generator = np.random.default_rng(seed)

    def some(size: int) -> Codes:
        lo, hi = np.sort(generator.integers(0, size, 2))
        return Codes(((int(lo), int(hi)),))

    return [
        ([some(axis.size) for axis in table.schema.quasi], generator.random(table.values) < 0.6) for _ in range(count)
    ]


def truth_of(table: Table, allowed: list[Codes], chosen: NDArray[np.bool_]) -> int:
    inside = np.logical_and.reduce([codes.hold(table.points[:, axis]) for axis, codes in enumerate(allowed)])
    return int(table.cell_weight[inside[table.cell_point] & chosen[table.cell_value]].sum())


def share_held(publish: Callable[[int], Release], table: Table, rounds: int, shrink: float = 1.0) -> float:
    """How often a random question has the truth in its interval, a new release for each; intervals may be shrunk."""
    held = 0
    for seed, (allowed, chosen) in enumerate(random_questions(table, rounds, 3)):
        found = answer_to(publish(seed), allowed, chosen)
        middle, half = (found.low + found.high) / 2, shrink * (found.high - found.low) / 2
        held += abs(truth_of(table, allowed, chosen) - middle) <= half
    return held / rounds


def least(rounds: int) -> float:
    """What a share that is truly at least `COVERAGE` falls below with probability 1e-6 at most."""
    return float(stats.binom.ppf(1e-6, rounds, COVERAGE)) / rounds


PRIVATE = [sf.QuadTree(epsilon=1), sf.KDTree(epsilon=1), sf.PrivTree(epsilon=1), sf.DiffGen(epsilon=1)]


@pytest.mark.parametrize("method", [*PRIVATE, sf.LocalNoise(epsilon=1)], ids=lambda method: method.name)
def test_intervals_hold_as_often_as_they_say(method: sf.Method) -> None:
    """Fails by chance with probability 1e-6 for each method."""
    table = small_table(400)
    held = share_held(lambda seed: method.publish(table, SimulatedSource(seed)), table, 100)
    assert held >= least(100)


def test_an_interval_that_leaves_out_the_noise_would_be_found() -> None:
    table = small_table(400)

    def publish(seed: int) -> Release:
        return sf.LocalNoise(epsilon=0.5).publish(table, SimulatedSource(seed))

    assert share_held(publish, table, 100) >= least(100)
    assert share_held(publish, table, 100, shrink=0.3) < least(100)


def test_nothing_is_certain_about_rows_that_nobody_vouches_for(tmp_path: Path) -> None:
    """The folder of a generator that promises nothing does not say how its rows came about."""
    made = sf.PrivBayes(epsilon=1).publish(small_table(200), SimulatedSource(1)).without_guarantee("seeded")
    loaded = sf.load_release(made.save(tmp_path / "made"))
    name = made.schema.quasi[0].name
    for release in (made, loaded, replace(loaded, layout="counts")):
        found = release.answer(f"{name} is not missing")
        assert not found.certain
        assert found.low < found.high
    assert answers.UNKNOWN in loaded.answer(f"{name} is not missing").sentence


def test_generated_rows_vary_by_chance_and_their_model_is_not_covered() -> None:
    """The Wilson interval of 100 among 400, and the sentence that says what it leaves out."""
    found = answers.answer_of_sample(100, 400)
    expected = stats.binomtest(100, 400).proportion_ci(COVERAGE, method="wilson")
    assert (found.low, found.high) == (np.floor(400 * expected.low), np.ceil(400 * expected.high))
    assert not found.certain
    assert "the model that they were drawn from is from the truth is not covered" in found.sentence
    table = small_table(200)
    made = sf.PrivBayes(epsilon=1).publish(table, SimulatedSource(1))
    assert answers.SAMPLED in made.answer(f"{table.schema.sensitive.name} is not missing").sentence
