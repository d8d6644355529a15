"""`publish`: which options make which method, and which are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from sfumato.cli.parameters import Parameters, method_from
from sfumato.errors import ParameterError
from sfumato.methods import METHODS, Anatomy, FullSuppression, Method, Mondrian, Original
from sfumato.privacy.requirements import (
    AlphaK,
    BetaLikeness,
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
)
from sfumato.release import Release

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

MADE: list[tuple[str, Parameters, Method]] = [
    ("mondrian", Parameters(k=10), Mondrian(k=10)),
    ("mondrian", Parameters(k=10, l=2.5), Mondrian(k=10, l=2.5)),
    ("mondrian", Parameters(l=3.0, l_form="probabilistic"), Mondrian(l=3)),
    ("mondrian", Parameters(l=3.0, l_form="distinct"), Mondrian(requirements=(DistinctLDiversity(l=3),))),
    ("mondrian", Parameters(l=2.5, l_form="entropy"), Mondrian(requirements=(EntropyLDiversity(l=2.5),))),
    (
        "mondrian", Parameters(k=4, l=3.0, l_form="recursive", c=2.0),
        Mondrian(k=4, requirements=(RecursiveLDiversity(l=3, c=2),)),
    ),
    ("mondrian", Parameters(t=0.2, distance="ordered"), Mondrian(t=0.2, distance="ordered")),
    ("mondrian", Parameters(t=0.2), Mondrian(t=0.2)),
    ("mondrian", Parameters(delta=1.0), Mondrian(delta=1)),
    ("mondrian", Parameters(k=5, alpha=0.5), Mondrian(requirements=(AlphaK(alpha=0.5, k=5),))),
    ("mondrian", Parameters(beta=2.0), Mondrian(requirements=(BetaLikeness(beta=2),))),
    (
        "mondrian", Parameters(k=2, beta=2.0, enhanced=True),
        Mondrian(k=2, requirements=(BetaLikeness(beta=2, enhanced=True),)),
    ),
    (
        "mondrian", Parameters(k=2, cut="median", recoding="bucketize"),
        Mondrian(k=2, cut="median", recoding="bucketize"),
    ),
    ("anatomy", Parameters(l=3.0), Anatomy(l=3)),
    ("original", Parameters(), Original()),
    ("suppression", Parameters(), FullSuppression()),
]
REFUSED: list[tuple[str, Parameters, str]] = [
    ("mondrain", Parameters(k=2), "'mondrain' is not a known method; expected one of original, suppression, mondrian"),
    ("mondrian", Parameters(), "at least one requirement"),
    ("mondrian", Parameters(k=0), "k is 0"),
    ("mondrian", Parameters(k=2, l_form="entropy"), "--l-form means nothing without --l"),
    ("mondrian", Parameters(k=2, l=2.0, c=1.0), "--c belongs to --l-form recursive"),
    ("mondrian", Parameters(l=2.0, l_form="distinct", c=1.0), "--c belongs to --l-form recursive"),
    ("mondrian", Parameters(l=2.0, l_form="recursive"), "--l-form recursive needs --c"),
    ("mondrian", Parameters(l=2.5, l_form="recursive", c=1.0), r"l is 2\.5; expected a whole number"),
    ("mondrian", Parameters(k=2, distance="equal"), "--distance means nothing without --t"),
    ("mondrian", Parameters(alpha=0.5), "--alpha means nothing without --k"),
    ("mondrian", Parameters(k=2, enhanced=True), "--enhanced means nothing without --beta"),
    ("mondrian", Parameters(t=float("nan")), "t is nan"),
    ("anatomy", Parameters(), "anatomy needs --l"),
    ("anatomy", Parameters(l=2.5), r"l is 2\.5; expected a whole number"),
    ("anatomy", Parameters(l=2.0, k=3), "anatomy does not take --k; it takes --l"),
    ("original", Parameters(k=3), "original does not take --k; it takes no parameters"),
    ("suppression", Parameters(l_form="entropy", l=2.0), "suppression does not take --l; it takes no parameters"),
]


@pytest.mark.parametrize(("name", "given", "expected"), MADE)
def test_options_make_the_method(name: str, given: Parameters, expected: Method) -> None:
    assert method_from(name, given) == expected


@pytest.mark.parametrize(("name", "given", "sentence"), REFUSED)
def test_options_that_mean_nothing_are_refused(name: str, given: Parameters, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        method_from(name, given)


def test_every_method_can_be_named() -> None:
    assert {name for name, _, _ in MADE} == set(METHODS)


def test_all_options_reach_the_method(publish: Run, people: Path) -> None:
    outcome = publish(
        "r", "--method", "mondrian", "--k", "4", "--l", "2", "--l-form", "recursive", "--c", "5", "--t", "0.6",
        "--distance", "hierarchical", "--delta", "9", "--alpha", "0.9", "--beta", "7", "--enhanced", "--cut", "median",
        "--recoding", "bucketize", "--json",
    )
    assert outcome.code == 0, outcome
    about = outcome.json
    assert about["parameters"] == {
        "t": 0.6, "distance": "hierarchical", "delta": 9.0, "cut": "median", "recoding": "bucketize",
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
