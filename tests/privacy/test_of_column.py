"""Requirements of several sensitive columns: person by person, against the definitions of the literature."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from sfumato.errors import ParameterError
from sfumato.privacy.requirements import (
    BetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    KAnonymity,
    KMap,
    LDiversity,
    OfColumn,
    Population,
    Requirement,
    TCloseness,
    parse_requirement,
)
from sfumato.schema import Schema

SIZES = (3, 2)
NAMES = ("illness", "income")
SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
            "illness": {"role": "sensitive", "kind": "categorical", "values": ["a", "b", "c"]},
            "income": {"role": "sensitive", "kind": "categorical", "values": ["low", "high"]},
        }
    }
)
KINDS: list[tuple[Requirement, Any]] = [
    (LDiversity(l=1.5), lambda counts, table: reference.is_probabilistic_diverse(counts, table, 1.5)),
    (DistinctLDiversity(l=2), lambda counts, table: reference.is_distinct_diverse(counts, table, 2)),
    (TCloseness(t=0.25), lambda counts, table: total_variation(counts, table) <= 0.25 + 1e-9),
    (DeltaDisclosure(delta=1), lambda counts, table: reference.is_delta_private(counts, table, 1)),
    (BetaLikeness(beta=1), lambda counts, table: reference.is_beta_like(counts, table, 1)),
]
Person = tuple[int, int, int]
people = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=3, max_size=25)


def total_variation(counts: list[int], table: list[int]) -> float:
    pairs = zip(counts, table, strict=True)
    return sum(abs(one / sum(counts) - other / sum(table)) for one, other in pairs) / 2


def histogram(rows: list[Person], column: int) -> list[int]:
    return reference.histogram([row[1 + column] for row in rows], SIZES[column])


def counts_of(rows: list[Person]) -> np.ndarray:
    found = np.zeros((3, 6), dtype=np.int64)
    for group, illness, income in rows:
        found[group, illness * 2 + income] += 1
    return found[found.sum(axis=1) > 0]


def holds_by_definition(check: Any, rows: list[Person], column: int, others_known: bool) -> bool:
    """Whether every class, or every part of one in which the other column agrees, satisfies a requirement."""
    parts = defaultdict(list)
    for row in rows:
        parts[(row[0], row[2 - column] if others_known else 0)].append(row)
    return all(check(histogram(part, column), histogram(rows, column)) for part in parts.values())


@pytest.mark.parametrize(("requirement", "check"), KINDS, ids=[str(one) for one, _ in KINDS])
@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("others_known", [False, True])
@given(rows=people)
def test_a_requirement_of_a_column_is_what_its_definition_says(
    requirement: Requirement, check: Any, column: int, others_known: bool, rows: list[Person]
) -> None:
    counts = counts_of(rows)
    of = OfColumn(requirement=requirement, column=NAMES[column], others_known=others_known)
    found = bool(of.holds(counts, Population(counts.sum(axis=0), SCHEMA.sensitive)).all())
    assert found == holds_by_definition(check, rows, column, others_known)


@pytest.mark.parametrize(("requirement", "check"), KINDS, ids=[str(one) for one, _ in KINDS])
@given(rows=people)
def test_a_plain_requirement_is_asked_of_every_column(requirement: Requirement, check: Any, rows: list[Person]) -> None:
    counts = counts_of(rows)
    population = Population(counts.sum(axis=0), SCHEMA.sensitive)
    expected = all(holds_by_definition(check, rows, column, False) for column in (0, 1))
    assert bool(requirement.holds(counts, population).all()) == expected
    every = OfColumn.each(requirement).holds(counts, population).all()
    assert bool(every) == all(holds_by_definition(check, rows, column, True) for column in (0, 1))


def test_combinations_can_differ_where_a_column_is_given_away() -> None:
    """The twin: taking combinations for values, two people of one illness would be diverse."""
    counts = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 2, 2, 2, 2]])
    requirement, population = DistinctLDiversity(l=2), Population(counts.sum(axis=0), SCHEMA.sensitive)
    assert requirement._holds(counts, population).all()
    assert requirement.holds(counts, population).tolist() == [False, True]


def test_sizes_are_those_of_classes_whatever_is_known() -> None:
    counts = np.array([[1, 1, 1, 1, 1, 0]])
    population = Population(counts.sum(axis=0), SCHEMA.sensitive)
    assert OfColumn.each(KAnonymity(k=5)) == KAnonymity(k=5)
    assert KAnonymity(k=5).holds(counts, population).all()
    assert not KAnonymity(k=6).holds(counts, population).any()


def test_strain_is_that_of_the_column_which_is_nearest_to_its_limit() -> None:
    counts = np.array([[4, 0, 3, 0, 2, 1]])
    population = Population(counts.sum(axis=0), SCHEMA.sensitive)
    assert LDiversity(l=2).strain(counts, population) == pytest.approx([2 * 0.9])
    assert OfColumn(requirement=LDiversity(l=2), column="illness").strain(counts, population) == pytest.approx([0.8])


@pytest.mark.parametrize("column", [None, "illness"])
@pytest.mark.parametrize("others_known", [False, True])
def test_a_release_file_spells_it_and_it_is_read_back(column: str | None, others_known: bool) -> None:
    of = OfColumn(requirement=TCloseness(t=0.2, distance="ordered"), column=column, others_known=others_known)
    assert parse_requirement(of.spec()) == of
    assert ("illness" in of.sentence()) == (column == "illness")
    assert ("other sensitive columns" in of.sentence()) == others_known


def test_a_column_that_is_not_sensitive_is_refused_by_name() -> None:
    counts = np.array([[1, 1, 1, 1, 1, 1]])
    of = OfColumn(requirement=LDiversity(l=2), column="age")
    with pytest.raises(ParameterError, match=r"asked of 'age'; the sensitive columns are 'illness', 'income'"):
        of.holds(counts, Population(counts[0], SCHEMA.sensitive))


@pytest.mark.parametrize("one", [OfColumn(requirement=LDiversity(l=2), column="illness"), KMap(k_map=5)])
def test_it_holds_a_requirement_on_values(one: Requirement) -> None:
    with pytest.raises(ParameterError, match="is about classes and not about a column"):
        OfColumn(requirement=one, column="income")
