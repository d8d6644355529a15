"""Certain bounds of questions with alternatives, of sums, means and shares, against every table there could be."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from brute_force import ReleaseCase, bucketized, generalized, spans
from sfumato.release import Provenance, Query, coverage
from sfumato.release.answer import Answer
from sfumato.schema import Span
from sfumato.schema.alternatives import Alternatives
from sfumato.schema.codes import Codes
from sfumato.schema.numeric import NumericAxis
from strategies import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.schema import Schema

Row = tuple[int, ...]


@st.composite
def alternatives(draw: st.DrawFn, schema: Schema) -> Alternatives:
    """Two or three conjunctions, joined or taken from each other."""
    found = draw(conjunctions(schema))
    for _ in range(draw(st.integers(1, 2))):
        other = draw(conjunctions(schema))
        found = draw(st.sampled_from([found | other, found - other, ~found]))
    return found


@st.composite
def conjunctions(draw: st.DrawFn, schema: Schema) -> Alternatives:
    found = Alternatives.everything()
    for axis in schema.axes:
        if draw(st.booleans()):
            found = found & Alternatives.of(axis, Codes.of([Span(*draw(spans(axis)))]))
    return found


@st.composite
def small(draw: st.DrawFn) -> tuple[ReleaseCase, Alternatives]:
    case = draw(tables(most_rows=4, most_quasi=2, most=3))
    release = draw(draw(st.sampled_from([generalized, bucketized]))(case).filter(whole))
    return release, draw(alternatives(release.release.schema))


def whole(drawn: ReleaseCase) -> bool:
    return drawn.rows == len(drawn.case.people)


def recoded(drawn: ReleaseCase) -> sf.Release:
    return replace(drawn.release, provenance=Provenance(method="mondrian"))


def codes_of(span: Any) -> list[int]:
    lo, hi, missing = span
    return [*range(lo, hi + 1), *([-1] if missing else [])]


def possible_tables(drawn: ReleaseCase) -> Iterator[tuple[Row, ...]]:
    """Every table that could have been published so: any point of its box for every row, values in any order."""
    size = drawn.release.schema.sensitive.size
    groups = []
    for group, histogram in enumerate(drawn.histograms):
        values = [-1 if value == size else value for value, count in enumerate(histogram) for _ in range(int(count))]
        own = [box for box, of in enumerate(drawn.groups) if of == group]
        points = [
            list(itertools.product(*(codes_of(span) for span in drawn.boxes[box])))
            for box in own
            for _ in range(int(drawn.weights[box]))
        ]
        groups.append(
            {
                tuple(sorted((*point, value) for point, value in zip(chosen, order, strict=True)))
                for order in set(itertools.permutations(values))
                for chosen in itertools.product(*points)
            }
        )
    for parts in itertools.product(*groups):
        yield tuple(itertools.chain(*parts))


def few(drawn: tuple[ReleaseCase, Any]) -> bool:
    boxes = zip(drawn[0].boxes, drawn[0].weights, strict=True)
    return np.prod([np.prod([len(codes_of(span)) for span in box]) ** float(weight) for box, weight in boxes]) <= 100


def satisfying(rows: tuple[Row, ...], asked: Alternatives, schema: Schema) -> list[Row]:
    places = {axis.name: place for place, axis in enumerate(schema.axes)}
    inside = asked.hold(np.array(rows), places)
    return [row for row, there in zip(rows, inside, strict=True) if there]


@given(small().filter(few))
def test_counts_of_alternatives_are_bounded_as_tightly_as_they_can_be(drawn: tuple[ReleaseCase, Alternatives]) -> None:
    case, asked = drawn
    release = recoded(case)
    found = Query(rows=asked).answer(release)
    counts = {len(satisfying(rows, asked, release.schema)) for rows in possible_tables(case)}
    assert (found.low, found.high) == (min(counts), max(counts))
    assert found.low <= found.estimate <= found.high


def numbers(axis: NumericAxis, code: int) -> tuple[float, float]:
    low, high = axis.worths(np.array([code]))
    return float(low[0]), float(high[0])


@settings(max_examples=60)
@given(small().filter(few), st.data())
def test_sums_means_and_shares_never_leave_their_bounds(drawn: tuple[ReleaseCase, Alternatives], data: Any) -> None:
    """And no release of classes could bound a sum of exact numbers better."""
    case, asked = drawn
    release, query = recoded(case), Query(rows=asked)
    schema = release.schema
    other = data.draw(conjunctions(schema))
    share = query.share(release, Query(rows=other), "other")
    numeric = [
        place
        for place, axis in enumerate(schema.axes)
        if isinstance(axis, NumericAxis) and not axis.open_above and not axis.open_below
    ]
    place = data.draw(st.sampled_from(numeric)) if numeric else None
    sums, means = set[float](), set[float]()
    for rows in possible_tables(case):
        inside = satisfying(rows, asked, schema)
        if inside:
            holds(share, len(satisfying(tuple(inside), other, schema)) / len(inside))
        if place is None:
            continue
        axis = schema.axes[place]
        assert isinstance(axis, NumericAxis)
        bounds = [numbers(axis, row[place]) for row in inside if row[place] >= 0]
        for end in (0, 1):
            sums.add(sum(bound[end] for bound in bounds))
            means |= {sum(bound[end] for bound in bounds) / len(bounds)} if bounds else set()
    if place is not None:
        total, mean = query.sum(release, schema.axes[place].name), query.mean(release, schema.axes[place].name)
        for value in (min(sums), max(sums)):
            holds(total, value)
        for value in means:
            holds(mean, value)
        if len(case.boxes) == len(case.histograms):
            assert (total.low, total.high) == pytest.approx((min(sums), max(sums)), rel=1e-9, abs=1e-9)


def holds(found: Answer, value: float) -> None:
    assert found.certain
    slack = 1e-8 * max(abs(value), 1)
    assert found.low - slack <= value <= found.high + slack or np.isnan(found.low)


def made(people: list[tuple[int, str, str]], **method: Any) -> sf.Release:
    columns: dict[str, Any] = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
        "sex": {"role": "quasi", "kind": "categorical", "values": ["f", "m"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "flu", "hiv"]},
    }
    age, sex, ill = (list(column) for column in zip(*people, strict=True))
    table = sf.read({"age": age, "sex": sex, "ill": ill}, {"columns": columns})
    return sf.Mondrian(**method).publish(table)


def test_bounds_of_cases_do_not_add_up_to_those_of_alternatives() -> None:
    """One class, aged 0 to 9: nobody knows how many are young or old, but everybody is one or the other."""
    release = made([(0, "f", "no"), (9, "m", "flu"), (4, "f", "hiv")], k=3)
    cases = ("age < 5 and sex = f", "age < 5 and sex = m", "age >= 5")
    apart = [release.answer(case) for case in cases]
    together = release.answer(" or ".join(f"({case})" for case in cases))
    assert (together.low, together.high) == (3, 3)
    assert (sum(one.low for one in apart), sum(one.high for one in apart)) == (0, 9)


def test_a_bucket_is_matched_once() -> None:
    """Two aged 1 and one aged 2, values no, flu and hiv: whoever of the young has no flu leaves it to the old."""
    release = made([(1, "f", "no"), (1, "m", "flu"), (2, "f", "hiv")], k=3, l=1.5, recoding="bucketize")
    found = release.answer("age = 1 and ill = flu or age = 2 and ill = hiv")
    assert (found.low, found.high) == (0, 2)
    found = release.answer("age = 1 and ill = flu or age = 2 and not ill = flu")
    assert (found.low, found.high) == (0, 2), "if the old one has flu, neither is true; else both are"
    assert release.sum("age", "sex = f").sentence.startswith("age adds up to exactly 3")


def test_a_class_may_be_inside_several_parts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no illness is asked about at any age; a twin that looks at one part after the other does not see it."""
    release = made([(0, "f", "no"), (9, "m", "flu"), (4, "f", "hiv")], k=3)
    asked = "age < 5 and ill in (no, flu) or age >= 5 and ill in (no, hiv)"
    assert (release.answer(asked).low, release.answer(asked).high) == (1, 3)
    monkeypatch.setattr(coverage, "NEARLY", 2.0)
    assert release.answer(asked).low == 0
