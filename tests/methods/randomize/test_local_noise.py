"""Local noise as a publishing method: quasi-identifiers stay, sensitive values get the noise, estimates undo it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2

from brute_force import small_table
from sfumato.data import Table, read
from sfumato.errors import ParameterError, ReleaseError
from sfumato.measures.attacks import UniqueMatches
from sfumato.measures.measure import measure
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import LocalNoise, Original
from sfumato.privacy.claims import LocalDP, NoGuarantee, parse_claim
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import publish_to
from sfumato.release import Release
from sfumato.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FALSE_FAILURE = 1e-6


def table_of(people: int, seed: int = 1, **sensitive: Any) -> Table:
    """Two groups of people whose numbers of visits, 0 to 9, are distributed differently."""
    generator = np.random.default_rng(seed)
    group = generator.integers(0, 2, people)
    visits = generator.binomial(9, np.where(group == 0, 0.2, 0.7))
    columns = {
        "group": {"role": "quasi", "kind": "numeric", "min": 0, "max": 1},
        "visits": {"role": "sensitive", "kind": "numeric", "min": 0, "max": 9} | sensitive,
    }
    frame = pl.DataFrame({"group": group, "visits": visits})
    return read(frame, Schema.parse({"name": "visits", "columns": columns}))


TABLE = table_of(20_000)


@pytest.mark.parametrize("mechanism", ["geometric", "laplace", "randomized-response"])
def test_every_row_keeps_its_place_and_gets_a_report(mechanism: str) -> None:
    method = LocalNoise(epsilon=4.5, mechanism=mechanism)
    release = method.publish(TABLE)
    assert (release.boxes.lo == TABLE.points).all()
    assert (release.histograms.sum(axis=1) == TABLE.weights).all()
    law = method.channel(TABLE.schema.sensitive)
    expected = np.array([law.spread(row.astype(float)) for row in TABLE.histograms])
    statistic = ((release.histograms - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(FALSE_FAILURE, df=2 * 9)
    assert (release.histograms != TABLE.histograms).any()


def test_epsilon_is_spread_over_the_axis() -> None:
    release = LocalNoise(epsilon=4.5, mechanism="geometric").publish(TABLE)
    assert release.channel is not None
    assert release.channel.exact_epsilon == Fraction(1, 2)
    assert release.claim == LocalDP(epsilon=4.5, per_step=0.5, assumptions=release.claim.assumptions)
    assert "90.1 (4.5-local" in release.claim.sentence()
    assert "values a step apart, by a factor of at most 1.65" in release.claim.sentence()
    assert parse_claim(release.claim.spec()) == release.claim


def test_a_release_comes_back_from_its_folder_with_its_channel(tmp_path: Path) -> None:
    release, folder = publish_to(
        LocalNoise(epsilon=9.0, mechanism="geometric"), TABLE, tmp_path / "r", ledger=Ledger(tmp_path / "ledger.json")
    )
    loaded = Release.load(folder)
    assert loaded.channel == release.channel
    assert loaded.claim == release.claim
    assert (loaded.histograms == release.histograms).all()
    assert loaded.query("group = 0 and visits <= 2") == pytest.approx(release.query("group = 0 and visits <= 2"))
    text = (folder / "release.json").read_text(encoding="utf-8")
    assert json.loads(text)["channel"] == {"mechanism": "geometric", "size": 10, "epsilon": "1"}
    assert pl.read_csv(folder / "data.csv").height == 20_000


def test_a_release_with_another_axis_than_its_channel_is_refused(tmp_path: Path) -> None:
    folder = LocalNoise(epsilon=9.0).publish(TABLE, SimulatedSource(1)).save(tmp_path / "r")
    path = folder / "release.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"size": 10', '"size": 11'), encoding="utf-8")
    with pytest.raises(ReleaseError, match="the channel does not fit the sensitive column"):
        Release.load(folder)


def test_the_ledger_is_charged_for_sensitive_values(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "ledger.json")
    publish_to(LocalNoise(epsilon=2.0), TABLE, tmp_path / "r", ledger=book)
    assert book.data_sets() == ["visits"]
    assert book.spent("visits").epsilon == 1


def test_estimates_undo_the_noise() -> None:
    """A query that the reports as they stand answer badly is answered well; so are whole histograms."""
    release = LocalNoise(epsilon=9.0, mechanism="geometric").publish(TABLE, SimulatedSource(3))
    truth = Original().publish(TABLE).query("group = 1 and visits >= 8")
    as_published = release.histograms[1, 8:].sum()
    assert abs(release.query("group = 1 and visits >= 8") - truth) < 0.1 * truth
    assert abs(as_published - truth) > 0.2 * truth


def test_less_noise_helps_recipients_and_adversaries_alike() -> None:
    found = [
        measure(TABLE, LocalNoise(epsilon=9 * unit, mechanism="geometric").publish(TABLE, SimulatedSource(5)))
        for unit in (0.1, 0.5, 3.0)
    ]
    for name, rising in (("query_error", False), ("u_loss", False), ("p_loss", True)):
        values = [measured[name].value for measured in found]
        assert values == sorted(values, reverse=not rising), (name, values)
    original = measure(TABLE, Original().publish(TABLE))
    assert found[-1]["query_error"].value < 0.05 < found[0]["query_error"].value
    assert found[-1]["p_loss"].value == pytest.approx(original["p_loss"].value, abs=0.01)


def test_the_grid_has_both_ways_to_count_epsilon() -> None:
    labels = [method.label for method in LocalNoise.grid(TABLE)]
    assert labels == [
        *(f"Local randomized-response ε={epsilon:g}" for epsilon in (0.1, 0.3, 1, 3)),
        *(f"Local geometric ε={epsilon:g}" for epsilon in (0.9, 2.7, 9, 27)),
    ]
    assert {method.mechanism for method in LocalNoise.grid(small_table())} == {"randomized-response"}


def test_missing_values_need_randomized_response() -> None:
    frame = pl.DataFrame({"group": [0, 0, 1, 1], "visits": ["1", "", "2", "3"]})
    columns = {
        "group": {"role": "quasi", "kind": "numeric", "min": 0, "max": 1},
        "visits": {"role": "sensitive", "kind": "numeric", "min": 0, "max": 9, "nullable": True},
    }
    table = read(frame, Schema.parse({"name": "visits", "columns": columns}))
    assert LocalNoise(epsilon=1.0).publish(table, SimulatedSource(1)).histograms.shape == (2, 11)
    with pytest.raises(ParameterError, match="needs a number for everybody, but 'visits' may be missing"):
        LocalNoise(epsilon=1.0, mechanism="geometric").publish(table, SimulatedSource(1))


def test_seeded_releases_promise_nothing() -> None:
    assert LocalNoise(epsilon=1.0).publish(TABLE, SimulatedSource(1)).claim == NoGuarantee(reason="seeded")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"epsilon": 1.0, "mechanism": "square-wave"}, "mechanism is 'square-wave'; expected one of geometric"),
    ],
)
def test_impossible_settings_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        LocalNoise(**parameters)


def test_rows_are_not_generated_from_rows(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "ledger.json")
    with pytest.raises(ParameterError, match="local publishes rows as they are"):
        publish_to(LocalNoise(epsilon=1.0), TABLE, tmp_path / "r", ledger=book, rows="synthetic")
    assert not book.path.exists()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (lambda spec: spec["claim"].update(epsilon=1e-9), "epsilon of the claim is 1e-09, but that of the channel is"),
        (lambda spec: spec["claim"].update(per_step=0.5), "per_step of the claim is 0.5, but that of the channel is"),
        (lambda spec: spec["channel"].update(epsilon="50"), "the claim is 9, but that of the channel is 450"),
        (lambda spec: spec["channel"].update(mechanism="randomized-response"), "per_step of the claim is 1, but"),
        (lambda spec: spec.pop("channel"), "noise on every value is claimed, but no channel is named"),
        (
            lambda spec: spec["claim"].update(claim="pure-dp") or spec["claim"].pop("per_step"),
            "promises local differential privacy, not 9-differential",
        ),
    ],
)
def test_a_claim_that_the_channel_does_not_keep_is_found(
    tmp_path: Path, changed: Callable[[dict[str, Any]], Any], sentence: str
) -> None:
    method = LocalNoise(epsilon=9.0, mechanism="geometric")
    ledger = Ledger(tmp_path / "ledger.json")
    _, folder = publish_to(method, TABLE, tmp_path / "r", ledger=ledger, beforehand=True)
    assert Release.load(folder).violations() == []
    spec = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    changed(spec)
    (folder / "release.json").write_text(json.dumps(spec), encoding="utf-8")
    assert any(sentence in violation for violation in Release.load(folder).violations())


def test_a_local_claim_about_presence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="neighbours is 'add-remove'; expected replace-sensitive"):
        parse_claim(LocalDP(epsilon=1.0).spec() | {"neighbours": "add-remove"})


def test_people_stay_real_whatever_is_promised(tmp_path: Path) -> None:
    """A release that promises nothing still shows who is in the table."""
    release = LocalNoise(epsilon=9.0).publish(table_of(3), SimulatedSource(1))
    loaded = Release.load(release.save(tmp_path / "r"))
    assert loaded.exact_people
    assert [UniqueMatches().run(table_of(3), one)["singled_out"] for one in (release, loaded)] == [1 / 3, 1 / 3]


@pytest.mark.parametrize(("epsilon", "off"), [(0.1, 0.5), (0.3, 0.3)])
def test_a_common_value_is_found_again_however_slow_updates_are(epsilon: float, off: float) -> None:
    """Plain updates stopped after 300 steps would answer a tenth of the truth."""
    values = np.where(np.arange(200_000) % 4 < 3, 0, np.arange(200_000) % 15 + 1)
    columns = {
        "group": {"role": "quasi", "kind": "numeric", "min": 0, "max": 1},
        "visits": {"role": "sensitive", "kind": "numeric", "min": 0, "max": 15},
    }
    frame = pl.DataFrame({"group": np.zeros(200_000, dtype=int), "visits": values})
    table = read(frame, Schema.parse({"name": "visits", "columns": columns}))
    release = LocalNoise(epsilon=epsilon).publish(table, SimulatedSource(2))
    assert release.query("visits = 0") == pytest.approx((values == 0).sum(), rel=off)
