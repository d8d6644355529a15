"""What is added at run time: one class and one registry entry give a requirement or a method its options and help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from sfumato.mechanisms.budget import WHOLE
from sfumato.methods import METHODS, DPMethod, Mondrian
from sfumato.parameters import parameter
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.requirements import REQUIREMENTS, Population, Requirement
from sfumato.release import Boxes, Release

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from sfumato.data import Table
    from sfumato.mechanisms.budget import Budget
    from sfumato.privacy.requirements.base import Counts

    from .conftest import Run


@dataclass(frozen=True, kw_only=True)
class Supported(Requirement):
    """Every class has at least `support` different sensitive values, each with at least `each` rows."""

    name: ClassVar[str] = "support"
    support: int = parameter(help="at least this many sensitive values in a class", minimum=1, example=2)
    each: int = parameter(default=1, help="how many rows of a value count", minimum=1)

    def _holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        return np.asarray((counts >= self.each).sum(-1) >= self.support)

    def sentence(self) -> str:
        return f"every class has at least {self.support} sensitive values with {self.each} rows or more"


@dataclass(frozen=True, kw_only=True)
class Overall(DPMethod):
    """The overall histogram with noise."""

    name: ClassVar[str] = "overall"
    floor: int = parameter(help="no count is below this", minimum=0, example=1)

    def _release(self, table: Table, budget: Budget) -> Release:
        counts = np.maximum(budget.counts(table.overall[None, :], WHOLE), self.floor).astype(np.float64)
        return self.make_release(table, Boxes.whole(table.schema.quasi), counts)


@pytest.fixture
def requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REQUIREMENTS, Supported.name, Supported)


@pytest.fixture
def method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, Overall.name, Overall)


def words(text: str) -> str:
    """The text of a help page without its line breaks."""
    return " ".join(text.split())


@pytest.mark.usefixtures("requirement")
def test_a_requirement_is_published_by_the_option_of_its_field(publish: Run, run: Run, people: Path) -> None:
    told = publish("r", "--method", "mondrian", "--k", "4", "--support", "2", "--each", "2", "--json")
    assert told.code == 0, told
    assert told.json["claim"]["requirements"][-1] == {"requirement": "support", "support": 2, "each": 2}
    release = Release.load(people / "r").verified()
    assert release.provenance.parameters == Mondrian(k=4, requirements=(Supported(support=2, each=2),)).parameters()
    assert (np.sort(release.histograms, axis=1)[:, -2] >= 2).all()
    checked = run("verify", "r")
    assert (checked.code, "every class has at least 2 sensitive values with 2 rows or more" in checked.out) == (0, True)


@pytest.mark.usefixtures("requirement")
def test_a_requirement_explains_and_refuses_by_itself(publish: Run, run: Run, people: Path) -> None:
    shown = words(run("publish", "--help").out)
    assert "--support <int> support: at least this many sensitive values in a class." in shown
    for options, sentence in (
        (("--support", "0"), "support is 0; expected a whole number of at least 1"),
        (("--k", "2", "--each", "2"), "--each means nothing without --support"),
        (("--support", "1.5"), "invalid value for '--support'"),
    ):
        told = publish("r", "--method", "mondrian", *options)
        assert (told.code, sentence in told.err) == (2, True), told
    told = publish("r", "--method", "anatomy", "--l", "2", "--support", "2")
    assert told.err == "sfumato: anatomy does not take --support; it takes --l\n"
    assert not (people / "r").exists()


@pytest.mark.usefixtures("method")
def test_a_private_method_is_charged_and_explained(
    publish: Run, run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_LEDGER", "own.sqlite")
    shown = words(run("publish", "--help").out)
    assert "--floor <int> overall: no count is below this." in shown
    assert "overall The overall histogram with noise. Takes --delta, --epsilon, --floor, --rho." in shown
    told = publish("r", "--method", "overall", "--epsilon", "0.5", "--floor", "3", "--json")
    assert told.code == 0, told
    assert (told.json["label"], told.json["charge"]["epsilon"]) == ("overall ε=0.5 floor=3", 0.5)
    (entry,) = Ledger("own.sqlite").entries("people")
    assert entry.release == Release.load(people / "r").provenance.id
    assert "Charged: ε = 1." in publish("s", "--method", "overall", "--epsilon", "1", "--floor", "0").out


@pytest.mark.usefixtures("method")
def test_a_private_method_names_what_it_needs(publish: Run) -> None:
    told = publish("r", "--method", "overall", "--epsilon", "1")
    assert (told.code, told.err) == (2, "sfumato: overall needs --floor, such as --floor 1\n")
    told = publish("r", "--method", "overall", "--epsilon", "1", "--floor", "-1")
    assert told.err == "sfumato: floor is -1; expected a whole number of at least 0\n"


def test_what_is_not_registered_has_no_option(publish: Run, run: Run) -> None:
    assert "--support" not in run("publish", "--help").out
    assert "no such option: --floor" in publish("r", "--method", "quad-tree", "--epsilon", "1", "--floor", "1").err
