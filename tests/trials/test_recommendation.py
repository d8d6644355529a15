"""What is recommended, on frontiers made up so that the right answer is known."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import small_table
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.measures.measure import MEASURES
from sfumato.methods import Anatomy, Mondrian, make_method
from sfumato.privacy.claims import Syntactic
from sfumato.release import Release
from sfumato.trials.audience import FLOORS
from sfumato.trials.frontier import Frontier, frontier
from sfumato.trials.purpose import COUNTS
from sfumato.trials.reasons import grades
from sfumato.trials.trial import Trial

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.trials.recommendation import Recommendation

PLAIN = {
    "smallest_class": 5.0,
    "realized_l": 2.0,
    "singled_out": 0.0,
    "ncp": 0.25,
    "classes": 12.0,
    "average_class": 7.5,
    "breach": 0.5,
    "p_loss": 0.2,
    "u_loss": 0.12,
    "mean_query_error": 0.375,
    "query_selectivity": 0.0625,
    "guessed_right": 0.4375,
    "empirical_privacy": 0.8125,
    "confident_guesses": 0.6875,
    "mean_p_loss": 0.0625,
    "unique_matches": 3.0,
}
TABLE = small_table()
LIMITED = st.sampled_from(["max_p_loss", "max_breach", "max_query_error"])
PUBLIC = FLOORS["public"].most


def trial(
    method: str,
    risk: float,
    error: float,
    *,
    parameters: dict[str, Any] | None = None,
    spread: float = 0,
    **values: float,
) -> Trial:
    measures = dict.fromkeys(MEASURES, 0.5) | PLAIN | {"disclosure_added": risk, "query_error": error} | values
    intervals = {name: (measures[name] - spread, measures[name] + spread) for name in measures} if spread else {}
    return Trial(method=make_method(method, parameters or {}), measures=measures, intervals=intervals)


def mondrian(k: int, risk: float, error: float, **values: float) -> Trial:
    return trial("mondrian", risk, error, parameters={"k": k}, **values)


def made_up(*others: Trial, **fields: Any) -> Frontier:
    original = trial("original", 0.9, 0.0, singled_out=1.0, guessed_right=1.0)
    suppressed = trial("suppression", 0.0, 0.2, breach=0.0, u_loss=0.4)
    return Frontier(table=TABLE, trials=(original, suppressed, *others), **fields)


FRONT = made_up(
    mondrian(2, 0.65, 0.01, breach=2.0, p_loss=0.5),
    mondrian(10, 0.28, 0.05, breach=1.0, p_loss=0.3),
    mondrian(20, 0.09, 0.1, breach=0.4, p_loss=0.1),
    mondrian(50, 0.05, 0.2, breach=0.1, p_loss=0.05),
    mondrian(99, 0.01, 0.28, breach=0.1, p_loss=0.01),
    mondrian(100, 0.001, 0.6, breach=0.1, p_loss=0.01),
    trial("anatomy", 0.05, 0.02, parameters={"l": 2}, singled_out=0.75, breach=0.9, ncp=0.0),
)


def chosen(front: Frontier = FRONT, **asked: Any) -> str | None:
    found = front.recommend(advise=False, **asked).trial
    return found.id if found else None


def test_what_is_recommended_is_poor_in_nothing_that_another_is_not() -> None:
    useful, plain, worse = mondrian(2, 0.08, 0.01, smallest_class=2.0), mondrian(10, 0.05, 0.1), mondrian(50, 0.01, 0.2)
    found = made_up(useful, plain, worse).recommend()
    assert found.chosen.id == "mondrian:k=10"
    assert found.rule == "the most useful release that keeps the floor and has the fewest poor grades"
    assert "Mondrian k=10 is the most useful of the 2 of these with the fewest poor grades" in " ".join(found.why)
    assert {one.trial.id for one in found.candidates} == {"mondrian:k=10", "mondrian:k=50"}
    alone = made_up(useful, plain).recommend()
    assert "Mondrian k=10 alone of these has the fewest poor grades: at worst" in " ".join(alone.why)
    assert chosen(made_up(useful, mondrian(20, 0.3, 0.05))) == "mondrian:k=2"
    poor = mondrian(10, 0.05, 0.1, smallest_class=2.0)
    assert chosen(made_up(useful, poor)) == "mondrian:k=2"


def test_the_most_useful_release_above_the_floor_of_the_audience() -> None:
    assert chosen() == chosen(audience="public") == "mondrian:k=20"
    assert chosen(audience="contract") == "mondrian:k=20"
    assert chosen(audience="inside") == "mondrian:k=10"
    assert chosen(made_up(*FRONT.trials[2:], audience="inside")) == "mondrian:k=10"
    assert FRONT.recommend().rule == "the most useful release that keeps the floor"
    with pytest.raises(ParameterError, match="'everyone' is not an audience; expected one of public, contract, inside"):
        FRONT.recommend(audience="everyone")  # type: ignore[arg-type]


def test_three_candidates_each_with_what_the_next_one_gains_and_costs() -> None:
    """Of the floor 0.1 and the end of use 0.3, k=50 uses 1/2 and 2/3, k=20 uses 9/10 and k=99 uses 28/30."""
    safest, balanced, useful = FRONT.recommend().candidates
    assert [one.trial.id for one in (safest, balanced, useful)] == [f"mondrian:k={k}" for k in (99, 50, 20)]
    assert [one.role for one in (safest, balanced, useful)] == ["safest", "balanced", "most useful"]
    assert balanced.sentence == (
        "Going on to Mondrian k=20, a typical count is off by 10% instead of 20%, and an adversary is right about 9% "
        "instead of 5% more of the people most exposed, all at worst."
    )
    assert useful.sentence == "No release that keeps the same, with as few poor grades, is more useful."
    assert FRONT.recommend().instead("safest").trial == safest.trial


def test_candidates_that_coincide_are_shown_once() -> None:
    (alone,) = made_up(mondrian(20, 0.09, 0.1)).recommend().candidates
    assert alone.role == "most useful"
    two = made_up(mondrian(20, 0.09, 0.1), mondrian(50, 0.05, 0.15)).recommend()
    assert [one.role for one in two.candidates] == ["safest", "most useful"]
    with pytest.raises(ParameterError, match="expected one of safest, most useful"):
        two.instead("balanced")


def test_only_the_pessimistic_end_of_an_interval_counts() -> None:
    wide = trial("anatomy", 0.09, 0.01, parameters={"l": 2}, spread=0.02, singled_out=0.0)
    front = made_up(mondrian(20, 0.09, 0.1), wide)
    assert chosen(front, allow_exact=True) == "mondrian:k=20"
    narrow = trial("anatomy", 0.09, 0.01, parameters={"l": 2}, spread=0.005, singled_out=0.0)
    assert chosen(made_up(mondrian(20, 0.09, 0.1), narrow), allow_exact=True) == "anatomy:l=2"
    vague = trial("anatomy", 0.01, 0.05, parameters={"l": 2}, spread=0.06, singled_out=0.0)
    assert chosen(made_up(mondrian(20, 0.09, 0.1), vague), allow_exact=True) == "mondrian:k=20"


def test_limits_on_privacy_take_the_place_of_the_floor_unless_an_audience_is_named() -> None:
    assert chosen(max_p_loss=0.3) == "mondrian:k=10"
    assert chosen(max_p_loss=0.3, audience="public") == "mondrian:k=20"
    assert chosen(max_p_loss=0.3, max_breach=0.4) == "mondrian:k=20"
    assert chosen(max_p_loss=math.inf) == "mondrian:k=2"
    assert FRONT.recommend(max_p_loss=0.3).rule == "the most useful release that keeps the limits"
    loose = trial("anatomy", 0.05, 0.01, parameters={"l": 2}, spread=0.05, p_loss=0.27)
    assert chosen(made_up(mondrian(9, 0.3, 0.2), loose), max_p_loss=0.3, allow_exact=True) == "mondrian:k=9"


def test_a_limit_on_errors_takes_the_place_of_the_end_of_use() -> None:
    assert chosen(max_query_error=0.1) == "mondrian:k=20"
    assert chosen(max_query_error=0.09) is None
    assert chosen(made_up(mondrian(100, 0.001, 0.6)), max_query_error=math.inf) == "mondrian:k=100"


def test_nothing_is_recommended_that_is_of_no_use_and_that_is_said() -> None:
    front = made_up(mondrian(2, 0.65, 0.01), mondrian(100, 0.001, 0.6), mondrian(200, 0.0, 0.8))
    nothing = front.recommend(advise=False)
    assert (nothing.trial, nothing.candidates, nothing.advice) == (None, (), None)
    assert nothing.entry().status == "nothing recommended"
    assert nothing.why[-1] == (
        "Nothing is recommended: of those that keep the floor the most useful is Mondrian k=100, with which, at "
        "worst, a typical count is off by 60%."
    )
    for use in (nothing.publish, lambda: nothing.claim, lambda: nothing.save("nowhere")):
        with pytest.raises(UnsatisfiableError, match="nothing recommended: "):
            use()
    unsafe = made_up(mondrian(2, 0.65, 0.01), mondrian(3, 0.6, 0.02)).recommend(advise=False)
    assert (
        "no release keeps the floor; with the safest, Mondrian k=3, an adversary is right about 60% more"
        in unsafe.why[-1]
    )


def test_the_end_points_are_never_recommended() -> None:
    """Suppressing everything has an error of 20% here and discloses nothing, but publishes nothing either."""
    assert chosen(made_up(mondrian(2, 0.65, 0.01))) is None
    assert chosen(made_up(mondrian(2, 0.65, 0.01)), max_p_loss=math.inf, max_query_error=math.inf) == "mondrian:k=2"


def test_without_any_release_there_is_nothing_to_recommend() -> None:
    assert made_up().recommend(advise=False).why[-1].endswith("there is no release to judge by the floor.")


def test_the_floor_is_raised_to_what_suppressing_everything_comes_to() -> None:
    """On few people the measure itself is rough: nothing can be told to be safer than publishing nothing."""
    rough = (trial("original", 1.0, 0.0, singled_out=1.0), trial("suppression", 0.25, 0.4))
    front = Frontier(table=TABLE, trials=(*rough, mondrian(5, 0.3, 0.05), mondrian(9, 0.25, 0.1)))
    best = front.recommend(advise=False)
    assert best.chosen.id == "mondrian:k=9"
    assert "disclosure_added at most 0.25" in best.why[0]
    assert "Usually that is 0.1; on so few people suppressing everything comes to 0.25" in best.why[0]
    assert "Usually" not in FRONT.recommend().why[0]


def test_exact_quasi_identifiers_are_recommended_only_if_allowed() -> None:
    assert chosen(allow_exact=True) == "anatomy:l=2"
    assert "1 shows who is in the table" in " ".join(FRONT.recommend().why)
    buckets = trial("anatomy", 0.05, 0.05, parameters={"l": 2}, ncp=0.0)
    front = made_up(mondrian(10, 0.1, 0.12), buckets)
    assert front.recommend(allow_exact=True).trial == buckets
    assert chosen(front) == "mondrian:k=10"
    with pytest.raises(UnsatisfiableError, match="hides who is in the table"):
        made_up(buckets).recommend()


def test_where_no_limit_is_kept_the_nearest_is_named() -> None:
    with pytest.raises(UnsatisfiableError) as refusal:
        FRONT.recommend(max_p_loss=0.001, max_breach=0.01)
    message = str(refusal.value)
    assert "none of 6 releases has p_loss ≤ 0.001 and breach ≤ 0.01" in message
    assert "p_loss is at least 0.01, breach is at least 0.1" in message


VALUES = st.tuples(
    *[st.sampled_from([0.0, 0.02, 0.08, 0.15, 0.25, 0.5])] * 4, st.sampled_from([0.0, 0.5]), st.sampled_from([0, 0.03])
)


def random_front(values: list[tuple[float, ...]]) -> Frontier:
    return made_up(
        *(
            mondrian(k, risk, error, breach=breach, p_loss=shift, singled_out=single, spread=spread)
            for k, (risk, error, breach, shift, single, spread) in enumerate(values, start=2)
        )
    )


@given(
    st.lists(VALUES, min_size=1, max_size=6),
    st.dictionaries(LIMITED, st.sampled_from([0.0, 0.15, 0.3])),
    st.sampled_from([None, *FLOORS]),
    st.booleans(),
)
def test_a_recommendation_is_the_most_useful_of_those_that_keep_everything(
    values: list[tuple[float, ...]], limits: dict[str, float], audience: Any, allow_exact: bool
) -> None:
    front = random_front(values)
    floored = audience or not {"max_p_loss", "max_breach"} & set(limits)
    most = FLOORS[audience or "public"].most if floored else math.inf

    def worst(one: Trial, name: str) -> float:
        return max(one.intervals.get(name, (0, one.measures[name])))

    def keeps(one: Trial) -> bool:
        return all(worst(one, name.removeprefix("max_")) <= limit for name, limit in limits.items())

    judged = [one for one in front.trials[2:] if allow_exact or one.measures["singled_out"] == 0]
    if not any(map(keeps, judged)):
        with pytest.raises(UnsatisfiableError):
            front.recommend(**limits, audience=audience, allow_exact=allow_exact, advise=False)
        return
    fit = [one for one in judged if keeps(one) and worst(one, "disclosure_added") <= most]
    fit = [one for one in fit if worst(one, "query_error") <= limits.get("max_query_error", 0.3)]
    best = front.recommend(**limits, audience=audience, allow_exact=allow_exact, advise=False)
    if not fit:
        assert best.trial is None
        return
    assert best.trial in fit
    if floored:
        poor = [sum(one.verdict == "poor" for one in grades(each, front.references, COUNTS)) for each in fit]
        fit = [one for one, count in zip(fit, poor, strict=True) if count == min(poor)]
        assert best.trial in fit
    assert worst(best.trial, "query_error") == min(worst(one, "query_error") for one in fit)
    assert (
        not any(
            verdict.verdict == "poor"
            for verdict in best.verdicts
            if verdict.measure in ("query_error", "disclosure_added")
        )
        or not floored
    )


@given(st.lists(VALUES, min_size=1, max_size=6), st.integers(0, 5))
def test_leaving_out_another_trial_changes_nothing(values: list[tuple[float, ...]], other: int) -> None:
    front = random_front(values)
    try:
        best = front.recommend(advise=False).trial
    except UnsatisfiableError:
        return
    left = [one for place, one in enumerate(front.trials[2:]) if place != other or one == best]
    if best:
        assert made_up(*left).recommend(advise=False).trial == best


PERCENT = r"([\d.,e+-]+)%"


@given(st.lists(VALUES, min_size=1, max_size=8), st.sampled_from(list(FLOORS)))
def test_every_sentence_follows_from_the_numbers(values: list[tuple[float, ...]], audience: Any) -> None:
    front = random_front(values)
    try:
        best = front.recommend(audience=audience, advise=False)
    except UnsatisfiableError:
        return
    told = " ".join(best.why)
    count = re.search(r"Of (\d+) releases with a guarantee, (.*?)\.", told)
    assert count
    assert int(count[1]) == len(values) == sum(int(part.split()[0]) for part in count[2].split(", "))
    for earlier, later in zip(best.candidates, best.candidates[1:], strict=False):
        found = re.search(
            rf"to (.*), a typical count is off by {PERCENT} instead of {PERCENT}, and an adversary is right about "
            rf"{PERCENT} instead of {PERCENT} more",
            earlier.sentence,
        )
        assert found
        label, error, before, risk, risk_before = found[1], *(float(number) for number in found.groups()[1:])
        assert label == later.trial.method.label
        assert (error, risk) == pytest.approx((100 * later.use, 100 * later.risk), rel=0.01)
        assert (before, risk_before) == pytest.approx((100 * earlier.use, 100 * earlier.risk), rel=0.01)
        assert later.use < earlier.use
        assert later.risk > earlier.risk
    if best.trial:
        assert best.candidates[-1].trial == best.trial
        at_worst = re.search(
            rf"at worst, a typical count is off by {PERCENT}, and an adversary is right about {PERCENT}", told
        )
        assert at_worst
        assert float(at_worst[1]) == pytest.approx(100 * best.candidates[-1].use, rel=0.01)
        assert all(best.candidates[-1].use <= one.use for one in best.candidates)


def words(recommendation: Recommendation) -> str:
    entry = recommendation.entry()
    return " ".join([*entry.why, *entry.recipient, *entry.adversary])


def test_the_sentences_hold_the_numbers() -> None:
    text = words(FRONT.recommend())
    for number in (
        "may be right about at most 10 in 100 more than without it (disclosure_added at most 0.1",
        "at worst, a typical count is off by at most 30%",
        "Of 7 releases with a guarantee, 1 shows who is in the table, 2 may not keep the floor, 1 keeps all that but "
        "may be of too little use, 3 keep everything that is asked.",
        "Mondrian k=20 is the most useful of these 3: at worst, a typical count is off by 10%, and an adversary is "
        "right about 9% more of the people most exposed.",
        "90 people in 12 classes of 7.5 people on average",
        "each spanning 25.0% of its range",
        "off by 10.0% (median)",
        "by 37.5% (mean)",
        "divergence of 0.1200 (suppressing everything: 0.4000)",
        "guesses 43.8% of sensitive values right",
        "the original table 100.0%",
        "gets 18.8% right, and 68.8% among the tenth",
        "belief shift is 0.100 (with the original table",
        "on average it is 0.062",
        "smallest class has 5 people; 0.0% of people are alone",
        "3 people with a combination of values nobody else has",
    ):
        assert number in text, number
    commonest = TABLE.overall.max() / TABLE.n
    assert f"commonest value for everyone gets {commonest:.1%}" in text


def test_a_bucketized_recommendation_says_that_it_is_two_tables() -> None:
    text = words(FRONT.recommend(allow_exact=True))
    assert "Two tables: the exact quasi-identifiers with a bucket number" in text
    assert "Two tables" not in words(made_up(mondrian(2, 0.1, 0.01, ncp=0.0)).recommend())


def test_nobody_is_told_that_buckets_hide_them() -> None:
    exact = FRONT.recommend(allow_exact=True)
    assert exact.chosen.measures["singled_out"] == 0.75
    (sentence,) = (verdict.sentence for verdict in exact.verdicts if verdict.measure == "smallest_class")
    assert "singled out" not in sentence
    assert "5" in sentence


@pytest.mark.parametrize("name", ["max_p_loss", "max_breach", "max_query_error"])
def test_a_limit_must_be_a_number(name: str) -> None:
    with pytest.raises(ParameterError, match=f"the limit on {name.removeprefix('max_')} is not a number"):
        FRONT.recommend(**{name: float("nan")})


def test_every_judged_measure_has_a_verdict() -> None:
    entry = FRONT.recommend().entry()
    assert [figure.measure for figure in entry.figures] == [name for name, measure in MEASURES.items() if measure.judge]
    for figure in entry.figures:
        assert figure.value == FRONT.recommend().chosen.measures[figure.measure]
        assert figure.verdict in ("good", "fair", "poor")
        assert figure.sentence.endswith(".")


def test_a_real_recommendation_can_be_published_and_saved(tmp_path: Path) -> None:
    front = frontier(TABLE, [Mondrian(k=3), Mondrian(k=10), Anatomy(l=2)], workers=1)
    best = front.recommend(max_p_loss=0.45, max_query_error=math.inf)
    assert best.chosen.measures["p_loss"] <= 0.45
    release = best.publish()
    assert isinstance(release.claim, Syntactic)
    assert release.claim.requirements == best.chosen.method.claim.requirements
    assert "its setting was chosen after measures of data under its name" in release.claim.assumptions[-1]
    folder = best.save(tmp_path / "release")
    assert Release.load(folder).overall.tolist() == TABLE.overall.tolist()
    exact = front.recommend(max_p_loss=0.69, allow_exact=True, max_query_error=math.inf)
    assert exact.chosen.measures["query_error"] <= best.chosen.measures["query_error"]
