"""Claims: they survive their spelling, and find the classes that break them."""

import json
from typing import Any

import numpy as np
import pytest

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.privacy.claims import Claim, NoGuarantee, Syntactic, parse_claim
from sfumato.privacy.requirements import KAnonymity, LDiversity, Population, TCloseness
from strategies import AxisCase

SYNTACTIC = Syntactic(requirements=(KAnonymity(k=3), LDiversity(l=2), TCloseness(t=0.3, distance="ordered")))
CLAIMS = [SYNTACTIC, Syntactic(requirements=(KAnonymity(k=1),), assumptions=("none",)), NoGuarantee(reason="seeded")]
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
    [None, 3, "syntactic", [], {}, {"claim": "perfect"}, {"claim": "syntactic"}, {"claim": "none"},
     {"claim": "syntactic", "requirements": [{"requirement": "none such"}], "assumptions": []},
     {"claim": "syntactic", "requirements": [{"requirement": "k-anonymity", "k": 0}], "assumptions": []}],
)
def test_unreadable_claims_are_refused(spec: Any) -> None:
    with pytest.raises(SfumatoError):
        parse_claim(spec)


def test_a_requirement_that_is_not_a_table_is_refused() -> None:
    with pytest.raises(ReleaseError):
        parse_claim({**SYNTACTIC.spec(), "requirements": ["k-anonymity"]})
