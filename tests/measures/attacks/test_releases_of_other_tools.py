"""Files that other tools de-identified: the figures that NIST's own report gives, and no surprises in the rest."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sfumato import read_published
from sfumato.data import Table, read
from sfumato.measures.attacks import UniqueMatches
from sfumato.measures.attacks.disclosure import disclosure_added
from sfumato.measures.attacks.sampled_risk import SampledRisk
from sfumato.measures.measure import MEASURES, measure
from sfumato.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("SEX", "MSP", "RAC1P", "OWN_RENT", "PINCP_DECILE", "EDU", "AGEP", "HOUSING_TYPE", "DVET", "DEYE")
ALWAYS = {"smallest_class", "fitted_guesses", "fitted_surest"}
BUCKETS = {"definetti_guesses", "definetti_surest"}
SURVEYED = {measure.name for measure in SampledRisk.measures}
"""Measures of tables with survey weights alone."""


@pytest.fixture(scope="module")
def national_schema(data_folder: Path) -> Schema:
    declared = json.loads((data_folder / "census" / "national2019.json").read_text(encoding="utf-8"))["schema"]

    def column(name: str) -> dict[str, Any]:
        entry = declared[name]
        spec: dict[str, Any] = {"role": "sensitive" if name == "PINCP_DECILE" else "quasi"}
        if "values" in entry:
            spec |= {"kind": "categorical", "values": [value for value in entry["values"] if value != "N"]}
        else:
            spec |= {"kind": "numeric", "min": entry["min"], "max": entry["max"]}
        return spec | ({"nullable": True} if entry.get("has_null") else {})

    return Schema.parse({"name": "national", "missing": ["N"], "columns": {name: column(name) for name in COLUMNS}})


@pytest.fixture(scope="module")
def national(data_folder: Path, national_schema: Schema) -> Table:
    return read(data_folder / "census" / "national2019.csv", national_schema)


def test_unique_people_that_k_anonymity_of_all_columns_left_unchanged(
    data_folder: Path, national: Table, national_schema: Schema
) -> None:
    """NIST: 7,073 unique exact matches, 47.41% of the original's unique records."""
    assert national.n == 27_253
    release = read_published(data_folder / "releases" / "k_anonymity_k_6.csv", national_schema)
    found = UniqueMatches().run(national, release)
    assert found["unique_matches"] == 7073
    assert round(found["unique_match_share"], 4) == 0.4741


@pytest.mark.parametrize(
    ("name", "rows", "recodes"),
    [("k_anonymity_k_6", 18_720, True), ("pram_default", 27_253, False), ("aim_e_10_all", 27_253, False)],
)
def test_every_file_can_be_measured(
    data_folder: Path, national: Table, national_schema: Schema, name: str, rows: int, recodes: bool
) -> None:
    """The certainty of values is not that of made-up rows."""
    release = read_published(data_folder / "releases" / f"{name}.csv", national_schema)
    assert release.rows == rows
    found = measure(national, release)
    wanted = {name for name in MEASURES if recodes or not MEASURES[name].optional or name in ALWAYS}
    assert set(found) == wanted - BUCKETS - SURVEYED
    assert np.isfinite([measured.value for measured in found.values()]).all()
    assert found["suppressed"].value == pytest.approx(1 - rows / national.n)
    if recodes:
        assert found["ncp"].value >= found["suppressed"].value - 1e-12


def test_unique_matches_agree_with_counting_lines(data_folder: Path, national: Table, national_schema: Schema) -> None:
    """By the raw text of each line, numbers spelled without a needless fraction."""

    def lines(path: Path) -> list[tuple[str, ...]]:
        head, *rows = (line.split(",") for line in path.read_text(encoding="utf-8").splitlines())
        where = [head.index(name) for name in COLUMNS]
        return [tuple(row[i].removesuffix(".0") for i in where) for row in rows]

    original = Counter(lines(data_folder / "census" / "national2019.csv"))
    alone = {line for line, times in original.items() if times == 1}
    for name in ("k_anonymity_k_6", "pram_default", "aim_e_10_all"):
        path = data_folder / "releases" / f"{name}.csv"
        matched = len(alone & set(lines(path)))
        found = UniqueMatches().run(national, read_published(path, national_schema))
        assert found["unique_matches"] == matched
        assert found["unique_match_share"] == pytest.approx(matched / len(alone))


def test_rows_of_a_private_generator_add_nothing_and_swapped_rows_do(
    data_folder: Path, national: Table, national_schema: Schema
) -> None:
    """AIM at ε = 10 says nothing about its people that others' rows do not; PRAM and a broken k-anonymity do."""
    added = {}
    for name in ("k_anonymity_k_6", "pram_default", "aim_e_10_all"):
        release = read_published(data_folder / "releases" / f"{name}.csv", national_schema)
        added[name] = disclosure_added(national, release).value
    assert added["aim_e_10_all"] < 0.05
    assert min(added["k_anonymity_k_6"], added["pram_default"]) > 0.5
