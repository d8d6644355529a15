"""Requirements, class by class, against their definitions in the literature with exact fractions."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import reference
from sfumato.errors import ParameterError, ReleaseError
from sfumato.privacy.requirements import (
    REQUIREMENTS,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    KHouseholds,
    KMap,
    LDiversity,
    OfColumn,
    Population,
    RecursiveLDiversity,
    Requirement,
    TCloseness,
    parse_requirement,
)
from strategies import AxisCase

Check = Callable[..., bool]

SHARES = [0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 1]
KINDS: dict[str, tuple[type[Requirement], Check, dict[str, list[Any]]]] = {
    "k": (KAnonymity, reference.is_k_anonymous, {"k": [1, 2, 3, 5, 10]}),
    "probabilistic l": (LDiversity, reference.is_probabilistic_diverse, {"l": [1, 1.5, 2, 2.5, 3, 3.5, 4.25]}),
    "distinct l": (DistinctLDiversity, reference.is_distinct_diverse, {"l": [1, 2, 2.5, 3, 4]}),
    "entropy l": (EntropyLDiversity, reference.is_entropy_diverse, {"l": [1, 1.5, 2, 2.7, 3, 4]}),
    "recursive l": (
        RecursiveLDiversity,
        reference.is_recursive_diverse,
        {"l": [1, 2, 3, 4], "c": [0.1, 0.7, 1, 1.1, 2, 2.2, 3]},
    ),
    "t": (TCloseness, reference.is_close, {"t": [0, 0.1, 0.2, 0.25, 0.5, 0.75, 1]}),
    "delta": (DeltaDisclosure, reference.is_delta_private, {"delta": [0, 0.3, 0.7, 1, 1.4, 2]}),
    "alpha k": (AlphaK, reference.is_alpha_k_anonymous, {"alpha": SHARES, "k": [1, 2, 4]}),
    "beta": (BetaLikeness, reference.is_beta_like, {"beta": [0.1, 0.25, 0.5, 1, 1.5, 3]}),
    "enhanced beta": (
        BetaLikeness,
        reference.is_enhanced_beta_like,
        {"beta": [0.25, 0.5, 1, 1.5, 3], "enhanced": [True]},
    ),
}


def population(classes: list[list[int]]) -> Population:
    size = len(classes[0])
    axis = AxisCase("s", {"kind": "categorical", "values": [f"v{i}" for i in range(size)]}, ((),) * size).axis()
    return Population(np.sum(classes, axis=0, dtype=np.int64), axis)


def verdicts(requirement: Requirement, classes: list[list[int]]) -> list[bool]:
    found = requirement.holds(np.array(classes, dtype=np.int64), population(classes))
    assert found.dtype == bool
    return found.tolist()


@st.composite
def partitions(draw: st.DrawFn) -> list[list[int]]:
    """The histograms of a few non-empty classes, with values that occur in some of them only, or in none."""
    size = draw(st.integers(2, 5))
    counts = st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 4, 6, 12]), min_size=size, max_size=size)
    return draw(st.lists(counts.filter(any), min_size=1, max_size=6))


@pytest.mark.parametrize("kind", KINDS)
@given(partitions(), st.data())
def test_requirements_are_their_definitions(kind: str, classes: list[list[int]], data: st.DataObject) -> None:
    made, check, choices = KINDS[kind]
    parameters = {name: data.draw(st.sampled_from(values)) for name, values in choices.items()}
    table = [sum(column) for column in zip(*classes, strict=True)]
    defined = {name: value for name, value in parameters.items() if name != "enhanced"}
    expected = [check(counts, table, **defined) for counts in classes]
    requirement = made(**parameters)
    assert verdicts(requirement, classes) == expected
    sizes = [sum(counts) for counts, holds in zip(classes, expected, strict=True) if holds]
    assert min(sizes, default=requirement.smallest_class) >= requirement.smallest_class


@pytest.mark.parametrize("kind", KINDS)
@given(partitions(), st.data())
def test_two_classes_that_satisfy_it_do_so_as_one(kind: str, classes: list[list[int]], data: st.DataObject) -> None:
    """Where a requirement says so: full-domain recoding rules out vectors of levels by it."""
    made, _, choices = KINDS[kind]
    requirement = made(**{name: data.draw(st.sampled_from(values)) for name, values in choices.items()})
    counts, whole = np.array(classes, dtype=np.int64), population(classes)
    good = counts[requirement.holds(counts, whole)]
    assert requirement.merges
    if len(good):
        merged = np.cumsum(good, axis=0)
        assert requirement.holds(merged, whole).all()


@pytest.mark.parametrize(
    ("kind", "parameters", "expected"),
    [
        ("k", {"k": 5}, [True, True, True, False]),
        ("probabilistic l", {"l": 3}, [True, False, True, False]),
        ("distinct l", {"l": 2}, [True, False, True, False]),
        ("entropy l", {"l": 4}, [True, False, False, False]),
        ("recursive l", {"l": 2, "c": 0.4}, [True, False, False, False]),
        ("t", {"t": 0.3}, [True, False, True, False]),
        ("delta", {"delta": 0.7}, [False, False, True, False]),
        ("alpha k", {"alpha": 0.25, "k": 2}, [True, False, False, False]),
        ("beta", {"beta": 1}, [True, True, True, False]),
        ("enhanced beta", {"beta": 1, "enhanced": True}, [True, False, True, False]),
    ],
)
def test_every_requirement_tells_classes_apart(kind: str, parameters: dict[str, Any], expected: list[bool]) -> None:
    """The whole table has the shares 19/37, 7/37, 6/37 and 5/37."""
    assert verdicts(KINDS[kind][0](**parameters), [[3, 3, 3, 3], [12, 0, 0, 0], [4, 3, 3, 2], [0, 1, 0, 0]]) == expected


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "k"])
@given(partitions(), st.data())
def test_strain_reaches_one_where_the_requirement_ends(
    kind: str, classes: list[list[int]], data: st.DataObject
) -> None:
    made, _, choices = KINDS[kind]
    parameters = {name: data.draw(st.sampled_from(values)) for name, values in choices.items()}
    requirement = made(**parameters | ({"k": 1} if "k" in parameters else {}))
    strain = requirement.strain(np.array(classes, dtype=np.int64), population(classes))
    for used, holds in zip(strain.tolist(), verdicts(requirement, classes), strict=True):
        assert used >= 0
        if abs(used - 1) > 1e-6:
            assert (used < 1) == holds


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (KAnonymity(k=5), [0, 0]),
        (LDiversity(l=1.25), [1, 0.75]),
        (DistinctLDiversity(l=1), [0.5, 0.5]),
        (EntropyLDiversity(l=1), [0, 0]),
        (RecursiveLDiversity(l=2, c=8), [0.5, 0.1875]),
        (TCloseness(t=0.4), [0.25, 0.25]),
        (DeltaDisclosure(delta=2), [np.log(0.3 / 0.2) / 2, np.log(0.4 / 0.3) / 2]),
        (AlphaK(alpha=0.9, k=99), [0.8 / 0.9, 0.6 / 0.9]),
        (BetaLikeness(beta=1), [0.8 / 1.4, 0.4 / 0.6]),
    ],
    ids=str,
)
def test_how_much_of_what_is_allowed_a_class_uses(requirement: Requirement, expected: list[float]) -> None:
    """The whole table has the shares 0.7 and 0.3."""
    classes = [[8, 2], [6, 4]]
    found = requirement.strain(np.array(classes), population(classes))
    assert found.tolist() == pytest.approx(expected)


@given(partitions(), st.sampled_from(["equal", "ordered", "hierarchical", "jensen-shannon"]), st.floats(0, 1))
@example([[1, 0, 0], [0, 1, 0], [0, 0, 1]], "ordered", 0.5)
def test_t_closeness_compares_with_the_whole_table(classes: list[list[int]], distance: Any, t: float) -> None:
    """By optimal transport, or Jensen-Shannon term by term; without groups the tree makes all values equally far."""
    size = len(classes[0])
    q = np.sum(classes, axis=0) / np.sum(classes)
    ground = reference.ordered_ground(size) if distance == "ordered" else reference.equal_ground(size)
    for counts, holds in zip(classes, verdicts(TCloseness(t=t, distance=distance), classes), strict=True):
        p = np.array(counts) / sum(counts)
        if distance == "jensen-shannon":
            middle = (p + q) / 2
            both = [*zip(p, middle, strict=True), *zip(q, middle, strict=True)]
            apart = sum(a * np.log(a / m) for a, m in both if a > 0) / 2
        else:
            apart = reference.transport(p, q, ground)
        if abs(apart - t) > 1e-7:
            assert holds == (apart <= t)


def test_the_threshold_is_not_lost_between_classes() -> None:
    """Whatever comes before or after it, a class is held against the same t."""
    classes = [[8, 2], [5, 5], [2, 8], [9, 1], [1, 9], [5, 5]]
    assert verdicts(TCloseness(t=0.3), classes) == [True, True, True, False, False, True]
    assert verdicts(TCloseness(t=0.3), classes[::-1]) == [True, False, False, True, True, True]
    assert verdicts(TCloseness(t=0.4), classes) == [True] * 6
    assert verdicts(TCloseness(t=0.29), classes) == [False, True, False, False, False, True]


def test_delta_disclosure_fails_where_a_value_is_missing() -> None:
    """A class with one value only reveals it: no delta makes that pass."""
    assert verdicts(DeltaDisclosure(delta=50), [[10, 0], [5, 5]]) == [False, True]
    assert verdicts(DeltaDisclosure(delta=50), [[10, 0, 0], [5, 5, 0]]) == [False, True]


def test_delta_disclosure_is_in_natural_logarithms() -> None:
    """Half against a quarter is ln 2 = 0.693 apart; in bits it would be 1."""
    classes = [[4, 4], [2, 14]]
    assert verdicts(DeltaDisclosure(delta=0.6931), classes)[0] is False
    assert verdicts(DeltaDisclosure(delta=0.6932), classes)[0] is True


def test_distinct_values_do_not_bound_confidence() -> None:
    classes = [[98, 1, 1]]
    assert verdicts(DistinctLDiversity(l=3), classes) == [True]
    assert verdicts(LDiversity(l=3), classes) == [False]
    assert verdicts(EntropyLDiversity(l=3), classes) == [False]


@pytest.mark.parametrize(
    ("requirement", "counts", "expected"),
    [
        (LDiversity(l=3), [1, 1, 1], True),
        (LDiversity(l=3.01), [1, 1, 1], False),
        (LDiversity(l=10), [1] * 10, True),
        (LDiversity(l=2.5), [40, 30, 30], True),
        (LDiversity(l=2.5), [41, 30, 29], False),
        (EntropyLDiversity(l=3), [7, 7, 7], True),
        (EntropyLDiversity(l=3), [7, 7, 8], False),
        (RecursiveLDiversity(l=2, c=2), [4, 1, 1], False),
        (RecursiveLDiversity(l=2, c=2), [3, 1, 1], True),
        (RecursiveLDiversity(l=3, c=2), [3, 1, 1], False),
        (AlphaK(alpha=0.3, k=10), [3, 3, 3, 1], True),
        (AlphaK(alpha=0.3, k=10), [4, 3, 3], False),
        (AlphaK(alpha=0.3, k=11), [3, 3, 3, 1], False),
    ],
)
def test_bounds_are_met_exactly(requirement: Requirement, counts: list[int], expected: bool) -> None:
    assert verdicts(requirement, [counts]) == [expected]


def test_recursive_diversity_is_strict() -> None:
    assert verdicts(RecursiveLDiversity(l=2, c=2.2), [[55, 25], [54, 25]]) == [False, True]


def test_beta_likeness_by_hand() -> None:
    """From one half to nine tenths is a gain of 0.8; enhanced, it is also bounded by −ln 0.5 = 0.69."""
    classes = [[9, 1], [1, 9], [40, 0], [0, 40]]
    assert verdicts(BetaLikeness(beta=0.8), classes) == [True, True, False, False]
    assert verdicts(BetaLikeness(beta=0.8, enhanced=True), classes) == [False, False, False, False]
    rare = [[70, 30], [109, 1], [1, 0]]
    assert verdicts(BetaLikeness(beta=1.0), rare) == [False, True, True]
    assert verdicts(BetaLikeness(beta=1.1), rare) == [True, True, True]


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (KAnonymity, {"k": 0}),
        (KAnonymity, {"k": -3}),
        (KAnonymity, {"k": 2.5}),
        (KAnonymity, {"k": True}),
        (KAnonymity, {"k": "5"}),
        (KAnonymity, {"k": None}),
        (LDiversity, {"l": 0.5}),
        (LDiversity, {"l": "3"}),
        (LDiversity, {"l": float("nan")}),
        (LDiversity, {"l": float("inf")}),
        (LDiversity, {"l": True}),
        (DistinctLDiversity, {"l": 0}),
        (EntropyLDiversity, {"l": 0.9}),
        (RecursiveLDiversity, {"l": 0, "c": 1}),
        (RecursiveLDiversity, {"l": 2.5, "c": 1}),
        (RecursiveLDiversity, {"l": 2, "c": 0}),
        (RecursiveLDiversity, {"l": 2, "c": float("nan")}),
        (TCloseness, {"t": -0.1}),
        (TCloseness, {"t": "0.1"}),
        (TCloseness, {"t": float("nan")}),
        (TCloseness, {"t": 0.1, "distance": "euclidean"}),
        (DeltaDisclosure, {"delta": -1}),
        (DeltaDisclosure, {"delta": float("inf")}),
        (AlphaK, {"alpha": 0, "k": 2}),
        (AlphaK, {"alpha": 1.1, "k": 2}),
        (AlphaK, {"alpha": 0.5, "k": 0}),
        (AlphaK, {"alpha": 0.5, "k": 1.5}),
        (BetaLikeness, {"beta": 0}),
        (BetaLikeness, {"beta": -1}),
        (BetaLikeness, {"beta": float("nan")}),
    ],
)
def test_parameters_out_of_range(kind: type[Requirement], parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="; expected ") as caught:
        kind(**parameters)
    assert any(f"{name} is " in str(caught.value) for name in parameters)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (AlphaK, {"alpha": 0.5, "k": True}),
        (RecursiveLDiversity, {"l": True, "c": 1}),
        (BetaLikeness, {"beta": 1, "enhanced": "no"}),
    ],
)
def test_truth_values_are_not_numbers(kind: type[Requirement], parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        kind(**parameters)


def test_a_numpy_number_is_a_number() -> None:
    assert json.loads(json.dumps(KAnonymity(k=np.int64(4)).spec()))["k"] == 4


EXAMPLES: list[Requirement] = [
    KAnonymity(k=3),
    LDiversity(l=2.5),
    DistinctLDiversity(l=3),
    EntropyLDiversity(l=1.5),
    RecursiveLDiversity(l=3, c=2.5),
    TCloseness(t=0.1),
    TCloseness(t=0.2, distance="hierarchical"),
    DeltaDisclosure(delta=1.4),
    AlphaK(alpha=0.4, k=3),
    BetaLikeness(beta=2),
    BetaLikeness(beta=2, enhanced=True),
    OfColumn(requirement=LDiversity(l=2), column="job", others_known=True),
    KMap(k_map=30),
    KHouseholds(k_households=4),
]


def test_every_requirement_has_an_example() -> None:
    assert {type(requirement) for requirement in EXAMPLES} == set(REQUIREMENTS.values())
    assert {kind.name for kind in REQUIREMENTS.values()} == set(REQUIREMENTS)


@pytest.mark.parametrize("requirement", EXAMPLES, ids=str)
def test_a_requirement_survives_its_spelling(requirement: Requirement) -> None:
    again = parse_requirement(json.loads(json.dumps(requirement.spec())))
    assert again == requirement
    assert type(again) is type(requirement)
    assert requirement.name in str(requirement)
    assert len(requirement.sentence()) > 20


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"requirement": "privacy"},
        {"requirement": "k-anonymity"},
        {"requirement": "k-anonymity", "l": 3},
        {"requirement": "k-anonymity", "k": 3, "l": 3},
    ],
)
def test_unknown_requirements_are_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ReleaseError):
        parse_requirement(spec)
