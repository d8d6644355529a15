"""Publishing to a folder: what is charged when, and what every kind of failure leaves behind."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
import pytest

from brute_force import small_table
from sfumato.data import read
from sfumato.errors import BudgetError, LedgerError, ParameterError, ReleaseError, SfumatoError
from sfumato.measures.measure import MEASURES
from sfumato.mechanisms.budget import WHOLE
from sfumato.methods import METHODS, Mondrian
from sfumato.methods.base import DPMethod, qualify
from sfumato.privacy.claims import Conditional, NoGuarantee, PureDP, Syntactic
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import SPENT, Publication, publication_of, publish_to
from sfumato.release import Boxes, Release
from sfumato.schema import Schema
from sfumato.trials.frontier import Frontier
from sfumato.trials.recommendation import Recommendation
from sfumato.trials.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sfumato.data import Table
    from sfumato.mechanisms.budget import Budget
    from sfumato.methods import Method

TABLE = small_table()


@dataclass(frozen=True, kw_only=True)
class Noisy(DPMethod):
    """The overall histogram with noise, and a look at the world just before it is drawn."""

    name: ClassVar[str] = "noisy"
    looking: ClassVar[list[Callable[[], None]]] = []

    def _release(self, table: Table, budget: Budget) -> Release:
        for look in self.looking:
            look()
        counts = np.maximum(budget.counts(table.overall[None, :], WHOLE), 0).astype(np.float64)
        return Release(
            schema=table.schema.public(),
            boxes=Boxes.whole(table.schema.quasi),
            weights=counts.sum(axis=1),
            group_of=np.zeros(1, dtype=np.int64),
            histograms=counts,
            claim=self.claim,
            provenance=self.provenance(),
        )

    @classmethod
    def grid(cls, table: Table) -> Iterator[Method]:
        yield cls(epsilon=1)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What to do just before noise is drawn."""
    looking: list[Callable[[], None]] = []
    monkeypatch.setattr(Noisy, "looking", looking)
    return looking


def states(ledger: Ledger) -> list[str]:
    return [entry.state for entry in ledger.entries()]


def test_a_release_is_charged_under_the_name_it_carries(ledger: Ledger, tmp_path: Path) -> None:
    release, folder = publish_to(Noisy(epsilon=0.1), small_table(), tmp_path / "r", ledger=ledger)
    (entry,) = ledger.entries()
    assert folder == tmp_path / "r"
    assert json.loads((folder / "release.json").read_text())["id"] == release.provenance.id == entry.release
    assert Release.load(folder).provenance == release.provenance
    assert (entry.data_set, entry.method, entry.folder) == ("small", "noisy ε=0.1", str(folder))
    assert (entry.state, ledger.spent("small").epsilon * 10, ledger.spent("small").delta) == ("settled", 1, 0)
    assert isinstance(release.claim, PureDP)


def test_names_are_fresh_and_random(ledger: Ledger, tmp_path: Path) -> None:
    names = [publish_to(Noisy(epsilon=1), TABLE, tmp_path / f"r{i}", ledger=ledger)[0].provenance.id for i in range(3)]
    assert len(set(names)) == 3
    assert {uuid.UUID(name).version for name in names} == {4}


def test_the_spend_is_reserved_before_noise_and_settled_after_the_folder(
    ledger: Ledger, tmp_path: Path, looks: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def look(moment: str) -> None:
        seen.append((moment, states(ledger), (tmp_path / "r").exists()))

    looks.append(lambda: look("before noise"))
    save, settling = Release.save, Ledger.settle
    monkeypatch.setattr(Release, "save", lambda *given, **more: (look("before saving"), save(*given, **more))[1])
    monkeypatch.setattr(Ledger, "settle", lambda *given: (look("before settling"), settling(*given))[1])
    publish_to(Noisy(epsilon=1), TABLE, tmp_path / "r", ledger=ledger)
    look("after")
    assert seen == [
        ("before noise", ["reserved"], False),
        ("before saving", ["reserved"], False),
        ("before settling", ["reserved"], True),
        ("after", ["settled"], True),
    ]


def test_beyond_the_cap_nothing_is_drawn(ledger: Ledger, tmp_path: Path, looks: list[Callable[[], None]]) -> None:
    drawn = []
    looks.append(lambda: drawn.append(1))
    ledger.cap("small", 0.3)
    for number in range(3):
        publish_to(Noisy(epsilon=0.1), TABLE, tmp_path / f"r{number}", ledger=ledger)
    for method in (Noisy(epsilon=0.1), Noisy(epsilon=5)):
        with pytest.raises(BudgetError, match=r"small: ε = \S+ is asked for, but 0 is left of the cap of 0\.3"):
            publish_to(method, TABLE, tmp_path / "more", ledger=ledger)
    assert (len(drawn), states(ledger)) == (3, ["settled"] * 3)
    assert not (tmp_path / "more").exists()


def with_kept_column() -> Table:
    columns = {
        "a": {"role": "quasi", "kind": "categorical", "values": ["x", "y"]},
        "k": {"role": "keep"},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["u", "v"]},
    }
    frame = pl.DataFrame({"a": ["x", "y"], "k": ["1", "2"], "s": ["u", "v"]})
    return read(frame, Schema.parse({"name": "kept", "columns": columns}))


@pytest.mark.parametrize(
    ("table", "folder", "sentence"),
    [
        (TABLE, "taken", "taken: this already exists; choose a new folder, or remove it first"),
        (TABLE, "dangling", "dangling: this already exists"),
        (TABLE, "file/r", r"file/r: the release cannot be written \(Not a directory\)"),
        (TABLE, os.fsdecode(b"r\xff"), "the name of the folder is not UTF-8 text"),
        (TABLE, "r" * 255, r"the release cannot be written \(File name too long\)"),
        (TABLE, "r\x00", r"the release cannot be written \(embedded null byte\)"),
        (with_kept_column(), "r", "the column 'k' has role keep, but noisy publishes no row as it is"),
    ],
    ids=["taken", "link", "file", "not text", "long", "null", "kept column"],
)
def test_what_can_be_refused_beforehand_costs_nothing(
    ledger: Ledger, tmp_path: Path, table: Table, folder: str, sentence: str
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises((ReleaseError, ParameterError), match=sentence) as refusal:
        publish_to(Noisy(epsilon=1), table, tmp_path / folder, ledger=ledger)
    assert SPENT not in str(refusal.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_refusing_a_spend_leaves_no_folders(ledger: Ledger, tmp_path: Path) -> None:
    ledger.cap("small", 0)
    with pytest.raises(BudgetError):
        publish_to(Noisy(epsilon=1), TABLE, tmp_path / "new" / "deep" / "r", ledger=ledger)
    assert not (tmp_path / "new").exists()
    ledger.uncap("small")
    assert publish_to(Noisy(epsilon=1), TABLE, tmp_path / "new" / "deep" / "r", ledger=ledger)[1].is_dir()


def test_a_failing_method_leaves_its_spend_reserved(
    ledger: Ledger, tmp_path: Path, looks: list[Callable[[], None]]
) -> None:
    def fail() -> None:
        raise ParameterError("the tree is too high")

    looks.append(fail)
    with pytest.raises(ParameterError) as refusal:
        publish_to(Noisy(epsilon=1), TABLE, tmp_path / "r", ledger=ledger)
    assert str(refusal.value) == f"the tree is too high; {SPENT}"
    assert states(ledger) == ["reserved"]
    assert not (tmp_path / "r").exists()


def test_a_failure_to_save_leaves_the_spend_reserved(
    ledger: Ledger, tmp_path: Path, looks: list[Callable[[], None]]
) -> None:
    looks.append((tmp_path / "r").mkdir)
    with pytest.raises(ReleaseError, match=f"this already exists.*; {SPENT}"):
        publish_to(Noisy(epsilon=1), TABLE, tmp_path / "r", ledger=ledger)
    assert states(ledger) == ["reserved"]


def test_a_failure_to_settle_says_that_the_release_is_there(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise LedgerError("the disk is full")

    monkeypatch.setattr(Ledger, "settle", fail)
    with pytest.raises(LedgerError, match=r"^the disk is full; the release is in place, and stays reserved"):
        publish_to(Noisy(epsilon=1), TABLE, tmp_path / "r", ledger=ledger)
    assert Release.load(tmp_path / "r").provenance.id == ledger.entries()[0].release


def test_noise_costs_even_where_nothing_is_promised(ledger: Ledger, tmp_path: Path) -> None:
    """Bounds that were read off the rows void the claim; the noise was drawn all the same."""
    spec = TABLE.schema.spec()
    spec["columns"]["age"]["from_data"] = ["min", "max"]
    table = replace(TABLE, schema=Schema.parse(spec))
    release, folder = publish_to(Noisy(epsilon=2), table, tmp_path / "r", ledger=ledger)
    assert isinstance(release.claim, NoGuarantee)
    assert ledger.spent("small").epsilon == 2
    assert Release.load(folder).provenance.id == ledger.entries()[0].release


def test_syntactic_releases_cost_nothing(ledger: Ledger, tmp_path: Path) -> None:
    release, folder = publish_to(Mondrian(k=5), TABLE, tmp_path / "r", ledger=ledger)
    assert release.provenance.id is None
    assert "id" not in json.loads((folder / "release.json").read_text())
    assert isinstance(release.claim, Syntactic)
    assert not ledger.path.exists()


@dataclass(frozen=True, kw_only=True)
class Understating(Noisy):
    """Says of itself that it costs half of what its releases claim."""

    @property
    def claim(self) -> PureDP:
        return PureDP(epsilon=self.epsilon / 2)

    def _release(self, table: Table, budget: Budget) -> Release:
        return replace(super()._release(table, budget), claim=PureDP(epsilon=self.epsilon))


@dataclass(frozen=True, kw_only=True)
class Hiding(Understating):
    """Says of itself that it costs nothing at all."""

    @property
    def claim(self) -> Any:
        return NoGuarantee(reason="none of your business")


@pytest.mark.parametrize(("kind", "charged"), [(Understating, 1), (Hiding, 0)])
def test_a_release_that_claims_more_than_was_charged_is_not_saved(
    ledger: Ledger, tmp_path: Path, kind: type[Noisy], charged: int
) -> None:
    with pytest.raises(ReleaseError, match="the release claims ε = 2, but its method says it costs ε = "):
        publish_to(kind(epsilon=2), TABLE, tmp_path / "r", ledger=ledger)
    assert not (tmp_path / "r").exists()
    assert ledger.spent("small").epsilon == charged


@dataclass(frozen=True, kw_only=True)
class Exchanging(Noisy):
    """Protects against one person exchanged for another, which is another currency."""

    @property
    def claim(self) -> PureDP:
        return PureDP(epsilon=self.epsilon, neighbours="replace-one")


def test_exchanging_counts_half_of_adding_and_removing(ledger: Ledger, tmp_path: Path) -> None:
    publish_to(Exchanging(epsilon=2), TABLE, tmp_path / "r", ledger=ledger)
    assert ledger.spent("small").epsilon == 1
    assert ledger.entries()[0].neighbours == "replace-one"


def test_without_a_ledger_the_users_own_is_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_LEDGER", str(tmp_path / "own.sqlite"))
    publish_to(Noisy(epsilon=1), TABLE, tmp_path / "r")
    assert states(Ledger(tmp_path / "own.sqlite")) == ["settled"]


def recommended(monkeypatch: pytest.MonkeyPatch) -> Recommendation:
    monkeypatch.setitem(METHODS, "noisy", Noisy)
    trial = Trial(method=Noisy(epsilon=0.5), measures=dict.fromkeys(MEASURES, 0.1))
    table = replace(TABLE)
    table.note_look("a frontier")
    references = Frontier(table=table, trials=(trial,)).references
    return Recommendation(
        trial=trial, rule="the best", limits={}, why=(), verdicts=(), table=table, tried=table, references=references
    )


def test_a_recommendation_is_saved_once_and_charged_once(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = recommended(monkeypatch)
    folder = best.save(tmp_path / "r", ledger=ledger)
    assert (states(ledger), ledger.spent("small").epsilon) == (["settled"], 0.5)
    given = qualify(Noisy(epsilon=0.5).claim, TABLE.schema)
    assert Release.load(folder).claim == Conditional(given=given, looked="a frontier")
    ledger.cap("small", 0.5)
    with pytest.raises(BudgetError):
        best.save(tmp_path / "s", ledger=ledger)


def test_a_recommendation_that_is_only_published_is_charged_and_left_reserved(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = recommended(monkeypatch).publish(ledger=ledger, folder="out/release")
    (entry,) = ledger.entries()
    assert (entry.state, entry.folder) == ("reserved", os.path.abspath("out/release"))
    release.save(tmp_path / "r")
    ledger.settle(entry.release)
    assert states(ledger) == ["settled"]
    assert Release.load(tmp_path / "r").provenance.id == entry.release


def test_a_draw_without_a_place_has_none_in_the_ledger(ledger: Ledger) -> None:
    with publication_of(Noisy(epsilon=1), TABLE, "", ledger=ledger) as publication:
        publication.sign(Noisy(epsilon=1).publish(TABLE))
    assert ledger.entries()[0].folder == ""


def test_a_publication_writes_nothing_but_the_release_that_it_signed(ledger: Ledger, tmp_path: Path) -> None:
    method = Noisy(epsilon=1)
    with publication_of(method, TABLE, tmp_path / "r", ledger=ledger) as publication:
        drawn = method.publish(TABLE)
        signed = publication.sign(drawn)
        others = replace(signed, provenance=replace(signed.provenance, id=str(uuid.uuid4())))
        for wrong in (drawn, others):
            with pytest.raises(ReleaseError, match="writes the one release that it signed"):
                publication.write(wrong)
        with pytest.raises(ReleaseError, match="the release claims ε = 2, but its method says it costs ε = 1"):
            publication.write(replace(signed, claim=PureDP(epsilon=2)))
        publication.write(signed)
        with pytest.raises(ReleaseError, match="writes the one release that it signed"):
            publication.write(signed)
    assert Release.load(tmp_path / "r").provenance.id == ledger.entries()[0].release == publication.id


def test_a_publication_is_entered_once(ledger: Ledger, tmp_path: Path) -> None:
    publication = publication_of(Noisy(epsilon=1), TABLE, tmp_path / "r", ledger=ledger)
    with publication:
        pass
    assert states(ledger) == ["reserved"]
    with pytest.raises(LedgerError, match="is charged already"), publication:
        pytest.fail("one name was charged and used twice")
    assert len(ledger.entries()) == 1


def test_checking_charges_nothing(ledger: Ledger, tmp_path: Path) -> None:
    publication = publication_of(Noisy(epsilon=1), TABLE, tmp_path / "r", ledger=ledger)
    publication.check()
    assert not ledger.path.exists()
    ledger.cap("small", 0.5)
    with pytest.raises(BudgetError):
        publication.check()
    assert ledger.entries() == []


def test_an_interrupt_says_that_the_spend_stays(ledger: Ledger, tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt, match=f"^interrupted; {SPENT}$"),
        publication_of(Noisy(epsilon=1), TABLE, tmp_path / "r", ledger=ledger),
    ):
        raise KeyboardInterrupt
    assert (states(ledger), (tmp_path / "r").exists()) == (["reserved"], False)


def test_what_costs_nothing_fails_without_a_word_about_the_ledger(ledger: Ledger, tmp_path: Path) -> None:
    with (
        pytest.raises(ReleaseError, match=r"^no$"),
        publication_of(Mondrian(k=5), TABLE, tmp_path / "new" / "r", ledger=ledger),
    ):
        raise ReleaseError("no")
    assert list(tmp_path.iterdir()) == []


def replacing(folder: Path, ledger: Ledger) -> Publication:
    return publication_of(Noisy(epsilon=1), TABLE, folder, ledger=ledger, replace_release=True)


def test_a_release_gives_way_to_another_when_that_is_whole(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "r"
    for _ in range(2):
        with replacing(folder, ledger) as publication:
            publication.write(publication.sign(Noisy(epsilon=1).publish(TABLE)))
    assert Release.load(folder).provenance.id == publication.id == ledger.entries()[1].release
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ReleaseError, match=f"No space left on device.*; {SPENT}"), replacing(folder, ledger) as again:
        again.write(again.sign(Noisy(epsilon=1).publish(TABLE)))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("ledger")) == ["r"]
    assert states(ledger) == ["settled", "settled", "reserved"]


@pytest.mark.parametrize("more", ["mine.txt", "release.json"])
def test_a_folder_that_holds_more_than_a_release_is_not_replaced(ledger: Ledger, tmp_path: Path, more: str) -> None:
    Mondrian(k=5).publish(TABLE).save(tmp_path / "r")
    (tmp_path / "r" / more).write_text("mine")
    with pytest.raises(ReleaseError, match="this holds more than a release; move it away first"):
        replacing(tmp_path / "r", ledger).__enter__()
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReleaseError, match="this holds more than a release"):
        replacing(tmp_path / "empty", ledger).__enter__()
    assert not ledger.path.exists()


@pytest.mark.parametrize("name", [7, ["a"], None, True])
def test_a_name_that_is_no_word_is_refused(ledger: Ledger, tmp_path: Path, name: Any) -> None:
    _, folder = publish_to(Noisy(epsilon=1), TABLE, tmp_path / "r", ledger=ledger)
    spec = json.loads((folder / "release.json").read_text())
    (folder / "release.json").write_text(json.dumps(spec | {"id": name}))
    with pytest.raises(ReleaseError, match=r"release\.json: id is a \w+; expected a word"):
        Release.load(folder)
    del spec["id"]
    (folder / "release.json").write_text(json.dumps(spec))
    assert Release.load(folder).provenance.id is None


def test_every_failure_is_one_the_user_can_act_on() -> None:
    assert issubclass(BudgetError, SfumatoError)
    assert issubclass(LedgerError, SfumatoError)
