"""`publish`: which options make which method, which are refused, and what is charged for it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.parameters import method_from
from sfumato.errors import ParameterError
from sfumato.mechanisms.budget import WHOLE
from sfumato.methods import METHODS, Anatomy, FullSuppression, Method, Mondrian, Original
from sfumato.methods.base import DPMethod, PrivateMethod
from sfumato.parameters import parameter
from sfumato.privacy.claims import Differential, NoGuarantee
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.requirements import (
    AlphaK,
    BetaLikeness,
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
)
from sfumato.release import Boxes, Release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.data import Table
    from sfumato.mechanisms.budget import Budget

    from .conftest import Run

MADE: list[tuple[str, dict[str, Any], Method]] = [
    ("mondrian", {"k": 10}, Mondrian(k=10)),
    ("mondrian", {"k": 10, "l": 2.5}, Mondrian(k=10, l=2.5)),
    ("mondrian", {"l": 3.0, "l_form": "probabilistic"}, Mondrian(l=3)),
    ("mondrian", {"l": 3.0, "l_form": "distinct"}, Mondrian(requirements=(DistinctLDiversity(l=3),))),
    ("mondrian", {"l": 2.5, "l_form": "entropy"}, Mondrian(requirements=(EntropyLDiversity(l=2.5),))),
    (
        "mondrian",
        {"k": 4, "l": 3.0, "l_form": "recursive", "c": 2.0},
        Mondrian(k=4, requirements=(RecursiveLDiversity(l=3, c=2),)),
    ),
    ("mondrian", {"t": 0.2, "distance": "ordered"}, Mondrian(t=0.2, distance="ordered")),
    ("mondrian", {"t": 0.2}, Mondrian(t=0.2)),
    ("mondrian", {"delta": 1.0}, Mondrian(delta=1)),
    ("mondrian", {"k": 5, "alpha": 0.5}, Mondrian(requirements=(AlphaK(alpha=0.5, k=5),))),
    ("mondrian", {"beta": 2.0}, Mondrian(requirements=(BetaLikeness(beta=2),))),
    (
        "mondrian",
        {"k": 2, "beta": 2.0, "enhanced": True},
        Mondrian(k=2, requirements=(BetaLikeness(beta=2, enhanced=True),)),
    ),
    ("mondrian", {"k": 2, "cut": "median", "recoding": "bucketize"}, Mondrian(k=2, cut="median", recoding="bucketize")),
    ("anatomy", {"l": 3.0}, Anatomy(l=3)),
    ("original", {}, Original()),
    ("suppression", {}, FullSuppression()),
    ("full-domain", {"k": 5, "l": 2.0}, sf.FullDomain(k=5, l=2)),
    ("full-domain", {"beta": 2.0, "suppress": 0.1}, sf.FullDomain(requirements=(BetaLikeness(beta=2),), suppress=0.1)),
    ("mdav", {"k": 5, "recoding": "mean"}, sf.MDAV(k=5, recoding="mean")),
    ("rank-swapping", {"range": 0.1}, sf.RankSwapping(range=0.1)),
    ("noise", {"scale": 0.5, "correlated": True}, sf.AdditiveNoise(scale=0.5, correlated=True)),
    ("pram", {"keep": 0.8}, sf.PRAM(keep=0.8)),
    ("rounding", {"base": 5}, sf.Rounding(base=5)),
    ("sampling", {"share": 0.2}, sf.Sampling(share=0.2)),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("mondrain", {"k": 2}, "'mondrain' is not a known method; expected one of original, suppression, mondrian"),
    ("mondrian", {}, "at least one requirement"),
    ("mondrian", {"k": 0}, "k is 0"),
    ("mondrian", {"k": 2, "l_form": "entropy"}, "--l-form means nothing without --l"),
    ("mondrian", {"k": 2, "l": 2.0, "c": 1.0}, "--c belongs to --l-form recursive"),
    ("mondrian", {"l": 2.0, "l_form": "distinct", "c": 1.0}, "--c belongs to --l-form recursive"),
    ("mondrian", {"l": 2.0, "l_form": "recursive"}, "--l-form recursive needs --c"),
    ("mondrian", {"l": 2.5, "l_form": "recursive", "c": 1.0}, r"l is 2\.5; expected a whole number"),
    ("mondrian", {"k": 2, "distance": "equal"}, "--distance means nothing without --t"),
    ("mondrian", {"alpha": 0.5}, "--alpha means nothing without --k"),
    ("mondrian", {"k": 2, "enhanced": True}, "--enhanced means nothing without --beta"),
    ("mondrian", {"t": float("nan")}, "t is nan"),
    ("anatomy", {}, "anatomy needs --l"),
    ("anatomy", {"l": 2.5}, r"l is 2\.5; expected a whole number"),
    ("anatomy", {"l": 2.0, "k": 3}, "anatomy does not take --k; it takes --l"),
    ("original", {"k": 3}, "original does not take --k; it takes no parameters"),
    ("suppression", {"l": 2.0, "l_form": "entropy"}, "suppression does not take --l; it takes no parameters"),
]


@pytest.mark.parametrize(("name", "given", "expected"), MADE)
def test_options_make_the_method(name: str, given: dict[str, Any], expected: Method) -> None:
    assert method_from(name, given) == expected


@pytest.mark.parametrize(("name", "given", "sentence"), REFUSED)
def test_options_that_mean_nothing_are_refused(name: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        method_from(name, given)


def test_every_method_can_be_named() -> None:
    """Those that take epsilon need nothing but the options that are their own fields."""
    private = {name: kind for name, kind in METHODS.items() if issubclass(kind, PrivateMethod)}
    assert {name for name, _, _ in MADE} == set(METHODS) - set(private)
    some: dict[str, Any] = {"epsilon": 0.5, "height": 3, "h": 7, "utility": "ncp", "degree": 1, "mechanism": "laplace"}
    for name, kind in private.items():
        own = {item.name: some[item.name] for item in dataclasses.fields(kind) if item.name in some}
        assert method_from(name, own) == kind(**own)
        with pytest.raises(ParameterError, match=f"{name} needs --epsilon, such as --epsilon 1"):
            method_from(name, {key: value for key, value in own.items() if key != "epsilon"})
        with pytest.raises(ParameterError, match=f"{name} does not take --k; it takes .*--epsilon"):
            method_from(name, {**own, "k": 3})


def test_all_options_reach_the_method(publish: Run, people: Path) -> None:
    outcome = publish(
        "r",
        "--method",
        "mondrian",
        "--k",
        "4",
        "--l",
        "2",
        "--l-form",
        "recursive",
        "--c",
        "5",
        "--t",
        "0.6",
        "--distance",
        "hierarchical",
        "--delta",
        "9",
        "--alpha",
        "0.9",
        "--beta",
        "7",
        "--enhanced",
        "--cut",
        "median",
        "--recoding",
        "bucketize",
        "--json",
    )
    assert outcome.code == 0, outcome
    about = outcome.json
    assert about["parameters"] == {
        "t": 0.6,
        "distance": "hierarchical",
        "delta": 9.0,
        "cut": "median",
        "recoding": "bucketize",
        "requirements": [
            {"requirement": "(alpha,k)-anonymity", "alpha": 0.9, "k": 4},
            {"requirement": "recursive (c,l)-diversity", "l": 2, "c": 5.0},
            {"requirement": "beta-likeness", "beta": 7.0, "enhanced": True},
        ],
    }
    assert about["rows"] == 240
    assert about["claim"]["buckets"] is True
    assert Release.load(people / "r").verified().provenance.parameters == about["parameters"]


def test_a_release_is_written_as_csv_or_parquet(publish: Run, people: Path) -> None:
    assert publish("a", "--method", "mondrian", "--k", "5").code == 0
    assert publish("b", "--method", "mondrian", "--k", "5", "--parquet").code == 0
    as_text = pl.read_csv(people / "a" / "data.csv", infer_schema=False)
    assert as_text.equals(pl.read_parquet(people / "b" / "data.parquet"))


def test_a_release_is_never_overwritten(publish: Run, people: Path) -> None:
    assert publish("r", "--method", "mondrian", "--k", "5").code == 0
    before = (people / "r" / "data.csv").read_bytes()
    again = publish("r", "--method", "mondrian", "--k", "50")
    assert (again.code, again.out) == (2, "")
    assert again.err == "sfumato: r: this already exists; choose a new folder, or remove it first\n"
    assert (people / "r" / "data.csv").read_bytes() == before


def test_the_original_is_published_with_a_warning_in_words(publish: Run, people: Path) -> None:
    assert "Claim: nothing is promised: these are the original rows." in publish("r", "--method", "original").out


def test_an_unsatisfiable_requirement_is_one_sentence(publish: Run, people: Path) -> None:
    outcome = publish("r", "--method", "mondrian", "--k", "241")
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1
    assert not (people / "r").exists()


@dataclass(frozen=True, kw_only=True)
class Noisy(DPMethod):
    """The overall histogram with noise."""

    name: ClassVar[str] = "noisy"
    height: int = parameter(help="how many levels", minimum=1, example=6)
    utility: str = parameter(default="dm", help="what it is for", choices=("dm", "max"))

    def _release(self, table: Table, budget: Budget) -> Release:
        counts = np.maximum(budget.counts(table.overall[None, :], WHOLE), 1).astype(np.float64)
        return self.make_release(table, Boxes.whole(table.schema.quasi), counts)

    @classmethod
    def grid(cls, table: Table) -> Iterator[Self]:
        yield cls(epsilon=2, height=1)


@pytest.fixture
def ledger(people: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The user's own ledger, and a differentially private method to charge to it."""
    monkeypatch.setenv("SFUMATO_LEDGER", "own.sqlite")
    monkeypatch.setitem(METHODS, "noisy", Noisy)
    return Ledger("own.sqlite")


NOISY = ("--method", "noisy", "--epsilon", "0.5", "--height", "3")


def test_a_private_release_says_what_was_charged_and_what_is_left(publish: Run, ledger: Ledger) -> None:
    told = publish("r", *NOISY)
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[-2:] == [
        "Charged: ε = 0.5. people: ε = 0.5 spent in all, without a cap.",
        "Ledger: own.sqlite",
    ]
    ledger.cap("people", 1.2)
    told = publish("s", *NOISY, "--utility", "max", "--json")
    assert told.json["parameters"] == {"epsilon": 0.5, "height": 3, "utility": "max"}
    (_, entry) = ledger.entries("people")
    charge = told.json["charge"]
    assert (charge["id"], charge["epsilon"], charge["ledger"]) == (entry.release, 0.5, "own.sqlite")
    assert (charge["spent"]["epsilon"], charge["cap"]["epsilon"], charge["left"]["epsilon"]) == (1.0, 1.2, 0.2)
    assert charge["sentence"] == "Charged: ε = 0.5. people: ε = 1 spent in all, ε = 0.2 left of the cap of ε = 1.2."
    assert isinstance(Release.load("s").claim, Differential)
    assert Release.load("s").provenance.id == entry.release


def test_beyond_the_cap_nothing_is_published(publish: Run, ledger: Ledger) -> None:
    ledger.cap("people", 0.7)
    assert publish("r", *NOISY).code == 0
    told = publish("s", *NOISY)
    assert (told.code, told.out) == (2, "")
    assert told.err == ("sfumato: people: ε = 0.5 is asked for, but 0.2 is left of the cap of 0.7, with 0.5 spent\n")
    assert not Path("s").exists()
    assert len(ledger.entries()) == 1


def test_another_ledger_can_be_named(publish: Run, ledger: Ledger) -> None:
    assert publish("r", *NOISY, "--ledger", "other.sqlite").out.splitlines()[-1] == "Ledger: other.sqlite"
    assert len(Ledger("other.sqlite").entries()) == 1
    assert not ledger.path.exists()


@pytest.mark.parametrize("line", ["", 'name = "table"\n'], ids=["none", "the default"])
def test_noise_needs_a_name_for_the_account(line: str, publish: Run, ledger: Ledger) -> None:
    """As it was found: all tables without one shared an account, whoever their people are."""
    schema = Path("people.toml")
    schema.write_text(schema.read_text().replace('name = "people"\n', line))
    told = publish("r", *NOISY)
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert "the schema declares no name" in told.err
    assert 'add a line such as name = "people of 2026" at its top' in told.err
    assert not Path("r").exists()
    assert not ledger.path.exists()
    schema.write_text(f'name = "people of 2026"\n{schema.read_text().removeprefix(line)}')
    assert publish("r", *NOISY).code == 0
    assert ledger.data_sets() == ["people of 2026"]


def test_tables_without_a_name_have_nothing_in_common(run: Run, publish: Run, ledger: Ledger) -> None:
    """As it was found: measures of one table were said to be of the rows of another. The twin: of the same rows."""
    schema, looked = Path("people.toml"), "of the same rows, were seen"
    schema.write_text(schema.read_text().replace('name = "people"\n', ""))
    classes = ("--method", "mondrian", "--k", "5")
    lines = Path("people.csv").read_text().splitlines()
    Path("others.csv").write_text("\n".join([lines[0], *lines[1:-3]]) + "\n")
    publish("r", *classes)
    assert run("measure", "others.csv", "r", "--schema", "people.toml").code == 0
    assert looked not in publish("unrelated", *classes).out
    assert run("measure", "people.csv", "r", "--schema", "people.toml").code == 0
    assert looked in " ".join(publish("same", *classes).out.split())


def test_other_methods_leave_the_ledger_alone(publish: Run, ledger: Ledger) -> None:
    told = publish("r", "--method", "mondrian", "--k", "5", "--json")
    assert (told.code, told.json["charge"]) == (0, None)
    assert not ledger.path.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--height", "3"), "noisy needs --epsilon, such as --epsilon 1, or --rho"),
        (("--epsilon", "1"), "noisy needs --height, such as --height 6"),
        (
            ("--epsilon", "1", "--height", "3", "--k", "2"),
            "noisy does not take --k; it takes --delta, --epsilon, --height, --rho, --utility",
        ),
        (("--epsilon", "0", "--height", "3"), "epsilon is 0; expected a number from 1e-12 to 1,000,000"),
        (("--epsilon", "inf", "--height", "3"), "epsilon is inf; expected a number from 1e-12 to 1,000,000"),
    ],
)
def test_wrong_options_of_private_methods_cost_nothing(
    publish: Run, ledger: Ledger, options: tuple[str, ...], sentence: str
) -> None:
    told = publish("r", "--method", "noisy", *options)
    assert (told.code, told.out, told.err) == (2, "", f"sfumato: {sentence}\n")
    assert not ledger.path.exists()
    assert not Path("r").exists()


def test_a_schema_read_off_the_rows_promises_nothing_and_costs_all_the_same(
    publish: Run, run: Run, ledger: Ledger
) -> None:
    assert run("init", "people.csv", "--sensitive", "disease", "--force", "-o", "people.toml").code == 0
    told = publish("r", *NOISY)
    assert "Claim: nothing is promised: the bounds or values of age" in told.out
    assert "Charged: ε = 0.5." in told.out
    assert isinstance(Release.load("r").claim, NoGuarantee)
    assert len(ledger.entries()) == 1


def test_what_is_compared_with_those_who_are_published_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was found: everybody with one value was left out, and "the whole table's" distribution was another one."""
    monkeypatch.chdir(tmp_path)
    rows = [(20 + i % 40, ("flu", "cold")[i * 7 % 11 % 2]) for i in range(400)] + [(90, "hiv")] * 60
    pl.DataFrame(rows, schema=["age", "ill"], orient="row").write_csv("people.csv")
    values = 'role = "sensitive"\nkind = "categorical"\nvalues = ["flu", "cold", "hiv"]\n'
    Path("people.toml").write_text(
        f'[columns.age]\nrole = "quasi"\nkind = "numeric"\nmin = 0\nmax = 99\n\n[columns.ill]\n{values}'
    )
    words = ("publish", "people.csv", "--schema", "people.toml", "--method", "mondrian", "--suppress", "0.2")
    for number, (requirement, distance) in enumerate({"--t": "0.05", "--delta": "0.5", "--beta": "0.5"}.items()):
        told = run(*words, "--k", "5", requirement, distance, "-o", f"release-{number}")
        assert told.code == 0, told.err
        assert "all who are published" in " ".join(told.out.split())
        assert "whole table" not in told.out
        assert "about those who are published" in " ".join(told.out.split())
    histograms = Release.load("release-0").histograms
    shares, published = histograms / histograms.sum(1, keepdims=True), histograms.sum(0) / histograms.sum()
    table = np.array([row[1] for row in rows])
    real = np.array([(table == value).mean() for value in ("flu", "cold", "hiv")])
    assert np.abs(shares - published).sum(1).max() / 2 <= 0.05
    assert np.abs(shares - real).sum(1).max() / 2 > 0.1, "the claim would be false of the table that was read"
