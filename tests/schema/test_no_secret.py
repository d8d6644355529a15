"""Values of the sensitive column that are no secret: what a schema says of them, and what follows for releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import SchemaError
from sfumato.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path


def spec(**more: Any) -> dict[str, Any]:
    income = {"role": "sensitive", "kind": "categorical", "values": ["low", "high", "N"], "nullable": True}
    age = {"role": "quasi", "kind": "numeric", "min": 0, "max": 99}
    return {"name": "survey", "columns": {"age": age, "income": income | more}}


def survey(rows: int, *, children: int = 50, low: float = 0.5, **more: Any) -> sf.Table:
    """Whoever is younger than `children` has no income; that of the others is low by chance."""
    ages = np.arange(rows) * 100 // rows
    is_low = np.random.default_rng(1).random(rows) < low
    incomes = np.where(ages < children, "N", np.where(is_low, "low", "high"))
    return sf.read({"age": ages.tolist(), "income": incomes.tolist()}, Schema.parse(spec(**more)))


def test_a_schema_names_them_and_comes_back_from_its_file() -> None:
    schema = Schema.parse(spec(not_sensitive=["N", "missing"]))
    assert schema.sensitive.secret.tolist() == [True, True, False, False]
    assert Schema.parse(schema.spec()) == schema
    assert Schema.parse(spec()).sensitive.secret.all()


@pytest.mark.parametrize(
    ("column", "given", "problem"),
    [
        ("income", ["X"], "not_sensitive: column 'income': 'X' is neither one of"),
        ("income", "N", "expected a list of values"),
        ("income", [], "expected a list of values"),
        ("income", ["low", "high", "N", "missing"], "leaves no secret"),
        ("age", [3], "for the sensitive column alone"),
    ],
)
def test_what_names_no_such_value_is_refused(column: str, given: Any, problem: str) -> None:
    broken = spec()
    broken["columns"][column]["not_sensitive"] = given
    with pytest.raises(SchemaError, match=problem):
        Schema.parse(broken)


def test_a_class_without_secrets_is_diverse_and_the_claim_says_why(tmp_path: Path) -> None:
    """Where "not applicable" is a secret, no class of children alone is allowed."""
    told = sf.Mondrian(k=20, l=1.6).publish(survey(400, not_sensitive=["N"]))
    hidden = sf.Mondrian(k=20, l=1.6).publish(survey(400))
    alone = told.histograms[:, 2] == told.histograms.sum(axis=1)
    assert alone.any()
    assert not (hidden.histograms[:, 2] == hidden.histograms.sum(axis=1)).any()
    assert len(told.boxes) > len(hidden.boxes)
    assert "it harms nobody if it is known that their income is N" in told.claim.assumptions
    assert sf.load_release(told.save(tmp_path / "told")).verified().claim == told.claim


def test_what_is_told_of_them_is_no_disclosure() -> None:
    """Most incomes are low, so that a wide class tells nothing but that children have none."""

    def disclosed(**more: Any) -> float:
        table = survey(400, children=30, low=0.8, **more)
        return sf.measure(table, sf.Mondrian(k=100).publish(table))["disclosure"].value

    assert disclosed() > 0.8
    assert disclosed(not_sensitive=["N"]) < 0.1
