"""Codes: the order and groups of their beginnings, labels that read back, and patterns that list nothing."""

import pickle
import time
from itertools import pairwise, product
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import read
from sfumato.errors import QueryError, SchemaError
from sfumato.release.query import parse_query
from sfumato.schema import CodeAxis, Schema, Span

ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
ICD = ["J45.9", "J45", "A01.1", "E11", "J10", "J45.0", "E10.2"]


def schema(**spec: Any) -> Schema:
    return Schema.parse({"columns": {"code": {"role": "quasi", "kind": "code", **spec}, "ill": ILL}})


def axis(**spec: Any) -> CodeAxis:
    found = schema(**spec).quasi[0]
    assert isinstance(found, CodeAxis)
    return found


def spans(size: int) -> list[Span]:
    return [Span(lo, hi, False) for lo in range(size) for hi in range(lo, size)]


def test_icd_by_chapter_and_disease() -> None:
    codes = axis(values=ICD, levels=[1, 3])
    assert codes.labels == ["A01.1", "E10.2", "E11", "J10", "J45", "J45.0", "J45.9"]
    assert [codes.label(Span(*ends, False)) for ends in ((4, 6), (3, 6), (1, 2), (5, 6), (1, 6), (2, 4))] == [
        "J45*", "J*", "E*", "[J45.0, J45.9]", "[E*, J*]", "[E11, J45]",
    ]  # fmt: skip
    assert [node.label for node in codes.taxonomy.children] == ["A*", "E*", "J*"]
    assert codes.coarsened(1).labels == ["A01*", "E10*", "E11*", "J10*", "J45*"]
    assert codes.coarsened(2).labels == ["A*", "E*", "J*"]


@given(st.lists(st.text("AB12.-", min_size=1, max_size=5), min_size=1, max_size=9), st.sets(st.integers(1, 3)))
def test_labels_of_any_list_read_back(texts: list[str], levels: set[int]) -> None:
    kept = {"".join(filter(str.isalnum, text)): text for text in texts if any(map(str.isalnum, text))}
    if not kept:
        return
    longest = max(map(len, kept))
    codes = axis(values=list(kept.values()), levels=sorted(level for level in levels if level <= longest))
    assert Schema.parse(schema(**codes.spec()).spec()).quasi[0] == codes
    labels = [codes.label(span) for span in spans(codes.size)]
    assert [codes.parse(label) for label in labels] == spans(codes.size)
    assert len(set(labels)) == len(labels), "no label stands for two sets"
    for level in codes.prefixes.lengths:
        beginnings = ["".join(filter(str.isalnum, label))[:level] for label in codes.labels]
        assert len(set(beginnings)) == 1 + sum(a != b for a, b in pairwise(beginnings))
    for above in range(1, codes.levels_above + 1):
        coarser = codes.coarsened(above)
        assert coarser.encode(codes.labels).tolist() == codes.codes_in(coarser).tolist()
        assert [coarser.parse(coarser.label(span)) for span in spans(coarser.size)] == spans(coarser.size)
        assert coarser.encode(coarser.labels).tolist() == list(range(coarser.size))


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["10", "1", "2", "11"], ["1", "2", "10", "11"]),
        (["02", "10", "01"], ["01", "02", "10"]),
        (["B10", "A2", "A10", "B9"], ["A2", "A10", "B9", "B10"]),
    ],
)
def test_codes_are_in_natural_order(values: list[str], order: list[str]) -> None:
    levels = {} if values[0] != "B10" else {"levels": [1]}
    assert axis(values=values, **levels).labels == order


def test_a_pattern_is_what_it_spells_in_order() -> None:
    codes = axis(pattern="[AB][0-2]-[xy]", levels=[1, 2])
    spelled = [f"{a}{b}-{c}" for a, b, c in product("AB", "012", "xy")]
    assert codes.labels == spelled
    assert codes.encode([*spelled, "A3-x", "A0x", "A0-", "a0-x", ""]).tolist() == [*range(12), *[-2] * 5]
    assert [codes.parse(codes.label(span)) for span in spans(12)] == spans(12)
    assert [codes.label(Span(*ends, False)) for ends in ((0, 5), (2, 3), (2, 5))] == ["A*-*", "A1-*", "[A1-*, A2-*]"]
    groups = codes.coarsened(1)
    assert groups.labels == ["A0-*", "A1-*", "A2-*", "B0-*", "B1-*", "B2-*"]
    assert groups.encode(["A1-y", "A1", "A1-*", "A1-z"]).tolist() == [1, 1, 1, -2]


def test_a_hundred_thousand_postal_codes_are_not_listed() -> None:
    began = time.process_time()
    codes = axis(digits=5)
    frame = pl.DataFrame({"code": ["750010000", "751160000", "010000000"], "ill": ["no", "yes", "no"]})
    assert read(frame, schema(digits=9)).points[:, 0].tolist() == [10_000_000, 750_010_000, 751_160_000]
    assert time.process_time() - began < 0.5
    assert (codes.size, codes.label(Span(75_000, 75_999, False))) == (100_000, "75***")
    assert codes.parse("[75***, 77***]") == Span(75_000, 77_999, False)
    assert [child.label for child in codes.taxonomy.children[7].children][4:6] == ["74***", "75***"]
    assert codes.encode(["75001.0", "1000"]).tolist() == [75_001, -2]


def test_lazy_trees_travel_to_other_processes() -> None:
    """Trials are run by worker processes, which get the axes of a table with whatever was looked at before."""
    days = {"role": "quasi", "kind": "date", "min": "2024-01-01", "max": "2024-12-31"}
    found = Schema.parse({"columns": {"code": {"role": "quasi", "kind": "code", "digits": 5}, "day": days, "ill": ILL}})
    for axis_here in found.quasi:
        child = axis_here.taxonomy.children[-1]
        there = pickle.loads(pickle.dumps(axis_here))
        assert there == axis_here
        assert there.taxonomy.children[-1].children == child.children


def test_values_off_the_schema() -> None:
    frame = pl.DataFrame({"code": ["J45", "Z99", ""], "ill": ["no", "yes", "no"]})
    found = read(frame, schema(values=[*ICD, "R69"], levels=[1, 3], off_schema="R69"))
    assert [found.schema.quasi[0].labels[code] for code in found.points[:, 0]] == ["J45", "R69"]
    coarser = axis(values=[*ICD, "R69"], levels=[1, 3], off_schema="R69").coarsened(2)
    assert (coarser.off_schema, coarser.place(coarser.encode(["Z99"]), ["Z99"]).tolist()) == ("R*", [3])
    with pytest.raises(SchemaError, match="off_schema is 'Z99'; expected refuse, missing"):
        schema(values=ICD, off_schema="Z99")


def test_order_must_be_declared() -> None:
    table = read(
        pl.DataFrame({"code": ["1", "2", "10", "11", "12"], "ill": ["no", "yes", "no", "no", "no"]}),
        schema(values=["1", "2", "10", "11", "12"], ordered=True),
    )
    assert parse_query("code >= 10", table.schema).matches(table) == 3
    assert parse_query("code between 2 and 11", table.schema).matches(table) == 3
    with pytest.raises(QueryError, match="'>=' compares numbers, but 'code' is code; use = or in"):
        parse_query("code >= 10", schema(values=["1", "2"]))


def test_categories_with_an_order_can_be_compared() -> None:
    levels = {"role": "quasi", "kind": "categorical", "values": ["low", "medium", "high"], "ordered": True}
    found = Schema.parse({"columns": {"level": levels, "ill": ILL}})
    table = read(pl.DataFrame({"level": ["low", "high", "medium"], "ill": ["no", "yes", "no"]}), found)
    assert parse_query("level > low", found).matches(table) == 2
    assert parse_query("level <= medium", found).matches(table) == 2
    assert Schema.parse(found.spec()) == found
    with pytest.raises(QueryError, match="found 'tall' after 'level' <; expected one of 'low', 'medium', 'high'"):
        parse_query("level < tall", found)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, "none of them is given; expected one of values, pattern and digits"),
        ({"values": ["A"], "digits": 5}, "values and digits is given"),
        ({"digits": 10}, "digits is 10; expected a whole number from 1 to 9"),
        ({"pattern": "[A-"}, "pattern is '[A-'; expected letters, digits and classes"),
        ({"pattern": ""}, "pattern is empty"),
        ({"pattern": "[.-]"}, "pattern is '[.-]'; expected"),
        ({"pattern": "[A-Z]{9}"}, "spells too many codes"),
        ({"values": ["A*"]}, "'A*' is no code; expected letters and digits, or kind = categorical"),
        ({"values": ["A1", "A-1"]}, "values names 'A-1' twice, punctuation aside"),
        ({"values": [], "levels": [1]}, "values is []; expected a list of codes"),
        (
            {"values": ["A1"], "levels": [2, 1]},
            "levels is [2, 1]; expected lengths of beginnings that rise, from 1 to 2",
        ),
        ({"values": ["A1"], "levels": [True]}, "levels is [True]"),
        ({"digits": 3, "levels": [3]}, "levels is [3]; expected lengths of beginnings that rise, from 1 to 2"),
        ({"digits": 3, "coarsen": 3}, "coarsen is 3; expected a whole number from 0 to 2"),
    ],
)
def test_declarations_without_a_meaning(spec: dict[str, Any], expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema(**spec)
    assert expected in str(caught.value)
