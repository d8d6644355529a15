"""Groups of columns part their values, and tables of answers add up to the whole."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from brute_force import small_table
from sfumato.errors import ParameterError, QueryError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.release.grouping import parse_grouping
from sfumato.schema import Schema
from strategies import TableCase, tables

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "numeric", "min": 17, "max": 43},
    "half:1": {"role": "quasi", "kind": "numeric", "min": -1, "max": 1, "step": 0.5},
    "income": {"role": "quasi", "kind": "numeric", "edges": [0, 15, 20, 100, 101]},
    "children": {"role": "quasi", "kind": "numeric", "min": 0, "max": 3, "taxonomy": {"none": [0], "some": [1, 2, 3]}},
    "school": {"role": "quasi", "kind": "categorical", "nullable": True, "taxonomy": {"A": ["a", "b"], "C": ["c"]}},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
}
SCHEMA = Schema.parse({"columns": COLUMNS})


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("age:10", ["[17, 19]", "[20, 29]", "[30, 39]", "[40, 43]"]),
        ("age:1000", ["*"]),
        ("half:1", ["-1", "-0.5", "0", "0.5", "1"]),
        ("half:1:1", ["[-1, -0.5]", "[0, 0.5]", "1"]),
        ("income:50", ["[0, 100)", "[100, 101)"]),
        ("income", ["[0, 15)", "[15, 20)", "[20, 100)", "[100, 101)"]),
        ("children:^1", ["0", "[1, 3]"]),
        ("children:2", ["[0, 1]", "[2, 3]"]),
        ("school:1", ["A", "c", "(missing)"]),
        ("school", ["a", "b", "c", "(missing)"]),
        ("ill", ["no", "yes"]),
    ],
)
def test_groups_are_named_as_they_are_published(text: str, labels: list[str]) -> None:
    found = parse_grouping(text, SCHEMA)
    assert found.labels == labels


@given(tables(most_rows=12, most_quasi=3, most=6), st.data())
def test_a_table_of_exact_rows_counts_everybody_once(case: TableCase, data: st.DataObject) -> None:
    schema = case.case.schema
    by = [axis.name for axis in data.draw(st.lists(st.sampled_from(schema.axes), min_size=1, max_size=2, unique=True))]
    found = sf.Original().publish(case.table).marginal(by)
    assert sum(one.estimate for one in found.answers) == pytest.approx(case.table.n)
    assert all(one.low == one.high for one in found.answers)


def test_measured_tables_answer_a_table() -> None:
    """And their margins agree with it, as all tables of the method do; without much noise, no count is below zero."""
    table = small_table(400)
    release = sf.Tables(epsilon=1_000).publish(table, SimulatedSource(1))
    one, other = (axis.name for axis in table.schema.quasi[:2])
    both, alone = release.table([one, other]), release.table([one])
    sums = both.group_by(one, maintain_order=True).agg(pl.col("estimate").sum())
    assert sums["estimate"].to_numpy() == pytest.approx(alone["estimate"].to_numpy(), abs=0.1)
    assert all("the noise in the tables" in found.sentence for found in release.marginal([one, other]).answers)


def test_a_table_is_of_counts_or_of_what_is_named() -> None:
    release = sf.Mondrian(k=5).publish(small_table(60))
    name = release.schema.sensitive.name
    with pytest.raises(ParameterError, match="a count is of people"):
        release.table([name], of=name, kind="count")
    with pytest.raises(ParameterError, match="a count is of people"):
        release.table([name], kind="mean")
    with pytest.raises(QueryError, match="no column to group by"):
        release.table([])
