"""What is recommended, on frontiers made up so that the right answer is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import small_table
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.measures.measure import MEASURES
from sfumato.methods import make_method
from sfumato.trials.frontier import Frontier, frontier
from sfumato.trials.trial import Trial

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.data import Table
    from sfumato.trials.recommendation import Recommendation

PLAIN = {
    "smallest_class": 5.0,
    "realized_l": 2.0,
    "singled_out": 0.0,
    "ncp": 0.25,
    "classes": 12.0,
    "average_class": 7.5,
    "breach": 0.5,
    "query_error": 0.125,
    "mean_query_error": 0.375,
    "guessed_right": 0.4375,
    "empirical_privacy": 0.8125,
    "confident_guesses": 0.6875,
    "mean_p_loss": 0.0625,
    "unique_matches": 3.0,
}
TABLE = small_table()
LIMITED = st.sampled_from(["max_p_loss", "max_breach", "max_query_error"])


def trial(
    method: str, p_loss: float, u_loss: float, *, parameters: dict[str, Any] | None = None, **values: float
) -> Trial:
    measures = dict.fromkeys(MEASURES, 0.5) | PLAIN | {"p_loss": p_loss, "u_loss": u_loss} | values
    return Trial(method=make_method(method, parameters or {}), measures=measures)


def mondrian(k: int, p_loss: float, u_loss: float, **values: float) -> Trial:
    return trial("mondrian", p_loss, u_loss, parameters={"k": k}, **values)


def made_up(*others: Trial) -> Frontier:
    original = trial("original", 0.6, 0.0, singled_out=1.0, guessed_right=1.0)
    suppressed = trial("suppression", 0.0, 0.4, query_error=0.9, breach=0.0)
    return Frontier(table=TABLE, trials=(original, suppressed, *others))


FRONT = made_up(
    mondrian(2, 0.5, 0.02, breach=2.0, query_error=0.01),
    mondrian(5, 0.3, 0.06, breach=1.0, query_error=0.05),
    mondrian(10, 0.1, 0.12, breach=0.4, query_error=0.2),
    mondrian(50, 0.05, 0.3, breach=0.1, query_error=0.6),
    trial("anatomy", 0.2, 0.03, parameters={"l": 2}, singled_out=0.75, breach=0.9, query_error=0.02, ncp=0.0),
)


def chosen(**limits: Any) -> str:
    return FRONT.recommend(**limits).trial.id


def test_under_a_privacy_limit_the_most_useful_release() -> None:
    assert chosen(max_p_loss=0.3) == "mondrian:k=5"
    assert chosen(max_p_loss=0.29) == "mondrian:k=10"
    assert chosen(max_breach=0.2) == "mondrian:k=50"
    assert chosen(max_p_loss=0.3, max_breach=0.4) == "mondrian:k=10"
    assert chosen(max_p_loss=0.0) == "suppression:"
    assert FRONT.recommend(max_p_loss=0.3).rule == "the most useful release within the limits"


def test_under_a_utility_limit_the_most_private_release() -> None:
    assert chosen(max_query_error=0.2) == "mondrian:k=10"
    assert chosen(max_query_error=0.1) == "mondrian:k=5"
    assert FRONT.recommend(max_query_error=0.2).rule == "the most private release within the limits"


def test_without_limits_or_with_both_kinds_the_knee() -> None:
    """k=10 has 0.1/0.6 + 0.12/0.4 = 0.47; k=5 has 0.65, k=50 has 0.83, k=2 has 0.88."""
    assert chosen() == "mondrian:k=10"
    assert FRONT.recommend().rule == "the knee of the releases in the running"
    both = FRONT.recommend(max_p_loss=0.5, max_query_error=0.05)
    assert both.trial.id == "mondrian:k=5"
    assert both.rule == "the knee within the limits"


def test_a_release_that_nearly_reveals_somebody_is_no_knee_unless_limits_allow_it() -> None:
    """On this table revealing a value outright costs at least 0.31; above three quarters of that is poor."""
    front = made_up(mondrian(2, 0.25, 0.0), mondrian(5, 0.22, 0.2))
    assert front.recommend().trial.id == "mondrian:k=5"
    assert front.recommend(max_p_loss=0.6, max_query_error=0.9).trial.id == "mondrian:k=2"


def test_exact_quasi_identifiers_are_recommended_only_if_allowed() -> None:
    """Anatomy has 0.2/0.6 + 0.03/0.4 = 0.41, below the knee of the others, but shows who is in the table."""
    assert chosen(allow_exact=True) == "anatomy:l=2"
    assert chosen(max_p_loss=0.25, allow_exact=True) == "anatomy:l=2"
    assert chosen(max_p_loss=0.25) == "mondrian:k=10"
    assert any("up to 75% of people beyond doubt" in sentence for sentence in FRONT.recommend().why)


def test_the_original_is_never_recommended() -> None:
    with pytest.raises(UnsatisfiableError):
        FRONT.recommend(max_query_error=0.0, allow_exact=True)
    best = made_up(trial("anatomy", 0.1, 0.1, parameters={"l": 3}, query_error=0.5))
    assert best.recommend(max_p_loss=0.6, allow_exact=True).trial.method.name == "anatomy"


def test_where_nothing_fits_the_nearest_is_named() -> None:
    with pytest.raises(UnsatisfiableError) as refusal:
        FRONT.recommend(max_p_loss=0.3, max_query_error=0.001)
    message = str(refusal.value)
    assert "p_loss ≤ 0.3 and query_error ≤ 0.001" in message
    assert "query_error is at least 0.01" in message
    assert "p_loss is at least 0" in message
    assert "none of 5 releases" in message


@given(
    st.lists(st.tuples(*[st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.4])] * 4, st.sampled_from([0.0, 0.5])), max_size=6),
    st.dictionaries(LIMITED, st.sampled_from([0.0, 0.15, 0.3])),
    st.booleans(),
)
def test_a_recommendation_keeps_the_limits_and_is_not_dominated(
    values: list[tuple[float, ...]], limits: dict[str, float], allow_exact: bool
) -> None:
    front = made_up(
        *(
            mondrian(k, p, u, breach=breach, query_error=error, singled_out=single)
            for k, (p, u, breach, error, single) in enumerate(values, start=2)
        )
    )

    def fits(one: Trial) -> bool:
        keeps = all(one.measures[name.removeprefix("max_")] <= limit for name, limit in limits.items())
        return one.method.name != "original" and keeps and (allow_exact or one.measures["singled_out"] == 0)

    fitting = [one for one in front.trials if fits(one)]
    if not fitting:
        with pytest.raises(UnsatisfiableError):
            front.recommend(**limits, allow_exact=allow_exact)
        return
    best = front.recommend(**limits, allow_exact=allow_exact)
    assert best.trial in fitting
    p, u = best.trial.measures["p_loss"], best.trial.measures["u_loss"]
    for one in fitting:
        other_p, other_u = one.measures["p_loss"], one.measures["u_loss"]
        assert not (other_p <= p and other_u <= u and (other_p, other_u) != (p, u))


def words(recommendation: Recommendation) -> str:
    entry = recommendation.entry()
    return " ".join([*entry.why, *entry.recipient, *entry.adversary])


def test_the_sentences_hold_the_numbers() -> None:
    text = words(FRONT.recommend(max_p_loss=0.29))
    for number in (
        "Mondrian k=10 is the most useful release within the limits",
        "of 6 releases with a guarantee, 3 were in the running",
        "worst-case belief shift at most 0.29 (it has 0.1)",
        "90 people in 12 classes of 7.5 people on average",
        "each spanning 25.0% of its range",
        "off by 20.0% (median)",
        "by 37.5% (mean)",
        "divergence of 0.1200 (suppressing everything: 0.4000)",
        "guesses 43.8% of sensitive values right",
        "the original table 100.0%",
        "gets 18.8% right, and 68.8% among the tenth",
        "belief shift is 0.100; on average it is 0.062",
        "smallest class has 5 people; 0.0% of people are alone",
        "3 people with a combination of values nobody else has",
    ):
        assert number in text, number
    commonest = TABLE.overall.max() / TABLE.n
    assert f"commonest value for everyone gets {commonest:.1%}" in text


def test_the_knee_is_explained_by_shares_of_the_end_points() -> None:
    text = words(FRONT.recommend())
    assert "17% of the privacy loss of the original table remains, and 30% of the utility loss" in text
    other = words(made_up(mondrian(9, 0.15, 0.1)).recommend())
    assert "25% of the privacy loss of the original table remains, and 25% of the utility loss" in other


def test_a_bucketized_recommendation_says_that_it_is_two_tables() -> None:
    text = words(FRONT.recommend(allow_exact=True))
    assert "Two tables: the exact quasi-identifiers with a bucket number" in text


def test_rows_that_needed_no_generalizing_are_still_one_table() -> None:
    text = words(made_up(mondrian(2, 0.1, 0.01, ncp=0.0)).recommend())
    assert "Mondrian k=2: 90 people" in text
    assert "Two tables" not in text


def test_buckets_are_exact_even_if_nobody_is_alone() -> None:
    buckets = trial("anatomy", 0.05, 0.05, parameters={"l": 2}, ncp=0.0)
    front = made_up(mondrian(10, 0.1, 0.12), buckets)
    assert front.recommend(allow_exact=True).trial == buckets
    assert front.recommend().trial.id == "mondrian:k=10"


def test_nobody_is_told_that_buckets_hide_them() -> None:
    exact = FRONT.recommend(allow_exact=True)
    assert exact.trial.measures["singled_out"] == 0.75
    (sentence,) = (verdict.sentence for verdict in exact.verdicts if verdict.measure == "smallest_class")
    assert "singled out" not in sentence
    assert "5" in sentence


@pytest.mark.parametrize("name", ["max_p_loss", "max_breach", "max_query_error"])
def test_a_limit_must_be_a_number(name: str) -> None:
    with pytest.raises(ParameterError, match=f"the limit on {name.removeprefix('max_')} is not a number"):
        FRONT.recommend(**{name: float("nan")})
    assert FRONT.recommend(**{name: float("inf")}).trial == FRONT.recommend().trial


def test_every_judged_measure_has_a_verdict() -> None:
    entry = FRONT.recommend().entry()
    assert [figure.measure for figure in entry.figures] == [name for name, measure in MEASURES.items() if measure.judge]
    for figure in entry.figures:
        assert figure.value == FRONT.recommend().trial.measures[figure.measure]
        assert figure.verdict in ("good", "fair", "poor")
        assert figure.sentence.endswith(".")


@pytest.fixture(scope="module")
def table() -> Table:
    return TABLE


def test_a_real_recommendation_can_be_published_and_saved(table: Table, tmp_path: Path) -> None:
    from sfumato.methods import Anatomy, Mondrian
    from sfumato.privacy.claims import Syntactic
    from sfumato.release import Release

    front = frontier(table, [Mondrian(k=3), Mondrian(k=10), Anatomy(l=2)], workers=1)
    best = front.recommend(max_p_loss=0.45)
    assert best.trial.measures["p_loss"] <= 0.45
    release = best.publish()
    assert isinstance(release.claim, Syntactic)
    assert release.claim.requirements == best.trial.method.claim.requirements
    assert "its setting was chosen after measures of the same rows were seen" in release.claim.assumptions[-1]
    folder = best.save(tmp_path / "release")
    assert Release.load(folder).overall.tolist() == table.overall.tolist()
    exact = front.recommend(max_p_loss=0.69, allow_exact=True)
    assert exact.trial.measures["u_loss"] <= best.trial.measures["u_loss"]
