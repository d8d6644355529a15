"""Sums and means where numbers have no end, or stand in one of several sensitive columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import QueryError

ROUNDED = 1e-8
"""Means are told to nine digits."""
NUMBERS = np.random.default_rng(4)
PEOPLE = {
    "age": NUMBERS.integers(0, 110, 400).tolist(),
    "ill": NUMBERS.choice(["no", "yes"], 400).tolist(),
    "income": NUMBERS.choice(["", "0", "1", "2", "3"], 400).tolist(),
}


def release_of(k: int, **age: Any) -> sf.Release:
    columns = {
        "age": {"role": "quasi", "kind": "numeric", **age},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
        "income": {"role": "sensitive", "kind": "numeric", "min": 0, "max": 3, "nullable": True},
    }
    return sf.Mondrian(k=k).publish(sf.read(PEOPLE, {"columns": columns}))


@pytest.mark.parametrize("ends", [{"bottom": 10, "top": 90}, {"edges": [10, 20, 50, 90], "bottom": 10, "top": 90}])
@pytest.mark.parametrize("k", [1, 40])
def test_what_has_no_end_is_not_added_up(ends: dict[str, Any], k: int) -> None:
    release = release_of(k, **({"step": 1} if "edges" not in ends else {}), **ends)
    with pytest.raises(QueryError, match="nobody knows how far 'age' goes beyond 90"):
        release.sum("age")
    with pytest.raises(QueryError, match="nobody knows how far 'age' goes beyond 10"):
        release.mean("age", "age < 90")
    inside = [age for age in PEOPLE["age"] if 20 <= age < 90]
    found = release.sum("age", "age >= 20 and age < 90")
    assert found.low <= sum(inside) <= found.high
    assert np.isfinite([found.low, found.estimate, found.high]).all()


@pytest.mark.parametrize("k", [1, 10, 100])
def test_numbers_of_one_of_several_secrets_are_added_up(k: int) -> None:
    release = release_of(k, min=0, max=120)
    of = [
        float(income) for age, ill, income in zip(*PEOPLE.values(), strict=True) if income and ill == "yes" and age < 60
    ]
    total, mean = release.sum("income", "ill = yes and age < 60"), release.mean("income", "ill = yes and age < 60")
    assert total.low <= sum(of) <= total.high
    assert mean.low * (1 - ROUNDED) <= np.mean(of) <= mean.high * (1 + ROUNDED)
    if k == 1:
        assert total.low == total.high == sum(of)
