"""The same methods under ε, (ε, δ) and ρ: what is promised, what is drawn, what the ledger and `verify` see."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.parameters import method_from, options_for
from sfumato.errors import ParameterError
from sfumato.measures.workloads import HalfDomainCounts
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import METHODS, DPMethod, make_method
from sfumato.methods.models import binning, marginals
from sfumato.privacy.claims import ApproximateDP, Choice, PureDP, parse_claim
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Approximate, Concentrated, Pure
from sfumato.publish.agreement import contradicts_parameters
from sfumato.release import Release

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.data import Table

KINDS = [kind for kind in METHODS.values() if issubclass(kind, DPMethod)]
QUICK = [kind for kind in KINDS if kind.name != "mst"]
NEEDED = {"diffmulti": {"h": 20}, "diffgen": {"h": 4}}
SCHEMA: dict[str, Any] = {
    "name": "people of a test",
    "columns": {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
        "sex": {"role": "quasi", "kind": "categorical", "values": ["F", "M"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "flu", "hiv"]},
    },
}


def made(kind: type[DPMethod], **parameters: float) -> DPMethod:
    return kind(**NEEDED.get(kind.name, {}), **parameters)


@pytest.fixture(scope="module")
def table() -> Table:
    generator = np.random.default_rng(7)
    age = generator.integers(0, 100, 3_000)
    ill = np.where(age > 60, generator.choice(["flu", "hiv"], 3_000), "no")
    return sf.read(pl.DataFrame({"age": age, "sex": generator.choice(["F", "M"], 3_000), "ill": ill}), SCHEMA)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_budget_is_one_of_three(kind: type[DPMethod]) -> None:
    with_delta, with_rho = made(kind, epsilon=1, delta=1e-6), made(kind, rho=0.02)
    assert with_delta.total == Approximate(Fraction(1), Fraction(1, 10**6)).concentrated()
    assert with_rho.total == Concentrated(Fraction(1, 50))
    if kind.name != "mst":
        assert made(kind, epsilon=1).total == Pure(Fraction(1))
        assert made(kind, epsilon=1).claim == PureDP(epsilon=1)
    for method in (with_delta, with_rho):
        claim = method.claim
        assert isinstance(claim, ApproximateDP)
        assert claim.rho is not None
        assert method.total.rho <= Fraction(str(claim.rho)) <= method.total.rho * Fraction(1 + 1e-6)
        assert claim.cost == Approximate(Fraction(str(method.epsilon)), Fraction(str(method.delta)))
        assert parse_claim(json.loads(json.dumps(claim.spec()))) == claim
        assert make_method(kind.name, json.loads(json.dumps(method.parameters()))) == method
        words = options_for(method)
        options = {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)}
        numbers = {name: float(value) if value[0].isdigit() else value for name, value in options.items()}
        assert method_from(kind.name, numbers) == method


def test_rho_tells_the_epsilon_that_it_implies() -> None:
    method = sf.Synthesis(rho=0.02, delta=1e-6)
    exact = Concentrated(Fraction(1, 50)).approximate(Fraction(1, 10**6)).epsilon
    assert exact <= Fraction(str(method.epsilon)) <= exact * (1 + Fraction(1, 10**8))
    assert method.label == f"Synthesis ε={method.epsilon:g} δ=1e-06 ρ=0.02"
    assert sf.Synthesis(rho=0.02).delta == 1e-9
    assert sf.Synthesis(rho=0.02, delta=1e-6, epsilon=method.epsilon) == method


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({}, "quad-tree needs epsilon, such as 1, or rho"),
        ({"epsilon": 1, "rho": 0.1}, "epsilon is 1, but rho 0.1 and delta 1e-09 mean 2.71548; give rho or epsilon"),
        ({"rho": -1}, "rho is -1; expected a number from 1e-12 to 500,000"),
        ({"rho": "x"}, "rho is 'x'; expected a number from 1e-12 to 500,000"),
        ({"rho": 1e-40}, "rho is 1e-40; expected a number from 1e-12"),
        ({"rho": 0.1, "delta": 2}, "delta is 2; expected a number above 0 and below 1"),
        ({"epsilon": 1, "delta": 0}, "delta is 0; expected a number above 0 and below 1"),
    ],
)
def test_other_budgets_are_refused(parameters: dict[str, float], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        sf.QuadTree(**parameters)


@pytest.mark.parametrize("kind", QUICK, ids=lambda kind: kind.name)
@pytest.mark.parametrize("amounts", [{"epsilon": 1, "delta": 1e-6}, {"rho": 0.5}], ids=["delta", "rho"])
def test_releases_under_gaussian_noise_are_written_charged_and_verified(
    kind: type[DPMethod], amounts: dict[str, float], table: Table, tmp_path: Path
) -> None:
    ledger, method = Ledger(tmp_path / "ledger.sqlite"), made(kind, **amounts)
    release, folder = sf.publish_to(method, table, tmp_path / "release", ledger=ledger)
    entry = ledger.entry(str(release.provenance.id))
    assert entry.concentrated == release.claim.concentrated == method.claim.concentrated
    assert entry.cost == method.claim.cost
    loaded = Release.load(folder)
    assert loaded.claim == release.claim
    assert contradicts_parameters(loaded) == []


def test_a_folder_that_claims_a_smaller_rho_is_found_out(table: Table, tmp_path: Path) -> None:
    method = sf.QuadTree(rho=0.5)
    _, folder = sf.publish_to(method, table, tmp_path / "release", ledger=Ledger(tmp_path / "ledger.sqlite"))
    path = folder / "release.json"
    spec = json.loads(path.read_text(encoding="utf-8"))
    spec["claim"]["rho"] = 0.4
    path.write_text(json.dumps(spec), encoding="utf-8")
    assert contradicts_parameters(Release.load(folder)) == [f"{method.label} costs ρ = 0.5, the claim says ρ = 0.4"]
    del spec["claim"]["rho"]
    path.write_text(json.dumps(spec), encoding="utf-8")
    assert contradicts_parameters(Release.load(folder)) == []


@pytest.mark.parametrize("kind", [sf.Marginals, sf.Synthesis, sf.QuadTree], ids=lambda kind: kind.name)
def test_more_of_rho_is_less_noise(kind: type[DPMethod], table: Table) -> None:
    """The median error of counts over six draws is several times as large at a thousandth of ρ."""
    workload = HalfDomainCounts(count=200)

    def error(rho: float) -> float:
        releases = [kind(rho=rho).publish(table, SimulatedSource(seed)) for seed in range(6)]
        return float(np.median([workload.run(table, release)["query_error"] for release in releases]))

    assert error(1e-4) > 3 * error(0.1)


@pytest.mark.parametrize("kind", QUICK, ids=lambda kind: kind.name)
@pytest.mark.parametrize("rho", [1e-12, 1e-6, 1e5])
def test_every_size_of_rho_gives_a_release_of_anybody(
    kind: type[DPMethod], rho: float, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (binning, marginals):
        monkeypatch.setattr(module, "MAX_ROWS", 2_000)
    for rows in (0, 1, 300):
        some = sf.read(
            pl.DataFrame(
                {"age": ["5"] * rows, "sex": ["F"] * rows, "ill": ["no"] * rows},
                schema=dict.fromkeys(("age", "sex", "ill"), pl.String),
            ),
            SCHEMA,
        )
        assert made(kind, rho=rho).publish(some).claim.promises


def test_a_budget_that_is_nothing_but_noise_for_a_row_is_refused() -> None:
    columns = {**SCHEMA["columns"], "patient": {"role": "identifier"}}
    visits = sf.read(
        pl.DataFrame({"age": [5], "sex": ["F"], "ill": ["no"], "patient": ["a"]}),
        {"name": "visits", "rows_per_person": 100_000, "columns": columns},
    )
    for method in (sf.PrivTree(epsilon=1e-12), sf.DiffMulti(epsilon=1e-12, delta=1e-300, h=5)):
        with pytest.raises(ParameterError, match="one of 100,000 rows of a person has too little"):
            method.publish(visits)


def test_after_a_pilot_epsilon_does_not_follow_from_rho() -> None:
    claim = sf.QuadTree(rho=0.1).claim.chosen(Choice(epsilon=0.15, pilot="x"))
    assert "zCDP" not in str(claim)
    assert claim.concentrated is None
    assert claim.epsilon == pytest.approx(sf.QuadTree(rho=0.1).epsilon + 0.15)
