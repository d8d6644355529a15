"""The one-run audit as a whole: canaries, coins, guesses, and what is found about programs good and bad.

Seeds are fixed here, so that nothing fails by chance; `make audit ONLY=one-run` does the same with fresh randomness.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from audit.one_run import ALLOWED, FAILING, QUIET, RUNS, SIZES, audit_histogram, audit_method, people, schema
from scipy.stats import binom

import sfumato as sf
from documentation import ROOT, blocks
from sfumato.audit import Audit, audit_generator, lower_bound
from sfumato.audit.canaries import choose_canaries, count_agreeing, distances, flip_coins
from sfumato.audit.guesses import PLANS, Plan, are_scouts, choose_plan, count_right
from sfumato.audit.one_run import Trap
from sfumato.audit.output import read_output
from sfumato.audit.scores import Evidence, Weighted
from sfumato.errors import DataError, ParameterError
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import DiffGen, Marginals, PrivBayes, QuadTree
from sfumato.samples.town import SCHEMA_PATH, residents


def audit(generator: Any, seed: int = 1, **more: Any) -> Audit:
    return audit_generator(
        people(), schema(), generator, **{"epsilon": 1, "canaries": 200, "coins": SimulatedSource(seed), **more}
    )


def town_codes(rows: int) -> tuple[sf.Schema, Trap]:
    town = sf.Schema.load(SCHEMA_PATH)
    return town, Trap.lay(residents(rows), town, 100, SimulatedSource(3))


def test_canaries_are_new_distinct_and_far_apart() -> None:
    town, trap = town_codes(500)
    sizes = [axis.size for axis in town.axes]
    assert len(np.unique(trap.canaries, axis=0)) == len(trap.canaries) == 100
    assert count_agreeing(trap.canaries, trap.people, sizes).sum() == 0
    assert ((trap.canaries >= 0) & (trap.canaries < sizes)).all()

    def nearest(rows: np.ndarray) -> float:
        return min(distances(row, np.delete(rows, at, axis=0), town.axes).min() for at, row in enumerate(rows))

    generator = np.random.default_rng(1)
    anyone = np.unique(generator.integers(0, sizes, (100, len(sizes))), axis=0).astype(np.int32)
    assert nearest(trap.canaries) > nearest(anyone) + 0.5


def test_scores_are_what_their_definitions_say() -> None:
    """Row by row, where missing values are as far from others as can be."""
    town, trap = town_codes(300)
    output = read_output(trap.rows, town, SimulatedSource(2))
    people = Weighted.distinct(trap.people)
    scores = Evidence(axes=town.axes, canaries=trap.canaries, people=people, output=output).score_all()
    assert (trap.people < 0).any()
    halves = Weighted(codes=trap.canaries, weights=np.full(100, 0.5))
    scale = trap.rows.height / 350
    canary = trap.canaries[7]

    def apart(one: np.ndarray, other: np.ndarray) -> float:
        ages = 1.0 if other[0] < 0 else abs(int(one[0]) - int(other[0])) / 99
        return ages + float((one[1:] != other[1:]).sum())

    def near(rows: Weighted) -> float:
        return sum(
            weight * np.exp(-apart(canary, row) / 0.2) for row, weight in zip(rows.codes, rows.weights, strict=True)
        )

    expected = scale * (near(people) + near(halves))
    assert scores["neighbours"][7] == pytest.approx((near(output) - expected) / np.sqrt(expected + 1))
    alike = scale * 0.5
    assert scores["exact"][7] == pytest.approx((trap.included[7] - alike) / np.sqrt(alike + 1))


def test_in_a_small_domain_every_row_is_a_canary() -> None:
    found = choose_canaries(np.zeros((1, 4), dtype=np.int32), schema().axes, 5_000, SimulatedSource(1))
    assert len(np.unique(found, axis=0)) == len(found) == np.prod(list(SIZES.values()))


def test_coins_are_fair() -> None:
    """Two-sided, false failure 1e-6 if the seed were not fixed."""
    coins = flip_coins(100_000, SimulatedSource(5))
    assert binom.isf(1 - 5e-7, 100_000, 0.5) <= coins.sum() <= binom.isf(5e-7, 100_000, 0.5)
    assert abs(np.corrcoef(coins[1:], coins[:-1])[0, 1]) < 0.016


def test_the_input_is_the_people_and_the_canaries_whose_coin_says_so() -> None:
    town, trap = town_codes(300)
    names = [axis.name for axis in town.axes]
    assert trap.rows.columns == ["person_id", *names]
    assert trap.rows["person_id"].is_unique().all()
    assert trap.rows.height == 300 + trap.included.sum()
    output = read_output(trap.rows, town, SimulatedSource(1))
    sizes = [axis.size for axis in town.axes]
    found = count_agreeing(trap.canaries, output.codes, sizes, output.weights)
    assert found.tolist() == trap.included.tolist()
    kept = count_agreeing(trap.people, output.codes, sizes, output.weights)
    assert (kept == count_agreeing(trap.people, trap.people, sizes)).all()
    last = trap.rows.select(names).tail(100).rows()
    assert set(last) & set(residents(300).select(names).rows()), "canaries stand at the end"


@pytest.mark.parametrize("share", [share for share, _ in PLANS])
def test_how_many_guesses_are_made_does_not_depend_on_scores(share: float) -> None:
    plan = Plan(score="exact", share=share, called_in=0.5)
    generator = np.random.default_rng(2)
    for scores in (np.zeros(40), generator.normal(size=40), np.arange(40.0)):
        guesses = plan.guess(scores)
        assert (guesses == 1).sum() == (guesses == -1).sum() == round(20 * share)
    rising = plan.guess(np.arange(40.0))
    assert rising[-1] == 1
    assert rising[0] == -1


def test_scouts_choose_the_score_that_tells_and_abstain_where_little_is_told() -> None:
    generator = np.random.default_rng(3)
    included = generator.random(200) < 0.5
    scores = {"noise": generator.normal(size=200), "signal": included + generator.normal(0, 0.2, 200)}
    assert choose_plan(scores, included).score == "signal"
    few = np.where((np.arange(200) < 30) & included, 5.0, 0.0) + generator.normal(0, 0.01, 200)
    assert choose_plan({"few": few}, included).called_in == 1


@pytest.mark.slow
@pytest.mark.parametrize("peeking", [False, True])
def test_only_a_choice_by_other_coins_is_free(peeking: bool) -> None:
    """Of scores that tell nothing, at ε = 0; the twin chooses the plan by the coins that are guessed."""
    generator = np.random.default_rng(6)
    scouts = are_scouts(400)
    broken = 0
    for _ in range(RUNS):
        included = generator.random(400) < 0.5
        scores = {name: generator.normal(size=400) for name in ("exact", "triples", "pairs", "neighbours")}
        chosen_by = ~scouts if peeking else scouts
        plan = choose_plan({name: score[chosen_by] for name, score in scores.items()}, included[chosen_by])
        guesses = plan.guess(scores[plan.score][~scouts])
        broken += lower_bound(count_right(guesses, included[~scouts]), np.count_nonzero(guesses)) > 0
    assert (broken > ALLOWED) == peeking


def test_guesses_do_not_see_the_coins_that_they_are_about() -> None:
    """Flipping the coins of canaries that are no scouts, after the output is made, changes no guess."""
    trap = Trap.lay(people(), schema(), 200, SimulatedSource(4))
    output = read_output(trap.rows, schema(), SimulatedSource(1))
    scouts = are_scouts(len(trap.canaries))
    turned = Trap(
        schema=trap.schema,
        people=trap.people,
        canaries=trap.canaries,
        included=np.where(scouts, trap.included, ~trap.included),
        rows=trap.rows,
    )
    (plan, guesses, _), (other_plan, other_guesses, _) = trap.judge(output), turned.judge(output)
    assert plan == other_plan
    assert guesses.tolist() == other_guesses.tolist()
    assert not guesses[scouts].any()
    made = np.count_nonzero(guesses)
    assert count_right(guesses, trap.included) + count_right(guesses, turned.included) == made


def test_a_program_that_returns_its_input_is_contradicted() -> None:
    found = audit(lambda rows: rows)
    bounds = [audit(lambda rows: rows, seed).bound for seed in range(2, 11)]
    assert found.contradicted
    assert np.median([found.bound, *bounds]) > 2.5
    assert found.sentence().startswith("claimed ε = 1; the claim is broken: ε ≥ ")
    assert found.chance < 1e-6
    assert found.answers.height == found.canaries == 200
    assert (found.answers["canary_guess"] == "scout").sum() == 40
    assert found.simulated


def test_a_program_that_ignores_its_input_is_not() -> None:
    nobody = people().head(50)
    found = [audit(lambda rows: nobody, seed) for seed in range(20)]
    assert sum(one.bound > 0 for one in found) <= 4
    assert "nothing contradicts the claim" in found[0].sentence()
    assert not any(one.contradicted for one in found)


def test_a_bound_below_the_claim_is_said_in_words() -> None:
    found = audit(lambda rows: rows, epsilon=9)
    assert not found.contradicted
    assert found.sentence() == (
        f"claimed ε = 9; at least ε ≥ {found.bound:.3g} with 95% confidence: nothing contradicts the claim"
    )
    with_delta = audit(lambda rows: rows, delta=1e-3)
    assert with_delta.sentence().startswith("claimed ε = 1 and δ = 0.001; ")
    assert with_delta.bound < audit(lambda rows: rows).bound


def test_a_method_is_audited_under_its_own_claim() -> None:
    found = audit(Marginals(epsilon=0.5), epsilon=None)
    assert (found.epsilon, found.delta) == (0.5, 0)
    with pytest.raises(ParameterError, match="the claim to audit is missing"):
        audit(sf.Mondrian(k=5), epsilon=None)
    assert audit(sf.Original(), epsilon=2).contradicted


def test_generalized_values_are_read_as_values_inside() -> None:
    town, trap = town_codes(300)
    found = read_output(trap.rows.with_columns(age=pl.lit("[20, 29]")), town, SimulatedSource(1))
    assert set(np.unique(found.codes[:, 0])) == set(range(20, 30))


def test_rows_keep_the_kind_of_their_columns() -> None:
    seen = []
    numbers = people().cast({"work": pl.Int64, "school": pl.Categorical})
    audit_generator(
        numbers,
        schema(),
        lambda rows: seen.append(rows) or rows,  # type: ignore[func-returns-value]
        epsilon=1,
        canaries=50,
        coins=SimulatedSource(1),
    )
    assert seen[0].schema == {"district": pl.String, "work": pl.Int64, "school": pl.String, "illness": pl.String}


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"epsilon": -1}, "epsilon is -1; expected"),
        ({"epsilon": float("nan")}, "epsilon is nan; expected"),
        ({"delta": 1}, "delta is 1; expected"),
        ({"confidence": 1}, "confidence is 1; expected"),
        ({"canaries": 3}, "canaries is 3; expected a number from 20"),
    ],
)
def test_wrong_settings_are_refused(more: dict[str, float], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        audit(lambda rows: rows, **more)


def test_what_the_program_returns_is_checked() -> None:
    with pytest.raises(DataError, match="'illness' is missing"):
        audit(lambda rows: rows.drop("illness"))
    with pytest.raises(DataError, match="column 'work': 'baker' is neither"):
        audit(lambda rows: rows.with_columns(work=pl.lit("baker")))


def test_a_domain_without_room_for_canaries_is_refused() -> None:
    two = {"kind": "categorical", "values": ["0", "1"]}
    small = {"columns": {"work": {"role": "quasi", **two}, "illness": {"role": "sensitive", **two}}}
    rows = {"work": ["0", "1"], "illness": ["0", "1"]}
    with pytest.raises(ParameterError, match="the schema has 4 different rows; an audit needs 20"):
        audit_generator(rows, small, lambda rows: rows, epsilon=1)


@pytest.mark.slow
def test_the_guide_is_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "town.toml").write_bytes(SCHEMA_PATH.read_bytes())
    for language, body in blocks((ROOT / "docs" / "audit.md").read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(body, "audit.md", "exec"), {})
    first, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("claimed ε = 1; the claim is broken: ε ≥ ")


def test_the_number_of_contradictions_allowed_has_a_stated_chance() -> None:
    assert binom.sf(ALLOWED, RUNS, 0.05) <= FAILING < binom.sf(ALLOWED - 1, RUNS, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Marginals, PrivBayes, QuadTree, DiffGen])
def test_audits_of_our_own_methods_stay_below_the_claim(kind: type[Any]) -> None:
    """At ε from 0.5 to 3; with 8 runs, more than 3 contradictions have a probability of 0.0004."""
    assert sum(one.contradicted for one in audit_method(kind, 1, 8)) <= 3


@pytest.mark.slow
def test_a_histogram_with_a_third_of_its_noise_is_found() -> None:
    """And one that keeps its claim is not, by the same audit."""
    assert all(one.contradicted for one in audit_histogram(1, 1, 8, quiet=QUIET))
    assert sum(one.contradicted for one in audit_histogram(1, 1, 8)) <= 3


@pytest.mark.slow
def test_methods_with_a_third_of_their_noise_are_found() -> None:
    """DiffGen counts the cells of this small domain, so a canary shows."""
    found = [audit(DiffGen(epsilon=3), seed, epsilon=1, canaries=960) for seed in range(4)]
    assert all(one.contradicted for one in found)
