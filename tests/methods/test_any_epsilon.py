"""Every private method at every size of ε, on tables with hardly anybody in them: a release, or one sentence why not.

What happens at an ε may not depend on the rows, so nothing here may fail, warn or hang.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from sfumato.data import read
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.methods import METHODS, PrivBayes
from sfumato.methods.base import PrivateMethod
from sfumato.methods.models import binning, marginals, privbayes

if TYPE_CHECKING:
    from sfumato.data import Table

EPSILONS = (1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e5, 1e6)
SIZES = (0, 1, 2, 300)
LIMITED = ("dirichlet", "local")
"""Below some ε, or above another, they have nothing to offer, and say so whatever the rows are."""
PRIVATE = sorted(name for name, kind in METHODS.items() if issubclass(kind, PrivateMethod) and name != "mst")
MOST_ROWS = 2_000
SCHEMA = {
    "columns": {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
        "sex": {"role": "quasi", "kind": "categorical", "values": ["F", "M"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "flu", "hiv"]},
    }
}


def people(rows: int) -> Table:
    generator = np.random.default_rng(rows)
    columns = {
        "age": pl.Series(generator.integers(0, 100, rows), dtype=pl.Int64),
        "sex": pl.Series(generator.choice(["F", "M"], rows).tolist(), dtype=pl.String),
        "ill": pl.Series(generator.choice(["no", "flu", "hiv"], rows).tolist(), dtype=pl.String),
    }
    return read(pl.DataFrame(columns), SCHEMA)


TABLES = {rows: people(rows) for rows in SIZES}


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the smallest ε, noise alone asks for millions of rows, which take their time."""
    for module in (binning, marginals):
        monkeypatch.setattr(module, "MAX_ROWS", MOST_ROWS)


def outcome(name: str, epsilon: float, rows: int) -> list[str]:
    """What came of every setting: nothing is a release."""
    found = []
    for setting in METHODS[name].grid(TABLES[rows], (epsilon,)):
        try:
            found.append("" if setting.publish(TABLES[rows]).claim.promises else "nothing is promised")
        except (ParameterError, UnsatisfiableError) as refusal:
            found.append(f"refused: {refusal}")
    return found


@pytest.mark.parametrize("name", PRIVATE)
def test_every_epsilon_gives_a_release_of_anybody(name: str) -> None:
    assert any(outcome(name, epsilon, 2) for epsilon in EPSILONS)
    for epsilon in EPSILONS:
        told = {frozenset(outcome(name, epsilon, rows)) for rows in SIZES}
        assert len(told) == 1, f"at ε = {epsilon:g} it depends on the rows whether there is a release"
        if name not in LIMITED:
            assert set(*told) == {""}, (epsilon, told)


def test_a_model_without_noise_divides_by_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: it used to weigh two counts by variances that were both zero."""
    monkeypatch.setattr(binning, "MIN_VARIANCE", 0.0)
    monkeypatch.setattr(privbayes, "MIN_VARIANCE", 0.0)
    with pytest.raises((RuntimeWarning, ValueError)):
        PrivBayes(epsilon=1e5).publish(TABLES[300])
