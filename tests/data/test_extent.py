"""How large a table is, told from its first piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data import blocks
from sfumato.data.extent import Extent, expected_cells
from sfumato.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
            "town": {"role": "quasi", "kind": "categorical", "values": list("abc"), "nullable": True},
            "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
        }
    }
)


def people(rows: int) -> pl.DataFrame:
    generator = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "name": [f"somebody {number:07}" for number in range(rows)],
            "age": generator.integers(100, size=rows),
            "town": generator.choice([*"abc", ""], rows),
            "ill": generator.choice(["no", "yes"], rows),
        }
    )


@pytest.mark.quick
def test_a_small_file_is_known_exactly(tmp_path: Path) -> None:
    people(500).write_csv(tmp_path / "people.csv")
    table = sf.read(tmp_path / "people.csv", SCHEMA)
    extent = Extent.of(tmp_path / "people.csv", SCHEMA)
    assert (extent.rows, extent.cells) == (table.n, len(table.cell_weight))
    assert (extent.columns, extent.positions, extent.text) == (3, 106, True)


@pytest.mark.quick
def test_a_large_file_is_told_from_its_first_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people(20_000).write_csv(tmp_path / "people.csv")
    table = sf.read(tmp_path / "people.csv", SCHEMA)
    monkeypatch.setattr(blocks, "BLOCK", 50_000)
    extent = Extent.of(tmp_path / "people.csv", SCHEMA)
    assert extent.rows == pytest.approx(table.n, rel=0.02)
    assert extent.cells == pytest.approx(len(table.cell_weight), rel=0.03)


@pytest.mark.quick
def test_values_that_do_not_fit_stop_nothing(tmp_path: Path) -> None:
    people(50).with_columns(age=pl.lit("old")).write_parquet(tmp_path / "people.parquet")
    extent = Extent.of(tmp_path / "people.parquet", SCHEMA)
    assert (extent.rows, extent.text) == (50, False)


@pytest.mark.quick
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("cells", [2_000, 200_000])
def test_cells_of_more_rows_are_foreseen(power: float, cells: int) -> None:
    """Cells as frequent as 1/rankᵖ, a tenth of the rows seen."""
    generator = np.random.default_rng(2)
    shares = np.arange(1, cells + 1.0) ** -power
    rows = generator.choice(cells, 100_000, p=shares / shares.sum())
    often = np.bincount(rows[:10_000])
    truth = len(np.unique(rows))
    assert 1 / 1.4 < expected_cells(often[often > 0], 100_000, cells) / truth < 1.4


@pytest.mark.quick
def test_no_more_cells_than_rows() -> None:
    ones = np.ones(1_000, dtype=np.int64)
    assert expected_cells(ones, 1_000) == 1_000
    assert 5_000 <= expected_cells(ones, 10_000) <= 10_000
    assert expected_cells(ones, 10_000, most=3_000) == 3_000
    assert expected_cells(5 * ones, 10_000) == 1_000
