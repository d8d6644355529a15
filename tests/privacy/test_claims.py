"""Claims: they survive their spelling, and find the classes that break them."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.privacy.claims import CLAIMS as KINDS
from sfumato.privacy.claims import (
    ApproximateDP,
    Choice,
    Claim,
    Conditional,
    Differential,
    LocalDP,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    Syntactic,
    parse_claim,
)
from sfumato.privacy.loss import Approximate
from sfumato.privacy.requirements import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    Population,
    RecursiveLDiversity,
    Requirement,
    TCloseness,
)
from strategies import AxisCase

SYNTACTIC = Syntactic(requirements=(KAnonymity(k=3), LDiversity(l=2), TCloseness(t=0.3, distance="ordered")))
PURE = PureDP(epsilon=0.5)
APPROXIMATE = ApproximateDP(epsilon=2, failing=1e-9)
LOCAL = LocalDP(epsilon=2, per_step=0.5)
BUCKETS = Syntactic(requirements=(KAnonymity(k=2),), buckets=True)
CLAIMS = [
    SYNTACTIC,
    Syntactic(requirements=(KAnonymity(k=1),), assumptions=("none",)),
    NoGuarantee(reason="seeded"),
    PURE,
    PureDP(epsilon=3, neighbours="replace-one", assumptions=("a", "b")),
    APPROXIMATE,
    ApproximateDP(epsilon=1e-3, failing=0.25, neighbours="replace-one", assumptions=()),
    LOCAL,
    ProbabilisticDP(epsilon=2, failing=1e-4),
    BUCKETS,
    PURE.chosen(Choice(epsilon=0.1, pilot="p")),
    SYNTACTIC.chosen(Choice(epsilon=0.1, pilot="p")),
    Conditional(given=PURE, looked="a frontier"),
    Conditional(given=APPROXIMATE, looked="a frontier").assuming("more"),
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
            "1.65 (0.5-differential privacy)",
        ),
        (
            PureDP(epsilon=1, neighbours="replace-one"),
            "1-differential privacy",
            "any one person's row changes the probability of every output by a factor of at most 2.72 "
            "(1-differential privacy)",
        ),
        (
            APPROXIMATE,
            "(2, 1e-09)-differential privacy",
            "whether any one person is in the table changes the probability of every output by a factor of at most "
            "7.39, but for a probability of 1e-09 ((2, 1e-09)-differential privacy)",
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


def test_every_kind_of_claim_is_parsed_and_tested_here() -> None:
    assert {type(claim) for claim in CLAIMS} == set(KINDS.values())
    assert {kind.kind for kind in KINDS.values()} == set(KINDS)


def test_only_noise_costs_anything_and_it_costs_what_is_written() -> None:
    assert PureDP(epsilon=0.1).cost == Approximate(Fraction(1, 10), Fraction(0))
    assert APPROXIMATE.cost == Approximate(Fraction(2), Fraction(1, 10**9))
    assert all((claim.cost is not None) == (claim.noise is not None) for claim in CLAIMS)
    assert [claim.noise for claim in (PURE, LOCAL, SYNTACTIC, NoGuarantee(reason="seeded"))] == [
        "counts",
        "values",
        None,
        None,
    ]


def test_only_classes_can_be_verified_and_only_a_reason_or_a_size_of_buckets_promises_nothing() -> None:
    assert [claim for claim in CLAIMS if claim.verifiable] == [claim for claim in CLAIMS if claim.kind == "syntactic"]
    assert [claim for claim in CLAIMS if not claim.promises] == [NoGuarantee(reason="seeded"), BUCKETS]


def one_value_fails(requirement: Requirement) -> bool:
    """Whether some table has a class of one value that fails: seven rows of one value beside ever more of another."""
    tables = [np.array([[7, 0], [7, 7 * share]]) for share in (1, 3, 100)]
    return not all(requirement.holds(counts[:1], Population(counts.sum(0), AXIS)).all() for counts in tables)


@pytest.mark.parametrize(
    "requirement",
    [
        KAnonymity(k=5),
        AlphaK(alpha=1, k=5),
        AlphaK(alpha=0.9, k=5),
        LDiversity(l=1),
        LDiversity(l=1.1),
        DistinctLDiversity(l=1),
        DistinctLDiversity(l=2),
        EntropyLDiversity(l=1),
        EntropyLDiversity(l=1.2),
        RecursiveLDiversity(l=1, c=2),
        RecursiveLDiversity(l=1, c=1),
        RecursiveLDiversity(l=2, c=9),
        TCloseness(t=1),
        TCloseness(t=0.2),
        TCloseness(t=0.7, distance="jensen-shannon"),
        TCloseness(t=0.1, distance="jensen-shannon"),
        DeltaDisclosure(delta=20),
        BetaLikeness(beta=0.5),
    ],
    ids=str,
)
def test_buckets_promise_something_where_one_value_in_them_can_fail(requirement: Requirement) -> None:
    """Without that, exact quasi-identifiers with buckets of one value each are the original table."""
    claim = Syntactic(requirements=(KAnonymity(k=2), requirement), buckets=True)
    assert claim.promises == requirement.bounds_values == one_value_fails(requirement)
    assert bool(claim.hollow) == claim.sentence().startswith("nothing is promised") != claim.promises
    assert "anonymity" not in claim.sentence() + " ".join(claim.titles)
    assert Syntactic(requirements=(requirement,)).promises


def test_buckets_and_redrawn_values_show_who_is_in_the_table() -> None:
    exact = [LOCAL, ProbabilisticDP(epsilon=2, failing=1e-4), BUCKETS]
    assert [claim for claim in CLAIMS if claim.shows_presence] == exact
    assert not ProbabilisticDP(epsilon=2, failing=1e-4, neighbours="replace-origin").shows_presence
    assert [claim.recoding for claim in (SYNTACTIC, BUCKETS, PURE, NoGuarantee(reason="seeded"))] == [
        "generalize",
        "bucketize",
        "noise",
        None,
    ]
    assert BUCKETS.fits("buckets")
    assert not BUCKETS.fits("rows")
    assert not SYNTACTIC.fits("buckets")


def test_the_form_of_a_release_follows_from_its_claim() -> None:
    assert "each spanning 25.0% of its range" in SYNTACTIC.form(0.25)
    assert BUCKETS.form(0.0).startswith("Two tables: ")
    assert PURE.form(0.0).startswith("Noisy counts")
    assert LOCAL.form(0.0).startswith("One row per person with exact quasi-identifiers")


def test_a_claim_that_goes_beyond_the_noise_is_told_by_how_much() -> None:
    assert LOCAL.exceeds(LOCAL.epsilon, LOCAL.per_step) == []
    assert LOCAL.exceeds(3, None) == [
        "epsilon of the claim is 2, but that of the channel is 3",
        "per_step of the claim is 0.5, but that of the channel is None",
    ]
    assert PURE.exceeds(LOCAL.epsilon, LOCAL.per_step) == [
        "noise on every value promises local differential privacy, not 0.5-differential privacy"
    ]


@pytest.mark.parametrize(
    ("claim", "neighbours"), [(LOCAL, "add-remove"), (ProbabilisticDP(epsilon=2, failing=1e-4), "replace-one")]
)
def test_a_claim_protects_only_what_its_kind_can(claim: Differential, neighbours: str) -> None:
    with pytest.raises(ReleaseError, match=f"neighbours is '{neighbours}'; expected replace-sensitive"):
        parse_claim({**claim.spec(), "neighbours": neighbours})


def test_a_choice_on_a_pilot_is_part_of_what_is_promised() -> None:
    both = PURE.chosen(Choice(epsilon=0.1, pilot="p"))
    assert (both.epsilon, both.cost) == (0.6, Approximate(Fraction(6, 10), Fraction(0)))
    assert "1.83 (0.6-" in both.sentence()
    assert "choice of its setting, which cost 0.1 of it" in both.sentence()
    classes = SYNTACTIC.chosen(Choice(epsilon=0.1, pilot="p"))
    assert classes.cost is None
    assert "chosen on a synthetic table under 0.1-differential privacy" in classes.sentence()


def test_a_choice_on_the_rows_is_a_claim_of_its_own_kind_that_says_so_first() -> None:
    claim = Conditional(given=PURE, looked="a frontier")
    assert claim.sentence().startswith(
        "choosing its setting is not covered: a frontier showed measures of data under its name"
    )
    assert (claim.kind, claim.cost, claim.noise, claim.neighbours) == ("conditional", PURE.cost, "counts", "add-remove")
    assert not isinstance(claim, Differential)
    assert str(claim) == "0.5-differential privacy, choosing its setting is not covered"


def test_a_claim_without_requirements_is_none() -> None:
    with pytest.raises(ReleaseError, match="has no requirements"):
        parse_claim(SYNTACTIC.spec() | {"requirements": []})


def test_a_condition_on_a_condition_is_refused() -> None:
    claim = Conditional(given=Conditional(given=PURE, looked="a frontier"), looked="a frontier")
    with pytest.raises(ReleaseError, match="conditional twice"):
        parse_claim(claim.spec())


@pytest.mark.parametrize("claim", [SYNTACTIC, PURE], ids=str)
@pytest.mark.parametrize("assumptions", [[5], "every person has one row", None, [None]], ids=str)
def test_assumptions_are_a_list_of_sentences(claim: Claim, assumptions: Any) -> None:
    with pytest.raises(ReleaseError, match="expected a list of sentences"):
        parse_claim(claim.spec() | {"assumptions": assumptions})


@pytest.mark.parametrize("claim", [SYNTACTIC, PURE, Conditional(given=PURE, looked="a frontier")], ids=str)
def test_a_bare_claim_takes_for_granted_what_its_kind_does(claim: Claim) -> None:
    assert claim.assuming("more").bare().assumptions == claim.needed
    assert claim.under(("one",)).assumptions == ("one",)
    assert claim.under(("one",)).cost == claim.cost
