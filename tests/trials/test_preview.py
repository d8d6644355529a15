"""Previews: every share adds up, and the original looks like the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from brute_force import small_table
from sfumato.data import read
from sfumato.methods import METHODS, FullSuppression, LocalNoise, Method, Mondrian, Original, QuadTree
from sfumato.trials.preview import MAX_BARS, SHOWN_ROWS, Preview, preview, sample_rows
from sfumato.trials.trial import Trial

if TYPE_CHECKING:
    from sfumato.data import Table

SCHEMA = {
    "columns": {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
        "town": {"role": "quasi", "kind": "categorical", "values": ["A", "B"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": [f"v{number}" for number in range(20)]},
    }
}


@pytest.fixture(scope="module")
def table() -> Table:
    generator = np.random.default_rng(3)
    ages = [None if age > 95 else age for age in generator.integers(0, 100, 400).tolist()]
    values = [f"v{min(number, 19)}" for number in generator.geometric(0.3, 400).tolist()]
    return read(pl.DataFrame({"age": ages, "town": generator.choice(["A", "B"], 400).tolist(), "ill": values}), SCHEMA)


def shown(table: Table, method: Method) -> Preview:
    return preview(table, Trial(method=method))


def test_the_original_is_spread_as_the_table_is(table: Table) -> None:
    for column in shown(table, Original()).columns:
        assert column.release == pytest.approx(column.table)
        assert sum(column.table) == pytest.approx(1)


def test_everything_suppressed_is_spread_evenly_but_for_the_sensitive_column(table: Table) -> None:
    age, town, ill = shown(table, FullSuppression()).columns
    assert town.release == pytest.approx([0.5, 0.5])
    assert age.release[-1] == pytest.approx(1 / 101)
    assert ill.release == pytest.approx(ill.table)


@pytest.mark.parametrize(
    "method", [Mondrian(k=5), Mondrian(k=5, recoding="bucketize"), QuadTree(epsilon=1), LocalNoise(epsilon=2)], ids=str
)
def test_shares_add_up_and_columns_are_short(table: Table, method: Method) -> None:
    found = shown(table, method)
    assert [column.column for column in found.columns] == ["age", "town", "ill"]
    assert 1 <= len(found.rows) <= SHOWN_ROWS
    assert {len(row) for row in found.rows} == {len(found.header)}
    for column in found.columns:
        assert len(column.values) == len(column.table) == len(column.release) <= MAX_BARS + 1
        assert sum(column.release) == pytest.approx(1)
        assert min(column.release) >= 0


def test_a_spread_that_forgot_the_width_of_boxes_would_be_seen(table: Table) -> None:
    """A class of ten years has a tenth of its people in each; the even twin of the original has them all."""
    exact, coarse = (shown(table, method).columns[0].release for method in (Original(), Mondrian(k=100)))
    assert np.abs(np.subtract(exact, coarse)).max() > 0.005


def test_rows_of_the_table_are_spelled_by_its_schema(table: Table) -> None:
    rows = sample_rows(table)
    assert len(rows) == SHOWN_ROWS
    assert all(town in ("A", "B") and ill.startswith("v") for _, town, ill in rows)


def test_every_method_can_be_previewed() -> None:
    small = small_table()
    for kind in METHODS.values():
        for method in [*kind.grid(small)][:1]:
            if kind.by_default:
                assert shown(small, method).columns
