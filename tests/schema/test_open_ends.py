"""Top and bottom coding, and bins on a log scale."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.data import read
from sfumato.errors import SchemaError
from sfumato.release.query import parse_query
from sfumato.schema import NumericAxis, Schema, Span
from sfumato.schema.bins import log_edges

ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}


def schema(**spec: Any) -> Schema:
    return Schema.parse({"columns": {"pay": {"role": "quasi", "kind": "numeric", **spec}, "ill": ILL}})


def axis(**spec: Any) -> NumericAxis:
    found = schema(**spec).quasi[0]
    assert isinstance(found, NumericAxis)
    return found


CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({"min": 87, "top": 90}, ["87", "88", "89", ">= 90"]),
    ({"bottom": 18, "max": 20}, ["<= 18", "19", "20"]),
    ({"bottom": 18, "top": 20, "step": 0.5}, ["<= 18", "18.5", "19", "19.5", ">= 20"]),
    ({"edges": [0, 10, 20], "top": 200, "bottom": 0}, ["< 0", "[0, 10)", "[10, 20)", "[20, 200)", ">= 200"]),
    ({"edges": [0, 10], "top": 10}, ["[0, 10)", ">= 10"]),
    ({"edges": [5], "top": 5, "bottom": 5}, ["< 5", ">= 5"]),
    ({"min": 0, "top": 25, "width": 10}, ["[0, 10)", "[10, 20)", "[20, 25)", ">= 25"]),
    ({"min": 1, "max": 100, "bins": "log"},
     ["[1, 2)", "[2, 5)", "[5, 10)", "[10, 20)", "[20, 50)", "[50, 100)"]),
    ({"bottom": 1, "top": 100, "bins": "log", "per_decade": 1}, ["< 1", "[1, 10)", "[10, 100)", ">= 100"]),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "labels"), CASES)
def test_labels_read_back(spec: dict[str, Any], labels: list[str]) -> None:
    found = axis(**spec)
    assert found.labels == labels
    assert Schema.parse(schema(**found.spec()).spec()).quasi[0] == found
    for lo in range(found.size):
        assert found.encode([float(found.raw_spelling(lo))]).tolist() == [lo]
        for hi in range(lo, found.size):
            assert found.parse(found.label(Span(lo, hi, False))) == Span(lo, hi, False)


def test_whatever_lies_beyond_belongs_to_the_end() -> None:
    grid = axis(bottom=18, top=90)
    values = np.array([-1e9, 17.5, 18, 18.5, 90, 90.25, 1e9, math.inf, -math.inf, math.nan])
    assert grid.encode(values).tolist() == [0, 0, 0, -2, 72, 72, 72, 72, 0, -2]
    bins = axis(edges=[0, 10], bottom=0, top=10)
    assert bins.encode(values).tolist() == [0, 2, 2, 2, 2, 2, 2, 2, 0, -2]
    assert grid.place(grid.encode(values), values).tolist()[3] == -2, "not on the grid is refused as ever"


def test_what_lies_beyond_is_not_off_the_schema() -> None:
    frame = pl.DataFrame({"pay": ["300000", "5", "-3", "x"], "ill": ["no", "yes"] * 2})
    spec = {"edges": [0, 1000, 200000], "top": 200000, "bottom": 0, "nullable": True, "off_schema": "missing"}
    table = read(frame, schema(**spec))
    assert table.points[:, 0].tolist() == [-1, 0, 1, 3]
    assert parse_query("pay >= 200000", table.schema).matches(table) == 1
    assert parse_query("pay < 0", table.schema).matches(table) == 1
    assert parse_query("pay = '200000+'", table.schema).matches(table) == 1


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"min": 0, "max": 5, "top": 5}, "top and max are given"),
        ({"top": 5, "bottom": 5}, "all numbers are one value"),
        ({"edges": [0, 10], "top": 5}, "edges lie below bottom or above top"),
        ({"min": 0, "max": 9, "bins": "log"}, "bins on a log scale begin above 0, but min is 0"),
        ({"min": 1, "max": 9, "bins": "even"}, "bins is 'even'; expected \"log\""),
        ({"min": 1, "max": 9, "bins": "log", "per_decade": 0}, "per_decade is 0; expected a whole number from 1"),
        ({"min": 1, "max": 9, "bins": "log", "width": 2}, "bins and width are given"),
        ({"min": 1, "max": 9, "per_decade": 2}, "per_decade has a meaning beside bins alone"),
        ({"edges": [0, 10], "top": True}, "top is True; expected a number"),
    ],
)
def test_declarations_without_a_meaning(spec: dict[str, Any], expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema(**spec)
    assert expected in str(caught.value)


@pytest.mark.parametrize("per_decade", [1, 2, 3, 4, 5, 10, 100])
def test_log_edges_rise_by_about_the_same_factor(per_decade: int) -> None:
    edges = np.array(log_edges(0.1, 1e6, per_decade))
    assert len(edges) == 7 * per_decade + 1
    steps = edges[1:] / edges[:-1]
    assert (steps > 1).all()
    assert (steps < 10 ** (1.7 / per_decade)).all()
