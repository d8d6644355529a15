"""Households as what is protected: at most so many rows of each are used, and ε is that of a household."""

from __future__ import annotations

import random
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest
from audit import exact
from audit.cases import PAIRS, quick
from audit.exact import examine_pair
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data import Table, read
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import LocalNoise, Mondrian, QuadTree
from sfumato.privacy.claims import Conditional, PureDP, parse_claim
from sfumato.release import Release
from sfumato.release.verification import verify_folder
from sfumato.schema import Schema

Row = tuple[str | None, str, int, str]
ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from("pqr"),
        st.integers(0, 4),
        st.sampled_from(["no", "yes"]),
    ),
    max_size=12,
)


def table_of(rows: list[Row], limit: int = 1, *, protect: bool = True) -> Table:
    columns = {
        "home": {"role": "household"},
        "patient": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 4},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    top = {"protect": "household", "rows_per_household": limit} if protect else {}
    kinds = {"home": pl.String, "patient": pl.String, "age": pl.Int64, "ill": pl.String}
    return read(pl.DataFrame(rows, schema=kinds, orient="row"), Schema.parse({"columns": columns, **top}))


def cells(table: Table) -> dict[tuple[int, int], int]:
    ages = table.points[table.cell_point, 0].tolist()
    return dict(zip(zip(ages, table.cell_value.tolist(), strict=True), table.cell_weight.tolist(), strict=True))


@settings(max_examples=30)
@given(ROWS, ROWS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_household_more_adds_its_rows_and_changes_no_other(
    others: list[Row], own: list[Row], limit: int, shuffle: random.Random
) -> None:
    """Whoever lives in it: its people are the same ones that live in others."""
    own = [("x", *rest) for _, *rest in own]  # type: ignore[misc]
    together = [*others, *own]
    shuffle.shuffle(together)
    without, alone, both = (cells(table_of(rows, limit)) for rows in (others, own, together))
    assert sum(alone.values()) == min(len(own), limit)
    assert {cell: without.get(cell, 0) + alone.get(cell, 0) for cell in without.keys() | alone.keys()} == both
    assert table_of(others, limit).unowned == sum(home is None for home, *_ in others)


ROOMS: list[Row] = [
    (f"h{number // 4}", f"p{number}", number % 5, "no" if number % 3 else "yes") for number in range(80)
]


def test_the_claim_is_about_a_household(tmp_path: Path) -> None:
    release = QuadTree(epsilon=1).publish(table_of(ROOMS, 3))
    claim = release.claim
    assert claim.sentence().startswith("whether any one household is in the table changes")
    assert "some household" in " ".join(claim.in_words())
    assert "person" not in claim.sentence()
    assert any("all who have the same home; at most 3 rows of each are used" in line for line in claim.assumptions)
    assert claim.spec()["unit"] == "household"
    assert parse_claim(claim.spec()) == claim
    conditional = Conditional(given=claim, looked="a measurement")
    assert parse_claim(conditional.spec()) == conditional
    assert conditional.unit == "household"
    release.save(tmp_path / "out")
    found = verify_folder(tmp_path / "out", Release.load(tmp_path / "out"))
    assert (found.outcome, found.contradictions) == ("undecided", ())


def test_a_claim_about_a_household_needs_rows_chosen_by_household(tmp_path: Path) -> None:
    release = QuadTree(epsilon=1).publish(table_of(ROOMS, protect=False))
    assert "person" in release.claim.sentence()
    forged = release.claim.protecting("household")
    path = tmp_path / "out" / "release.json"
    release.save(tmp_path / "out")
    path.write_text(path.read_text().replace('"neighbours"', '"unit": "household",\n    "neighbours"'))
    loaded = Release.load(tmp_path / "out")
    assert loaded.claim.spec() == forged.spec()
    assert any("chosen for each person" in sentence for sentence in loaded.violations())


def test_classes_then_count_households() -> None:
    release = Mondrian(k=4).publish(table_of(ROOMS, 3))
    assert release.rows == 20
    assert release.weights.min() >= 4
    assert any("one row of each is published" in line for line in release.claim.assumptions)
    assert LocalNoise(epsilon=1).publish(table_of(ROOMS)).rows == 20
    assert isinstance(QuadTree(epsilon=1).publish(table_of(ROOMS, 3)).claim, PureDP)


@pytest.mark.parametrize("by_rows", [False, True])
def test_epsilon_is_that_of_all_rows_of_a_household(by_rows: bool) -> None:
    """The twin spends on every row what a household of five may cost, and is caught by its transcripts."""
    twin = patch.object(exact, "_per_row", lambda method, table: method.total) if by_rows else nullcontext()
    with quick(), twin:
        pair = PAIRS["five rows a household"]
        found = list(examine_pair(QuadTree(epsilon=1, height=1), pair, SimulatedSource(3), 40))
    assert found
    assert any(each.faults for each in found) == by_rows
