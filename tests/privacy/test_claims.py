"""Claims: they survive their spelling, and find the classes that break them."""

import json
from typing import Any

import numpy as np
import pytest

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.privacy.claims import ApproximateDP, Claim, Differential, NoGuarantee, PureDP, Syntactic, parse_claim
from sfumato.privacy.requirements import KAnonymity, LDiversity, Population, TCloseness
from strategies import AxisCase

SYNTACTIC = Syntactic(requirements=(KAnonymity(k=3), LDiversity(l=2), TCloseness(t=0.3, distance="ordered")))
PURE = PureDP(epsilon=0.5)
APPROXIMATE = ApproximateDP(epsilon=2, failing=1e-9)
CLAIMS = [
    SYNTACTIC,
    Syntactic(requirements=(KAnonymity(k=1),), assumptions=("none",)),
    NoGuarantee(reason="seeded"),
    PURE,
    PureDP(epsilon=3, neighbours="replace-one", assumptions=("a", "b")),
    APPROXIMATE,
    ApproximateDP(epsilon=1e-3, failing=0.25, neighbours="replace-one", assumptions=()),
]
AXIS = AxisCase("s", {"kind": "categorical", "values": ["a", "b"]}, ((), ())).axis()


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_survives_its_spelling(claim: Claim) -> None:
    assert parse_claim(json.loads(json.dumps(claim.spec()))) == claim
    assert claim.sentence()


def test_violations_name_the_requirement_and_count_the_classes() -> None:
    counts = np.array([[2, 2], [3, 0], [1, 1], [0, 3]])
    found = SYNTACTIC.violations(counts, Population(counts.sum(axis=0), AXIS))
    assert found == [
        "1 of 4 classes fail k-anonymity (k=3)",
        "2 of 4 classes fail l-diversity (l=2)",
        "2 of 4 classes fail t-closeness (t=0.3, distance=ordered)",
    ]
    good = np.array([[2, 2], [3, 3]])
    assert SYNTACTIC.violations(good, Population(good.sum(axis=0), AXIS)) == []


@pytest.mark.parametrize(
    "spec",
    [
        None,
        3,
        "syntactic",
        [],
        {},
        {"claim": "perfect"},
        {"claim": "syntactic"},
        {"claim": "none"},
        {"claim": "syntactic", "requirements": [{"requirement": "none such"}], "assumptions": []},
        {"claim": "syntactic", "requirements": [{"requirement": "k-anonymity", "k": 0}], "assumptions": []},
    ],
)
def test_unreadable_claims_are_refused(spec: Any) -> None:
    with pytest.raises(SfumatoError):
        parse_claim(spec)


def test_a_requirement_that_is_not_a_table_is_refused() -> None:
    with pytest.raises(ReleaseError):
        parse_claim({**SYNTACTIC.spec(), "requirements": ["k-anonymity"]})


@pytest.mark.parametrize(
    ("claim", "name", "sentence"),
    [
        (
            PURE,
            "0.5-differential privacy",
            "whether any one person is in the table changes the probability of every output by a factor of at most "
            "e^0.5 (0.5-differential privacy)",
        ),
        (
            PureDP(epsilon=1, neighbours="replace-one"),
            "1-differential privacy",
            "any one person's row changes the probability of every output by a factor of at most e^1 "
            "(1-differential privacy)",
        ),
        (
            APPROXIMATE,
            "(2, 1e-09)-differential privacy",
            "whether any one person is in the table changes the probability of every output by a factor of at most "
            "e^2, but for a probability of 1e-09 ((2, 1e-09)-differential privacy)",
        ),
    ],
)
def test_differential_claims_in_words(claim: Differential, name: str, sentence: str) -> None:
    assert str(claim) == name
    assert claim.sentence() == sentence


def test_differential_claims_spell_their_amounts() -> None:
    assert PURE.spec() == {
        "claim": "pure-dp",
        "epsilon": 0.5,
        "neighbours": "add-remove",
        "assumptions": list(PURE.assumptions),
    }
    assert APPROXIMATE.spec()["delta"] == APPROXIMATE.delta == 1e-9
    assert PURE.delta == 0
    assert any("at most one row" in assumption for assumption in PURE.assumptions)
    assert any("public knowledge" in assumption for assumption in PURE.assumptions)


def test_further_assumptions_are_added_and_nothing_promised_takes_none() -> None:
    assert PURE.assuming("so", "and so").assumptions == (*PURE.assumptions, "so", "and so")
    assert PURE.assuming("so") != PURE
    assert NoGuarantee(reason="seeded").assuming("so") == NoGuarantee(reason="seeded")


@pytest.mark.parametrize("claim", [PURE, APPROXIMATE])
@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": True},
        {"epsilon": "1"},
        {"epsilon": None},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"neighbours": "none"},
        {"neighbours": None},
    ],
)
def test_differential_claims_out_of_range_are_refused(claim: Differential, change: dict[str, Any]) -> None:
    with pytest.raises(ReleaseError):
        parse_claim({**claim.spec(), **change})


@pytest.mark.parametrize("delta", [0, -1e-9, 1, 1.5, True, "1e-9", None, float("nan")])
def test_deltas_out_of_range_are_refused(delta: Any) -> None:
    with pytest.raises(ReleaseError):
        parse_claim({**APPROXIMATE.spec(), "delta": delta})


@pytest.mark.parametrize("claim", [PURE, APPROXIMATE])
def test_a_differential_claim_without_one_of_its_parts_is_incomplete(claim: Differential) -> None:
    for key in set(claim.spec()) - {"claim"}:
        with pytest.raises(ReleaseError, match="incomplete"):
            parse_claim({name: value for name, value in claim.spec().items() if name != key})


def test_a_pure_claim_with_a_delta_is_not_read_as_a_pure_one() -> None:
    """Whoever adds a probability of failing to a pure claim must not have it dropped on the way."""
    with pytest.raises(ReleaseError):
        parse_claim({**PURE.spec(), "delta": 1e-5})
