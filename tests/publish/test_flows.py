"""Synthetic flows in a folder: charged first, whole or not at all, without anything of the original, and read back."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from flow_cases import flows_of, line
from sfumato.errors import BudgetError, LedgerError, ReleaseError, SfumatoError, UnsatisfiableError
from sfumato.mechanisms.dirichlet import Promise
from sfumato.methods.flows.domain import Domain
from sfumato.methods.flows.prior import DistanceHistogram, Prior
from sfumato.methods.flows.synthesis import Prepared, Synthesizer
from sfumato.privacy.claims import ApproximateDP, ProbabilisticDP, PureDP
from sfumato.privacy.ledger import Ledger
from sfumato.publish.flows import publish_flows
from sfumato.release import FlowRelease, folder, load_release
from sfumato.release.envelope import Envelope
from sfumato.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.data.flows import Flows
    from sfumato.data.places import Places

SYNTHESIZER = Synthesizer(promise=Promise(epsilon=2, delta=1e-3), domain=Domain(radius=3))
SPENT = "what was reserved for it in the ledger stays spent"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def states(ledger: Ledger) -> list[str]:
    return [entry.state for entry in ledger.entries()]


def left_in(folder: Path) -> list[str]:
    """Everything in a folder but the ledger and its journal."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("ledger"))


@pytest.mark.parametrize(
    ("promise", "kind"),
    [
        (Promise(epsilon=2, delta=1e-3), ProbabilisticDP),
        (Promise(epsilon=2, delta=1e-3, rule="file"), ApproximateDP),
        (Promise(epsilon=2, rule="pure"), PureDP),
    ],
)
def test_what_is_published_reads_back(
    promise: Promise, kind: type, flows: Flows, ledger: Ledger, tmp_path: Path
) -> None:
    synthesizer = Synthesizer(promise=promise, domain=Domain(radius=3))
    made, name = publish_flows(synthesizer, flows, tmp_path / "release", data_set="town", ledger=ledger)
    found = FlowRelease.load(tmp_path / "release")
    assert type(found.claim) is kind
    assert found.claim == made.claim == synthesizer.claim
    assert found.flows(flows.places).frame().equals(made.flows.frame())
    assert found.settings == synthesizer.spec()
    assert (found.settings["radius_km"], found.settings["beyond"], found.reach) == (3, "outside", 3)
    assert found.from_data == made.plan.from_data
    (entry,) = ledger.entries()
    assert (entry.release, entry.data_set, entry.state, entry.method) == (name, "town", "settled", "commute")
    assert (float(entry.cost.epsilon), float(entry.cost.delta)) == (2, promise.delta)
    assert entry.folder == str(tmp_path / "release")


def test_parquet_reads_back(flows: Flows, ledger: Ledger, tmp_path: Path) -> None:
    made, _ = publish_flows(SYNTHESIZER, flows, tmp_path / "release", data_set="town", ledger=ledger, parquet=True)
    assert left_in(tmp_path / "release") == ["codebook.md", "flows.parquet", "release.json"]
    assert FlowRelease.load(tmp_path / "release").flows(flows.places).frame().equals(made.flows.frame())


def test_odd_ids_read_back(ledger: Ledger, tmp_path: Path) -> None:
    places = line([0, 1, 2, 9])
    places = type(places)(pl.Series(['a,"b"', "007", "é\n;", " x"]), places.latitude, places.longitude)
    flows = flows_of(places, {(0, 1): 40, (2, 3): 40, (1, 0): 9})
    made, _ = publish_flows(SYNTHESIZER, flows, tmp_path / "release", data_set="odd", ledger=ledger)
    assert FlowRelease.load(tmp_path / "release").flows(places).frame().equals(made.flows.frame())


def test_nothing_but_totals_is_of_the_original(flows: Flows, ledger: Ledger, tmp_path: Path) -> None:
    """Two data sets with the same totals and no origin in common leave folders that differ in what was drawn alone."""
    public = dict(zip(flows.destinations.tolist(), flows.people.tolist(), strict=True))
    others = flows_of(flows.places, {(to, 30): people for to, people in public.items()})
    descriptions = []
    for number, original in enumerate((flows, others)):
        folder = tmp_path / f"release{number}"
        made, name = publish_flows(SYNTHESIZER, original, folder, data_set="town", ledger=ledger)
        assert left_in(folder) == ["codebook.md", "flows.csv", "release.json"]
        table = pl.read_csv(folder / "flows.csv", infer_schema=False)
        assert table.columns == ["destination", "origin", "count"]
        assert table.rows() == [(to, origin, str(n)) for to, origin, n in made.flows.frame().rows()]
        assert sorted(table.rows()) == table.rows(), "the order of rows tells something"
        totals = Counter()
        for to, _, n in table.rows():
            totals[to] += int(n)
        assert totals == {f"{to:04d}": people for to, people in public.items()}
        description = json.loads((folder / "release.json").read_text())
        assert description.pop("id") == name
        descriptions.append(description)
    assert descriptions[0] == descriptions[1]
    assert set(descriptions[0]) == {
        "format",
        "kind",
        "version",
        "method",
        "parameters",
        "data_set",
        "about",
        "promise",
        "claim",
        "epsilon_made_of",
        "drawn_from_data",
        "files",
    }
    assert (descriptions[0]["version"], descriptions[0]["data_set"]) == (__version__, "town")


def test_the_ledger_is_charged_before_anything_is_drawn(
    flows: Flows, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        assert states(ledger) == ["reserved"]
        raise KeyboardInterrupt

    monkeypatch.setattr(Prepared, "draw", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish_flows(SYNTHESIZER, flows, tmp_path / "release", data_set="town", ledger=ledger)
    assert (states(ledger), left_in(tmp_path)) == (["reserved"], [])


@pytest.mark.parametrize(("place", "step"), [(folder, "write_table"), (Envelope, "text")])
@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_folder_is_never_half_written(
    flows: Flows, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Any, step: str, failure: Any
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(place, step, fail)
    with pytest.raises((KeyboardInterrupt, ReleaseError)) as caught:
        publish_flows(SYNTHESIZER, flows, tmp_path / "release", data_set="town", ledger=ledger)
    assert (states(ledger), left_in(tmp_path)) == (["reserved"], [])
    if failure is not KeyboardInterrupt:
        assert str(caught.value) == (
            f"{tmp_path / 'release'}: the release cannot be written (No space left on device); {SPENT}"
        )


def test_a_release_that_could_not_be_settled_is_in_place(
    flows: Flows, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise LedgerError("the ledger is gone")

    monkeypatch.setattr(Ledger, "settle", fail)
    with pytest.raises(LedgerError, match=r"^the ledger is gone; the release is in place, and stays reserved"):
        publish_flows(SYNTHESIZER, flows, tmp_path / "release", data_set="town", ledger=ledger)
    assert states(ledger) == ["reserved"]
    assert load_release(tmp_path / "release").rows == flows.total


def hopeless(**options: Any) -> Synthesizer:
    return Synthesizer(promise=Promise(epsilon=2, delta=1e-3), **options)


ONE_RING = DistanceHistogram(edges=(1.0,), shares=(1, 0))


@pytest.mark.parametrize(
    ("synthesizer", "sentence"),
    [
        (hopeless(domain=Domain(radius=2, beyond="twon")), "there are no regions 'twon'"),
        (hopeless(domain=Domain(coarse=((5, "twon"),))), "there are no regions 'twon'"),
        (hopeless(prior=Prior(keep=0.05, distances=ONE_RING)), "no prior keeps epsilon 2"),
    ],
)
def test_what_can_be_refused_is_refused_before_it_is_charged(
    synthesizer: Synthesizer, sentence: str, flows: Flows, ledger: Ledger, tmp_path: Path
) -> None:
    with pytest.raises(SfumatoError, match=sentence) as refused:
        publish_flows(synthesizer, flows, tmp_path / "release", data_set="town", ledger=ledger)
    assert SPENT not in str(refused.value)
    assert (states(ledger), left_in(tmp_path)) == ([], [])


def test_flows_that_do_not_fit_are_refused_before_they_are_charged(
    grid: Places, ledger: Ledger, tmp_path: Path
) -> None:
    pure = Synthesizer(promise=Promise(epsilon=0.001, rule="pure"))
    with pytest.raises(UnsatisfiableError, match="'0005' from outside"):
        publish_flows(hopeless(), flows_of(grid, {(5, 64): 2}), tmp_path / "r", data_set="town", ledger=ledger)
    with pytest.raises(UnsatisfiableError, match="1000000 people is too large to draw from"):
        publish_flows(pure, flows_of(grid, {(5, 5): 10**6}), tmp_path / "r", data_set="town", ledger=ledger)
    assert states(ledger) == []


def test_a_cap_refuses_before_anything_is_drawn(
    flows: Flows, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Prepared, "draw", lambda *_: pytest.fail("something was drawn"))
    ledger.cap("town", 0.9, 1e-3)
    with pytest.raises(BudgetError):
        publish_flows(SYNTHESIZER, flows, tmp_path / "release", data_set="town", ledger=ledger)
    assert (states(ledger), left_in(tmp_path)) == ([], [])


def test_a_second_release_is_added_to_the_first(flows: Flows, ledger: Ledger, tmp_path: Path) -> None:
    ledger.cap("town", 4, 2e-3)
    for number in range(2):
        publish_flows(SYNTHESIZER, flows, tmp_path / f"r{number}", data_set="town", ledger=ledger)
    with pytest.raises(BudgetError):
        publish_flows(SYNTHESIZER, flows, tmp_path / "r2", data_set="town", ledger=ledger)
    assert states(ledger) == ["settled", "settled"]


def test_a_folder_that_exists_is_left_alone(flows: Flows, ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    with pytest.raises(ReleaseError, match="this already exists; choose a new folder"):
        publish_flows(SYNTHESIZER, flows, tmp_path / "release", data_set="town", ledger=ledger)
    assert (states(ledger), left_in(tmp_path / "release")) == ([], [])
